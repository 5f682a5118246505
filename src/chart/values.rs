//! Values files: one or more YAML documents, merged.

use tera::{Map, Value};

use crate::yaml;

/// Reads a values file: the maps of its documents, later ones over earlier ones. Numbers are float64.
///
/// The error is Helm's, without what led there: `cannot unmarshal yaml document: …`.
pub fn load_values(data: &[u8]) -> Result<Value, String> {
    let options = yaml::Options { target: yaml::Target::Map, ..yaml::Options::default() };
    let mut merged: Option<Value> = None;
    for document in yaml::documents(data) {
        let document = document.map_err(|e| format!("error reading yaml document: {e}"))?;
        let map = yaml::parse_with(&document, &options)
            .map_err(|e| format!("cannot unmarshal yaml document: {e}"))?;
        merged = Some(match merged {
            None => map,
            Some(before) => merge_maps(before, map),
        });
    }
    Ok(merged.filter(Value::is_map).unwrap_or_else(|| Value::from(Map::default())))
}

/// Lays `over` on `under`: maps are merged, all else is replaced. Both are maps; what is none counts as empty.
pub fn merge_maps(under: Value, over: Value) -> Value {
    let mut merged = under.into_map().unwrap_or_default();
    for (key, value) in over.into_map().unwrap_or_default() {
        let both = value.is_map() && merged.get(&key).is_some_and(Value::is_map);
        let value = match both.then(|| merged.remove(&key)).flatten() {
            Some(before) => merge_maps(before, value),
            None => value,
        };
        merged.insert(key, value);
    }
    Value::from(merged)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loaded(text: &str) -> String {
        load_values(text.as_bytes()).map_or_else(|e| e, |v| serde_json::to_string(&v).unwrap())
    }

    #[test]
    fn documents_are_merged() {
        assert_eq!(loaded("a: {b: 1}\n---\n# nothing\n--- # more\na: {b: 2}"), r#"{"a":{"b":2.0}}"#);
        assert_eq!(loaded(""), "{}");
        assert_eq!(loaded("---\r\n---\r\n"), "{}");
        assert_eq!(loaded("a: 1\n---x\n"), "error reading yaml document: invalid Yaml document separator: x");
        assert_eq!(
            loaded("- a\n"),
            "cannot unmarshal yaml document: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal array into Go value of type map[string]interface {}"
        );
    }
}
