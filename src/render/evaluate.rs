//! Evaluation of the expressions that Tera does not read ([`Op`]).

use tera::{TeraResult, Value};

use crate::{
    functions::{self, Function},
    gotemplate::lower::{Constant, Construct, Form, Names, Op},
    value::{truth, typed},
};

use super::{
    call, control, escape, include,
    path::Path,
    run::{Fault, Run, with},
    vocabulary::answers_text,
};

/// The expressions of one Tera instance, with all that they refer to.
pub(super) struct Expressions {
    ops: Box<[Op]>,
    paths: Box<[Path]>,
    functions: Box<[Callee]>,
    methods: Names,
    constants: Box<[Value]>,
}

/// The value that stands for a constant.
pub(super) fn constant(constant: &Constant) -> Value {
    match constant {
        Constant::Text(bytes) => Value::from(&*escape::encode(bytes)),
        Constant::Int(int) => Value::from(*int),
        Constant::Uint(uint) => Value::from(*uint),
        Constant::Float(float) => Value::from(*float),
        Constant::Complex(real, imaginary) => typed::from_complex(*real, *imaginary),
        Constant::Bool(truth) => Value::from(*truth),
        Constant::Nil => Value::none(),
    }
}

impl Expressions {
    /// Expressions, and what they refer to by number.
    pub(super) fn new(
        ops: Vec<Op>,
        paths: &Names,
        functions: &Names,
        methods: Names,
        constants: &[Constant],
    ) -> Self {
        Self {
            ops: ops.into(),
            paths: paths.iter().map(Path::new).collect(),
            functions: functions.iter().map(Callee::find).collect(),
            methods,
            constants: constants.iter().map(constant).collect(),
        }
    }

    /// A constant, by its number.
    pub(super) fn constant(&self, number: &Value) -> TeraResult<Value> {
        let found = index(number).and_then(|number| self.constants.get(number));
        found.cloned().ok_or_else(|| tera::Error::message("no such constant"))
    }

    /// What an expression comes to. It is given by where it begins, which the places that it needs may follow.
    pub(super) fn evaluate(&self, expression: &Value) -> TeraResult<Value> {
        let (start, given) = match expression.as_array() {
            Some([start, given @ ..]) => (start, given),
            _ => (expression, [].as_slice()),
        };
        let start = index(start).ok_or_else(|| tera::Error::message("no such expression"))?;
        with(|run| {
            run.tick()?;
            self.run(run, start, given)
        })
    }

    fn run(&self, run: &Run, start: usize, given: &[Value]) -> Result<Value, Fault> {
        let mut dot = None;
        let mut stack: Vec<Value> = Vec::with_capacity(6);
        let mut at = start;
        loop {
            let op = self.ops[at];
            at += 1;
            let value = match op {
                Op::Dot | Op::Given(_) => {
                    let base = match op {
                        Op::Given(number) => &given[number as usize],
                        _ => &*dot.get_or_insert_with(|| run.dot()),
                    };
                    // Mostly fields are taken from it, for which it need not be held.
                    if let Op::Path { path, form, strict, site } = self.ops[at] {
                        at += 1;
                        let path = &self.paths[path as usize];
                        fields(run, path, base, form, strict).map_err(|fault| fault.at(run, site))?
                    } else {
                        base.clone()
                    }
                }
                Op::Constant(number) => self.constants[number as usize].clone(),
                Op::Cell(number) => control::cell(run, number as usize),
                Op::Put(number) => {
                    if let Some(value) = stack.pop() {
                        control::put(run, value, number as usize)?;
                    }
                    continue;
                }
                Op::Path { path, form, strict, site } => {
                    let base = stack.pop().unwrap_or_else(Value::none);
                    let path = &self.paths[path as usize];
                    fields(run, path, &base, form, strict).map_err(|fault| fault.at(run, site))?
                }
                Op::Call { function, args, piped_first, site } => {
                    let from = stack.len() - args as usize;
                    if piped_first {
                        stack[from..].rotate_left(1);
                    }
                    let callee = &self.functions[function as usize];
                    let answer = callee.call(run, &stack[from..]).map_err(|fault| fault.at(run, site))?;
                    stack.truncate(from);
                    answer
                }
                Op::Receiver { path, method, strict, site } => {
                    let base = stack.pop().unwrap_or_else(Value::none);
                    let path = self.paths.get(path as usize);
                    call::receiver(run, &base, path, self.methods.get(method), strict)
                        .map_err(|fault| fault.at(run, site))?
                }
                Op::Awaits { method, args, to, site } => {
                    match stack.last() {
                        Some(receiver) if !receiver.is_none() => {
                            call::check_args(run, receiver, self.methods.get(method), usize::from(args))
                                .map_err(|fault| fault.at(run, site))?;
                        }
                        _ => at = to as usize,
                    }
                    continue;
                }
                Op::Method { method, args, site } => {
                    let from = stack.len() - args as usize;
                    let answer = call::method(run, self.methods.get(method), &stack[from..])
                        .map_err(|fault| fault.at(run, site))?;
                    stack.truncate(from);
                    answer
                }
                Op::Construct { construct, args, site } => {
                    construct_of(run, construct, &mut stack, args as usize)
                        .map_err(|fault| fault.at(run, site))?
                }
                Op::Not => {
                    let truth = stack.pop().is_some_and(|value| value.is_truthy());
                    Value::from(!truth)
                }
                Op::JumpIf { is, to } => {
                    if stack.last().is_some_and(|value| value.is_truthy() == is) {
                        at = to as usize;
                    } else {
                        stack.pop();
                    }
                    continue;
                }
                Op::SkipIf { is, to } => {
                    if stack.pop().is_some_and(|value| value.is_truthy() == is) {
                        at = to as usize;
                    }
                    continue;
                }
                Op::End => return Ok(stack.pop().unwrap_or_else(|| Value::from(""))),
            };
            stack.push(value);
        }
    }
}

/// A number that stands for something.
pub(super) fn index(number: &Value) -> Option<usize> {
    number.as_i64().and_then(|number| usize::try_from(number).ok())
}

/// What a path leads to, in the form in which it is wanted.
#[inline]
pub(super) fn fields(run: &Run, path: &Path, base: &Value, form: Form, strict: bool) -> Result<Value, Fault> {
    let value = path.walk(run, base, strict)?;
    match form {
        Form::Value => Ok(value.into_owned()),
        Form::Truth => Ok(Value::from(truth::is_true(&run.scope, &value))),
        Form::Print if value.is_string() => Ok(value.into_owned()),
        Form::Print => control::print(run, &value),
    }
}

/// Applies a construct to as many values from the top of the stack, which are taken away.
fn construct_of(
    run: &Run,
    construct: Construct,
    stack: &mut Vec<Value>,
    args: usize,
) -> Result<Value, Fault> {
    let listed = match construct {
        Construct::Arg => Some(control::arg as fn(&Run, &Value) -> Result<Value, Fault>),
        Construct::Declared => Some(control::declared as _),
        Construct::Template => Some(include::template as _),
        _ => None,
    };
    if let Some(apply) = listed {
        return apply(run, &Value::from(stack.split_off(stack.len() - args)));
    }
    // All others have one.
    let value = stack.pop().unwrap_or_else(Value::none);
    match construct {
        Construct::Defined => include::defined(run, &value),
        Construct::Fault => control::fault(run, &value),
        Construct::Pairs => control::pairs(run, &value),
        Construct::Print if value.is_string() => Ok(value),
        Construct::Print => control::print(run, &value),
        Construct::Range => control::range(run, &value),
        _ => Ok(Value::from(truth::is_true(&run.scope, &value))),
    }
}

/// What a call calls.
enum Callee {
    Library { function: &'static Function, text: bool },
    Own { name: Box<str>, body: call::Own },
}

impl Callee {
    fn find(name: &str) -> Self {
        if let Some(function) = functions::find(name) {
            return Self::Library { function, text: answers_text(name) };
        }
        let body: call::Own = match name {
            "include" => include::include,
            "tpl" => super::tpl::tpl,
            "lookup" => super::lookup::lookup,
            _ => call::call,
        };
        Self::Own { name: name.into(), body }
    }

    fn call(&self, run: &Run, args: &[Value]) -> Result<Value, Fault> {
        match self {
            Self::Library { function, text } => call::library(run, function, *text, args),
            Self::Own { name, body } => call::own(run, name, *body, args),
        }
    }
}
