//! JSON Schema made structural, as CRDs need it.
//!
//! What a structural schema cannot say is left out, never turned into something stricter: the chart's own schema is
//! validated in full when it is rendered. What may be left open is left open. Three things follow from values being laid over
//! defaults: a field is required only where the chart has no default for it, the schema has no defaults of its own, and
//! descriptions tell the chart's.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::{comments::Comments, infer::described};

/// References are followed so deep, and schemas so deep; what is deeper is left open.
const DEPTH: usize = 24;

/// A structural schema for values: from their JSON Schema, the chart's defaults, and the comments on these.
pub(super) fn structural(schema: &Value, defaults: &Value, comments: &Comments) -> Value {
    let cx = Cx { root: schema, comments };
    let mut out = cx.convert(schema, Some(defaults), &mut Vec::new(), &mut Vec::new());
    // The spec is an object, whatever the schema does not say.
    if out["type"] != "object" {
        out = json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true });
    }
    out
}

struct Cx<'a> {
    root: &'a Value,
    comments: &'a Comments,
}

fn open() -> Value {
    json!({ "x-kubernetes-preserve-unknown-fields": true })
}

/// Keywords whose meaning is the same here and there.
const SAME: &[&str] = &[
    "title",
    "description",
    "format",
    "enum",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "maxProperties",
    "multipleOf",
    "minimum",
    "maximum",
];

impl Cx<'_> {
    /// `defaults`: the chart's default at this place; none inside of lists and of maps with any keys, where there are none.
    fn convert(
        &self,
        schema: &Value,
        defaults: Option<&Value>,
        path: &mut Vec<String>,
        refs: &mut Vec<String>,
    ) -> Value {
        if path.len() + refs.len() > DEPTH {
            return open();
        }
        let depth = refs.len();
        let Some(flat) = self.flatten(schema, refs) else {
            refs.truncate(depth);
            return open();
        };
        let mut out = self.convert_flat(&flat, defaults, path, refs);
        refs.truncate(depth);
        let said = out
            .get("description")
            .and_then(Value::as_str)
            .or_else(|| self.comments.get(path).map(String::as_str));
        if let Some(said) = said {
            out["description"] = described(said, defaults.unwrap_or(&Value::Null)).into();
        }
        out
    }

    /// The schema of any item of a list or a map: there are no defaults, and no comments on it.
    fn convert_any(&self, schema: &Value, path: &mut Vec<String>, refs: &mut Vec<String>) -> Value {
        path.push("*".to_owned());
        let out = self.convert(schema, None, path, refs);
        path.pop();
        out
    }

    /// The schema with its references and `allOf` merged into it. None when there is no telling: `false`, a reference to
    /// elsewhere or to itself.
    fn flatten(&self, schema: &Value, refs: &mut Vec<String>) -> Option<Map<String, Value>> {
        let map = match schema {
            Value::Object(map) => map,
            Value::Bool(true) => return Some(Map::new()),
            _ => return None,
        };
        let mut out = map.clone();
        if let Some(Value::String(reference)) = out.remove("$ref") {
            if refs.contains(&reference) || refs.len() > DEPTH {
                return None;
            }
            refs.push(reference.clone());
            let target = self.root.pointer(reference.strip_prefix('#')?)?;
            merge(&mut out, self.flatten(target, refs)?);
        }
        if let Some(Value::Array(all)) = out.remove("allOf") {
            for part in &all {
                // A condition cannot be said structurally.
                if part.get("if").is_some() || part.get("not").is_some() {
                    continue;
                }
                merge(&mut out, self.flatten(part, refs)?);
            }
        }
        Some(out)
    }

    fn convert_flat(
        &self,
        schema: &Map<String, Value>,
        defaults: Option<&Value>,
        path: &mut Vec<String>,
        refs: &mut Vec<String>,
    ) -> Value {
        let (types, nullable) = match self.types(schema, refs) {
            Some(found) => found,
            None => return annotated(open(), schema),
        };
        let mut out = Map::new();
        let types: Vec<&str> = types.iter().map(String::as_str).collect();
        match types[..] {
            ["integer" | "number", "string"] => {
                let mut out = annotated(json!({ "x-kubernetes-int-or-string": true }), schema);
                if nullable {
                    out["nullable"] = true.into();
                }
                return out;
            }
            [one] => {
                out.insert("type".into(), one.into());
            }
            _ => return annotated(open(), schema),
        }
        if nullable {
            out.insert("nullable".into(), true.into());
        }
        for key in SAME {
            if let Some(value) = schema.get(*key) {
                out.insert((*key).into(), value.clone());
            }
        }
        if let Some(value) = schema.get("const") {
            out.insert("enum".into(), json!([value]));
        }
        // A null among others is what `nullable` says.
        if let Some(Value::Array(values)) = out.get_mut("enum") {
            let before = values.len();
            values.retain(|v| !v.is_null());
            if values.len() < before {
                out.insert("nullable".into(), true.into());
            }
        }
        for (bound, exclusive) in [("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")] {
            match schema.get(exclusive) {
                // Draft 4 and Kubernetes: a flag. Later drafts: the bound itself.
                Some(Value::Bool(flag)) => {
                    out.insert(exclusive.into(), (*flag).into());
                }
                Some(value @ Value::Number(_)) => {
                    out.insert(bound.into(), value.clone());
                    out.insert(exclusive.into(), true.into());
                }
                _ => {}
            }
        }
        // The API server speaks RE2, as the regex crate nearly does; JSON Schema more.
        if let Some(Value::String(pattern)) = schema.get("pattern")
            && regex::Regex::new(pattern).is_ok()
        {
            out.insert("pattern".into(), pattern.clone().into());
        }
        match types[..] {
            ["object"] => self.object(schema, defaults, path, refs, &mut out),
            ["array"] => {
                let items = match schema.get("items") {
                    Some(items @ Value::Object(_)) => self.convert_any(items, path, refs),
                    _ => open(),
                };
                out.insert("items".into(), items);
            }
            _ => {}
        }
        Value::Object(out)
    }

    fn object(
        &self,
        schema: &Map<String, Value>,
        defaults: Option<&Value>,
        path: &mut Vec<String>,
        refs: &mut Vec<String>,
        out: &mut Map<String, Value>,
    ) {
        let has_default = |key: &str| defaults.and_then(|d| d.get(key)).is_some_and(|v| !v.is_null());
        let properties: Map<String, Value> = schema
            .get("properties")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
            .map(|(key, property)| {
                path.push(key.clone());
                let converted = self.convert(property, defaults.and_then(|d| d.get(key)), path, refs);
                path.pop();
                (key.clone(), converted)
            })
            .collect();
        if let Some(Value::Array(required)) = schema.get("required") {
            let left: Vec<&Value> =
                required.iter().filter(|k| k.as_str().is_some_and(|k| !has_default(k))).collect();
            if !left.is_empty() {
                out.insert("required".into(), json!(left));
            }
        }
        if defaults.and_then(Value::as_object).is_none_or(Map::is_empty)
            && let Some(least) = schema.get("minProperties")
        {
            out.insert("minProperties".into(), least.clone());
        }
        let additional = schema.get("additionalProperties");
        let patterns = schema.get("patternProperties").and_then(Value::as_object).filter(|p| !p.is_empty());
        match (properties.is_empty(), additional, patterns) {
            // A map of one kind of values.
            (true, Some(of @ Value::Object(_)), None) => {
                let of = self.convert_any(of, path, refs);
                out.insert("additionalProperties".into(), of);
            }
            // Closed: what is not named is refused.
            (false, Some(Value::Bool(false)), None) => {}
            _ => {
                out.insert("x-kubernetes-preserve-unknown-fields".into(), true.into());
            }
        }
        if !properties.is_empty() {
            out.insert("properties".into(), properties.into());
        }
    }

    /// The types that a schema allows, sorted, and whether null is one. None when it does not say.
    fn types(&self, schema: &Map<String, Value>, refs: &mut Vec<String>) -> Option<(Vec<String>, bool)> {
        let mut found: BTreeSet<String> = BTreeSet::new();
        match schema.get("type") {
            Some(Value::String(one)) => {
                found.insert(one.clone());
            }
            Some(Value::Array(many)) => {
                found.extend(many.iter().filter_map(Value::as_str).map(str::to_owned));
            }
            _ => {
                if let Some(branches) =
                    schema.get("anyOf").or_else(|| schema.get("oneOf")).and_then(Value::as_array)
                {
                    for branch in branches {
                        let depth = refs.len();
                        let flat = self.flatten(branch, refs);
                        refs.truncate(depth);
                        // Objects of several shapes: which fields there are cannot be said.
                        let (types, nullable) = self.types(&flat?, refs)?;
                        if types.iter().any(|t| t == "object" || t == "array") {
                            return None;
                        }
                        found.extend(types);
                        if nullable {
                            found.insert("null".into());
                        }
                    }
                } else if schema.contains_key("properties") || schema.contains_key("additionalProperties") {
                    found.insert("object".into());
                } else if let Some(values) = schema
                    .get("enum")
                    .and_then(Value::as_array)
                    .cloned()
                    .or_else(|| schema.get("const").map(|c| vec![c.clone()]))
                {
                    for value in values {
                        let name = match value {
                            Value::String(_) => "string",
                            Value::Bool(_) => "boolean",
                            Value::Number(n) if n.is_f64() => "number",
                            Value::Number(_) => "integer",
                            Value::Null => "null",
                            _ => return None,
                        };
                        found.insert(name.into());
                    }
                } else {
                    return None;
                }
            }
        }
        let nullable = found.remove("null");
        if found.contains("number") {
            found.remove("integer");
        }
        // Sorted, so integer and number come before string.
        (!found.is_empty() || nullable).then(|| (found.into_iter().collect(), nullable))
    }
}

/// A schema that says little, with what there is to say for people.
fn annotated(mut out: Value, schema: &Map<String, Value>) -> Value {
    for key in ["title", "description"] {
        if let Some(text) = schema.get(key) {
            out[key] = text.clone();
        }
    }
    out
}

/// Lays one schema over another: both must hold.
fn merge(into: &mut Map<String, Value>, from: Map<String, Value>) {
    for (key, value) in from {
        let same_kind = match (key.as_str(), into.get_mut(&key)) {
            (_, None) => false,
            ("properties" | "$defs" | "definitions", Some(Value::Object(own))) => {
                for (name, schema) in value.as_object().into_iter().flatten() {
                    match own.get_mut(name) {
                        // Both parts speak of the property: what both say must hold, so it is left to them together.
                        Some(Value::Object(mine)) => {
                            if let Value::Object(theirs) = schema {
                                merge(mine, theirs.clone());
                            }
                        }
                        _ => {
                            own.insert(name.clone(), schema.clone());
                        }
                    }
                }
                true
            }
            ("required", Some(Value::Array(own))) => {
                for name in value.as_array().into_iter().flatten() {
                    if !own.contains(name) {
                        own.push(name.clone());
                    }
                }
                true
            }
            // What the place itself says about itself wins.
            _ => true,
        };
        if !same_kind {
            into.insert(key, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn convert(schema: &Value, defaults: &Value) -> Value {
        structural(schema, defaults, &Comments::new())
    }

    fn property(schema: &Value) -> Value {
        convert(&json!({"type": "object", "properties": {"p": schema}}), &json!({}))["properties"]["p"]
            .clone()
    }

    #[test]
    fn each_keyword() {
        let cases = [
            json!({"type": ["string", "null"], "minLength": 1}),
            json!({"type": ["integer", "string"], "description": "A port."}),
            json!({"anyOf": [{"type": "integer"}, {"type": "string"}, {"type": "null"}]}),
            json!({"oneOf": [{"type": "object"}, {"type": "string"}]}),
            json!({"type": "integer", "exclusiveMinimum": 0, "maximum": 9}),
            json!({"const": "fixed"}),
            json!({"enum": ["a", "b", null]}),
            json!({"type": "string", "pattern": "^(?!x)"}),
            json!({"type": "array", "uniqueItems": true, "items": {"type": "string"}}),
            json!({"type": "array"}),
            json!({"type": "object", "additionalProperties": {"type": "string"}}),
            json!({"type": "object", "patternProperties": {"^x": {"type": "string"}}}),
            json!({"properties": {"a": {"type": "string"}}, "additionalProperties": false}),
            json!({"$ref": "https://example.com/schema.json"}),
            json!(true),
            json!({}),
        ];
        let all: Vec<Value> = cases.into_iter().map(|c| json!({"to": property(&c), "from": c})).collect();
        insta::assert_json_snapshot!(all);
    }

    #[test]
    fn what_has_a_default_is_not_required() {
        let schema = json!({"type": "object", "required": ["a", "b"], "properties": {
            "a": {"type": "string"}, "b": {"type": "string", "default": "x"},
            "c": {"type": "object", "required": ["d"], "properties": {"d": {"type": "integer", "description": "A number"}}}}});
        let out = convert(&schema, &json!({"a": "1", "c": {"d": 3}}));
        assert_eq!(out["required"], json!(["b"]));
        assert!(out["properties"]["c"].get("required").is_none());
        assert!(out["properties"]["b"].get("default").is_none());
        assert_eq!(out["properties"]["c"]["properties"]["d"]["description"], "A number. Default: 3.");
    }

    #[test]
    fn references_are_inlined_and_recursion_ends() {
        let schema = json!({"type": "object", "properties": {
            "a": {"$ref": "#/$defs/duration", "description": "How long."}, "tree": {"$ref": "#/$defs/node"}},
            "$defs": {
                "duration": {"type": "string", "pattern": "^[0-9]+s$", "description": "A duration."},
                "node": {"type": "object", "properties": {"child": {"$ref": "#/$defs/node"}}, "additionalProperties": false}}});
        let out = convert(&schema, &json!({}));
        assert_eq!(
            out["properties"]["a"],
            json!({"type": "string", "pattern": "^[0-9]+s$", "description": "How long."})
        );
        assert_eq!(out["properties"]["tree"]["properties"]["child"], open());
    }

    #[test]
    fn all_of_is_merged() {
        let out = property(&json!({"allOf": [
            {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
            {"properties": {"b": {"type": "integer"}, "a": {"minLength": 2}}},
            {"if": {"properties": {"a": {"const": "x"}}}, "then": {"required": ["b"]}}]}));
        assert_eq!(out["properties"]["a"], json!({"type": "string", "minLength": 2}));
        assert_eq!(out["properties"]["b"]["type"], "integer");
        assert_eq!(out["required"], json!(["a"]));
    }
}
