//! Printing a value by a verb.

use tera::{Value, value::ValueKind};

use super::layout::Layout;
use crate::value::{Error, Inside, MAX_DEPTH, Scope, kind, typed};

/// What stands for an address. Go prints real ones, which differ from run to run; a render is the same each time.
const ADDRESS: u64 = 0x00c0_0000_0000;

pub(super) struct Printer<'s> {
    pub scope: &'s Scope,
    pub layout: Layout,
    out: Vec<u8>,
    /// Within a `%!verb(…)` form, where methods are not called.
    erring: bool,
    /// The changed maps that the printer is inside of.
    inside: Inside,
}

/// How `[]byte` is named at the top and below it.
const TOP_BYTES: &str = "[]byte";
const INNER_BYTES: &str = "[]uint8";

impl<'s> Printer<'s> {
    pub fn new(scope: &'s Scope, capacity: usize) -> Self {
        let out = Vec::with_capacity(capacity);
        Self { scope, layout: Layout::default(), out, erring: false, inside: Inside::default() }
    }

    pub fn into_bytes(self) -> Vec<u8> {
        self.out
    }

    pub fn write(&mut self, text: &[u8]) {
        self.out.extend_from_slice(text);
    }

    fn write_char(&mut self, c: char) {
        self.write(c.encode_utf8(&mut [0; 4]).as_bytes());
    }

    pub fn check_length(&self) -> Result<(), Error> {
        let limit = self.scope.text_limit();
        if self.out.len() > limit { Err(Error::TooLong(limit)) } else { Ok(()) }
    }

    /// `%!verb` and what is wrong with it.
    pub fn mistake(&mut self, verb: char, what: &[u8]) {
        self.write(b"%!");
        self.write_char(verb);
        self.write(what);
    }

    /// `%!verb(type=value)`: a verb that does not fit the value; none is nil.
    fn bad_verb(&mut self, verb: char, value: Option<&Value>) -> Result<(), Error> {
        self.mistake(verb, b"(");
        match value {
            Some(value) => {
                self.write(kind::type_of(self.scope, value).as_bytes());
                self.write(b"=");
                self.erring = true;
                let printed = self.value(value, 'v', 0);
                self.erring = false;
                printed?;
            }
            None => self.write(b"<nil>"),
        }
        self.write(b")");
        Ok(())
    }

    /// Prints an argument of the format.
    pub fn argument(&mut self, value: &Value, verb: char) -> Result<(), Error> {
        if value.is_none() || value.is_undefined() {
            if !matches!(verb, 'T' | 'v') {
                return self.bad_verb(verb, None);
            }
            self.layout.pad(&mut self.out, b"<nil>");
            return Ok(());
        }
        match verb {
            'T' => {
                self.layout.text(&mut self.out, kind::type_of(self.scope, value).as_bytes());
                Ok(())
            }
            'p' => self.pointer(value, 'p'),
            _ => match value.as_bytes() {
                Some(bytes) => self.bytes(bytes, self.scope.is_nil(value), verb, TOP_BYTES, 0),
                None if self.by_method(value, verb)? => Ok(()),
                None => self.value(value, verb, 0),
            },
        }
    }

    /// Prints a typed value through its `String`, `Error` or `GoString` method. False where fmt does not call one.
    fn by_method(&mut self, value: &Value, verb: char) -> Result<bool, Error> {
        if self.erring || !(value.is_map() || value.is_array()) {
            return Ok(false);
        }
        let kind = typed::Type::of(value);
        if kind == Some(typed::Type::Text) {
            return Ok(false);
        }
        if verb == 'w' {
            self.bad_verb(verb, Some(value))?;
            return Ok(true);
        }
        if kind.is_none() {
            return Ok(false);
        }
        if self.layout.sharp_v {
            let Some(time) = typed::Time::from_value(value) else { return Ok(false) };
            self.layout.text(&mut self.out, time.go_string().as_bytes());
            return Ok(true);
        }
        if !matches!(verb, 'v' | 's' | 'x' | 'X' | 'q') {
            return Ok(false);
        }
        let Some(text) = typed::string_method(value) else { return Ok(false) };
        self.text(&text, verb, value)?;
        Ok(true)
    }

    /// Prints a value that is not nil, `depth` levels below the argument.
    fn value(&mut self, value: &Value, verb: char, depth: usize) -> Result<(), Error> {
        if depth > 0 && self.by_method(value, verb)? {
            return Ok(());
        }
        self.check_length()?;
        if let Some(items) = value.as_array() {
            return self.list(value, items, verb, depth);
        }
        if value.is_map() {
            return match typed::Type::of(value) {
                None | Some(typed::Type::StringMap | typed::Type::Files) => self.map(value, verb, depth),
                Some(kind) => self.typed(kind, value, verb, depth),
            };
        }
        self.scalar(value, verb, depth)
    }

    /// Prints a value that holds no others. It is kept apart from what recurses, so that deep values need little stack.
    fn scalar(&mut self, value: &Value, verb: char, depth: usize) -> Result<(), Error> {
        match value.kind() {
            ValueKind::Bool => match verb {
                't' | 'v' => {
                    let text: &[u8] = if value.as_bool() == Some(true) { b"true" } else { b"false" };
                    self.layout.pad(&mut self.out, text);
                    Ok(())
                }
                _ => self.bad_verb(verb, Some(value)),
            },
            ValueKind::I64 | ValueKind::I128 => {
                #[expect(clippy::cast_possible_truncation, reason = "an int64 is all that these hold")]
                let number = value.as_i128().unwrap_or_default() as i64;
                self.integer(number.cast_unsigned(), true, verb, value)
            }
            ValueKind::U64 | ValueKind::U128 => {
                self.integer(value.as_u64().unwrap_or_default(), false, verb, value)
            }
            ValueKind::F64 => self.float(value.as_f64().unwrap_or_default(), verb, value),
            ValueKind::String => self.text(value.as_str().unwrap_or_default().as_bytes(), verb, value),
            ValueKind::Bytes => {
                let (bytes, nil) = (value.as_bytes().unwrap_or_default(), self.scope.is_nil(value));
                self.bytes(bytes, nil, verb, INNER_BYTES, depth)
            }
            _ => {
                self.write(b"<nil>");
                Ok(())
            }
        }
    }

    /// Prints what a list or map holds, where nil has a form of its own.
    fn element(&mut self, value: &Value, verb: char, depth: usize) -> Result<(), Error> {
        if value.is_none() || value.is_undefined() {
            self.write(if self.layout.sharp_v { b"interface {}(nil)" } else { b"<nil>" });
            return Ok(());
        }
        self.value(value, verb, depth)
    }

    fn integer(&mut self, number: u64, signed: bool, verb: char, value: &Value) -> Result<(), Error> {
        let (layout, out) = (&self.layout, &mut self.out);
        match verb {
            'v' if layout.sharp_v && !signed => self.hexadecimal_number(number, true),
            'v' | 'd' => layout.integer(out, number, signed, 10, verb),
            'b' => layout.integer(out, number, signed, 2, verb),
            'o' | 'O' => layout.integer(out, number, signed, 8, verb),
            'x' | 'X' => layout.integer(out, number, signed, 16, verb),
            'c' => layout.char(out, number),
            'q' => layout.quoted_char(out, number),
            'U' => layout.unicode(out, number),
            _ => return self.bad_verb(verb, Some(value)),
        }
        Ok(())
    }

    fn hexadecimal_number(&mut self, number: u64, prefix: bool) {
        Layout { sharp: prefix, ..self.layout }.integer(&mut self.out, number, false, 16, 'v');
    }

    fn float(&mut self, number: f64, verb: char, value: &Value) -> Result<(), Error> {
        let (verb, precision) = match verb {
            'v' | 'g' => (b'g', -1),
            'G' => (b'G', -1),
            'b' => (b'b', -1),
            'x' => (b'x', -1),
            'X' => (b'X', -1),
            'f' | 'F' => (b'f', 6),
            'e' => (b'e', 6),
            'E' => (b'E', 6),
            _ => return self.bad_verb(verb, Some(value)),
        };
        self.layout.float(&mut self.out, number, verb, precision);
        Ok(())
    }

    fn complex(&mut self, (real, imaginary): (f64, f64), verb: char, value: &Value) -> Result<(), Error> {
        if !matches!(verb, 'v' | 'b' | 'g' | 'G' | 'x' | 'X' | 'f' | 'F' | 'e' | 'E') {
            return self.bad_verb(verb, Some(value));
        }
        self.write(b"(");
        self.float(real, verb, value)?;
        // The second part always has a sign.
        let plus = std::mem::replace(&mut self.layout.plus, true);
        self.float(imaginary, verb, value)?;
        self.layout.plus = plus;
        self.write(b"i)");
        Ok(())
    }

    fn text(&mut self, text: &[u8], verb: char, value: &Value) -> Result<(), Error> {
        let (layout, out) = (&self.layout, &mut self.out);
        match verb {
            'v' if layout.sharp_v => layout.quoted(out, text),
            'v' | 's' => layout.text(out, text),
            'x' | 'X' => layout.hexadecimal(out, text, verb == 'X'),
            'q' => layout.quoted(out, text),
            _ => return self.bad_verb(verb, Some(value)),
        }
        Ok(())
    }

    fn bytes(&mut self, bytes: &[u8], nil: bool, verb: char, name: &str, depth: usize) -> Result<(), Error> {
        let (layout, out) = (&self.layout, &mut self.out);
        match verb {
            's' => layout.text(out, bytes),
            'x' | 'X' => layout.hexadecimal(out, bytes, verb == 'X'),
            'q' => layout.quoted(out, bytes),
            _ => {
                let (open, separator, close) = self.brackets(b"[", b"]");
                if self.layout.sharp_v {
                    self.write(if verb == 'v' { name } else { INNER_BYTES }.as_bytes());
                    if nil {
                        self.write(b"(nil)");
                        return Ok(());
                    }
                }
                self.write(open);
                for (at, byte) in bytes.iter().enumerate() {
                    if at > 0 {
                        self.write(separator);
                    }
                    self.value(&Value::from(u128::from(*byte)), verb, depth + 1)?;
                }
                self.write(close);
            }
        }
        Ok(())
    }

    /// What opens, separates and closes a list: as in Go source with `%#v`, else as given.
    fn brackets<'t>(&self, open: &'t [u8], close: &'t [u8]) -> (&'t [u8], &'t [u8], &'t [u8]) {
        if self.layout.sharp_v { (b"{", b", ", b"}") } else { (open, b" ", close) }
    }

    fn list(&mut self, value: &Value, items: &[Value], verb: char, depth: usize) -> Result<(), Error> {
        self.check_depth(depth)?;
        let (open, separator, close) = self.brackets(b"[", b"]");
        if self.layout.sharp_v && self.go_type(value) {
            return Ok(());
        }
        self.write(open);
        for (at, item) in items.iter().enumerate() {
            if at > 0 {
                self.write(separator);
            }
            self.element(item, verb, depth + 1)?;
        }
        self.write(close);
        Ok(())
    }

    fn map(&mut self, value: &Value, verb: char, depth: usize) -> Result<(), Error> {
        self.check_depth(depth)?;
        let Some(map) = self.scope.map(value) else { return Ok(()) };
        let entered = self.inside.enter(&map)?;
        let (open, separator, close) = self.brackets(b"map[", b"]");
        if self.layout.sharp_v && self.go_type(value) {
            self.inside.leave(entered);
            return Ok(());
        }
        self.write(open);
        for (at, (key, value)) in map.sorted().into_iter().enumerate() {
            if at > 0 {
                self.write(separator);
            }
            self.text(key.as_bytes(), verb, &Value::from(key))?;
            self.write(b":");
            self.element(value, verb, depth + 1)?;
        }
        self.write(close);
        self.inside.leave(entered);
        Ok(())
    }

    /// Begins a list or map in Go's syntax. True when that is all, since it is nil.
    fn go_type(&mut self, value: &Value) -> bool {
        self.write(kind::type_of(self.scope, value).as_bytes());
        let nil = self.scope.is_nil(value);
        if nil {
            self.write(b"(nil)");
        }
        nil
    }

    fn check_depth(&self, depth: usize) -> Result<(), Error> {
        if depth > MAX_DEPTH { Err(self.scope.too_deep()) } else { Ok(()) }
    }

    /// Prints a typed value by its structure, methods having been tried.
    fn typed(&mut self, kind: typed::Type, value: &Value, verb: char, depth: usize) -> Result<(), Error> {
        if let Some(text) = typed::text_bytes(value) {
            return self.text(text, verb, value);
        }
        if let Some(number) = typed::number(value) {
            return self.integer(number.cast_unsigned(), true, verb, value);
        }
        if let Some(items) = typed::items(value) {
            return self.list(value, items, verb, depth);
        }
        if let Some(parts) = typed::complex(value) {
            return self.complex(parts, verb, value);
        }
        if kind.is_pointer() {
            if depth > 0 {
                return self.pointer(value, verb);
            }
            self.write(b"&");
        }
        if self.layout.sharp_v {
            self.write(kind.name().trim_start_matches('*').as_bytes());
        }
        let (open, separator, close) = self.brackets(b"{", b"}");
        let depth = depth + usize::from(kind.is_pointer());
        self.write(open);
        for (at, (name, field)) in typed::struct_fields(kind, value).into_iter().enumerate() {
            if at > 0 {
                self.write(separator);
            }
            if self.layout.plus_v || self.layout.sharp_v {
                self.write(name.as_bytes());
                self.write(b":");
            }
            match field {
                Some(field) => self.element(&field, verb, depth + 1)?,
                None => self.nil_location(verb)?,
            }
        }
        self.write(close);
        Ok(())
    }

    /// Prints the pointer to the location of a time in UTC, which is nil.
    fn nil_location(&mut self, verb: char) -> Result<(), Error> {
        match verb {
            'v' if self.layout.sharp_v => self.write(b"(*time.Location)(nil)"),
            'v' => self.layout.pad(&mut self.out, b"<nil>"),
            'b' | 'o' | 'd' => return self.integer(0, false, verb, &Value::none()),
            _ => {
                self.mistake(verb, b"(*time.Location=");
                self.layout.pad(&mut self.out, b"<nil>");
                self.write(b")");
            }
        }
        Ok(())
    }

    /// Prints the address of a map, list or pointer.
    fn pointer(&mut self, value: &Value, verb: char) -> Result<(), Error> {
        if !matches!(kind::kind_of(value), "map" | "slice" | "ptr") {
            return self.bad_verb(verb, Some(value));
        }
        let address = if self.scope.is_nil(value) { 0 } else { ADDRESS };
        match verb {
            'v' if self.layout.sharp_v => {
                self.write(b"(");
                self.write(kind::type_of(self.scope, value).as_bytes());
                self.write(b")(");
                self.hexadecimal_number(address, true);
                self.write(b")");
            }
            'v' | 'p' => self.hexadecimal_number(address, !self.layout.sharp),
            'b' | 'o' | 'd' | 'x' | 'X' => return self.integer(address, false, verb, value),
            _ => return self.bad_verb(verb, Some(value)),
        }
        Ok(())
    }
}
