//! Tera expressions under construction.
//!
//! An [`Ex`] knows how deep it nests in the senses that Tera limits, so that the lowering can take it out into a
//! variable before a limit is met.

use super::{Construct, Form, Known};

/// Where a value is held in the lowered template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// The dot that the template was invoked with: `d`.
    Dot,
    /// What a loop is at: `e1`.
    Element(u32),
    /// The key of what a loop over pairs is at: `e1[0]`.
    PairKey(u32),
    /// The value of what a loop over pairs is at: `e1[1]`.
    PairValue(u32),
    /// A cell outside Tera, as all variables are: `1|_cell`.
    Cell(u32),
}

/// An expression.
#[derive(Clone, Copy, Debug)]
pub(super) enum Ir<'b> {
    /// A string.
    Text(&'b str),
    /// An `int`.
    Int(i64),
    /// A boolean.
    Bool(bool),
    /// `nil`.
    Nil,
    /// A constant in the tables.
    Constant(u32),
    /// What is held somewhere.
    Place(Place),
    /// Fields of a value.
    Path { base: Ex<'b>, path: u32, form: Form, strict: bool, site: u32 },
    /// A function. What is piped is its last argument and stands last, but is evaluated first if it is `piped_first`.
    Call { name: &'b str, args: &'b [Ex<'b>], piped_first: bool, site: u32 },
    /// What a method is called on, fields of a value. If arguments that may fail come after it, `awaits` is how many there are in all.
    Receiver {
        base: Ex<'b>,
        path: Option<u32>,
        method: &'b str,
        strict: bool,
        awaits: Option<u32>,
        site: u32,
    },
    /// A method with arguments; the receiver comes first.
    Method { name: &'b str, args: &'b [Ex<'b>], site: u32 },
    /// What is no function of Go's.
    Filter { base: Ex<'b>, construct: Construct, site: Option<u32> },
    /// The same with several arguments.
    Listed { args: &'b [Ex<'b>], construct: Construct, site: u32 },
    /// Negation of a condition.
    Not(Ex<'b>),
    /// Conjunction of conditions.
    And(&'b [Ex<'b>]),
    /// Disjunction of conditions.
    Or(&'b [Ex<'b>]),
}

/// An expression with what must be known of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ex<'b> {
    /// The expression.
    pub ir: &'b Ir<'b>,
    /// What is known of its value.
    pub known: Known,
    /// How many filters and operators it has. Tera allows 256.
    pub weight: u32,
    /// How deep calls, operators and parentheses nest. Tera allows 40.
    pub depth: u32,
}

/// Tera's limits, with room to spare for what surrounds an expression.
pub(super) const MAX_WEIGHT: u32 = 200;
pub(super) const MAX_DEPTH: u32 = 24;

impl Ex<'_> {
    /// Whether it is near Tera's limits, so that nothing more should be put around it.
    pub(super) fn is_big(&self) -> bool {
        self.depth + 2 > MAX_DEPTH || self.weight >= MAX_WEIGHT
    }

    /// Whether it evaluates to the same at any time.
    pub(super) fn is_stable(&self) -> bool {
        matches!(self.ir, Ir::Text(_) | Ir::Int(_) | Ir::Bool(_) | Ir::Nil | Ir::Constant(_) | Ir::Place(_))
    }
}

/// What must run before an expression.
#[derive(Clone, Copy, Debug)]
pub(super) enum Pre<'b> {
    /// A cell takes a value.
    Set(u32, Ex<'b>),
    /// Only if the condition holds, or only if it does not.
    When { condition: Ex<'b>, holds: bool, body: &'b [Pre<'b>] },
}
