//! A schema from default values, for charts that have none.
//!
//! A default says what a value looks like, not what else it may be: mappings stay open, numbers may be written as text,
//! and what is empty may hold anything of its shape.

use serde_json::{Map, Value, json};

use super::comments::Comments;

/// The schema of some values.
pub(super) fn infer(values: &Value, comments: &Comments) -> Value {
    let mut schema = of(values, &mut Vec::new(), comments);
    if !schema["type"].is_string() {
        schema = open_object();
    }
    schema
}

fn open_object() -> Value {
    json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true })
}

fn of(value: &Value, path: &mut Vec<String>, comments: &Comments) -> Value {
    let mut schema = match value {
        Value::Object(map) => {
            let mut schema = open_object();
            if !map.is_empty() {
                let properties: Map<String, Value> = map
                    .iter()
                    .map(|(key, value)| {
                        path.push(key.clone());
                        let schema = of(value, path, comments);
                        path.pop();
                        (key.clone(), schema)
                    })
                    .collect();
                schema["properties"] = properties.into();
            }
            schema
        }
        Value::Array(list) => json!({ "type": "array", "items": items(list) }),
        Value::Bool(_) => json!({ "type": "boolean" }),
        Value::Number(_) => json!({ "x-kubernetes-int-or-string": true }),
        // A text that is empty may stand for a number: a node port, a size.
        Value::String(text) if text.is_empty() => json!({ "x-kubernetes-preserve-unknown-fields": true }),
        Value::String(_) => json!({ "type": "string" }),
        Value::Null => json!({ "x-kubernetes-preserve-unknown-fields": true }),
    };
    // A fraction is neither an integer nor a text.
    if value.as_f64().is_some_and(|n| n.fract() != 0.0) {
        schema = json!({ "x-kubernetes-preserve-unknown-fields": true });
    }
    if let Some(text) = comments.get(path) {
        schema["description"] = described(text, value).into();
    } else if let Some(default) = default_of(value) {
        schema["description"] = default.into();
    }
    schema
}

/// The schema of a list's items: what all defaults have in common, or anything.
fn items(list: &[Value]) -> Value {
    let all = |is: fn(&Value) -> bool| !list.is_empty() && list.iter().all(is);
    if all(Value::is_object) {
        open_object()
    } else if all(Value::is_string) {
        json!({ "type": "string" })
    } else {
        json!({ "x-kubernetes-preserve-unknown-fields": true })
    }
}

/// A description with the default in it. The CRD itself has no defaults: they are the chart's, and a new version of it may
/// have others.
pub(super) fn described(text: &str, default: &Value) -> String {
    match default_of(default) {
        Some(default) => {
            let end = if text.ends_with(['.', '!', '?']) { "" } else { "." };
            format!("{text}{end} {default}")
        }
        None => text.to_owned(),
    }
}

fn default_of(value: &Value) -> Option<String> {
    match value {
        Value::Bool(_) => Some(format!("Default: {value}.")),
        // Values are float64 in Helm; a whole one is written as one.
        Value::Number(n) => match n.as_f64() {
            Some(f) if f.fract() == 0.0 && f.abs() < 1e15 => Some(format!("Default: {f:.0}.")),
            _ => Some(format!("Default: {n}.")),
        },
        Value::String(text) if !text.is_empty() && text.len() <= 60 && !text.contains('\n') => {
            Some(format!("Default: {text:?}."))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn from_defaults() {
        let values = json!({
            "replicas": 2.0, "ratio": 0.5, "enabled": true, "name": "", "image": {"repository": "a/b", "tag": null},
            "env": [], "hosts": ["a"], "ports": [{"name": "http"}], "labels": {},
        });
        let comments =
            super::super::comments::of("# Number of Pods.\nreplicas: 2\nimage:\n  # Tag to run\n  tag:\n");
        insta::assert_json_snapshot!(infer(&values, &comments));
        assert_eq!(infer(&Value::Null, &comments)["type"], "object");
    }
}
