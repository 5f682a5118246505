//! Values as the judge writes them.

use std::collections::BTreeMap;

use pintle::value::kind::kind_of;
use pintle::yaml::number::go_format_float;
use tera::{Map, Value};

/// A value with its types: `i5` is an int64, `f5` a float64.
pub fn dump(value: &Value) -> String {
    match kind_of(value) {
        "invalid" => "null".to_owned(),
        "string" => serde_json::to_string(value.as_str().unwrap()).unwrap(),
        "bool" => value.as_bool().unwrap().to_string(),
        "int64" => format!("i{}", value.as_i128().unwrap()),
        "float64" => format!("f{}", go_format_float(value.as_f64().unwrap())),
        "slice" => {
            let items: Vec<_> = value.as_array().unwrap().iter().map(dump).collect();
            format!("[{}]", items.join(","))
        }
        "map" => {
            let mut parts: Vec<_> = value
                .as_map()
                .unwrap()
                .iter()
                .filter_map(|(key, value)| Some((key.as_str()?, value)))
                .map(|(key, value)| format!("{}:{}", serde_json::to_string(key).unwrap(), dump(value)))
                .collect();
            parts.sort();
            format!("{{{}}}", parts.join(","))
        }
        other => panic!("a value of kind {other}"),
    }
}

/// The groups of paths at which the very same map stands.
pub fn shared(value: &Value) -> Vec<String> {
    fn walk(at: &mut BTreeMap<*const Map, Vec<String>>, path: &str, value: &Value) {
        if let Some(map) = value.as_map() {
            at.entry(std::ptr::from_ref(map)).or_default().push(path.to_owned());
            for (key, inner) in map {
                walk(at, &format!("{path}/{}", key.as_str().unwrap()), inner);
            }
        } else if let Some(items) = value.as_array() {
            for (index, inner) in items.iter().enumerate() {
                walk(at, &format!("{path}/{index}"), inner);
            }
        }
    }
    let mut at = BTreeMap::new();
    walk(&mut at, "", value);
    let mut groups: Vec<_> = at.into_values().filter(|paths| paths.len() > 1).collect();
    groups.iter_mut().for_each(|paths| paths.sort());
    let mut groups: Vec<_> = groups.into_iter().map(|paths| paths.join(" ")).collect();
    groups.sort();
    groups
}
