//! Lists of which somebody else has made an item of ours another one: the port of a Service edited by hand. Pure.
//!
//! Server-side apply tells items apart by their keys, so that an item whose key was changed is somebody else's, and ours comes
//! back beside it. Where the API server refuses both together, the list is made what it was.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{FieldsV1, ManagedFieldsEntry};
use serde_json::{Map, Value, json};

use super::takeover::is_ours;
use crate::api::names;

/// A merge patch that puts items of ours in the place of those that they were made; none where nothing is such. Items keep what
/// ours do not say. Only lists that are not within other lists are looked at: a patch cannot name others.
pub fn replaced(body: &Value, live: &Value) -> Option<Value> {
    let managed: Vec<ManagedFieldsEntry> =
        serde_json::from_value(live["metadata"]["managedFields"].clone()).ok()?;
    let mut trees = Vec::new();
    let mut ours = Vec::new();
    for entry in &managed {
        if let Some(FieldsV1(Value::Object(tree))) = &entry.fields_v1 {
            if is_ours(entry) { ours.push(tree) } else { trees.push(tree) }
        }
    }
    let spec = patch(&body["spec"], &live["spec"], &below(&trees, "f:spec"), &below(&ours, "f:spec"))?;
    Some(json!({ "metadata": { "resourceVersion": live["metadata"]["resourceVersion"] }, "spec": spec }))
}

/// An object's `managedFields` without what [`replaced`] leaves there: what we have patched, and not applied.
pub fn forgotten(managed: &[ManagedFieldsEntry]) -> Vec<ManagedFieldsEntry> {
    let patched = |e: &&ManagedFieldsEntry| {
        e.manager.as_deref() == Some(names::FIELD_MANAGER)
            && e.operation.as_deref() == Some("Update")
            && e.subresource.as_deref().unwrap_or_default().is_empty()
    };
    managed.iter().filter(|e| !patched(e)).cloned().collect()
}

type Tree = Map<String, Value>;

fn below<'t>(trees: &[&'t Tree], key: &str) -> Vec<&'t Tree> {
    trees.iter().filter_map(|tree| tree.get(key)?.as_object()).collect()
}

fn patch(body: &Value, live: &Value, trees: &[&Tree], ours: &[&Tree]) -> Option<Value> {
    match (body, live) {
        (Value::Object(body), Value::Object(live)) => {
            let mut patched = Map::new();
            for (key, value) in body {
                let Some(live) = live.get(key) else { continue };
                let field = format!("f:{key}");
                if let Some(value) = patch(value, live, &below(trees, &field), &below(ours, &field)) {
                    patched.insert(key.clone(), value);
                }
            }
            (!patched.is_empty()).then_some(Value::Object(patched))
        }
        (Value::Array(body), Value::Array(live)) => list(body, live, trees, ours).map(Value::Array),
        _ => None,
    }
}

fn list(body: &[Value], live: &[Value], trees: &[&Tree], ours: &[&Tree]) -> Option<Vec<Value>> {
    let keys_of = |tree: &&Tree| -> Vec<Tree> {
        let keys = tree.keys().filter_map(|key| serde_json::from_str(key.strip_prefix("k:")?).ok());
        keys.collect()
    };
    let theirs: Vec<Tree> = trees.iter().flat_map(keys_of).collect();
    let own: Vec<Tree> = ours.iter().flat_map(keys_of).collect();
    let names: Vec<&String> = theirs.first()?.keys().collect();
    // What an item does not say has a default, which the live one has.
    let same =
        |a: &Value, b: &Value| names.iter().all(|n| a.get(n).is_none_or(|value| b.get(n) == Some(value)));
    let has = |keys: &Tree, item: &Value| keys.iter().all(|(k, v)| item.get(k) == Some(v));
    let mut rest: Vec<&Value> = Vec::new();
    let mut foreign: Vec<&Value> = Vec::new();
    for item in live {
        let is_foreign = !body.iter().any(|b| same(b, item))
            && theirs.iter().any(|keys| has(keys, item))
            && !own.iter().any(|keys| has(keys, item));
        if is_foreign { foreign.push(item) } else { rest.push(item) }
    }
    let mut changed = false;
    let mut made: Vec<Value> = rest.into_iter().cloned().collect();
    let mut foreign = foreign.into_iter();
    for item in body {
        if live.iter().any(|l| same(item, l)) {
            continue;
        }
        let Some(before) = foreign.next() else { continue };
        let mut item_now = before.clone();
        if let (Some(now), Some(item)) = (item_now.as_object_mut(), item.as_object()) {
            now.extend(item.clone());
        }
        made.push(item_now);
        changed = true;
    }
    made.extend(foreign.cloned());
    changed.then_some(made)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn service(ports: &Value, theirs: &Value, ours: &Value) -> Value {
        let entry = |manager: &str, operation: &str, ports: &Value| {
            json!({"manager": manager, "operation": operation, "apiVersion": "v1",
                "fieldsV1": {"f:spec": {"f:selector": {}, "f:ports": ports}}})
        };
        json!({"metadata": {"resourceVersion": "7", "managedFields": [
                entry("kubectl-edit", "Update", theirs), entry("pintle", "Apply", ours)]},
            "spec": {"selector": {"a": "b"}, "ports": ports}})
    }

    #[test]
    fn a_port_that_was_edited() {
        let body = json!({"spec": {"selector": {"a": "b"}, "ports": [
            {"name": "http", "port": 80, "targetPort": "web"}, {"name": "tls", "port": 443, "protocol": "TCP"}]}});
        let ports = json!([
            {"name": "http", "port": 81, "protocol": "TCP", "targetPort": 9, "nodePort": 30000},
            {"name": "tls", "port": 443, "protocol": "TCP"}, {"name": "more", "port": 9000, "protocol": "TCP"}]);
        let key = |port: u16| format!("k:{{\"port\":{port},\"protocol\":\"TCP\"}}");
        let (theirs, ours) = (json!({key(81): {}, key(9000): {}}), json!({key(443): {}}));
        assert_eq!(
            replaced(&body, &service(&ports, &theirs, &ours)).unwrap(),
            json!({"metadata": {"resourceVersion": "7"}, "spec": {"ports": [
                {"name": "tls", "port": 443, "protocol": "TCP"},
                {"name": "http", "port": 80, "protocol": "TCP", "targetPort": "web", "nodePort": 30000},
                {"name": "more", "port": 9000, "protocol": "TCP"}]}})
        );
        // Added by others, and nothing of ours is missing; or ours itself from before.
        let ours = json!({key(80): {}, key(443): {}});
        let ports = json!([{"port": 80, "protocol": "TCP"}, {"port": 443, "protocol": "TCP"}, {"port": 81, "protocol": "TCP"}]);
        assert_eq!(replaced(&body, &service(&ports, &theirs, &ours)), None);
        let ports = json!([{"port": 81, "protocol": "TCP"}, {"port": 443, "protocol": "TCP"}]);
        assert_eq!(replaced(&body, &service(&ports, &json!({}), &theirs)), None);
    }

    #[test]
    fn what_was_patched_is_forgotten() {
        let managed = json!([{"manager": "pintle", "operation": "Update"}, {"manager": "pintle", "operation": "Apply"},
            {"manager": "pintle", "operation": "Update", "subresource": "status"}, {"manager": "x", "operation": "Update"}]);
        assert_eq!(forgotten(&serde_json::from_value::<Vec<ManagedFieldsEntry>>(managed).unwrap()).len(), 3);
    }
}
