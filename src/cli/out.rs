//! Standard output and standard error. Whoever reads may stop reading: that is no error.

use std::io::{self, Write as _};

use anyhow::{Context as _, Result};

/// Writes to standard output.
///
/// # Errors
/// When it cannot be written to, unless its reader has gone.
pub fn write(bytes: &[u8]) -> Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result.context("cannot write to standard output"),
    }
}

/// Writes a text to standard output as it is, where nothing can be done about a failure.
pub fn print(text: &str) {
    let _ = io::stdout().lock().write_all(text.as_bytes());
}

/// Writes a line to standard error.
pub fn complain(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}
