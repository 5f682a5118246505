//! Methods of `common.Values`, Helm's type of a dot, of `.Values` and of `.Template`: `.Values.Table "a.b"`.

use std::borrow::Cow;

use tera::Value;

use crate::{
    functions::{Call, find},
    value::{quote::quote, typed},
};

use super::{
    call::{check_count, method_error},
    run::{Fault, Run},
    unit::wrong_type,
};

/// Helm's name of the type.
pub(super) const NAME: &str = "common.Values";

const METHODS: [&str; 5] = ["AsMap", "Encode", "PathValue", "Table", "YAML"];

/// Whether some value of the type has a method of this name.
pub(super) fn has(name: &str) -> bool {
    METHODS.contains(&name)
}

/// Whether this value has such a method.
pub(super) fn is_method(run: &Run, receiver: &Value, name: &str) -> bool {
    has(name) && run.scope.named_type(receiver) == Some(NAME)
}

/// Calls a method that [`is_method`] knows.
pub(super) fn call(run: &Run, receiver: &Value, name: &str, args: &[Value]) -> Result<Value, Fault> {
    check_count(name, usize::from(matches!(name, "Encode" | "PathValue" | "Table")), args.len())?;
    let Some(path) = args.first() else {
        return if name == "AsMap" { Ok(run.scope.retyped(receiver, None)) } else { yaml(run, receiver) };
    };
    if name == "Encode" {
        return Err(wrong_type(&run.scope, 1, "io.Writer", path));
    }
    let path = typed::text_bytes(path).ok_or_else(|| wrong_type(&run.scope, 1, "string", path))?;
    match name {
        "Table" => {
            let table = table(run, receiver, path).map_err(|text| method_error(name, text))?;
            Ok(run.scope.retyped(&table, Some(NAME)))
        }
        _ => value_at(run, receiver, path).map_err(|text| method_error(name, text)),
    }
}

/// The values as YAML, with the line end at its end.
fn yaml(run: &Run, receiver: &Value) -> Result<Value, Fault> {
    let printed = find("mustToYaml")
        .map(|function| (function.native)(&Call { args: std::slice::from_ref(receiver), scope: &run.scope }));
    match printed {
        Some(Ok(text)) => Ok(Value::from(text.as_str().unwrap_or_default().to_owned() + "\n")),
        Some(Err(error)) => Err(method_error("YAML", error.to_string())),
        None => Ok(Value::from("")),
    }
}

/// The table that a path with dots leads to.
fn table(run: &Run, values: &Value, path: &[u8]) -> Result<Value, String> {
    let mut at = values.clone();
    for part in path.split(|byte| *byte == b'.') {
        at = entry(run, &at, part)
            .filter(is_table)
            .ok_or_else(|| format!("{} is not a table", quote(part)))?;
    }
    Ok(at)
}

/// An entry of a table. None is under a key that is not UTF-8.
fn entry(run: &Run, table: &Value, key: &[u8]) -> Option<Value> {
    run.scope.get(table, std::str::from_utf8(key).ok()?).map(Cow::into_owned)
}

fn is_table(value: &Value) -> bool {
    value.is_map() && typed::Type::of(value).is_none()
}

/// The value that a path leads to, which is no table.
fn value_at(run: &Run, values: &Value, path: &[u8]) -> Result<Value, String> {
    if path.is_empty() {
        return Err("YAML path cannot be empty".to_owned());
    }
    let (parents, key) = match memchr::memrchr(b'.', path) {
        Some(dot) => (Some(&path[..dot]), &path[dot + 1..]),
        None => (None, path),
    };
    let table = parents.map_or_else(|| Ok(values.clone()), |parents| table(run, values, parents));
    let found = table.ok().and_then(|table| entry(run, &table, key));
    // To Helm, its own type is no table here.
    let plain = |value: &Value| !is_table(value) || run.scope.named_type(value) == Some(NAME);
    found.filter(plain).ok_or_else(|| format!("{} is not a value", quote(key)))
}
