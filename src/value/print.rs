//! What Go prints for a value: `fmt.Sprint`, and what text/template writes into its output.

use std::borrow::Cow;

use tera::{Value, value::ValueKind};

use super::{Error, Inside, MAX_DEPTH, Scope, typed};
use crate::yaml::number::{Form, go_format_float, write_float};

/// What text/template writes for the value of a pipeline. Nil is `<no value>`, which Helm takes out of its output at the
/// very end.
///
/// # Errors
/// When the value contains itself, nests too deep, or the text exceeds the scope's limit.
#[inline]
pub fn display<'v>(scope: &Scope, value: &'v Value) -> Result<Cow<'v, str>, Error> {
    match value.kind() {
        ValueKind::String => Ok(Cow::Borrowed(value.as_str().unwrap_or_default())),
        ValueKind::None | ValueKind::Undefined => Ok(Cow::Borrowed("<no value>")),
        ValueKind::Bool => Ok(Cow::Borrowed(if value.as_bool() == Some(true) { "true" } else { "false" })),
        ValueKind::F64 => Ok(Cow::Owned(go_format_float(value.as_f64().unwrap_or_default()))),
        ValueKind::I64 => {
            let number = value.as_i64().unwrap_or_default();
            Ok(Cow::Owned(itoa::Buffer::new().format(number).to_owned()))
        }
        // A template reaches this struct through a pointer, so that Go finds its String method; fmt does not.
        ValueKind::Map if typed::Type::of(value) == Some(typed::Type::KubeVersion) => {
            let text =
                |name| typed::field(value, name).and_then(Value::as_str).filter(|text| !text.is_empty());
            Ok(Cow::Borrowed(text("normalizedVersion").or_else(|| text("Version")).unwrap_or_default()))
        }
        // A pointer to a struct is followed, where fmt prints an ampersand.
        ValueKind::Map if typed::Type::of(value) == Some(typed::Type::Capabilities) => {
            to_text(scope, value).map(|text| Cow::Owned(text.trim_start_matches('&').to_owned()))
        }
        _ => to_text(scope, value).map(Cow::Owned),
    }
}

/// `fmt.Sprint(value)`, which is `%v`. Nil is `<nil>`; bytes that are not UTF-8 are replaced.
///
/// # Errors
/// As [`display`].
pub fn to_text(scope: &Scope, value: &Value) -> Result<String, Error> {
    let mut out = Vec::new();
    append(&mut out, scope, value)?;
    Ok(String::from_utf8(out).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
}

/// Appends what `%v` prints.
///
/// # Errors
/// As [`display`].
pub fn append(out: &mut Vec<u8>, scope: &Scope, value: &Value) -> Result<(), Error> {
    Printer { scope, out, inside: Inside::default(), number: String::new() }.value(value, 0)
}

/// `fmt.Sprint(values…)`: a space between two values neither of which is a string.
///
/// # Errors
/// As [`display`].
pub fn sprint(scope: &Scope, values: &[Value]) -> Result<Value, Error> {
    let mut out = Vec::new();
    let mut after_text = true;
    for value in values {
        let is_text = typed::text_bytes(value).is_some();
        if !is_text && !after_text {
            out.push(b' ');
        }
        append(&mut out, scope, value)?;
        after_text = is_text;
    }
    Ok(typed::text(out))
}

/// `fmt.Sprintln(values…)`: a space between any two values, and a newline at the end.
///
/// # Errors
/// As [`display`].
pub fn sprintln(scope: &Scope, values: &[Value]) -> Result<Value, Error> {
    let mut out = Vec::new();
    for (at, value) in values.iter().enumerate() {
        if at > 0 {
            out.push(b' ');
        }
        append(&mut out, scope, value)?;
    }
    out.push(b'\n');
    Ok(typed::text(out))
}

struct Printer<'a> {
    scope: &'a Scope,
    out: &'a mut Vec<u8>,
    /// The changed maps that the printer is inside of.
    inside: Inside,
    /// Where a float is written before it is copied.
    number: String,
}

// What recurses is kept apart from what does not, so that deep values need little stack.
impl Printer<'_> {
    fn value(&mut self, value: &Value, depth: usize) -> Result<(), Error> {
        if let Some(items) = value.as_array() {
            self.check(depth)?;
            self.list(items, depth)?;
        } else if value.is_map() {
            self.check(depth)?;
            match typed::Type::of(value) {
                None | Some(typed::Type::StringMap | typed::Type::Files) => self.map(value, depth)?,
                Some(kind) => self.typed(kind, value, depth)?,
            }
        } else {
            self.scalar(value);
        }
        if self.out.len() > self.scope.text_limit() {
            return Err(Error::TooLong(self.scope.text_limit()));
        }
        Ok(())
    }

    fn scalar(&mut self, value: &Value) {
        match value.kind() {
            ValueKind::String => self.out.extend_from_slice(value.as_str().unwrap_or_default().as_bytes()),
            ValueKind::Bool => {
                self.out.extend_from_slice(if value.as_bool() == Some(true) { b"true" } else { b"false" });
            }
            ValueKind::F64 => {
                self.number.clear();
                write_float(&mut self.number, value.as_f64().unwrap_or_default(), Form::General);
                self.out.extend_from_slice(self.number.as_bytes());
            }
            ValueKind::I64 | ValueKind::I128 | ValueKind::U64 | ValueKind::U128 => {
                let number = value.as_i128().unwrap_or_default();
                self.out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
            }
            ValueKind::Bytes => {
                self.out.push(b'[');
                for (at, byte) in value.as_bytes().unwrap_or_default().iter().enumerate() {
                    if at > 0 {
                        self.out.push(b' ');
                    }
                    self.out.extend_from_slice(itoa::Buffer::new().format(*byte).as_bytes());
                }
                self.out.push(b']');
            }
            _ => self.out.extend_from_slice(b"<nil>"),
        }
    }

    fn check(&self, depth: usize) -> Result<(), Error> {
        if depth > MAX_DEPTH { Err(self.scope.too_deep()) } else { Ok(()) }
    }

    fn list(&mut self, items: &[Value], depth: usize) -> Result<(), Error> {
        self.out.push(b'[');
        for (at, item) in items.iter().enumerate() {
            if at > 0 {
                self.out.push(b' ');
            }
            self.value(item, depth + 1)?;
        }
        self.out.push(b']');
        Ok(())
    }

    fn map(&mut self, value: &Value, depth: usize) -> Result<(), Error> {
        let Some(map) = self.scope.map(value) else { return Ok(()) };
        let entered = self.inside.enter(&map)?;
        self.out.extend_from_slice(b"map[");
        for (at, (key, value)) in map.sorted().into_iter().enumerate() {
            if at > 0 {
                self.out.push(b' ');
            }
            self.out.extend_from_slice(key.as_bytes());
            self.out.push(b':');
            self.value(value, depth + 1)?;
        }
        self.out.push(b']');
        self.inside.leave(entered);
        Ok(())
    }

    fn typed(&mut self, kind: typed::Type, value: &Value, depth: usize) -> Result<(), Error> {
        if let Some(text) = typed::string_method(value) {
            self.out.extend_from_slice(&text);
            return Ok(());
        }
        if let Some(items) = typed::items(value) {
            return self.list(items, depth);
        }
        if let Some((real, imaginary)) = typed::complex(value) {
            let sign = if go_format_float(imaginary).starts_with('-') { "" } else { "+" };
            let text = format!("({}{sign}{}i)", go_format_float(real), go_format_float(imaginary));
            self.out.extend_from_slice(text.as_bytes());
            return Ok(());
        }
        if kind.is_pointer() {
            // Go prints a pointer below the top as its address. No type has one there.
            self.out.push(b'&');
        }
        self.out.push(b'{');
        for (at, name) in kind.fields().iter().enumerate() {
            if at > 0 {
                self.out.push(b' ');
            }
            if let Some(field) = typed::field(value, name) {
                self.value(field, depth + 1)?;
            }
        }
        self.out.push(b'}');
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tera::Map;

    fn text(value: &Value) -> String {
        to_text(&Scope::new(), value).unwrap()
    }

    #[test]
    fn values_print_as_in_go() {
        let map: Map = [("b", Value::from(1e6)), ("a", Value::none()), ("c", Value::from(vec!["x", "y z"]))]
            .into_iter()
            .map(|(key, value)| (key.into(), value))
            .collect();
        assert_eq!(text(&Value::from(map)), "map[a:<nil> b:1e+06 c:[x y z]]");
        assert_eq!(text(&Value::bytes(vec![1, 2, 255])), "[1 2 255]");
        assert_eq!(text(&Value::from(-3i128)), "-3");
        assert_eq!(text(&Value::from(0.1)), "0.1");
        assert_eq!(display(&Scope::new(), &Value::none()).unwrap(), "<no value>");
    }

    #[test]
    fn sprint_puts_spaces_between_what_is_not_text() {
        let values =
            [Value::from(1i64), Value::from(2i64), Value::from("a"), Value::from(3i64), Value::none()];
        let printed = sprint(&Scope::new(), &values).unwrap();
        assert_eq!(printed.as_str(), Some("1 2a3 <nil>"));
        assert_eq!(sprintln(&Scope::new(), &values).unwrap().as_str(), Some("1 2 a 3 <nil>\n"));
    }

    #[test]
    fn a_map_within_itself_is_an_error() {
        let scope = Scope::new();
        let map = Value::from(Map::new());
        scope.set(&map, "me", map.clone()).unwrap();
        scope.set(&map, "me too", map.clone()).unwrap();
        assert_eq!(to_text(&scope, &map), Err(Error::Cycle));
    }

    #[test]
    fn typed_values_print_as_in_go() {
        let version = typed::make(
            typed::Type::KubeVersion,
            ["Version", "normalizedVersion", "Major", "Minor"].map(|name| (name, Value::from(name))),
        );
        assert_eq!(text(&version), "{Version normalizedVersion Major Minor}");
        assert_eq!(display(&Scope::new(), &version).unwrap(), "normalizedVersion");
        let duration = typed::make(typed::Type::Duration, [("value", Value::from(90_000_000_000i64))]);
        assert_eq!(text(&duration), "1m30s");
    }
}
