//! Regular expressions in RE2's syntax, which Go reads, compiled for the engine of the regex crate, whose time is linear too.

mod class;
mod error;
mod parse;

use std::sync::Arc;

use regex_automata::meta::Regex;

use error::Code;
pub(crate) use error::Error;

/// A compiled expression.
#[derive(Clone)]
pub(crate) struct Expression {
    /// What finds its matches.
    pub(crate) regex: Regex,
    /// The names of the groups, the whole match first; empty for those without one.
    pub(crate) names: Arc<[String]>,
    /// Whether it was written as nothing.
    pub(crate) is_empty: bool,
}

impl Expression {
    /// Compiles an expression.
    ///
    /// # Errors
    /// In the words of Go's regexp/syntax.
    pub(crate) fn compile(expression: &[u8]) -> Result<Self, Error> {
        /// The memory that a program may take.
        const MAX_PROGRAM: usize = 32 << 20;
        let parsed = parse::parse(expression)?;
        let config = Regex::config().utf8_empty(true).nfa_size_limit(Some(MAX_PROGRAM));
        let regex = Regex::builder()
            .configure(config)
            .build_from_hir(&parsed.hir)
            .map_err(|_| Code::Large.of(&String::from_utf8_lossy(expression)))?;
        Ok(Self { regex, names: parsed.names.into(), is_empty: expression.is_empty() })
    }
}

/// Whether an expression is one, without compiling it.
///
/// # Errors
/// As [`Expression::compile`], but for an expression that is too large.
pub(crate) fn check(expression: &[u8]) -> Result<(), Error> {
    parse::parse(expression).map(drop)
}
