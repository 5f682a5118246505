//! Generated values: results of functions that would differ from render to render.
//!
//! The first result of each call of `randAlphaNum`, `genCA`, `now` and their kin is kept by whoever owns the release, and
//! handed to later renders. A call is told from others by the file that is rendered, the template that it stands in, the
//! function, its arguments, and how many such calls came before.

use std::fmt::Write as _;

use sha2::{Digest, Sha256};
use tera::Value;

use crate::{
    functions::{self, Call, Function, Generated as Kept, Outcome},
    value::typed,
};

use super::run::Run;

/// What tells one generated value from another.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GeneratedKey {
    /// The file that is rendered: `chart/templates/secret.yaml`.
    pub file: String,
    /// The template that calls: the file again, or the name of a `define`.
    pub template: String,
    /// The function.
    pub function: &'static str,
    /// A digest of the arguments, in hexadecimal. The arguments may be secret.
    pub arguments: String,
    /// How many calls with all of the above came before in the render.
    pub ordinal: u32,
}

impl GeneratedKey {
    /// The key as one word of letters, digits, `.`, `_` and `-`, such as a key of a Secret may be: a digest of it all.
    #[must_use]
    pub fn digest(&self) -> String {
        let mut hash = Sha256::new();
        for part in [self.file.as_str(), &self.template, self.function, &self.arguments] {
            hash.update(part.as_bytes());
            hash.update([0]);
        }
        hash.update(self.ordinal.to_be_bytes());
        format!("{}.{}", self.function, hex(&hash.finalize()[..16]))
    }
}

/// A generated value that a render used.
#[derive(Clone, Debug)]
pub struct Generated {
    /// What tells it from others.
    pub key: GeneratedKey,
    /// Its value, as [`GeneratedValues`] shall hand it out again.
    pub value: Value,
    /// Whether it is kept for one revision only, as the clock is, and not as long as the release lives.
    pub per_revision: bool,
    /// Whether this render made it.
    pub fresh: bool,
}

/// The generated values that are kept.
pub trait GeneratedValues: Send + Sync {
    /// The value that is kept under a key.
    fn kept(&self, key: &GeneratedKey) -> Option<Value>;
}

/// Nothing is kept: each render makes its own values, as `helm template` does.
#[derive(Clone, Copy, Debug, Default)]
pub struct Afresh;

impl GeneratedValues for Afresh {
    fn kept(&self, _: &GeneratedKey) -> Option<Value> {
        None
    }
}

/// Calls a function whose results are kept.
pub(super) fn call(run: &Run, function: &'static Function, kept: Kept, call: &Call<'_>) -> Outcome {
    run.must_count().map_err(functions::Error::Limit)?;
    let template = run
        .frames
        .borrow()
        .last()
        .map(|frame| run.units.borrow()[frame.unit].name(frame.template).to_owned())
        .unwrap_or_default();
    let mut key = GeneratedKey {
        file: run.file.borrow().to_string(),
        template,
        function: function.name,
        arguments: digest(call),
        ordinal: 0,
    };
    let same = |made: &&Generated| GeneratedKey { ordinal: 0, ..made.key.clone() } == key;
    let before = run.made.borrow().iter().filter(same).count();
    key.ordinal = u32::try_from(before).unwrap_or(u32::MAX);
    let (value, fresh) = match run.generated.kept(&key) {
        Some(value) => {
            run.met.kept(&value);
            (value, false)
        }
        None => ((function.native)(call)?, true),
    };
    let per_revision = kept == Kept::PerRevision;
    run.made.borrow_mut().push(Generated { key, value: value.clone(), per_revision, fresh });
    Ok(value)
}

fn digest(call: &Call<'_>) -> String {
    let mut hash = Sha256::new();
    for arg in call.args {
        let mut text = Vec::new();
        if crate::value::print::append(&mut text, call.scope, arg).is_err() {
            text.clear();
        }
        hash.update(arg.name().as_bytes());
        hash.update((text.len() as u64).to_be_bytes());
        hash.update(&text);
    }
    hex(&hash.finalize()[..16])
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// A generated value as JSON, to be kept.
#[must_use]
pub fn encode(value: &Value) -> serde_json::Value {
    use serde_json::{Value as Json, json};
    if let Some(kind) = typed::Type::of(value) {
        let entries: serde_json::Map<String, Json> = value
            .as_map()
            .into_iter()
            .flatten()
            .filter_map(|(key, value)| Some((key.as_str()?.to_owned(), encode(value))))
            .collect();
        return json!({ "type": kind.name(), "of": entries });
    }
    match (value.as_str(), value.as_i64(), value.as_bytes(), value.as_bool()) {
        (Some(text), ..) => Json::from(text),
        (_, Some(int), ..) => json!({ "int": int }),
        (_, _, Some(bytes), _) => json!({ "bytes": data_encoding::BASE64.encode(bytes) }),
        (_, _, _, Some(bool)) => Json::from(bool),
        _ => match value.as_array() {
            Some(items) => Json::from(items.iter().map(encode).collect::<Vec<_>>()),
            None => Json::Null,
        },
    }
}

/// What [`encode`] was given; none for JSON that it does not write.
#[must_use]
pub fn decode(json: &serde_json::Value) -> Option<Value> {
    use serde_json::Value as Json;
    Some(match json {
        Json::Null => Value::none(),
        Json::Bool(bool) => Value::from(*bool),
        Json::String(text) => Value::from(text.as_str()),
        Json::Array(items) => Value::from(items.iter().map(decode).collect::<Option<Vec<_>>>()?),
        Json::Number(_) => return None,
        Json::Object(object) => {
            if let Some(int) = object.get("int") {
                Value::from(int.as_i64()?)
            } else if let Some(bytes) = object.get("bytes") {
                Value::bytes(data_encoding::BASE64.decode(bytes.as_str()?.as_bytes()).ok()?)
            } else {
                let name = object.get("type")?.as_str()?;
                let kind =
                    typed::Type::ALL.into_iter().find(|kind| kind.name() == name && *name != *"string")?;
                let entries: Option<Vec<(String, Value)>> = object
                    .get("of")?
                    .as_object()?
                    .iter()
                    .map(|(key, json)| Some((key.clone(), decode(json)?)))
                    .collect();
                typed::make(kind, entries?)
            }
        }
    })
}
