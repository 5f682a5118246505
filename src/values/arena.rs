//! Maps that can be shared and changed in place, as Go's can.
//!
//! Helm merges values in place in Go maps, and some of its maps are reachable by two ways at once: a table of a
//! chart's globals, two levels deep, is the very map of its subcharts, so that what one of them adds all of them see.
//! Charts are written against the outcome. An [`Arena`] gives every such map a number; whatever is not looked into
//! stays the immutable value that it was, so that taking a copy of a chart's defaults costs nothing.

use std::collections::{BTreeMap, HashSet};

use tera::value::Key;
use tera::{Map, Value};

use crate::value::typed;

/// The number of a map or a list.
pub(super) type Id = usize;

/// A value in an arena: a map, a list that may hold maps, or anything else.
#[derive(Clone, Debug)]
pub(super) enum Node {
    Map(Id),
    /// Nothing here changes a list, but it matters later whether its maps are those of another one.
    List(Id),
    Leaf(Value),
}

impl Node {
    pub(super) fn is_nil(&self) -> bool {
        matches!(self, Self::Leaf(value) if value.is_none())
    }

    pub(super) fn is_table(&self) -> bool {
        matches!(self, Self::Map(_))
    }

    pub(super) fn table(&self) -> Option<Id> {
        match self {
            Self::Map(id) => Some(*id),
            Self::List(_) | Self::Leaf(_) => None,
        }
    }
}

/// Whether a value is a map of Go's, and not a string that is not UTF-8.
fn is_table(value: &Value) -> bool {
    value.is_map() && typed::Type::of(value).is_none()
}

enum Slot {
    Closed(Value),
    Open(BTreeMap<Key<'static>, Node>),
}

/// Maps by number.
#[derive(Default)]
pub(super) struct Arena(Vec<Slot>);

impl Arena {
    /// An empty map.
    pub(super) fn empty(&mut self) -> Id {
        self.0.push(Slot::Open(BTreeMap::new()));
        self.0.len() - 1
    }

    /// A deep copy of a map; what is no map counts as an empty one.
    pub(super) fn copy(&mut self, map: &Value) -> Id {
        if map.is_map() { self.close(map) } else { self.empty() }
    }

    fn close(&mut self, value: &Value) -> Id {
        self.0.push(Slot::Closed(value.clone()));
        self.0.len() - 1
    }

    /// A deep copy of a map or list of the arena.
    pub(super) fn deep_copy(&mut self, id: Id) -> Id {
        let slot = match &self.0[id] {
            Slot::Closed(value) => Slot::Closed(value.clone()),
            Slot::Open(map) => {
                let mut map = map.clone();
                for node in map.values_mut() {
                    match *node {
                        Node::Map(inner) => *node = Node::Map(self.deep_copy(inner)),
                        Node::List(inner) => *node = Node::List(self.deep_copy(inner)),
                        Node::Leaf(_) => {}
                    }
                }
                Slot::Open(map)
            }
        };
        self.0.push(slot);
        self.0.len() - 1
    }

    /// A map with the same entries, whose inner maps are the same ones.
    pub(super) fn shallow_copy(&mut self, id: Id) -> Id {
        let map = self.open(id).clone();
        self.0.push(Slot::Open(map));
        self.0.len() - 1
    }

    fn open(&mut self, id: Id) -> &mut BTreeMap<Key<'static>, Node> {
        if let Slot::Closed(value) = &mut self.0[id] {
            let value = std::mem::replace(value, Value::none());
            let mut map = BTreeMap::new();
            for (key, inner) in value.as_map().into_iter().flatten() {
                let holds_more = |list: &[Value]| list.iter().any(|v| v.is_map() || v.is_array());
                let node = if is_table(inner) {
                    Node::Map(self.close(inner))
                } else if inner.as_array().is_some_and(holds_more) {
                    Node::List(self.close(inner))
                } else {
                    Node::Leaf(inner.clone())
                };
                map.insert(key.clone(), node);
            }
            self.0[id] = Slot::Open(map);
        }
        match &mut self.0[id] {
            Slot::Open(map) => map,
            Slot::Closed(_) => unreachable!("the slot was opened above"),
        }
    }

    pub(super) fn is_empty(&mut self, id: Id) -> bool {
        self.open(id).is_empty()
    }

    /// The entries of a map, by sorted keys.
    pub(super) fn entries(&mut self, id: Id) -> Vec<(Key<'static>, Node)> {
        self.open(id).iter().map(|(key, node)| (key.clone(), node.clone())).collect()
    }

    pub(super) fn get(&mut self, id: Id, key: &Key<'static>) -> Option<Node> {
        self.open(id).get(key).cloned()
    }

    pub(super) fn set(&mut self, id: Id, key: Key<'static>, node: Node) {
        self.open(id).insert(key, node);
    }

    pub(super) fn remove(&mut self, id: Id, key: &Key<'static>) {
        self.open(id).remove(key);
    }

    /// Removes null entries, those of inner maps too.
    pub(super) fn remove_nils(&mut self, id: Id) {
        fn has_nil(map: &Map) -> bool {
            map.values().any(|v| v.is_none() || (is_table(v) && v.as_map().is_some_and(has_nil)))
        }
        if let Slot::Closed(value) = &self.0[id]
            && !value.as_map().is_some_and(has_nil)
        {
            return;
        }
        let map = self.open(id);
        map.retain(|_, node| !node.is_nil());
        let inner: Vec<Id> = map.values().filter_map(Node::table).collect();
        for id in inner {
            self.remove_nils(id);
        }
    }

    /// The map as a value. One map of the arena is one map of the value, wherever it is met, and two are two, even
    /// where they began as copies of the same: templates that change the one must not change the other.
    pub(super) fn export(&self, id: Id) -> Value {
        Export { arena: self, done: vec![None; self.0.len()], seen: HashSet::new() }.slot(id)
    }

    /// A node of the arena as a value.
    pub(super) fn export_node(&self, node: &Node) -> Value {
        match node {
            Node::Map(id) | Node::List(id) => self.export(*id),
            Node::Leaf(value) => value.clone(),
        }
    }
}

struct Export<'a> {
    arena: &'a Arena,
    done: Vec<Option<Value>>,
    /// Where the maps are that are part of the value already.
    seen: HashSet<*const Map>,
}

impl Export<'_> {
    fn slot(&mut self, id: Id) -> Value {
        if let Some(done) = &self.done[id] {
            return done.clone();
        }
        let value = match &self.arena.0[id] {
            Slot::Closed(value) => {
                if self.sees_again(value) {
                    let fresh = rebuilt(value);
                    self.sees_again(&fresh);
                    fresh
                } else {
                    value.clone()
                }
            }
            Slot::Open(map) => {
                Value::from(map.iter().map(|(key, node)| (key.clone(), self.node(node))).collect::<Map>())
            }
        };
        self.done[id] = Some(value.clone());
        value
    }

    fn node(&mut self, node: &Node) -> Value {
        match node {
            Node::Map(id) | Node::List(id) => self.slot(*id),
            Node::Leaf(value) => value.clone(),
        }
    }

    /// Notes all maps in a value; says whether one was noted before.
    fn sees_again(&mut self, value: &Value) -> bool {
        if let Some(map) = value.as_map().filter(|_| is_table(value)) {
            let mut again = !self.seen.insert(std::ptr::from_ref(map));
            for inner in map.values() {
                again |= self.sees_again(inner);
            }
            again
        } else if let Some(items) = value.as_array() {
            let mut again = false;
            for inner in items {
                again |= self.sees_again(inner);
            }
            again
        } else {
            false
        }
    }
}

/// The same value with maps of its own.
fn rebuilt(value: &Value) -> Value {
    if let Some(map) = value.as_map().filter(|_| is_table(value)) {
        Value::from(map.iter().map(|(key, inner)| (key.clone(), rebuilt(inner))).collect::<Map>())
    } else if let Some(items) = value.as_array() {
        Value::from(items.iter().map(rebuilt).collect::<Vec<_>>())
    } else {
        value.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(json: &str) -> Value {
        Value::from_serializable(&serde_json::from_str::<serde_json::Value>(json).unwrap())
    }

    fn address(value: &Value, path: &str) -> *const Map {
        std::ptr::from_ref(value.get_from_path(path).unwrap().as_map().unwrap())
    }

    #[test]
    fn copies_are_told_apart_and_aliases_are_not() {
        let source = value(r#"{"x": {"y": {"z": 1}}, "l": [{"m": 1}]}"#);
        let mut arena = Arena::default();
        let (top, a, b) = (arena.empty(), arena.copy(&source), arena.copy(&source));
        for (name, id) in [("a", a), ("b", b), ("again", a)] {
            arena.set(top, name.into(), Node::Map(id));
        }
        let out = arena.export(top);
        assert_eq!(address(&out, "a.x.y"), address(&out, "again.x.y"));
        assert_ne!(address(&out, "a.x.y"), address(&out, "b.x.y"));
        assert_ne!(address(&out, "a.l.0"), address(&out, "b.l.0"));
    }

    #[test]
    fn changes_reach_every_way_to_a_map_but_no_copy() {
        let source = value(r#"{"x": {"y": 1}}"#);
        let mut arena = Arena::default();
        let a = arena.copy(&source);
        let shallow = arena.shallow_copy(a);
        let deep = arena.deep_copy(a);
        let inner = arena.get(a, &"x".into()).unwrap().table().unwrap();
        arena.set(inner, "new".into(), Node::Leaf(Value::from(2)));
        let exported = |id| serde_json::to_string(&arena.export(id)).unwrap();
        assert!(exported(shallow).contains("new"));
        assert_eq!(exported(deep), r#"{"x":{"y":1}}"#);
        assert_eq!(serde_json::to_string(&source).unwrap(), r#"{"x":{"y":1}}"#);
    }
}
