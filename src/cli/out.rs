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

/// The form of what is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Form {
    /// For a person.
    Text,
    /// As JSON.
    Json,
    /// As YAML.
    Yaml,
}

impl Form {
    /// A value in this form; as JSON where it is for a person.
    ///
    /// # Errors
    /// When a value cannot be written, which does not happen to JSON.
    pub fn print(self, value: &serde_json::Value) -> Result<String> {
        Ok(match self {
            Form::Yaml => serde_yaml::to_string(value)?,
            Form::Text | Form::Json => serde_json::to_string_pretty(value)? + "\n",
        })
    }
}
