//! Whose a live object is that a release would like to have.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use super::{inventory::Parent, takeover};
use crate::api::names;

/// Whose an object is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Whose {
    /// The instance's: it may be forced.
    Ours,
    /// Another instance's: the sentence says which.
    Another(String),
    /// Some controller's that is none of ours: the sentence says which.
    Controlled(String),
    /// Of a Helm release: its name and namespace.
    Helm(String, String),
    /// Nobody's that we know of: the sentence says who wrote it.
    Nobody(String),
}

/// Tells whose an object is from its metadata. `was_ours`: whether the instance is known to have applied it before.
///
/// The label alone does not decide: somebody may have edited it by hand, which is drift. What we wrote ourselves is told
/// by our entry in `managedFields`.
pub fn whose(live: &ObjectMeta, parent: &Parent, was_ours: bool) -> Whose {
    let owned = parent.owns(live) || is_sdks(live, parent);
    let part_of = live.labels.as_ref().and_then(|l| l.get(names::PART_OF));
    let entry = live.managed_fields.iter().flatten().find(|e| {
        e.manager.as_deref() == Some(names::FIELD_MANAGER)
            && e.operation.as_deref() == Some("Apply")
            && e.subresource.as_deref().unwrap_or_default().is_empty()
    });
    let label_is_applied = entry.and_then(|e| e.fields_v1.as_ref()).is_some_and(|f| {
        f.0.pointer("/f:metadata/f:labels")
            .and_then(|labels| labels.get(format!("f:{}", names::PART_OF)))
            .is_some()
    });
    let controller = live.owner_references.iter().flatten().find(|o| o.controller == Some(true));
    match part_of {
        Some(set) if *set == parent.set() => Whose::Ours,
        Some(set) if label_is_applied || !(owned || was_ours) => Whose::Another(match controller {
            Some(owner) => format!("it belongs to {} {}", owner.kind, owner.name),
            None => format!("it is part of {set}"),
        }),
        Some(_) => Whose::Ours,
        None if owned => Whose::Ours,
        // We have applied it, for this instance or for one that has let it go since.
        None if entry.is_some() && (was_ours || controller.is_none()) => Whose::Ours,
        None => match (controller, release(live)) {
            (Some(owner), _) => Whose::Controlled(format!("it belongs to {} {}", owner.kind, owner.name)),
            (None, Some((name, namespace))) => Whose::Helm(name, namespace),
            (None, None) => {
                let mut managers: Vec<&str> =
                    live.managed_fields.iter().flatten().filter_map(|e| e.manager.as_deref()).collect();
                managers.sort_unstable();
                managers.dedup();
                Whose::Nobody(match &managers[..] {
                    [] => "nobody says who made it".to_owned(),
                    some => format!("it was made by {}", some.join(", ")),
                })
            }
        },
    }
}

/// Whether operator-sdk made an object for the parent where it could not own it.
fn is_sdks(live: &ObjectMeta, parent: &Parent) -> bool {
    let Some(annotations) = &live.annotations else { return false };
    let is = |key: &str, value: String| annotations.get(key).is_some_and(|text| *text == value);
    is(names::SDK_OWNER, format!("{}/{}", parent.namespace, parent.name))
        && is(names::SDK_OWNER_KIND, parent.gvk.group_kind())
}

/// The Helm release that an object says it is of: name and namespace.
fn release(live: &ObjectMeta) -> Option<(String, String)> {
    let annotations = live.annotations.as_ref()?;
    let name = annotations.get(takeover::RELEASE_NAME).filter(|name| !name.is_empty())?;
    let namespace = annotations.get(takeover::RELEASE_NAMESPACE).cloned().unwrap_or_default();
    Some((name.clone(), namespace))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::release::object::tests::parent;
    use serde_json::{Value, json};

    fn meta(value: Value) -> ObjectMeta {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn objects_of_helm_and_of_operator_sdk() {
        let helm = json!({"annotations": {"meta.helm.sh/release-name": "front", "meta.helm.sh/release-namespace": "shop"}});
        assert_eq!(whose(&meta(helm), &parent(), false), Whose::Helm("front".into(), "shop".into()));
        let sdk = |name: &str| {
            json!({"annotations": {"meta.helm.sh/release-name": "front", "operator-sdk/primary-resource": format!("shop/{name}"),
                "operator-sdk/primary-resource-type": "Web.pintle.dev"}})
        };
        assert_eq!(whose(&meta(sdk("front")), &parent(), false), Whose::Ours);
        assert_ne!(whose(&meta(sdk("back")), &parent(), false), Whose::Ours);
    }

    fn applied_label() -> Value {
        json!([{"manager": "pintle", "operation": "Apply",
            "fieldsV1": {"f:metadata": {"f:labels": {format!("f:{}", names::PART_OF): {}}}}}])
    }

    #[test]
    fn labels_owners_and_entries() {
        let other = json!({"labels": {names::PART_OF: "applyset-other-v1"}, "managedFields": applied_label(),
            "ownerReferences": [{"apiVersion": "a/v1", "kind": "Web", "name": "back", "uid": "z", "controller": true}]});
        assert_eq!(whose(&meta(other), &parent(), true), Whose::Another("it belongs to Web back".into()));

        let ours = json!({"labels": {names::PART_OF: parent().set()}});
        assert_eq!(whose(&meta(ours), &parent(), false), Whose::Ours);

        let edited = json!({"labels": {names::PART_OF: "mine-now"}, "managedFields": [],
            "ownerReferences": [{"apiVersion": "a/v1", "kind": "Web", "name": "front", "uid": "6f1c"}]});
        assert_eq!(whose(&meta(edited), &parent(), false), Whose::Ours);

        let stripped =
            json!({"managedFields": [{"manager": "pintle", "operation": "Apply", "fieldsV1": {}}]});
        assert_eq!(whose(&meta(stripped), &parent(), false), Whose::Ours);

        let helm = json!({"managedFields": [{"manager": "helm", "operation": "Update"}, {"manager": "kubectl-edit", "operation": "Update"}]});
        assert_eq!(
            whose(&meta(helm), &parent(), false),
            Whose::Nobody("it was made by helm, kubectl-edit".into())
        );

        let pod = json!({"ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "r", "uid": "z", "controller": true}]});
        assert_eq!(
            whose(&meta(pod), &parent(), false),
            Whose::Controlled("it belongs to ReplicaSet r".into())
        );
    }
}
