//! Values to JSON, as Go's encoding/json writes them.

use base64::Engine as _;
use tera::{Value, value::ValueKind};

use super::{error::Error, number::write_json_float};

/// A collection that is being written.
enum Open<'v> {
    /// The entries from `next` to `end` of the shared list are left.
    Map {
        start: usize,
        next: usize,
        end: usize,
    },
    List(std::slice::Iter<'v, Value>),
}

/// A value as `json.Marshal` writes it: keys sorted by their bytes, `<`, `>`, `&`, U+2028 and U+2029 escaped, bytes in
/// base64. Entries of maps whose keys are not strings are left out.
///
/// # Errors
/// `json: unsupported value: NaN`, `+Inf` or `-Inf`.
pub fn to_string(value: &Value) -> Result<String, Error> {
    let mut out = String::with_capacity(128);
    write(&mut out, value)?;
    Ok(out)
}

/// Appends a value as [`to_string`] writes it.
///
/// # Errors
/// As for [`to_string`]; the output is incomplete then.
pub fn write(out: &mut String, value: &Value) -> Result<(), Error> {
    let mut entries: Vec<(&str, &Value)> = Vec::new();
    let mut open: Vec<Open<'_>> = Vec::new();
    let mut next = Some(value);
    loop {
        if let Some(value) = next.take() {
            match value.kind() {
                ValueKind::Array => {
                    out.push('[');
                    open.push(Open::List(value.as_array().unwrap_or_default().iter()));
                }
                ValueKind::Map => {
                    let start = entries.len();
                    if let Some(map) = value.as_map() {
                        entries.extend(map.iter().filter_map(|(key, value)| Some((key.as_str()?, value))));
                    }
                    entries[start..].sort_unstable_by_key(|entry| entry.0);
                    out.push('{');
                    open.push(Open::Map { start, next: start, end: entries.len() });
                }
                _ => scalar(out, value)?,
            }
        }
        match open.last_mut() {
            None => return Ok(()),
            Some(Open::List(items)) => match items.next() {
                Some(item) => {
                    if !out.ends_with('[') {
                        out.push(',');
                    }
                    next = Some(item);
                }
                None => {
                    out.push(']');
                    open.pop();
                }
            },
            Some(Open::Map { start, next: at, end }) => {
                if at == end {
                    out.push('}');
                    entries.truncate(*start);
                    open.pop();
                    continue;
                }
                if at != start {
                    out.push(',');
                }
                let (key, value) = entries[*at];
                *at += 1;
                write_text(out, key);
                out.push(':');
                next = Some(value);
            }
        }
    }
}

fn scalar(out: &mut String, value: &Value) -> Result<(), Error> {
    match value.kind() {
        ValueKind::Bool => out.push_str(if value.as_bool() == Some(true) { "true" } else { "false" }),
        ValueKind::I64 | ValueKind::I128 => {
            out.push_str(itoa::Buffer::new().format(value.as_i128().unwrap_or_default()));
        }
        ValueKind::U64 | ValueKind::U128 => {
            out.push_str(itoa::Buffer::new().format(value.as_u128().unwrap_or_default()));
        }
        ValueKind::F64 => {
            let number = value.as_f64().unwrap_or_default();
            if !number.is_finite() {
                let text = super::number::go_format_float(number);
                return Err(Error::new(format!("json: unsupported value: {text}")));
            }
            write_json_float(out, number);
        }
        ValueKind::String => write_text(out, value.as_str().unwrap_or_default()),
        ValueKind::Bytes => {
            out.push('"');
            out.push_str(&base64(value.as_bytes().unwrap_or_default()));
            out.push('"');
        }
        _ => out.push_str("null"),
    }
    Ok(())
}

/// Bytes as `[]byte` is written.
pub(super) fn base64(bytes: &[u8]) -> String {
    base64::engine::general_purpose::STANDARD.encode(bytes)
}

/// The escape of an ASCII character in a JSON string, if it has one.
fn escape(b: u8) -> Option<&'static str> {
    Some(match b {
        b'"' => "\\\"",
        b'\\' => "\\\\",
        0x08 => "\\b",
        0x0C => "\\f",
        b'\n' => "\\n",
        b'\r' => "\\r",
        b'\t' => "\\t",
        b'<' => "\\u003c",
        b'>' => "\\u003e",
        b'&' => "\\u0026",
        0..0x20 => "\\u00",
        _ => return None,
    })
}

/// Appends a string as encoding/json quotes it.
pub fn write_text(out: &mut String, text: &str) {
    out.push('"');
    let bytes = text.as_bytes();
    let mut start = 0;
    for (i, &b) in bytes.iter().enumerate() {
        let (found, width) = match escape(b) {
            Some(found) => (found, 1),
            None if b == 0xE2 && bytes[i + 1] == 0x80 && bytes[i + 2] == 0xA8 => ("\\u2028", 3),
            None if b == 0xE2 && bytes[i + 1] == 0x80 && bytes[i + 2] == 0xA9 => ("\\u2029", 3),
            None => continue,
        };
        out.push_str(&text[start..i]);
        out.push_str(found);
        if found == "\\u00" {
            let digit = |d: u8| char::from_digit(u32::from(d), 16).unwrap_or('0');
            out.push(digit(b >> 4));
            out.push(digit(b & 0xF));
        }
        start = i + width;
    }
    out.push_str(&text[start..]);
    out.push('"');
}

/// How many characters a string has in JSON, without its quotes.
pub(super) fn encoded_chars(text: &str) -> usize {
    // No character takes more than six.
    if text.len() <= 170 {
        return text.len();
    }
    let chars = text.chars().map(|c| match c {
        '\u{2028}' | '\u{2029}' => 6,
        c if c.is_ascii() => match escape(c as u8) {
            Some("\\u00") => 6,
            Some(found) => found.len(),
            None => 1,
        },
        _ => 1,
    });
    chars.sum()
}
