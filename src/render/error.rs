//! Errors of a render, in the words of Helm, with the place in the chart.

use std::fmt;

use crate::gotemplate::ast::Source;

use super::Secrets;

/// Why a chart could not be parsed or rendered. [`fmt::Display`] gives Helm's text, whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// Helm's text.
    pub message: String,
    /// Where it happened: the outermost template first, the one that failed last. Empty when there is no such place.
    pub places: Vec<Place>,
    /// Whether the chart's author wrote the refusal, with `fail` or `required`.
    pub refused: bool,
}

/// A place in a chart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file, as Helm names it: `chart/templates/file.yaml`.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The column in bytes, from 0, as Go counts it; none where Go gives the line alone.
    pub column: Option<usize>,
    /// The text of the line; of a long one, what is around the column.
    pub text: String,
    /// Where in the line the text begins.
    pub start: usize,
}

impl Place {
    /// A place in a file, with the line that it is in.
    pub(super) fn new(source: &Source<'_>, line: usize, column: Option<usize>) -> Self {
        const LONG: usize = 1000;
        let text = source.text.split(|byte| *byte == b'\n').nth(line.saturating_sub(1)).unwrap_or_default();
        let start = if text.len() > LONG { column.unwrap_or(0).saturating_sub(LONG / 2) } else { 0 };
        let shown = text.get(start..).unwrap_or_default();
        let shown = &shown[..shown.len().min(LONG)];
        Self {
            file: source.name.to_owned(),
            line,
            column,
            text: String::from_utf8_lossy(shown).trim_end_matches('\r').to_owned(),
            start,
        }
    }
}

impl Error {
    /// An error that has no place in a template.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), places: Vec::new(), refused: false }
    }

    /// The same without what came from Secrets.
    pub(super) fn hiding(mut self, secrets: &Secrets) -> Self {
        self.message = secrets.hide(&self.message);
        for place in &mut self.places {
            place.text = secrets.hide(&place.text);
        }
        self
    }

    /// The source line that failed, underlined; empty when the error has no place.
    ///
    /// ```text
    ///   chart/templates/a.yaml:3
    ///   3 | name: {{ .Values.a.b }}
    ///     |          ^
    /// ```
    #[must_use]
    pub fn excerpt(&self) -> String {
        let Some(place) = self.places.last() else { return String::new() };
        let number = place.line.to_string();
        let margin = " ".repeat(number.len());
        let mut excerpt = format!("  {}:{number}\n  {number} | {}\n", place.file, place.text);
        if let Some(column) = place.column {
            let before: String = place
                .text
                .char_indices()
                .take_while(|(at, _)| place.start + *at < column)
                .map(|(_, c)| if c == '\t' { '\t' } else { ' ' })
                .collect();
            excerpt.push_str(&format!("  {margin} | {before}^\n"));
        }
        excerpt
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

/// An error as Go's text/template makes it: a text that ends with that of the error it wraps.
#[derive(Debug)]
pub(super) struct GoError {
    /// The text up to that of the error it wraps.
    pub text: String,
    pub cause: Option<Box<GoError>>,
    /// Whether it is a `template.ExecError`.
    pub exec: bool,
    /// The place it names.
    pub place: Option<Box<Place>>,
}

impl GoError {
    /// An error that wraps nothing.
    pub(super) fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), cause: None, exec: false, place: None }
    }

    /// An error around another one.
    pub(super) fn wrap(text: String, cause: Box<Self>) -> Self {
        Self { text, cause: Some(cause), exec: false, place: None }
    }

    /// The whole text.
    pub(super) fn whole(&self) -> String {
        self.chain().map(|error| error.text.as_str()).collect()
    }

    /// How long the whole text is.
    pub(super) fn len(&self) -> usize {
        self.chain().map(|error| error.text.len()).sum()
    }

    /// The error, and those that it wraps.
    fn chain(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |error| error.cause.as_deref())
    }
}

/// The marks between which Helm's `fail` and `required` put the author's message.
pub(super) const REFUSAL: (&str, &str) = ("HELM_ERR_START", "HELM_ERR_END");

/// What Helm makes of an error of parsing a file (`cleanupParseError`).
pub(super) fn parse_error(file: &str, text: &str, place: Place) -> Error {
    let tokens: Vec<&str> = text.split(": ").collect();
    let message = match tokens.as_slice() {
        [_] => format!("parse error in ({file}): {text}"),
        [_, location, .., last] => format!("parse error at ({location}): {last}"),
        [_, location] => format!("parse error at ({location}): {location}"),
        [] => text.to_owned(),
    };
    Error { message, places: vec![place], refused: false }
}

/// What Helm makes of an error of rendering a file (`reformatExecErrorMsg`).
pub(super) fn exec_error(file: &str, error: &GoError) -> Error {
    let places: Vec<Place> = error.chain().filter_map(|error| error.place.as_deref().cloned()).collect();
    let text = error.whole();
    let plain = |message: String| Error { message, places: places.clone(), refused: false };
    if !error.exec {
        return plain(text);
    }
    let tokens: Vec<&str> = text.splitn(3, ": ").collect();
    let [_, location, rest] = tokens[..] else {
        return plain(format!("execution error in ({file}): {text}"));
    };
    if let Some(start) = rest.find(REFUSAL.0) {
        let after = start + REFUSAL.0.len();
        if let Some(end) = rest[after..].rfind(REFUSAL.1) {
            let message = &rest[after..after + end];
            let message = format!("execution error at ({location}): {message}");
            return Error { message, places, refused: true };
        }
    }
    let mut traced: Vec<Trace<'_>> = Vec::new();
    let mut start = 0;
    for error in error.chain() {
        let Some(trace) = Trace::parse(&text[start..]) else { return plain(text) };
        if traced.last() != Some(&trace) {
            traced.push(trace);
        }
        start += error.text.len();
    }
    let text: String = traced.iter().map(Trace::to_string).collect();
    plain(text.trim().to_owned())
}

/// One step of an error chain, as Helm shows it (`TraceableError`).
#[derive(PartialEq, Eq)]
struct Trace<'e> {
    location: &'e str,
    executed: String,
    message: &'e str,
}

impl<'e> Trace<'e> {
    fn parse(text: &'e str) -> Option<Self> {
        let rest = text.strip_prefix("template: ")?;
        if rest.starts_with("no template ") {
            return Some(Self { location: "", executed: String::new(), message: text });
        }
        Self::executing(rest).or_else(|| {
            let at = rest.rfind(": ")?;
            let message = before_next(&rest[at + 2..]);
            Some(Self { location: &rest[..at], executed: String::new(), message })
        })
    }

    /// `NAME: executing "FUNCTION" at <LOCATION>: MESSAGE`
    fn executing(rest: &'e str) -> Option<Self> {
        let (location, after) = rest.split_once(": executing ")?;
        let after = after.strip_prefix('"')?;
        let (function, after) = after.split_once('"')?;
        let after = after.strip_prefix(" at <")?;
        let (node, message) = after.split_once(">: ")?;
        let executed = format!("executing \"{function}\" at <{node}>:");
        Some(Self { location, executed, message: before_next(message) })
    }
}

/// What stands before the text of a wrapped error.
fn before_next(message: &str) -> &str {
    message.split_once(" template:").map_or(message, |(before, _)| before)
}

impl fmt::Display for Trace<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.location.is_empty() {
            write!(f, "{}\n  ", self.location)?;
        }
        if !self.executed.is_empty() {
            write!(f, "{}\n    ", self.executed)?;
        }
        if !self.message.is_empty() {
            writeln!(f, "{}", self.message)?;
        }
        Ok(())
    }
}
