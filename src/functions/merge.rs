//! The merges, as dario.cat/mergo makes them of maps of anything.
//!
//! Both change the first map in place, and the maps within it. A map that the first one lacks is taken over as it is, so
//! that a later merge changes it where it came from too.

use std::borrow::Cow;

use tera::{Map, Value, value::Key};

use super::{Call, Error, Outcome, limits::MAX_ITEMS};
use crate::value::{self, MAX_DEPTH, Scope, kind, truth, typed};

pub(super) fn merge(call: &Call<'_>) -> Outcome {
    merged(call, false)
}

pub(super) fn merge_overwrite(call: &Call<'_>) -> Outcome {
    merged(call, true)
}

fn merged(call: &Call<'_>, overwrite: bool) -> Outcome {
    let first = call.arg(0);
    let into = if first.as_map().is_some() && !call.scope.is_nil(first) {
        first.clone()
    } else {
        Value::from(Map::default())
    };
    let mut merge = Merge { scope: call.scope, overwrite, entries: 0 };
    for from in call.rest(1) {
        merge.maps(&into, from, 0)?;
    }
    // It was converted to the type of the parameter.
    Ok(call.scope.retyped(&into, None))
}

struct Merge<'s> {
    scope: &'s Scope,
    overwrite: bool,
    /// How many entries were looked at. Maps that share others may have more than anybody could wait for.
    entries: usize,
}

impl Merge<'_> {
    fn maps(&mut self, into: &Value, from: &Value, depth: usize) -> Result<(), Error> {
        let (scope, overwrite) = (self.scope, self.overwrite);
        if depth > MAX_DEPTH {
            return Err(value::Error::TooDeep(MAX_DEPTH).into());
        }
        let Some(entries) = scope.map(from) else { return Ok(()) };
        self.entries += entries.len();
        if self.entries > MAX_ITEMS {
            return Err(Error::Limit(format!("more than {MAX_ITEMS} entries would be merged")));
        }
        for (key, new) in entries.iter() {
            let Some(name) = key.as_str() else { continue };
            if new.is_none() || new.is_undefined() {
                if overwrite {
                    scope.set(into, name, new.clone())?;
                }
                continue;
            }
            let mut old = scope.get(into, name).map(Cow::into_owned);
            let both_maps = is_map(new) && old.as_ref().is_some_and(is_map);
            if let Some(old) = old.as_mut().filter(|_| both_maps) {
                if typed::Type::of(old).is_none() {
                    self.maps(old, new, depth + 1)?;
                } else if let Some(merged) = merge_typed(scope, old, new, overwrite)? {
                    scope.set(into, name, merged.clone())?;
                    *old = merged;
                }
            }
            // Asked only now, since the merge may have filled an empty map.
            // Of numbers, mergo does not know the complex ones.
            let full = |old: &Value| !truth::is_empty(scope, old) || typed::complex(old).is_some();
            let keeps = old.as_ref().is_some_and(full);
            if !keeps || overwrite && !both_maps {
                scope.set(into, name, new.clone())?;
            }
        }
        Ok(())
    }
}

/// What becomes of a map of Go's strings, if it changes. It takes strings and nothing else.
fn merge_typed(scope: &Scope, old: &Value, new: &Value, overwrite: bool) -> Result<Option<Value>, Error> {
    let (Some(entries), Some(olds)) = (scope.map(new), old.as_map()) else { return Ok(None) };
    let strings = |value| typed::Type::of(value) == Some(typed::Type::StringMap);
    let mut merged: Option<Map> = None;
    for (key, new_entry) in entries.iter() {
        let Some(name) = key.as_str() else { continue };
        let keeps = value::lookup(olds, name).is_some_and(|old| !truth::is_empty(scope, old));
        if keeps && !overwrite {
            continue;
        }
        if !strings(old) || !strings(new) {
            return Err(foreign(scope, old));
        }
        merged.get_or_insert_with(|| olds.clone()).insert(Key::from(name.to_owned()), new_entry.clone());
    }
    Ok(merged.map(Value::from))
}

fn is_map(value: &Value) -> bool {
    kind::kind_of(value) == "map"
}

/// The text of reflection's panic when an entry of another type is put into a typed map.
fn foreign(scope: &Scope, map: &Value) -> Error {
    let element = kind::type_of(scope, map).trim_start_matches("map[string]");
    Error::new(format!(
        "reflect.Value.SetMapIndex: value of type interface {{}} is not assignable to type {element}"
    ))
}
