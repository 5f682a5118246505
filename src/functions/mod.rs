//! The function library of charts (sprig's and Helm's), one file per family.
//!
//! A [`Function`] is a name, the Go types of its parameters, and a native that takes evaluated arguments. The renderer
//! checks the arguments against the parameters as Go's text/template does before it calls, so a native may rely on
//! them; one that gets something else all the same answers as for Go's zero value, and never panics.
//!
//! `and`, `or`, `call`, `include`, `tpl` and `lookup` are not here: they need the evaluation itself, which the renderer has.

mod call;
mod cast;
mod certificates;
mod comparison;
mod crypto;
mod data;
mod dates;
mod decimal;
mod dicts;
mod encoding;
mod error;
mod flow;
mod json;
mod limits;
mod lists;
mod math;
mod merge;
pub mod methods;
mod param;
mod paths;
mod printing;
mod random;
mod reflection;
mod regex;
mod registry;
pub mod semver;
mod strings;
mod text;
mod toml;
mod unicode;
mod urls;

pub use call::Call;
pub use error::Error;
pub(crate) use json::{First, first_value};
pub use param::Param;
pub use paths::cleaned as clean_path;
pub use printing::query_escaped;
pub use registry::{all, find};

use tera::Value;

/// What a native answers: a value, or the text that follows `error calling NAME: ` in Go.
pub type Outcome = Result<Value, Error>;

/// The code behind a function.
pub type Native = fn(&Call<'_>) -> Outcome;

/// One function of charts.
#[derive(Clone, Copy)]
pub struct Function {
    /// The name that templates call it by.
    pub name: &'static str,
    /// Where the documentation files it.
    pub family: Family,
    /// The Go types of the fixed parameters.
    pub params: &'static [Param],
    /// The Go type of the parameters that may follow the fixed ones, if any may.
    pub variadic: Option<Param>,
    /// The code.
    pub native: Native,
    /// Whether two calls with the same arguments may differ; ask [`Function::generated`] for a call.
    pub generated: Generated,
    /// One line for the table of functions.
    pub summary: &'static str,
}

impl Function {
    /// A function with fixed parameters whose answer depends on its arguments alone.
    pub(crate) const fn new(
        name: &'static str,
        family: Family,
        params: &'static [Param],
        native: Native,
        summary: &'static str,
    ) -> Self {
        Self { name, family, params, variadic: None, native, generated: Generated::No, summary }
    }

    /// The same function, with any number of further arguments of this type.
    pub(crate) const fn variadic(mut self, param: Param) -> Self {
        self.variadic = Some(param);
        self
    }

    /// The same function, whose answers are random and so are kept by who owns the release.
    pub(crate) const fn stable(mut self) -> Self {
        self.generated = Generated::Stable;
        self
    }

    /// The same function, whose answers follow the clock and so are kept for one revision.
    pub(crate) const fn per_revision(mut self) -> Self {
        self.generated = Generated::PerRevision;
        self
    }

    /// The parameter that the argument at this place is for, counted from 0.
    #[must_use]
    pub fn param(&self, at: usize) -> Option<Param> {
        self.params.get(at).copied().or(self.variadic)
    }

    /// The same function, whose answer follows the clock unless the argument at this place is a date.
    pub(crate) const fn unless_dated(mut self, at: usize) -> Self {
        self.generated = Generated::UnlessDated(at);
        self
    }

    /// How long an answer to these arguments is kept.
    #[must_use]
    pub fn generated(&self, args: &[Value]) -> Generated {
        match self.generated {
            Generated::UnlessDated(at) if args.get(at).is_some_and(dates::is_dated) => Generated::No,
            Generated::UnlessDated(_) => Generated::PerRevision,
            kept => kept,
        }
    }

    /// Checks the number of arguments as Go's text/template does.
    ///
    /// # Errors
    /// Go's own text, such as `wrong number of args for trunc: want 2 got 1`.
    pub fn check_count(&self, got: usize) -> Result<(), String> {
        let (name, want) = (self.name, self.params.len());
        if self.variadic.is_some() {
            if got < want {
                return Err(format!("wrong number of args for {name}: want at least {want} got {got}"));
            }
        } else if got != want {
            return Err(format!("wrong number of args for {name}: want {want} got {got}"));
        }
        Ok(())
    }
}

/// Whether two calls of a function with the same arguments may differ, and for how long the first answer is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Generated {
    /// The answer follows from the arguments.
    No,
    /// Random text, keys, certificates: kept as long as the release lives.
    Stable,
    /// The clock: kept for one revision.
    PerRevision,
    /// The clock, unless the argument at this place is a date. [`Function::generated`] tells which.
    UnlessDated(usize),
}

/// The chapters of the function table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Family {
    /// Text in, text out.
    Strings,
    /// Printing and escaping: Go's own `print`, `html` and kin.
    Printing,
    /// Comparison and logic.
    Comparison,
    /// Defaults, choices and refusals.
    Flow,
    /// Lists.
    Lists,
    /// Dictionaries.
    Dicts,
    /// Whole numbers and floats.
    Math,
    /// Base64, base32 and checksums.
    Encoding,
    /// YAML, JSON and TOML.
    Data,
    /// Times and durations.
    Dates,
    /// Semantic versions.
    Semver,
    /// Regular expressions.
    Regex,
    /// Passwords, random text and encryption.
    Crypto,
    /// Keys and certificates.
    Certificates,
    /// Slash-separated paths.
    Paths,
    /// URLs.
    Urls,
    /// Types and kinds.
    Reflection,
    /// Name resolution.
    Network,
    /// UUIDs.
    Uuid,
}
