//! Writing JSON.

use std::borrow::Cow;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use tera::{Value, value::ValueKind};

use super::shape::{plain, unsupported_number};
use crate::{
    functions::Error,
    value::{self, MAX_DEPTH, Scope, typed},
    yaml::number::write_json_float,
};

/// How JSON is laid out.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Style {
    /// Writes `<`, `>` and `&` as `\u003c` and so on.
    pub(crate) html: bool,
    /// One item a line, indented by two spaces a level.
    pub(crate) pretty: bool,
}

/// The JSON of a value, keys sorted.
pub(crate) fn encode(scope: &Scope, value: &Value, style: Style) -> Result<String, Error> {
    let mut encoder = Encoder { scope, style, out: String::new(), limit: scope.text_limit() };
    encoder.value(value, 0)?;
    Ok(encoder.out)
}

struct Encoder<'a> {
    scope: &'a Scope,
    style: Style,
    out: String,
    limit: usize,
}

impl Encoder<'_> {
    fn value(&mut self, value: &Value, depth: usize) -> Result<(), Error> {
        // Shared values may multiply without end.
        if self.out.len() > self.limit {
            return Err(value::Error::TooLong(self.limit).into());
        }
        match value.kind() {
            ValueKind::None | ValueKind::Undefined => self.out.push_str("null"),
            ValueKind::Bool => {
                self.out.push_str(if value.as_bool() == Some(true) { "true" } else { "false" });
            }
            ValueKind::String => self.string(value.as_str().unwrap_or_default().as_bytes()),
            ValueKind::I64 | ValueKind::U64 | ValueKind::I128 | ValueKind::U128 => {
                self.out.push_str(itoa::Buffer::new().format(value.as_i128().unwrap_or_default()));
            }
            ValueKind::F64 => {
                let number = value.as_f64().unwrap_or_default();
                if !number.is_finite() {
                    return Err(unsupported_number(number));
                }
                write_json_float(&mut self.out, number);
            }
            ValueKind::Bytes => {
                self.out.push('"');
                STANDARD.encode_string(value.as_bytes().unwrap_or_default(), &mut self.out);
                self.out.push('"');
            }
            ValueKind::Array => self.items(value.as_array().unwrap_or_default(), depth)?,
            ValueKind::Map => self.map(value, depth)?,
            _ => return Err(Error::new("json: unsupported type")),
        }
        Ok(())
    }

    fn deeper(&self, depth: usize) -> Result<usize, Error> {
        if depth < MAX_DEPTH {
            return Ok(depth + 1);
        }
        // What nests so deep contains itself.
        Err(value::Error::Cycle("map[string]interface {}".to_owned()).into())
    }

    fn items(&mut self, items: &[Value], depth: usize) -> Result<(), Error> {
        let inner = self.deeper(depth)?;
        self.out.push('[');
        for (at, item) in items.iter().enumerate() {
            self.separate(at > 0, inner);
            self.value(item, inner)?;
        }
        self.close(']', !items.is_empty(), depth);
        Ok(())
    }

    fn map(&mut self, value: &Value, depth: usize) -> Result<(), Error> {
        if let Some(bytes) = typed::text_bytes(value) {
            self.string(bytes);
            return Ok(());
        }
        if let Some(plain) = plain(value)? {
            return self.value(&plain, depth);
        }
        let inner = self.deeper(depth)?;
        let Some(map) = self.scope.map(value) else { return Ok(()) };
        let entries = map.sorted();
        self.out.push('{');
        for (at, (name, value)) in entries.iter().enumerate() {
            self.separate(at > 0, inner);
            self.string(name.as_bytes());
            self.out.push_str(if self.style.pretty { ": " } else { ":" });
            self.value(value, inner)?;
        }
        self.close('}', !entries.is_empty(), depth);
        Ok(())
    }

    fn separate(&mut self, comma: bool, depth: usize) {
        if comma {
            self.out.push(',');
        }
        self.line(depth);
    }

    fn close(&mut self, bracket: char, any: bool, depth: usize) {
        if any {
            self.line(depth);
        }
        self.out.push(bracket);
    }

    fn line(&mut self, depth: usize) {
        if self.style.pretty {
            self.out.push('\n');
            self.out.extend(std::iter::repeat_n("  ", depth));
        }
    }

    fn string(&mut self, bytes: &[u8]) {
        self.out.push('"');
        for chunk in bytes.utf8_chunks() {
            self.escaped(chunk.valid());
            self.out.extend(std::iter::repeat_n("\\ufffd", chunk.invalid().len()));
        }
        self.out.push('"');
    }

    fn escaped(&mut self, text: &str) {
        let html = self.style.html;
        let mut from = 0;
        for (at, byte) in text.bytes().enumerate() {
            let special = match byte {
                b'"' | b'\\' | 0..=0x1F => true,
                b'<' | b'>' | b'&' => html,
                // The first byte of U+2028 and U+2029.
                0xE2 => matches!(text.as_bytes().get(at + 1..at + 3), Some([0x80, 0xA8 | 0xA9])),
                _ => false,
            };
            if !special {
                continue;
            }
            self.out.push_str(&text[from..at]);
            from = at + 1;
            let escape: Cow<'static, str> = match byte {
                b'"' => "\\\"".into(),
                b'\\' => "\\\\".into(),
                b'\x08' => "\\b".into(),
                b'\x0C' => "\\f".into(),
                b'\n' => "\\n".into(),
                b'\r' => "\\r".into(),
                b'\t' => "\\t".into(),
                0xE2 => {
                    from = at + 3;
                    if text.as_bytes().get(at + 2) == Some(&0xA8) {
                        "\\u2028".into()
                    } else {
                        "\\u2029".into()
                    }
                }
                _ => format!("\\u{byte:04x}").into(),
            };
            self.out.push_str(&escape);
        }
        self.out.push_str(&text[from..]);
    }
}
