//! Expressions that are evaluated by a filter of the renderer's, and not by Tera.
//!
//! What Tera has to read of an expression costs more than what it does when it runs. So an expression that is more than the dot, an
//! element, a constant or a test of one becomes a few [`Op`]s in the [`Tables`], with what must run before it, and in the lowered
//! source stands where they begin, `3|_e`; if it needs what a loop is at, `[3,e1]|_e`. They work on a stack: each takes its operands
//! from the top and leaves a value.

use super::{
    Constant, Form, Tables,
    ir::{Ex, Ir, Place, Pre},
};

/// One step of an expression.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Op {
    /// Puts the dot that the template was invoked with on the stack.
    Dot,
    /// Puts one of the places there that the expression is given, counted from 0.
    Given(u32),
    /// Puts there what a cell holds.
    Cell(u32),
    /// Takes what is on top into a cell.
    Put(u32),
    /// Puts a constant there, by its number in [`Tables::constants`].
    Constant(u32),
    /// Fields of the value on top.
    Path {
        /// Which of [`Tables::paths`].
        path: u32,
        /// What becomes of the field.
        form: Form,
        /// Whether nil has no fields, see [`super::PathUse::strict`].
        strict: bool,
        /// What an error names.
        site: u32,
    },
    /// A function of so many arguments, the last one on top.
    Call {
        /// Which of [`Tables::functions`].
        function: u32,
        /// How many arguments.
        args: u32,
        /// Whether the last argument is not on top but below all others, since Go evaluates it first.
        piped_first: bool,
        /// What an error names.
        site: u32,
    },
    /// What a method is called on: fields of the value on top, or that itself. There must be such a method, except that one of nil
    /// is nil.
    Receiver {
        /// Which of [`Tables::paths`], or [`NO_PATH`].
        path: u32,
        /// Which of [`Tables::methods`].
        method: u32,
        /// Whether nil has no methods.
        strict: bool,
        /// What an error names.
        site: u32,
    },
    /// Before arguments that may fail: whether the method of the receiver on top takes so many. Of nil, there is none to be called.
    Awaits {
        /// Which of [`Tables::methods`].
        method: u32,
        /// How many arguments.
        args: u16,
        /// The number of the op that comes after the call.
        to: u32,
        /// What an error names.
        site: u32,
    },
    /// A method of so many arguments, the receiver counted with them, which is the lowest one.
    Method {
        /// Which of [`Tables::methods`].
        method: u32,
        /// How many arguments.
        args: u32,
        /// What an error names.
        site: u32,
    },
    /// One of Go's own constructs, of so many arguments.
    Construct {
        /// Which.
        construct: Construct,
        /// How many arguments.
        args: u32,
        /// What an error names.
        site: u32,
    },
    /// Whether what is on top is not true.
    Not,
    /// Goes on elsewhere with what is on top if that is as said; takes it away if not.
    JumpIf {
        /// True for `or`, false for `and`.
        is: bool,
        /// The number of the op.
        to: u32,
    },
    /// Takes what is on top away, and goes on elsewhere if it is as said.
    SkipIf {
        /// Whether it must be true.
        is: bool,
        /// The number of the op.
        to: u32,
    },
    /// The value on top is what the expression comes to. Where none is, it is the empty string.
    End,
}

/// What stands for a construct of Go's. Each is also a filter of that name, where Tera has what it is applied to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Construct {
    /// `_arg`: an argument of a certain type.
    Arg,
    /// `_declared`: a variable that may not be declared.
    Declared,
    /// `_defined`: the name of a template that must exist.
    Defined,
    /// `_fault`: an error.
    Fault,
    /// `_pairs`: what a loop with two variables goes over.
    Pairs,
    /// `_print`: a value as it is printed.
    Print,
    /// `_range`: what a loop goes over.
    Range,
    /// `_template`: another template.
    Template,
    /// `_truth`: whether a value is true.
    Truth,
    /// `_outline`: a block that was split off. A filter only, as the two that follow.
    Outline,
    /// `_leave`: a jump out of such a block.
    Leave,
    /// `_left`: whether it was left by a jump.
    Left,
}

impl Construct {
    /// The name of the filter.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Arg => "_arg",
            Self::Declared => "_declared",
            Self::Defined => "_defined",
            Self::Fault => "_fault",
            Self::Pairs => "_pairs",
            Self::Print => "_print",
            Self::Range => "_range",
            Self::Template => "_template",
            Self::Truth => "_truth",
            Self::Outline => "_outline",
            Self::Leave => "_leave",
            Self::Left => "_left",
        }
    }
}

/// The path of what needs none.
pub const NO_PATH: u32 = u32::MAX;

/// The site of what cannot fail.
pub(super) const NO_SITE: u32 = u32::MAX;

impl Ex<'_> {
    /// Whether it is left to Tera: places, constants, and constructs applied to one of those.
    pub(super) fn is_plain(&self) -> bool {
        match self.ir {
            Ir::Text(_) | Ir::Int(_) | Ir::Bool(_) | Ir::Nil | Ir::Constant(_) | Ir::Place(_) => true,
            Ir::Filter { base, construct, .. } => {
                let held = matches!(base.ir, Ir::Place(place) if !matches!(place, Place::Cell(_)));
                held || matches!(construct, Construct::Outline | Construct::Leave | Construct::Left)
            }
            Ir::Not(condition) => condition.is_plain(),
            Ir::And(parts) | Ir::Or(parts) => parts.iter().all(Ex::is_plain),
            Ir::Path { .. }
            | Ir::Call { .. }
            | Ir::Receiver { .. }
            | Ir::Method { .. }
            | Ir::Listed { .. } => false,
        }
    }
}

/// Adds the ops of an expression to the tables, after those of what must run before it; where they begin, and the places that they
/// are to be given.
pub(super) fn add(pres: &[Pre<'_>], ex: Option<Ex<'_>>, tables: &mut Tables) -> (usize, Vec<Place>) {
    let start = tables.ops.len();
    let mut given = Vec::new();
    run(pres, tables, &mut given);
    if let Some(ex) = ex {
        write(ex, tables, &mut given);
    }
    tables.ops.push(Op::End);
    (start, given)
}

fn run(pres: &[Pre<'_>], tables: &mut Tables, given: &mut Vec<Place>) {
    for pre in pres {
        match pre {
            Pre::Set(cell, ex) => {
                write(*ex, tables, given);
                tables.ops.push(Op::Put(*cell));
            }
            Pre::When { condition, holds, body } => {
                write(*condition, tables, given);
                let skip = tables.ops.len();
                tables.ops.push(Op::End);
                run(body, tables, given);
                tables.ops[skip] = Op::SkipIf { is: !*holds, to: count(tables.ops.len()) };
            }
        }
    }
}

fn write(ex: Ex<'_>, tables: &mut Tables, given: &mut Vec<Place>) {
    let op = match ex.ir {
        Ir::Text(text) => Op::Constant(tables.constant(Constant::Text(text.as_bytes().into()))),
        Ir::Int(int) => Op::Constant(tables.constant(Constant::Int(*int))),
        Ir::Bool(truth) => Op::Constant(tables.constant(Constant::Bool(*truth))),
        Ir::Nil => Op::Constant(tables.constant(Constant::Nil)),
        Ir::Constant(number) => Op::Constant(*number),
        Ir::Place(Place::Dot) => Op::Dot,
        Ir::Place(Place::Cell(number)) => Op::Cell(*number),
        Ir::Place(place) => {
            let known = given.iter().position(|known| known == place);
            let number = known.unwrap_or_else(|| {
                given.push(*place);
                given.len() - 1
            });
            Op::Given(count(number))
        }
        Ir::Path { base, path, form, strict, site } => {
            write(*base, tables, given);
            Op::Path { path: *path, form: *form, strict: *strict, site: *site }
        }
        Ir::Call { name, args, piped_first, site } => {
            match args {
                [others @ .., last] if *piped_first => {
                    write(*last, tables, given);
                    others.iter().for_each(|arg| write(*arg, tables, given));
                }
                args => args.iter().for_each(|arg| write(*arg, tables, given)),
            }
            let function = tables.functions.number(name);
            Op::Call { function, args: count(args.len()), piped_first: *piped_first, site: *site }
        }
        Ir::Receiver { .. } => {
            let awaits = receiver(ex, tables, given);
            return reach(awaits, tables);
        }
        Ir::Method { name, args, site } => {
            let awaits = args.first().and_then(|first| receiver(*first, tables, given));
            args.iter().skip(1).for_each(|arg| write(*arg, tables, given));
            let method = tables.methods.number(name);
            tables.ops.push(Op::Method { method, args: count(args.len()), site: *site });
            return reach(awaits, tables);
        }
        Ir::Filter { base, construct, site } => {
            write(*base, tables, given);
            Op::Construct { construct: *construct, args: 1, site: site.unwrap_or(NO_SITE) }
        }
        Ir::Listed { args, construct, site } => {
            args.iter().for_each(|arg| write(*arg, tables, given));
            Op::Construct { construct: *construct, args: count(args.len()), site: *site }
        }
        Ir::Not(condition) => {
            write(*condition, tables, given);
            Op::Not
        }
        Ir::And(parts) => return junction(parts, false, tables, given),
        Ir::Or(parts) => return junction(parts, true, tables, given),
    };
    tables.ops.push(op);
}

/// What a method is called on; the number of the op that goes on after the call if there is none.
fn receiver(ex: Ex<'_>, tables: &mut Tables, given: &mut Vec<Place>) -> Option<usize> {
    let Ir::Receiver { base, path, method, strict, awaits, site } = *ex.ir else {
        // It was taken into a cell.
        write(ex, tables, given);
        return None;
    };
    write(base, tables, given);
    let method = tables.methods.number(method);
    tables.ops.push(Op::Receiver { path: path.unwrap_or(NO_PATH), method, strict, site });
    let args = u16::try_from(awaits?).unwrap_or(u16::MAX);
    tables.ops.push(Op::Awaits { method, args, to: 0, site });
    Some(tables.ops.len() - 1)
}

/// Has an op go on at the next one.
fn reach(awaits: Option<usize>, tables: &mut Tables) {
    let end = count(tables.ops.len());
    if let Some(Op::Awaits { to, .. }) = awaits.and_then(|at| tables.ops.get_mut(at)) {
        *to = end;
    }
}

/// Parts of which the first one that is true, or is not, is what they all come to; or else the last one.
fn junction(parts: &[Ex<'_>], is: bool, tables: &mut Tables, given: &mut Vec<Place>) {
    let mut jumps = Vec::with_capacity(parts.len());
    for (at, part) in parts.iter().enumerate() {
        write(*part, tables, given);
        if at + 1 < parts.len() {
            jumps.push(tables.ops.len());
            tables.ops.push(Op::JumpIf { is, to: 0 });
        }
    }
    let end = count(tables.ops.len());
    for jump in jumps {
        tables.ops[jump] = Op::JumpIf { is, to: end };
    }
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
