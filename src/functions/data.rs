//! YAML, JSON and TOML.
//!
//! Without `must`, what cannot be written is an empty text, and what cannot be read is a map under whose key `Error` the
//! reason stands.

use tera::{Value, value::Key};

use super::{Call, Error, Family, Function, Native, Outcome, Param, json, limits, toml};
use crate::{
    value::{
        self, MAX_DEPTH, Scope,
        json::{Style, to_plain, to_string},
        time, typed,
    },
    yaml::{self, Options, Target},
};

pub(super) const FUNCTIONS: &[Function] = &[
    function("toYaml", &[Param::Any], to_yaml, "YAML, without a line end at the end."),
    function("mustToYaml", &[Param::Any], must_to_yaml, "YAML, or the error."),
    function("toYamlPretty", &[Param::Any], to_yaml_pretty, "YAML with lists indented within dictionaries."),
    function("fromYaml", &[Param::String], from_yaml, "The dictionary of a YAML text."),
    function("fromYamlArray", &[Param::String], from_yaml_array, "The list of a YAML text."),
    function("toJson", &[Param::Any], to_json, "JSON on one line."),
    function("mustToJson", &[Param::Any], must_to_json, "JSON on one line, or the error."),
    function("toPrettyJson", &[Param::Any], to_pretty_json, "JSON with a line for each item."),
    function(
        "mustToPrettyJson",
        &[Param::Any],
        must_to_pretty_json,
        "JSON with a line for each item, or the error.",
    ),
    function("toRawJson", &[Param::Any], must_to_raw_json, "JSON on one line, without escapes for HTML."),
    function("mustToRawJson", &[Param::Any], must_to_raw_json, "The same as `toRawJson`."),
    function("fromJson", &[Param::String], from_json, "The dictionary of a JSON text."),
    function("fromJsonArray", &[Param::String], from_json_array, "The list of a JSON text."),
    function("toToml", &[Param::Any], toml::to_toml, "TOML, or the text of the error."),
    function("mustToToml", &[Param::Any], toml::must_to_toml, "TOML, or the error."),
    function("fromToml", &[Param::String], toml::from_toml, "The dictionary of a TOML text."),
    function("mustFromJson", &[Param::String], must_from_json, "Whatever a JSON text holds, or the error."),
];

const fn function(
    name: &'static str,
    params: &'static [Param],
    native: Native,
    summary: &'static str,
) -> Function {
    Function::new(name, Family::Data, params, native, summary)
}

const COMPACT: Style<'_> = Style { html: true, indent: None };
const PRETTY: Style<'_> = Style { html: true, indent: Some("  ") };
const RAW: Style<'_> = Style { html: false, indent: None };

fn encoded(call: &Call<'_>, style: Style<'_>) -> Outcome {
    Ok(Value::from(to_string(call.scope, call.arg(0), style)?))
}

/// An empty text for an error.
fn lenient(outcome: Outcome) -> Outcome {
    match outcome {
        Err(Error::Call(_)) => Ok(Value::from("")),
        outcome => outcome,
    }
}

fn to_json(call: &Call<'_>) -> Outcome {
    lenient(encoded(call, COMPACT))
}

fn must_to_json(call: &Call<'_>) -> Outcome {
    encoded(call, COMPACT)
}

fn to_pretty_json(call: &Call<'_>) -> Outcome {
    lenient(encoded(call, PRETTY))
}

fn must_to_pretty_json(call: &Call<'_>) -> Outcome {
    encoded(call, PRETTY)
}

fn must_to_raw_json(call: &Call<'_>) -> Outcome {
    encoded(call, RAW)
}

/// A text without the line end that YAML has at its end.
fn without_line_end(mut text: String) -> Value {
    if text.ends_with('\n') {
        text.pop();
    }
    Value::from(text)
}

fn must_to_yaml(call: &Call<'_>) -> Outcome {
    let plain = match to_plain(call.scope, call.arg(0)) {
        Ok(plain) => plain,
        // Keys have an order in JSON, which decides what the first error is.
        Err(error) => {
            let first = encoded(call, COMPACT).err().unwrap_or_else(|| error.into());
            return Err(match first {
                Error::Call(text) => Error::Call(format!("error marshaling into JSON: {text}")),
                first => first,
            });
        }
    };
    let text = yaml::to_string(&plain).map_err(|error| Error::new(error.to_string()))?;
    limits::check_text(call.scope, text.len())?;
    Ok(without_line_end(text))
}

fn to_yaml(call: &Call<'_>) -> Outcome {
    lenient(must_to_yaml(call))
}

fn to_yaml_pretty(call: &Call<'_>) -> Outcome {
    let value = call.scope.materialise(call.arg(0))?;
    let mut left = call.scope.text_limit() / size_of::<Value>();
    let plain = pretty(call.scope, &value, 0, &mut left)?.unwrap_or(value);
    let text = yaml::to_string_pretty(&plain).map_err(|error| Error::new(error.to_string()));
    lenient(text.map(without_line_end))
}

/// The value without Go's types, most of which go-yaml writes as encoding/json does. None where it has no such type.
fn pretty(scope: &Scope, value: &Value, depth: usize, left: &mut usize) -> Result<Option<Value>, Error> {
    *left = left.checked_sub(1).ok_or(value::Error::TooLong(scope.text_limit()))?;
    if depth > MAX_DEPTH {
        return Err(value::Error::TooDeep(MAX_DEPTH).into());
    }
    if let Some(bytes) = value.as_bytes() {
        let numbers: Vec<Value> = bytes.iter().map(|byte| Value::from(i64::from(*byte))).collect();
        return Ok(Some(Value::from(numbers)));
    }
    match typed::Type::of(value) {
        None => {}
        Some(typed::Type::Duration) => {
            return Ok(Some(Value::from(time::duration_text(typed::number(value).unwrap_or_default()))));
        }
        Some(kind @ typed::Type::Complex) => {
            return Err(Error::new(format!("cannot marshal type: {}", kind.name())));
        }
        // go-yaml has the names of fields in lower case.
        Some(typed::Type::Certificate | typed::Type::KubeVersion | typed::Type::Capabilities) => {
            let plain = to_plain(scope, value)?.into_owned().into_map().unwrap_or_default();
            let lower = |key: Key<'_>| Key::from(key.as_str().unwrap_or_default().to_lowercase());
            let renamed: tera::Map = plain.into_iter().map(|(key, value)| (lower(key), value)).collect();
            return Ok(Some(Value::from(renamed)));
        }
        Some(_) => return Ok(Some(to_plain(scope, value)?.into_owned())),
    }
    if let Some(items) = value.as_array() {
        let mut new: Option<Vec<Value>> = None;
        for (at, item) in items.iter().enumerate() {
            if let Some(item) = pretty(scope, item, depth + 1, left)? {
                new.get_or_insert_with(|| items.to_vec())[at] = item;
            }
        }
        return Ok(new.map(Value::from));
    }
    let Some(map) = value.as_map() else { return Ok(None) };
    let mut new: Option<tera::Map> = None;
    for (key, value) in map {
        if let Some(value) = pretty(scope, value, depth + 1, left)? {
            new.get_or_insert_with(|| map.clone()).insert(key.clone(), value);
        }
    }
    Ok(new.map(Value::from))
}

fn from_yaml(call: &Call<'_>) -> Outcome {
    let options = Options { target: Target::Map, ..Options::default() };
    Ok(match yaml::parse_with(call.bytes(0), &options) {
        Ok(map) => map,
        Err(error) => {
            let error = Value::from(error.to_string());
            Value::from([(Key::Str("Error"), error)].into_iter().collect::<tera::Map>())
        }
    })
}

fn from_yaml_array(call: &Call<'_>) -> Outcome {
    let options = Options { target: Target::List, ..Options::default() };
    Ok(yaml::parse_with(call.bytes(0), &options)
        .unwrap_or_else(|error| Value::from(vec![Value::from(error.to_string())])))
}

fn from_json(call: &Call<'_>) -> Outcome {
    match json::decode_map(call.bytes(0)) {
        (None, None) => Ok(call.nil_map()),
        (map, error) => {
            let mut map = map.unwrap_or_default();
            if let Some(error) = error {
                map.insert(Key::Str("Error"), Value::from(error.to_string()));
            }
            Ok(Value::from(map))
        }
    }
}

/// The text of an error as the only item.
fn only(error: &Error) -> Value {
    Value::from(vec![Value::from(error.to_string())])
}

fn from_json_array(call: &Call<'_>) -> Outcome {
    Ok(match json::decode_list(call.bytes(0)) {
        Ok(Some(list)) => list,
        Ok(None) => call.nil_list("[]interface {}"),
        Err(error) => only(&error),
    })
}

fn must_from_json(call: &Call<'_>) -> Outcome {
    json::decode(call.bytes(0))
}
