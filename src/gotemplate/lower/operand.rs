//! Operands: constants, variables, fields and methods.

use crate::gotemplate::{
    ast::{Chain, NodeRef, Operand, Variable},
    print,
    source_map::{ArgSite, Nil, Site},
};

use super::{
    Constant, Construct, Form, Known, Param,
    expr::Pres,
    ir::{Ex, Ir, Place, Pre},
    names::Binding,
    stmt::Lowering,
};

/// What fields are taken from.
#[derive(Clone, Copy)]
pub(super) struct Base<'b> {
    pub ex: Ex<'b>,
    /// Whether a field of nil is an error and not nil: so it is for what `range` gives.
    pub strict: bool,
    /// The Go type, if it is known and no `interface {}`.
    pub of: Option<&'static str>,
}

impl<'a, 'b> Lowering<'a, 'b, '_> {
    /// The dot, to take fields from.
    pub(super) fn dot_base(&self) -> Base<'b> {
        Base { ex: self.place(self.dot.place, Known::Any), strict: self.dot.element, of: self.dot.of }
    }

    /// A variable, to take fields from, and the fields.
    pub(super) fn variable_base(&mut self, variable: Variable<'a>) -> (Base<'b>, &'a str) {
        let name = variable.name();
        let fields = variable.text.get(name.len() + 1..).unwrap_or_default();
        // The parser refuses variables that are not declared.
        let Some(Binding { place, element, doubtful, of, .. }) = self.names.find(name) else {
            let ex = self.fault(&format!("undefined variable: {name}"));
            return (Base { ex, strict: false, of: None }, fields);
        };
        let mut ex = self.place(place, Known::Any);
        if doubtful {
            let args: &'b [Ex<'b>] =
                self.arena.alloc_slice_copy(&[ex, self.leaf(Ir::Text(self.arena.alloc_str(name)))]);
            let site = self.site(Site::of(self.at));
            ex = self.around(Ir::Listed { args, construct: Construct::Declared, site }, args);
        }
        (Base { ex, strict: element, of }, fields)
    }

    /// What the fields of a chain are taken from.
    pub(super) fn chain_base(&mut self, chain: &'a Chain<'a>, pre: &mut Pres<'b>) -> Base<'b> {
        self.at = chain.into();
        if let Operand::Pipe(pipe) = chain.base {
            self.track(pipe);
        }
        // The parser refuses `nil.a`; an operand's own nil is no value, of which every field is nil.
        let (ex, _) = self.arg(chain.base, Param::Any, false, pre);
        let ex = if ex.is_big() { self.hoist(ex, pre) } else { ex };
        Base { ex, strict: false, of: None }
    }

    /// Fields of something, `a.b.c`, and a method call if there are arguments.
    pub(super) fn fields(
        &mut self,
        base: Base<'b>,
        fields: &'a str,
        operand: Operand<'a>,
        args: &'a [Operand<'a>],
        piped: Option<Ex<'b>>,
        pre: &mut Pres<'b>,
    ) -> Ex<'b> {
        if args.is_empty() && piped.is_none() {
            return self.path(base, fields);
        }
        let (path, method) = match fields.rsplit_once('.') {
            Some((before, last)) => (Some(self.tables.paths.number(before)), last),
            None => (None, fields),
        };
        let method = self.arena.alloc_str(method);
        let (node, before) = (operand.into(), self.at);
        // What is piped comes first in Go, before the receiver, and the arguments last.
        let piped = piped.map(|ex| if ex.is_stable() { ex } else { self.hoist(ex, pre) });
        let count = u32::try_from(args.len() + usize::from(piped.is_some())).unwrap_or(u32::MAX);
        let awaits = args.iter().any(|arg| may_fail(arg, Param::Any)).then_some(count);
        let site = self.site(Site { node, before, args: Vec::new(), base: base.of });
        let receiver = Ir::Receiver { base: base.ex, path, method, strict: base.strict, awaits, site };
        let receiver = self.around(receiver, &[base.ex]);
        let params = vec![Param::Any; args.len()];
        let mut list = self.arguments(Some(receiver), args, &params, piped, pre);
        self.note_arg(
            &mut list.sites,
            0,
            ArgSite { node, absent: node, nil: Nil::Interface, constant: false },
        );
        self.method = Some((self.at, before));
        let site = self.site(Site { node, before, args: list.sites, base: None });
        let args = self.fit(list.exprs, pre);
        self.around(Ir::Method { name: method, args, site }, args)
    }

    /// The node that Go looked at last if what was lowered is no value at all.
    pub(super) fn absent(&self) -> NodeRef<'a> {
        match self.method {
            Some((last, before)) if last.pos() == self.at.pos() => before,
            _ => self.at,
        }
    }

    fn path(&mut self, base: Base<'b>, fields: &str) -> Ex<'b> {
        let path = self.tables.paths.number(fields);
        let site = self.site(Site { base: base.of, ..Site::of(self.at) });
        let ir = Ir::Path { base: base.ex, path, form: Form::Value, strict: base.strict, site };
        self.around(ir, &[base.ex])
    }

    /// An argument for a parameter of a type, and what a nil in it is (evalArg). The call checks its type, unless that has to
    /// be known before, because an argument after it may fail as well.
    pub(super) fn arg(
        &mut self,
        operand: Operand<'a>,
        param: Param,
        others_may_fail: bool,
        pre: &mut Pres<'b>,
    ) -> (Ex<'b>, Nil) {
        let (ex, nil) = self.arg_of_any_type(operand, param, pre);
        // No value at all can be passed for a map or list, a nil `interface {}` cannot, and the call cannot tell them apart.
        let (name, ambiguous) = match param {
            Param::Any => return (ex, nil),
            Param::String => ("string", false),
            Param::Float => ("float64", false),
            Param::Bool => ("bool", false),
            Param::Int(name) | Param::Uint(name) => (name, false),
            Param::Other(name, can_be_nil) => (name, can_be_nil && nil != Nil::Untyped),
        };
        let constant = matches!(ex.ir, Ir::Text(_) | Ir::Int(_) | Ir::Bool(_) | Ir::Nil | Ir::Constant(_));
        // A nil field of something in parentheses is no value if that is nil.
        let below = matches!(operand, Operand::Chain(_));
        if constant || !(ambiguous || others_may_fail || below) {
            return (ex, nil);
        }
        let mut args = vec![ex, self.leaf(Ir::Text(self.arena.alloc_str(name)))];
        match ex.ir {
            // What a pipeline in parentheses comes to is not held in an `interface {}`.
            _ if nil == Nil::Untyped && !below => args.push(self.leaf(Ir::Nil)),
            // A field of no value is no value.
            Ir::Path { base, strict: false, .. } if base.is_stable() => args.push(*base),
            _ => {}
        }
        let args = self.fit(args, pre);
        let mut site = Site::of(self.at);
        let arg = ArgSite { node: self.at, absent: self.absent(), nil, constant: false };
        self.note_arg(&mut site.args, 0, arg);
        let site = self.site(site);
        (self.around(Ir::Listed { args, construct: Construct::Arg, site }, args), nil)
    }

    fn arg_of_any_type(&mut self, operand: Operand<'a>, param: Param, pre: &mut Pres<'b>) -> (Ex<'b>, Nil) {
        self.at = operand.into();
        let measured = std::mem::take(&mut self.measured);
        match operand {
            Operand::Dot(_) => (self.dot_base().ex, nil_of(self.dot.element)),
            Operand::Nil(_) => {
                let refused = match param {
                    Param::Any | Param::Other(_, true) => return (self.leaf(Ir::Nil), Nil::Untyped),
                    Param::String => "string",
                    Param::Float => "float64",
                    Param::Bool => "bool",
                    Param::Int(name) | Param::Uint(name) | Param::Other(name, false) => name,
                };
                (self.fault(&format!("cannot assign nil to {refused}")), Nil::Untyped)
            }
            Operand::Field(field) => {
                let base = self.dot_base();
                (self.path(base, &field.text[1..]), nil_below(base))
            }
            Operand::Variable(variable) => {
                let (base, fields) = self.variable_base(variable);
                if fields.is_empty() {
                    (base.ex, nil_of(base.strict))
                } else {
                    (self.path(base, fields), nil_below(base))
                }
            }
            Operand::Chain(chain) => {
                let mut base = self.chain_base(chain, pre);
                if param == Param::Any && measured {
                    let cell = self.names.fresh();
                    pre.push(Pre::Set(cell, base.ex));
                    base.ex = self.place(Place::Cell(cell), Known::Any);
                    return (self.path(base, &chain.text[1..]), Nil::OfCell(cell));
                }
                if param == Param::Any {
                    return (self.path(base, &chain.text[1..]), nil_below(base));
                }
                if !base.ex.is_stable() {
                    base.ex = self.hoist(base.ex, pre);
                }
                (self.path(base, &chain.text[1..]), Nil::Untyped)
            }
            Operand::Pipe(pipe) => {
                if param != Param::Any {
                    self.track(pipe);
                }
                (self.pipe(pipe, pre), Nil::Untyped)
            }
            Operand::Identifier(identifier) => {
                (self.call(identifier, operand.into(), &[], None, pre), Nil::Untyped)
            }
            Operand::Bool(_) | Operand::Number(_) | Operand::String(_) => {
                (self.constant(operand, param), Nil::Untyped)
            }
        }
    }

    /// A constant for a parameter of a type (evalBool, evalString, evalInteger…).
    fn constant(&mut self, operand: Operand<'a>, param: Param) -> Ex<'b> {
        let found = match (param, operand) {
            (Param::Any, _) => Some(self.ideal(operand)),
            (Param::String, Operand::String(literal)) => Some(self.text(literal.text)),
            (Param::Bool, Operand::Bool(literal)) => Some(self.leaf(Ir::Bool(literal.value))),
            (Param::Int(_), Operand::Number(number)) => number.int.map(|int| self.int(int)),
            (Param::Uint(_), Operand::Number(number)) => {
                number.uint.map(|uint| self.outside(Constant::Uint(uint)))
            }
            (Param::Float, Operand::Number(number)) => {
                number.float.map(|float| self.outside(Constant::Float(float)))
            }
            _ => None,
        };
        let Some(found) = found else {
            let node = print(operand);
            return match param {
                Param::Any => self.fault(&format!("can't handle {node}")),
                Param::String => self.fault(&format!("expected string; found {node}")),
                Param::Int(_) => self.fault(&format!("expected integer; found {node}")),
                Param::Uint(_) => self.fault(&format!("expected unsigned integer; found {node}")),
                Param::Float => self.fault(&format!("expected float; found {node}")),
                Param::Bool => self.fault(&format!("expected bool; found {node}")),
                Param::Other(name, _) => self.fault(&format!("can't handle {node} for arg of type {name}")),
            };
        };
        found
    }

    /// A constant where any type will do (idealConstant).
    pub(super) fn ideal(&mut self, operand: Operand<'a>) -> Ex<'b> {
        match operand {
            Operand::Bool(literal) => self.leaf(Ir::Bool(literal.value)),
            Operand::String(literal) => self.text(literal.text),
            Operand::Number(number) => {
                if let Some((real, imaginary)) = number.complex {
                    return self.outside(Constant::Complex(real, imaginary));
                }
                match (number.float, number.int) {
                    (Some(float), _) if is_float(number.text, number.is_char) => {
                        self.outside(Constant::Float(float))
                    }
                    (_, Some(int)) => self.int(int),
                    _ if number.uint.is_some() => {
                        let text = String::from_utf8_lossy(number.text);
                        self.fault(&format!("{text} overflows int"))
                    }
                    _ => self.leaf(Ir::Nil),
                }
            }
            _ => self.leaf(Ir::Nil),
        }
    }

    fn text(&mut self, text: &[u8]) -> Ex<'b> {
        match std::str::from_utf8(text) {
            Ok(text) => self.leaf(Ir::Text(self.arena.alloc_str(text))),
            Err(_) => self.outside(Constant::Text(text.into())),
        }
    }

    fn int(&mut self, int: i64) -> Ex<'b> {
        // Tera reads the digits before it sees the sign.
        if int == i64::MIN { self.outside(Constant::Int(int)) } else { self.leaf(Ir::Int(int)) }
    }

    fn outside(&mut self, constant: Constant) -> Ex<'b> {
        let number = self.tables.constant(constant);
        Ex { weight: 1, ..self.leaf(Ir::Constant(number)) }
    }
}

/// Whether evaluating an operand for a parameter may fail, apart from its value's type.
pub(super) fn may_fail(operand: &Operand<'_>, param: Param) -> bool {
    match (operand, param) {
        (Operand::Field(_) | Operand::Chain(_) | Operand::Identifier(_) | Operand::Pipe(_), _) => true,
        (Operand::Variable(variable), _) => variable.text.contains('.'),
        (Operand::Dot(_), _) => false,
        (Operand::Number(number), Param::Any) => number.int.is_none() && number.complex.is_none(),
        (_, Param::Any)
        | (Operand::String(_), Param::String)
        | (Operand::Bool(_), Param::Bool)
        | (Operand::Nil(_), Param::Other(_, true)) => false,
        (Operand::Number(number), Param::Int(_)) => number.int.is_none(),
        (Operand::Number(number), Param::Uint(_)) => number.uint.is_none(),
        (Operand::Number(number), Param::Float) => number.float.is_none(),
        _ => true,
    }
}

/// What a nil is that is not taken from anything: an element of a list or map, or what an expression gave.
fn nil_of(element: bool) -> Nil {
    if element { Nil::Interface } else { Nil::Untyped }
}

/// What a nil is that was found as a field of something.
fn nil_below(base: Base<'_>) -> Nil {
    match base.ex.ir {
        Ir::Place(Place::Dot) if !base.strict => Nil::OfDot,
        _ => Nil::Interface,
    }
}

/// Whether a number is written as a float: `1.0`, `1e3`, but neither `0xe` nor `'e'`.
pub(super) fn is_float(text: &[u8], is_char: bool) -> bool {
    let contains = |any: &[u8]| text.iter().any(|byte| any.contains(byte));
    let hexadecimal =
        text.len() > 2 && (text.starts_with(b"0x") || text.starts_with(b"0X")) && !contains(b"pP");
    !hexadecimal && !is_char && contains(b".eEpP")
}
