//! Reading JSON into a template's values, with the errors of Go's encoding/json.

use tera::{Map, Value, value::Key};

use crate::{
    functions::{Error, call},
    value::{MAX_DEPTH, quote},
};

/// The value of a JSON text.
pub(crate) fn decode(text: &[u8]) -> Result<Value, Error> {
    let (value, error) = Decoder::read(text)?;
    match error {
        Some(error) => Err(error),
        None => Ok(value),
    }
}

/// The map of a JSON text, none for `null`; with an error, what there is of the map.
pub(crate) fn decode_map(text: &[u8]) -> (Option<Map>, Option<Error>) {
    match Decoder::read(text) {
        Err(error) => (Some(Map::default()), Some(error)),
        Ok((value, None)) if value.is_none() => (None, None),
        Ok((value, error)) => match kind(&value) {
            "object" => (value.into_map(), error),
            kind => (Some(Map::default()), Some(mismatch(kind, "map[string]interface {}"))),
        },
    }
}

/// The list of a JSON text, none for `null`.
pub(crate) fn decode_list(text: &[u8]) -> Result<Option<Value>, Error> {
    match Decoder::read(text)? {
        (value, None) if value.is_none() => Ok(None),
        (value, error) => match (kind(&value), error) {
            ("array", None) => Ok(Some(value)),
            ("array", Some(error)) => Err(error),
            (kind, _) => Err(mismatch(kind, "[]interface {}")),
        },
    }
}

/// What stands at the beginning of a stream of JSON.
pub(crate) enum First {
    /// Nothing but white space.
    Nothing,
    /// A value, and where it ends.
    Value(Value, usize),
    /// A value without its end.
    Cut,
    /// The byte at which something is wrong, and what.
    Broken(usize, String),
}

/// The first value of a stream, as encoding/json's `Decoder` finds it. Numbers of any size are values.
pub(crate) fn first_value(text: &[u8]) -> First {
    let mut decoder = Decoder { text, at: 0, number: None };
    decoder.space();
    if decoder.at == text.len() {
        return First::Nothing;
    }
    match decoder.value(0) {
        Ok(value) => First::Value(value, decoder.at),
        Err(_) if decoder.at >= text.len() => First::Cut,
        Err(error) => First::Broken(decoder.at, error.to_string()),
    }
}

/// The word that Go's errors have for a JSON value.
fn kind(value: &Value) -> &'static str {
    match value.kind() {
        tera::value::ValueKind::Map => "object",
        tera::value::ValueKind::Array => "array",
        tera::value::ValueKind::String => "string",
        tera::value::ValueKind::Bool => "bool",
        _ => "number",
    }
}

fn mismatch(kind: &str, wanted: &str) -> Error {
    Error::new(format!("json: cannot unmarshal {kind} into Go value of type {wanted}"))
}

struct Decoder<'t> {
    text: &'t [u8],
    at: usize,
    /// The first number that no float64 holds. Go reads on, with nil in its place.
    number: Option<Error>,
}

impl<'t> Decoder<'t> {
    fn read(text: &'t [u8]) -> Result<(Value, Option<Error>), Error> {
        let mut decoder = Self { text, at: 0, number: None };
        let value = decoder.value(0)?;
        decoder.space();
        if decoder.at < text.len() {
            return Err(decoder.unexpected("after top-level value"));
        }
        Ok((value, decoder.number))
    }

    fn space(&mut self) {
        while let Some(b' ' | b'\t' | b'\r' | b'\n') = self.text.get(self.at) {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    /// The error for the next byte, where white space could have been.
    fn unexpected(&self, context: &str) -> Error {
        match self.peek() {
            None => Error::new("unexpected end of JSON input"),
            Some(byte) => invalid(byte, context),
        }
    }

    /// The error for the next byte, where no white space could have been: Go takes the end for a space.
    fn broken(&self, context: &str) -> Error {
        invalid(self.peek().unwrap_or(b' '), context)
    }

    fn value(&mut self, depth: usize) -> Result<Value, Error> {
        self.space();
        match self.peek() {
            Some(b'{') => self.object(depth),
            Some(b'[') => self.array(depth),
            Some(b'"') => Ok(Value::from(self.string()?)),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.word("true", Value::from(true)),
            Some(b'f') => self.word("false", Value::from(false)),
            Some(b'n') => self.word("null", Value::none()),
            _ => Err(self.unexpected("looking for beginning of value")),
        }
    }

    fn word(&mut self, word: &str, value: Value) -> Result<Value, Error> {
        for expected in word.bytes() {
            if self.peek() != Some(expected) {
                let context = format!("in literal {word} (expecting '{}')", char::from(expected));
                return Err(self.broken(&context));
            }
            self.at += 1;
        }
        Ok(value)
    }

    /// Enters an object or array.
    fn open(&mut self, depth: usize) -> Result<usize, Error> {
        if depth >= MAX_DEPTH {
            return Err(self.broken("exceeded max depth"));
        }
        self.at += 1;
        self.space();
        Ok(depth + 1)
    }

    fn object(&mut self, depth: usize) -> Result<Value, Error> {
        let depth = self.open(depth)?;
        let mut map = Map::default();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(Value::from(map));
        }
        loop {
            self.space();
            if self.peek() != Some(b'"') {
                return Err(self.unexpected("looking for beginning of object key string"));
            }
            let key = self.string()?;
            self.space();
            if self.peek() != Some(b':') {
                return Err(self.unexpected("after object key"));
            }
            self.at += 1;
            let value = self.value(depth)?;
            map.insert(Key::from(key), value);
            self.space();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'}') => {
                    self.at += 1;
                    return Ok(Value::from(map));
                }
                _ => return Err(self.unexpected("after object key:value pair")),
            }
        }
    }

    fn array(&mut self, depth: usize) -> Result<Value, Error> {
        let depth = self.open(depth)?;
        let mut items = Vec::new();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(Value::from(items));
        }
        loop {
            items.push(self.value(depth)?);
            self.space();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b']') => {
                    self.at += 1;
                    return Ok(Value::from(items));
                }
                _ => return Err(self.unexpected("after array element")),
            }
        }
    }

    fn digits(&mut self, context: &str) -> Result<(), Error> {
        if !self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            return Err(self.broken(context));
        }
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        Ok(())
    }

    fn number(&mut self) -> Result<Value, Error> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        if self.peek() == Some(b'0') {
            self.at += 1;
        } else {
            self.digits("in numeric literal")?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits("after decimal point in numeric literal")?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.at += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.at += 1;
            }
            self.digits("in exponent of numeric literal")?;
        }
        let text = std::str::from_utf8(&self.text[start..self.at]).unwrap_or_default();
        match text.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(Value::from(number)),
            _ => {
                self.number.get_or_insert_with(|| mismatch(&format!("number {text}"), "float64"));
                Ok(Value::none())
            }
        }
    }

    fn string(&mut self) -> Result<String, Error> {
        self.at += 1;
        let start = self.at;
        while let Some(byte) = self.peek() {
            match byte {
                b'"' => {
                    let text = call::decode(&self.text[start..self.at]).into_owned();
                    self.at += 1;
                    return Ok(text);
                }
                b'\\' => return self.escaped(start),
                0..=0x1F => return Err(invalid(byte, "in string literal")),
                _ => self.at += 1,
            }
        }
        Err(self.unexpected(""))
    }

    /// The rest of a string in which there are escapes.
    fn escaped(&mut self, start: usize) -> Result<String, Error> {
        let mut out = call::decode(&self.text[start..self.at]).into_owned();
        let mut from = self.at;
        while let Some(byte) = self.peek() {
            match byte {
                b'"' | b'\\' => {
                    out.push_str(&call::decode(&self.text[from..self.at]));
                    self.at += 1;
                    if byte == b'"' {
                        return Ok(out);
                    }
                    out.push(self.escape()?);
                    from = self.at;
                }
                0..=0x1F => return Err(invalid(byte, "in string literal")),
                _ => self.at += 1,
            }
        }
        Err(self.unexpected(""))
    }

    fn escape(&mut self) -> Result<char, Error> {
        let c = match self.peek() {
            Some(c @ (b'"' | b'\\' | b'/')) => char::from(c),
            Some(b'b') => '\x08',
            Some(b'f') => '\x0C',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                self.at += 1;
                let first = self.hex4()?;
                return self.surrogates(first);
            }
            _ => return Err(self.broken("in string escape code")),
        };
        self.at += 1;
        Ok(c)
    }

    fn hex4(&mut self) -> Result<u32, Error> {
        let mut code = 0;
        for _ in 0..4 {
            let digit = self.peek().and_then(|byte| char::from(byte).to_digit(16));
            code = code * 16 + digit.ok_or_else(|| self.broken("in \\u hexadecimal character escape"))?;
            self.at += 1;
        }
        Ok(code)
    }

    /// Takes the second half of a surrogate pair, if it follows; a lone half is U+FFFD.
    fn surrogates(&mut self, first: u32) -> Result<char, Error> {
        if let Some(c) = char::from_u32(first) {
            return Ok(c);
        }
        if first < 0xDC00 && self.text[self.at..].starts_with(b"\\u") {
            let back = self.at;
            self.at += 2;
            let second = self.hex4()?;
            if (0xDC00..0xE000).contains(&second) {
                let code = 0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00);
                return Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            self.at = back;
        }
        Ok(char::REPLACEMENT_CHARACTER)
    }
}

fn invalid(byte: u8, context: &str) -> Error {
    let shown = match byte {
        b'\'' => "\\'".to_owned(),
        b'"' => "\"".to_owned(),
        _ => {
            let quoted = quote::quote(char::from(byte).to_string().as_bytes());
            quoted[1..quoted.len() - 1].to_owned()
        }
    };
    Error::new(format!("invalid character '{shown}' {context}"))
}
