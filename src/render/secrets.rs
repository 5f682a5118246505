//! What a render learnt from Secrets, so that no error repeats it.

use std::{cell::RefCell, collections::BTreeSet, fmt};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use tera::Value;

use crate::{
    functions::query_escaped,
    value::{lookup, quote::quote},
};

use super::LookupRecord;

/// Texts that came from Secrets: looked up, or kept there from an earlier render.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secrets {
    texts: BTreeSet<String>,
}

impl Secrets {
    /// What stands where a secret was.
    pub const HIDDEN: &str = "(secret)";

    /// Shorter texts are not worth hiding: they are in everything.
    const SHORTEST: usize = 3;

    /// The text without what came from Secrets.
    #[must_use]
    pub fn hide(&self, text: &str) -> String {
        let mut found: Vec<&str> =
            self.texts.iter().map(String::as_str).filter(|secret| text.contains(secret)).collect();
        // The longest first, so that none is hidden in part.
        found.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        found.into_iter().fold(text.to_owned(), |text, secret| text.replace(secret, Self::HIDDEN))
    }

    /// Shorter parts of a text are left as they are: they may be any word.
    const SHORTEST_PART: usize = 5;

    /// How often a text is taken apart, or decoded, one way after another.
    const MAX_DEPTH: u32 = 3;

    /// Adds a text, and what templates make of such: its lines, what it is the base64 of, the strings of its JSON, the value
    /// of `key=value` and `key: value`, the password of a URL; each in the spellings of [`Secrets::add_spellings`].
    fn add(&mut self, text: &str) {
        self.add_parts(text, 0);
    }

    fn add_parts(&mut self, text: &str, depth: u32) {
        self.add_spellings(text);
        if depth == Self::MAX_DEPTH {
            return;
        }
        let text = text.trim();
        let mut part = |part: &str| {
            if part.len() >= Self::SHORTEST_PART {
                self.add_parts(part, depth + 1);
            }
        };
        if let Some(decoded) = STANDARD.decode(text).ok().and_then(|bytes| String::from_utf8(bytes).ok()) {
            part(&decoded);
        }
        if text.starts_with(['{', '[', '"'])
            && let Ok(json) = serde_json::from_str::<serde_json::Value>(text)
        {
            strings(&json, &mut part);
        } else if text.contains('\n') {
            text.lines().for_each(part);
        } else if let Some((_, rest)) = text.split_once("://") {
            let password = rest.rsplit_once('@').and_then(|(user, _)| user.split_once(':'));
            part(password.map_or("", |(_, password)| password));
        } else if let Some((_, value)) = text.split_once(['=', ':']) {
            part(value.trim_start_matches(['=', ':', ' ']));
        }
    }

    /// Adds a text as it is, without the space around it, as Go and JSON quote it, as base64, in capitals and without, and as
    /// it stands in a URL.
    fn add_spellings(&mut self, text: &str) {
        let mut add = |text: &str| {
            let text = text.trim();
            if text.len() >= Self::SHORTEST && !self.texts.contains(text) {
                self.texts.insert(text.to_owned());
            }
        };
        add(text);
        let quoted = quote(text.as_bytes());
        add(&quoted[1..quoted.len() - 1]);
        let quoted = serde_json::Value::from(text).to_string();
        let quoted = &quoted[1..quoted.len() - 1];
        add(quoted);
        add(&quoted.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026"));
        for spelled in [text, text.trim()] {
            add(&STANDARD.encode(spelled));
            add(&query_escaped(spelled.as_bytes()));
        }
        add(&text.to_lowercase());
        add(&text.to_uppercase());
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

/// The strings of JSON, each given to `take`.
fn strings(json: &serde_json::Value, take: &mut dyn FnMut(&str)) {
    match json {
        serde_json::Value::String(text) => take(text),
        serde_json::Value::Array(items) => items.iter().for_each(|item| strings(item, take)),
        serde_json::Value::Object(map) => map.values().for_each(|item| strings(item, take)),
        _ => {}
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
        secrets
    }
}
