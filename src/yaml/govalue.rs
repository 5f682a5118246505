//! Values with the types that go-yaml decodes to, for what depends on them: keys that are not strings, error messages,
//! numbers that JSON cannot hold, fields that want strings.

use std::{collections::HashMap, fmt::Write as _};

use super::{
    decode::{Key, Sink},
    number::{Form, go_format_float32, write_float},
    shape::Shape,
};

/// What go-yaml makes of a node: `nil`, `bool`, `int`, `uint64`, `float64`, `string`, `[]interface{}`,
/// `map[interface{}]interface{}`.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum GoValue {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Float(f64),
    Str(String),
    List(Vec<GoValue>),
    /// In the order of the document. No two keys are equal.
    Map(Vec<(GoValue, GoValue)>),
}

/// A map in the making.
#[derive(Default)]
pub(super) struct GoMap {
    entries: Vec<(GoValue, GoValue)>,
    places: HashMap<String, usize>,
}

/// Builds [`GoValue`]s.
pub(super) struct GoSink;

impl Sink for GoSink {
    type Value = GoValue;
    type Map = GoMap;

    fn null(&mut self) -> GoValue {
        GoValue::Null
    }

    fn bool(&mut self, value: bool) -> GoValue {
        GoValue::Bool(value)
    }

    fn int(&mut self, value: i64) -> GoValue {
        GoValue::Int(value)
    }

    fn uint(&mut self, value: u64) -> GoValue {
        GoValue::Uint(value)
    }

    fn float(&mut self, value: f64) -> GoValue {
        GoValue::Float(value)
    }

    fn text(&mut self, value: &str) -> GoValue {
        GoValue::Str(value.to_owned())
    }

    fn list(&mut self, items: Vec<GoValue>) -> GoValue {
        GoValue::List(items)
    }

    fn map(&mut self, _entries: usize) -> GoMap {
        GoMap::default()
    }

    fn insert(&mut self, map: &mut GoMap, key: Key<'_>, value: GoValue) {
        if let Some(identity) = key.identity() {
            if let Some(&at) = map.places.get(&identity) {
                map.entries[at].1 = value;
                return;
            }
            map.places.insert(identity, map.entries.len());
        }
        map.entries.push((GoValue::from_key(&key), value));
    }

    fn finish(&mut self, map: GoMap) -> GoValue {
        GoValue::Map(map.entries)
    }
}

impl GoValue {
    pub(super) fn from_key(key: &Key<'_>) -> Self {
        match key {
            Key::Null => Self::Null,
            Key::Bool(value) => Self::Bool(*value),
            Key::Int(value) => Self::Int(*value),
            Key::Uint(value) => Self::Uint(*value),
            Key::Float(value) => Self::Float(*value),
            Key::Str(value) => Self::Str(value.clone().into_owned()),
            Key::Binary(value) => Self::Str(super::decode::replaced(value)),
        }
    }

    /// The value in Go syntax, as `%#v` prints it.
    pub(super) fn syntax(&self) -> String {
        let mut out = String::new();
        self.write_syntax(&mut out, false);
        out
    }

    fn write_syntax(&self, out: &mut String, element: bool) {
        match self {
            Self::Null if element => out.push_str("interface {}(nil)"),
            Self::Null => out.push_str("<nil>"),
            Self::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
            Self::Int(value) => out.push_str(itoa::Buffer::new().format(*value)),
            Self::Uint(value) => write!(out, "{value:#x}").expect("a String takes any text"),
            Self::Float(value) => write_float(out, *value, Form::General),
            Self::Str(value) => write_quoted(out, value),
            Self::List(items) => {
                out.push_str("[]interface {}{");
                for (i, item) in items.iter().enumerate() {
                    out.push_str(if i > 0 { ", " } else { "" });
                    item.write_syntax(out, true);
                }
                out.push('}');
            }
            Self::Map(entries) => {
                out.push_str("map[interface {}]interface {}{");
                let mut entries: Vec<_> = entries.iter().collect();
                entries.sort_by(|a, b| a.0.print_order(&b.0));
                for (i, (key, value)) in entries.into_iter().enumerate() {
                    out.push_str(if i > 0 { ", " } else { "" });
                    key.write_syntax(out, true);
                    out.push(':');
                    value.write_syntax(out, true);
                }
                out.push('}');
            }
        }
    }

    /// The order in which fmt prints the keys of maps. That of keys of different types is up to the linker in Go; this is
    /// how it comes out in helm.
    fn print_order(&self, other: &Self) -> std::cmp::Ordering {
        let rank = |value: &Self| match value {
            Self::Null => 0,
            Self::Str(_) => 1,
            Self::Uint(_) => 2,
            Self::Int(_) => 3,
            Self::Float(_) => 4,
            Self::Bool(_) => 5,
            Self::List(_) | Self::Map(_) => 6,
        };
        match (self, other) {
            (Self::Int(a), Self::Int(b)) => a.cmp(b),
            (Self::Uint(a), Self::Uint(b)) => a.cmp(b),
            (Self::Float(a), Self::Float(b)) => a.total_cmp(b),
            (Self::Str(a), Self::Str(b)) => a.cmp(b),
            (Self::Bool(a), Self::Bool(b)) => a.cmp(b),
            _ => rank(self).cmp(&rank(other)),
        }
    }

    /// The key of a JSON object that sigs.k8s.io/yaml makes of a key, if it makes one.
    fn key_text(&self) -> Option<String> {
        Some(match self {
            Self::Str(text) => text.clone(),
            Self::Int(value) => value.to_string(),
            Self::Bool(value) => value.to_string(),
            Self::Float(value) => key_of_float(*value),
            Self::Null | Self::Uint(_) | Self::List(_) | Self::Map(_) => return None,
        })
    }

    /// Turns keys into strings, and scalars too where the shape wants strings, as sigs.k8s.io/yaml does.
    ///
    /// # Errors
    /// The message for a key that no string is made of.
    pub(super) fn into_json(self, shape: &Shape) -> Result<Self, String> {
        Ok(match self {
            Self::Map(entries) => {
                let mut object = Vec::with_capacity(entries.len());
                for (key, value) in entries {
                    let Some(text) = key.key_text() else {
                        let kind = if key == Self::Null { "%!s(<nil>)" } else { "uint64" };
                        return Err(format!(
                            "unsupported map key of type: {kind}, key: {}, value: {}",
                            key.syntax(),
                            value.syntax()
                        ));
                    };
                    let value = value.into_json(shape.field(&text))?;
                    object.push((Self::Str(text), value));
                }
                Self::Map(object)
            }
            Self::List(items) => Self::List(
                items.into_iter().map(|item| item.into_json(shape.item())).collect::<Result<_, _>>()?,
            ),
            scalar if matches!(shape, Shape::Text) => match scalar {
                Self::Int(value) => Self::Str(value.to_string()),
                Self::Uint(value) => Self::Str(value.to_string()),
                Self::Float(value) => Self::Str(go_format_float32(value)),
                Self::Bool(value) => Self::Str(value.to_string()),
                other => other,
            },
            scalar => scalar,
        })
    }

    /// The first number that JSON cannot hold, in the order in which it would be written.
    pub(super) fn non_finite(&self) -> Option<f64> {
        match self {
            Self::Float(value) if !value.is_finite() => Some(*value),
            Self::List(items) => items.iter().find_map(Self::non_finite),
            Self::Map(entries) => {
                let mut entries: Vec<_> = entries.iter().collect();
                entries.sort_by(|a, b| a.0.print_order(&b.0));
                entries.into_iter().find_map(|(_, value)| value.non_finite())
            }
            _ => None,
        }
    }

    /// Builds the value again out of other parts.
    pub(super) fn build<S: Sink>(self, sink: &mut S) -> S::Value {
        match self {
            Self::Null => sink.null(),
            Self::Bool(value) => sink.bool(value),
            Self::Int(value) => sink.int(value),
            Self::Uint(value) => sink.uint(value),
            Self::Float(value) => sink.float(value),
            Self::Str(value) => sink.text(&value),
            Self::List(items) => {
                let items = items.into_iter().map(|item| item.build(sink)).collect();
                sink.list(items)
            }
            Self::Map(entries) => {
                let mut map = sink.map(entries.len());
                for (key, value) in entries {
                    let value = value.build(sink);
                    if let Some(key) = key.key_text() {
                        sink.insert(&mut map, Key::Str(key.into()), value);
                    }
                }
                sink.finish(map)
            }
        }
    }
}

/// The string that sigs.k8s.io/yaml makes of a key that is a float.
pub(super) fn key_of_float(value: f64) -> String {
    match go_format_float32(value).as_str() {
        "+Inf" => ".inf".to_owned(),
        "-Inf" => "-.inf".to_owned(),
        "NaN" => ".nan".to_owned(),
        text => text.to_owned(),
    }
}

/// Appends a string as `strconv.Quote` writes it.
fn write_quoted(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\x07' => out.push_str("\\a"),
            '\x08' => out.push_str("\\b"),
            '\x0C' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\x0B' => out.push_str("\\v"),
            '\0'..' ' | '\x7F' => write!(out, "\\x{:02x}", u32::from(c)).expect("a String takes any text"),
            '\u{80}'..='\u{A0}' | '\u{AD}' | '\u{2028}' | '\u{2029}' | '\u{FEFF}' => {
                write!(out, "\\u{:04x}", u32::from(c)).expect("a String takes any text");
            }
            c => out.push(c),
        }
    }
    out.push('"');
}
