//! What an apply of ours sent, read back from the live object: the fields that our entry in its `managedFields` names. Pure.
//!
//! A path that ends names a whole value, whatever others have put into it since where it was applied empty; whoever uses the
//! result asks the API server whether it is the same to it.

use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ManagedFieldsEntry;
use serde_json::{Map, Value};

use super::{
    digest, drift::is_key_of, inventory::ObjectKey, object::Desired, rules::Rules, takeover::is_ours,
};
use crate::api::{Gvk, names};

/// The kind and version in which we have applied an object.
pub fn version(object: &Value) -> Option<Gvk> {
    Some(Gvk::of(&ours(object)?.api_version?, object["kind"].as_str()?))
}

/// A live object, read in the version in which we have applied it, as what we applied. None when nothing of it is ours.
pub fn applied(key: &Arc<ObjectKey>, object: &Value) -> Option<Desired> {
    let gvk = version(object)?;
    if object["apiVersion"] != *gvk.api_version() {
        return None;
    }
    let entry = ours(object)?.fields_v1?.0;
    let mut body = taken(object, entry.as_object()?);
    let root = body.as_object_mut()?;
    root.insert("apiVersion".into(), gvk.api_version().into());
    root.insert("kind".into(), gvk.kind.as_str().into());
    let metadata = root.entry("metadata").or_insert_with(|| Value::Object(Map::new())).as_object_mut()?;
    metadata.insert("name".into(), key.name.to_string().into());
    if !key.namespace.is_empty() {
        metadata.insert("namespace".into(), key.namespace.to_string().into());
    }
    let policy = body["metadata"]["annotations"][names::RESOURCE_POLICY].as_str().unwrap_or_default();
    let keep = policy.trim() == "keep";
    let digest = digest::short(body.to_string().as_bytes());
    Some(Desired {
        key: key.clone(),
        gvk,
        source: String::new(),
        body,
        digest,
        rendered: digest,
        keep,
        rules: Rules::default(),
        group: 0,
    })
}

fn ours(object: &Value) -> Option<ManagedFieldsEntry> {
    let entries = object["metadata"]["managedFields"].as_array()?;
    let read = |entry: &Value| serde_json::from_value::<ManagedFieldsEntry>(entry.clone()).ok();
    entries.iter().filter_map(read).find(is_ours)
}

/// The part of a value that a tree of `fieldsV1` names.
fn taken(value: &Value, tree: &Map<String, Value>) -> Value {
    if tree.is_empty() {
        return value.clone();
    }
    let below = |key: &str| tree.get(key).and_then(Value::as_object);
    match value {
        Value::Object(map) => {
            let named = map
                .iter()
                .filter_map(|(key, value)| Some((key.clone(), taken(value, below(&format!("f:{key}"))?))));
            Value::Object(named.collect())
        }
        Value::Array(list) => {
            let named = list.iter().enumerate().filter_map(|(at, item)| {
                let is = |key: &&String| {
                    is_key_of(key, item) || key.strip_prefix("i:").is_some_and(|i| i == at.to_string())
                };
                Some(taken(item, below(tree.keys().find(is)?)?))
            });
            Value::Array(named.collect())
        }
        scalar => scalar.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::release::inventory::GroupKind;
    use serde_json::json;

    fn key() -> Arc<ObjectKey> {
        let kind = Arc::new(GroupKind::parse("Deployment.apps"));
        Arc::new(ObjectKey { kind, namespace: "shop".into(), name: "web".into() })
    }

    fn live(fields: &Value) -> Value {
        json!({"apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": "web", "namespace": "shop", "uid": "u", "labels": {"app": "web", "theirs": "1"},
                "annotations": {"helm.sh/resource-policy": "keep"}, "finalizers": ["a/b", "c/d"],
                "ownerReferences": [{"uid": "x", "name": "x"}, {"uid": "y", "name": "y"}],
                "managedFields": [
                    {"manager": "kubectl-edit", "operation": "Update", "apiVersion": "apps/v1", "fieldsV1": {"f:spec": {"f:paused": {}}}},
                    {"manager": "pintle", "operation": "Apply", "apiVersion": "apps/v1", "fieldsV1": fields}]},
            "spec": {"replicas": 2, "paused": true, "template": {"spec": {"securityContext": {}, "containers": [
                {"name": "side", "image": "s"},
                {"name": "c", "image": "i", "args": ["a", "b"], "imagePullPolicy": "Always", "ports": [
                    {"containerPort": 80, "protocol": "UDP"}, {"containerPort": 80, "protocol": "TCP"}]}]}}},
            "status": {"replicas": 2}})
    }

    #[test]
    fn only_what_is_ours() {
        let object = live(&json!({
            "f:metadata": {"f:labels": {"f:app": {}}, "f:annotations": {"f:helm.sh/resource-policy": {}},
                "f:finalizers": {"v:\"c/d\"": {}}, "f:ownerReferences": {"k:{\"uid\":\"y\"}": {}}},
            "f:spec": {"f:replicas": {}, "f:gone": {}, "f:template": {"f:spec": {"f:securityContext": {},
                "f:containers": {"k:{\"name\":\"c\"}": {".": {}, "f:name": {}, "f:args": {}, "f:ports": {
                    "k:{\"containerPort\":80,\"protocol\":\"TCP\"}": {".": {}, "f:containerPort": {}}}}}}}}}));
        let desired = applied(&key(), &object).unwrap();
        assert!(desired.keep);
        assert_eq!(
            desired.body,
            json!({"apiVersion": "apps/v1", "kind": "Deployment",
                "metadata": {"name": "web", "namespace": "shop", "labels": {"app": "web"}, "finalizers": ["c/d"],
                    "annotations": {"helm.sh/resource-policy": "keep"}, "ownerReferences": [{"uid": "y", "name": "y"}]},
                "spec": {"replicas": 2, "template": {"spec": {"securityContext": {}, "containers": [
                    {"name": "c", "args": ["a", "b"], "ports": [{"containerPort": 80}]}]}}}})
        );
    }

    #[test]
    fn what_is_not_ours_or_of_another_version_is_nothing() {
        let mut object = live(&json!({"f:spec": {"f:replicas": {}}}));
        assert_eq!(version(&object).unwrap().api_version(), "apps/v1");
        object["apiVersion"] = "apps/v2".into();
        assert!(applied(&key(), &object).is_none());
        object["metadata"]["managedFields"] = json!([]);
        assert!(version(&object).is_none());
    }
}
