//! Lowering: a Go template becomes the source of a Tera template.
//!
//! Each Go template (a file, a `define`, a `block`) becomes one Tera template. The control structures become Tera's;
//! what Go evaluates otherwise than Tera (fields, printing, truth, every function) goes through filters that the
//! renderer registers:
//!
//! | Go | Tera |
//! |---|---|
//! | an expression: fields, calls, variables, conditions | `3\|_e`, where 3 is its place in [`Tables`]; `[3,e1]\|_e` if it needs what a loop is at |
//! | the dot, or an element, printed, tested, ranged over | `d\|_print`, `e1\|_truth`, `d\|_range` |
//! | `{{$x := e}}`, `{{$x = e}}` | `{{3\|_e}}`, which takes it into a cell outside Tera |
//! | `{{range e}}` | `{%for e1 in e%}`; of pairs where the key has a name |
//! | a condition between such | Tera's `and`, `or`, `not` |
//! | long or awkward text | `7\|_k`, where 7 is its place in [`Tables`] |
//!
//! What Go finds wrong only when it gets there is an expression too.
//!
//! Tera allows expressions and blocks to nest only so deep. What would nest deeper is computed beforehand into a variable
//! of its own, and a block becomes a template of its own, so that no template meets those limits.
//!
//! What follows a condition in a file may never be reached; with the defaults of most charts, half of it is not. So what is
//! long becomes a template of its own too, `3|_outline`, which the renderer compiles when it first runs.
//!
//! [`SourceMap`] says which node each filter of the lowered source is; an [`Op`] has the number of its own.

mod emit;
mod expr;
mod ir;
mod later;
mod names;
mod operand;
mod outline;
mod program;
mod stmt;
mod tables;
mod text;

#[cfg(test)]
mod tests;

use bumpalo::Bump;

use super::{
    ast::{Source, Tree},
    source_map::{Choice, Site, SourceMap},
};

pub use program::{Construct, NO_PATH, Op};
pub use tables::{Constant, Form, Names, PathUse, Tables};

/// What the lowering must know of the functions that a template may call.
pub trait Vocabulary {
    /// The signature of a function, none if there is no such function.
    fn signature(&self, function: &str) -> Option<Signature>;

    /// The type of the parameter that takes the argument at this place, counted from 0.
    fn param(&self, function: &str, at: usize) -> Param;

    /// The Go type of what `range` gives of a function's answer, or of what a path such as `.Files.Lines` leads to from
    /// the root, if it is known and no `interface {}`.
    fn elements(&self, of: &str) -> Option<&'static str>;
}

/// How a function is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signature {
    /// How many arguments it needs.
    pub fixed: usize,
    /// Whether it takes more than that.
    pub variadic: bool,
    /// What is known of its answer.
    pub answer: Known,
}

/// What is known of a value before it is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// Nothing.
    Any,
    /// It is a string: Tera prints it, and takes it for true, as Go does.
    Text,
    /// It is a boolean.
    Bool,
}

/// The Go type of a parameter, as far as constants are concerned: what they become, and how the wrong ones are refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Param {
    /// `interface {}` and `reflect.Value`.
    Any,
    /// `string`
    String,
    /// Signed integers, by their name.
    Int(&'static str),
    /// Unsigned integers, by their name.
    Uint(&'static str),
    /// `float64`
    Float,
    /// `bool`
    Bool,
    /// Everything else: the type's name, and whether `nil` can be passed for it.
    Other(&'static str, bool),
}

/// A template in Tera's language.
#[derive(Debug)]
pub struct Lowered<'a> {
    /// The source of the template itself.
    pub source: String,
    /// The blocks that became templates of their own, by the number that stands for them.
    pub outlined: Vec<Outlined>,
    /// Where the nodes are in `source`.
    pub map: SourceMap,
    /// The nodes that maps and ops refer to, if they were asked for.
    pub sites: Vec<Site<'a>>,
    /// What is one of several nodes.
    pub choices: Vec<Choice<'a>>,
}

/// A block that became a template of its own.
#[derive(Debug, Default)]
pub struct Outlined {
    /// Its source.
    pub source: String,
    /// Where the nodes are in `source`.
    pub map: SourceMap,
    /// For a block that need not be compiled before it is reached, what it refers to, which it does not share with the template
    /// around it.
    pub later: Option<Tables>,
}

/// Lowers one template.
///
/// `tables` collects the expressions, paths, constants and functions that the lowered source refers to. They are what the renderer
/// must register before it can run; several templates of one Tera instance share them.
pub fn lower<'a>(
    tree: &Tree<'a>,
    source: Source<'a>,
    vocabulary: &dyn Vocabulary,
    tables: &mut Tables,
) -> Lowered<'a> {
    let arena = Bump::new();
    stmt::Lowering::new(tree, source, vocabulary, tables, &arena, false).run()
}

/// Lowers one template to the same source as [`lower`], with [`Lowered::sites`].
pub fn lower_with_sites<'a>(
    tree: &Tree<'a>,
    source: Source<'a>,
    vocabulary: &dyn Vocabulary,
    tables: &mut Tables,
) -> Lowered<'a> {
    let arena = Bump::new();
    stmt::Lowering::new(tree, source, vocabulary, tables, &arena, true).run()
}
