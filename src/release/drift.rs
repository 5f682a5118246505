//! Who changed which fields of ours: read from `managedFields`, for Events. Whether there is drift at all is told by hashes
//! alone (see [`super::plan`]).

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ManagedFieldsEntry;
use serde_json::{Map, Value};

use crate::api::names;

/// So many fields of one manager are named.
const NAMED: usize = 5;

/// Fields that were taken from us by one field manager, or that are simply gone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Taken {
    /// The manager that holds them now; none for fields that nobody holds: they were removed.
    pub manager: Option<String>,
    /// Their paths, sorted.
    pub fields: Vec<String>,
}

/// Whether an entry of `managedFields` is that of our applies.
pub(super) fn is_ours(e: &ManagedFieldsEntry) -> bool {
    e.manager.as_deref() == Some(names::FIELD_MANAGER)
        && e.operation.as_deref() == Some("Apply")
        && e.subresource.as_deref().unwrap_or_default().is_empty()
}

/// What of `desired` is no longer in our entry of `managed`, by who has it.
pub fn taken(desired: &Value, managed: &[ManagedFieldsEntry]) -> Vec<Taken> {
    let empty = Map::new();
    let tree = |e: &ManagedFieldsEntry| e.fields_v1.as_ref().and_then(|f| f.0.as_object().cloned());
    let ours = managed.iter().find(|e| is_ours(e)).and_then(tree).unwrap_or_default();
    let mut missing = Vec::new();
    let mut body = desired.as_object().unwrap_or(&empty).clone();
    // Identity is nobody's field.
    for key in ["apiVersion", "kind"] {
        body.remove(key);
    }
    if let Some(metadata) = body.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("name");
        metadata.remove("namespace");
    }
    not_owned(&Value::Object(body), Some(&ours), &mut Vec::new(), &mut missing);
    let others: Vec<(&str, Map<String, Value>)> = managed
        .iter()
        .filter(|e| !is_ours(e))
        .filter_map(|e| Some((e.manager.as_deref()?, tree(e)?)))
        .collect();
    let mut by_manager: BTreeMap<Option<String>, Vec<String>> = BTreeMap::new();
    for path in missing {
        let holder =
            others.iter().find(|(_, tree)| holds(tree, &path)).map(|(manager, _)| (*manager).to_owned());
        by_manager.entry(holder).or_default().push(text(&path));
    }
    by_manager
        .into_iter()
        .map(|(manager, mut fields)| {
            fields.sort();
            fields.dedup();
            Taken { manager, fields }
        })
        .collect()
}

/// What happened, in a sentence: `kubectl-edit took .spec.replicas; .metadata.labels.app was removed`.
pub fn sentence(taken: &[Taken]) -> String {
    let parts: Vec<String> = taken
        .iter()
        .map(|t| {
            let mut fields = t.fields.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
            if t.fields.len() > NAMED {
                fields.push_str(&format!(" and {} more", t.fields.len() - NAMED));
            }
            match &t.manager {
                Some(manager) => format!("{manager} took {fields}"),
                None if t.fields.len() == 1 => format!("{fields} was removed"),
                None => format!("{fields} were removed"),
            }
        })
        .collect();
    parts.join("; ")
}

/// Who wants the same fields, in a sentence: `pintle and kubectl-edit both set .spec.replicas`. None when the fields are
/// held by nobody else: then they were removed.
pub fn contest(taken: &[Taken]) -> Option<String> {
    let parts: Vec<String> = taken
        .iter()
        .filter_map(|t| {
            let fields = t.fields.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
            Some(format!("{} and {} both set {fields}", names::FIELD_MANAGER, t.manager.as_ref()?))
        })
        .collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// Whether a HorizontalPodAutoscaler's controller holds the replica count: it alone scales from inside the controller
/// manager.
pub fn is_autoscaled(managed: &[ManagedFieldsEntry]) -> bool {
    managed.iter().any(|e| {
        e.manager.as_deref() == Some("kube-controller-manager")
            && e.subresource.as_deref() == Some("scale")
            && e.fields_v1.as_ref().is_some_and(|f| f.0.pointer("/f:spec/f:replicas").is_some())
    })
}

/// A path as keys of `fieldsV1`: `f:spec`, `k:{"name":"c"}`, `f:image`.
type Path = Vec<String>;

/// Collects the paths of what is in `body` and not in `tree`.
fn not_owned(body: &Value, tree: Option<&Map<String, Value>>, at: &mut Path, into: &mut Vec<Path>) {
    let Some(tree) = tree else {
        match body {
            Value::Object(map) if !map.is_empty() => {
                for (key, value) in map {
                    at.push(format!("f:{key}"));
                    not_owned(value, None, at, into);
                    at.pop();
                }
            }
            _ => into.push(at.clone()),
        }
        return;
    };
    match body {
        Value::Object(map) => {
            // No children: the mapping is owned as a whole.
            if tree.is_empty() && !at.is_empty() {
                return;
            }
            for (key, value) in map {
                at.push(format!("f:{key}"));
                let last = &at[at.len() - 1];
                not_owned(value, tree.get(last).and_then(Value::as_object), at, into);
                at.pop();
            }
        }
        Value::Array(list) => {
            if tree.is_empty() {
                return;
            }
            for item in list {
                let key = tree.keys().find(|k| is_key_of(k, item)).cloned();
                let children = key.as_ref().and_then(|k| tree.get(k)).and_then(Value::as_object);
                at.push(key.unwrap_or_else(|| guessed_key(item)));
                match item {
                    Value::Object(_) => not_owned(item, children, at, into),
                    _ if children.is_none() => into.push(at.clone()),
                    _ => {}
                }
                at.pop();
            }
        }
        _ => {}
    }
}

/// Whether a key of a list's entry in `fieldsV1` (`k:{…}` or `v:…`) is that of an item. A key field that the item does not
/// name has a default.
pub(super) fn is_key_of(key: &str, item: &Value) -> bool {
    if let Some(keys) = key.strip_prefix("k:") {
        let Ok(Value::Object(keys)) = serde_json::from_str(keys) else { return false };
        return item.is_object() && keys.iter().all(|(k, v)| item.get(k).is_none_or(|own| own == v));
    }
    key.strip_prefix("v:").is_some_and(|v| serde_json::from_str::<Value>(v).is_ok_and(|v| v == *item))
}

/// What the key of an item that nobody knows may be, for a person to recognise it.
fn guessed_key(item: &Value) -> String {
    for name in ["name", "uid", "key", "mountPath", "containerPort", "port", "ip", "type", "topologyKey"] {
        if let Some(value) = item.get(name) {
            return format!("k:{{{}:{value}}}", Value::from(name));
        }
    }
    if item.is_object() || item.is_array() { "k:{}".to_owned() } else { format!("v:{item}") }
}

/// Whether a manager's tree has a path, or owns something that holds it.
fn holds(tree: &Map<String, Value>, path: &[String]) -> bool {
    let Some((first, rest)) = path.split_first() else { return true };
    match tree.get(first).and_then(Value::as_object) {
        Some(children) => rest.is_empty() || children.is_empty() || holds(children, rest),
        None => false,
    }
}

/// A path for a person: `.spec.containers[name="c"].image`.
fn text(path: &[String]) -> String {
    let mut out = String::new();
    for step in path {
        if let Some(field) = step.strip_prefix("f:") {
            out.push('.');
            out.push_str(field);
        } else if let Some(keys) = step.strip_prefix("k:") {
            let keys: Map<String, Value> = serde_json::from_str(keys).unwrap_or_default();
            let keys: Vec<String> = keys.iter().map(|(k, v)| format!("{k}={v}")).collect();
            out.push_str(&format!("[{}]", keys.join(",")));
        } else if let Some(value) = step.strip_prefix("v:") {
            out.push_str(&format!("[={value}]"));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn managed(entries: Value) -> Vec<ManagedFieldsEntry> {
        serde_json::from_value(entries).unwrap()
    }

    fn desired() -> Value {
        json!({"apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": "web", "namespace": "shop", "labels": {"app": "web", "tier": "front"}},
            "spec": {"replicas": 2, "template": {"spec": {"containers": [
                {"name": "c", "image": "a:1", "args": ["x"], "ports": [{"containerPort": 80}]}]}}}})
    }

    fn containers(fields: &Value) -> Value {
        json!({"f:template": {"f:spec": {"f:containers": {"k:{\"name\":\"c\"}": fields}}}})
    }

    #[test]
    fn nothing_is_taken_when_all_is_ours() {
        let mut spec = containers(&json!({".": {}, "f:name": {}, "f:image": {}, "f:args": {},
            "f:ports": {"k:{\"containerPort\":80,\"protocol\":\"TCP\"}": {".": {}, "f:containerPort": {}}}}));
        spec["f:replicas"] = json!({});
        let fields = managed(json!([{"manager": "pintle", "operation": "Apply",
            "fieldsV1": {"f:metadata": {"f:labels": {"f:app": {}, "f:tier": {}}}, "f:spec": spec}}]));
        assert_eq!(taken(&desired(), &fields), []);
    }

    #[test]
    fn who_took_what() {
        let ours = containers(&json!({".": {}, "f:name": {}, "f:args": {}}));
        let theirs = containers(&json!({"f:image": {}}));
        let fields = managed(json!([
            {"manager": "kubectl-edit", "operation": "Update", "fieldsV1": {"f:spec": theirs}},
            {"manager": "kubectl", "operation": "Update", "subresource": "scale", "fieldsV1": {"f:spec": {"f:replicas": {}}}},
            {"manager": "pintle", "operation": "Apply",
             "fieldsV1": {"f:metadata": {"f:labels": {"f:app": {}}}, "f:spec": ours}},
            {"manager": "pintle", "operation": "Apply", "subresource": "status", "fieldsV1": {"f:spec": {"f:replicas": {}}}},
        ]));
        insta::assert_snapshot!(sentence(&taken(&desired(), &fields)));
    }

    #[test]
    fn everything_is_gone_with_our_entry() {
        let said = sentence(&taken(&desired(), &[]));
        insta::assert_snapshot!(said, @".metadata.labels.app, .metadata.labels.tier, .spec.replicas, .spec.template.spec.containers were removed");
    }
}
