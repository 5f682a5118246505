//! Dictionaries. `set`, `unset` and the merges change the map that they are given, which all its aliases see.

use std::collections::HashSet;

use tera::{Map, Value, value::Key};

use super::{Call, Error, Family, Function, Native, Outcome, Param, lists, merge, text};
use crate::value::{MapRef, kind, typed};

pub(super) const FUNCTIONS: &[Function] = &[
    function("dict", &[], dict, "A dictionary of keys and values that take turns.").variadic(Param::Any),
    function("get", MAP_KEY, get, "The value under the key, or an empty text."),
    function(
        "set",
        &[Param::Map, Param::String, Param::Any],
        set,
        "Puts the value under the key, and answers the dictionary.",
    ),
    function("unset", MAP_KEY, unset, "Removes the key, and answers the dictionary."),
    function("hasKey", MAP_KEY, has_key, "Whether the dictionary has the key."),
    function("pluck", &[Param::String], pluck, "The values that the dictionaries have under the key.")
        .variadic(Param::Map),
    function("dig", &[], dig, "The value down a path of keys, or the default before the dictionary.")
        .variadic(Param::Any),
    function(
        "keys",
        &[],
        keys,
        "The keys of the dictionaries. Go has them in any order; here they are sorted.",
    )
    .variadic(Param::Map),
    function("values", &[Param::Map], values, "The values, in the order of their keys."),
    function("pick", &[Param::Map], pick, "A dictionary of these keys only.").variadic(Param::String),
    function("omit", &[Param::Map], omit, "A dictionary without these keys.").variadic(Param::String),
    function(
        "merge",
        &[Param::Map],
        merge::merge,
        "Fills what the first dictionary lacks from the further ones.",
    )
    .variadic(Param::Map),
    function("mustMerge", &[Param::Map], merge::merge, "The same as `merge`.").variadic(Param::Map),
    function(
        "mergeOverwrite",
        &[Param::Map],
        merge::merge_overwrite,
        "Overwrites the first dictionary with the further ones.",
    )
    .variadic(Param::Map),
    function("mustMergeOverwrite", &[Param::Map], merge::merge_overwrite, "The same as `mergeOverwrite`.")
        .variadic(Param::Map),
    function("deepCopy", &[Param::Any], deep_copy, "A copy that shares nothing with the original."),
    function("mustDeepCopy", &[Param::Any], deep_copy, "The same as `deepCopy`."),
];

const MAP_KEY: &[Param] = &[Param::Map, Param::String];

const fn function(
    name: &'static str,
    params: &'static [Param],
    native: Native,
    summary: &'static str,
) -> Function {
    Function::new(name, Family::Dicts, params, native, summary)
}

fn made(call: &Call<'_>, map: Map) -> Outcome {
    Ok(call.scope.admit(Value::from(map))?)
}

fn key(text: &str) -> Key<'static> {
    Key::from(text.to_owned())
}

/// The content of a map argument; an empty one for nil.
fn content<'a>(call: &Call<'a>, at: usize) -> Option<MapRef<'a>> {
    call.scope.map(call.arg(at))
}

fn dict(call: &Call<'_>) -> Outcome {
    let mut map = Map::with_capacity_and_hasher(call.args.len().div_ceil(2), Default::default());
    for pair in call.args.chunks(2) {
        let name = text::strval(call.scope, &pair[0])?;
        let value = pair.get(1).cloned().unwrap_or_else(|| Value::from(""));
        map.insert(key(&super::call::decode(&name)), value);
    }
    made(call, map)
}

fn get(call: &Call<'_>) -> Outcome {
    Ok(match call.scope.get(call.arg(0), &call.text(1)) {
        Some(value) => value.into_owned(),
        None => Value::from(""),
    })
}

fn set(call: &Call<'_>) -> Outcome {
    let map = call.arg(0);
    if map.is_none() || map.is_undefined() || call.scope.is_nil(map) {
        return Err(Error::new("assignment to entry in nil map"));
    }
    call.scope.set(map, &call.text(1), call.arg(2).clone())?;
    // It was converted to the type of the parameter.
    Ok(call.scope.retyped(map, None))
}

fn unset(call: &Call<'_>) -> Outcome {
    let map = call.arg(0);
    if map.is_none() || map.is_undefined() {
        // Go's nil map prints as an empty one.
        return Ok(Value::from(tera::Map::new()));
    }
    call.scope.unset(map, &call.text(1))?;
    Ok(call.scope.retyped(map, None))
}

fn has_key(call: &Call<'_>) -> Outcome {
    Ok(Value::from(call.scope.has(call.arg(0), &call.text(1))))
}

fn pluck(call: &Call<'_>) -> Outcome {
    let name = call.text(0);
    let found: Vec<Value> =
        call.rest(1).iter().filter_map(|map| Some(call.scope.get(map, &name)?.into_owned())).collect();
    Ok(Value::from(found))
}

/// The one type of which `dig` takes maps: that of `.Values` is another.
const MAP: &str = "map[string]interface {}";

fn dig(call: &Call<'_>) -> Outcome {
    let [path @ .., default, map] = call.args else {
        return Err(Error::new("dig needs at least three arguments"));
    };
    if path.is_empty() {
        return Err(Error::new("dig needs at least three arguments"));
    }
    expect_map(call, map)?;
    for name in path {
        if typed::text_bytes(name).is_none() {
            return Err(conversion(call, name, "string"));
        }
    }
    let mut at = map.clone();
    for (step, name) in path.iter().enumerate() {
        if step > 0 {
            expect_map(call, &at)?;
        }
        let name = super::call::decode(typed::text_bytes(name).unwrap_or_default());
        let next = call.scope.get(&at, &name).map(std::borrow::Cow::into_owned);
        match next {
            Some(next) => at = next,
            None => return Ok(default.clone()),
        }
    }
    Ok(at)
}

fn expect_map(call: &Call<'_>, value: &Value) -> Result<(), Error> {
    if kind::type_of(call.scope, value) == MAP {
        return Ok(());
    }
    Err(conversion(call, value, MAP))
}

/// The text of Go's panic on a failed type assertion.
fn conversion(call: &Call<'_>, value: &Value, wanted: &str) -> Error {
    let got = match kind::type_of(call.scope, value) {
        "<nil>" => "nil",
        name => name,
    };
    Error::new(format!("interface conversion: interface {{}} is {got}, not {wanted}"))
}

fn keys(call: &Call<'_>) -> Outcome {
    let mut all = Vec::new();
    for map in call.args {
        if let Some(map) = call.scope.map(map) {
            all.extend(map.sorted().into_iter().map(|(name, _)| Value::from(name)));
        }
    }
    Ok(call.list_of(all, "[]string"))
}

fn values(call: &Call<'_>) -> Outcome {
    let Some(map) = content(call, 0) else { return Ok(Value::from(Vec::<Value>::new())) };
    let values: Vec<Value> = map.sorted().into_iter().map(|(_, value)| value.clone()).collect();
    Ok(Value::from(values))
}

fn pick(call: &Call<'_>) -> Outcome {
    let mut picked = Map::default();
    for at in 1..call.args.len() {
        let name = call.text(at);
        if let Some(value) = call.scope.get(call.arg(0), &name) {
            picked.insert(key(&name), value.into_owned());
        }
    }
    Ok(Value::from(picked))
}

fn omit(call: &Call<'_>) -> Outcome {
    let names: Vec<_> = (1..call.args.len()).map(|at| call.text(at)).collect();
    let names: HashSet<&str> = names.iter().map(|name| &**name).collect();
    let mut kept = Map::default();
    if let Some(map) = content(call, 0) {
        kept.extend(
            map.iter()
                .filter(|(name, _)| name.as_str().is_some_and(|name| !names.contains(name)))
                .map(|(name, value)| (name.clone(), value.clone())),
        );
    }
    Ok(Value::from(kept))
}

fn deep_copy(call: &Call<'_>) -> Outcome {
    let value = call.arg(0);
    if value.is_none() || value.is_undefined() {
        return Err(lists::zero_value());
    }
    Ok(call.scope.deep_copy(value)?)
}
