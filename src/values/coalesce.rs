//! A chart's default values under those of its user, its subcharts' under both, and globals handed down.

use std::sync::atomic::{AtomicBool, Ordering};

use tera::Value;
use tera::value::Key;

use super::arena::{Arena, Id, Node};
use super::{Error, go_format};
use crate::chart::Chart;
use crate::value::quote::quote;

/// Whether null removes a key or is kept for a later step to see.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Nulls {
    Remove,
    Keep,
}

static REPEAT_VALUES: AtomicBool = AtomicBool::new(false);

/// From now on warnings in the log repeat the values that they are about, as Helm's do: for a process whose values come
/// from whoever reads its log.
pub fn repeat_values_in_warnings() {
    REPEAT_VALUES.store(true, Ordering::Relaxed);
}

/// What coalescing needs of a chart.
pub trait Tree: Sized {
    /// The name under which its parent's values hold its own.
    fn name(&self) -> &str;
    /// Its default values.
    fn values(&self) -> &Value;
    /// Its subcharts.
    fn dependencies(&self) -> &[Self];
}

impl Tree for Chart {
    fn name(&self) -> &str {
        Self::name(self)
    }

    fn values(&self) -> &Value {
        &self.values
    }

    fn dependencies(&self) -> &[Self] {
        &self.dependencies
    }
}

/// The values of a chart and its subcharts: `user` over the chart's defaults, as Helm's `CoalesceValues`.
///
/// Maps are merged and all else is replaced; a null of the user removes a default; each subchart finds its values
/// under its name, with the parent's `global` merged into its own.
pub fn coalesce(chart: &impl Tree, user: &Value) -> Result<Value, Error> {
    let mut arena = Arena::default();
    let id = coalesce_in(&mut arena, chart, user, Nulls::Remove)?;
    Ok(arena.export(id))
}

/// `over` on `under` as tables, without a chart, as Helm's `CoalesceTables`: a null in `over` removes what is under it.
pub fn merge_over(over: &Value, under: &Value) -> Value {
    let mut arena = Arena::default();
    let (result, over, under) = (arena.empty(), arena.copy(over), arena.copy(under));
    merge_tables(&mut arena, result, over, Nulls::Remove);
    merge_tables(&mut arena, result, under, Nulls::Remove);
    arena.export(result)
}

/// [`coalesce`], the values left in the arena.
pub(super) fn coalesce_in(
    arena: &mut Arena,
    chart: &impl Tree,
    user: &Value,
    nulls: Nulls,
) -> Result<Id, Error> {
    let values = arena.copy(user);
    Coalesce { arena }.chart(chart, values, "", nulls)?;
    Ok(values)
}

/// Merges `under` into `over` in place, as Helm's `CoalesceTables` and `MergeTables`.
pub(super) fn merge_tables(arena: &mut Arena, over: Id, under: Id, nulls: Nulls) {
    Coalesce { arena }.tables(over, under, "", nulls);
}

fn joined(prefix: &str, name: &str) -> String {
    if prefix.is_empty() { name.to_owned() } else { format!("{prefix}.{name}") }
}

fn shown<'k>(key: &'k Key<'_>) -> &'k str {
    key.as_str().unwrap_or_default()
}

struct Coalesce<'a> {
    arena: &'a mut Arena,
}

impl Coalesce<'_> {
    fn chart(&mut self, chart: &impl Tree, values: Id, prefix: &str, nulls: Nulls) -> Result<(), Error> {
        let path = joined(prefix, chart.name());
        self.defaults(chart, values, &path, nulls);
        for sub in chart.dependencies() {
            let key = Key::from(sub.name().to_owned());
            let inner = match self.arena.get(values, &key) {
                Some(Node::Map(inner)) => inner,
                Some(other) => {
                    let other = go_format("%t", &self.arena.export_node(&other));
                    return Err(Error::new(format!("type mismatch on {}: {other}", sub.name())));
                }
                None => {
                    let inner = self.arena.empty();
                    self.arena.set(values, key, Node::Map(inner));
                    inner
                }
            };
            self.globals(inner, values, &path);
            self.chart(sub, inner, &path, nulls)?;
        }
        Ok(())
    }

    /// Puts the chart's defaults under `values`.
    fn defaults(&mut self, chart: &impl Tree, values: Id, path: &str, nulls: Nulls) {
        let defaults = self.arena.copy(chart.values());
        for (key, default) in self.arena.entries(defaults) {
            match self.arena.get(values, &key) {
                Some(value) if value.is_nil() && nulls == Nulls::Remove => self.arena.remove(values, &key),
                Some(Node::Map(over)) => match default {
                    Node::Map(under) => {
                        // A null in a subchart's values is for the subchart's own defaults to meet.
                        let subchart = chart.dependencies().iter().any(|d| Some(d.name()) == key.as_str());
                        let nulls = if subchart { Nulls::Keep } else { nulls };
                        if nulls == Nulls::Remove {
                            self.arena.remove_nils(under);
                        }
                        self.tables(over, under, &joined(path, shown(&key)), nulls);
                    }
                    default if default.is_nil() => {}
                    _ => {
                        tracing::info!("warning: skipped value for {path}.{}: Not a table.", shown(&key));
                    }
                },
                Some(_) => {}
                None => {
                    if nulls == Nulls::Remove {
                        if default.is_nil() {
                            continue;
                        }
                        if let Node::Map(inner) = default {
                            self.arena.remove_nils(inner);
                        }
                    }
                    self.arena.set(values, key, default);
                }
            }
        }
    }

    /// Merges the globals of a parent's values into those of a subchart.
    fn globals(&mut self, sub: Id, parent: Id, prefix: &str) {
        let global = Key::from("global");
        let mut table = |id, side| match self.arena.get(id, &global) {
            None => Some(self.arena.empty()),
            Some(Node::Map(id)) => Some(id),
            Some(_) => {
                tracing::info!("warning: skipping globals because {side} global is not a table.");
                None
            }
        };
        let Some(into) = table(sub, "destination") else { return };
        let Some(from) = table(parent, "source") else { return };
        for (key, value) in self.arena.entries(from) {
            let present = self.arena.get(into, &key);
            match value {
                Node::Map(table) => {
                    // Only the first level is a copy: what lies deeper is the parent's own map.
                    let copy = self.arena.shallow_copy(table);
                    match present {
                        None => {}
                        Some(Node::Map(present)) => {
                            self.tables(copy, present, &joined(prefix, shown(&key)), Nulls::Keep);
                        }
                        Some(_) => {
                            tracing::info!(
                                "Conflict: cannot merge map onto non-map for {}. Skipping.",
                                quote(shown(&key).as_bytes())
                            );
                            continue;
                        }
                    }
                    self.arena.set(into, key, Node::Map(copy));
                }
                _ if present.is_some_and(|p| p.is_table()) => {
                    tracing::info!("key {} is table. Skipping", shown(&key));
                }
                value => self.arena.set(into, key, value),
            }
        }
        self.arena.set(sub, global, Node::Map(into));
    }

    /// Merges a table into another one that has precedence.
    fn tables(&mut self, over: Id, under: Id, prefix: &str, nulls: Nulls) {
        let defaults = self.arena.entries(under);
        // A null of the user stays a null for those who share the lower table.
        for (key, value) in self.arena.entries(over) {
            if value.is_nil() {
                self.arena.set(under, key, Node::Leaf(Value::none()));
            }
        }
        let had_value = |key: &Key<'static>| {
            defaults.binary_search_by(|(k, _)| k.cmp(key)).is_ok_and(|at| !defaults[at].1.is_nil())
        };
        for (key, value) in self.arena.entries(under) {
            match self.arena.get(over, &key) {
                None => self.arena.set(over, key, value),
                Some(present) if present.is_nil() && nulls == Nulls::Remove && had_value(&key) => {
                    self.arena.remove(over, &key);
                }
                Some(present) => match (value, present) {
                    (Node::Map(value), Node::Map(present)) => {
                        self.tables(present, value, &joined(prefix, shown(&key)), nulls);
                    }
                    (value @ Node::Map(_), _) => tracing::info!(
                        "warning: cannot overwrite table with non table for {}{}",
                        joined(prefix, shown(&key)),
                        self.in_brackets(&value)
                    ),
                    (value, Node::Map(_)) if !value.is_nil() => tracing::info!(
                        "warning: destination for {} is a table. Ignoring non-table value{}",
                        joined(prefix, shown(&key)),
                        self.in_brackets(&value)
                    ),
                    _ => {}
                },
            }
        }
    }

    /// A value in a warning, which Helm repeats; it might be a secret.
    fn in_brackets(&self, value: &Node) -> String {
        if REPEAT_VALUES.load(Ordering::Relaxed) {
            format!(" ({})", go_format("%v", &self.arena.export_node(value)))
        } else {
            String::new()
        }
    }
}
