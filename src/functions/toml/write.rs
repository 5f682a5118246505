//! Writing TOML: keys in order, those of tables last, two spaces for each level.

use std::cell::Cell;

use tera::{Map, Value, value::ValueKind};

use super::key;
use crate::{
    functions::{Error, dates, limits},
    value::{self, MAX_DEPTH, MapRef, Scope, time, typed},
    yaml::number::go_format_float,
};

/// The TOML text of a value: of a map, or of one value without a key.
pub(super) fn document(scope: &Scope, value: &Value) -> Result<Vec<u8>, Error> {
    if value.is_none() {
        return Err(Error::new("reflect: call of reflect.Value.Type on zero Value"));
    }
    let looked_at = Cell::default();
    let mut writer = Writer { scope, out: Vec::new(), key: Vec::new(), open: Vec::new(), looked_at };
    writer.entry(value)?;
    Ok(writer.out)
}

/// What TOML calls a value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Nil,
    Table,
    Tables,
    Other,
}

/// The fields of a struct: the place of each among all of Go's fields, its name, and its value.
type Fields<'v> = Vec<(usize, &'static str, &'v Value)>;

struct Writer<'s> {
    scope: &'s Scope,
    out: Vec<u8>,
    key: Vec<String>,
    /// The changed maps that the writer is inside of.
    open: Vec<*const Map>,
    /// How many values were looked at to tell what they are. Lists that share others may have more than anybody could wait for.
    looked_at: Cell<usize>,
}

/// The fields of a struct that are exported; none for what is not a struct.
fn fields(value: &Value) -> Option<Fields<'_>> {
    use typed::Type;
    let kind = typed::Type::of(value)?;
    match kind {
        Type::Certificate | Type::KubeVersion | Type::Capabilities | Type::BuildInfo => {}
        Type::Error => return Some(Vec::new()),
        _ => return None,
    }
    let exported = kind.fields().iter().enumerate().filter(|(_, name)| name.starts_with(char::is_uppercase));
    Some(exported.filter_map(|(at, name)| Some((at, *name, typed::field(value, name)?))).collect())
}

impl Writer<'_> {
    fn is_nil(&self, value: &Value) -> bool {
        value.is_none() || self.scope.is_nil(value)
    }

    fn kind(&self, value: &Value, depth: usize) -> Result<Kind, Error> {
        if depth > MAX_DEPTH {
            return Err(value::Error::TooDeep(MAX_DEPTH).into());
        }
        self.looked_at.set(self.looked_at.get() + 1);
        if self.looked_at.get() > 4 * limits::MAX_ITEMS {
            return Err(Error::Limit(format!("there are more than {} items", 4 * limits::MAX_ITEMS)));
        }
        if self.is_nil(value) {
            return Ok(Kind::Nil);
        }
        if fields(value).is_some() {
            return Ok(Kind::Table);
        }
        if let Some(items) = typed::items(value) {
            let mut all = !items.is_empty();
            for item in items {
                match self.kind(item, depth + 1)? {
                    Kind::Nil => return Err(Error::new("toml: cannot encode array with nil element")),
                    kind => all &= kind == Kind::Table,
                }
            }
            return Ok(if all { Kind::Tables } else { Kind::Other });
        }
        let is_map = match typed::Type::of(value) {
            Some(typed::Type::Complex) => return Err(Error::new("unsupported type: complex128")),
            None => value.is_map(),
            Some(kind) => matches!(kind, typed::Type::StringMap | typed::Type::Files),
        };
        Ok(if is_map { Kind::Table } else { Kind::Other })
    }

    fn indent(&mut self) {
        for _ in 1..self.key.len() {
            self.out.extend(b"  ");
        }
    }

    fn line_end(&mut self) {
        if !self.out.is_empty() {
            self.out.push(b'\n');
        }
    }

    /// Writes the value of the present key.
    fn entry(&mut self, value: &Value) -> Result<(), Error> {
        if self.key.len() > MAX_DEPTH {
            return Err(value::Error::TooDeep(MAX_DEPTH).into());
        }
        if self.key.is_empty() && typed::complex(value).is_some() {
            return Err(Error::new("unsupported type for key '': complex128"));
        }
        match self.kind(value, 0)? {
            Kind::Nil if !value.is_array() => Ok(()),
            Kind::Table => {
                if self.key.len() == 1 {
                    self.line_end();
                }
                if !self.key.is_empty() {
                    self.indent();
                    let header = format!("[{}]\n", key::joined(&self.key));
                    self.out.extend(header.as_bytes());
                    limits::check_text(self.scope, self.out.len())?;
                }
                self.table(value, None)
            }
            Kind::Tables => {
                if self.key.is_empty() {
                    return Err(Error::new("toml: top-level values must be Go maps or structs"));
                }
                for item in typed::items(value).unwrap_or_default() {
                    self.line_end();
                    self.indent();
                    let header = format!("[[{}]]\n", key::joined(&self.key));
                    self.out.extend(header.as_bytes());
                    limits::check_text(self.scope, self.out.len())?;
                    self.table(item, None)?;
                }
                Ok(())
            }
            Kind::Nil | Kind::Other => {
                if self.key.is_empty() {
                    return self.element(value, 0);
                }
                self.indent();
                if let Some(part) = self.key.last() {
                    key::write_part(&mut self.out, part);
                }
                self.out.extend(b" = ");
                self.element(value, 0)?;
                self.line_end();
                limits::check_text(self.scope, self.out.len())
            }
        }
    }

    /// Writes the entries of a map or struct, within braces where a depth is given.
    fn table(&mut self, value: &Value, inline: Option<usize>) -> Result<(), Error> {
        if let Some(fields) = fields(value) {
            return self.fields(&fields, inline);
        }
        let Some(map) = self.scope.map(value) else { return Ok(()) };
        let changed = matches!(map, MapRef::Changed(_));
        if changed {
            let address = std::ptr::from_ref::<Map>(&map);
            if self.open.contains(&address) {
                // Go's library would go on until the process dies.
                return Err(value::Error::TooDeep(MAX_DEPTH).into());
            }
            self.open.push(address);
        }
        let (mut direct, mut tables) = (Vec::new(), Vec::new());
        for (key, value) in map.sorted() {
            let is_table = matches!(self.kind(value, 0)?, Kind::Table | Kind::Tables);
            if is_table { &mut tables } else { &mut direct }.push((key, value));
        }
        if inline.is_some() {
            self.out.push(b'{');
        }
        for (group, more) in [(&direct, !tables.is_empty()), (&tables, false)] {
            for (at, (key, value)) in group.iter().enumerate() {
                // Go leaves a comma behind before a nil at the end.
                if self.is_nil(value) {
                    continue;
                }
                self.named(key, value, inline)?;
                if inline.is_some() && (more || at + 1 < group.len()) {
                    self.out.extend(b", ");
                }
            }
        }
        if inline.is_some() {
            self.out.push(b'}');
        }
        if changed {
            self.open.pop();
        }
        Ok(())
    }

    fn fields(&mut self, fields: &Fields<'_>, inline: Option<usize>) -> Result<(), Error> {
        let (mut direct, mut tables) = (Vec::new(), Vec::new());
        for field in fields {
            let is_table = matches!(self.kind(field.2, 0)?, Kind::Table | Kind::Tables);
            if is_table { &mut tables } else { &mut direct }.push(field);
        }
        if inline.is_some() {
            self.out.push(b'{');
        }
        for (at, name, value) in direct.into_iter().chain(tables) {
            if self.is_nil(value) {
                continue;
            }
            self.named(name, value, inline)?;
            // So does Go: the place among all fields decides, those left out included.
            if inline.is_some() && *at != fields.len() - 1 {
                self.out.extend(b", ");
            }
        }
        if inline.is_some() {
            self.out.push(b'}');
        }
        Ok(())
    }

    fn named(&mut self, name: &str, value: &Value, inline: Option<usize>) -> Result<(), Error> {
        if let Some(depth) = inline {
            key::write_part(&mut self.out, name);
            self.out.extend(b" = ");
            return self.element(value, depth + 1);
        }
        self.key.push(name.to_owned());
        self.entry(value)?;
        self.key.pop();
        Ok(())
    }

    /// Writes a value as it stands after `=` or in a list.
    fn element(&mut self, value: &Value, depth: usize) -> Result<(), Error> {
        if depth > MAX_DEPTH {
            return Err(value::Error::TooDeep(MAX_DEPTH).into());
        }
        limits::check_text(self.scope, self.out.len())?;
        if let Some(text) = typed::text_bytes(value) {
            key::write_quoted(&mut self.out, text);
        } else if let Some(items) = typed::items(value) {
            self.out.push(b'[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    self.out.extend(b", ");
                }
                self.element(item, depth + 1)?;
            }
            self.out.push(b']');
        } else if let Some(bytes) = value.as_bytes() {
            let numbers: Vec<_> = bytes.iter().map(u8::to_string).collect();
            self.out.extend(format!("[{}]", numbers.join(", ")).as_bytes());
        } else if value.is_map() {
            return self.map_element(value, depth);
        } else {
            self.out.extend(scalar(value).as_bytes());
        }
        Ok(())
    }

    fn map_element(&mut self, value: &Value, depth: usize) -> Result<(), Error> {
        use typed::Type;
        let number = typed::number(value).unwrap_or_default();
        match Type::of(value) {
            Some(Type::Time) => {
                let text = typed::Time::from_value(value).map(|time| moment(&time)).unwrap_or_default();
                self.out.extend(text.as_bytes());
            }
            Some(Type::Duration) => key::write_quoted(&mut self.out, time::duration_text(number).as_bytes()),
            Some(Type::Month | Type::Weekday) => self.out.extend(number.to_string().as_bytes()),
            Some(Type::Semver) => {
                let text = value::print::to_text(self.scope, value)?;
                key::write_quoted(&mut self.out, text.as_bytes());
            }
            _ => return self.table(value, Some(depth)),
        }
        Ok(())
    }
}

/// A time without the zone, or only the date or the clock, where it was read so.
fn moment(time: &typed::Time) -> String {
    let layout = match time.location.as_str() {
        "datetime-local" => "2006-01-02T15:04:05.999999999",
        "date-local" => "2006-01-02",
        "time-local" => "15:04:05.999999999",
        _ => "2006-01-02T15:04:05.999999999Z07:00",
    };
    if time.location.ends_with("-local") {
        return dates::format(&dates::in_utc(time), layout);
    }
    dates::format(time, layout)
}

fn scalar(value: &Value) -> String {
    match value.kind() {
        ValueKind::Bool => value.as_bool().unwrap_or_default().to_string(),
        ValueKind::F64 => float(value.as_f64().unwrap_or_default()),
        _ => value.as_i128().unwrap_or_default().to_string(),
    }
}

fn float(number: f64) -> String {
    let sign = if number.is_sign_negative() { "-" } else { "" };
    if number.is_nan() {
        return format!("{sign}nan");
    }
    if number.is_infinite() {
        return format!("{sign}inf");
    }
    let text = go_format_float(number);
    if text.contains(['e', '.']) { text } else { text + ".0" }
}
