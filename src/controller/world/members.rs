//! The members of sets: what was seen of them, what we have applied, and how they do.

use std::{collections::HashSet, sync::Arc};

use super::{Instance, Wanted, World};
use crate::{
    controller::trigger::Trigger,
    release::{
        health::{self, Health},
        inventory::{GroupKind, ObjectKey},
        plan::{Applied, Live},
        seen::{Depth, Seen},
    },
};

/// An object that carries a set's label.
#[derive(Debug, Clone)]
pub(super) struct Member {
    live: Live,
    /// Of the newest that was seen.
    version: u64,
    /// How it does, and the resource version that says so.
    health: Health,
    health_version: u64,
    epoch: u64,
}

impl World {
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
            if self.is_held(&key, seen.version()) {
                return Vec::new();
            }
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
        if changed && !self.is_held(&key, seen.version()) {
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

    /// Says that an object is about to be applied: what a watch shows of it before the answer is, as a rule, that apply.
    pub fn applying(&mut self, key: &Arc<ObjectKey>) {
        self.applying.insert(key.clone(), 0);
    }

    /// Whether what was seen of an object waits for the answer to an apply of it.
    fn is_held(&mut self, key: &ObjectKey, version: u64) -> bool {
        let Some(newest) = self.applying.get_mut(key).filter(|_| version != 0) else { return false };
        *newest = version.max(*newest);
        true
    }

    /// Takes in that an apply of ours was answered with `version`, 0 when it failed: a reconcile is asked for if the watch has
    /// shown more than that meanwhile.
    pub fn answered(&mut self, key: &Arc<ObjectKey>, version: u64) -> Option<Wanted> {
        let newest = self.applying.remove(key)?;
        let set = self.members.get(key).filter(|_| newest > version)?.live.set.clone();
        self.wanted(&set, Trigger::Member(key.clone()))
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
        let (expected, spent) = (&instance.memory.expected, &instance.memory.spent);
        self.sets.get(&instance.set).map_or(0, HashSet::len) + spent.len() == expected.len()
            && expected.iter().filter(|key| !spent.contains(key)).all(|key| {
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
    use super::super::tests::{key, kind, object, said, set, world};

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
    fn what_a_watch_shows_of_an_apply_before_its_answer_triggers_nothing() {
        let mut world = world();
        world.applying(&key("a"));
        assert_eq!(said(world.saw(&kind(), &object("a", 20, &set(), "f:data"))), [] as [&str; 0]);
        world.applied(&key("a"), 7, &object("a", 20, &set(), "f:data"));
        assert_eq!(said(world.answered(&key("a"), 20)), [] as [&str; 0]);
        assert!(!world.live(&key("a")).unwrap().drifted());
        // Somebody changes it between the apply and its answer.
        world.applying(&key("a"));
        world.saw(&kind(), &object("a", 22, &set(), "f:nothing"));
        world.applied(&key("a"), 8, &object("a", 21, &set(), "f:data"));
        assert_eq!(said(world.answered(&key("a"), 21)), ["shop/front: ConfigMap shop/a changed"]);
        assert!(world.live(&key("a")).unwrap().drifted());
        // It fails, and somebody has changed it.
        world.applying(&key("a"));
        world.saw(&kind(), &object("a", 23, &set(), "f:more"));
        assert_eq!(said(world.answered(&key("a"), 0)), ["shop/front: ConfigMap shop/a changed"]);
        assert_eq!(
            said(world.saw(&kind(), &object("a", 24, &set(), "f:data"))),
            ["shop/front: ConfigMap shop/a changed"],
            "it is not applied any more"
        );
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
