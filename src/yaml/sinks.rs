//! What documents are read into: Tera's values, and JSON.

use std::{cmp::Ordering, collections::BTreeMap, sync::Arc};

use tera::Value;

use super::{
    Checked, Integers,
    decode::{Key, Sink, replaced},
    govalue::key_of_float,
    number::{Read, read_back},
};

/// The key of a JSON object, or none if there cannot be one.
fn key_text(key: Key<'_>) -> Option<Arc<str>> {
    Some(match key {
        Key::Str(text) => Arc::from(&*text),
        Key::Binary(bytes) => Arc::from(replaced(&bytes)),
        Key::Int(value) => Arc::from(itoa::Buffer::new().format(value)),
        Key::Bool(value) => Arc::from(if value { "true" } else { "false" }),
        Key::Float(value) => Arc::from(key_of_float(value)),
        Key::Null | Key::Uint(_) => return None,
    })
}

/// A key and its place among the entries that a map gets. Tera makes its maps of other maps only, entry by entry; one
/// that is in the order of the entries costs the least, and lets the last of equal keys win.
pub(super) struct Place {
    at: usize,
    key: Arc<str>,
}

impl PartialEq for Place {
    fn eq(&self, other: &Self) -> bool {
        self.at == other.at
    }
}

impl Eq for Place {}

impl PartialOrd for Place {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Place {
    fn cmp(&self, other: &Self) -> Ordering {
        self.at.cmp(&other.at)
    }
}

impl From<Place> for tera::value::Key<'static> {
    fn from(place: Place) -> Self {
        Self::String(place.key)
    }
}

/// How the numbers of a document become Tera's.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Numbers {
    Float,
    Int64,
    /// As they are: `I64`, `U64` or `F64`.
    Typed,
}

/// Builds Tera's values.
pub(super) struct Tera {
    numbers: Numbers,
    odd: bool,
}

impl Tera {
    pub(super) fn new(integers: Integers) -> Self {
        let numbers = match integers {
            Integers::Float => Numbers::Float,
            Integers::Int64 => Numbers::Int64,
        };
        Self { numbers, odd: false }
    }

    /// One that keeps the types of numbers.
    pub(super) fn typed() -> Self {
        Self { numbers: Numbers::Typed, odd: false }
    }
}

impl Checked for Tera {
    fn is_odd(&self) -> bool {
        self.odd
    }
}

impl Sink for Tera {
    type Value = Value;
    type Map = Vec<(Place, Value)>;

    fn null(&mut self) -> Value {
        Value::none()
    }

    fn bool(&mut self, value: bool) -> Value {
        Value::from(value)
    }

    fn int(&mut self, value: i64) -> Value {
        match self.numbers {
            #[expect(clippy::cast_precision_loss, reason = "the float64 that encoding/json reads")]
            Numbers::Float => Value::from(value as f64),
            Numbers::Int64 => Value::from(i128::from(value)),
            Numbers::Typed => Value::from(value),
        }
    }

    fn uint(&mut self, value: u64) -> Value {
        match self.numbers {
            Numbers::Typed => Value::from(value),
            #[expect(clippy::cast_precision_loss, reason = "the float64 that encoding/json reads")]
            Numbers::Float | Numbers::Int64 => Value::from(value as f64),
        }
    }

    fn float(&mut self, value: f64) -> Value {
        self.odd |= !value.is_finite();
        if self.numbers == Numbers::Int64
            && let Read::Int(int) = read_back(value)
        {
            return Value::from(i128::from(int));
        }
        Value::from(value)
    }

    fn text(&mut self, value: &str) -> Value {
        Value::from(value)
    }

    fn list(&mut self, items: Vec<Value>) -> Value {
        Value::from(items)
    }

    fn map(&mut self, entries: usize) -> Self::Map {
        Vec::with_capacity(entries)
    }

    fn insert(&mut self, map: &mut Self::Map, key: Key<'_>, value: Value) {
        match key_text(key) {
            Some(key) => map.push((Place { at: map.len(), key }, value)),
            None => self.odd = true,
        }
    }

    fn finish(&mut self, map: Self::Map) -> Value {
        Value::from(BTreeMap::from_iter(map))
    }
}

/// Builds JSON.
#[derive(Default)]
pub(super) struct Json {
    odd: bool,
}

impl Checked for Json {
    fn is_odd(&self) -> bool {
        self.odd
    }
}

impl Sink for Json {
    type Value = serde_json::Value;
    type Map = serde_json::Map<String, serde_json::Value>;

    fn null(&mut self) -> serde_json::Value {
        serde_json::Value::Null
    }

    fn bool(&mut self, value: bool) -> serde_json::Value {
        value.into()
    }

    fn int(&mut self, value: i64) -> serde_json::Value {
        value.into()
    }

    fn uint(&mut self, value: u64) -> serde_json::Value {
        value.into()
    }

    fn float(&mut self, value: f64) -> serde_json::Value {
        self.odd |= !value.is_finite();
        match read_back(value) {
            Read::Int(int) => int.into(),
            Read::Uint(uint) => uint.into(),
            Read::Float => value.into(),
        }
    }

    fn text(&mut self, value: &str) -> serde_json::Value {
        value.into()
    }

    fn list(&mut self, items: Vec<serde_json::Value>) -> serde_json::Value {
        items.into()
    }

    fn map(&mut self, _entries: usize) -> Self::Map {
        serde_json::Map::new()
    }

    fn insert(&mut self, map: &mut Self::Map, key: Key<'_>, value: serde_json::Value) {
        match key_text(key) {
            Some(key) => {
                map.insert((*key).to_owned(), value);
            }
            None => self.odd = true,
        }
    }

    fn finish(&mut self, map: Self::Map) -> serde_json::Value {
        map.into()
    }
}

/// Builds nothing: for what is read only to see whether it can be.
#[derive(Default)]
pub(super) struct Nothing {
    /// As [`Checked::is_odd`].
    pub(super) odd: bool,
}

impl Sink for Nothing {
    type Value = ();
    type Map = ();

    fn null(&mut self) {}

    fn bool(&mut self, _: bool) {}

    fn int(&mut self, _: i64) {}

    fn uint(&mut self, _: u64) {}

    fn float(&mut self, value: f64) {
        self.odd |= !value.is_finite();
    }

    fn text(&mut self, _: &str) {}

    fn list(&mut self, _: Vec<()>) {}

    fn map(&mut self, _: usize) {}

    fn insert(&mut self, (): &mut (), key: Key<'_>, (): ()) {
        self.odd |= matches!(key, Key::Null | Key::Uint(_));
    }

    fn finish(&mut self, (): ()) {}
}
