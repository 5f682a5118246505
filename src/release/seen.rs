//! What is read of a live object: enough to know whose it is, whether it drifted and how it does.
//!
//! Objects are taken in while they are parsed and nothing else of them is kept, so that watching thousands of members
//! costs little. [`Meta`] reads metadata alone and asks the API server for no more; [`Full`] reads the few fields of spec
//! and status that health is told from.

use std::{borrow::Cow, marker::PhantomData, sync::Arc};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::{
    Resource,
    core::{ApiResource, DynamicResourceScope},
};
use serde::de::{Deserialize, Deserializer};

use super::{
    digest::TreeHash,
    health::{self, Health},
    lenient::{List, Present, Struct, Text},
    rules::Rules,
};
use crate::api::names;

/// How much of an object is asked for.
pub trait Depth: Send + Sync + Unpin + 'static {
    /// Whether metadata is enough.
    const METADATA: bool;
}

/// Metadata alone.
#[derive(Debug, Clone, Copy)]
pub struct Meta;
/// Metadata, and what health is told from.
#[derive(Debug, Clone, Copy)]
pub struct Full;

impl Depth for Meta {
    const METADATA: bool = true;
}
impl Depth for Full {
    const METADATA: bool = false;
}

/// A live object, as far as it is looked at.
pub struct Seen<D> {
    /// Name, namespace, uid, resource version and generation, and nothing else.
    pub meta: ObjectMeta,
    /// Whether it is being deleted.
    pub deleting: bool,
    /// The set that it says it is part of.
    pub part_of: Option<Box<str>>,
    /// The set whose hook it is, and which run of it.
    pub hook: Option<(Box<str>, Box<str>)>,
    /// Who must still let it go, while it is being deleted: its finalizers, separated by blanks.
    pub finalizers: Box<str>,
    /// The hash of our entry in its `managedFields`.
    pub ours: Option<u64>,
    /// Whether `helm.sh/resource-policy: keep` or `pintle.dev/prune: disabled` is on it.
    pub keep: bool,
    /// What its annotations say about drift; none when they say nothing.
    pub rules: Option<Arc<Rules>>,
    /// Whether an autoscaler has scaled it: see [`super::drift::is_autoscaled`].
    pub scaled: bool,
    /// When it was made, and when our entry was last written, in the API server's own words: equal on an object that
    /// our apply has just created.
    pub created: Box<str>,
    /// See [`Seen::created`].
    pub applied: Box<str>,
    spec: health::Spec,
    status: health::Status,
    depth: PhantomData<D>,
}

// By hand, so that the depth need be neither.
impl<D> Clone for Seen<D> {
    fn clone(&self) -> Self {
        Seen {
            meta: self.meta.clone(),
            deleting: self.deleting,
            part_of: self.part_of.clone(),
            hook: self.hook.clone(),
            finalizers: self.finalizers.clone(),
            ours: self.ours,
            keep: self.keep,
            rules: self.rules.clone(),
            scaled: self.scaled,
            created: self.created.clone(),
            applied: self.applied.clone(),
            spec: self.spec.clone(),
            status: self.status.clone(),
            depth: PhantomData,
        }
    }
}

impl<D> std::fmt::Debug for Seen<D> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Seen")
            .field("name", &self.meta.name)
            .field("ours", &self.ours)
            .finish_non_exhaustive()
    }
}

impl<D> Seen<D> {
    /// Its name.
    pub fn name(&self) -> &str {
        self.meta.name.as_deref().unwrap_or_default()
    }

    /// Its namespace; empty when cluster-scoped.
    pub fn namespace(&self) -> &str {
        self.meta.namespace.as_deref().unwrap_or_default()
    }

    /// Its uid.
    pub fn uid(&self) -> &str {
        self.meta.uid.as_deref().unwrap_or_default()
    }

    /// How it does, told by the rules of its kind. Where only metadata was read, an object that exists does well.
    ///
    /// The kind is the reader's to know: the items of a list do not carry it.
    pub fn health(&self, group: &str, kind: &str) -> Health
    where
        D: Depth,
    {
        if D::METADATA {
            return if self.deleting { Health::terminating() } else { Health::current() };
        }
        health::of(&self.observed(group, kind))
    }

    /// Whether its status has a condition Ready, true or not.
    pub fn says_ready(&self) -> bool {
        self.status.has("Ready")
    }

    fn observed<'a>(&'a self, group: &'a str, kind: &'a str) -> health::Observed<'a> {
        health::Observed {
            group,
            kind,
            generation: self.meta.generation,
            deleting: self.deleting,
            spec: &self.spec,
            status: &self.status,
        }
    }

    /// What it came to, if it is something that runs to an end; none while it runs.
    pub fn end(&self, group: &str, kind: &str) -> Option<health::End> {
        health::end(&self.observed(group, kind))
    }

    /// What it waits for on its way there.
    pub fn progress(&self, group: &str, kind: &str) -> Option<Box<str>> {
        health::progress(&self.observed(group, kind))
    }

    /// Its resource version as a number, 0 when it is none. Kubernetes promises since 1.35 that they can be compared;
    /// etcd's always could.
    pub fn version(&self) -> u64 {
        self.meta.resource_version.as_deref().and_then(|v| v.parse().ok()).unwrap_or(0)
    }
}

impl<D: Depth> Resource for Seen<D> {
    type DynamicType = ApiResource;
    type Scope = DynamicResourceScope;

    fn kind(dt: &ApiResource) -> Cow<'_, str> {
        Cow::Borrowed(&dt.kind)
    }
    fn group(dt: &ApiResource) -> Cow<'_, str> {
        Cow::Borrowed(&dt.group)
    }
    fn version(dt: &ApiResource) -> Cow<'_, str> {
        Cow::Borrowed(&dt.version)
    }
    fn api_version(dt: &ApiResource) -> Cow<'_, str> {
        Cow::Borrowed(&dt.api_version)
    }
    fn plural(dt: &ApiResource) -> Cow<'_, str> {
        Cow::Borrowed(&dt.plural)
    }
    fn metadata_api() -> bool {
        D::METADATA
    }
    fn meta(&self) -> &ObjectMeta {
        &self.meta
    }
    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.meta
    }
}

impl<'de, D: Depth> Deserialize<'de> for Seen<D> {
    fn deserialize<De: Deserializer<'de>>(deserializer: De) -> Result<Self, De::Error> {
        let object = Object::deserialize(deserializer)?;
        let m = object.metadata.0;
        let keep = &*m.annotations.0.resource_policy.0 == "keep" || &*m.annotations.0.prune.0 == "disabled";
        let a = &m.annotations.0;
        let (rules, _) = Rules::read(&a.drift.0, &a.drift_ignore.0, &a.recreate.0);
        let rules = (!rules.is_empty()).then(|| Arc::new(rules));
        let mut ours = None;
        let mut applied = Box::default();
        let mut scaled = false;
        for entry in m.managed_fields.0 {
            scaled |= &*entry.manager.0 == "kube-controller-manager" && &*entry.subresource.0 == "scale";
            if &*entry.manager.0 == names::FIELD_MANAGER
                && &*entry.operation.0 == "Apply"
                && entry.subresource.0.is_empty()
            {
                ours = Some(entry.fields_v1.0);
                applied = entry.time.0;
            }
        }
        let text = |t: Text| (!t.0.is_empty()).then(|| t.0.into_string());
        let deleting = m.deletion_timestamp.0;
        let finalizers = if deleting {
            m.finalizers.0.iter().map(|f| &*f.0).collect::<Vec<_>>().join(" ").into()
        } else {
            Box::default()
        };
        let hook_of = m.labels.0.hook_of.0;
        Ok(Seen {
            meta: ObjectMeta {
                name: text(m.name),
                namespace: text(m.namespace),
                uid: text(m.uid),
                resource_version: text(m.resource_version),
                generation: m.generation.0,
                ..ObjectMeta::default()
            },
            deleting,
            hook: (!hook_of.is_empty()).then_some((hook_of, m.annotations.0.hook_run.0)),
            finalizers,
            part_of: (!m.labels.0.part_of.0.is_empty()).then_some(m.labels.0.part_of.0),
            ours,
            keep,
            rules,
            scaled,
            created: m.creation_timestamp.0,
            applied,
            spec: object.spec.0,
            status: object.status.0,
            depth: PhantomData,
        })
    }
}

#[derive(serde::Deserialize, Default)]
#[serde(default)]
struct Object {
    metadata: Struct<Metadata>,
    spec: Struct<health::Spec>,
    status: Struct<health::Status>,
}

#[derive(serde::Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Metadata {
    name: Text,
    namespace: Text,
    uid: Text,
    resource_version: Text,
    generation: super::lenient::Int,
    creation_timestamp: Text,
    deletion_timestamp: Present,
    finalizers: List<Text>,
    labels: Struct<Labels>,
    annotations: Struct<Annotations>,
    managed_fields: List<Entry>,
}

#[derive(serde::Deserialize, Default)]
#[serde(default)]
struct Labels {
    // names::PART_OF
    #[serde(rename = "applyset.kubernetes.io/part-of")]
    part_of: Text,
    // names::HOOK_OF
    #[serde(rename = "pintle.dev/hook-of")]
    hook_of: Text,
}

#[derive(serde::Deserialize, Default)]
#[serde(default)]
struct Annotations {
    // names::RESOURCE_POLICY and names::PRUNE
    #[serde(rename = "helm.sh/resource-policy")]
    resource_policy: Text,
    #[serde(rename = "pintle.dev/prune")]
    prune: Text,
    // names::HOOK_RUN
    #[serde(rename = "pintle.dev/hook-run")]
    hook_run: Text,
    // names::DRIFT, names::DRIFT_IGNORE and names::RECREATE
    #[serde(rename = "pintle.dev/drift")]
    drift: Text,
    #[serde(rename = "pintle.dev/drift-ignore")]
    drift_ignore: Text,
    #[serde(rename = "pintle.dev/recreate")]
    recreate: Text,
}

#[derive(serde::Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Entry {
    manager: Text,
    operation: Text,
    subresource: Text,
    time: Text,
    // Keys are sorted, so the fields come before the manager that tells whether they matter: all are hashed.
    fields_v1: TreeHash,
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIVE: &str = r#"{
        "kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1",
        "metadata": {
            "name": "web", "namespace": "shop", "uid": "u-1", "resourceVersion": "42", "generation": 3,
            "creationTimestamp": "2026-01-01T00:00:00Z",
            "labels": {"app": "web", "applyset.kubernetes.io/part-of": "applyset-x-v1", "pintle.dev/definition": "web"},
            "annotations": {"helm.sh/resource-policy": "keep", "big": "…"},
            "managedFields": [
                {"manager":"kubectl","operation":"Update","apiVersion":"apps/v1","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:replicas":{}}}},
                {"manager":"pintle","operation":"Apply","apiVersion":"apps/v1","time":"2026-01-01T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:template":{}}}},
                {"manager":"pintle","operation":"Apply","apiVersion":"apps/v1","fieldsType":"FieldsV1","fieldsV1":{"f:status":{}},"subresource":"status"}
            ]
        }
    }"#;

    #[test]
    fn our_entry_is_found_and_only_it_counts() {
        let seen: Seen<Meta> = serde_json::from_str(LIVE).unwrap();
        assert_eq!((seen.name(), seen.namespace(), seen.uid(), seen.version()), ("web", "shop", "u-1", 42));
        assert_eq!(seen.part_of.as_deref(), Some("applyset-x-v1"));
        assert!(seen.keep && !seen.deleting);
        assert_eq!(seen.created, seen.applied);
        let foreign = LIVE.replace(r#""f:replicas":{}"#, r#""f:replicas":{},"f:paused":{}"#);
        assert_eq!(serde_json::from_str::<Seen<Meta>>(&foreign).unwrap().ours, seen.ours);
        let taken = LIVE.replace(r#""f:template":{}"#, r#""f:selector":{}"#);
        assert_ne!(serde_json::from_str::<Seen<Meta>>(&taken).unwrap().ours, seen.ours);
    }

    #[test]
    fn objects_of_any_shape_are_read() {
        for odd in [
            "{}",
            r#"{"metadata":[]}"#,
            r#"{"metadata":{"labels":7,"managedFields":{}},"spec":"x","status":[1]}"#,
        ] {
            serde_json::from_str::<Seen<Full>>(odd).unwrap();
        }
    }
}
