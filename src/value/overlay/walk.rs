//! Walks through whole values: how deep they nest, copies of them, and themselves with all changes made.

use std::{collections::hash_map, slice};

use tera::{Map, Value, value::Key};

use super::{
    MapRef, Scope,
    identity::{ByAddress, container_address},
};
use crate::value::{Error, Inside, MAX_DEPTH, typed};

enum Children<'v> {
    Map(hash_map::Values<'v, Key<'static>, Value>),
    List(slice::Iter<'v, Value>),
}

impl<'v> Children<'v> {
    fn of(value: &'v Value) -> Self {
        match value.as_map() {
            Some(map) => Self::Map(map.values()),
            None => Self::List(value.as_array().unwrap_or_default().iter()),
        }
    }

    fn next(&mut self) -> Option<&'v Value> {
        match self {
            Self::Map(values) => values.next(),
            Self::List(items) => items.next(),
        }
    }
}

/// Whether a value nests deeper than [`MAX_DEPTH`]. There is no recursion, and what is shared is looked at once.
pub(super) fn is_too_deep(value: &Value) -> bool {
    struct Open<'v> {
        address: usize,
        children: Children<'v>,
        height: usize,
    }
    let mut heights: ByAddress<usize> = ByAddress::default();
    let open = |value| {
        container_address(value).map(|address| Open { address, children: Children::of(value), height: 1 })
    };
    let mut path: Vec<Open<'_>> = open(value).into_iter().collect();
    while let Some(last) = path.last_mut() {
        if let Some(child) = last.children.next() {
            let Some(inner) = open(child) else { continue };
            match heights.get(&inner.address) {
                Some(known) => last.height = last.height.max(known + 1),
                None => path.push(inner),
            }
            if path.len() > MAX_DEPTH {
                return true;
            }
            continue;
        }
        let (address, height) = (last.address, last.height);
        if path.len() - 1 + height > MAX_DEPTH {
            return true;
        }
        heights.insert(address, height);
        path.pop();
        if let Some(outer) = path.last_mut() {
            outer.height = outer.height.max(height + 1);
        }
    }
    false
}

/// The zero value of the type of a string or number.
fn zero(value: &Value) -> Value {
    if value.is_string() { Value::from("") } else { Value::from(0_u64) }
}

pub(super) struct Copy<'s> {
    scope: &'s Scope,
    /// How many more values the copy may have.
    budget: usize,
    inside: Inside,
}

impl<'s> Copy<'s> {
    pub fn new(scope: &'s Scope) -> Self {
        Self { scope, budget: scope.text_limit() / size_of::<Value>(), inside: Inside::default() }
    }

    pub fn value(&mut self, value: &Value, depth: usize) -> Result<Value, Error> {
        self.budget = self.budget.checked_sub(1).ok_or(Error::TooLong(self.scope.text_limit()))?;
        if depth > MAX_DEPTH {
            return Err(self.scope.too_deep());
        }
        if self.scope.is_nil(value) {
            // It takes no entries, so that nobody can tell it from a copy.
            return Ok(value.clone());
        }
        if let Some(items) = value.as_array() {
            let name = self.scope.named_type(value);
            // One of a type keeps it, and needs an address for that even if it is empty.
            let mut copied = Vec::with_capacity(items.len().max(usize::from(name.is_some())));
            for item in items {
                copied.push(self.value(item, depth + 1)?);
            }
            let copied = Value::from(copied);
            if let Some(name) = name {
                self.scope.name_type(&copied, name);
            }
            return Ok(copied);
        }
        let Some(map) = self.scope.map(value) else { return Ok(value.clone()) };
        if typed::unread_number(value).is_some() {
            // No template can change its bytes.
            return Ok(value.clone());
        }
        let entered = self.inside.enter(&map)?;
        // The library that sprig copies with does not see the unexported fields of structs, but knows times.
        let of_struct = typed::Type::of_map(&map).is_some_and(|kind| !kind.fields().is_empty());
        let hidden = |key: &Key<'_>| {
            of_struct && key.as_str().is_some_and(|name| name.starts_with(char::is_lowercase))
        };
        let mut copied = Map::with_capacity(map.len());
        for (key, value) in map.iter() {
            let copy = if hidden(key) { zero(value) } else { self.value(value, depth + 1)? };
            copied.insert(key.clone(), copy);
        }
        self.inside.leave(entered);
        let copied = Value::from(copied);
        if let Some(name) = self.scope.named_type(value) {
            self.scope.name_type(&copied, name);
        }
        Ok(copied)
    }
}

pub(super) struct Materialise<'s> {
    scope: &'s Scope,
    /// What each container became; none where it can stay as it is.
    made: ByAddress<Option<Value>>,
    inside: Inside,
}

impl<'s> Materialise<'s> {
    pub fn new(scope: &'s Scope) -> Self {
        Self { scope, made: ByAddress::default(), inside: Inside::default() }
    }

    /// The value with all changes, or none where there are none below it.
    pub fn value(&mut self, value: &Value, depth: usize) -> Result<Option<Value>, Error> {
        let Some(address) = container_address(value) else { return Ok(None) };
        if let Some(made) = self.made.get(&address) {
            return Ok(made.clone());
        }
        if depth > MAX_DEPTH {
            return Err(self.scope.too_deep());
        }
        let made = if let Some(items) = value.as_array() {
            let mut new: Option<Vec<Value>> = None;
            for (at, item) in items.iter().enumerate() {
                if let Some(item) = self.value(item, depth + 1)? {
                    new.get_or_insert_with(|| items.to_vec())[at] = item;
                }
            }
            new.map(Value::from)
        } else if let Some(map) = self.scope.map(value) {
            let entered = self.inside.enter(&map)?;
            let mut new: Option<Map> = matches!(map, MapRef::Changed(_)).then(|| Map::clone(&map));
            for (key, value) in map.iter() {
                if let Some(value) = self.value(value, depth + 1)? {
                    new.get_or_insert_with(|| Map::clone(&map)).insert(key.clone(), value);
                }
            }
            self.inside.leave(entered);
            new.map(Value::from)
        } else {
            None
        };
        self.made.insert(address, made.clone());
        Ok(made)
    }
}
