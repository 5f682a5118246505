//! Expressions of Tera's under construction.

/// What is known of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    Any,
    Text,
    Bool,
    Int,
}

/// How tight an expression binds.
pub(super) mod tight {
    pub(crate) const CHOICE: u8 = 0;
    pub(crate) const OR: u8 = 1;
    pub(crate) const AND: u8 = 3;
    pub(crate) const TEST: u8 = 5;
    pub(crate) const COMPARISON: u8 = 7;
    pub(crate) const SUM: u8 = 11;
    pub(crate) const PRODUCT: u8 = 13;
    pub(crate) const FILTER: u8 = 17;
    pub(crate) const MINUS: u8 = 20;
    pub(crate) const ATOM: u8 = 30;
}

/// An expression of Tera's.
#[derive(Clone, Debug)]
pub(super) struct Ex {
    pub text: String,
    pub tight: u8,
    pub known: Known,
    /// How deep lists nest in it. Tera allows two.
    pub lists: u8,
    /// Whether it is a name with fields: it can be written again and gives the same.
    pub path: bool,
    /// Its value, if it is a constant text.
    pub literal: Option<String>,
}

impl Ex {
    pub(super) fn new(text: impl Into<String>, tight: u8) -> Self {
        Self { text: text.into(), tight, known: Known::Any, lists: 0, path: false, literal: None }
    }

    pub(super) fn atom(text: impl Into<String>) -> Self {
        Self::new(text, tight::ATOM)
    }

    pub(super) fn path(text: impl Into<String>) -> Self {
        Self { path: true, ..Self::atom(text) }
    }

    pub(super) fn text(value: &str) -> Self {
        Self { known: Known::Text, literal: Some(value.to_owned()), ..Self::atom(quoted(value)) }
    }

    pub(super) fn known(self, known: Known) -> Self {
        Self { known, ..self }
    }

    /// The same, as deep in lists as the deepest of these.
    pub(super) fn over(self, parts: &[&Self]) -> Self {
        let lists = parts.iter().map(|part| part.lists).max().unwrap_or_default().max(self.lists);
        Self { lists, ..self }
    }

    /// Its text where what binds looser than this needs parentheses.
    pub(super) fn at(&self, least: u8) -> String {
        if self.tight < least { format!("({})", self.text) } else { self.text.clone() }
    }
}

/// A string constant.
pub(super) fn quoted(value: &str) -> String {
    let quote = if value.contains('"') && !value.contains('\'') { '\'' } else { '"' };
    let mut text = String::with_capacity(value.len() + 2);
    text.push(quote);
    for c in value.chars() {
        match c {
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '\t' => text.push_str("\\t"),
            '\r' => text.push_str("\\r"),
            c if c == quote => {
                text.push('\\');
                text.push(c);
            }
            c => text.push(c),
        }
    }
    text.push(quote);
    text
}

/// Words that Tera's grammar does not take for a variable.
const RESERVED: &[&str] = &[
    "False",
    "None",
    "True",
    "and",
    "break",
    "continue",
    "dot",
    "else",
    "false",
    "for",
    "if",
    "in",
    "is",
    "loop",
    "none",
    "not",
    "null",
    "or",
    "self",
    "super",
    "true",
    "__tera_context",
];

/// Whether a word may be a variable.
pub(super) fn is_variable(name: &str) -> bool {
    is_name(name) && !RESERVED.contains(&name)
}

/// Whether a word may be a field.
pub(super) fn is_field(name: &str) -> bool {
    is_name(name) && !matches!(name, "true" | "True" | "false" | "False")
}

fn is_name(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c == '_' || c.is_ascii_alphanumeric())
}

/// A field after what it belongs to.
pub(super) fn field(base: &str, name: &str, optional: bool) -> String {
    match (is_field(name), optional) {
        (true, false) => format!("{base}.{name}"),
        (true, true) => format!("{base}?.{name}"),
        (false, false) => format!("{base}[{}]", quoted(name)),
        (false, true) => format!("{base}?[{}]", quoted(name)),
    }
}
