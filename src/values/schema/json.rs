//! JSON with its numbers as they were written, read with the errors of Go's encoding/json.

use std::collections::BTreeMap;

use tera::Value;

use crate::value::quote::quote;
use crate::value::{kind::kind_of, typed::text_lossy};
use crate::yaml::number::go_format_float;

/// A schema, or what is held against one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Json {
    Null,
    Bool(bool),
    /// A number in the text that Go prints for it.
    Number(Box<str>),
    Text(Box<str>),
    Array(Vec<Self>),
    Object(BTreeMap<Box<str>, Self>),
}

impl Json {
    pub(super) fn from_value(value: &Value) -> Self {
        match kind_of(value) {
            "bool" => Self::Bool(value.as_bool().unwrap_or_default()),
            "float64" => Self::Number(go_format_float(value.as_f64().unwrap_or_default()).into()),
            "string" => Self::Text(text_lossy(value).unwrap_or_default().into()),
            "slice" => {
                Self::Array(value.as_array().unwrap_or_default().iter().map(Self::from_value).collect())
            }
            "map" => {
                let entries = value.as_map().into_iter().flatten();
                let entries = entries.filter_map(|(k, v)| Some((k.as_str()?.into(), Self::from_value(v))));
                Self::Object(entries.collect())
            }
            _ => value.as_i128().map_or(Self::Null, |number| Self::Number(number.to_string().into())),
        }
    }

    pub(super) fn from_serde(value: &serde_json::Value) -> Self {
        match value {
            serde_json::Value::Null => Self::Null,
            serde_json::Value::Bool(truth) => Self::Bool(*truth),
            serde_json::Value::Number(number) => Self::Number(number.to_string().into()),
            serde_json::Value::String(text) => Self::Text(text.as_str().into()),
            serde_json::Value::Array(items) => Self::Array(items.iter().map(Self::from_serde).collect()),
            serde_json::Value::Object(map) => {
                Self::Object(map.iter().map(|(k, v)| (k.as_str().into(), Self::from_serde(v))).collect())
            }
        }
    }

    pub(super) fn object(&self) -> Option<&BTreeMap<Box<str>, Self>> {
        match self {
            Self::Object(map) => Some(map),
            _ => None,
        }
    }

    pub(super) fn array(&self) -> Option<&[Self]> {
        match self {
            Self::Array(items) => Some(items),
            _ => None,
        }
    }

    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(super) fn get(&self, key: &str) -> Option<&Self> {
        self.object()?.get(key)
    }
}

/// How deep JSON may nest.
const MAX_DEPTH: usize = 1_000;

/// Reads a whole text.
pub(super) fn parse(text: &[u8]) -> Result<Json, String> {
    let mut parser = Parser { text, at: 0, depth: 0 };
    parser.space();
    if parser.peek().is_none() {
        return Err("EOF".into());
    }
    let value = parser.value()?;
    parser.space();
    if parser.at < text.len() {
        return Err("invalid character after top-level value".into());
    }
    Ok(value)
}

struct Parser<'t> {
    text: &'t [u8],
    at: usize,
    depth: usize,
}

impl Parser<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    /// What is wrong with the byte at hand.
    fn wrong(&self, context: &str) -> String {
        match self.peek() {
            None => "unexpected EOF".into(),
            Some(b'\'') => format!(r"invalid character '\'' {context}"),
            Some(b'"') => format!("invalid character '\"' {context}"),
            Some(byte) => {
                let quoted = quote(char::from(byte).encode_utf8(&mut [0; 4]).as_bytes());
                format!("invalid character '{}' {context}", &quoted[1..quoted.len() - 1])
            }
        }
    }

    fn value(&mut self) -> Result<Json, String> {
        match self.peek() {
            Some(b'{') => self.nested(Self::object),
            Some(b'[') => self.nested(Self::array),
            Some(b'"') => Ok(Json::Text(self.string()?.into())),
            Some(b't') => self.word("true", Json::Bool(true)),
            Some(b'f') => self.word("false", Json::Bool(false)),
            Some(b'n') => self.word("null", Json::Null),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => Err(self.wrong("looking for beginning of value")),
        }
    }

    fn nested(&mut self, read: impl Fn(&mut Self) -> Result<Json, String>) -> Result<Json, String> {
        self.at += 1;
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err("exceeded max depth".into());
        }
        let value = read(self);
        self.depth -= 1;
        value
    }

    fn object(&mut self) -> Result<Json, String> {
        let mut map = BTreeMap::new();
        self.space();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(Json::Object(map));
        }
        loop {
            self.space();
            if self.peek() != Some(b'"') {
                return Err(self.wrong("looking for beginning of object key string"));
            }
            let key = self.string()?;
            self.space();
            if self.peek() != Some(b':') {
                return Err(self.wrong("after object key"));
            }
            self.at += 1;
            self.space();
            let value = self.value()?;
            map.insert(key.into(), value);
            self.space();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'}') => {
                    self.at += 1;
                    return Ok(Json::Object(map));
                }
                _ => return Err(self.wrong("after object key:value pair")),
            }
        }
    }

    fn array(&mut self) -> Result<Json, String> {
        let mut items = Vec::new();
        self.space();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(Json::Array(items));
        }
        loop {
            self.space();
            items.push(self.value()?);
            self.space();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b']') => {
                    self.at += 1;
                    return Ok(Json::Array(items));
                }
                _ => return Err(self.wrong("after array element")),
            }
        }
    }

    fn word(&mut self, word: &str, value: Json) -> Result<Json, String> {
        for expected in word.bytes() {
            if self.peek() != Some(expected) {
                return Err(self.wrong(&format!("in literal {word} (expecting '{}')", char::from(expected))));
            }
            self.at += 1;
        }
        Ok(value)
    }

    fn number(&mut self) -> Result<Json, String> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        match self.peek() {
            Some(b'0') => self.at += 1,
            Some(b'1'..=b'9') => self.digits(),
            _ => return Err(self.wrong("in numeric literal")),
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            if !self.peek().is_some_and(|b| b.is_ascii_digit()) {
                return Err(self.wrong("after decimal point in numeric literal"));
            }
            self.digits();
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            if !self.peek().is_some_and(|b| b.is_ascii_digit()) {
                return Err(self.wrong("in exponent of numeric literal"));
            }
            self.digits();
        }
        let text = std::str::from_utf8(&self.text[start..self.at]).expect("digits and signs");
        Ok(Json::Number(text.into()))
    }

    fn digits(&mut self) {
        while self.peek().is_some_and(|b| b.is_ascii_digit()) {
            self.at += 1;
        }
    }

    fn string(&mut self) -> Result<String, String> {
        self.at += 1;
        let mut out = Vec::new();
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(String::from_utf8_lossy(&out).into_owned());
                }
                Some(b'\\') => {
                    self.at += 1;
                    let plain = match self.peek() {
                        Some(b @ (b'"' | b'\\' | b'/')) => b,
                        Some(b'b') => 8,
                        Some(b'f') => 12,
                        Some(b'n') => b'\n',
                        Some(b'r') => b'\r',
                        Some(b't') => b'\t',
                        Some(b'u') => {
                            let c = self.unicode()?;
                            out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                            continue;
                        }
                        _ => return Err(self.wrong("in string escape code")),
                    };
                    self.at += 1;
                    out.push(plain);
                }
                None | Some(0..=0x1f) => return Err(self.wrong("in string literal")),
                Some(byte) => {
                    self.at += 1;
                    out.push(byte);
                }
            }
        }
    }

    /// Reads the rest of `\uXXXX`, and a second half if it is the first of a pair.
    fn unicode(&mut self) -> Result<char, String> {
        let first = self.hex()?;
        if let Some(c) = char::from_u32(first) {
            return Ok(c);
        }
        let before = self.at;
        if (0xd800..0xdc00).contains(&first) && self.text[self.at..].starts_with(b"\\u") {
            self.at += 1;
            let second = self.hex()?;
            if (0xdc00..0xe000).contains(&second) {
                let code = 0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00);
                return Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            self.at = before;
        }
        Ok(char::REPLACEMENT_CHARACTER)
    }

    fn hex(&mut self) -> Result<u32, String> {
        self.at += 1;
        let mut code = 0;
        for _ in 0..4 {
            let digit = self.peek().and_then(|b| char::from(b).to_digit(16));
            let Some(digit) = digit else { return Err(self.wrong("in \\u hexadecimal character escape")) };
            code = code * 16 + digit;
            self.at += 1;
        }
        Ok(code)
    }
}
