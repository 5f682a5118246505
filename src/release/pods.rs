//! The Pods of workloads, as far as they say why a workload is not ready.

use std::borrow::Cow;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::{Resource, core::NamespaceResourceScope};
use serde::de::{Deserialize, Deserializer};

use super::{
    health::{self, is_creating, trouble},
    inventory::GroupKind,
    lenient::{Flag, List, Present, Struct, Text},
};

/// A Pod: whose it is, and what is wrong with it.
#[derive(Debug, Clone)]
pub struct Pod {
    /// Name, namespace, uid and resource version, and nothing else.
    pub meta: ObjectMeta,
    /// The kind and name of the workload that it belongs to: a Deployment rather than its ReplicaSet.
    pub workload: Option<(GroupKind, Box<str>)>,
    /// What is wrong with it, if anything is that a person would want to know.
    pub trouble: Option<Box<str>>,
    /// Whether none of its containers has been made yet, which lasts where volumes are missing: its status does not say why,
    /// and Events do.
    pub creating: bool,
}

impl Pod {
    /// Its name.
    pub fn name(&self) -> &str {
        self.meta.name.as_deref().unwrap_or_default()
    }

    /// Its uid.
    pub fn uid(&self) -> &str {
        self.meta.uid.as_deref().unwrap_or_default()
    }
}

/// Whether a kind makes Pods that its health hangs on.
pub fn has_pods(kind: &GroupKind) -> bool {
    matches!(
        (&*kind.group, &*kind.kind),
        ("apps", "Deployment" | "StatefulSet" | "DaemonSet" | "ReplicaSet")
            | ("batch", "Job")
            | ("", "ReplicationController")
    )
}

impl Resource for Pod {
    type DynamicType = ();
    type Scope = NamespaceResourceScope;

    fn kind((): &()) -> Cow<'_, str> {
        "Pod".into()
    }
    fn group((): &()) -> Cow<'_, str> {
        "".into()
    }
    fn version((): &()) -> Cow<'_, str> {
        "v1".into()
    }
    fn plural((): &()) -> Cow<'_, str> {
        "pods".into()
    }
    fn meta(&self) -> &ObjectMeta {
        &self.meta
    }
    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.meta
    }
}

#[derive(serde::Deserialize, Default)]
#[serde(default)]
struct Object {
    metadata: Struct<Metadata>,
    status: Struct<health::Status>,
}

#[derive(serde::Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Metadata {
    name: Text,
    namespace: Text,
    uid: Text,
    resource_version: Text,
    deletion_timestamp: Present,
    labels: Struct<Labels>,
    owner_references: List<Owner>,
}

#[derive(serde::Deserialize, Default)]
#[serde(default)]
struct Labels {
    #[serde(rename = "pod-template-hash")]
    hash: Text,
}

#[derive(serde::Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Owner {
    api_version: Text,
    kind: Text,
    name: Text,
    controller: Flag,
}

impl<'de> Deserialize<'de> for Pod {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let object = Object::deserialize(deserializer)?;
        let m = object.metadata.0;
        let hash = m.labels.0.hash.0;
        let owner = m.owner_references.0.into_iter().find(|o| o.controller.0 == Some(true));
        let workload = owner.map(|o| {
            let group = o.api_version.0.split_once('/').map_or("", |(group, _)| group);
            // A Deployment's ReplicaSet is named after it and the hash of the template.
            let of_deployment = (&*o.kind.0 == "ReplicaSet" && !hash.is_empty())
                .then(|| o.name.0.strip_suffix(&*hash)?.strip_suffix('-'))
                .flatten();
            match of_deployment {
                Some(name) => (GroupKind { group: group.into(), kind: "Deployment".into() }, name.into()),
                None => (GroupKind { group: group.into(), kind: o.kind.0 }, o.name.0),
            }
        });
        let text = |t: Text| (!t.0.is_empty()).then(|| t.0.into_string());
        // What goes is no reason for anything any more.
        let lives = !m.deletion_timestamp.0;
        let trouble = lives.then(|| trouble(&object.status.0)).flatten();
        let creating = lives && trouble.is_none() && is_creating(&object.status.0);
        Ok(Pod {
            meta: ObjectMeta {
                name: text(m.name),
                namespace: text(m.namespace),
                uid: text(m.uid),
                resource_version: text(m.resource_version),
                ..ObjectMeta::default()
            },
            workload,
            trouble: trouble.map(Into::into),
            creating,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn pod(owner: &Value, status: &Value) -> Pod {
        let text = json!({"metadata": {"name": "web-7d9f-x", "namespace": "shop", "labels": {"pod-template-hash": "7d9f"},
            "ownerReferences": [owner]}, "status": status});
        serde_json::from_str(&text.to_string()).unwrap()
    }

    #[test]
    fn a_pod_of_a_replica_set_is_its_deployments() {
        let whose = |api_version: &str, kind: &str, name: &str| {
            let owner = json!({"apiVersion": api_version, "kind": kind, "name": name, "controller": true});
            let (kind, name) = pod(&owner, &json!({})).workload.unwrap();
            format!("{kind} {name}")
        };
        assert_eq!(whose("apps/v1", "ReplicaSet", "web-7d9f"), "Deployment.apps web");
        assert_eq!(whose("apps/v1", "ReplicaSet", "by-hand"), "ReplicaSet.apps by-hand");
        assert_eq!(whose("apps/v1", "StatefulSet", "db"), "StatefulSet.apps db");
        assert_eq!(whose("v1", "ReplicationController", "old"), "ReplicationController old");
        assert!(pod(&json!({"kind": "Job", "name": "x"}), &json!({})).workload.is_none());
    }

    #[test]
    fn containers_that_are_not_made() {
        let creating = |phase: &str, reasons: &[&str]| {
            let containers: Vec<Value> =
                reasons.iter().map(|r| json!({"name": "c", "state": {"waiting": {"reason": r}}})).collect();
            pod(&json!({}), &json!({"phase": phase, "containerStatuses": containers})).creating
        };
        assert!(creating("Pending", &["ContainerCreating", "PodInitializing"]));
        assert!(!creating("Pending", &[]) && !creating("Pending", &["ContainerCreating", "ErrImagePull"]));
        assert!(!creating("Running", &["ContainerCreating"]));
    }

    #[test]
    fn what_is_wrong() {
        let said = |status: Value| pod(&json!({}), &status).trouble.map_or("-".into(), String::from);
        let container = |state: Value, last: Value| json!({"phase": "Running", "containerStatuses": [{"name": "main", "ready": false, "restartCount": 3, "state": state, "lastState": last}]});
        let exit = json!({"terminated": {"exitCode": 1, "reason": "Error"}});
        let cases = [
            json!({}),
            json!({"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}),
            container(json!({"waiting": {"reason": "ContainerCreating"}}), json!({})),
            container(
                json!({"waiting": {"reason": "ImagePullBackOff", "message": "Back-off pulling image \"x:1\""}}),
                json!({}),
            ),
            container(
                json!({"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 40s restarting failed container"}}),
                exit.clone(),
            ),
            container(json!({"running": {"startedAt": "2026-01-01T00:00:00Z"}}), exit),
            container(
                json!({"running": {}}),
                json!({"terminated": {"exitCode": 137, "reason": "OOMKilled"}}),
            ),
            container(
                json!({"terminated": {"exitCode": 2, "reason": "Error", "message": "no config"}}),
                json!({}),
            ),
            container(json!({"terminated": {"exitCode": 0, "reason": "Completed"}}), json!({})),
            json!({"phase": "Pending", "initContainerStatuses": [{"name": "init", "state": {"waiting": {"reason": "CreateContainerConfigError", "message": "secret \"s\" not found"}}}]}),
            json!({"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/3 nodes are available"}]}),
            json!({"phase": "Failed", "reason": "Evicted", "message": "The node was low on resource: memory."}),
        ];
        insta::assert_snapshot!(cases.map(said).join("\n"), @r#"
        -
        -
        -
        container main: ImagePullBackOff: Back-off pulling image "x:1"
        container main: CrashLoopBackOff: exit code 1 (Error)
        container main was restarted: exit code 1 (Error)
        container main was restarted: exit code 137 (OOMKilled)
        container main: exit code 2 (Error)
        -
        container init: CreateContainerConfigError: secret "s" not found
        Unschedulable: 0/3 nodes are available
        Evicted: The node was low on resource: memory.
        "#);
    }
}
