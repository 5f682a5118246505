//! Registers, with a Tera instance, the filters that lowered templates refer to.

use std::sync::Arc;

use tera::{Kwargs, State, Tera, TeraResult, Value};

use crate::{
    functions::{self, Function},
    gotemplate::lower::{Constant, Form, PathUse, Tables},
    value::typed,
};

use super::{call, control, escape, include, path::Path, run::with, vocabulary::answers_text};

/// Registers the paths, constants, functions and methods that `tables` list.
pub(super) fn register(tera: &mut Tera, tables: Tables) {
    let Tables {
        paths,
        constants,
        path_uses,
        called_bare,
        called_one,
        called_many,
        called_rotated,
        methods,
        lenient_methods,
        ..
    } = tables;
    if !constants.is_empty() {
        register_constants(tera, constants);
    }
    register_paths(tera, &paths, path_uses.into_iter().collect());
    for name in called_bare {
        let callee = Callee::find(&name);
        tera.register_function(format!("g_{name}"), move |_: Kwargs, _: &State<'_>| -> TeraResult<Value> {
            callee.call(&[])
        });
    }
    for name in called_one {
        let callee = Callee::find(&name);
        tera.register_filter(
            format!("h_{name}"),
            move |arg: &Value, _: Kwargs, _: &State<'_>| -> TeraResult<Value> {
                callee.call(std::slice::from_ref(arg))
            },
        );
    }
    for name in called_many {
        let callee = Callee::find(&name);
        tera.register_filter(
            format!("g_{name}"),
            move |args: &Value, _: Kwargs, _: &State<'_>| -> TeraResult<Value> {
                callee.call(args.as_array().unwrap_or_default())
            },
        );
    }
    for name in called_rotated {
        let callee = Callee::find(&name);
        tera.register_filter(
            format!("r_{name}"),
            move |args: &Value, _: Kwargs, _: &State<'_>| -> TeraResult<Value> {
                match args.as_array().unwrap_or_default() {
                    [last, first] => callee.call(&[first.clone(), last.clone()]),
                    [last, others @ ..] => callee.call(&[others, std::slice::from_ref(last)].concat()),
                    [] => callee.call(&[]),
                }
            },
        );
    }
    for (names, lenient) in [(methods, false), (lenient_methods, true)] {
        for name in names {
            let filter = format!("{}_{name}", if lenient { 'n' } else { 'm' });
            tera.register_filter(
                filter,
                move |args: &Value, _: Kwargs, _: &State<'_>| -> TeraResult<Value> {
                    with(|run| call::method(run, &name, args.as_array().unwrap_or_default(), lenient))
                },
            );
        }
    }
}

/// Registers what stands for Go's own constructs, which all templates use.
pub(super) fn register_constructs(tera: &mut Tera) {
    tera.register_filter("_truth", |value: &Value, _: Kwargs, _: &State<'_>| -> TeraResult<Value> {
        with(|run| Ok(Value::from(crate::value::truth::is_true(&run.scope, value))))
    });
    tera.register_filter("_print", |value: &Value, _: Kwargs, _: &State<'_>| -> TeraResult<Value> {
        if value.is_string() {
            return Ok(value.clone());
        }
        with(|run| control::print(run, value))
    });
    tera.register_filter("_fault", filter(control::fault));
    tera.register_filter("_range", filter(control::range));
    tera.register_filter("_pairs", filter(control::pairs));
    tera.register_filter("_declared", filter(control::declared));
    tera.register_filter("_arg", filter(control::arg));
    tera.register_filter("_defined", filter(include::defined));
    tera.register_filter("_template", filter(include::template));
    tera.register_filter("_cell", filter(control::cell));
    tera.register_filter("_put", |value: &Value, kwargs: Kwargs, _: &State<'_>| -> TeraResult<Value> {
        let cell = kwargs.must_get::<usize>("c")?;
        with(|run| {
            control::put(run, value, cell);
            Ok(Value::from(""))
        })
    });
    tera.register_filter("_outline", filter(include::outline));
    tera.register_filter("_later", filter(include::later));
    tera.register_filter("_leave", filter(control::leave));
    tera.register_filter("_left", filter(control::left));
}

/// A filter out of a function that takes the render and the filter's input.
fn filter(
    body: fn(&super::run::Run, &Value) -> Result<Value, super::run::Fault>,
) -> impl Fn(&Value, Kwargs, &State<'_>) -> TeraResult<Value> + Send + Sync + 'static {
    move |value: &Value, _: Kwargs, _: &State<'_>| with(|run| body(run, value))
}

fn register_constants(tera: &mut Tera, constants: Vec<Constant>) {
    let constants: Arc<[Value]> = constants
        .into_iter()
        .map(|constant| match constant {
            Constant::Text(bytes) => Value::from(&*escape::encode(&bytes)),
            Constant::Int(int) => Value::from(int),
            Constant::Uint(uint) => Value::from(uint),
            Constant::Float(float) => Value::from(float),
            Constant::Complex(real, imaginary) => typed::from_complex(real, imaginary),
        })
        .collect();
    tera.register_filter("_k", move |number: &Value, _: Kwargs, _: &State<'_>| -> TeraResult<Value> {
        let number = number.as_i64().and_then(|number| usize::try_from(number).ok());
        let constant = number.and_then(|number| constants.get(number));
        constant.cloned().ok_or_else(|| tera::Error::message("no such constant"))
    });
}

fn register_paths(tera: &mut Tera, paths: &[Box<str>], mut uses: Vec<PathUse>) {
    uses.sort_unstable();
    let mut last: Option<(u32, Arc<Path>)> = None;
    for used in uses {
        let path = match last.take() {
            Some((number, path)) if number == used.path => path,
            _ => Arc::new(Path::new(&paths[used.path as usize])),
        };
        last = Some((used.path, Arc::clone(&path)));
        let (name, strict) = (used.filter(), used.strict);
        match used.form {
            Form::Value => tera.register_filter(
                name,
                move |base: &Value, _: Kwargs, _: &State<'_>| -> TeraResult<Value> {
                    with(|run| path.walk(run, base, strict).map(std::borrow::Cow::into_owned))
                },
            ),
            Form::Truth => tera.register_filter(
                name,
                move |base: &Value, _: Kwargs, _: &State<'_>| -> TeraResult<Value> {
                    with(|run| {
                        let value = path.walk(run, base, strict)?;
                        Ok(Value::from(crate::value::truth::is_true(&run.scope, &value)))
                    })
                },
            ),
            Form::Print => tera.register_filter(
                name,
                move |base: &Value, _: Kwargs, _: &State<'_>| -> TeraResult<Value> {
                    with(|run| {
                        let value = path.walk(run, base, strict)?;
                        if value.is_string() { Ok(value.into_owned()) } else { control::print(run, &value) }
                    })
                },
            ),
        }
    }
}

/// What a call calls.
#[derive(Clone)]
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

    fn call(&self, args: &[Value]) -> TeraResult<Value> {
        with(|run| match self {
            Self::Library { function, text } => call::library(run, function, *text, args),
            Self::Own { name, body } => call::own(run, name, *body, args),
        })
    }
}
