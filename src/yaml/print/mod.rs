//! Values to text, as go-yaml's emitter writes them.

mod keys;
mod scalar;
mod style;

use tera::{Value, value::ValueKind};

use super::{
    error::Error,
    json,
    number::{Form, Read, read_back, write_float},
    resolve::Dialect,
};
use style::{Style, analyze, select};

/// go-yaml's limit on nested flow collections, which the JSON in between is made of.
const MAX_DEPTH: usize = 10_000;

/// Where the printer meets what does not survive sigs.k8s.io/yaml's way through JSON, or what JSON cannot hold.
pub(super) struct Odd;

/// A collection that is being printed.
enum Open<'v> {
    /// The entries from `next` to `end` in [`Printer::entries`] are left.
    Map {
        start: usize,
        next: usize,
        end: usize,
        indent: usize,
    },
    List {
        items: std::slice::Iter<'v, Value>,
        indent: usize,
    },
}

/// How numbers are written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Numbers {
    /// A float64 goes through JSON, where it is an integer if it has no fraction and fits in 64 bits.
    Json,
    /// A float64 is a float64.
    Typed,
}

/// Writes one document.
pub(super) struct Printer<'o, 'v> {
    out: &'o mut String,
    dialect: Dialect,
    numbers: Numbers,
    width: usize,
    column: usize,
    /// Whether the last character was a blank.
    whitespace: bool,
    /// Whether there was nothing but indentation and indicators in this line.
    indention: bool,
    open: Vec<Open<'v>>,
    /// The entries of all open maps, sorted within each.
    entries: Vec<(&'v str, &'v Value)>,
}

/// Where a node stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Root,
    Item,
    /// A value, or a key that is written after a `?`.
    Value,
    SimpleKey,
}

impl<'o, 'v> Printer<'o, 'v> {
    pub(super) fn new(out: &'o mut String, dialect: Dialect, numbers: Numbers) -> Self {
        Self {
            out,
            dialect,
            numbers,
            // Version 3 does not fold.
            width: if dialect == Dialect::V2 { 80 } else { usize::MAX },
            column: 0,
            whitespace: true,
            indention: true,
            open: Vec::new(),
            entries: Vec::new(),
        }
    }

    /// Appends a document to the output.
    ///
    /// # Errors
    /// When something is odd; the output is incomplete then.
    pub(super) fn document(mut self, value: &'v Value) -> Result<(), Odd> {
        self.node(value, Place::Root, None)?;
        while let Some(open) = self.open.last_mut() {
            match open {
                Open::Map { start, next, end, indent } => {
                    if next == end {
                        let start = *start;
                        self.entries.truncate(start);
                        self.open.pop();
                        continue;
                    }
                    let ((key, value), indent) = (self.entries[*next], *indent);
                    *next += 1;
                    self.write_indent(indent);
                    self.key(key, indent)?;
                    self.node(value, Place::Value, Some(indent))?;
                }
                Open::List { items, indent } => {
                    let Some(item) = items.next() else {
                        self.open.pop();
                        continue;
                    };
                    let indent = *indent;
                    self.write_indent(indent);
                    self.indicator("-", true, false, true);
                    self.node(item, Place::Item, Some(indent))?;
                }
            }
        }
        self.write_indent(0);
        Ok(())
    }

    fn put_break(&mut self) {
        self.out.push('\n');
        self.column = 0;
        if self.dialect == Dialect::V3 {
            self.indention = true;
        }
    }

    /// Begins a line at an indentation, unless the line has nothing else yet.
    fn write_indent(&mut self, indent: usize) {
        const SPACES: &str =
            "                                                                                ";
        if !self.indention || self.column > indent || (self.column == indent && !self.whitespace) {
            self.put_break();
        }
        while self.column < indent {
            let some = (indent - self.column).min(SPACES.len());
            self.out.push_str(&SPACES[..some]);
            self.column += some;
        }
        self.whitespace = true;
        self.indention = true;
    }

    fn indicator(&mut self, text: &str, needs_whitespace: bool, is_whitespace: bool, is_indention: bool) {
        if needs_whitespace && !self.whitespace {
            self.out.push(' ');
            self.column += 1;
        }
        self.out.push_str(text);
        self.column += text.len();
        self.whitespace = is_whitespace;
        self.indention &= is_indention;
    }

    /// Writes a key and the colon after it.
    fn key(&mut self, key: &str, indent: usize) -> Result<(), Odd> {
        let analysis = analyze(key, self.dialect);
        if self.dialect == Dialect::V2 && (analysis.odd || json::encoded_chars(key) > 1020) {
            return self.odd();
        }
        if !analysis.multiline && key.len() <= 128 {
            self.string(key, select(key, &analysis, true, self.dialect), Place::SimpleKey, indent + 2);
            self.indicator(":", false, false, false);
        } else {
            self.indicator("?", true, false, true);
            self.string(key, select(key, &analysis, false, self.dialect), Place::Value, indent + 2);
            self.write_indent(indent);
            self.indicator(":", true, false, true);
        }
        Ok(())
    }

    fn odd(&self) -> Result<(), Odd> {
        match self.numbers {
            Numbers::Json => Err(Odd),
            Numbers::Typed => Ok(()),
        }
    }

    fn string(&mut self, text: &str, style: Style, place: Place, indent: usize) {
        let fold = place != Place::SimpleKey;
        match style {
            Style::Plain => self.plain(text, fold, indent),
            Style::SingleQuoted => self.single_quoted(text, fold, indent),
            Style::DoubleQuoted => self.double_quoted(text, fold, indent),
            Style::Literal => self.literal(text, indent),
        }
    }

    /// Writes a scalar or an empty collection, or opens a collection. `parent` is the indentation around it.
    fn node(&mut self, value: &'v Value, place: Place, parent: Option<usize>) -> Result<(), Odd> {
        let inner = parent.map_or(2, |indent| indent + 2);
        match value.kind() {
            ValueKind::Bool => {
                self.plain(if value.as_bool() == Some(true) { "true" } else { "false" }, false, inner);
            }
            ValueKind::F64 => self.float(value.as_f64().unwrap_or_default())?,
            ValueKind::I64 | ValueKind::I128 => {
                let text = itoa::Buffer::new().format(value.as_i128().unwrap_or_default()).to_owned();
                self.plain(&text, false, inner);
            }
            ValueKind::U64 | ValueKind::U128 => {
                let text = itoa::Buffer::new().format(value.as_u128().unwrap_or_default()).to_owned();
                self.plain(&text, false, inner);
            }
            ValueKind::String => {
                let text = value.as_str().unwrap_or_default();
                let analysis = analyze(text, self.dialect);
                if analysis.odd && self.dialect == Dialect::V2 {
                    self.odd()?;
                }
                self.string(text, select(text, &analysis, false, self.dialect), place, inner);
            }
            ValueKind::Bytes => self.bytes(value.as_bytes().unwrap_or_default(), place, parent),
            ValueKind::Array => {
                let items = value.as_array().unwrap_or_default();
                if items.is_empty() {
                    self.indicator("[", true, true, false);
                    self.indicator("]", false, false, false);
                } else {
                    self.deepen()?;
                    let indent = self.list_indent(place, parent);
                    self.open.push(Open::List { items: items.iter(), indent });
                }
            }
            ValueKind::Map => {
                let start = self.entries.len();
                if let Some(map) = value.as_map() {
                    self.entries.extend(map.iter().filter_map(|(key, value)| Some((key.as_str()?, value))));
                }
                keys::sort(&mut self.entries[start..], self.dialect);
                let end = self.entries.len();
                if start == end {
                    self.indicator("{", true, true, false);
                    self.indicator("}", false, false, false);
                } else {
                    self.deepen()?;
                    let indent = parent.map_or(0, |indent| indent + 2);
                    self.open.push(Open::Map { start, next: start, end, indent });
                }
            }
            _ => self.plain("null", false, inner),
        }
        Ok(())
    }

    fn deepen(&self) -> Result<(), Odd> {
        if self.open.len() >= MAX_DEPTH { Err(Odd) } else { Ok(()) }
    }

    /// Version 2 does not indent a list that is the value of a key.
    fn list_indent(&self, place: Place, parent: Option<usize>) -> usize {
        let indentless = self.dialect == Dialect::V2 && place == Place::Value && !self.indention;
        match parent {
            None => 0,
            Some(indent) if indentless => indent,
            Some(indent) => indent + 2,
        }
    }

    fn float(&mut self, number: f64) -> Result<(), Odd> {
        let mut text = String::with_capacity(24);
        match self.numbers {
            Numbers::Json => {
                if !number.is_finite() {
                    return Err(Odd);
                }
                match read_back(number) {
                    Read::Int(int) => text.push_str(itoa::Buffer::new().format(int)),
                    Read::Uint(uint) => text.push_str(itoa::Buffer::new().format(uint)),
                    Read::Float => write_float(&mut text, number, Form::General),
                }
            }
            Numbers::Typed if number.is_nan() => text.push_str(".nan"),
            Numbers::Typed if number.is_infinite() => {
                text.push_str(if number > 0.0 { ".inf" } else { "-.inf" });
            }
            Numbers::Typed => write_float(&mut text, number, Form::General),
        }
        self.plain(&text, false, 0);
        Ok(())
    }

    /// Bytes are base64 in JSON; version 3 takes them for a list of numbers.
    fn bytes(&mut self, bytes: &[u8], place: Place, parent: Option<usize>) {
        if self.dialect == Dialect::V2 {
            let text = json::base64(bytes);
            let analysis = analyze(&text, self.dialect);
            let style = select(&text, &analysis, false, self.dialect);
            self.string(&text, style, place, parent.map_or(2, |indent| indent + 2));
        } else if bytes.is_empty() {
            self.indicator("[", true, true, false);
            self.indicator("]", false, false, false);
        } else {
            let indent = self.list_indent(place, parent);
            for byte in bytes {
                self.write_indent(indent);
                self.indicator("-", true, false, true);
                self.plain(itoa::Buffer::new().format(*byte), false, 0);
            }
        }
    }
}

/// Appends a value as sigs.k8s.io/yaml's Marshal does.
///
/// # Errors
/// What JSON cannot hold, and what go-yaml does not accept in the JSON that it gets.
pub(super) fn write(out: &mut String, value: &Value) -> Result<(), Error> {
    let start = out.len();
    if Printer::new(out, Dialect::V2, Numbers::Json).document(value).is_ok() {
        return Ok(());
    }
    out.truncate(start);
    let text = json::to_string(value).map_err(|error| error.within("error marshaling into JSON"))?;
    let value = super::read_json(&text)?;
    // Whatever is odd now is written as it is.
    let _ = Printer::new(out, Dialect::V2, Numbers::Typed).document(&value);
    Ok(())
}

/// Appends a value as go-yaml v3 does with an indentation of two.
pub(super) fn write_pretty(out: &mut String, value: &Value) -> Result<(), Error> {
    Printer::new(out, Dialect::V3, Numbers::Typed)
        .document(value)
        .map_err(|_| Error::new("value is nested too deeply"))
}
