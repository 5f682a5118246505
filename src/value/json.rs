//! Values as Go's encoding/json writes them, and as what JSON leaves of them.

use std::borrow::Cow;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use tera::{Map, Value, value::ValueKind};

use super::{Error, Inside, MAX_DEPTH, MapRef, Scope, typed};
use crate::yaml::number::{go_format_float, write_json_float};

/// How JSON is written.
#[derive(Debug, Clone, Copy)]
pub struct Style<'a> {
    /// Whether `<`, `>` and `&` are escaped, as `json.Marshal` does.
    pub html: bool,
    /// What each level is indented by; none writes everything on one line.
    pub indent: Option<&'a str>,
}

impl Style<'_> {
    /// The style of `json.Marshal`.
    pub const MARSHAL: Self = Self { html: true, indent: None };
    /// The style of `json.Marshal` without the escapes of HTML (sprig's `toRawJson`).
    pub const RAW: Self = Self { html: false, indent: None };
    /// The style of sprig's `toPrettyJson`.
    pub const PRETTY: Self = Self { html: true, indent: Some("  ") };
}

/// A value as encoding/json writes it.
///
/// # Errors
/// As encoding/json: infinite numbers and NaN, times outside of the years 0 to 9999, a map that contains itself. Also
/// when the value nests too deep, or the text exceeds the scope's limit.
pub fn to_string(scope: &Scope, value: &Value, style: Style<'_>) -> Result<String, Error> {
    let mut writer = Writer { scope, style, out: String::new(), inside: Inside::default() };
    writer.value(value, 0)?;
    Ok(writer.out)
}

/// Appends a Go string in quotes as encoding/json writes it, each byte that is not UTF-8 as `\ufffd`; `html` escapes `<`,
/// `>` and `&`.
pub fn write_bytes(out: &mut String, text: &[u8], html: bool) {
    out.push('"');
    for chunk in text.utf8_chunks() {
        escape(out, chunk.valid(), html);
        out.extend(std::iter::repeat_n("\\ufffd", chunk.invalid().len()));
    }
    out.push('"');
}

/// Appends a string in quotes as encoding/json writes it; `html` escapes `<`, `>` and `&`.
pub fn write_string(out: &mut String, text: &str, html: bool) {
    out.push('"');
    escape(out, text, html);
    out.push('"');
}

/// Which bytes of a string need a look: 1 always, 2 where HTML is escaped.
static NEEDS: [u8; 256] = {
    let mut needs = [0; 256];
    let mut byte = 0;
    while byte < 0x20 {
        needs[byte] = 1;
        byte += 1;
    }
    needs[b'"' as usize] = 1;
    needs[b'\\' as usize] = 1;
    needs[b'<' as usize] = 2;
    needs[b'>' as usize] = 2;
    needs[b'&' as usize] = 2;
    // The first byte of U+2028 and U+2029.
    needs[0xe2] = 1;
    needs
};

fn escape(out: &mut String, text: &str, html: bool) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let wanted = if html { 3 } else { 1 };
    let mut rest = text;
    while let Some(at) = rest.bytes().position(|byte| NEEDS[usize::from(byte)] & wanted != 0) {
        out.push_str(&rest[..at]);
        let mut chars = rest[at..].chars();
        match chars.next() {
            Some(c @ ('"' | '\\')) => out.extend(['\\', c]),
            Some('\u{8}') => out.push_str("\\b"),
            Some('\u{c}') => out.push_str("\\f"),
            Some('\n') => out.push_str("\\n"),
            Some('\r') => out.push_str("\\r"),
            Some('\t') => out.push_str("\\t"),
            Some('\u{2028}') => out.push_str("\\u2028"),
            Some('\u{2029}') => out.push_str("\\u2029"),
            Some(c) if c.is_ascii() => {
                out.push_str("\\u00");
                let byte = usize::from(c as u8);
                out.extend([char::from(HEX[byte >> 4]), char::from(HEX[byte & 15])]);
            }
            Some(c) => out.push(c),
            None => {}
        }
        rest = chars.as_str();
    }
    out.push_str(rest);
}

/// What encoding/json makes of a typed value.
enum Model<'v> {
    /// A plain value.
    Plain(Value),
    /// A list.
    List(&'v [Value]),
    /// An object of entries by key, as they are in the map.
    Entries,
    /// An object of a struct's fields, in order.
    Fields(Vec<(&'static str, &'v Value)>),
}

fn model(kind: typed::Type, value: &Value) -> Result<Model<'_>, Error> {
    use typed::Type;
    let field = |name| typed::field(value, name);
    let fields = |names: &[(&'static str, &'static str)]| {
        Model::Fields(names.iter().filter_map(|(name, key)| Some((*key, field(name)?))).collect())
    };
    Ok(match kind {
        Type::Text => Model::Plain(Value::from(typed::text_lossy_bytes(value))),
        Type::StringMap | Type::Files => Model::Entries,
        // What comes of it does not count.
        Type::Unread => Model::Plain(Value::none()),
        Type::VersionSet => Model::List(typed::items(value).unwrap_or_default()),
        Type::Duration | Type::Month | Type::Weekday => {
            Model::Plain(typed::number(value).map_or_else(Value::none, Value::from))
        }
        Type::Time => {
            let time = typed::Time::from_value(value);
            Model::Plain(Value::from(time.map(|time| time.to_json()).transpose()?))
        }
        Type::Semver => {
            let text = typed::string_method(value).unwrap_or_default();
            Model::Plain(Value::from(String::from_utf8_lossy(&text)))
        }
        Type::Certificate => fields(&[("Cert", "Cert"), ("Key", "Key")]),
        Type::Capabilities => fields(&[
            ("KubeVersion", "KubeVersion"),
            ("APIVersions", "APIVersions"),
            ("HelmVersion", "HelmVersion"),
        ]),
        Type::KubeVersion => fields(&[("Version", "Version"), ("Major", "Major"), ("Minor", "Minor")]),
        Type::BuildInfo => {
            let mut found = Vec::new();
            for (name, key) in [
                ("Version", "version"),
                ("GitCommit", "git_commit"),
                ("GitTreeState", "git_tree_state"),
                ("GoVersion", "go_version"),
                ("KubeClientVersion", "kube_client_version"),
            ] {
                // All but the last are left out where empty.
                let present =
                    field(name).filter(|text| name == "KubeClientVersion" || text.as_str() != Some(""));
                found.extend(present.map(|text| (key, text)));
            }
            Model::Fields(found)
        }
        Type::Complex => return Err(Error::UnsupportedType(kind.name())),
        Type::Error => Model::Fields(Vec::new()),
    })
}

struct Writer<'a> {
    scope: &'a Scope,
    style: Style<'a>,
    out: String,
    /// The changed maps that the writer is inside of.
    inside: Inside,
}

// What recurses is kept apart from what does not, so that deep values need little stack.
impl Writer<'_> {
    fn value(&mut self, value: &Value, depth: usize) -> Result<(), Error> {
        if depth > MAX_DEPTH {
            return Err(self.scope.too_deep());
        }
        if is_nil(self.scope, value) {
            self.out.push_str("null");
        } else if let Some(items) = value.as_array() {
            self.list(items, depth)?;
        } else if value.is_map() {
            match typed::Type::of(value) {
                None => self.map(value, depth)?,
                Some(kind) => self.typed(kind, value, depth)?,
            }
        } else {
            self.scalar(value)?;
        }
        if self.out.len() > self.scope.text_limit() {
            return Err(Error::TooLong(self.scope.text_limit()));
        }
        Ok(())
    }

    fn typed(&mut self, kind: typed::Type, value: &Value, depth: usize) -> Result<(), Error> {
        if let Some(bytes) = typed::text_bytes(value) {
            write_bytes(&mut self.out, bytes, self.style.html);
            return Ok(());
        }
        match model(kind, value)? {
            Model::Plain(value) => self.scalar(&value),
            Model::List(items) => self.list(items, depth),
            Model::Entries => self.map(value, depth),
            Model::Fields(fields) => self.object(&fields, depth),
        }
    }

    fn scalar(&mut self, value: &Value) -> Result<(), Error> {
        match value.kind() {
            ValueKind::Bool => {
                self.out.push_str(if value.as_bool() == Some(true) { "true" } else { "false" });
            }
            ValueKind::I64 | ValueKind::I128 | ValueKind::U64 | ValueKind::U128 => match value.as_i64() {
                Some(number) => self.out.push_str(itoa::Buffer::new().format(number)),
                None => self.out.push_str(itoa::Buffer::new().format(value.as_i128().unwrap_or_default())),
            },
            ValueKind::F64 => write_json_float(&mut self.out, finite(value)?),
            ValueKind::String => {
                write_string(&mut self.out, value.as_str().unwrap_or_default(), self.style.html);
            }
            ValueKind::Bytes => {
                self.out.push('"');
                STANDARD.encode_string(value.as_bytes().unwrap_or_default(), &mut self.out);
                self.out.push('"');
            }
            _ => self.out.push_str("null"),
        }
        Ok(())
    }

    fn line(&mut self, depth: usize) {
        if let Some(indent) = self.style.indent {
            self.out.push('\n');
            for _ in 0..depth {
                self.out.push_str(indent);
            }
        }
    }

    fn list(&mut self, items: &[Value], depth: usize) -> Result<(), Error> {
        self.out.push('[');
        for (at, item) in items.iter().enumerate() {
            if at > 0 {
                self.out.push(',');
            }
            self.line(depth + 1);
            self.value(item, depth + 1)?;
        }
        if !items.is_empty() {
            self.line(depth);
        }
        self.out.push(']');
        Ok(())
    }

    fn map(&mut self, value: &Value, depth: usize) -> Result<(), Error> {
        let Some(map) = self.scope.map(value) else { return Ok(()) };
        let entered = self.inside.enter(&map)?;
        self.object(&map.sorted(), depth)?;
        self.inside.leave(entered);
        Ok(())
    }

    fn object(&mut self, entries: &[(&str, &Value)], depth: usize) -> Result<(), Error> {
        self.out.push('{');
        for (at, (key, value)) in entries.iter().enumerate() {
            if at > 0 {
                self.out.push(',');
            }
            self.line(depth + 1);
            write_string(&mut self.out, key, self.style.html);
            self.out.push_str(if self.style.indent.is_some() { ": " } else { ":" });
            self.value(value, depth + 1)?;
        }
        if !entries.is_empty() {
            self.line(depth);
        }
        self.out.push('}');
        Ok(())
    }
}

/// Whether the value is a nil map, slice or `[]byte`, which are few and empty.
fn is_nil(scope: &Scope, value: &Value) -> bool {
    let empty = match (value.as_array(), value.as_map(), value.as_bytes()) {
        (Some(items), ..) => items.is_empty(),
        // A `map[string]string` has its marker.
        (_, Some(map), _) => map.len() <= 1,
        (.., Some(bytes)) => bytes.is_empty(),
        _ => false,
    };
    empty && scope.is_nil(value)
}

fn finite(value: &Value) -> Result<f64, Error> {
    let number = value.as_f64().unwrap_or_default();
    if number.is_finite() { Ok(number) } else { Err(Error::UnsupportedNumber(go_format_float(number))) }
}

/// What is left of a value after a way through JSON, and what `toYaml` therefore prints: all changes made, \[\]byte in
/// base64, times and versions as strings, structs as maps. The numbers stay as they are. Where there is nothing of the
/// kind, the value is borrowed.
///
/// # Errors
/// As [`to_string`]. The limit of the text holds for the sum of all strings and values.
pub fn to_plain<'v>(scope: &Scope, value: &'v Value) -> Result<Cow<'v, Value>, Error> {
    let mut walk = Plain { scope, budget: scope.text_limit(), inside: Inside::default() };
    Ok(walk.value(value, 0)?.map_or(Cow::Borrowed(value), Cow::Owned))
}

struct Plain<'s> {
    scope: &'s Scope,
    /// How much longer the text may become that the value is printed as, at the very least.
    budget: usize,
    /// The changed maps that the walk is inside of.
    inside: Inside,
}

impl Plain<'_> {
    fn spend(&mut self, bytes: usize) -> Result<(), Error> {
        self.budget = self.budget.checked_sub(bytes).ok_or(Error::TooLong(self.scope.text_limit()))?;
        Ok(())
    }

    /// The plain form of a value, or none where it is plain.
    fn value(&mut self, value: &Value, depth: usize) -> Result<Option<Value>, Error> {
        if depth > MAX_DEPTH {
            return Err(self.scope.too_deep());
        }
        if is_nil(self.scope, value) {
            return Ok(Some(Value::none()));
        }
        if let Some(items) = value.as_array() {
            return self.list(items, depth);
        }
        if value.is_map() {
            return match typed::Type::of(value) {
                None => self.map(value, depth, false),
                Some(kind) => self.typed(kind, value, depth),
            };
        }
        self.scalar(value)
    }

    fn scalar(&mut self, value: &Value) -> Result<Option<Value>, Error> {
        if let Some(bytes) = value.as_bytes() {
            self.spend(bytes.len() + 2)?;
            return Ok(Some(Value::from(STANDARD.encode(bytes))));
        }
        if value.is_f64() {
            finite(value)?;
        }
        self.spend(2 + value.as_str().map_or(0, str::len))?;
        Ok(None)
    }

    fn typed(&mut self, kind: typed::Type, value: &Value, depth: usize) -> Result<Option<Value>, Error> {
        match model(kind, value)? {
            Model::Plain(value) => {
                self.scalar(&value)?;
                Ok(Some(value))
            }
            Model::Entries => self.map(value, depth, true),
            Model::List(items) => {
                let plain = self.list(items, depth)?;
                Ok(Some(plain.unwrap_or_else(|| Value::from(items))))
            }
            Model::Fields(fields) => {
                let mut plain = Map::with_capacity(fields.len());
                for (key, value) in fields {
                    self.spend(key.len() + 2)?;
                    let value = self.value(value, depth + 1)?.unwrap_or_else(|| value.clone());
                    plain.insert(key.into(), value);
                }
                Ok(Some(Value::from(plain)))
            }
        }
    }

    fn list(&mut self, items: &[Value], depth: usize) -> Result<Option<Value>, Error> {
        self.spend(2)?;
        let mut plain: Option<Vec<Value>> = None;
        for (at, item) in items.iter().enumerate() {
            if let Some(item) = self.value(item, depth + 1)? {
                plain.get_or_insert_with(|| items.to_vec())[at] = item;
            }
        }
        Ok(plain.map(Value::from))
    }

    fn map(&mut self, value: &Value, depth: usize, marked: bool) -> Result<Option<Value>, Error> {
        self.spend(2)?;
        let Some(map) = self.scope.map(value) else { return Ok(None) };
        let entered = self.inside.enter(&map)?;
        let mut plain: Option<Map> = (matches!(map, MapRef::Changed(_)) || marked).then(|| Map::clone(&map));
        if let Some(plain) = plain.as_mut().filter(|_| marked) {
            plain.retain(|key, _| !typed::is_marker(key));
        }
        for (key, value) in map.iter() {
            let Some(name) = key.as_str() else { continue };
            self.spend(name.len() + 2)?;
            if let Some(value) = self.value(value, depth + 1)? {
                plain.get_or_insert_with(|| Map::clone(&map)).insert(key.clone(), value);
            }
        }
        self.inside.leave(entered);
        Ok(plain.map(Value::from))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map<const N: usize>(entries: [(&'static str, Value); N]) -> Value {
        Value::from(entries.into_iter().map(|(key, value)| (key.into(), value)).collect::<Map>())
    }

    fn json(value: &Value, style: Style<'_>) -> String {
        to_string(&Scope::new(), value, style).unwrap()
    }

    #[test]
    fn values_are_written_as_in_go() {
        let value = map([
            ("b<", Value::from("a&b\"\\\n\u{1}\u{7f}\u{2028}é")),
            ("a", Value::from(vec![Value::none(), Value::from(1e6), Value::from(1e21), Value::from(true)])),
            ("c", Value::bytes(b"\xff".to_vec())),
            ("d", typed::text(b"x\xe2\x82".to_vec())),
        ]);
        assert_eq!(
            json(&value, Style::MARSHAL),
            r#"{"a":[null,1000000,1e+21,true],"b\u003c":"a\u0026b\"\\\n\u0001"#.to_owned()
                + "\u{7f}"
                + r#"\u2028é","c":"/w==","d":"x\ufffd\ufffd"}"#
        );
        assert_eq!(json(&map([("<", Value::from(">"))]), Style::RAW), r#"{"<":">"}"#);
        let nested =
            map([("a", Value::from(vec![1i64, 2])), ("b", map([])), ("c", Value::from(Vec::<i64>::new()))]);
        assert_eq!(
            json(&nested, Style::PRETTY),
            "{\n  \"a\": [\n    1,\n    2\n  ],\n  \"b\": {},\n  \"c\": []\n}"
        );
    }

    #[test]
    fn what_json_does_not_have_is_an_error() {
        let error = |value: Value| to_string(&Scope::new(), &value, Style::MARSHAL).unwrap_err().to_string();
        assert_eq!(error(Value::from(f64::NAN)), "json: unsupported value: NaN");
        assert_eq!(error(Value::from(f64::NEG_INFINITY)), "json: unsupported value: -Inf");
        let scope = Scope::new();
        let me = map([]);
        scope.set(&me, "me", me.clone()).unwrap();
        let error = to_string(&scope, &me, Style::MARSHAL).unwrap_err();
        assert_eq!(
            error.to_string(),
            "json: unsupported value: encountered a cycle via map[string]interface {}"
        );
        assert_eq!(to_plain(&scope, &me).unwrap_err(), error);
    }

    #[test]
    fn plain_values_are_borrowed_and_others_made_plain() {
        let scope = Scope::new();
        let plain = map([("a", Value::from(vec![1.5]))]);
        assert!(matches!(to_plain(&scope, &plain), Ok(Cow::Borrowed(_))));
        let duration = typed::make(typed::Type::Duration, [("value", Value::from(5i64))]);
        let strings = typed::make(typed::Type::StringMap, [("k", Value::from("v"))]);
        let value = map([("d", duration), ("s", strings), ("p", plain.clone())]);
        scope.set(&plain, "b", Value::bytes(b"hi".to_vec())).unwrap();
        let made = to_plain(&scope, &value).unwrap().into_owned();
        assert_eq!(json(&made, Style::RAW), r#"{"d":5,"p":{"a":[1.5],"b":"aGk="},"s":{"k":"v"}}"#);
        assert_eq!(json(&made, Style::RAW), to_string(&scope, &value, Style::RAW).unwrap());
    }

    #[test]
    fn shared_containers_cannot_grow_without_end() {
        let scope = Scope::new();
        scope.set_text_limit(1 << 20);
        let mut value = Value::from("x");
        for _ in 0..100 {
            value = Value::from(vec![value.clone(), value]);
        }
        assert_eq!(to_plain(&scope, &value).unwrap_err(), Error::TooLong(1 << 20));
        assert_eq!(to_string(&scope, &value, Style::RAW), Err(Error::TooLong(1 << 20)));
        assert_eq!(scope.deep_copy(&value), Err(Error::TooLong(1 << 20)));
    }
}
