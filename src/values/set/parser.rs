//! The parser of `--set` strings.

use tera::value::Key;
use tera::{Map, Value};

use super::json::json_prefix;
use super::{MAX_INDEX, MAX_ITEMS, MAX_LEVEL, MAX_LISTS, Style};
use crate::value::kind::kind_of;
use crate::value::quote::quote;
use crate::value::typed;

pub(super) struct Parser<'t, 'r> {
    rest: &'t str,
    style: Style<'r>,
    /// How many items lists have got.
    items: usize,
}

/// Why a part of the text was not read to its end.
enum Stop {
    /// The text is at its end. To the whole, that is no error.
    End,
    Wrong(String),
}

impl Stop {
    fn wrong(text: impl Into<String>) -> Self {
        Self::Wrong(text.into())
    }
}

/// A value that has not the shape that a path needs.
fn unlike(value: &Value, wanted: &str) -> Stop {
    let found = if value.is_none() { "nil" } else { go_type(value) };
    Stop::Wrong(format!("unable to parse key: interface conversion: interface {{}} is {found}, not {wanted}"))
}

fn go_type(value: &Value) -> &'static str {
    match kind_of(value) {
        "map" => "map[string]interface {}",
        "slice" => "[]interface {}",
        kind => kind,
    }
}

fn shown(name: &str) -> String {
    quote(name.as_bytes())
}

/// Text in the `%q` of a slice of runes: `['a' '\\'']`.
fn runes(text: &str) -> String {
    let quoted = text.chars().map(|c| match c {
        '"' => "'\"'".to_owned(),
        '\'' => r"'\''".to_owned(),
        c => {
            let quoted = shown(c.encode_utf8(&mut [0; 4]));
            format!("'{}'", &quoted[1..quoted.len() - 1])
        }
    });
    format!("[{}]", quoted.collect::<Vec<_>>().join(" "))
}

impl<'t, 'r> Parser<'t, 'r> {
    pub(super) fn new(text: &'t str, style: Style<'r>) -> Self {
        Self { rest: text, style, items: 0 }
    }

    pub(super) fn parse(mut self, values: &mut Map) -> Result<(), String> {
        loop {
            match self.key(values, 0) {
                Ok(()) => {}
                Err(Stop::End) => return Ok(()),
                Err(Stop::Wrong(text)) => return Err(text),
            }
        }
    }

    fn literal(&self) -> bool {
        matches!(self.style, Style::Literal)
    }

    /// Reads up to one of `stops`, which is taken too and given back; none at the end of the text.
    fn until(&mut self, stops: &[char]) -> (String, Option<char>) {
        let mut read = String::new();
        let mut letters = self.rest.chars();
        let mut found = None;
        while let Some(c) = letters.next() {
            if stops.contains(&c) {
                found = Some(c);
                break;
            }
            if c == '\\' && !self.literal() {
                read.extend(letters.next());
            } else {
                read.push(c);
            }
        }
        self.rest = letters.as_str();
        (read, found)
    }

    fn key(&mut self, values: &mut Map, level: usize) -> Result<(), Stop> {
        let stops: &[char] = if self.literal() { &['=', '[', '.'] } else { &['=', '[', ',', '.'] };
        let (name, stop) = self.until(stops);
        match stop {
            None if name.is_empty() => Err(Stop::End),
            None => Err(Stop::Wrong(format!("key {} has no value", shown(&name)))),
            Some('[') => {
                let index = self.index()?;
                let key = Key::from(name.clone());
                let list = match values.get(&key) {
                    None => Vec::new(),
                    Some(list) => list.as_array().ok_or_else(|| unlike(list, "[]interface {}"))?.to_vec(),
                };
                let mut list = list;
                let done = self.item(&mut list, index, level, 0);
                set(values, name, Value::from(list));
                done
            }
            Some('=') => {
                let (value, done) = self.value()?;
                set(values, name, value);
                done
            }
            Some('.') => {
                if level + 1 > MAX_LEVEL {
                    return Err(Stop::Wrong(format!(
                        "value name nested level is greater than maximum supported nested level of {MAX_LEVEL}"
                    )));
                }
                let key = Key::from(name.clone());
                let existing = values.remove(&key);
                if let Some(existing) = &existing
                    && !existing.is_map()
                {
                    return Err(unlike(existing, "map[string]interface {}"));
                }
                let existed = existing.is_some();
                let mut inner = existing.and_then(Value::into_map).unwrap_or_default();
                let done = self.key(&mut inner, level + 1);
                if done.is_ok() && inner.is_empty() {
                    return Err(Stop::Wrong(format!("key map {} has no value", shown(&name))));
                }
                if existed {
                    values.insert(key, Value::from(inner));
                } else if !inner.is_empty() {
                    set(values, name, Value::from(inner));
                }
                done
            }
            Some(_) => Err(Stop::Wrong(format!("key {} has no value (cannot end with ,)", shown(&name)))),
        }
    }

    /// Reads the index of a list, up to and with the `]`.
    fn index(&mut self) -> Result<i64, Stop> {
        let (text, stop) = self.until(&[']']);
        if stop.is_none() {
            return Err(Stop::End);
        }
        text.parse().map_err(|e: std::num::ParseIntError| {
            let why = match e.kind() {
                std::num::IntErrorKind::PosOverflow | std::num::IntErrorKind::NegOverflow => {
                    "value out of range"
                }
                _ => "invalid syntax",
            };
            Stop::Wrong(format!("error parsing index: strconv.Atoi: parsing {}: {why}", shown(&text)))
        })
    }

    fn item(&mut self, list: &mut Vec<Value>, index: i64, level: usize, depth: usize) -> Result<(), Stop> {
        let Ok(at) = usize::try_from(index) else {
            return Err(Stop::Wrong(format!("negative {index} index not allowed")));
        };
        let (extra, stop) = self.until(&['[', '.', '=']);
        if !extra.is_empty() {
            return Err(Stop::Wrong(format!("unexpected data at end of array index: {}", runes(&extra))));
        }
        match stop {
            None => Err(Stop::End),
            Some('=') => {
                let (value, done) = self.value()?;
                // A list takes the value where a map would let the end of the text show.
                match done {
                    Err(Stop::Wrong(text)) => Err(Stop::Wrong(text)),
                    _ => self.set_index(list, index, value),
                }
            }
            Some('[') => {
                if depth > MAX_LISTS {
                    return Err(Stop::Wrong(format!(
                        "lists are nested deeper than the maximum of {MAX_LISTS}"
                    )));
                }
                let next = self.index()?;
                let mut inner = match list.get(at) {
                    None => Vec::new(),
                    Some(inner) if inner.is_none() => Vec::new(),
                    Some(inner) => inner.as_array().ok_or_else(|| unlike(inner, "[]interface {}"))?.to_vec(),
                };
                self.item(&mut inner, next, level, depth + 1)?;
                self.set_index(list, index, Value::from(inner))
            }
            Some(_) => {
                let mut inner = Map::default();
                let slot = list.get_mut(at);
                let existed = slot.is_some();
                if let Some(slot) = slot {
                    inner = std::mem::replace(slot, Value::none()).into_map().unwrap_or_default();
                }
                let done = self.key(&mut inner, level);
                if existed {
                    list[at] = Value::from(inner);
                    done
                } else {
                    done?;
                    self.set_index(list, index, Value::from(inner))
                }
            }
        }
    }

    /// Reads what follows a `=`: the value, and whether the text went on after it.
    fn value(&mut self) -> Result<(Value, Result<(), Stop>), Stop> {
        match self.style {
            Style::Literal => {
                let value = Value::from(std::mem::take(&mut self.rest));
                return Ok((value, Ok(())));
            }
            Style::Json => return self.json().map(|value| (value, Ok(()))),
            _ => {}
        }
        if self.rest.is_empty() {
            return Ok((Value::from(""), Err(Stop::End)));
        }
        if let Some(rest) = self.rest.strip_prefix('{') {
            self.rest = rest;
            return self.list().map(|value| (value, Ok(())));
        }
        let (text, _) = self.until(&[',']);
        Ok((self.convert(&text)?, Ok(())))
    }

    fn list(&mut self) -> Result<Value, Stop> {
        let mut list = Vec::new();
        loop {
            let (text, stop) = self.until(&[',', '}']);
            let Some(stop) = stop else { return Err(Stop::wrong("list must terminate with '}'")) };
            if stop == '}' {
                self.rest = self.rest.strip_prefix(',').unwrap_or(self.rest);
            }
            list.push(self.convert(&text)?);
            if stop == '}' {
                return Ok(Value::from(list));
            }
        }
    }

    fn convert(&mut self, text: &str) -> Result<Value, Stop> {
        match &mut self.style {
            Style::Typed => Ok(typed(text)),
            Style::File(read) => read(text).map(typed::text).map_err(Stop::Wrong),
            _ => Ok(Value::from(text)),
        }
    }

    fn json(&mut self) -> Result<Value, Stop> {
        if self.nothing() {
            return Ok(Value::none());
        }
        let (value, length) = json_prefix(self.rest).ok_or_else(|| Stop::wrong("invalid JSON"))?;
        self.rest = &self.rest[length..];
        self.nothing();
        Ok(value)
    }

    /// Skips white space and a comma; whether there was a comma or the end of the text.
    fn nothing(&mut self) -> bool {
        self.rest = self.rest.trim_start();
        let after = self.rest.strip_prefix(',');
        self.rest = after.unwrap_or(self.rest);
        after.is_some() || self.rest.is_empty()
    }

    fn set_index(&mut self, list: &mut Vec<Value>, index: i64, value: Value) -> Result<(), Stop> {
        let at = match usize::try_from(index) {
            Ok(at) if index <= MAX_INDEX => at,
            _ => {
                return Err(Stop::Wrong(format!(
                    "index of {index} is greater than maximum supported index of {MAX_INDEX}"
                )));
            }
        };
        if list.len() <= at {
            self.items += at + 1 - list.len();
            if self.items > MAX_ITEMS {
                return Err(Stop::Wrong(format!(
                    "lists have more than the maximum of {MAX_ITEMS} items in all"
                )));
            }
            list.resize(at + 1, Value::none());
        }
        list[at] = value;
        Ok(())
    }
}

/// A value under a key; an empty key sets nothing.
fn set(values: &mut Map, name: String, value: Value) {
    if !name.is_empty() {
        values.insert(Key::from(name), value);
    }
}

/// What a text is to `--set`.
fn typed(text: &str) -> Value {
    let folded = |c: char| match c {
        'ſ' => 's',
        c => c.to_ascii_lowercase(),
    };
    let is = |word: &str| text.chars().map(folded).eq(word.chars());
    if is("true") {
        return Value::from(true);
    }
    if is("false") {
        return Value::from(false);
    }
    if is("null") {
        return Value::none();
    }
    if (text == "0" || !text.starts_with('0'))
        && let Ok(number) = text.parse::<i64>()
    {
        return Value::from(i128::from(number));
    }
    Value::from(text)
}
