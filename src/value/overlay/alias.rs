//! One map under two types, as Go's conversions make it: `.Values` and `.Values.AsMap` hold the same entries.

use std::{borrow::Cow, rc::Rc};

use tera::{Map, Value};

use super::{Changed, Scope, State, identity::address, size};

impl Scope {
    /// A map under the name of another type; without a name it is a `map[string]interface {}`. It stays the same map: a
    /// change of the one shows in the other.
    #[must_use]
    pub fn retyped(&self, value: &Value, name: Option<&'static str>) -> Value {
        if self.named_type(value) == name || self.is_nil(value) {
            return value.clone();
        }
        let origin = self.origin(value);
        let Some(map) = origin.as_map() else { return value.clone() };
        if self.named_type(&origin) == name {
            return origin.into_owned();
        }
        if let Some(known) = self.known_alias(map, name) {
            return known;
        }
        // Past the limit, the type is not worth keeping two maps alive.
        if self.keep(2 * size_of::<State>() + 2 * size(&origin)).is_err() {
            return value.clone();
        }
        let alias = Value::from(map.clone());
        if let Some(map) = alias.as_map() {
            self.changed.borrow_mut().insert(address(map), State::Alias(origin.clone().into_owned()));
        }
        if let Some(name) = name {
            self.name_type(&alias, name);
        }
        self.aliases.borrow_mut().entry(address(map)).or_default().push(alias.clone());
        alias
    }

    fn known_alias(&self, map: &Map, name: Option<&'static str>) -> Option<Value> {
        let aliases = self.aliases.borrow();
        aliases.get(&address(map))?.iter().find(|alias| self.named_type(alias) == name).cloned()
    }

    /// The map that holds the entries of a value.
    pub(super) fn origin<'v>(&self, value: &'v Value) -> Cow<'v, Value> {
        let state = self.changed.borrow();
        match value.as_map().and_then(|map| state.get(&address(map))) {
            Some(State::Alias(origin)) => Cow::Owned(origin.clone()),
            _ => Cow::Borrowed(value),
        }
    }

    /// The content of a map that was changed, under whatever type.
    pub(super) fn changed_content(&self, map: &Map) -> Option<Rc<Map>> {
        let states = self.changed.borrow();
        let mut state = states.get(&address(map))?;
        if let State::Alias(origin) = state {
            state = states.get(&address(origin.as_map()?))?;
        }
        match state {
            State::Changed(Changed { content, .. }) => Some(Rc::clone(content)),
            State::Alias(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_under_two_types_is_one_map() {
        let scope = Scope::new();
        let values = Value::from(Map::new());
        scope.name_type(&values, "common.Values");
        let plain = scope.retyped(&values, None);
        assert_eq!((scope.named_type(&values), scope.named_type(&plain)), (Some("common.Values"), None));
        scope.set(&plain, "a", Value::from(1_i64)).unwrap();
        scope.set(&values, "b", Value::from(2_i64)).unwrap();
        for map in [&values, &plain] {
            assert!(scope.has(map, "a") && scope.has(map, "b"));
        }
        let same = |one: &Value, other: &Value| std::ptr::eq(one.as_map().unwrap(), other.as_map().unwrap());
        assert!(same(&scope.retyped(&values, None), &plain));
        assert!(same(&scope.retyped(&plain, Some("common.Values")), &values));
        let third = scope.retyped(&plain, Some("third"));
        scope.unset(&third, "a").unwrap();
        assert!(!scope.has(&values, "a") && scope.has(&third, "b"));
    }
}
