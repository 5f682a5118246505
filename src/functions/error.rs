//! What a function can refuse with.

use crate::value;

/// Why a call failed. The renderer adds where, and Go's `error calling NAME: ` before an [`Error::Call`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// An error that the function met; the text is the one that Go's function would give.
    #[error("{0}")]
    Call(String),
    /// A refusal that the chart's author wrote: `fail`, or `required` with nothing given. Helm shows the text alone.
    #[error("{0}")]
    Refused(String),
    /// A limit of our own that Go does not have, so that no function may swallow it.
    #[error("{0}")]
    Limit(String),
}

impl Error {
    /// An error with Go's text.
    pub fn new(text: impl Into<String>) -> Self {
        Self::Call(text.into())
    }
}

impl From<value::Error> for Error {
    fn from(error: value::Error) -> Self {
        match error {
            value::Error::TooDeep(_) | value::Error::TooLong(_) => Self::Limit(error.to_string()),
            _ => Self::Call(error.to_string()),
        }
    }
}
