//! Which subcharts take part, under which names, and what they lend to their parents' values.

use std::collections::BTreeSet;

use tera::value::Key;
use tera::{Map, Value};

use super::Error;
use super::arena::{Arena, Id, Node};
use super::coalesce::{self, Nulls, coalesce};
use crate::chart::semver::is_compatible;
use crate::chart::{Chart, Dependency};

/// Settles a chart's dependencies by the user's values, as Helm's `ProcessDependencies`: conditions and tags switch
/// subcharts off, aliases name and multiply them, `import-values` and exports change the defaults of the parents.
///
/// The chart itself is not changed; what comes back shares its files.
pub fn process_dependencies(chart: &Chart, user: &Value) -> Result<Chart, Error> {
    let mut chart = chart.clone();
    enable(&mut chart, user, "")?;
    import(&mut chart)?;
    Ok(chart)
}

fn enable(chart: &mut Chart, values: &Value, path: &str) -> Result<(), Error> {
    let Some(mut required) = chart.metadata.dependencies.take() else { return Ok(()) };
    let present = std::mem::take(&mut chart.dependencies);
    let fits = |chart: &Chart, required: &Dependency| {
        chart.name() == required.name && is_compatible(&required.version, &chart.metadata.version)
    };
    // Charts that Chart.yaml does not mention come first.
    let mut dependencies: Vec<Chart> =
        present.iter().filter(|c| !required.iter().any(|r| fits(c, r))).cloned().collect();
    for required in &mut required {
        if let Some(found) = present.iter().find(|c| fits(c, required)) {
            let mut found = found.clone();
            if !required.alias.is_empty() {
                found.metadata.name.clone_from(&required.alias);
            }
            dependencies.push(found);
        }
        if !required.alias.is_empty() {
            required.name.clone_from(&required.alias);
        }
        required.enabled = true;
    }
    chart.dependencies = dependencies;

    let values = coalesce(chart, values)?;
    switch_by_tags(&mut required, &values);
    switch_by_conditions(&mut required, &values, path);
    let off: BTreeSet<String> = required.iter().filter(|r| !r.enabled).map(|r| r.name.clone()).collect();
    chart.dependencies.retain(|c| !off.contains(c.name()));
    required.retain(|r| !off.contains(&r.name));
    for sub in &mut chart.dependencies {
        let path = format!("{path}{}.", sub.name());
        enable(sub, &values, &path)?;
    }
    // Helm's list is absent, not empty, when nothing is left on.
    chart.metadata.dependencies = (!required.is_empty()).then_some(required);
    Ok(())
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

/// Takes what subcharts export into the defaults of their parents, from the leaves up.
fn import(chart: &mut Chart) -> Result<(), Error> {
    for sub in &mut chart.dependencies {
        import(sub)?;
    }
    if chart.metadata.dependencies.is_none() {
        return Ok(());
    }
    let mut arena = Arena::default();
    let values = coalesce::coalesce_in(&mut arena, chart, &Value::none(), Nulls::Keep)?;
    let imported = arena.empty();
    for dependency in chart.metadata.dependencies.iter_mut().flatten() {
        let mut resolved = Vec::new();
        for import in &dependency.import_values {
            let (child, parent) = if let Some(name) = import.as_str() {
                (format!("exports.{name}"), ".".to_owned())
            } else if let Some(map) = import.as_map() {
                (printed(map.get(&Key::Str("child"))), printed(map.get(&Key::Str("parent"))))
            } else {
                continue;
            };
            resolved.push(Value::from(Map::from_iter([
                (Key::from("child"), Value::from(child.clone())),
                (Key::from("parent"), Value::from(parent.clone())),
            ])));
            match find(&mut arena, values, &format!("{}.{child}", dependency.name)) {
                Ok(found) => {
                    let found = if parent == "." { found } else { nested(&mut arena, &parent, found) };
                    coalesce::merge_tables(&mut arena, imported, found, Nulls::Keep);
                }
                Err(missing) => tracing::warn!(
                    chart = dependency.name,
                    "ImportValues missing table from chart: \"{missing}\" is not a table"
                ),
            }
        }
        dependency.import_values = resolved;
    }
    // The parent's own values win over those that it imports.
    let own = arena.deep_copy(values);
    coalesce::merge_tables(&mut arena, own, imported, Nulls::Keep);
    chart.values = arena.export(own);
    Ok(())
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
        arena.set(outer, Key::from(name.to_owned()), Node::Map(inner));
        outer
    })
}

/// What Go prints for a field of an import, which should be a string.
fn printed(value: Option<&Value>) -> String {
    match value {
        None => "<nil>".to_owned(),
        Some(value) if value.is_none() => "<nil>".to_owned(),
        Some(value) if value.is_f64() => {
            crate::yaml::number::go_format_float(value.as_f64().unwrap_or_default())
        }
        Some(value) => value.to_string(),
    }
}
