//! Holds a value against a compiled schema, in the order of Helm's library, so that the same failures come out.

mod containers;

use std::collections::BTreeSet;

use super::compile::Schema;
use super::decimal::Decimal;
use super::failure::{Failure, Kind, count, display, number, quote, quote_all};
use super::json::Json;
use super::node::{Draft, Id, Node, types};
use super::url;

/// How deep schemas may apply within each other. The stack holds it.
const MAX_DEPTH: usize = 800;

/// Checks a whole document. The error is the text of Helm's library.
pub(super) fn run(schema: &Schema, json: &Json) -> Result<(), String> {
    let scope = Scope { node: schema.root, keyword: None, level: 0, depth: 0, parent: None };
    let mut check = Check { schema, path: Vec::new(), quiet: false };
    let left = Unevaluated::of(json, &schema.nodes[schema.root], false);
    let Err(failure) = check.node(schema.root, json, &scope, left) else { return Ok(()) };
    let mut text =
        format!("jsonschema validation failed with {}", quote(&schema.nodes[schema.root].location));
    for cause in failure.into_causes() {
        cause.write(&mut text, 0);
    }
    Err(text)
}

/// The schemas that are being applied, innermost first.
struct Scope<'s> {
    node: Id,
    /// The keyword that led here, where it was a reference.
    keyword: Option<&'static str>,
    /// Grows with each step into a value: schemas of one level are applied to the same value.
    level: usize,
    depth: usize,
    parent: Option<&'s Self>,
}

impl<'s> Scope<'s> {
    fn inner<'i>(&'i self, node: Id, keyword: Option<&'static str>, deeper: bool) -> Scope<'i>
    where
        's: 'i,
    {
        let level = self.level + usize::from(deeper);
        Scope { node, keyword, level, depth: self.depth + 1, parent: Some(self) }
    }

    /// The scope further out that applies the same schema to the same value.
    fn cycle(&self) -> Option<&Self> {
        let outer = std::iter::successors(self.parent, |scope| scope.parent);
        outer.take_while(|scope| scope.level == self.level).find(|scope| scope.node == self.node)
    }

    fn path(&self, schema: &Schema) -> String {
        let Some(parent) = self.parent else { return String::new() };
        let step = match self.keyword {
            Some(keyword) => format!("/{}", url::token(keyword)),
            None => {
                let (here, there) = (&schema.nodes[self.node].location, &schema.nodes[parent.node].location);
                here.get(there.len()..).unwrap_or_default().to_owned()
            }
        };
        parent.path(schema) + &step
    }
}

/// What of an object or an array no schema has looked at.
#[derive(Default)]
struct Unevaluated<'v> {
    properties: BTreeSet<&'v str>,
    items: BTreeSet<usize>,
}

impl<'v> Unevaluated<'v> {
    fn of(value: &'v Json, node: &Node, wanted: bool) -> Self {
        let mut all = Self::default();
        match value {
            Json::Object(map)
                if !node.all_properties_evaluated && (wanted || node.unevaluated_properties.is_some()) =>
            {
                all.properties = map.keys().map(|key| &**key).collect();
            }
            Json::Array(items)
                if !node.all_items_evaluated
                    && (wanted || node.unevaluated_items.is_some())
                    && node.items_evaluated < items.len() =>
            {
                all.items = (node.items_evaluated..items.len()).collect();
            }
            _ => {}
        }
        all
    }

    fn is_empty(&self) -> bool {
        self.properties.is_empty() && self.items.is_empty()
    }

    fn retain(&mut self, other: &Self) {
        self.properties.retain(|property| other.properties.contains(property));
        self.items.retain(|item| other.items.contains(item));
    }
}

struct Check<'c> {
    schema: &'c Schema,
    path: Vec<String>,
    /// Only whether there is a failure matters.
    quiet: bool,
}

/// One schema applied to one value.
struct At<'v, 's> {
    node: &'s Node,
    value: &'v Json,
    scope: &'s Scope<'s>,
    left: Unevaluated<'v>,
    failures: Vec<Failure>,
}

impl Check<'_> {
    fn fail(&self, text: impl FnOnce() -> String) -> Failure {
        if self.quiet {
            return Failure::default();
        }
        Failure { at: self.path.concat(), text: text(), ..Failure::default() }
    }

    fn node<'v>(
        &mut self,
        id: Id,
        value: &'v Json,
        scope: &Scope<'_>,
        left: Unevaluated<'v>,
    ) -> Result<Unevaluated<'v>, Failure> {
        let schema = self.schema;
        let node = &schema.nodes[id];
        match node.boolean {
            Some(true) => return Ok(left),
            Some(false) => return Err(self.fail(|| "false schema".into())),
            None => {}
        }
        if let Some(outer) = scope.cycle() {
            return Err(self.fail(|| {
                format!(
                    "both {} and {} resolve to {} causing reference cycle",
                    scope.path(schema),
                    outer.path(schema),
                    crate::value::quote::quote(node.location.as_bytes())
                )
            }));
        }
        if scope.depth > MAX_DEPTH {
            return Err(self.fail(|| format!("schemas are nested deeper than the maximum of {MAX_DEPTH}")));
        }
        self.whole(node, value)?;
        let mut at = At { node, value, scope, left, failures: Vec::new() };
        if let Some(target) = node.reference {
            let done = self.follow(&mut at, target, "$ref");
            if node.draft < Some(Draft::Draft2019) {
                return done.map(|()| at.left);
            }
            at.failures.extend(done.err());
        }
        match value {
            Json::Object(_) => self.object(&mut at),
            Json::Array(items) => self.array(&mut at, items),
            Json::Text(text) => self.text(&mut at, text),
            Json::Number(text) => self.number(&mut at, text),
            Json::Null | Json::Bool(_) => {}
        }
        if at.failures.is_empty() || !self.quiet {
            if node.draft >= Some(Draft::Draft2019) {
                self.references(&mut at);
            }
            self.conditions(&mut at);
            if node.draft >= Some(Draft::Draft2019) {
                self.unevaluated(&mut at);
            }
        }
        match at.failures.len() {
            0 => Ok(at.left),
            1 => Err(at.failures.remove(0)),
            _ => {
                let group = self.fail(|| "validation failed".into());
                Err(Failure { kind: Kind::Group, causes: at.failures, ..group })
            }
        }
    }

    /// What is said of the value as a whole: the first failure ends it.
    fn whole(&self, node: &Node, value: &Json) -> Result<(), Failure> {
        let kind = types::of(value);
        let integer = || {
            let Json::Number(text) = value else { return false };
            node.types & types::INTEGER != 0 && Decimal::parse(text).is_some_and(|n| n.is_integer())
        };
        if node.types != 0 && node.types & kind == 0 && !integer() {
            let got = types::names(kind);
            return Err(self.fail(|| format!("got {got}, want {}", types::names(node.types))));
        }
        if let Some(constant) = &node.constant
            && !equal(value, constant)
        {
            return Err(self.fail(|| match constant {
                Json::Array(_) | Json::Object(_) => "'const' failed".into(),
                constant => format!("value must be {}", display(constant)),
            }));
        }
        if let Some((choices, kinds)) = &node.choices
            && (kinds & kind == 0 || !choices.iter().any(|choice| equal(value, choice)))
        {
            return Err(self.fail(|| {
                if choices.iter().any(|c| matches!(c, Json::Array(_) | Json::Object(_))) {
                    return "'enum' failed".into();
                }
                let shown: Vec<_> = choices.iter().map(display).collect();
                let one_of = if choices.len() == 1 { "" } else { "one of " };
                format!("value must be {one_of}{}", shown.join(", "))
            }));
        }
        if let (Some(format), Json::Text(text)) = (node.format, value)
            && let Err(why) = (format.check)(text)
        {
            return Err(self.fail(|| format!("{} is not valid {}: {why}", quote(text), format.name)));
        }
        Ok(())
    }

    /// Applies another schema to the same value.
    fn same(
        &mut self,
        at: &mut At<'_, '_>,
        id: Id,
        keyword: Option<&'static str>,
        quiet: bool,
    ) -> Result<(), Failure> {
        let scope = at.scope.inner(id, keyword, false);
        let left = Unevaluated::of(at.value, &self.schema.nodes[id], !at.left.is_empty());
        let before = self.quiet;
        self.quiet |= quiet;
        let done = self.node(id, at.value, &scope, left);
        self.quiet = before;
        done.map(|left| at.left.retain(&left))
    }

    /// Applies a schema to a part of the value.
    fn part(&mut self, at: &At<'_, '_>, id: Id, part: &Json, name: &str) -> Result<(), Failure> {
        let scope = at.scope.inner(id, None, true);
        self.path.push(format!("/{}", url::token(name)));
        let left = Unevaluated::of(part, &self.schema.nodes[id], false);
        let done = self.node(id, part, &scope, left);
        self.path.pop();
        done.map(drop)
    }

    fn follow(&mut self, at: &mut At<'_, '_>, id: Id, keyword: &'static str) -> Result<(), Failure> {
        self.same(at, id, Some(keyword), false).map_err(|failure| {
            let reference = self.fail(|| "validation failed".into());
            Failure { kind: Kind::Reference, causes: failure.into_causes(), ..reference }
        })
    }

    fn references(&mut self, at: &mut At<'_, '_>) {
        if let Some(mut target) = at.node.recursive_reference {
            if self.schema.nodes[target].recursive_anchor {
                let scopes = std::iter::successors(Some(at.scope), |scope| scope.parent);
                let marked = scopes.filter(|scope| {
                    let resource = self.schema.nodes[scope.node].resource;
                    self.schema.nodes[resource].recursive_anchor
                });
                target = marked.last().map_or(target, |scope| scope.node);
            }
            let done = self.follow(at, target, "$recursiveRef");
            at.failures.extend(done.err());
        }
        if let Some((mut target, anchor)) = at.node.dynamic_reference.clone() {
            if let Some(anchor) = anchor
                && self.schema.nodes[target].dynamic_anchor.as_ref() == Some(&anchor)
            {
                let scopes = std::iter::successors(Some(at.scope), |scope| scope.parent);
                let named = scopes.filter_map(|scope| {
                    let resource = self.schema.nodes[scope.node].resource;
                    self.schema.nodes[resource].dynamic_anchors.get(&anchor)
                });
                target = named.last().copied().unwrap_or(target);
            }
            let done = self.follow(at, target, "$dynamicRef");
            at.failures.extend(done.err());
        }
    }

    fn missing(&self, value: &Json, required: &[String]) -> Option<String> {
        let missing: Vec<_> =
            required.iter().filter(|name| value.get(name).is_none()).map(|s| &**s).collect();
        (!missing.is_empty()).then(|| match (self.quiet, missing.as_slice()) {
            (true, _) => String::new(),
            (_, [one]) => format!("missing property {}", quote(one)),
            (_, all) => format!("missing properties {}", quote_all(all)),
        })
    }

    fn required_if(&self, at: &mut At<'_, '_>, name: &str, required: &[String]) {
        let missing: Vec<_> =
            required.iter().filter(|name| at.value.get(name).is_none()).map(|s| &**s).collect();
        if !missing.is_empty() {
            at.failures.push(
                self.fail(|| {
                    format!("properties {} required, if {} exists", quote_all(&missing), quote(name))
                }),
            );
        }
    }

    fn limit(&self, at: &mut At<'_, '_>, name: &str, got: usize, limit: Option<i64>, least: bool) {
        let got = i64::try_from(got).unwrap_or(i64::MAX);
        if let Some(want) = limit
            && (if least { got < want } else { got > want })
        {
            at.failures.push(self.fail(|| format!("{name}: got {}, want {}", count(got), count(want))));
        }
    }

    fn text(&self, at: &mut At<'_, '_>, text: &str) {
        let node = at.node;
        if node.min_length.is_some() || node.max_length.is_some() {
            let length = text.chars().count();
            self.limit(at, "minLength", length, node.min_length, true);
            self.limit(at, "maxLength", length, node.max_length, false);
        }
        if let Some(pattern) = &node.pattern
            && !pattern.is_match(text)
        {
            at.failures.push(
                self.fail(|| format!("{} does not match pattern {}", quote(text), quote(&pattern.source))),
            );
        }
    }

    fn number(&self, at: &mut At<'_, '_>, text: &str) {
        let node = at.node;
        let limits = [&node.minimum, &node.maximum, &node.exclusive_minimum, &node.exclusive_maximum];
        if limits.iter().all(|limit| limit.is_none()) && node.multiple_of.is_none() {
            return;
        }
        let Some(got) = Decimal::parse(text) else { return };
        let mut check = |name: &str, limit: &Option<Decimal>, fits: &dyn Fn(&Decimal) -> bool| {
            if let Some(want) = limit
                && !fits(want)
            {
                let text = || format!("{name}: got {}, want {}", number(&got), number(want));
                at.failures.push(self.fail(text));
            }
        };
        check("minimum", &node.minimum, &|want| got >= *want);
        check("maximum", &node.maximum, &|want| got <= *want);
        check("exclusiveMinimum", &node.exclusive_minimum, &|want| got > *want);
        check("exclusiveMaximum", &node.exclusive_maximum, &|want| got < *want);
        check("multipleOf", &node.multiple_of, &|want| got.is_multiple_of(want));
    }

    fn conditions(&mut self, at: &mut At<'_, '_>) {
        let node = at.node;
        if let Some(id) = node.not
            && self.same(at, id, None, true).is_ok()
        {
            at.failures.push(self.fail(|| "'not' failed".into()));
        }
        let mut causes = Vec::new();
        for id in &node.all_of {
            if let Err(failure) = self.same(at, *id, None, false) {
                causes.push(failure);
                if self.quiet {
                    break;
                }
            }
        }
        if !causes.is_empty() {
            at.failures.push(Failure { causes, ..self.fail(|| "'allOf' failed".into()) });
        }
        if !node.any_of.is_empty() {
            let mut matched = false;
            let mut causes = Vec::new();
            for id in &node.any_of {
                match self.same(at, *id, None, false) {
                    Err(failure) => causes.push(failure),
                    Ok(()) => {
                        matched = true;
                        // What was looked at is only known when all were tried.
                        if at.left.is_empty() {
                            break;
                        }
                    }
                }
            }
            if !matched {
                at.failures.push(Failure { causes, ..self.fail(|| "'anyOf' failed".into()) });
            }
        }
        self.one_of(at);
        if let Some(condition) = node.condition {
            let next = if self.same(at, condition, None, true).is_ok() { node.then } else { node.otherwise };
            if let Some(id) = next {
                let done = self.same(at, id, None, false);
                at.failures.extend(done.err());
            }
        }
    }

    fn one_of(&mut self, at: &mut At<'_, '_>) {
        let node = at.node;
        if node.one_of.is_empty() {
            return;
        }
        let mut matched = None;
        let mut causes = Vec::new();
        for (index, id) in node.one_of.iter().enumerate() {
            match (self.same(at, *id, None, matched.is_some()), matched) {
                (Err(failure), None) => causes.push(failure),
                (Err(_), Some(_)) => {}
                (Ok(()), None) => matched = Some(index),
                (Ok(()), Some(first)) => {
                    let (first, second) = (count(first as i64), count(index as i64));
                    let text = || format!("'oneOf' failed, subschemas {first}, {second} matched");
                    at.failures.push(self.fail(text));
                    break;
                }
            }
        }
        if matched.is_none() {
            at.failures.push(Failure { causes, ..self.fail(|| "'oneOf' failed, none matched".into()) });
        }
    }

    fn unevaluated(&mut self, at: &mut At<'_, '_>) {
        if let (Some(id), Json::Object(map)) = (at.node.unevaluated_properties, at.value) {
            for name in std::mem::take(&mut at.left.properties) {
                if let Some(inner) = map.get(name) {
                    let done = self.part(at, id, inner, name);
                    at.failures.extend(done.err());
                }
            }
        }
        if let (Some(id), Json::Array(items)) = (at.node.unevaluated_items, at.value) {
            for index in std::mem::take(&mut at.left.items) {
                let done = self.part(at, id, &items[index], &index.to_string());
                at.failures.extend(done.err());
            }
        }
    }
}

/// Whether two values are the same: numbers by their value.
fn equal(a: &Json, b: &Json) -> bool {
    match (a, b) {
        (Json::Number(a), Json::Number(b)) => {
            a == b
                || matches!((Decimal::parse(a), Decimal::parse(b)), (Some(a), Some(b)) if a.cmp(&b).is_eq())
        }
        (Json::Array(a), Json::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a, b)),
        (Json::Object(a), Json::Object(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|((k, a), (l, b))| k == l && equal(a, b))
        }
        (a, b) => a == b,
    }
}

/// The first two items that are equal: of the earliest second one, the earliest first one.
fn duplicates(items: &[Json]) -> Option<(usize, usize)> {
    /// Text that is the same for equal values, so that long lists need not be compared pair by pair.
    fn key(value: &Json, out: &mut String) {
        match value {
            Json::Number(text) => match Decimal::parse(text) {
                Some(number) => out.push_str(&format!("n{};", number.key())),
                None => out.push_str(text),
            },
            Json::Array(items) => {
                out.push('[');
                items.iter().for_each(|item| key(item, out));
                out.push(']');
            }
            Json::Object(map) => {
                out.push('{');
                for (name, inner) in map {
                    out.push_str(&format!("{name:?}:"));
                    key(inner, out);
                }
                out.push('}');
            }
            other => out.push_str(&format!("{other:?};")),
        }
    }
    let mut seen = std::collections::HashMap::new();
    for (index, item) in items.iter().enumerate() {
        let mut text = String::new();
        key(item, &mut text);
        if let Some(first) = seen.insert(text, index) {
            return Some((first, index));
        }
    }
    None
}
