//! The tables of a document while it is read: what was defined, and what only follows from the name of something in it.

use std::collections::{BTreeMap, HashMap, HashSet};

use tera::{Map, Value, value::Key};

use super::key::joined;
use crate::functions::Call;

pub(super) type Table = BTreeMap<String, Node>;

/// What stands under a key.
#[derive(Clone, Debug)]
pub(super) enum Node {
    Leaf(Value),
    Table(Table),
    /// An array of tables, to whose last one things are added.
    Tables(Vec<Table>),
}

impl Node {
    pub(super) fn into_value(self, call: &Call<'_>) -> Value {
        match self {
            Self::Leaf(value) => value,
            Self::Table(table) => table_value(table, call),
            Self::Tables(tables) => {
                let items = tables.into_iter().map(|table| table_value(table, call)).collect();
                call.list_of(items, "[]map[string]interface {}")
            }
        }
    }

    /// The table that this is, or whose last one it is.
    fn table(&mut self) -> Option<&mut Table> {
        match self {
            Self::Leaf(_) => None,
            Self::Table(table) => Some(table),
            Self::Tables(tables) => tables.last_mut(),
        }
    }

    /// The table of an inline one, to which a dotted key adds.
    pub(super) fn inline_table(&mut self) -> Option<&mut Table> {
        if let Self::Leaf(value) = self
            && let Some(map) = value.as_map()
        {
            let entries = map
                .iter()
                .filter_map(|(key, value)| Some((key.as_str()?.to_owned(), Self::Leaf(value.clone()))));
            *self = Self::Table(entries.collect());
        }
        if let Self::Table(table) = self { Some(table) } else { None }
    }
}

pub(super) fn table_value(table: Table, call: &Call<'_>) -> Value {
    let entries = table.into_iter().map(|(key, node)| (Key::from(key), node.into_value(call)));
    Value::from(entries.collect::<Map>())
}

/// The document, and where in it the reader is.
#[derive(Default)]
pub(super) struct Tables {
    pub(super) root: Table,
    /// The key of the table that is being filled.
    pub(super) context: Vec<String>,
    /// The key within it.
    pub(super) current: String,
    /// Keys that hold an array.
    arrays: HashMap<String, bool>,
    /// Tables that nobody has defined yet.
    implicit: HashSet<String>,
}

impl Tables {
    /// The key that an error names.
    pub(super) fn last_key(&self) -> String {
        if self.current.is_empty() {
            joined(&self.context)
        } else if self.context.is_empty() {
            self.current.clone()
        } else {
            format!("{}.{}", joined(&self.context), self.current)
        }
    }

    /// Notes whether the key, or without one the table, holds an array.
    pub(super) fn set_type(&mut self, key: &str, array: bool) {
        let mut path = self.context.clone();
        if !key.is_empty() || path.is_empty() {
            path.push(key.to_owned());
        }
        self.arrays.insert(joined(&path), array);
    }

    pub(super) fn add_implicit(&mut self) {
        self.implicit.insert(joined(&self.context));
    }

    /// Enters the tables on the way to the last part of a dotted key.
    pub(super) fn enter_implicit(&mut self, parents: &[String]) -> Result<(), String> {
        for part in parents {
            let mut path = self.context.clone();
            path.push(part.clone());
            self.implicit.insert(joined(&path));
            self.enter(&path, false)?;
        }
        Ok(())
    }

    /// Makes a table, or one more of an array of tables, the one that is filled.
    pub(super) fn enter(&mut self, path: &[String], array: bool) -> Result<(), String> {
        let Some((last, parents)) = path.split_last() else { return Ok(()) };
        let mut table = &mut self.root;
        for (at, part) in parents.iter().enumerate() {
            let whole = path.get(..=at).unwrap_or_default();
            if !table.contains_key(part) {
                self.implicit.insert(joined(whole));
                table.insert(part.clone(), Node::Table(Table::new()));
            }
            let next = table.get_mut(part).and_then(Node::table);
            table = next.ok_or_else(|| format!("Key '{}' was already created as a hash.", joined(whole)))?;
        }
        self.context = parents.to_vec();
        if array {
            match table.entry(last.clone()).or_insert_with(|| Node::Tables(Vec::new())) {
                Node::Tables(tables) => tables.push(Table::new()),
                _ => {
                    let path = joined(path);
                    return Err(format!("Key '{path}' was already created and cannot be used as an array."));
                }
            }
        } else {
            self.set(last, Node::Table(Table::new()))?;
        }
        self.context.push(last.clone());
        Ok(())
    }

    /// Sets a key of the table that is filled.
    pub(super) fn set(&mut self, key: &str, node: Node) -> Result<(), String> {
        let defined = |path: &str| format!("Key '{path}' has already been defined.");
        let mut table = &mut self.root;
        for (at, part) in self.context.iter().enumerate() {
            let next = table.get_mut(part).and_then(Node::table);
            table = next.ok_or_else(|| defined(&joined(self.context.get(..=at).unwrap_or_default())))?;
        }
        let Some(old) = table.get_mut(key) else {
            table.insert(key.to_owned(), node);
            return Ok(());
        };
        let mut path = self.context.clone();
        path.push(key.to_owned());
        let path = joined(&path);
        if !self.implicit.remove(&path) {
            return Err(defined(&path));
        }
        if self.arrays.get(&path) == Some(&true) {
            *old = node;
        }
        Ok(())
    }
}
