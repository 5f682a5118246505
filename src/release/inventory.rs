//! Whose is what: the identity of an instance's set and what stands about it on the parent and the members.

use std::{collections::BTreeSet, fmt, sync::Arc};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde_json::{Value, json};

use crate::api::{Gvk, names};

/// A group and kind, shared by the keys of all objects of it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GroupKind {
    /// The API group; empty for the core group.
    pub group: Box<str>,
    /// The kind.
    pub kind: Box<str>,
}

impl fmt::Display for GroupKind {
    /// `<Kind>.<group>`, as KEP-3659 writes it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.kind)?;
        if !self.group.is_empty() {
            write!(f, ".{}", self.group)?;
        }
        Ok(())
    }
}

impl GroupKind {
    /// Reads what [`fmt::Display`] writes.
    pub fn parse(text: &str) -> Self {
        let (kind, group) = text.split_once('.').unwrap_or((text, ""));
        GroupKind { group: group.into(), kind: kind.into() }
    }
}

/// An object's identity, whatever the version it is written in.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectKey {
    /// What it is.
    pub kind: Arc<GroupKind>,
    /// Where it is; empty when cluster-scoped.
    pub namespace: Box<str>,
    /// Its name.
    pub name: Box<str>,
}

impl fmt::Display for ObjectKey {
    /// `Deployment.apps shop/web`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ", self.kind)?;
        if !self.namespace.is_empty() {
            write!(f, "{}/", self.namespace)?;
        }
        f.write_str(&self.name)
    }
}

/// A custom resource as the parent of a set.
#[derive(Debug, Clone)]
pub struct Parent {
    /// Its kind and version.
    pub gvk: Gvk,
    /// Its namespace; empty when cluster-scoped.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// Its uid.
    pub uid: String,
    /// The value of the label `pintle.dev/definition` on members.
    pub definition: String,
}

impl Parent {
    /// The id of its set.
    pub fn set(&self) -> String {
        names::applyset_id(&self.name, &self.namespace, &self.gvk.kind, &self.gvk.group)
    }

    /// Whether garbage collection deletes an object there with it: in its own namespace, or anywhere if the parent is
    /// cluster-scoped (an owner may be cluster-scoped, or of the same namespace).
    pub fn can_own(&self, key: &ObjectKey) -> bool {
        self.namespace.is_empty() || self.namespace == *key.namespace
    }

    /// Whether it is an owner of an object, by the object's metadata.
    pub fn owns(&self, object: &ObjectMeta) -> bool {
        object.owner_references.iter().flatten().any(|owner| owner.uid == self.uid)
    }

    /// Whether an object is the parent itself.
    pub fn is(&self, key: &ObjectKey) -> bool {
        *key.kind.kind == *self.gvk.kind
            && *key.kind.group == *self.gvk.group
            && *key.namespace == *self.namespace
            && *key.name == *self.name
    }

    /// Whether an object is the namespace that the parent is in. It was there before, whatever a chart renders, and must
    /// outlive the parent: it could not go before it, nor the parent before its member.
    pub fn is_in(&self, key: &ObjectKey) -> bool {
        key.kind.group.is_empty()
            && &*key.kind.kind == "Namespace"
            && !self.namespace.is_empty()
            && *key.name == *self.namespace
    }

    /// The owner reference that its members carry.
    pub fn reference(&self) -> Value {
        json!({
            "apiVersion": self.gvk.api_version(),
            "kind": self.gvk.kind,
            "name": self.name,
            "uid": self.uid,
            "controller": true,
            "blockOwnerDeletion": true,
        })
    }
}

/// What the parent says of its set: kinds and further namespaces of its members.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Extent {
    /// The kinds of the members.
    pub kinds: BTreeSet<String>,
    /// Namespaces of members other than the parent's own.
    pub namespaces: BTreeSet<String>,
}

impl Extent {
    /// What the annotations of a parent say.
    pub fn read(group_kinds: Option<&str>, namespaces: Option<&str>) -> Self {
        let list = |text: Option<&str>| {
            text.unwrap_or_default().split(',').filter(|s| !s.is_empty()).map(str::to_owned).collect()
        };
        Extent { kinds: list(group_kinds), namespaces: list(namespaces) }
    }

    /// The annotations' texts: kinds, and namespaces.
    pub fn texts(&self) -> (String, String) {
        let join = |set: &BTreeSet<String>| set.iter().cloned().collect::<Vec<_>>().join(",");
        (join(&self.kinds), join(&self.namespaces))
    }

    /// The extent of some objects, as seen from a parent in `home`.
    pub fn of<'a>(keys: impl IntoIterator<Item = &'a ObjectKey>, home: &str) -> Self {
        let mut extent = Extent::default();
        for key in keys {
            extent.kinds.insert(key.kind.to_string());
            if !key.namespace.is_empty() && *key.namespace != *home {
                extent.namespaces.insert(key.namespace.to_string());
            }
        }
        extent
    }

    /// Both together: what the parent must say before anything of the new is applied and while the old is not pruned.
    pub fn union(&self, other: &Extent) -> Extent {
        Extent {
            kinds: self.kinds.union(&other.kinds).cloned().collect(),
            namespaces: self.namespaces.union(&other.namespaces).cloned().collect(),
        }
    }

    /// The parent's metadata for server-side apply: its uid, label, annotations, and our finalizer where `finalizer` wants it.
    pub fn parent_patch(&self, parent: &Parent, finalizer: bool) -> Value {
        let (kinds, namespaces) = self.texts();
        let mut annotations = json!({
            names::APPLYSET_TOOLING: names::TOOLING,
            names::APPLYSET_GROUP_KINDS: kinds,
        });
        if !namespaces.is_empty() {
            annotations[names::APPLYSET_NAMESPACES] = namespaces.into();
        }
        let mut metadata = json!({
            "name": parent.name,
            // Without it, an apply would make one that was deleted anew.
            "uid": parent.uid,
            "labels": { names::APPLYSET_ID: parent.set() },
            "annotations": annotations,
        });
        if !parent.namespace.is_empty() {
            metadata["namespace"] = parent.namespace.clone().into();
        }
        if finalizer {
            metadata["finalizers"] = json!([names::FINALIZER]);
        }
        json!({ "apiVersion": parent.gvk.api_version(), "kind": parent.gvk.kind, "metadata": metadata })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(kind: &str, namespace: &str, name: &str) -> ObjectKey {
        ObjectKey { kind: Arc::new(GroupKind::parse(kind)), namespace: namespace.into(), name: name.into() }
    }

    #[test]
    fn group_kinds_round_trip() {
        for text in ["Deployment.apps", "Service", "Role.rbac.authorization.k8s.io"] {
            assert_eq!(GroupKind::parse(text).to_string(), text);
        }
    }

    #[test]
    fn the_parent_says_what_its_members_are() {
        let parent = Parent {
            gvk: Gvk::of("pintle.dev/v1", "Web"),
            namespace: "shop".into(),
            name: "front".into(),
            uid: "u".into(),
            definition: "web.pintle.dev".into(),
        };
        let members = [
            key("Deployment.apps", "shop", "front"),
            key("Service", "edge", "front"),
            key("ClusterRole.rbac", "", "r"),
        ];
        let extent = Extent::of(&members, "shop");
        insta::assert_json_snapshot!(extent.parent_patch(&parent, true));
        let annotation = extent.parent_patch(&parent, false)["metadata"]["annotations"].clone();
        let read = Extent::read(
            annotation[names::APPLYSET_GROUP_KINDS].as_str(),
            annotation[names::APPLYSET_NAMESPACES].as_str(),
        );
        assert_eq!(read, extent);
        assert!(parent.can_own(&members[0]) && !parent.can_own(&members[1]) && !parent.can_own(&members[2]));
    }
}
