//! What a render learnt from Secrets, so that no error repeats it.

use std::{cell::RefCell, fmt};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use tera::Value;

use crate::value::{lookup, quote::quote};

use super::LookupRecord;

/// Texts that came from Secrets: looked up, or kept there from an earlier render.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secrets {
    /// The longest first, so that none is hidden in part.
    texts: Vec<String>,
}

impl Secrets {
    /// What stands where a secret was.
    pub const HIDDEN: &str = "(secret)";

    /// Shorter texts are not worth hiding: they are in everything.
    const SHORTEST: usize = 3;

    /// The text without what came from Secrets.
    #[must_use]
    pub fn hide(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for secret in &self.texts {
            if text.contains(secret) {
                text = text.replace(secret, Self::HIDDEN);
            }
        }
        text
    }

    fn add(&mut self, text: &str) {
        let quoted = quote(text.as_bytes());
        let lines = text.lines().filter(|_| text.contains('\n'));
        for text in [text, &quoted[1..quoted.len() - 1]].into_iter().chain(lines).map(str::trim) {
            if text.len() >= Self::SHORTEST && !self.texts.iter().any(|known| known == text) {
                self.texts.push(text.to_owned());
            }
        }
    }

    /// Adds what a Secret holds, or each of a list of them.
    fn add_object(&mut self, object: &Value) {
        let Some(map) = object.as_map() else { return };
        for item in lookup(map, "items").and_then(Value::as_array).into_iter().flatten() {
            self.add_object(item);
        }
        for (field, encoded) in [("data", true), ("stringData", false)] {
            let entries = lookup(map, field).and_then(Value::as_map);
            for text in entries.into_iter().flatten().filter_map(|(_, value)| value.as_str()) {
                self.add(text);
                let decoded = STANDARD.decode(text).ok().filter(|_| encoded);
                if let Some(decoded) = decoded.and_then(|bytes| String::from_utf8(bytes).ok()) {
                    self.add(&decoded);
                }
            }
        }
    }

    /// Adds the texts of a value that was kept.
    fn add_kept(&mut self, value: &Value) {
        if let Some(text) = value.as_str() {
            self.add(text);
        }
        for (_, value) in value.as_map().into_iter().flatten() {
            self.add_kept(value);
        }
    }
}

/// How many there are, and not what they are.
impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secrets({})", self.texts.len())
    }
}

/// What a render has met so far.
#[derive(Default)]
pub(super) struct Met {
    objects: RefCell<Vec<Value>>,
    kept: RefCell<Vec<Value>>,
}

impl Met {
    /// Notes what was looked up, if it is a Secret or several.
    pub(super) fn looked_up(&self, query: &LookupRecord, answer: &Value) {
        if matches!(&*query.kind, "Secret" | "SecretList") {
            self.objects.borrow_mut().push(answer.clone());
        }
    }

    /// Notes a generated value that was kept from an earlier render.
    pub(super) fn kept(&self, value: &Value) {
        self.kept.borrow_mut().push(value.clone());
    }

    /// All the texts.
    pub(super) fn secrets(&self) -> Secrets {
        let mut secrets = Secrets::default();
        self.objects.borrow().iter().for_each(|object| secrets.add_object(object));
        self.kept.borrow().iter().for_each(|value| secrets.add_kept(value));
        secrets.texts.sort_by_key(|text| std::cmp::Reverse(text.len()));
        secrets
    }
}
