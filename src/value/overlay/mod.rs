//! The mutation overlay: maps that templates change, for as long as a render lasts.
//!
//! A Go map is a reference: `set $d "k" "v"` is seen through every alias of `$d`. Tera's maps do not change, and a clone
//! of a value shares its map, so the address of the map is what the aliases have in common. The overlay keeps, by that
//! address, the present content of each map that was changed. A template always holds the original value; whoever looks
//! into a map asks the [`Scope`] for its content.

mod alias;
mod identity;
mod walk;
mod watch;

use std::{
    borrow::Cow,
    cell::{Cell, RefCell},
    collections::hash_map::Entry,
    hash::{BuildHasher, RandomState},
    ops::Deref,
    rc::Rc,
};

use tera::{Map, Value, value::Key};

pub use identity::empty_list;
use identity::{ByAddress, address, container_address, empty_bytes, known_address};

use super::{Error, MAX_DEPTH, kind, typed};

struct Changed {
    /// Keeps the map alive, so that its address is not used again within the render.
    _original: Value,
    content: Rc<Map>,
    /// How many of the bytes that are counted as kept are those of entries that were set.
    added: usize,
}

/// What is known of a map by its address.
enum State {
    Changed(Changed),
    /// It has its entries from another map, whose type is another.
    Alias(Value),
}

struct Named {
    _original: Value,
    name: Option<&'static str>,
    nil: bool,
}

/// The state of one render that functions share: what templates have changed, and the limits.
///
/// A scope belongs to one render on one thread; renders on other threads have their own.
pub struct Scope {
    changed_any: Cell<bool>,
    changed: RefCell<ByAddress<State>>,
    /// The aliases of maps.
    aliases: RefCell<ByAddress<Vec<Value>>>,
    named: RefCell<ByAddress<Named>>,
    text_limit: Cell<usize>,
    lenient: Cell<bool>,
    resolves_names: Cell<bool>,
    /// About how many bytes the render cannot free, since they are kept for what is known of them.
    kept: Cell<usize>,
    /// State of the generator that decides which containers [`Scope::admit`] measures.
    dice: Cell<u64>,
    watch: watch::Watch,
}

impl Default for Scope {
    fn default() -> Self {
        Self::new()
    }
}

/// The content of a map at the time it was asked for. Later changes do not show, as in Go's `range`.
pub enum MapRef<'v> {
    /// The map as it was made.
    Original(&'v Map),
    /// The content after a change.
    Changed(Rc<Map>),
}

impl Deref for MapRef<'_> {
    type Target = Map;
    fn deref(&self) -> &Map {
        match self {
            Self::Original(map) => map,
            Self::Changed(map) => map,
        }
    }
}

impl MapRef<'_> {
    /// The entries in the order of Go: by the bytes of their keys, without the marker of typed maps.
    #[must_use]
    pub fn sorted(&self) -> Vec<(&str, &Value)> {
        let mut entries: Vec<_> =
            self.iter().filter_map(|(key, value)| Some((key.as_str()?, value))).collect();
        entries.sort_unstable_by_key(|(key, _)| *key);
        entries
    }

    /// The number of entries, without the marker of typed maps.
    #[must_use]
    pub fn count(&self) -> usize {
        self.len() - usize::from(typed::Type::of_map(self).is_some())
    }
}

/// The entry of a map under a string, without regard to changes.
///
/// Few keys are sooner compared than hashed.
#[must_use]
#[inline]
pub fn lookup<'m>(map: &'m Map, key: &'m str) -> Option<&'m Value> {
    if map.len() <= FEW_KEYS {
        return map.iter().find(|(found, _)| found.as_str() == Some(key)).map(|(_, value)| value);
    }
    map.get(&Key::Str(key))
}

/// Up to how many keys a map is searched by comparing them, as measured.
pub(super) const FEW_KEYS: usize = 6;

impl Scope {
    /// The longest text, in bytes, that printing and encoding make unless told otherwise.
    pub const TEXT_LIMIT: usize = 64 << 20;

    /// About how many bytes of changed maps and their new entries a render may keep.
    pub const KEPT_LIMIT: usize = 256 << 20;

    /// A scope in which nothing was changed.
    #[must_use]
    pub fn new() -> Self {
        Self {
            changed_any: Cell::new(false),
            changed: RefCell::default(),
            aliases: RefCell::default(),
            named: RefCell::default(),
            text_limit: Cell::new(Self::TEXT_LIMIT),
            lenient: Cell::new(false),
            resolves_names: Cell::new(false),
            kept: Cell::new(0),
            dice: Cell::new(RandomState::new().hash_one(0) | 1),
            watch: watch::Watch::default(),
        }
    }

    /// The longest text, in bytes, that printing and encoding may make.
    #[must_use]
    pub fn text_limit(&self) -> usize {
        self.text_limit.get()
    }

    /// Sets the longest text, in bytes, that printing and encoding may make.
    pub fn set_text_limit(&self, bytes: usize) {
        self.text_limit.set(bytes);
    }

    /// Whether what a chart refuses by itself, with `fail` and `required`, is let pass, as when it is linted.
    #[must_use]
    pub fn is_lenient(&self) -> bool {
        self.lenient.get()
    }

    /// Lets pass what a chart refuses by itself.
    pub fn set_lenient(&self, lenient: bool) {
        self.lenient.set(lenient);
    }

    /// Whether the names of hosts may be looked up.
    #[must_use]
    pub fn resolves_names(&self) -> bool {
        self.resolves_names.get()
    }

    /// Lets the names of hosts be looked up.
    pub fn set_resolves_names(&self, resolves: bool) {
        self.resolves_names.set(resolves);
    }

    /// Whether any map was changed. While this is false, maps can be read as they are.
    #[must_use]
    #[inline]
    pub fn changed_any(&self) -> bool {
        self.changed_any.get()
    }

    /// The content of a map that was changed.
    #[inline]
    fn content(&self, map: &Map) -> Option<Rc<Map>> {
        if !self.changed_any.get() {
            return None;
        }
        self.changed_content(map)
    }

    /// The present content of a map; none for what is not a map.
    #[must_use]
    #[inline]
    pub fn map<'v>(&self, value: &'v Value) -> Option<MapRef<'v>> {
        let map = value.as_map()?;
        if let Some(content) = self.content(map) {
            return Some(MapRef::Changed(content));
        }
        Some(MapRef::Original(map))
    }

    /// An entry of a map; none where there is no such entry, and for what is not a map.
    #[must_use]
    #[inline]
    pub fn get<'v>(&self, value: &'v Value, key: &'v str) -> Option<Cow<'v, Value>> {
        let map = value.as_map()?;
        if let Some(content) = self.content(map) {
            return lookup(&content, key).cloned().map(Cow::Owned);
        }
        lookup(map, key).map(Cow::Borrowed)
    }

    /// Whether a map has an entry; false for what is not a map.
    #[must_use]
    pub fn has(&self, value: &Value, key: &str) -> bool {
        self.map(value).is_some_and(|map| lookup(&map, key).is_some())
    }

    /// A field as a template's `.name` reads it (text/template's evalField, with `missingkey=zero`): the entry of a map,
    /// nil (or the zero value of the map's type) where there is none, the exported field of a struct.
    ///
    /// Methods are the caller's: look at [`typed::Type::methods`] first.
    ///
    /// # Errors
    /// A field of nil, of a value without fields, or an unexported one, in the words of text/template.
    pub fn field<'v>(&self, value: &'v Value, name: &'v str) -> Result<Cow<'v, Value>, Error> {
        let no_field = || Error::NoField(name.to_owned(), kind::type_in_error(self, value).to_owned());
        if value.is_none() || value.is_undefined() {
            return Err(Error::NilPointer("interface {}".to_owned(), name.to_owned()));
        }
        if value.as_map().is_none() {
            return Err(no_field());
        }
        let found = self.get(value, name);
        if let Some(found) = found {
            return match typed::Type::of(value) {
                None | Some(typed::Type::StringMap | typed::Type::Files) => Ok(found),
                Some(kind) if !kind.fields().contains(&name) => Err(no_field()),
                Some(kind) if name.starts_with(char::is_lowercase) => {
                    Err(Error::Unexported(name.to_owned(), kind.name().to_owned()))
                }
                Some(_) => Ok(found),
            };
        }
        match typed::Type::of(value) {
            None => Ok(Cow::Owned(Value::none())),
            Some(typed::Type::StringMap) => Ok(Cow::Owned(Value::from(""))),
            Some(typed::Type::Files) => {
                let nil = empty_bytes();
                self.make_nil(&nil);
                Ok(Cow::Owned(nil))
            }
            Some(_) => Err(no_field()),
        }
    }

    /// Changes a map, seen through all its aliases.
    fn change<T>(&self, value: &Value, how: impl FnOnce(&mut Changed) -> T) -> Result<T, Error> {
        let value = &*self.origin(value);
        let map = match value.as_map() {
            Some(map) if typed::Type::of_map(map).is_none() => map,
            _ => {
                return Err(Error::WrongType(
                    "map[string]interface {}".to_owned(),
                    kind::type_of(self, value).to_owned(),
                ));
            }
        };
        self.changed_any.set(true);
        self.watch.notice(address(map));
        let mut changed = self.changed.borrow_mut();
        let entry = match changed.entry(address(map)) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => {
                // Twice: the original and its copy.
                self.keep(2 * size_of::<State>() + 2 * size(value))?;
                let content = Rc::new(map.clone());
                entry.insert(State::Changed(Changed { _original: value.clone(), content, added: 0 }))
            }
        };
        match entry {
            State::Changed(changed) => Ok(how(changed)),
            State::Alias(_) => unreachable!("it is no origin of another"),
        }
    }

    /// Counts bytes that the render cannot free.
    fn keep(&self, bytes: usize) -> Result<(), Error> {
        let kept = self.kept.get().saturating_add(bytes);
        if kept > Self::KEPT_LIMIT {
            return Err(Error::TooMuch(Self::KEPT_LIMIT));
        }
        self.kept.set(kept);
        Ok(())
    }

    /// Takes what no longer is an entry of a map from what is counted. What the map had from its beginning was not.
    fn free(&self, changed: &mut Changed, entry: Option<&Value>) {
        let freed = entry.map_or(0, size).min(changed.added);
        changed.added -= freed;
        self.kept.set(self.kept.get().saturating_sub(freed));
    }

    /// Sets an entry of a map, as sprig's `set`.
    ///
    /// # Errors
    /// When `map` is not a `map[string]interface{}`, or nil, or when too much was changed.
    pub fn set(&self, map: &Value, key: &str, value: Value) -> Result<(), Error> {
        if map.as_map().is_some_and(|map| map.is_empty()) && self.is_nil(map) {
            return Err(Error::NilMap);
        }
        let added = key.len() + size(&value);
        self.keep(added)?;
        let key = Key::from(key.to_owned());
        // The value that is replaced is dropped after the borrow has ended.
        let replaced = self.change(map, |changed| {
            changed.added += added;
            let replaced = Rc::make_mut(&mut changed.content).insert(key, value);
            self.free(changed, replaced.as_ref());
            replaced
        })?;
        drop(replaced);
        Ok(())
    }

    /// Removes an entry of a map, as sprig's `unset`.
    ///
    /// # Errors
    /// When `map` is not a `map[string]interface{}`, or when too much was changed.
    pub fn unset(&self, map: &Value, key: &str) -> Result<(), Error> {
        if !self.has(map, key) && map.as_map().is_some() {
            return Ok(());
        }
        let key = Key::from(key.to_owned());
        let removed = self.change(map, |changed| {
            let removed = Rc::make_mut(&mut changed.content).remove(&key);
            self.free(changed, removed.as_ref());
            removed
        })?;
        drop(removed);
        Ok(())
    }

    /// Gives a map or list a name of a Go type other than `map[string]interface {}` and `[]interface {}`, which
    /// `typeOf` and errors then tell. Everything else ignores it. Of lists without items, only those that
    /// [`empty_list`] made can have a name.
    pub fn name_type(&self, value: &Value, name: &'static str) {
        self.know(value, |named| named.name = Some(name));
    }

    /// The name that [`Scope::name_type`] gave.
    #[must_use]
    pub fn named_type(&self, value: &Value) -> Option<&'static str> {
        let named = self.named.borrow();
        if named.is_empty() {
            return None;
        }
        named.get(&container_address(value)?)?.name
    }

    /// Makes an empty map or list nil: Go writes a nil map and a nil slice as `null`, and takes them for empty
    /// otherwise. Of lists, only those that [`empty_list`] made can be nil.
    pub fn make_nil(&self, value: &Value) {
        self.know(value, |named| named.nil = true);
    }

    /// Whether the value is a map, a list or bytes that [`Scope::make_nil`] made nil. (Go's `nil` itself is none.)
    #[must_use]
    pub fn is_nil(&self, value: &Value) -> bool {
        let named = self.named.borrow();
        !named.is_empty()
            && known_address(value).and_then(|address| named.get(&address)).is_some_and(|named| named.nil)
    }

    fn know(&self, value: &Value, what: impl FnOnce(&mut Named)) {
        let Some(address) = known_address(value) else { return };
        let mut named = self.named.borrow_mut();
        // Past the limit, what would be known of the value is not worth keeping it alive.
        if let Entry::Vacant(entry) = named.entry(address)
            && self.keep(size_of::<Named>() + size(value)).is_ok()
        {
            entry.insert(Named { _original: value.clone(), name: None, nil: false });
        }
        if let Some(named) = named.get_mut(&address) {
            what(named);
        }
    }

    /// The value with all changes in it, for whoever reads values without a scope. Where nothing below was changed, the
    /// result shares everything with the original.
    ///
    /// # Errors
    /// When a map contains itself, or maps nest deeper than [`MAX_DEPTH`].
    pub fn materialise(&self, value: &Value) -> Result<Value, Error> {
        if !self.changed_any.get() {
            return Ok(value.clone());
        }
        Ok(walk::Materialise::new(self).value(value, 0)?.unwrap_or_else(|| value.clone()))
    }

    /// A copy that shares no map with the original, as sprig's `deepCopy`.
    ///
    /// # Errors
    /// When a map contains itself, maps nest deeper than [`MAX_DEPTH`], or the copy grows out of bounds.
    pub fn deep_copy(&self, value: &Value) -> Result<Value, Error> {
        walk::Copy::new(self).value(value, 0)
    }

    /// The error for a value that is too deep: a changed map is most likely within itself.
    pub(super) fn too_deep(&self) -> Error {
        if self.changed_any.get() { Error::Cycle } else { Error::TooDeep(MAX_DEPTH) }
    }

    /// Guards against values that nest without end, which would end the process when they are dropped. Functions that
    /// build a container out of others (`list`, `dict`, `append`, `set`…) pass it through here.
    ///
    /// Only one in sixteen, taken at random, is measured: no chain of thousands escapes that, and it costs nothing.
    ///
    /// # Errors
    /// When the value nests deeper than [`MAX_DEPTH`].
    pub fn admit(&self, value: Value) -> Result<Value, Error> {
        let mut dice = self.dice.get();
        dice ^= dice << 13;
        dice ^= dice >> 7;
        dice ^= dice << 17;
        self.dice.set(dice);
        if dice >> 60 == 0 && walk::is_too_deep(&value) {
            return Err(Error::TooDeep(MAX_DEPTH));
        }
        Ok(value)
    }
}

/// About how many bytes a value takes. What is in lists is counted one level deep, what is in maps not at all: both are
/// shared with others as often as not.
fn size(value: &Value) -> usize {
    let text = |value: &Value| value.as_str().map_or(0, str::len) + value.as_bytes().map_or(0, <[u8]>::len);
    let below = match (value.as_array(), value.as_map()) {
        (Some(items), _) => items.iter().map(|item| size_of::<Value>() + text(item)).sum(),
        (_, Some(map)) => map.len() * size_of::<(Key<'_>, Value)>(),
        _ => text(value),
    };
    size_of::<Value>() + below
}

#[cfg(test)]
mod tests {
    #[test]
    fn empty_lists_and_maps_can_be_nil_and_have_names() {
        let scope = Scope::new();
        let (nil, named, plain) = (empty_list(), empty_list(), Value::from(Vec::<Value>::new()));
        scope.make_nil(&nil);
        scope.name_type(&named, "[]string");
        scope.name_type(&plain, "[]string");
        assert!(scope.is_nil(&nil));
        assert_eq!(scope.named_type(&named), Some("[]string"));
        assert!(!scope.is_nil(&named) && !scope.is_nil(&plain) && !scope.is_nil(&empty_list()));
        assert_eq!(scope.named_type(&plain), None);
        let map = Value::from(Map::default());
        scope.make_nil(&map);
        assert!(scope.is_nil(&map) && !scope.is_nil(&Value::from(Map::default())));
    }

    use super::*;

    fn map(entries: &[(&'static str, Value)]) -> Value {
        Value::from(entries.iter().map(|(key, value)| (Key::from(*key), value.clone())).collect::<Map>())
    }

    #[test]
    fn a_change_shows_through_every_alias() {
        let scope = Scope::new();
        let inner = map(&[("a", Value::from(1i64))]);
        let outer = map(&[("inner", inner.clone())]);
        let list = Value::from(vec![inner.clone()]);
        scope.set(&inner, "b", Value::from("new")).unwrap();
        let through_map = scope.get(&outer, "inner").unwrap();
        assert_eq!(scope.get(&through_map, "b").unwrap().as_str(), Some("new"));
        assert_eq!(scope.get(&list.as_array().unwrap()[0], "b").unwrap().as_str(), Some("new"));
        let made = scope.materialise(&list).unwrap();
        assert_eq!(made.as_array().unwrap()[0].as_map().unwrap().len(), 2);
        scope.unset(&inner, "a").unwrap();
        assert!(!scope.has(&inner, "a"));
        // The next render begins with what there was.
        let scope = Scope::new();
        assert!(scope.has(&inner, "a") && !scope.has(&inner, "b"));
    }

    #[test]
    fn empty_maps_are_not_one() {
        let scope = Scope::new();
        let (one, two) = (Value::from(Map::new()), Value::from(Map::new()));
        scope.set(&one, "a", Value::from(true)).unwrap();
        assert!(scope.has(&one, "a") && !scope.has(&two, "a"));
    }

    #[test]
    fn what_was_not_changed_is_shared() {
        let scope = Scope::new();
        let still = map(&[("x", Value::from(1i64))]);
        let moved = map(&[]);
        let top = map(&[("still", still.clone()), ("moved", moved.clone())]);
        scope.set(&moved, "y", Value::from(2i64)).unwrap();
        let made = scope.materialise(&top).unwrap();
        let kept = made.as_map().unwrap().get(&Key::Str("still")).unwrap();
        assert!(std::ptr::eq(kept.as_map().unwrap(), still.as_map().unwrap()));
    }

    #[test]
    fn a_map_within_itself_is_an_error() {
        let scope = Scope::new();
        let inner = map(&[]);
        let outer = map(&[("inner", inner.clone())]);
        scope.set(&inner, "outer", outer.clone()).unwrap();
        let error = scope.materialise(&outer).unwrap_err();
        assert_eq!(
            error.to_string(),
            "json: unsupported value: encountered a cycle via map[string]interface {}"
        );
        assert_eq!(scope.deep_copy(&outer).unwrap_err(), error);
    }

    #[test]
    fn copies_are_apart() {
        let scope = Scope::new();
        let inner = map(&[]);
        let outer = map(&[("inner", inner.clone())]);
        let copy = scope.deep_copy(&outer).unwrap();
        scope.set(&inner, "a", Value::from(1i64)).unwrap();
        let inner_copy = scope.get(&copy, "inner").unwrap();
        assert!(!scope.has(&inner_copy, "a"));
    }

    #[test]
    fn endless_nesting_is_refused_and_shared_nesting_is_cheap() {
        let scope = Scope::new();
        let mut shared = map(&[]);
        for _ in 0..500 {
            shared = map(&[("a", shared.clone()), ("b", shared.clone())]);
        }
        assert!(!walk::is_too_deep(&shared));
        let mut chain = Value::from(Vec::<Value>::new());
        let refused =
            (0..MAX_DEPTH + 1000).find_map(|_| match scope.admit(Value::from(vec![chain.clone()])) {
                Ok(longer) => {
                    chain = longer;
                    None
                }
                Err(error) => Some(error),
            });
        assert_eq!(refused, Some(Error::TooDeep(MAX_DEPTH)));
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let scope = Scope::new();
        let big = Value::from("x".repeat(1 << 20));
        let map = Value::from(Map::default());
        for _ in 0..1000 {
            scope.set(&map, "replaced", big.clone()).unwrap();
        }
        let refused = (0..1000).find_map(|_| scope.set(&Value::from(Map::default()), "a", big.clone()).err());
        assert_eq!(refused, Some(Error::TooMuch(Scope::KEPT_LIMIT)));
    }

    #[test]
    fn nil_maps_take_no_entries() {
        let scope = Scope::new();
        let map = Value::from(Map::default());
        scope.make_nil(&map);
        assert_eq!(scope.set(&map, "a", Value::none()), Err(Error::NilMap));
        assert_eq!(scope.unset(&map, "a"), Ok(()));
    }

    #[test]
    fn fields_fail_in_the_words_of_go() {
        let scope = Scope::new();
        let error = |value: &Value| scope.field(value, "foo").unwrap_err().to_string();
        assert_eq!(error(&Value::none()), "nil pointer evaluating interface {}.foo");
        assert_eq!(error(&Value::from("text")), "can't evaluate field foo in type string");
        assert_eq!(error(&Value::from(vec![1i64])), "can't evaluate field foo in type []interface {}");
        assert!(scope.field(&map(&[]), "foo").unwrap().is_none());
    }
}
