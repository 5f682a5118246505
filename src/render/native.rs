//! Templates in Tera's own language, beside those in Go's.
//!
//! Such a template sees the entries of its dot as variables (`Values`, `Release`, `Chart`…).

use tera::{Context, ErrorKind, Tera, Value};

use crate::value::{Scope, quote::quote};

use super::{
    error::{GoError, Place},
    run::{Fault, Stop},
    unit::describe,
};

/// What the names of such files end with.
pub(super) const EXTENSION: &str = ".tera";

/// Registers the functions of charts under their own names.
pub(super) fn register(_tera: &mut Tera) {}

/// The variables of a native template: the entries of its dot. Tera reads maps as they are, so what templates changed is put
/// in before.
pub(super) fn context(dot: &Value, scope: &Scope) -> Result<Context, Stop> {
    let dot =
        scope.materialise(dot).map_err(|error| Stop::Error(Box::new(GoError::new(error.to_string()))))?;
    let mut context = Context::new();
    for (key, value) in dot.as_map().into_iter().flatten() {
        if let Some(name) = key.as_str() {
            context.insert_value(name.to_owned(), value.clone());
        }
    }
    context.insert_value("dot", dot);
    Ok(context)
}

/// An error in a native template, in the form of Go's.
pub(super) fn explain(
    file: &str,
    text: &[u8],
    name: &str,
    fault: Option<Fault>,
    error: &tera::Error,
) -> GoError {
    let (message, cause) = describe(fault, None, error);
    let ErrorKind::RenderingError(report) = error.kind() else {
        return GoError::new(format!("template: {file}: {message}"));
    };
    let span = report.span();
    let node = text.get(span.range.clone()).map(String::from_utf8_lossy).unwrap_or_default();
    let (line, column) = (span.start_line, span.start_col);
    let executing = quote(name.as_bytes());
    let line_text = text.split(|byte| *byte == b'\n').nth(line.saturating_sub(1)).unwrap_or_default();
    GoError {
        text: format!("template: {file}:{line}:{column}: executing {executing} at <{node}>: {message}"),
        cause,
        exec: true,
        place: Some(Box::new(Place {
            file: file.to_owned(),
            line,
            column: Some(column),
            text: String::from_utf8_lossy(line_text).trim_end_matches('\r').to_owned(),
        })),
    }
}
