//! A custom resource, as far as the operator looks at it.

use std::borrow::Cow;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::{
    Resource,
    core::{ApiResource, DynamicResourceScope},
};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::{
    api::{
        definition::Adoption,
        names,
        status::{Status, conditions},
    },
    release::{
        digest::Fnv,
        inventory::Extent,
        lenient::{Int, List, Present, Struct, Text},
        rules::OfInstance,
    },
};

/// A custom resource. Its spec is kept as it was written.
#[derive(Clone)]
pub struct Cr {
    /// Name, namespace, uid, resource version and generation, and nothing else.
    pub meta: ObjectMeta,
    /// Whether it is to be deleted.
    pub deleting: bool,
    /// Whether our finalizer is on it.
    pub finalizer: bool,
    /// Which of operator-sdk's finalizers are on it.
    pub sdk_finalizers: bool,
    /// Whether whoever deletes it wants what it owns left (`kubectl delete --cascade=orphan`).
    orphaning: bool,
    /// The annotations and labels that count.
    pub marks: Marks,
    /// The spec, as JSON; `{}` when there is none.
    pub spec: Box<str>,
    /// The status, as far as we know it.
    pub status: Status,
}

impl std::fmt::Debug for Cr {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // A spec may hold secrets.
        f.debug_struct("Cr")
            .field("name", &self.meta.name)
            .field("version", &self.meta.resource_version)
            .finish_non_exhaustive()
    }
}

/// What annotations and labels say.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Marks {
    #[serde(rename = "pintle.dev/suspend")]
    suspend: Text,
    #[serde(rename = "pintle.dev/reconcile")]
    reconcile: Text,
    #[serde(rename = "pintle.dev/orphan")]
    orphan: Text,
    #[serde(rename = "pintle.dev/adoption")]
    adoption: Text,
    #[serde(rename = "pintle.dev/adopt-release")]
    adopt_release: Text,
    #[serde(rename = "pintle.dev/hooks")]
    hooks: Text,
    #[serde(rename = "pintle.dev/test")]
    test: Text,
    #[serde(rename = "pintle.dev/drift")]
    drift: Text,
    #[serde(rename = "pintle.dev/drift-ignore")]
    drift_ignore: Text,
    #[serde(rename = "pintle.dev/recreate")]
    recreate: Text,
    #[serde(rename = "pintle.dev/unset")]
    unset: Text,
    #[serde(rename = "helm.sdk.operatorframework.io/upgrade-force")]
    upgrade_force: Text,
    #[serde(rename = "helm.sdk.operatorframework.io/reconcile-period")]
    period: Text,
    #[serde(rename = "helm.sdk.operatorframework.io/uninstall-wait")]
    uninstall_wait: Text,
    #[serde(rename = "applyset.kubernetes.io/tooling")]
    tooling: Text,
    #[serde(rename = "applyset.kubernetes.io/contains-group-kinds")]
    group_kinds: Text,
    #[serde(rename = "applyset.kubernetes.io/additional-namespaces")]
    namespaces: Text,
    #[serde(skip)]
    set: Text,
}

impl Marks {
    /// Nothing is to be done for now.
    pub fn suspended(&self) -> bool {
        is_true(&self.suspend)
    }

    /// The value of `pintle.dev/reconcile`.
    pub fn reconcile(&self) -> &str {
        &self.reconcile.0
    }

    /// No hooks are to be run.
    pub fn hooks_disabled(&self) -> bool {
        &*self.hooks.0 == "disabled"
    }

    /// The value of `pintle.dev/test`.
    pub fn test(&self) -> &str {
        &self.test.0
    }

    /// Deletion is to leave the members.
    fn orphan(&self) -> bool {
        is_true(&self.orphan)
    }

    /// What is done about objects that are there already, if the resource says so.
    pub fn adoption(&self) -> Option<Adoption> {
        Adoption::read(&self.adoption.0)
    }

    /// The revision of the Helm release that is taken over; 1 where what stands there is no number.
    pub fn adopts_release(&self) -> Option<u32> {
        (!self.adopt_release.0.is_empty()).then(|| self.adopt_release.0.parse().unwrap_or(1).max(1))
    }

    /// operator-sdk's: deletion waits for the members to be gone.
    pub fn uninstall_waits(&self) -> bool {
        is_true(&self.uninstall_wait)
    }

    /// What is wrong with annotations of ours, if anything is: a word that nobody knows must not be taken for none.
    fn check(&self) -> Result<(), String> {
        let wrong =
            |name: &str, text: &Text, wanted: &str| Err(format!("{name}: {:?} is not {wanted}", text.0));
        for (name, text) in [
            (names::SUSPEND, &self.suspend),
            (names::ORPHAN, &self.orphan),
            (names::RECREATE, &self.recreate),
        ] {
            if !text.0.is_empty() && !is_true(text) && !is_false(text) {
                return wrong(name, text, "true or false");
            }
        }
        if !self.adoption.0.is_empty() && self.adoption().is_none() {
            return wrong(names::ADOPTION, &self.adoption, "Adopt or Refuse");
        }
        if !self.adopt_release.0.is_empty() && self.adopt_release.0.parse::<u32>().is_err() {
            return wrong(names::ADOPT_RELEASE, &self.adopt_release, "the number of a revision");
        }
        if !["", "enabled", "disabled"].contains(&&*self.hooks.0) {
            return wrong(names::HOOKS, &self.hooks, "enabled or disabled");
        }
        Ok(())
    }

    /// What is said about drift of members, and about making them anew: with [`names::RECREATE`], or with operator-sdk's
    /// `upgrade-force`. The error says what is wrong with it.
    pub fn rules(&self) -> Result<OfInstance, String> {
        self.check()?;
        let recreate = is_true(&self.recreate) || is_true(&self.upgrade_force);
        OfInstance::read(&self.drift.0, &self.drift_ignore.0, recreate)
    }

    /// The paths of values whose defaults are removed, as the annotation has them.
    pub fn unset(&self) -> &str {
        self.unset.0.trim()
    }

    /// A hash of what bears on values and members.
    pub fn hash(&self) -> u64 {
        let mut hash = Fnv::default();
        for text in [&self.drift, &self.drift_ignore, &self.recreate, &self.unset, &self.upgrade_force] {
            hash.text(&text.0);
        }
        hash.finish()
    }

    /// operator-sdk's reconcile period, as written.
    pub fn period(&self) -> Option<&str> {
        (!self.period.0.is_empty()).then_some(&*self.period.0)
    }

    /// What the resource says of its set.
    pub fn extent(&self) -> Extent {
        Extent::read(Some(&self.group_kinds.0), Some(&self.namespaces.0))
    }

    /// A hash of what the operator writes itself: whose parent the resource is, and of which kinds.
    pub fn claim(&self) -> u64 {
        claim(&self.set.0, &self.tooling.0, &self.group_kinds.0, &self.namespaces.0)
    }

    /// Whether all that others say is the same, whatever the operator has written itself.
    pub fn same_but_claim(&self, other: &Marks) -> bool {
        let bare = |marks: &Marks| Marks {
            set: Text::default(),
            tooling: Text::default(),
            group_kinds: Text::default(),
            namespaces: Text::default(),
            ..marks.clone()
        };
        bare(self) == bare(other)
    }

    /// Whether the parent's own marks are those of `set`, by this version of the tool.
    pub fn is_parent_of(&self, set: &str) -> bool {
        &*self.set.0 == set && &*self.tooling.0 == names::TOOLING
    }
}

/// What [`Marks::claim`] is once the operator has written that `set` has this extent.
pub fn claim_of(set: &str, extent: &Extent) -> u64 {
    let (kinds, namespaces) = extent.texts();
    claim(set, names::TOOLING, &kinds, &namespaces)
}

fn claim(set: &str, tooling: &str, kinds: &str, namespaces: &str) -> u64 {
    let mut hash = Fnv::default();
    for text in [set, tooling, kinds, namespaces] {
        hash.text(text);
    }
    hash.finish()
}

/// What [`Cr::state`] says.
pub const STATES: [&str; 5] = ["deleting", "suspended", "stalled", "ready", "progressing"];

/// What Go's ParseBool takes for true.
fn is_true(text: &Text) -> bool {
    ["1", "t", "T", "true", "TRUE", "True"].contains(&&*text.0)
}

/// What it takes for false.
fn is_false(text: &Text) -> bool {
    ["0", "f", "F", "false", "FALSE", "False"].contains(&&*text.0)
}

impl Cr {
    /// How it is, in one word.
    pub fn state(&self) -> &'static str {
        let is = [
            self.deleting,
            self.marks.suspended(),
            self.status.is(conditions::STALLED),
            self.status.is(conditions::READY),
            true,
        ];
        is.iter().zip(STATES).find(|(is, _)| **is).map_or("progressing", |(_, state)| state)
    }

    /// Whether its deletion is to leave the members.
    pub fn leaves_members(&self) -> bool {
        self.marks.orphan() || self.deleting && self.orphaning
    }

    /// Whether it and an older or newer state of the same resource were deleted for what it owns to be left. Garbage
    /// collection takes its finalizer `orphan` off as soon as it has let go of what it knows of.
    pub fn is_orphaned_as(&self, other: &Cr) -> bool {
        self.uid() == other.uid() && other.deleting && other.orphaning
    }

    /// Takes in that whoever deleted it wanted what it owns left.
    pub fn orphan(&mut self) {
        self.orphaning = true;
    }

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

    /// Its generation.
    pub fn generation(&self) -> i64 {
        self.meta.generation.unwrap_or(0)
    }

    /// Its resource version as a number; 0 when it is none.
    pub fn version(&self) -> u64 {
        self.meta.resource_version.as_deref().and_then(|v| v.parse().ok()).unwrap_or(0)
    }

    /// Whether another state of the resource has the same values and the same rules for members.
    pub fn says_the_same(&self, other: &Cr) -> bool {
        self.spec == other.spec && self.marks.hash() == other.marks.hash()
    }

    /// A hash of the spec as written.
    pub fn spec_hash(&self) -> u64 {
        let mut hash = Fnv::default();
        hash.write(self.spec.as_bytes());
        hash.finish()
    }
}

impl Resource for Cr {
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
    fn meta(&self) -> &ObjectMeta {
        &self.meta
    }
    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.meta
    }
}

#[derive(Deserialize)]
struct Object {
    #[serde(default)]
    metadata: Metadata,
    #[serde(default)]
    spec: Option<Box<RawValue>>,
    #[serde(default)]
    status: Option<Box<RawValue>>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Metadata {
    name: Text,
    namespace: Text,
    uid: Text,
    resource_version: Text,
    generation: Int,
    deletion_timestamp: Present,
    labels: Struct<Labels>,
    annotations: Struct<Marks>,
    finalizers: List<Text>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Labels {
    #[serde(rename = "applyset.kubernetes.io/id")]
    set: Text,
}

impl<'de> Deserialize<'de> for Cr {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let object = Object::deserialize(deserializer)?;
        let m = object.metadata;
        let text = |t: Text| (!t.0.is_empty()).then(|| t.0.into_string());
        let has = |name: &str| m.finalizers.0.iter().any(|f| &*f.0 == name);
        let (finalizer, sdk_finalizers) =
            (has(names::FINALIZER), names::SDK_FINALIZERS.iter().any(|name| has(name)));
        let mut marks = m.annotations.0;
        marks.set = m.labels.0.set;
        Ok(Cr {
            deleting: m.deletion_timestamp.0,
            finalizer,
            sdk_finalizers,
            orphaning: has("orphan"),
            marks,
            spec: object.spec.map_or_else(|| "{}".into(), <Box<str>>::from),
            // A status that another program left in another shape is as good as none.
            status: object.status.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default(),
            meta: ObjectMeta {
                name: text(m.name),
                namespace: text(m.namespace),
                uid: text(m.uid),
                resource_version: text(m.resource_version),
                generation: m.generation.0,
                ..ObjectMeta::default()
            },
        })
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use kube::core::WatchEvent;
    use serde_json::json;

    pub fn cr(value: &serde_json::Value) -> Cr {
        serde_json::from_str(&value.to_string()).unwrap()
    }

    #[test]
    fn a_watch_event_is_read() {
        // The type comes first, as the API server writes it: raw text can only be taken from what is not yet buffered.
        let object = json!({
            "apiVersion": "pintle.dev/v1", "kind": "Web",
            "metadata": {"name": "front", "namespace": "shop", "uid": "u", "resourceVersion": "7", "generation": 2,
                "finalizers": ["other", "pintle.dev/uninstall"],
                "labels": {"applyset.kubernetes.io/id": "applyset-x-v1"},
                "annotations": {"pintle.dev/suspend": "true", "pintle.dev/reconcile": "now",
                    "applyset.kubernetes.io/contains-group-kinds": "Deployment.apps,Service"}},
            "spec": {"replicas": 2, "big": 12345678901234567890u64},
            "status": {"observedGeneration": 1, "conditions": [{"type": "Ready", "status": "True"}]},
        });
        let line = format!(r#"{{"type":"ADDED","object":{object}}}"#);
        let WatchEvent::Added(cr) = serde_json::from_str::<WatchEvent<Cr>>(&line).unwrap() else {
            panic!("not added")
        };
        assert_eq!((cr.name(), cr.generation(), cr.version()), ("front", 2, 7));
        assert!(cr.finalizer && !cr.sdk_finalizers && !cr.deleting && cr.marks.suspended());
        assert_eq!(cr.marks.extent().kinds.len(), 2);
        assert_eq!(&*cr.spec, r#"{"big":12345678901234567890,"replicas":2}"#);
        assert!(cr.status.is("Ready"));
        assert!(!format!("{cr:?}").contains("replicas"));
    }

    #[test]
    fn annotations_that_nobody_can_read_are_refused() {
        let said = |name: &str, value: &str| {
            let cr = cr(&json!({"metadata": {"name": "a", "annotations": {name: value}}}));
            cr.marks.rules().err().unwrap_or_else(|| "taken".into())
        };
        let cases = [
            (names::SUSPEND, "True"),
            (names::ORPHAN, "yes"),
            (names::RECREATE, "false"),
            (names::ADOPTION, "adopt"),
            (names::ADOPT_RELEASE, "v3"),
            (names::HOOKS, "off"),
        ];
        insta::assert_snapshot!(cases.map(|(name, value)| said(name, value)).join("\n"), @r#"
        taken
        pintle.dev/orphan: "yes" is not true or false
        taken
        pintle.dev/adoption: "adopt" is not Adopt or Refuse
        pintle.dev/adopt-release: "v3" is not the number of a revision
        pintle.dev/hooks: "off" is not enabled or disabled
        "#);
        assert!(cr(&json!({"metadata": {"annotations": {names::SUSPEND: "True"}}})).marks.suspended());
    }

    #[test]
    fn odd_resources_are_read() {
        let odd = cr(
            &json!({"metadata": {"name": "a", "annotations": {"pintle.dev/suspend": 1}}, "status": {"conditions": "none"}}),
        );
        assert_eq!(&*odd.spec, "{}");
        assert_eq!(odd.status, Status::default());
    }
}
