//! Whether a schema plainly fits the schema of schemas of draft 7, which most charts use.
//!
//! To compile that one and to apply it takes longer than everything else about an ordinary chart's schema. What is found to fit here
//! does fit; about anything else nothing is said, and the schema of schemas decides, and words the error.

use super::formats;
use super::json::Json;

/// Whether a schema of draft 7 is one for sure.
pub(super) fn fits(schema: &Json) -> bool {
    match schema {
        Json::Bool(_) => true,
        Json::Object(map) => map.iter().all(|(keyword, value)| holds(keyword, value)),
        _ => false,
    }
}

fn holds(keyword: &str, value: &Json) -> bool {
    match keyword {
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
        "items" => fits(value) || list(value),
        "allOf" | "anyOf" | "oneOf" => list(value),
        "definitions" | "properties" => value.object().is_some_and(|map| map.values().all(fits)),
        "required" => {
            value.array().is_some_and(|names| names.iter().all(|n| n.text().is_some()) && unique(names))
        }
        "type" => match value {
            Json::Array(names) => !names.is_empty() && names.iter().all(is_type) && unique(names),
            name => is_type(name),
        },
        // What is rare, or needs a closer look.
        "multipleOf" | "patternProperties" | "dependencies" => false,
        // `default`, `const`, and what the schema of schemas does not know.
        _ => true,
    }
}

fn formatted(value: &Json, format: &str) -> bool {
    value.text().is_some_and(|text| formats::named(format).is_some_and(|format| (format.check)(text).is_ok()))
}

fn list(value: &Json) -> bool {
    value.array().is_some_and(|items| !items.is_empty() && items.iter().all(fits))
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
            ("[]", false),
        ] {
            assert_eq!(fits(&parse(schema.as_bytes()).unwrap()), expected, "{schema}");
        }
    }
}
