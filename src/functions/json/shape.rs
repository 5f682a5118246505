//! What Go's types become in JSON.

use std::borrow::Cow;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use tera::{Map, Value, value::Key};

use crate::{
    functions::{Error, dates, semver},
    value::{
        self, MAX_DEPTH, Scope,
        time::Time,
        typed::{self, Type},
    },
    yaml::number::go_format_float,
};

/// The error of encoding/json for a number that JSON does not have.
pub(crate) fn unsupported_number(number: f64) -> Error {
    value::Error::UnsupportedNumber(go_format_float(number)).into()
}

/// What encoding/json makes of a value of a Go type that is neither a map nor a string: none for those, and for plain
/// maps.
pub(crate) fn plain(value: &Value) -> Result<Option<Value>, Error> {
    let Some(kind) = Type::of(value) else { return Ok(None) };
    let text = |name| typed::field(value, name).cloned().unwrap_or_else(|| Value::from(""));
    Ok(Some(match kind {
        Type::Time => {
            let time = Time::from_value(value).ok_or_else(|| Error::new("Time.MarshalJSON: no time"))?;
            Value::from(dates::rfc3339_nano(&time).map_err(|error| {
                Error::new(format!(
                    "json: error calling MarshalJSON for type time.Time: Time.MarshalJSON: {error}"
                ))
            })?)
        }
        Type::Duration | Type::Month | Type::Weekday => Value::from(typed::number(value).unwrap_or_default()),
        Type::Semver => Value::from(semver::from_value(value).map(|version| version.to_string())),
        Type::VersionSet => Value::from(typed::items(value).unwrap_or_default()),
        Type::Error => Value::from(Map::default()),
        Type::BuildInfo => {
            let names = [
                ("Version", "version"),
                ("GitCommit", "git_commit"),
                ("GitTreeState", "git_tree_state"),
                ("GoVersion", "go_version"),
            ];
            let full = names.into_iter().filter(|(field, _)| text(field).as_str() != Some(""));
            let mut map: Map = full.map(|(field, name)| (Key::Str(name), text(field))).collect();
            map.insert(Key::Str("kube_client_version"), text("KubeClientVersion"));
            Value::from(map)
        }
        Type::Certificate | Type::Capabilities | Type::KubeVersion => {
            let exported = kind.fields().iter().filter(|name| name.starts_with(char::is_uppercase));
            Value::from(exported.map(|name| (Key::Str(name), text(name))).collect::<Map>())
        }
        _ => return Ok(None),
    }))
}

#[expect(dead_code, reason = "for YAML and TOML, which are to come")]
/// The value as it would be read back from its JSON: all changes in it, and no type that JSON does not have. What is
/// that already is not copied.
pub(crate) fn shape<'v>(scope: &Scope, value: &'v Value) -> Result<Cow<'v, Value>, Error> {
    let mut left = scope.text_limit() / size_of::<Value>();
    Ok(match shaped(scope, value, 0, &mut left)? {
        Some(value) => Cow::Owned(value),
        None => Cow::Borrowed(value),
    })
}

/// None where the value can stay as it is.
fn shaped(scope: &Scope, value: &Value, depth: usize, left: &mut usize) -> Result<Option<Value>, Error> {
    *left = left.checked_sub(1).ok_or(value::Error::TooLong(scope.text_limit()))?;
    if let Some(number) = value.as_f64().filter(|number| !number.is_finite()) {
        return Err(unsupported_number(number));
    }
    if let Some(bytes) = value.as_bytes() {
        return Ok(Some(Value::from(STANDARD.encode(bytes))));
    }
    if depth > MAX_DEPTH {
        return Err(value::Error::Cycle("map[string]interface {}".to_owned()).into());
    }
    if let Some(items) = value.as_array() {
        let mut new: Option<Vec<Value>> = None;
        for (at, item) in items.iter().enumerate() {
            if let Some(item) = shaped(scope, item, depth + 1, left)? {
                new.get_or_insert_with(|| items.to_vec())[at] = item;
            }
        }
        return Ok(new.map(Value::from));
    }
    let Some(original) = value.as_map() else { return Ok(None) };
    if let Some(bytes) = typed::text_bytes(value) {
        return Ok(Some(Value::from(crate::functions::call::decode(bytes).into_owned())));
    }
    if let Some(plain) = plain(value)? {
        return Ok(Some(shaped(scope, &plain, depth + 1, left)?.unwrap_or(plain)));
    }
    let Some(map) = scope.map(value) else { return Ok(None) };
    let changed = !std::ptr::eq(original, &raw const *map) || Type::of(value).is_some();
    let mut new: Option<Map> = changed.then(|| map.clone());
    for (key, value) in map.iter() {
        if typed::is_marker(key) {
            if let Some(new) = &mut new {
                new.remove(key);
            }
        } else if let Some(value) = shaped(scope, value, depth + 1, left)? {
            new.get_or_insert_with(|| original.clone()).insert(key.clone(), value);
        }
    }
    Ok(new.map(Value::from))
}
