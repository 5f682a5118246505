//! What can go wrong with a document, in the words of Go's libraries.

use std::{borrow::Cow, fmt};

/// Why a YAML text could not be read, or a value not be written.
///
/// Its text is the whole message that sigs.k8s.io/yaml gives, such as
/// `error converting YAML to JSON: yaml: line 3: mapping values are not allowed in this context`. go-yaml counts some
/// lines from one and some from zero, and names none for the first line; [`Error::line`] is the true one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct Error {
    text: String,
    line: Option<usize>,
}

impl Error {
    pub(super) fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), line: None }
    }

    /// The line in the text where the problem was noticed, from one, where there is a place to point to.
    #[must_use]
    pub fn line(&self) -> Option<usize> {
        self.line
    }

    /// The same error, said of a larger operation.
    pub(super) fn within(mut self, operation: &str) -> Self {
        self.text = format!("{operation}: {}", self.text);
        self
    }
}

/// A problem inside go-yaml's reader, scanner, parser or decoder.
#[derive(Debug, Clone)]
pub(super) struct Problem {
    message: Cow<'static, str>,
    /// The zero-based line as go-yaml reports it: it adds one for the scanner's problems only.
    reported: u32,
    /// The zero-based line where the problem is.
    line: Option<u32>,
}

/// The result of a step in reading. The problem is boxed to keep the common case small.
pub(super) type Step<T> = Result<T, Box<Problem>>;

impl Problem {
    /// A problem without a place: a character that may not occur, or a node that cannot be decoded.
    pub(super) fn new(message: impl Into<Cow<'static, str>>) -> Box<Self> {
        Box::new(Self { message: message.into(), reported: 0, line: None })
    }

    /// A problem of the scanner.
    pub(super) fn scanner(message: impl Into<Cow<'static, str>>, line: u32) -> Box<Self> {
        Box::new(Self {
            message: message.into(),
            reported: if line == 0 { 0 } else { line + 1 },
            line: Some(line),
        })
    }

    /// A problem of the parser.
    pub(super) fn parser(message: &'static str, line: u32) -> Box<Self> {
        Box::new(Self { message: message.into(), reported: line, line: Some(line) })
    }

    /// A problem of the decoder at a known line.
    pub(super) fn at(message: impl Into<Cow<'static, str>>, line: u32) -> Box<Self> {
        Box::new(Self { message: message.into(), reported: 0, line: Some(line) })
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("yaml: ")?;
        if self.reported != 0 {
            write!(f, "line {}: ", self.reported)?;
        }
        f.write_str(&self.message)
    }
}

impl From<Box<Problem>> for Error {
    fn from(problem: Box<Problem>) -> Self {
        Self { text: problem.to_string(), line: problem.line.map(|line| line as usize + 1) }
    }
}
