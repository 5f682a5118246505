//! YAML, JSON and TOML.
//!
//! Without `must`, what cannot be written is an empty text, and what cannot be read is a map under whose key `Error` the
//! reason stands.

use tera::{Value, value::Key};

use super::{Call, Error, Family, Function, Native, Outcome, Param, json};
use crate::value::json::{Style, to_string};

pub(super) const FUNCTIONS: &[Function] = &[
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
