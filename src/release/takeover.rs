//! Field ownership of those who kept an object before us: Helm, and operator-sdk's Helm operators.
//!
//! Server-side apply removes a field that an earlier apply of ours set and that is no longer rendered. A field that Helm
//! set is not ours, and would stay for ever. So what Helm's entries in `managedFields` hold becomes part of our own entry
//! before the first apply, as `kubectl apply --server-side` does with the entries of client-side applies.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{FieldsV1, ManagedFieldsEntry, ObjectMeta};
use serde_json::{Map, Value};

use crate::api::names;

/// What Helm puts on each object of a release.
pub const RELEASE_NAME: &str = "meta.helm.sh/release-name";
/// See [`RELEASE_NAME`].
pub const RELEASE_NAMESPACE: &str = "meta.helm.sh/release-namespace";

/// Names under which Helm and operator-sdk's Helm operators write. Others are known by what they wrote.
const MANAGERS: [&str; 3] = ["helm", "helm-operator", "terraform-provider-helm"];

/// The object's `managedFields` after those who kept it before are merged into our entry; none when there is nothing to
/// merge. `owner` is the uid of the custom resource: who wrote the owner reference to it kept the object for it.
pub fn merged(live: &ObjectMeta, owner: &str) -> Option<Vec<ManagedFieldsEntry>> {
    let all = live.managed_fields.as_deref().unwrap_or_default();
    let whole = |e: &&ManagedFieldsEntry| e.subresource.as_deref().unwrap_or_default().is_empty();
    let ours = all.iter().filter(whole).find(|e| is_ours(e));
    let before: Vec<&ManagedFieldsEntry> =
        all.iter().filter(whole).filter(|e| !is_ours(e) && kept_it(e, owner)).collect();
    // Paths are those of a version: only entries of one version can be one.
    let version = ours.or(before.first().copied())?.api_version.clone();
    let taken: Vec<&ManagedFieldsEntry> = before.into_iter().filter(|e| e.api_version == version).collect();
    if taken.is_empty() {
        return None;
    }
    let mut fields = Value::Object(Map::new());
    for entry in ours.iter().chain(&taken) {
        if let Some(FieldsV1(tree)) = &entry.fields_v1 {
            fields = union(fields, tree.clone());
        }
    }
    // Helm's own annotations stay as they are, and nobody's: a Deployment's generation counts changes of annotations.
    if let Some(annotations) = fields.pointer_mut("/f:metadata/f:annotations").and_then(Value::as_object_mut)
    {
        for key in [RELEASE_NAME, RELEASE_NAMESPACE] {
            annotations.remove(&format!("f:{key}"));
        }
    }
    let entry = ManagedFieldsEntry {
        manager: Some(names::FIELD_MANAGER.into()),
        operation: Some("Apply".into()),
        api_version: version,
        fields_type: Some("FieldsV1".into()),
        fields_v1: Some(FieldsV1(fields)),
        subresource: None,
        time: taken[0].time.clone(),
    };
    let rest = all.iter().filter(|e| !(ours.is_some_and(|o| o == *e) || taken.contains(e))).cloned();
    Some(std::iter::once(entry).chain(rest).collect())
}

/// Whether an entry is the one of our applies.
pub fn is_ours(entry: &ManagedFieldsEntry) -> bool {
    entry.manager.as_deref() == Some(names::FIELD_MANAGER)
        && entry.operation.as_deref() == Some("Apply")
        && entry.subresource.as_deref().unwrap_or_default().is_empty()
}

/// Whether an entry is of somebody who kept the object as part of a release, or for the custom resource.
fn kept_it(entry: &ManagedFieldsEntry, owner: &str) -> bool {
    let manager = entry.manager.as_deref().unwrap_or_default();
    let named = MANAGERS.iter().any(|name| {
        manager.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with(['_', '-', '.']))
    });
    let Some(FieldsV1(tree)) = &entry.fields_v1 else { return named };
    let metadata = tree.get("f:metadata");
    let has = |part: &str, key: &str| metadata.and_then(|m| m.get(part)).and_then(|p| p.get(key)).is_some();
    named
        || has("f:annotations", &format!("f:{RELEASE_NAME}"))
        || has("f:ownerReferences", &format!("k:{{\"uid\":{}}}", Value::from(owner)))
}

/// Both sets of fields together. A node without children is a member of its set; one with children is a member if it has
/// the child `.`.
fn union(a: Value, b: Value) -> Value {
    let (Value::Object(a), Value::Object(b)) = (a, b) else { return Value::Object(Map::new()) };
    let dot = || (".".to_owned(), Value::Object(Map::new()));
    match (a.is_empty(), b.is_empty()) {
        (true, true) => Value::Object(a),
        (true, false) | (false, true) => {
            let mut both = if a.is_empty() { b } else { a };
            both.extend([dot()]);
            Value::Object(both)
        }
        (false, false) => {
            let mut both = a;
            for (key, theirs) in b {
                let own = both.remove(&key);
                both.insert(key, own.map_or(theirs.clone(), |own| union(own, theirs)));
            }
            Value::Object(both)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn meta(entries: &Value) -> ObjectMeta {
        serde_json::from_value(json!({ "managedFields": entries })).unwrap()
    }

    fn said(merged: &[ManagedFieldsEntry]) -> Vec<String> {
        let of = |e: &ManagedFieldsEntry| {
            let fields = e.fields_v1.as_ref().map(|f| f.0.to_string()).unwrap_or_default();
            format!(
                "{} {} {} {fields}",
                e.manager.as_deref().unwrap_or("-"),
                e.operation.as_deref().unwrap_or("-"),
                e.subresource.as_deref().unwrap_or("-")
            )
        };
        merged.iter().map(of).collect()
    }

    #[test]
    fn entries_become_one() {
        let live = meta(&json!([
            {"manager": "helm", "operation": "Update", "apiVersion": "apps/v1",
             "fieldsV1": {"f:metadata": {"f:annotations": {".": {}, format!("f:{RELEASE_NAME}"): {}, "f:note": {}},
                "f:labels": {".": {}, "f:app": {}}}, "f:spec": {"f:replicas": {}}}},
            {"manager": "kube-controller-manager", "operation": "Update", "apiVersion": "apps/v1", "subresource": "status",
             "fieldsV1": {"f:status": {}}},
            {"manager": "kubectl-edit", "operation": "Update", "apiVersion": "apps/v1", "fieldsV1": {"f:spec": {"f:paused": {}}}},
            {"manager": "pintle", "operation": "Apply", "apiVersion": "apps/v1",
             "fieldsV1": {"f:metadata": {"f:labels": {"f:tier": {}}}, "f:spec": {}}},
            {"manager": "terraform-provider-helm_v2.17.0_x5", "operation": "Update", "apiVersion": "apps/v1",
             "fieldsV1": {"f:spec": {"f:minReadySeconds": {}}}},
        ]));
        insta::assert_snapshot!(said(&merged(&live, "u").unwrap()).join("\n"));
    }

    #[test]
    fn who_kept_an_object_is_told_by_what_was_written() {
        let entry = |fields: Value| {
            meta(
                &json!([{"manager": "unknown", "operation": "Update", "apiVersion": "v1", "fieldsV1": fields}]),
            )
        };
        let helm = entry(json!({"f:metadata": {"f:annotations": {format!("f:{RELEASE_NAME}"): {}}}}));
        assert!(merged(&helm, "u").is_some());
        let owner = entry(json!({"f:metadata": {"f:ownerReferences": {".": {}, "k:{\"uid\":\"u\"}": {}}}}));
        assert!(merged(&owner, "u").is_some() && merged(&owner, "v").is_none());
        let other = entry(json!({"f:data": {"f:a": {}}}));
        assert_eq!(merged(&other, "u"), None);
        assert_eq!(merged(&ObjectMeta::default(), "u"), None);
        let helmet =
            meta(&json!([{"manager": "helmet", "operation": "Update", "apiVersion": "v1", "fieldsV1": {}}]));
        assert_eq!(merged(&helmet, "u"), None);
    }

    #[test]
    fn an_entry_of_another_version_is_left() {
        let live = meta(&json!([
            {"manager": "helm", "operation": "Update", "apiVersion": "autoscaling/v1", "fieldsV1": {"f:spec": {}}},
            {"manager": "pintle", "operation": "Apply", "apiVersion": "autoscaling/v2", "fieldsV1": {"f:spec": {}}},
        ]));
        assert_eq!(merged(&live, "u"), None);
    }
}
