//! The keywords of one schema.

use super::{Compiler, Resource, located, quoted};
use crate::values::schema::decimal::Decimal;
use crate::values::schema::formats;
use crate::values::schema::json::Json;
use crate::values::schema::node::{Additional, Dependency, Draft, Id, Items, Node, types};
use crate::values::schema::pattern::Pattern;
use crate::values::schema::url::{self, split, token};

/// Reads the keywords of one schema.
pub(super) struct Read<'a> {
    pub(super) compiler: &'a mut Compiler,
    pub(super) url: &'a str,
    pub(super) pointer: &'a str,
    pub(super) json: &'a Json,
    pub(super) resource: &'a Resource,
}

fn strings(items: &[Json]) -> Vec<String> {
    items.iter().filter_map(|item| item.text().map(str::to_owned)).collect()
}

impl<'a> Read<'a> {
    fn get(&self, key: &str) -> Option<&'a Json> {
        self.json.get(key)
    }

    fn text(&self, key: &str) -> Option<&'a str> {
        self.get(key)?.text()
    }

    fn truth(&self, key: &str) -> bool {
        self.get(key) == Some(&Json::Bool(true))
    }

    fn number(&self, key: &str) -> Option<Decimal> {
        match self.get(key)? {
            Json::Number(text) => Decimal::parse(text),
            _ => None,
        }
    }

    fn count(&self, key: &str) -> Option<i64> {
        self.number(key)?.to_count()
    }

    fn at(&mut self, path: &str) -> Id {
        self.compiler.enqueue(self.url.to_owned(), format!("{}/{path}", self.pointer))
    }

    fn one(&mut self, key: &str) -> Option<Id> {
        self.get(key).is_some().then(|| self.at(key))
    }

    fn list(&mut self, key: &str) -> Vec<Id> {
        let length = self.get(key).and_then(Json::array).map_or(0, <[_]>::len);
        (0..length).map(|index| self.at(&format!("{key}/{index}"))).collect()
    }

    fn map(&mut self, key: &str) -> Vec<(&'a str, Id)> {
        let entries = self.get(key).and_then(Json::object).into_iter().flatten();
        entries.map(|(name, _)| (&**name, self.at(&format!("{key}/{}", token(name))))).collect()
    }

    fn additional(&mut self, key: &str) -> Option<Additional> {
        match self.get(key)? {
            Json::Bool(truth) => Some(Additional::Allowed(*truth)),
            _ => Some(Additional::Schema(self.at(key))),
        }
    }

    fn reference(&mut self, key: &str) -> Result<Option<Id>, String> {
        let Some(reference) = self.text(key) else { return Ok(None) };
        self.compiler.reference(self.url, &self.resource.id, reference).map(Some)
    }

    fn pattern(&self, source: &str, key: &str) -> Result<Pattern, String> {
        Pattern::new(source).map_err(|why| {
            let place = located(self.url, &format!("{}/{key}", self.pointer));
            format!("invalid regex {} at {}: {why}", quoted(source), quoted(&place))
        })
    }

    pub(super) fn object(&mut self, node: &mut Node) -> Result<(), String> {
        let draft = self.resource.draft;
        node.reference = self.reference("$ref")?;
        // Before 2019-09 a reference stands alone; but Helm's library lets the keywords that came with draft 6 and 7 stand.
        if draft >= Draft::Draft2019 || node.reference.is_none() {
            self.applicators(node, draft)?;
            self.assertions(node, draft)?;
        }
        self.later_keywords(node, draft);
        if draft >= Draft::Draft2019 {
            node.recursive_reference = self.reference("$recursiveRef")?;
            node.recursive_anchor = self.truth("$recursiveAnchor");
        }
        if draft >= Draft::Draft2020 {
            if let Some(target) = self.reference("$dynamicRef")? {
                let fragment = self.text("$dynamicRef").map_or("", |reference| split(reference).1);
                let anchor = url::unescape(fragment).filter(|f| !f.is_empty() && !f.starts_with('/'));
                node.dynamic_reference = Some((target, anchor));
            }
            node.dynamic_anchor = self.text("$dynamicAnchor").map(str::to_owned);
        }
        Ok(())
    }

    fn applicators(&mut self, node: &mut Node, draft: Draft) -> Result<(), String> {
        node.all_of = self.list("allOf");
        node.any_of = self.list("anyOf");
        node.one_of = self.list("oneOf");
        node.not = self.one("not");
        if draft < Draft::Draft2020 {
            match self.get("items") {
                Some(Json::Array(_)) => {
                    node.items = Some(Items::Each(self.list("items")));
                    node.additional_items = self.additional("additionalItems");
                }
                Some(_) => node.items = self.one("items").map(Items::All),
                None => {}
            }
        } else {
            node.prefix_items = self.list("prefixItems");
            node.rest_items = self.one("items");
        }
        node.properties = self.map("properties").into_iter().map(|(name, id)| (name.into(), id)).collect();
        for (source, id) in self.map("patternProperties") {
            let pattern = self.pattern(source, "patternProperties")?;
            node.pattern_properties.push((pattern, id));
        }
        node.additional_properties = self.additional("additionalProperties");
        for (name, inner) in self.get("dependencies").and_then(Json::object).into_iter().flatten() {
            let dependency = match inner {
                Json::Array(items) => Dependency::Required(strings(items)),
                _ => Dependency::Schema(self.at(&format!("dependencies/{}", token(name)))),
            };
            node.dependencies.push((name.to_string(), dependency));
        }
        if draft >= Draft::Draft2019 {
            let schemas = self.map("dependentSchemas");
            node.dependent_schemas = schemas.into_iter().map(|(name, id)| (name.to_owned(), id)).collect();
            node.unevaluated_items = self.one("unevaluatedItems");
            node.unevaluated_properties = self.one("unevaluatedProperties");
        }
        Ok(())
    }

    fn later_keywords(&mut self, node: &mut Node, draft: Draft) {
        if draft >= Draft::Draft6 {
            node.contains = self.one("contains");
            node.property_names = self.one("propertyNames");
            node.constant = self.get("const").cloned();
        }
        if draft >= Draft::Draft7 {
            node.condition = self.one("if");
            if node.condition.is_some() {
                let fixed = self.get("if");
                if fixed != Some(&Json::Bool(false)) {
                    node.then = self.one("then");
                }
                if fixed != Some(&Json::Bool(true)) {
                    node.otherwise = self.one("else");
                }
            }
        }
    }

    fn assertions(&self, node: &mut Node, draft: Draft) -> Result<(), String> {
        node.types = match self.get("type") {
            Some(Json::Text(name)) => types::named(name),
            Some(Json::Array(names)) => {
                names.iter().filter_map(Json::text).map(types::named).fold(0, |all, kind| all | kind)
            }
            _ => 0,
        };
        if let Some(choices) = self.get("enum").and_then(Json::array) {
            let kinds = choices.iter().map(types::of).fold(0, |all, kind| all | kind);
            node.choices = Some((choices.to_vec(), kinds));
        }
        node.multiple_of = self.number("multipleOf");
        // In draft 4 these are booleans that sharpen the plain limits.
        if self.truth("exclusiveMaximum") {
            node.exclusive_maximum = self.number("maximum");
        } else {
            node.maximum = self.number("maximum");
            node.exclusive_maximum = self.number("exclusiveMaximum");
        }
        if self.truth("exclusiveMinimum") {
            node.exclusive_minimum = self.number("minimum");
        } else {
            node.minimum = self.number("minimum");
            node.exclusive_minimum = self.number("exclusiveMinimum");
        }
        node.min_length = self.count("minLength");
        node.max_length = self.count("maxLength");
        node.pattern = self.text("pattern").map(|source| self.pattern(source, "pattern")).transpose()?;
        node.min_items = self.count("minItems");
        node.max_items = self.count("maxItems");
        node.unique_items = self.truth("uniqueItems");
        node.max_properties = self.count("maxProperties");
        node.min_properties = self.count("minProperties");
        node.required = self.get("required").and_then(Json::array).map(strings).unwrap_or_default();
        if self.compiler.assert_formats || draft < Draft::Draft2019 {
            node.format = self.text("format").and_then(formats::named);
        }
        if draft >= Draft::Draft2019 {
            node.min_contains = self.count("minContains");
            node.max_contains = self.count("maxContains");
            for (name, required) in self.get("dependentRequired").and_then(Json::object).into_iter().flatten()
            {
                if let Some(required) = required.array() {
                    node.dependent_required.push((name.to_string(), strings(required)));
                }
            }
        }
        Ok(())
    }
}
