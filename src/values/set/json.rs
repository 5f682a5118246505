//! JSON as Go's encoding/json decodes it into `interface{}`.

use tera::{Map, Value};

/// Decodes the JSON value at the start of a text; gives it and where it ends. What follows need not be JSON.
pub(super) fn json_prefix(text: &str) -> Option<(Value, usize)> {
    let start = text.len() - text.trim_start_matches([' ', '\t', '\n', '\r']).len();
    let end = start + value_length(&text[start..])?;
    Some((parse_json(&text[start..end])?, end))
}

/// Decodes a whole text of JSON; every number is float64.
pub(in crate::values) fn parse_json(text: &str) -> Option<Value> {
    let value: serde_json::Value = serde_json::from_str(text).ok()?;
    Some(convert(value))
}

fn convert(value: serde_json::Value) -> Value {
    match value {
        serde_json::Value::Null => Value::none(),
        serde_json::Value::Bool(truth) => Value::from(truth),
        serde_json::Value::Number(number) => Value::from(number.as_f64().unwrap_or_default()),
        serde_json::Value::String(text) => Value::from(text),
        serde_json::Value::Array(items) => Value::from(items.into_iter().map(convert).collect::<Vec<_>>()),
        serde_json::Value::Object(map) => {
            Value::from(map.into_iter().map(|(key, value)| (key.into(), convert(value))).collect::<Map>())
        }
    }
}

/// How far a value reaches; whether it is sound inside is the parser's to say.
fn value_length(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    match bytes.first()? {
        b'{' | b'[' => {
            let mut depth = 0_usize;
            let mut at = 0;
            loop {
                match bytes.get(at)? {
                    b'"' => {
                        at += string_length(&bytes[at..])?;
                        continue;
                    }
                    b'{' | b'[' => depth += 1,
                    b'}' | b']' => depth -= 1,
                    _ => {}
                }
                at += 1;
                if depth == 0 {
                    return Some(at);
                }
            }
        }
        b'"' => string_length(bytes),
        b't' => text.starts_with("true").then_some(4),
        b'f' => text.starts_with("false").then_some(5),
        b'n' => text.starts_with("null").then_some(4),
        _ => number_length(bytes),
    }
}

fn string_length(bytes: &[u8]) -> Option<usize> {
    let mut at = 1;
    loop {
        match bytes.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

fn number_length(bytes: &[u8]) -> Option<usize> {
    let digits =
        |from: usize| bytes[from.min(bytes.len())..].iter().take_while(|b| b.is_ascii_digit()).count();
    let mut at = usize::from(bytes.first() == Some(&b'-'));
    at += match bytes.get(at)? {
        b'0' => 1,
        b'1'..=b'9' => digits(at),
        _ => return None,
    };
    if bytes.get(at) == Some(&b'.') {
        let fraction = digits(at + 1);
        if fraction == 0 {
            return None;
        }
        at += 1 + fraction;
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        at += 1;
        at += usize::from(matches!(bytes.get(at), Some(b'+' | b'-')));
        let exponent = digits(at);
        if exponent == 0 {
            return None;
        }
        at += exponent;
    }
    Some(at)
}
