//! Instances: what was seen of their resources, and what is remembered of their last reconciles.

use std::sync::Arc;

use super::{Wanted, World};
use crate::{
    api::names,
    controller::{
        cr::Cr,
        queue::{InstanceId, InstanceKey},
        trigger::Trigger,
    },
    release::{
        inventory::{GroupKind, ObjectKey},
        object::Desired,
    },
};

/// An instance: what was seen of its resource, and what is remembered of its last reconcile.
#[derive(Clone)]
pub struct Instance {
    /// The resource.
    pub cr: Arc<Cr>,
    /// The id of its set.
    pub set: Arc<str>,
    /// What is remembered.
    pub memory: Memory,
    /// The kinds it is counted as a user of.
    kinds: Arc<[Arc<GroupKind>]>,
    epoch: u64,
}

/// What is remembered of an instance's last reconcile. It is lost with the process, and nothing depends on it but work
/// saved.
#[derive(Debug, Clone, Default)]
pub struct Memory {
    /// What the last render was made of, if it was then applied in full.
    pub settled: Option<Inputs>,
    /// The members that were desired then.
    pub expected: Arc<[Arc<ObjectKey>]>,
    /// Those of them that had their time and are gone.
    pub spent: Arc<[Arc<ObjectKey>]>,
    /// Whether it was looked for what an earlier process had applied.
    pub recalled: bool,
    /// Whether it waits for a kind to be served.
    pub awaits_kinds: bool,
    /// What the cluster served when the instance was last found ready and as it should be, if nothing has been seen of it or
    /// its members since.
    pub calm: Option<u64>,
    /// Reconciles that failed in a row.
    pub failures: u32,
    /// The value of `pintle.dev/reconcile` that was last acted on; none before the first reconcile.
    pub requested: Option<Box<str>>,
    /// The resource as it was when what was desired was last applied in full.
    pub deployed: Option<Arc<Cr>>,
    /// After a restart in the middle of an upgrade: the members of the deployed revision as they were found.
    pub found: Option<Arc<[Desired]>>,
    /// A hash of the rules by which they were applied: see [`crate::release::rules::hash`].
    pub rules: u64,
    /// What we last wrote, or are about to write, on the resource about its set: see [`crate::controller::cr::Marks::claim`].
    pub claim: Option<u64>,
}

/// What a render is made of. Equal inputs give an equal desired state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Inputs {
    /// Hash of the spec as written.
    pub spec: u64,
    /// The uid of the resource, hashed: it is in the owner references.
    pub uid: u64,
    /// What annotations of the resource say about values and members, hashed.
    pub marks: u64,
    /// The epoch of what the cluster serves.
    pub served: u64,
    /// The loaded chart.
    pub chart: u64,
}

impl World {
    /// An instance.
    pub fn instance(&self, id: &InstanceKey) -> Option<&Instance> {
        self.instances.get(id)
    }

    /// An instance, to change it.
    pub fn instance_mut(&mut self, id: &InstanceKey) -> Option<&mut Instance> {
        self.instances.get_mut(id)
    }

    /// An instance, to change what is remembered of it.
    pub fn memory(&mut self, id: &InstanceKey) -> Option<&mut Memory> {
        self.instances.get_mut(id).map(|i| &mut i.memory)
    }

    /// All instances.
    pub fn ids(&self) -> impl Iterator<Item = &InstanceId> {
        self.instances.keys()
    }

    /// The instance that has a set.
    pub fn of_set(&self, set: &str) -> Option<&InstanceId> {
        self.by_set.get(set)
    }

    /// All instances and their resources.
    pub fn instances(&self) -> impl Iterator<Item = (&InstanceId, &Cr)> {
        self.instances.iter().map(|(id, instance)| (id, &*instance.cr))
    }

    /// The instances that wait for a kind to be served.
    pub fn awaiting_kinds(&self) -> Vec<InstanceId> {
        self.instances.iter().filter(|(_, i)| i.memory.awaits_kinds).map(|(id, _)| id.clone()).collect()
    }

    /// How many instances a definition has.
    pub fn count(&self, definition: usize) -> usize {
        self.instances.keys().filter(|id| id.definition == definition).count()
    }

    /// Takes in a resource that was seen: by a watch, or as the answer to a request of ours. What is older than what is
    /// known is passed over.
    pub fn saw_instance(&mut self, definition: usize, kind: &str, group: &str, mut cr: Cr) -> Option<Wanted> {
        let key = InstanceKey { definition, namespace: cr.namespace().into(), name: cr.name().into() };
        let epoch = self.epoch;
        if let Some((id, _)) = self.instances.get_key_value(&key) {
            let id = id.clone();
            let instance = self.instances.get_mut(&key)?;
            let old = &instance.cr;
            instance.epoch = epoch;
            // One state of many says it, maybe one that comes late.
            if cr.is_orphaned_as(old) {
                cr.orphan();
            } else if old.is_orphaned_as(&cr) {
                Arc::make_mut(&mut instance.cr).orphan();
            }
            let old = &instance.cr;
            // Older; or what a request of ours has answered already.
            if cr.version() != 0
                && (cr.version() < old.version() || cr.version() == old.version() && cr.uid() == old.uid())
            {
                return None;
            }
            let trigger = if cr.uid() != old.uid() {
                // Another one of the same name: nothing that is remembered holds.
                instance.memory = Memory::default();
                Some(Trigger::Seen)
            } else if cr.deleting && !old.deleting {
                Some(Trigger::Deleted)
            } else if cr.generation() != old.generation() {
                Some(Trigger::Changed)
            } else if cr.marks != old.marks && !is_our_claim(&cr, old, &instance.memory)
                || (old.finalizer && !cr.finalizer)
                || cr.deleting
            {
                Some(Trigger::Marked)
            } else {
                None
            };
            instance.cr = Arc::new(cr);
            // One is enough where both say the same.
            let deployed = &mut instance.memory.deployed;
            if deployed.as_ref().is_some_and(|d| d.says_the_same(&instance.cr)) {
                *deployed = Some(instance.cr.clone());
            }
            instance.memory.calm = None;
            return trigger.map(|t| (id, t));
        }
        let set: Arc<str> = names::applyset_id(cr.name(), cr.namespace(), kind, group).into();
        let id: InstanceId = Arc::new(key);
        self.by_set.insert(set.clone(), id.clone());
        let instance =
            Instance { cr: Arc::new(cr), set, memory: Memory::default(), kinds: Arc::default(), epoch };
        self.instances.insert(id.clone(), instance);
        Some((id, Trigger::Seen))
    }

    /// Takes in that a resource is gone. Its id, if it was known, and the kinds that nobody uses any more.
    pub fn instance_gone(&mut self, key: &InstanceKey) -> Option<(InstanceId, Vec<Arc<GroupKind>>)> {
        let unused = self.use_kinds(key, Vec::new());
        let (id, instance) = self.instances.remove_entry(key)?;
        self.by_set.remove(&instance.set);
        self.forget_hooks(&instance.set);
        Some((id, unused))
    }

    /// Instances of a definition, in a namespace (or all), that a list which began at `epoch` did not show.
    pub fn instances_not_since(&self, definition: usize, namespace: &str, epoch: u64) -> Vec<InstanceId> {
        self.instances
            .iter()
            .filter(|(id, i)| {
                id.definition == definition
                    && (namespace.is_empty() || *id.namespace == *namespace)
                    && i.epoch < epoch
            })
            .map(|(id, _)| id.clone())
            .collect()
    }

    /// Counts an instance as a user of these kinds, and no longer of others. The kinds that nobody uses any more.
    pub fn use_kinds(&mut self, key: &InstanceKey, kinds: Vec<Arc<GroupKind>>) -> Vec<Arc<GroupKind>> {
        let Some(instance) = self.instances.get_mut(key) else { return Vec::new() };
        if *instance.kinds == *kinds {
            return Vec::new();
        }
        for kind in &kinds {
            *self.users.entry(kind.clone()).or_default() += 1;
        }
        let before = std::mem::replace(&mut instance.kinds, kinds.into());
        let mut unused = Vec::new();
        for kind in before.iter() {
            if let Some(count) = self.users.get_mut(kind) {
                *count -= 1;
                if *count == 0 {
                    self.users.remove(kind);
                    unused.push(kind.clone());
                }
            }
        }
        unused
    }

    /// Whether some instance uses a kind.
    pub fn is_used(&self, kind: &GroupKind) -> bool {
        self.users.contains_key(kind)
    }
}

/// Whether all that is new of a resource's marks is what we have written there ourselves.
fn is_our_claim(new: &Cr, old: &Cr, memory: &Memory) -> bool {
    memory.claim == Some(new.marks.claim()) && new.marks.same_but_claim(&old.marks)
}

#[cfg(test)]
mod tests {
    use super::{
        super::tests::{kind, said, set, web, world},
        *,
    };
    use crate::{
        controller::cr::{claim_of, tests::cr},
        release::inventory::Extent,
    };
    use serde_json::json;

    #[test]
    fn only_what_counts_of_a_resource_triggers() {
        let mut world = world();
        let mut saw = |cr| said(world.saw_instance(0, "Web", "pintle.dev", cr));
        assert_eq!(saw(web(2, 1)), [] as [&str; 0]);
        assert_eq!(saw(web(3, 2)), ["shop/front: spec changed"]);
        assert_eq!(saw(web(2, 1)), [] as [&str; 0], "older");
        let mut suspended = json!({"metadata": {"name": "front", "namespace": "shop", "uid": "u", "resourceVersion": "4", "generation": 2,
            "annotations": {"pintle.dev/suspend": "true", "other": "x"}}});
        assert_eq!(saw(cr(&suspended)), ["shop/front: metadata changed"]);
        suspended["metadata"]["annotations"]["other"] = "y".into();
        assert_eq!(saw(cr(&suspended)), [] as [&str; 0]);
        suspended["metadata"]["uid"] = "v".into();
        assert_eq!(saw(cr(&suspended)), ["shop/front: first seen"]);
    }

    #[test]
    fn what_we_write_on_a_resource_ourselves_triggers_nothing() {
        let mut world = world();
        let id = world.ids().next().unwrap().clone();
        let claimed = |version: &str, kinds: &str, reconcile: &str| {
            cr(
                &json!({"metadata": {"name": "front", "namespace": "shop", "uid": "u", "resourceVersion": version, "generation": 1,
                "labels": {"applyset.kubernetes.io/id": set()},
                "annotations": {"applyset.kubernetes.io/tooling": names::TOOLING,
                    "applyset.kubernetes.io/contains-group-kinds": kinds, "pintle.dev/reconcile": reconcile}}}),
            )
        };
        let extent = Extent { kinds: ["ConfigMap".into(), "Service".into()].into(), ..Extent::default() };
        world.memory(&id).unwrap().claim = Some(claim_of(&set(), &extent));
        let mut saw = |cr| said(world.saw_instance(0, "Web", "pintle.dev", cr));
        assert_eq!(saw(claimed("2", "ConfigMap,Service", "")), [] as [&str; 0]);
        assert_eq!(saw(claimed("3", "ConfigMap", "")), ["shop/front: metadata changed"], "another's");
        assert_eq!(saw(claimed("4", "ConfigMap,Service", "now")), ["shop/front: metadata changed"]);
    }

    #[test]
    fn kinds_are_used_until_nobody_does() {
        let mut world = world();
        let id = world.ids().next().unwrap().clone();
        assert!(world.use_kinds(&id, vec![kind()]).is_empty());
        assert!(world.is_used(&kind()));
        assert_eq!(world.instance_gone(&id).unwrap().1, [kind()]);
        assert!(!world.is_used(&kind()));
    }
}
