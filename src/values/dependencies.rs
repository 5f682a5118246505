//! Which subcharts take part, under which names, and what they lend to their parents' values.

use std::collections::BTreeSet;

use tera::Value;
use tera::value::Key;

use super::arena::{self, Arena, Id};
use super::coalesce::{Nulls, Tree, coalesce, coalesce_in, merge_tables};
use super::{Error, go_format};
use crate::chart::semver::is_compatible;
use crate::chart::{Chart, Dependency, Metadata};
use crate::value::quote::quote;
use crate::value::typed::{self, Type};

/// Settles a chart's dependencies by the user's values, as Helm's `ProcessDependencies`: conditions and tags switch
/// subcharts off, aliases name and multiply them, `import-values` and exports change the defaults of the parents.
///
/// The chart itself is not changed; what comes back shares its files.
pub fn process_dependencies(chart: &Chart, user: &Value) -> Result<Chart, Error> {
    let mut process = Process { metadata: Vec::new() };
    let mut top = process.node(chart);
    process.enable(&mut top, user, "")?;
    process.import(&mut top)?;
    Ok(process.finish(top))
}

/// A chart at work.
#[derive(Clone)]
struct Node<'c> {
    name: String,
    chart: &'c Chart,
    values: Value,
    charts: Vec<Self>,
    /// The number of its metadata.
    metadata: usize,
}

impl Tree for Node<'_> {
    fn name(&self) -> &str {
        &self.name
    }

    fn values(&self) -> &Value {
        &self.values
    }

    fn dependencies(&self) -> &[Self] {
        &self.charts
    }
}

/// Metadata by number. When a chart is used twice under two names, each use has its own, but the charts inside it have
/// theirs in common, and what the first use does to it the second one finds done. That is Helm's way.
struct Process {
    metadata: Vec<Metadata>,
}

impl Process {
    fn node<'c>(&mut self, chart: &'c Chart) -> Node<'c> {
        self.metadata.push(chart.metadata.clone());
        let metadata = self.metadata.len() - 1;
        Node {
            name: chart.name().to_owned(),
            chart,
            values: chart.values.clone(),
            charts: chart.dependencies.iter().map(|c| self.node(c)).collect(),
            metadata,
        }
    }

    fn finish(&self, node: Node<'_>) -> Chart {
        Chart {
            metadata: Metadata { name: node.name, ..self.metadata[node.metadata].clone() },
            lock: node.chart.lock.clone(),
            values: node.values,
            values_yaml: node.chart.values_yaml.clone(),
            schema: node.chart.schema.clone(),
            templates: node.chart.templates.clone(),
            files: node.chart.files.clone(),
            unread: node.chart.unread.clone(),
            dependencies: node.charts.into_iter().map(|c| self.finish(c)).collect(),
            digest: node.chart.digest.clone(),
        }
    }

    fn enable(&mut self, chart: &mut Node<'_>, values: &Value, path: &str) -> Result<(), Error> {
        let Some(mut required) = self.metadata[chart.metadata].dependencies.clone() else { return Ok(()) };
        let fits = |chart: &Node<'_>, required: &Dependency| {
            chart.name == required.name && is_compatible(&required.version, &chart.chart.metadata.version)
        };
        let present = std::mem::take(&mut chart.charts);
        // Charts that Chart.yaml does not mention come first.
        let unmentioned = present.iter().filter(|c| !required.iter().any(|r| fits(c, r)));
        chart.charts = unmentioned.cloned().collect();
        for required in &mut required {
            if let Some(found) = present.iter().find(|c| fits(c, required)) {
                let mut found = found.clone();
                self.metadata.push(self.metadata[found.metadata].clone());
                found.metadata = self.metadata.len() - 1;
                if !required.alias.is_empty() {
                    found.name.clone_from(&required.alias);
                }
                chart.charts.push(found);
            }
            if !required.alias.is_empty() {
                required.name.clone_from(&required.alias);
            }
            required.enabled = true;
        }

        let values = coalesce(chart, values)?;
        switch_by_tags(&mut required, &values);
        switch_by_conditions(&mut required, &values, path);
        let off: BTreeSet<String> = required.iter().filter(|r| !r.enabled).map(|r| r.name.clone()).collect();
        chart.charts.retain(|c| !off.contains(&c.name));
        required.retain(|r| !off.contains(&r.name));
        for sub in &mut chart.charts {
            let path = format!("{path}{}.", sub.name);
            self.enable(sub, &values, &path)?;
        }
        // Helm's list is absent, not empty, when nothing is left on.
        self.metadata[chart.metadata].dependencies = (!required.is_empty()).then_some(required);
        Ok(())
    }

    /// Takes what subcharts export into the defaults of their parents, from the leaves up.
    fn import(&mut self, chart: &mut Node<'_>) -> Result<(), Error> {
        for sub in &mut chart.charts {
            self.import(sub)?;
        }
        let Some(required) = &mut self.metadata[chart.metadata].dependencies else { return Ok(()) };
        let mut arena = Arena::default();
        let values = coalesce_in(&mut arena, chart, &Value::none(), Nulls::Keep)?;
        let imported = arena.empty();
        for dependency in required {
            let mut resolved = Vec::new();
            for import in &dependency.import_values {
                let by_name = import.is_string();
                let (child, parent) = if let Some(name) = import.as_str() {
                    (format!("exports.{name}"), ".".to_owned())
                } else if let Some(map) = import.as_map()
                    && Type::of(import).is_none()
                {
                    let field =
                        |name| map.get(&Key::Str(name)).map_or("<nil>".into(), |v| go_format("%v", v));
                    (field("child"), field("parent"))
                } else {
                    continue;
                };
                let entries = [("child", child.clone().into()), ("parent", parent.clone().into())];
                resolved.push(typed::make(Type::StringMap, entries));
                match find(&mut arena, values, &format!("{}.{child}", dependency.name)) {
                    Ok(found) => {
                        // An empty table is not lent, it is copied.
                        let found = if arena.is_empty(found) { arena.empty() } else { found };
                        let found = if parent == "." { found } else { nested(&mut arena, &parent, found) };
                        merge_tables(&mut arena, imported, found, Nulls::Keep);
                    }
                    Err(missing) => {
                        let error = format!("{} is not a table", quote(missing.as_bytes()));
                        if by_name {
                            tracing::warn!(error, "ImportValues missing table");
                        } else {
                            tracing::warn!(
                                chart = dependency.name,
                                error,
                                "ImportValues missing table from chart"
                            );
                        }
                    }
                }
            }
            dependency.import_values = resolved;
        }
        // The parent's own values win over those that it imports.
        let own = arena.deep_copy(values);
        merge_tables(&mut arena, own, imported, Nulls::Keep);
        chart.values = arena.export(own);
        Ok(())
    }
}

fn switch_by_tags(required: &mut [Dependency], values: &Value) {
    let Ok(tags) = table(values, "tags") else { return };
    for dependency in required {
        let mut on = false;
        let mut off = false;
        for tag in &dependency.tags {
            match tags.as_map().and_then(|map| map.get(&Key::Str(tag))) {
                None => {}
                Some(value) => match value.as_bool() {
                    Some(true) => on = true,
                    Some(false) => off = true,
                    None => tracing::warn!(tag, chart = dependency.name, "returned non-bool value"),
                },
            }
        }
        dependency.enabled = on || !off;
    }
}

fn switch_by_conditions(required: &mut [Dependency], values: &Value, path: &str) {
    for dependency in required {
        for condition in dependency.condition.trim().split(',').filter(|c| !c.is_empty()) {
            let path = format!("{path}{condition}");
            let Some(value) = scalar(values, &path) else { continue };
            if let Some(enabled) = value.as_bool() {
                dependency.enabled = enabled;
                break;
            }
            tracing::warn!(path = condition, chart = dependency.name, "returned non-bool value");
        }
    }
}

/// The table at a path with dots, or the name of the part that is none.
fn table<'v>(values: &'v Value, path: &'v str) -> Result<&'v Value, String> {
    path.split('.').try_fold(values, |table, name| {
        let inner = table.as_map().and_then(|map| map.get(&Key::Str(name)));
        inner.filter(|v| v.is_map()).ok_or_else(|| name.to_owned())
    })
}

/// What stands at a path with dots, unless it is a table.
fn scalar<'v>(values: &'v Value, path: &'v str) -> Option<&'v Value> {
    let (table, key) = match path.rsplit_once('.') {
        Some((path, key)) => (table(values, path).ok()?, key),
        None => (values, path),
    };
    table.as_map()?.get(&Key::Str(key)).filter(|v| !v.is_map())
}

fn find(arena: &mut Arena, table: Id, path: &str) -> Result<Id, String> {
    path.split('.').try_fold(table, |table, name| {
        let inner = arena.get(table, &Key::from(name.to_owned()));
        inner.and_then(|node| node.table()).ok_or_else(|| name.to_owned())
    })
}

/// A map with `table` at a path with dots.
fn nested(arena: &mut Arena, path: &str, table: Id) -> Id {
    path.rsplit('.').fold(table, |inner, name| {
        let outer = arena.empty();
        arena.set(outer, Key::from(name.to_owned()), arena::Node::Map(inner));
        outer
    })
}
