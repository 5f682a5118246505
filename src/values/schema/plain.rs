//! Whether a schema plainly fits the schema of schemas of its draft, for the drafts that most charts use: 7 and later ones.
//!
//! To compile that one and to apply it takes longer than everything else about an ordinary chart's schema. What is found to fit here
//! does fit; about anything else nothing is said, and the schema of schemas decides, and words the error.

use super::formats;
use super::json::Json;
use super::node::Draft;

/// Whether a schema is one for sure.
pub(super) fn fits(schema: &Json, draft: Draft) -> bool {
    match schema {
        Json::Bool(_) => draft >= Draft::Draft7,
        Json::Object(map) => {
            draft >= Draft::Draft7 && map.iter().all(|(keyword, value)| holds(keyword, value, draft))
        }
        _ => false,
    }
}

fn holds(keyword: &str, value: &Json, draft: Draft) -> bool {
    let later = draft >= Draft::Draft2019;
    let fits = |schema: &Json| fits(schema, draft);
    let list =
        |schemas: &Json| schemas.array().is_some_and(|items| !items.is_empty() && items.iter().all(fits));
    match keyword {
        "$id" if later => {
            formatted(value, "uri-reference") && value.text().is_some_and(|id| !id.contains('#'))
        }
        "$id" | "$ref" => formatted(value, "uri-reference"),
        "$schema" => formatted(value, "uri"),
        "pattern" => formatted(value, "regex"),
        "$comment" | "title" | "description" | "format" | "contentMediaType" | "contentEncoding" => {
            value.text().is_some()
        }
        "readOnly" | "writeOnly" | "uniqueItems" => matches!(value, Json::Bool(_)),
        "examples" | "enum" => value.array().is_some(),
        "maximum" | "exclusiveMaximum" | "minimum" | "exclusiveMinimum" => matches!(value, Json::Number(_)),
        "maxLength" | "minLength" | "maxItems" | "minItems" | "maxProperties" | "minProperties" => {
            matches!(value, Json::Number(text) if text.bytes().all(|byte| byte.is_ascii_digit()))
        }
        "additionalItems"
        | "contains"
        | "additionalProperties"
        | "propertyNames"
        | "if"
        | "then"
        | "else"
        | "not" => fits(value),
        "items" => fits(value) || (draft < Draft::Draft2020 && list(value)),
        "allOf" | "anyOf" | "oneOf" => list(value),
        "definitions" | "properties" => value.object().is_some_and(|map| map.values().all(fits)),
        "patternProperties" => value.object().is_some_and(|map| {
            map.iter().all(|(pattern, schema)| has_format(pattern, "regex") && fits(schema))
        }),
        "required" => {
            value.array().is_some_and(|names| names.iter().all(|n| n.text().is_some()) && unique(names))
        }
        "type" => match value {
            Json::Array(names) => !names.is_empty() && names.iter().all(is_type) && unique(names),
            name => is_type(name),
        },
        "$defs" if later => value.object().is_some_and(|map| map.values().all(fits)),
        "deprecated" if later => matches!(value, Json::Bool(_)),
        // What is rare, or needs a closer look.
        "multipleOf" | "dependencies" => false,
        "$anchor"
        | "$dynamicAnchor"
        | "$dynamicRef"
        | "$recursiveAnchor"
        | "$recursiveRef"
        | "$vocabulary"
        | "contentSchema"
        | "dependentRequired"
        | "dependentSchemas"
        | "maxContains"
        | "minContains"
        | "prefixItems"
        | "unevaluatedItems"
        | "unevaluatedProperties" => !later,
        // `default`, `const`, and what the schema of schemas does not know.
        _ => true,
    }
}

fn formatted(value: &Json, format: &str) -> bool {
    value.text().is_some_and(|text| has_format(text, format))
}

fn has_format(text: &str, format: &str) -> bool {
    formats::named(format).is_some_and(|format| (format.check)(text).is_ok())
}

fn is_type(name: &Json) -> bool {
    matches!(name.text(), Some("array" | "boolean" | "integer" | "null" | "number" | "object" | "string"))
}

fn unique(items: &[Json]) -> bool {
    // Long lists are left to what compares them better.
    items.len() <= 64 && items.iter().enumerate().all(|(at, item)| !items[..at].contains(item))
}

#[cfg(test)]
mod tests {
    use super::super::json::parse;
    use super::super::{node::Draft, validate_one};
    use super::fits;

    #[test]
    fn what_is_wrong_is_never_plain() {
        for (schema, expected) in [
            (r##"{"$schema": "http://json-schema.org/draft-07/schema#", "type": ["object", "null"]}"##, true),
            (
                r##"{"properties": {"a": {"$ref": "#/definitions/b", "default": 1}}, "required": ["a"]}"##,
                true,
            ),
            (r#"{"items": [{"minLength": 1}, true], "anyOf": [{}], "x-unknown": {"type": 1}}"#, true),
            (r#"{"type": "text"}"#, false),
            (r#"{"type": []}"#, false),
            (r#"{"type": ["null", "null"]}"#, false),
            (r#"{"required": ["a", "a"]}"#, false),
            (r#"{"minLength": -1}"#, false),
            (r#"{"minLength": 1.5}"#, false),
            (r#"{"anyOf": []}"#, false),
            (r#"{"pattern": "("}"#, false),
            (r#"{"properties": {"a": 1}}"#, false),
            (r#"{"items": {"not": {"enum": 1}}}"#, false),
            (r#"{"patternProperties": {"^a": {"type": "string"}}}"#, true),
            (r#"{"patternProperties": {"(": {}}}"#, false),
            (r#"{"patternProperties": {"^a": 1}}"#, false),
            ("[]", false),
        ] {
            for draft in [Draft::Draft7, Draft::Draft2019, Draft::Draft2020] {
                // Of an item each, the last draft has another keyword.
                let expected = expected && !(draft == Draft::Draft2020 && schema.contains(r#""items": ["#));
                assert_eq!(fits(&parse(schema.as_bytes()).unwrap(), draft), expected, "{schema} {draft:?}");
            }
        }
    }

    #[test]
    fn later_drafts_have_keywords_of_their_own() {
        for (schema, expected) in [
            (r##"{"$defs": {"a": {"type": "null"}}, "$ref": "#/$defs/a", "deprecated": true}"##, true),
            (r#"{"$defs": {"a": 1}}"#, false),
            (r#"{"$defs": {"a": {"items": {"type": "text"}}}}"#, false),
            (r##"{"$id": "http://a.example/b#c"}"##, false),
            (r#"{"deprecated": 1}"#, false),
            (r#"{"$anchor": "a"}"#, false),
        ] {
            for draft in [Draft::Draft2019, Draft::Draft2020] {
                assert_eq!(fits(&parse(schema.as_bytes()).unwrap(), draft), expected, "{schema} {draft:?}");
            }
        }
        // What is plain is what the schemas of schemas take: they see what is put behind a keyword that is not.
        for draft in ["draft/2019-09/schema", "draft/2020-12/schema"] {
            let schema = |more: &str| {
                format!(
                    r##"{{"$schema": "https://json-schema.org/{draft}", "$defs": {{"a": {{"type": ["object", "null"]}}}},
                    "$ref": "#/$defs/a", "properties": {{"b": {{"minLength": 1, "title": "B", "examples": []}}}},
                    "patternProperties": {{"^a": true}}, "additionalProperties": {{}}, "required": ["a"]{more}}}"##
                )
            };
            let (plain, other) = (schema(""), schema(r#", "multipleOf": 1"#));
            let values = tera::Value::from(1);
            assert_eq!(
                validate_one(plain.as_bytes(), &values).unwrap_err(),
                validate_one(other.as_bytes(), &values).unwrap_err()
            );
        }
    }
}
