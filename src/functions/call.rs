//! What a native is called with.

use std::borrow::Cow;

use tera::Value;

use crate::value::{Scope, empty_list, typed};

/// One call: the evaluated arguments and the state of the render.
#[derive(Clone, Copy)]
pub struct Call<'a> {
    /// The arguments, the piped one last.
    pub args: &'a [Value],
    /// The state of the render: which maps were mutated, and how.
    pub scope: &'a Scope,
}

impl<'a> Call<'a> {
    /// The argument at this place, nil where there is none.
    #[must_use]
    pub fn arg(&self, at: usize) -> &'a Value {
        static NIL: std::sync::LazyLock<Value> = std::sync::LazyLock::new(Value::none);
        self.args.get(at).unwrap_or(&NIL)
    }

    /// The arguments from this place on.
    #[must_use]
    pub fn rest(&self, from: usize) -> &'a [Value] {
        self.args.get(from..).unwrap_or_default()
    }

    /// A string argument as bytes: Go's strings need not be UTF-8.
    #[must_use]
    pub fn bytes(&self, at: usize) -> &'a [u8] {
        let value = self.arg(at);
        typed::text_bytes(value).or_else(|| value.as_bytes()).unwrap_or_default()
    }

    /// A string argument as text, each byte that is not UTF-8 as U+FFFD, which is how Go ranges over a string.
    #[must_use]
    pub fn text(&self, at: usize) -> Cow<'a, str> {
        let value = self.arg(at);
        match value.as_str() {
            Some(text) => Cow::Borrowed(text),
            None => decode(self.bytes(at)),
        }
    }

    /// An integer argument.
    #[must_use]
    pub fn int(&self, at: usize) -> i64 {
        self.arg(at).as_i64().unwrap_or_default()
    }

    /// A float argument.
    #[must_use]
    pub fn float(&self, at: usize) -> f64 {
        self.arg(at).as_f64().unwrap_or_default()
    }

    /// A list of a Go type other than `[]interface {}`.
    pub(crate) fn list_of(&self, items: Vec<Value>, type_name: &'static str) -> Value {
        let list = if items.is_empty() { empty_list() } else { Value::from(items) };
        self.scope.name_type(&list, type_name);
        list
    }

    /// A nil slice of a Go type.
    pub(crate) fn nil_list(&self, type_name: &'static str) -> Value {
        let list = self.list_of(Vec::new(), type_name);
        self.scope.make_nil(&list);
        list
    }

    /// A nil map.
    pub(crate) fn nil_map(&self) -> Value {
        let map = Value::from(tera::Map::default());
        self.scope.make_nil(&map);
        map
    }

    /// A boolean argument.
    #[must_use]
    pub fn bool(&self, at: usize) -> bool {
        self.arg(at).as_bool().unwrap_or_default()
    }
}

/// The runes of a Go string: every byte that is not part of valid UTF-8 is one U+FFFD.
pub(crate) fn decode(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    let mut text = String::with_capacity(bytes.len() + 8);
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(std::iter::repeat_n('\u{FFFD}', chunk.invalid().len()));
    }
    Cow::Owned(text)
}
