//! Standard output and standard error. Whoever reads may stop reading: that is no error.

use std::io::{self, BufWriter, Write as _};

use anyhow::{Context as _, Result};

/// Writes to standard output.
///
/// # Errors
/// When it cannot be written to, unless its reader has gone.
pub fn write(bytes: &[u8]) -> Result<()> {
    write_all([bytes])
}

/// Writes one after the other to standard output.
///
/// # Errors
/// As [`write`].
pub fn write_all<'b>(parts: impl IntoIterator<Item = &'b [u8]>) -> Result<()> {
    let mut out = BufWriter::with_capacity(64 << 10, io::stdout().lock());
    match parts.into_iter().try_for_each(|bytes| out.write_all(bytes)).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result.context("cannot write to standard output"),
    }
}

/// Writes a text to standard output as it is, where nothing can be done about a failure.
pub fn print(text: &str) {
    let _ = io::stdout().lock().write_all(text.as_bytes());
}

/// Writes an error and its causes to standard error, as one line. What the API server refused is in its own words.
pub fn fail(error: &anyhow::Error) {
    let mut text = String::new();
    for cause in error.chain() {
        let (more, last) = match cause.downcast_ref::<kube::Error>() {
            Some(kube::Error::Api(status)) => (status.message.clone(), true),
            _ => (cause.to_string(), false),
        };
        // Some say their causes themselves.
        if !text.contains(&more) {
            text.push_str(if text.is_empty() { "" } else { ": " });
            text.push_str(&more);
        }
        if last {
            break;
        }
    }
    complain(&format!("Error: {text}"));
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
