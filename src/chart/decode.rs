//! YAML into Go's types, with the leniency and the errors of sigs.k8s.io/yaml over encoding/json.
//!
//! Fields are found whatever the case of their letters; a number or a boolean where a string is wanted becomes one;
//! null leaves a field as it was; the first value of a wrong type, in the order of sorted keys, is the error, though
//! the rest is decoded.

use std::collections::BTreeMap;

use serde_json::Value;

use super::error::Error;
use super::metadata::{Dependency, Lock, Maintainer, RawMetadata};
use super::text::quote;
use crate::yaml::{self, Shape};

/// Decodes parts of a document, and remembers the first thing that was wrong.
#[derive(Default)]
pub(crate) struct Decoder {
    /// The innermost Go struct at hand, and the path of fields from the outermost one.
    at: Vec<(&'static str, &'static str)>,
    wrong: Option<String>,
    /// A field that the Go struct does not have is an error.
    strict: bool,
}

impl Decoder {
    /// Parses a document of a shape and decodes it with `decode`. The error is that of sigs.k8s.io/yaml's `Unmarshal`.
    pub(super) fn run(
        data: &[u8],
        shape: &Shape,
        decode: impl FnOnce(&mut Self, &Value),
    ) -> Result<(), String> {
        let document = yaml::parse_shaped(data, shape, false).map_err(|e| e.to_string())?;
        Self::read(&document, decode)
    }

    /// Decodes a document that is parsed already.
    pub(crate) fn read(document: &Value, decode: impl FnOnce(&mut Self, &Value)) -> Result<(), String> {
        Self::default().finish(document, decode)
    }

    fn finish(self, document: &Value, decode: impl FnOnce(&mut Self, &Value)) -> Result<(), String> {
        let mut decoder = self;
        if !document.is_null() {
            decode(&mut decoder, document);
        }
        match decoder.wrong {
            None => Ok(()),
            Some(wrong) => Err(format!("error unmarshaling JSON: while decoding JSON: {wrong}")),
        }
    }

    fn wrong(&mut self, value: &Value, go_type: &str) {
        if self.wrong.is_some() {
            return;
        }
        let kind = match value {
            Value::Object(_) => "object",
            Value::Array(_) => "array",
            Value::String(_) => "string",
            Value::Bool(_) => "bool",
            _ => "number",
        };
        let place = match self.at.last() {
            None => "Go value".to_owned(),
            Some((in_struct, _)) => {
                let path: Vec<_> = self.at.iter().map(|(_, field)| *field).collect();
                format!("Go struct field {in_struct}.{}", path.join("."))
            }
        };
        self.wrong = Some(format!("json: cannot unmarshal {kind} into {place} of type {go_type}"));
    }

    /// The entries of a map, by sorted keys; `None` for null and for what is no map.
    pub(crate) fn entries<'v>(
        &mut self,
        value: &'v Value,
        go_type: &str,
    ) -> Option<Vec<(&'v str, &'v Value)>> {
        let Some(map) = value.as_object() else {
            if !value.is_null() {
                self.wrong(value, go_type);
            }
            return None;
        };
        let mut entries: Vec<_> = map.iter().map(|(k, v)| (k.as_str(), v)).collect();
        entries.sort_unstable_by_key(|(key, _)| *key);
        Some(entries)
    }

    /// Decodes a struct: `each` gets every field of the shape that the map has.
    pub(crate) fn fields(
        &mut self,
        value: &Value,
        go_type: &'static str,
        shape: &'static Shape,
        mut each: impl FnMut(&mut Self, &'static str, &Value),
    ) {
        let Shape::Struct(names) = shape else { return };
        let struct_name = go_type.rsplit_once('.').map_or("", |(_, name)| name);
        for (key, value) in self.entries(value, go_type).unwrap_or_default() {
            let exact = names.iter().find(|(name, _)| *name == key);
            let folded = || names.iter().find(|(name, _)| same_folded(name, key));
            let Some((name, _)) = exact.or_else(folded) else {
                if self.strict && self.wrong.is_none() {
                    self.wrong = Some(format!("json: unknown field {}", quote(key)));
                }
                continue;
            };
            self.at.push((struct_name, name));
            each(self, name, value);
            self.at.pop();
        }
    }

    /// A string.
    pub(crate) fn string(&mut self, value: &Value, into: &mut String) {
        match value {
            Value::String(text) => text.clone_into(into),
            Value::Null => {}
            other => self.wrong(other, "string"),
        }
    }

    fn boolean(&mut self, value: &Value, into: &mut bool) {
        match value.as_bool() {
            Some(truth) => *into = truth,
            None if value.is_null() => {}
            None => self.wrong(value, "bool"),
        }
    }

    /// A slice. Elements that are there already are decoded into, as Go does.
    fn list<T: Default>(
        &mut self,
        value: &Value,
        into: &mut Option<Vec<T>>,
        go_type: &str,
        mut each: impl FnMut(&mut Self, &Value, &mut T),
    ) {
        if value.is_null() {
            *into = None;
        } else if let Some(items) = value.as_array() {
            let list = into.get_or_insert_default();
            list.resize_with(items.len(), T::default);
            for (item, slot) in items.iter().zip(list) {
                each(self, item, slot);
            }
        } else {
            self.wrong(value, go_type);
        }
    }

    fn strings(&mut self, value: &Value, into: &mut Option<Vec<String>>) {
        self.list(value, into, "[]string", Self::string);
    }

    /// A map from strings to strings.
    pub(crate) fn string_map(&mut self, value: &Value, into: &mut Option<BTreeMap<String, String>>) {
        if value.is_null() {
            *into = None;
        } else if let Some(entries) = self.entries(value, "map[string]string") {
            let map = into.get_or_insert_default();
            for (key, value) in entries {
                let mut text = String::new();
                self.string(value, &mut text);
                map.insert(key.to_owned(), text);
            }
        }
    }
}

/// encoding/json's folding of field names: letters of either case, and the two other runes that fold to ASCII.
fn same_folded(name: &str, key: &str) -> bool {
    let fold = |c: char| match c {
        'ſ' => 's',
        '\u{212a}' => 'k',
        c => c.to_ascii_lowercase(),
    };
    name.chars().map(fold).eq(key.chars().map(fold))
}

const TEXTS: Shape = Shape::List(&Shape::Text);

static METADATA: Shape = Shape::Struct(&[
    ("name", Shape::Text),
    ("home", Shape::Text),
    ("sources", TEXTS),
    ("version", Shape::Text),
    ("description", Shape::Text),
    ("keywords", TEXTS),
    ("maintainers", Shape::List(&MAINTAINER)),
    ("icon", Shape::Text),
    ("apiVersion", Shape::Text),
    ("condition", Shape::Text),
    ("tags", Shape::Text),
    ("appVersion", Shape::Text),
    ("deprecated", Shape::Any),
    ("annotations", Shape::Map(&Shape::Text)),
    ("kubeVersion", Shape::Text),
    ("dependencies", Shape::List(&DEPENDENCY)),
    ("type", Shape::Text),
]);

static MAINTAINER: Shape =
    Shape::Struct(&[("name", Shape::Text), ("email", Shape::Text), ("url", Shape::Text)]);

static DEPENDENCY: Shape = Shape::Struct(&[
    ("name", Shape::Text),
    ("version", Shape::Text),
    ("repository", Shape::Text),
    ("condition", Shape::Text),
    ("tags", TEXTS),
    ("enabled", Shape::Any),
    ("import-values", Shape::List(&Shape::Any)),
    ("alias", Shape::Text),
]);

static LOCK: Shape = Shape::Struct(&[
    ("generated", Shape::Any),
    ("digest", Shape::Text),
    ("dependencies", Shape::List(&DEPENDENCY)),
]);

/// Decodes Chart.yaml, or requirements.yaml, into what is known already.
pub(super) fn metadata(data: &[u8], into: &mut RawMetadata) -> Result<(), String> {
    metadata_with(data, into, false)
}

/// [`metadata`]; when `strict`, unknown fields and keys that are set twice are errors.
pub(super) fn metadata_with(data: &[u8], into: &mut RawMetadata, strict: bool) -> Result<(), String> {
    let document = yaml::parse_shaped(data, &METADATA, strict).map_err(|e| e.to_string())?;
    let decoder = Decoder { strict, ..Decoder::default() };
    decoder.finish(&document, |decoder, document| {
        decoder.fields(document, "v2.Metadata", &METADATA, |d, field, value| match field {
            "name" => d.string(value, &mut into.name),
            "home" => d.string(value, &mut into.home),
            "sources" => d.strings(value, &mut into.sources),
            "version" => d.string(value, &mut into.version),
            "description" => d.string(value, &mut into.description),
            "keywords" => d.strings(value, &mut into.keywords),
            "maintainers" => d.list(value, &mut into.maintainers, "[]*v2.Maintainer", maintainer),
            "icon" => d.string(value, &mut into.icon),
            "apiVersion" => d.string(value, &mut into.api_version),
            "condition" => d.string(value, &mut into.condition),
            "tags" => d.string(value, &mut into.tags),
            "appVersion" => d.string(value, &mut into.app_version),
            "deprecated" => d.boolean(value, &mut into.deprecated),
            "annotations" => d.string_map(value, &mut into.annotations),
            "kubeVersion" => d.string(value, &mut into.kube_version),
            "dependencies" => d.list(value, &mut into.dependencies, "[]*v2.Dependency", dependency),
            _ => d.string(value, &mut into.chart_type),
        });
    })
}

fn maintainer(d: &mut Decoder, value: &Value, into: &mut Option<Maintainer>) {
    if value.is_null() {
        *into = None;
        return;
    }
    let maintainer = into.get_or_insert_default();
    d.fields(value, "v2.Maintainer", &MAINTAINER, |d, field, value| match field {
        "name" => d.string(value, &mut maintainer.name),
        "email" => d.string(value, &mut maintainer.email),
        _ => d.string(value, &mut maintainer.url),
    });
}

fn dependency(d: &mut Decoder, value: &Value, into: &mut Option<Dependency>) {
    if value.is_null() {
        *into = None;
        return;
    }
    let dependency = into.get_or_insert_default();
    d.fields(value, "v2.Dependency", &DEPENDENCY, |d, field, value| match field {
        "name" => d.string(value, &mut dependency.name),
        "version" => d.string(value, &mut dependency.version),
        "repository" => d.string(value, &mut dependency.repository),
        "condition" => d.string(value, &mut dependency.condition),
        "tags" => {
            let mut tags = Some(std::mem::take(&mut dependency.tags));
            d.strings(value, &mut tags);
            dependency.tags = tags.unwrap_or_default();
        }
        "enabled" => d.boolean(value, &mut dependency.enabled),
        "import-values" => {
            dependency.import_values = match value.as_array() {
                Some(items) => items.iter().map(floats).collect(),
                None if value.is_null() => Vec::new(),
                None => return d.wrong(value, "[]interface {}"),
            };
        }
        _ => d.string(value, &mut dependency.alias),
    });
}

/// Decodes Chart.lock, or requirements.lock.
pub(super) fn lock(data: &[u8]) -> Result<Lock, String> {
    let mut lock = Lock::default();
    let mut dependencies = None;
    Decoder::run(data, &LOCK, |decoder, document| {
        decoder.fields(document, "v2.Lock", &LOCK, |d, field, value| match field {
            "generated" => d.string(value, &mut lock.generated),
            "digest" => d.string(value, &mut lock.digest),
            _ => d.list(value, &mut dependencies, "[]*v2.Dependency", dependency),
        });
    })?;
    lock.dependencies = dependencies.unwrap_or_default().into_iter().flatten().collect();
    Ok(lock)
}

/// Finds out whether Chart.yaml is of a version that is read here.
pub(super) fn check_api_version(chart_yaml: &[u8]) -> Result<(), Error> {
    static BASE: Shape = Shape::Struct(&[("apiVersion", Shape::Text)]);
    let mut version = String::new();
    Decoder::run(chart_yaml, &BASE, |decoder, document| {
        decoder.fields(document, "loader.chartBase", &BASE, |d, _, value| d.string(value, &mut version));
    })
    .map_err(|e| Error::new(format!("cannot load Chart.yaml: {e}")))?;
    match version.as_str() {
        "" | "v1" | "v2" => Ok(()),
        // Helm has an experimental loader of these behind a gate, whose charts its install refuses so.
        "v3" => Err(Error::new("invalid chart apiVersion")),
        _ => Err(Error::new("unsupported chart version")),
    }
}

/// A value as decoding into `interface{}` gives it: every number is float64.
fn floats(value: &Value) -> tera::Value {
    match value {
        Value::Null => tera::Value::none(),
        Value::Bool(truth) => (*truth).into(),
        Value::Number(number) => number.as_f64().unwrap_or_default().into(),
        Value::String(text) => text.as_str().into(),
        Value::Array(items) => items.iter().map(floats).collect::<Vec<_>>().into(),
        Value::Object(map) => {
            map.iter().map(|(k, v)| (k.clone().into(), floats(v))).collect::<tera::Map>().into()
        }
    }
}
