//! Whether what several renders share was changed by one of them.

use std::cell::{Cell, RefCell};

use tera::Value;

use super::{
    Scope,
    identity::{ByAddress, address},
};

/// Maps that are watched.
#[derive(Default)]
pub(super) struct Watch {
    /// They and all below. They are kept, so that their addresses are not used again.
    roots: RefCell<Vec<Value>>,
    /// Their addresses, once something was changed.
    maps: RefCell<Option<ByAddress<()>>>,
    touched: Cell<bool>,
}

impl Watch {
    /// Notes that the map at an address is being changed.
    pub(super) fn notice(&self, changed: usize) {
        if self.touched.get() || self.roots.borrow().is_empty() {
            return;
        }
        let mut maps = self.maps.borrow_mut();
        let maps = maps.get_or_insert_with(|| {
            let mut maps = ByAddress::default();
            for root in self.roots.borrow().iter() {
                collect(root, &mut maps);
            }
            maps
        });
        if maps.contains_key(&changed) {
            self.touched.set(true);
        }
    }
}

/// Adds the addresses of all maps in a value. Values of charts nest no deeper than their reader allows.
fn collect(value: &Value, into: &mut ByAddress<()>) {
    if let Some(map) = value.as_map() {
        if into.insert(address(map), ()).is_none() {
            map.values().for_each(|value| collect(value, into));
        }
        return;
    }
    for item in value.as_array().unwrap_or_default() {
        collect(item, into);
    }
}

impl Scope {
    /// Watches maps and all that is in them: [`Scope::touched`] then tells whether this render has changed any of them.
    pub fn watch(&self, values: Vec<Value>) {
        self.watch.roots.replace(values);
    }

    /// Watches one more if anything is watched at all.
    pub fn watch_as_well(&self, value: &Value) {
        let mut roots = self.watch.roots.borrow_mut();
        if roots.is_empty() {
            return;
        }
        roots.push(value.clone());
        if let Some(maps) = &mut *self.watch.maps.borrow_mut() {
            collect(value, maps);
        }
    }

    /// Whether anything that is watched was changed.
    #[must_use]
    pub fn touched(&self) -> bool {
        self.watch.touched.get()
    }

    /// Takes what is watched for changed.
    pub fn touch(&self) {
        self.watch.touched.set(true);
    }

    /// Makes a change that does not count.
    pub fn untouched<T>(&self, change: impl FnOnce() -> T) -> T {
        let touched = self.watch.touched.replace(true);
        let result = change();
        self.watch.touched.set(touched);
        result
    }

    /// About how many bytes the render cannot free.
    #[must_use]
    pub fn kept(&self) -> usize {
        self.kept.get()
    }

    /// Counts what another render with the same limits has kept. False if that is too much, and then it is not counted.
    pub fn keep_as_well(&self, bytes: usize) -> bool {
        self.keep(bytes).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use tera::{Map, value::Key};

    use super::*;

    #[test]
    fn only_what_is_watched_is_noticed() {
        let inner = Value::from(Map::new());
        let entry = |name: &'static str, value: &Value| (Key::Str(name), value.clone());
        let shared =
            Value::from([entry("list", &Value::from(vec![inner.clone()]))].into_iter().collect::<Map>());
        let own = Value::from([entry("shared", &shared)].into_iter().collect::<Map>());
        let scope = Scope::new();
        scope.watch(vec![shared]);
        assert!(scope.set(&own, "a", Value::from(true)).is_ok() && !scope.touched());
        assert!(scope.untouched(|| scope.set(&inner, "a", Value::from(true))).is_ok() && !scope.touched());
        assert!(scope.set(&inner, "a", Value::from(true)).is_ok() && scope.touched());
    }
}
