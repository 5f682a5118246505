//! What the operator knows of the cluster: instances, and every object that carries a set's label.
//!
//! One structure behind one lock, changed by watch events and by the answers to our own requests, and asked by reconciles. It
//! holds digests, never manifests. All methods are plain functions of what is known: which instances need a reconcile is
//! their answer, and somebody else's to act on.

mod hooks;

pub use hooks::HookObject;

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
    time::Instant,
};

use super::{
    cr::Cr,
    queue::{InstanceId, InstanceKey},
    trigger::Trigger,
};
use crate::{
    api::names,
    release::{
        health::{self, Health},
        inventory::{GroupKind, ObjectKey},
        plan::{Applied, Live, Repairs},
        seen::{Depth, Seen},
    },
};

/// Everything known.
#[derive(Default)]
pub struct World {
    instances: HashMap<InstanceId, Instance>,
    by_set: HashMap<Arc<str>, InstanceId>,
    members: HashMap<Arc<ObjectKey>, Member>,
    sets: HashMap<Arc<str>, HashSet<Arc<ObjectKey>>>,
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
    /// A hash of the rules by which they were applied: see [`crate::release::rules::hash`].
    pub rules: u64,
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

/// An object that carries a set's label.
#[derive(Debug, Clone)]
struct Member {
    live: Live,
    /// Of the newest that was seen.
    version: u64,
    /// How it does, and the resource version that says so.
    health: Health,
    health_version: u64,
    epoch: u64,
}

/// How often an object was put back lately, and who wants its fields.
#[derive(Debug, Default)]
struct Repaired {
    repairs: Repairs,
    contest: Option<Box<str>>,
}

/// A reconcile to ask for.
pub type Wanted = (InstanceId, Trigger);

impl World {
    /// Nothing is known yet but the kinds of instances.
    pub fn new(own_kinds: impl IntoIterator<Item = GroupKind>) -> Self {
        World { own_kinds: own_kinds.into_iter().collect(), ..World::default() }
    }

    // ---- instances ----

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
    pub fn saw_instance(&mut self, definition: usize, kind: &str, group: &str, cr: Cr) -> Option<Wanted> {
        let key = InstanceKey { definition, namespace: cr.namespace().into(), name: cr.name().into() };
        let epoch = self.epoch;
        if let Some((id, _)) = self.instances.get_key_value(&key) {
            let id = id.clone();
            let instance = self.instances.get_mut(&key)?;
            let old = &instance.cr;
            instance.epoch = epoch;
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
            } else if cr.marks != old.marks || (old.finalizer && !cr.finalizer) || cr.deleting {
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

    // ---- members ----

    /// Begins a list of objects: what it does not show is gone at [`World::members_not_since`].
    pub fn begin_list(&mut self) -> u64 {
        self.epoch += 1;
        self.epoch
    }

    /// Takes in an object that a watch or a list showed.
    pub fn saw<D: Depth>(&mut self, kind: &Arc<GroupKind>, seen: &Seen<D>) -> Vec<Wanted> {
        if seen.hook.is_some() {
            return self.saw_hook(kind, seen).into_iter().collect();
        }
        let key =
            ObjectKey { kind: kind.clone(), namespace: seen.namespace().into(), name: seen.name().into() };
        let Some(set) = seen.part_of.as_deref() else {
            // It has our label and is in no set: as good as gone from the one it was in.
            return self.gone(&key, seen.version());
        };
        let health = if !seen.deleting && self.own_kinds.contains(&**kind) && !seen.says_ready() {
            not_yet_seen()
        } else {
            seen.health(&kind.group, &kind.kind)
        };
        let epoch = self.epoch;
        let Some((key, _)) = self.members.get_key_value(&key) else {
            let key = Arc::new(key);
            let set = self.enter(set, &key);
            let member = Member {
                live: live(seen, set.clone(), None),
                version: seen.version(),
                health,
                health_version: seen.version(),
                epoch,
            };
            self.members.insert(key.clone(), member);
            return self.wanted(&set, Trigger::Member(key)).into_iter().collect();
        };
        let key = key.clone();
        let Some(member) = self.members.get_mut(&key) else { return Vec::new() };
        member.epoch = epoch;
        if seen.version() < member.version && seen.version() != 0 {
            return Vec::new();
        }
        member.version = seen.version();
        let before = member.live.clone();
        if *before.uid != *seen.uid() {
            // Another object of the same name: nothing of what was applied is in it.
            member.live.applied = None;
        }
        let set = if *before.set == *set {
            before.set.clone()
        } else {
            self.leave(&before.set, &key);
            self.enter(set, &key)
        };
        let Some(member) = self.members.get_mut(&key) else { return Vec::new() };
        member.live = live(seen, set.clone(), member.live.applied);
        let health_changed = member.health != health;
        member.health = health;
        member.health_version = seen.version();
        let changed = before.uid != member.live.uid
            || before.observed != member.live.observed
            || before.deleting != member.live.deleting
            || before.keep != member.live.keep
            || before.finalizers != member.live.finalizers
            || before.rules != member.live.rules
            || before.set != set;
        let mut wanted = Vec::new();
        if before.set != set {
            wanted.extend(self.wanted(&before.set, Trigger::Gone(key.clone())));
        }
        if changed {
            wanted.extend(self.wanted(&set, Trigger::Member(key)));
        } else if health_changed {
            wanted.extend(self.wanted(&set, Trigger::Health(key)));
        }
        wanted
    }

    /// Takes in that an object is gone from its watch, as of a resource version.
    pub fn gone(&mut self, key: &ObjectKey, version: u64) -> Vec<Wanted> {
        let Some(member) = self.members.get(key) else {
            return self.hook_gone(key, version).into_iter().collect();
        };
        // Our own apply has brought it back since.
        if version != 0 && version < member.version {
            return Vec::new();
        }
        let Some((key, member)) = self.members.remove_entry(key) else { return Vec::new() };
        self.leave(&member.live.set, &key);
        self.wanted(&member.live.set, Trigger::Gone(key)).into_iter().collect()
    }

    /// Members of a kind, in a namespace (or all), that a list which began at `epoch` did not show.
    pub fn members_not_since(&self, kind: &GroupKind, namespace: &str, epoch: u64) -> Vec<Arc<ObjectKey>> {
        let members = self.members.iter().map(|(key, m)| (key, m.epoch));
        let hooks = self.hooks.iter().map(|(key, h)| (key, h.epoch));
        members
            .chain(hooks)
            .filter(|(key, seen)| {
                *key.kind == *kind && (namespace.is_empty() || *key.namespace == *namespace) && *seen < epoch
            })
            .map(|(key, _)| key.clone())
            .collect()
    }

    /// Forgets all objects of a kind: nobody watches it any more.
    pub fn forget_kind(&mut self, kind: &GroupKind) {
        self.hooks.retain(|key, _| *key.kind != *kind);
        let keys: Vec<_> = self.members.keys().filter(|k| *k.kind == *kind).cloned().collect();
        for key in keys {
            if let Some(member) = self.members.remove(&key) {
                self.leave(&member.live.set, &key);
            }
        }
    }

    /// Counts that an object was put back, and from whom: a sentence, when somebody else holds its fields.
    pub fn repaired(&mut self, key: &Arc<ObjectKey>, contest: Option<String>, now: Instant) -> Repairs {
        self.repairs.retain(|_, r| !r.repairs.is_forgotten(now));
        let repaired = self.repairs.entry(key.clone()).or_default();
        repaired.repairs.count(now);
        if let Some(contest) = contest {
            repaired.contest = Some(contest.into());
        }
        repaired.repairs
    }

    /// Who fights over an object, in a sentence.
    pub fn contest(&self, key: &ObjectKey) -> Option<&str> {
        self.repairs.get(key)?.contest.as_deref()
    }

    /// How often an object was put back lately.
    pub fn repairs(&self, key: &ObjectKey) -> Repairs {
        self.repairs.get(key).map(|r| r.repairs).unwrap_or_default()
    }

    /// Takes in what an apply of ours answered.
    pub fn applied<D: Depth>(&mut self, key: &Arc<ObjectKey>, digest: u64, seen: &Seen<D>) {
        let rules = seen.rules.as_ref().map_or(0, |r| r.hash());
        let applied = Some(Applied { digest: digest ^ rules, hash: seen.ours });
        let epoch = self.epoch;
        let is_read = health::is_read(&key.kind.group, &key.kind.kind);
        let Some(set) = seen.part_of.as_deref() else { return };
        if let Some(member) = self.members.get_mut(key) {
            member.epoch = epoch;
            if seen.version() < member.version {
                // Somebody was faster: what the watch has shown since is compared with what we applied.
                member.live.applied = applied;
                return;
            }
            let changed = member.version != seen.version();
            member.version = seen.version();
            if *member.live.set == *set {
                member.live = live(seen, member.live.set.clone(), applied);
                if is_read && changed && member.health_version < seen.version() {
                    member.health = not_yet_seen();
                }
                return;
            }
            let before = member.live.set.clone();
            self.leave(&before, key);
        }
        let set = self.enter(set, key);
        let member = Member {
            live: live(seen, set, applied),
            version: seen.version(),
            health: if is_read { not_yet_seen() } else { Health::current() },
            health_version: 0,
            epoch,
        };
        self.members.insert(key.clone(), member);
    }

    /// Takes what is seen of a set's members for what an earlier process applied: `digests` are those of the desired state.
    pub fn recall(&mut self, digests: impl IntoIterator<Item = (Arc<ObjectKey>, u64)>) {
        for (key, digest) in digests {
            if let Some(member) = self.members.get_mut(&key)
                && member.live.applied.is_none()
            {
                let digest = member.live.with_rules(digest);
                member.live.applied = Some(Applied { digest, hash: member.live.observed });
            }
        }
    }

    /// What carries any set's label under a key.
    pub fn live(&self, key: &ObjectKey) -> Option<&Live> {
        self.members.get(key).map(|m| &m.live)
    }

    /// The members of a set.
    pub fn members(&self, set: &str) -> impl Iterator<Item = (&Arc<ObjectKey>, &Live)> {
        let keys = self.sets.get(set).into_iter().flatten();
        keys.filter_map(|key| Some((key, &self.members.get(key)?.live)))
    }

    /// How a member does.
    pub fn health(&self, key: &ObjectKey) -> Option<&Health> {
        self.members.get(key).map(|m| &m.health)
    }

    /// Whether nothing has happened to an instance's members since they were last applied in full.
    pub fn is_as_applied(&self, instance: &Instance) -> bool {
        let expected = &instance.memory.expected;
        self.sets.get(&instance.set).map_or(0, HashSet::len) == expected.len()
            && expected.iter().all(|key| {
                self.members.get(key).is_some_and(|m| {
                    m.live.set == instance.set
                        && !m.live.deleting
                        && m.live.applied.is_some()
                        && !m.live.drifted()
                })
            })
    }

    fn enter(&mut self, set: &str, key: &Arc<ObjectKey>) -> Arc<str> {
        let set = match self.sets.get_key_value(set) {
            Some((set, _)) => set.clone(),
            None => self.by_set.get_key_value(set).map_or_else(|| set.into(), |(s, _)| s.clone()),
        };
        self.sets.entry(set.clone()).or_default().insert(key.clone());
        set
    }

    fn leave(&mut self, set: &str, key: &ObjectKey) {
        if let Some(keys) = self.sets.get_mut(set) {
            keys.remove(key);
            if keys.is_empty() {
                self.sets.remove(set);
            }
        }
    }

    /// Asks for a look at how a member does, since something that bears on it changed.
    pub fn look_at(&mut self, kind: &GroupKind, namespace: &str, name: &str) -> Option<Wanted> {
        let kind = Arc::new(kind.clone());
        let key = ObjectKey { kind, namespace: namespace.into(), name: name.into() };
        let (key, set) = match self.members.get_key_value(&key) {
            Some((key, member)) => (key.clone(), member.live.set.clone()),
            None => self.hooks.get_key_value(&key).map(|(key, hook)| (key.clone(), hook.set.clone()))?,
        };
        self.wanted(&set, Trigger::Health(key))
    }

    fn wanted(&mut self, set: &str, trigger: Trigger) -> Option<Wanted> {
        let id = self.by_set.get(set)?;
        if let Some(instance) = self.instances.get_mut(id) {
            instance.memory.calm = None;
        }
        Some((id.clone(), trigger))
    }
}

fn live<D: Depth>(seen: &Seen<D>, set: Arc<str>, applied: Option<Applied>) -> Live {
    Live {
        uid: seen.uid().into(),
        set,
        observed: seen.ours,
        applied,
        deleting: seen.deleting,
        keep: seen.keep,
        finalizers: seen.finalizers.clone(),
        rules: seen.rules.clone(),
        scaled: seen.scaled,
    }
}

fn not_yet_seen() -> Health {
    Health { state: health::State::InProgress, message: "applied, and not yet observed".into() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{controller::cr::tests::cr, release::seen::Meta};
    use serde_json::json;

    fn kind() -> Arc<GroupKind> {
        Arc::new(GroupKind::parse("ConfigMap"))
    }

    fn key(name: &str) -> Arc<ObjectKey> {
        Arc::new(ObjectKey { kind: kind(), namespace: "shop".into(), name: name.into() })
    }

    fn web(version: u64, generation: i64) -> Cr {
        cr(
            &json!({"metadata": {"name": "front", "namespace": "shop", "uid": "u", "resourceVersion": version.to_string(), "generation": generation}}),
        )
    }

    fn set() -> String {
        names::applyset_id("front", "shop", "Web", "pintle.dev")
    }

    /// An object of the set, in which our entry owns the field `ours`.
    fn object(name: &str, version: u64, set: &str, ours: &str) -> Seen<Meta> {
        let text = json!({"metadata": {"name": name, "namespace": "shop", "uid": name, "resourceVersion": version.to_string(),
            "labels": {"applyset.kubernetes.io/part-of": set},
            "managedFields": [{"manager": "pintle", "operation": "Apply", "fieldsV1": {ours: {}}}]}});
        serde_json::from_str(&text.to_string()).unwrap()
    }

    fn world() -> World {
        let mut world = World::default();
        world.saw_instance(0, "Web", "pintle.dev", web(1, 1)).unwrap();
        world
    }

    fn said(wanted: impl IntoIterator<Item = Wanted>) -> Vec<String> {
        wanted.into_iter().map(|(id, t)| format!("{id}: {t}")).collect()
    }

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
    fn our_own_applies_trigger_nothing_and_others_do() {
        let mut world = world();
        let seen = object("a", 10, &set(), "f:data");
        world.applied(&key("a"), 7, &seen);
        assert_eq!(said(world.saw(&kind(), &seen)), [] as [&str; 0]);
        assert!(!world.live(&key("a")).unwrap().drifted());
        // Somebody adds a field of their own.
        assert_eq!(said(world.saw(&kind(), &object("a", 11, &set(), "f:data"))), [] as [&str; 0]);
        // Somebody takes one of ours.
        assert_eq!(
            said(world.saw(&kind(), &object("a", 12, &set(), "f:nothing"))),
            ["shop/front: ConfigMap shop/a changed"]
        );
        assert!(world.live(&key("a")).unwrap().drifted());
    }

    #[test]
    fn a_watch_that_is_behind_changes_nothing() {
        let mut world = world();
        world.applied(&key("a"), 7, &object("a", 20, &set(), "f:data"));
        assert_eq!(said(world.saw(&kind(), &object("a", 15, &set(), "f:nothing"))), [] as [&str; 0]);
        assert_eq!(said(world.gone(&key("a"), 16)), [] as [&str; 0]);
        assert!(!world.live(&key("a")).unwrap().drifted());
        assert_eq!(said(world.gone(&key("a"), 21)), ["shop/front: ConfigMap shop/a gone"]);
        assert!(world.live(&key("a")).is_none());
    }

    #[test]
    fn an_answer_that_is_behind_the_watch_shows_the_drift_in_between() {
        let mut world = world();
        world.saw(&kind(), &object("a", 21, &set(), "f:nothing"));
        world.applied(&key("a"), 7, &object("a", 20, &set(), "f:data"));
        assert!(world.live(&key("a")).unwrap().drifted());
    }

    #[test]
    fn moving_to_another_set_is_leaving_the_first() {
        let mut world = world();
        world.applied(&key("a"), 7, &object("a", 20, &set(), "f:data"));
        assert_eq!(
            said(world.saw(&kind(), &object("a", 21, "applyset-other-v1", "f:data"))),
            ["shop/front: ConfigMap shop/a gone"]
        );
        assert_eq!(&*world.live(&key("a")).unwrap().set, "applyset-other-v1");
        assert_eq!(world.members(&set()).count(), 0);
    }

    #[test]
    fn what_a_list_does_not_show_is_gone() {
        let mut world = world();
        world.applied(&key("a"), 7, &object("a", 20, &set(), "f:data"));
        world.applied(&key("b"), 7, &object("b", 20, &set(), "f:data"));
        let epoch = world.begin_list();
        world.saw(&kind(), &object("a", 20, &set(), "f:data"));
        assert_eq!(world.members_not_since(&kind(), "", epoch), [key("b")]);
        assert!(world.members_not_since(&kind(), "elsewhere", epoch).is_empty());
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

    #[test]
    fn all_is_as_applied_until_something_happens() {
        let mut world = world();
        let id = world.ids().next().unwrap().clone();
        world.applied(&key("a"), 7, &object("a", 20, &set(), "f:data"));
        world.memory(&id).unwrap().expected = [key("a")].into();
        assert!(world.is_as_applied(world.instance(&id).unwrap()));
        world.saw(&kind(), &object("b", 22, &set(), "f:data"));
        assert!(!world.is_as_applied(world.instance(&id).unwrap()), "a member too many");
        world.gone(&key("b"), 23);
        world.saw(&kind(), &object("a", 24, &set(), "f:nothing"));
        assert!(!world.is_as_applied(world.instance(&id).unwrap()), "drift");
    }
}
