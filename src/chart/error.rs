//! Why a chart did not load.

use std::io;
use std::path::Path;

/// Why a chart did not load. The text is Helm's where Helm has one for the case.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Error(String);

impl Error {
    pub(super) fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// A failed operation on a file, as Go words it: `open x: no such file or directory`.
    pub(super) fn io(operation: &str, path: &Path, error: &io::Error) -> Self {
        Self(format!("{operation} {}: {}", path.display(), system_text(error)))
    }

    /// A file that could not be read as a whole. A folder can be opened, but not read.
    pub(super) fn read(path: &Path, error: &io::Error) -> Self {
        let operation = if error.kind() == io::ErrorKind::IsADirectory { "read" } else { "open" };
        Self::io(operation, path, error)
    }

    /// The same error, said to have happened while doing something else.
    pub(super) fn within(self, what: &str) -> Self {
        Self(format!("{what}: {}", self.0))
    }
}

/// What went wrong, in the words of Go's table of system errors.
pub(super) fn system_text(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "no such file or directory".into(),
        io::ErrorKind::PermissionDenied => "permission denied".into(),
        io::ErrorKind::IsADirectory => "is a directory".into(),
        io::ErrorKind::NotADirectory => "not a directory".into(),
        io::ErrorKind::UnexpectedEof => "unexpected EOF".into(),
        _ => {
            let text = error.to_string();
            let text = text.split(" (os error").next().unwrap_or(&text);
            let mut letters = text.chars();
            letters.next().map(|first| first.to_lowercase().chain(letters).collect()).unwrap_or_default()
        }
    }
}
