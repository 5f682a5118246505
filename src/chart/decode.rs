//! YAML into Go's types, with the leniency and the errors of sigs.k8s.io/yaml over encoding/json.
//!
//! Fields are found whatever the case of their letters; a number or a boolean where a string is wanted becomes one;
//! null leaves a field as it was; the first value of a wrong type, in the order of sorted keys, is the error, though
//! the rest is decoded.

use std::collections::BTreeMap;

use tera::Value;

use super::error::Error;
use super::metadata::{Dependency, Lock, Maintainer, RawMetadata};
use crate::yaml::number::go_format_float32;

/// Decodes parts of a document, and remembers the first thing that was wrong.
pub(crate) struct Decoder {
    /// The innermost Go struct at hand, and the path of fields from the outermost one.
    at: Vec<(&'static str, &'static str)>,
    wrong: Option<String>,
}

impl Decoder {
    /// Parses `text` and decodes it with `decode`. The error is that of sigs.k8s.io/yaml's `Unmarshal`.
    pub(crate) fn run(data: &[u8], decode: impl FnOnce(&mut Self, &Value)) -> Result<(), String> {
        let document = parse(data)?;
        let mut decoder = Self { at: Vec::new(), wrong: None };
        if !document.is_none() {
            decode(&mut decoder, &document);
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
            v if v.is_map() => "object",
            v if v.is_array() => "array",
            v if v.is_string() => "string",
            v if v.is_bool() => "bool",
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
        let Some(map) = value.as_map() else {
            if !value.is_none() {
                self.wrong(value, go_type);
            }
            return None;
        };
        let mut entries: Vec<_> = map.iter().filter_map(|(k, v)| Some((k.as_str()?, v))).collect();
        entries.sort_unstable_by_key(|(key, _)| *key);
        Some(entries)
    }

    /// Decodes a struct: `each` gets every field of `names` that the map has.
    pub(crate) fn fields(
        &mut self,
        value: &Value,
        (go_type, names): (&'static str, &[&'static str]),
        mut each: impl FnMut(&mut Self, &'static str, &Value),
    ) {
        let struct_name = go_type.rsplit_once('.').map_or("", |(_, name)| name);
        for (key, value) in self.entries(value, go_type).unwrap_or_default() {
            let exact = names.iter().find(|name| **name == key);
            let Some(name) = exact.or_else(|| names.iter().find(|name| same_folded(name, key))) else {
                continue;
            };
            self.at.push((struct_name, name));
            each(self, name, value);
            self.at.pop();
        }
    }

    /// A string; what YAML reads as a number or a boolean becomes text.
    pub(crate) fn string(&mut self, value: &Value, into: &mut String) {
        if let Some(text) = value.as_str() {
            text.clone_into(into);
        } else if let Some(number) = value.as_i128() {
            *into = number.to_string();
        } else if value.is_f64() {
            *into = go_format_float32(value.as_f64().unwrap_or_default());
        } else if let Some(truth) = value.as_bool() {
            *into = truth.to_string();
        } else if !value.is_none() {
            self.wrong(value, "string");
        }
    }

    fn boolean(&mut self, value: &Value, into: &mut bool) {
        match value.as_bool() {
            Some(truth) => *into = truth,
            None if value.is_none() => {}
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
        if value.is_none() {
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
        if value.is_none() {
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

const METADATA: (&str, &[&str]) = (
    "v2.Metadata",
    &[
        "name",
        "home",
        "sources",
        "version",
        "description",
        "keywords",
        "maintainers",
        "icon",
        "apiVersion",
        "condition",
        "tags",
        "appVersion",
        "deprecated",
        "annotations",
        "kubeVersion",
        "dependencies",
        "type",
    ],
);

const DEPENDENCY: (&str, &[&str]) = (
    "v2.Dependency",
    &["name", "version", "repository", "condition", "tags", "enabled", "import-values", "alias"],
);

/// Decodes Chart.yaml, or requirements.yaml, into what is known already.
pub(super) fn metadata(data: &[u8], into: &mut RawMetadata) -> Result<(), String> {
    Decoder::run(data, |decoder, document| {
        decoder.fields(document, METADATA, |d, field, value| match field {
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
    if value.is_none() {
        *into = None;
        return;
    }
    let maintainer = into.get_or_insert_default();
    d.fields(value, ("v2.Maintainer", &["name", "email", "url"]), |d, field, value| match field {
        "name" => d.string(value, &mut maintainer.name),
        "email" => d.string(value, &mut maintainer.email),
        _ => d.string(value, &mut maintainer.url),
    });
}

fn dependency(d: &mut Decoder, value: &Value, into: &mut Option<Dependency>) {
    if value.is_none() {
        *into = None;
        return;
    }
    let dependency = into.get_or_insert_default();
    d.fields(value, DEPENDENCY, |d, field, value| match field {
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
                None if value.is_none() => Vec::new(),
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
    Decoder::run(data, |decoder, document| {
        let names = ("v2.Lock", &["generated", "digest", "dependencies"][..]);
        decoder.fields(document, names, |d, field, value| match field {
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
    let mut version = String::new();
    Decoder::run(chart_yaml, |decoder, document| {
        decoder.fields(document, ("loader.chartBase", &["apiVersion"]), |d, _, value| {
            d.string(value, &mut version);
        });
    })
    .map_err(|e| Error::new(format!("cannot load Chart.yaml: {e}")))?;
    match version.as_str() {
        "" | "v1" | "v2" => Ok(()),
        // Helm has an experimental loader of these behind a gate, whose charts its install refuses so.
        "v3" => Err(Error::new("invalid chart apiVersion")),
        _ => Err(Error::new("unsupported chart version")),
    }
}

/// Makes float64 of every number, as decoding into `interface{}` does.
fn floats(value: &Value) -> Value {
    if let Some(map) = value.as_map() {
        Value::from(map.iter().map(|(k, v)| (k.clone(), floats(v))).collect::<tera::Map>())
    } else if let Some(items) = value.as_array() {
        Value::from(items.iter().map(floats).collect::<Vec<_>>())
    } else if let Some(number) = value.as_i128() {
        #[expect(clippy::cast_precision_loss, reason = "float64 is what Go decodes into")]
        Value::from(number as f64)
    } else {
        value.clone()
    }
}

/// Parses a document, integers kept apart from floats.
fn parse(data: &[u8]) -> Result<Value, String> {
    let text = std::str::from_utf8(data).map_err(|_| "error converting YAML to JSON: yaml: invalid UTF-8")?;
    let value: serde_json::Value =
        serde_yaml::from_str(text).map_err(|e| format!("error converting YAML to JSON: yaml: {e}"))?;
    Ok(Value::from_serializable(&value))
}

/// Parses values into a map whose numbers are float64; null is an empty map.
pub(super) fn values_document(data: &[u8]) -> Result<Value, String> {
    let document = parse(data)?;
    if document.is_none() {
        return Ok(Value::from(tera::Map::default()));
    }
    if !document.is_map() {
        let mut decoder = Decoder { at: Vec::new(), wrong: None };
        decoder.wrong(&document, "map[string]interface {}");
        let wrong = decoder.wrong.unwrap_or_default();
        return Err(format!("error unmarshaling JSON: while decoding JSON: {wrong}"));
    }
    Ok(floats(&document))
}
