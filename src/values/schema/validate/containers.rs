//! The keywords of objects and of arrays.

use super::{At, Check, Scope, Unevaluated, duplicates};
use crate::values::schema::failure::{Failure, count, quote, quote_all};
use crate::values::schema::json::Json;
use crate::values::schema::node::{Additional, Dependency, Draft, Id, Items};

impl Check<'_> {
    pub(super) fn object<'v>(&mut self, at: &mut At<'v, '_>) {
        let value: &'v Json = at.value;
        let node = at.node;
        let Some(map) = value.object() else { return };
        self.limit(at, "minProperties", map.len(), node.min_properties, true);
        self.limit(at, "maxProperties", map.len(), node.max_properties, false);
        if let Some(text) = self.missing(value, &node.required) {
            at.failures.push(self.fail(|| text));
        }
        if self.quiet && !at.failures.is_empty() {
            return;
        }
        for (name, dependency) in &node.dependencies {
            if map.contains_key(name.as_str()) {
                match dependency {
                    Dependency::Required(required) => self.required_if(at, name, required),
                    Dependency::Schema(id) => {
                        let done = self.same(at, *id, None, false);
                        at.failures.extend(done.err());
                    }
                }
            }
        }
        self.properties(at, map);
        if node.draft <= Some(Draft::Draft4) {
            return;
        }
        if let Some(names) = node.property_names {
            for name in map.keys() {
                self.property_name(at, names, name);
            }
        }
        if node.draft <= Some(Draft::Draft6) {
            return;
        }
        for (name, id) in &node.dependent_schemas {
            if map.contains_key(name.as_str()) {
                let done = self.same(at, *id, None, false);
                at.failures.extend(done.err());
            }
        }
        for (name, required) in &node.dependent_required {
            if map.contains_key(name.as_str()) {
                self.required_if(at, name, required);
            }
        }
    }

    fn properties<'v>(&mut self, at: &mut At<'v, '_>, map: &'v std::collections::BTreeMap<Box<str>, Json>) {
        let node = at.node;
        let mut additional: Vec<&str> = Vec::new();
        for (name, inner) in map {
            if self.quiet && !at.failures.is_empty() {
                return;
            }
            let mut evaluated = false;
            if let Some(id) = node.properties.get(name) {
                evaluated = true;
                let done = self.part(at, *id, inner, name);
                at.failures.extend(done.err());
            }
            for (pattern, id) in &node.pattern_properties {
                if pattern.is_match(name) {
                    evaluated = true;
                    let done = self.part(at, *id, inner, name);
                    at.failures.extend(done.err());
                }
            }
            if !evaluated && let Some(rest) = node.additional_properties {
                evaluated = true;
                match rest {
                    Additional::Allowed(true) => {}
                    Additional::Allowed(false) => additional.push(name),
                    Additional::Schema(id) => {
                        let done = self.part(at, id, inner, name);
                        at.failures.extend(done.err());
                    }
                }
            }
            if evaluated {
                at.left.properties.remove(&**name);
            }
        }
        if !additional.is_empty() {
            at.failures
                .push(self.fail(|| format!("additional properties {} not allowed", quote_all(&additional))));
        }
    }

    /// Checks a name as a document of its own.
    fn property_name(&mut self, at: &mut At<'_, '_>, id: Id, name: &str) {
        let value = Json::Text(name.into());
        let path = std::mem::take(&mut self.path);
        let scope = Scope { node: id, keyword: None, level: 0, depth: at.scope.depth + 1, parent: None };
        let left = Unevaluated::default();
        let done = self.node(id, &value, &scope, left).map(drop);
        self.path = path;
        if let Err(failure) = done {
            let invalid = self.fail(|| format!("invalid propertyName {}", quote(name)));
            at.failures.push(Failure { causes: failure.into_causes(), ..invalid });
        }
    }

    pub(super) fn array(&mut self, at: &mut At<'_, '_>, items: &[Json]) {
        let node = at.node;
        self.limit(at, "minItems", items.len(), node.min_items, true);
        self.limit(at, "maxItems", items.len(), node.max_items, false);
        if node.unique_items
            && let Some((first, second)) = duplicates(items)
        {
            at.failures.push(
                self.fail(|| {
                    format!("items at {} and {} are equal", count(first as i64), count(second as i64))
                }),
            );
        }
        let each = |check: &mut Self, at: &mut At<'_, '_>, id, index: usize| {
            let done = check.part(at, id, &items[index], &index.to_string());
            at.failures.extend(done.err());
        };
        if node.draft < Some(Draft::Draft2020) {
            let mut evaluated = 0;
            match &node.items {
                Some(Items::All(id)) => {
                    (0..items.len()).for_each(|index| each(self, at, *id, index));
                    evaluated = items.len();
                }
                Some(Items::Each(ids)) => {
                    evaluated = ids.len().min(items.len());
                    ids.iter().take(evaluated).enumerate().for_each(|(index, id)| each(self, at, *id, index));
                }
                None => {}
            }
            match node.additional_items {
                Some(Additional::Allowed(false)) if evaluated != items.len() => {
                    let rest = count((items.len() - evaluated) as i64);
                    at.failures.push(self.fail(|| format!("last {rest} additionalItem(s) not allowed")));
                }
                Some(Additional::Schema(id)) => {
                    (evaluated..items.len()).for_each(|index| each(self, at, id, index));
                }
                _ => {}
            }
        } else {
            let evaluated = node.prefix_items.len().min(items.len());
            let ids = node.prefix_items.iter().take(evaluated);
            ids.enumerate().for_each(|(index, id)| each(self, at, *id, index));
            if let Some(id) = node.rest_items {
                (evaluated..items.len()).for_each(|index| each(self, at, id, index));
            }
        }
        if let Some(id) = node.contains {
            self.contains(at, items, id);
        }
    }

    fn contains(&mut self, at: &mut At<'_, '_>, items: &[Json], id: Id) {
        let mut failures = Vec::new();
        let mut matched = Vec::new();
        for (index, item) in items.iter().enumerate() {
            match self.part(at, id, item, &index.to_string()) {
                Err(failure) => failures.push(failure),
                Ok(()) => {
                    matched.push(index);
                    if at.node.draft >= Some(Draft::Draft2020) {
                        at.left.items.remove(&index);
                    }
                }
            }
        }
        let found = i64::try_from(matched.len()).unwrap_or(i64::MAX);
        let places = || matched.iter().map(usize::to_string).collect::<Vec<_>>().join(" ");
        let too_few = match at.node.min_contains {
            Some(want) if found < want => Some(self.fail(|| {
                let start = format!("min {} items required to match contains schema", count(want));
                if matched.is_empty() {
                    format!("{start}, but none matched")
                } else {
                    format!("{start}, but matched {} items at {}", count(found), places())
                }
            })),
            None if found == 0 => Some(self.fail(|| "no items match contains schema".into())),
            _ => None,
        };
        if let Some(failure) = too_few {
            at.failures.push(Failure { causes: failures, ..failure });
        }
        if let Some(want) = at.node.max_contains
            && found > want
        {
            at.failures.push(self.fail(|| {
                format!(
                    "max {} items required to match contains schema, but matched {} items at {}",
                    count(want),
                    count(found),
                    places()
                )
            }));
        }
    }
}
