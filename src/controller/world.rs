//! What the operator knows of the cluster: instances, and every object that carries a set's label.
//!
//! One structure behind one lock, changed by watch events and by the answers to our own requests, and asked by reconciles. It
//! holds digests, never manifests. All methods are plain functions of what is known: which instances need a reconcile is
//! their answer, and somebody else's to act on.

mod hooks;
mod instances;
mod members;
mod repairs;

pub use hooks::HookObject;
pub use instances::{Inputs, Instance, Memory};

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use self::{members::Member, repairs::Repaired};
use super::{queue::InstanceId, trigger::Trigger};
use crate::release::inventory::{GroupKind, ObjectKey};

/// Everything known.
#[derive(Default)]
pub struct World {
    instances: HashMap<InstanceId, Instance>,
    by_set: HashMap<Arc<str>, InstanceId>,
    members: HashMap<Arc<ObjectKey>, Member>,
    sets: HashMap<Arc<str>, HashSet<Arc<ObjectKey>>>,
    /// What is being applied, and the newest version that was seen of it meanwhile.
    applying: HashMap<Arc<ObjectKey>, u64>,
    /// The objects of hooks that run, or have lately.
    hooks: HashMap<Arc<ObjectKey>, HookObject>,
    /// How often objects were put back, for those that were lately.
    repairs: HashMap<Arc<ObjectKey>, Repaired>,
    /// The kinds of instances: what is just made says nothing yet, and is not ready.
    own_kinds: HashSet<GroupKind>,
    /// How many instances have members of a kind, or want some.
    users: HashMap<Arc<GroupKind>, usize>,
    /// Counts lists: what a list did not show is gone.
    epoch: u64,
}

/// A reconcile to ask for.
pub type Wanted = (InstanceId, Trigger);

impl World {
    /// Nothing is known yet but the kinds of instances.
    pub fn new(own_kinds: impl IntoIterator<Item = GroupKind>) -> Self {
        World { own_kinds: own_kinds.into_iter().collect(), ..World::default() }
    }

    /// Begins a list of objects: what it does not show is gone at [`World::members_not_since`].
    pub fn begin_list(&mut self) -> u64 {
        self.epoch += 1;
        self.epoch
    }

    fn wanted(&mut self, set: &str, trigger: Trigger) -> Option<Wanted> {
        let id = self.by_set.get(set)?;
        if let Some(instance) = self.instances.get_mut(id) {
            instance.memory.calm = None;
        }
        Some((id.clone(), trigger))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        api::names,
        controller::cr::{Cr, tests::cr},
        release::seen::{Meta, Seen},
    };
    use serde_json::json;

    pub fn kind() -> Arc<GroupKind> {
        Arc::new(GroupKind::parse("ConfigMap"))
    }

    pub fn key(name: &str) -> Arc<ObjectKey> {
        Arc::new(ObjectKey { kind: kind(), namespace: "shop".into(), name: name.into() })
    }

    pub fn web(version: u64, generation: i64) -> Cr {
        cr(
            &json!({"metadata": {"name": "front", "namespace": "shop", "uid": "u", "resourceVersion": version.to_string(), "generation": generation}}),
        )
    }

    pub fn set() -> String {
        names::applyset_id("front", "shop", "Web", "pintle.dev")
    }

    /// An object of the set, in which our entry owns the field `ours`.
    pub fn object(name: &str, version: u64, set: &str, ours: &str) -> Seen<Meta> {
        let text = json!({"metadata": {"name": name, "namespace": "shop", "uid": name, "resourceVersion": version.to_string(),
            "labels": {"applyset.kubernetes.io/part-of": set},
            "managedFields": [{"manager": "pintle", "operation": "Apply", "fieldsV1": {ours: {}}}]}});
        serde_json::from_str(&text.to_string()).unwrap()
    }

    pub fn world() -> World {
        let mut world = World::default();
        world.saw_instance(0, "Web", "pintle.dev", web(1, 1)).unwrap();
        world
    }

    pub fn said(wanted: impl IntoIterator<Item = Wanted>) -> Vec<String> {
        wanted.into_iter().map(|(id, t)| format!("{id}: {t}")).collect()
    }
}
