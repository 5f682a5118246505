//! The objects of hooks: they carry our label, so that their watches show them, and are in no set.

use std::sync::Arc;

use super::{Wanted, World};
use crate::{
    controller::trigger::Trigger,
    release::{
        health::End,
        inventory::{GroupKind, ObjectKey},
        seen::{Depth, Seen},
    },
};

/// An object of a hook.
#[derive(Debug, Clone)]
pub struct HookObject {
    /// Its uid.
    pub uid: Box<str>,
    /// The set of the instance whose hook it is.
    pub set: Arc<str>,
    /// Which run of the hook made it.
    pub run: Box<str>,
    /// What it came to; none while it runs.
    pub end: Option<End>,
    /// What it waits for, if it says so.
    pub progress: Option<Box<str>>,
    /// Whether it is being deleted.
    pub deleting: bool,
    /// Whether it is gone. What it came to before is kept until somebody has asked.
    pub gone: bool,
    version: u64,
    pub(super) epoch: u64,
}

impl World {
    /// Takes in an object of a hook that was seen, or that we have made.
    pub fn saw_hook<D: Depth>(&mut self, kind: &Arc<GroupKind>, seen: &Seen<D>) -> Option<Wanted> {
        let (set, run) = seen.hook.as_ref()?;
        let key =
            ObjectKey { kind: kind.clone(), namespace: seen.namespace().into(), name: seen.name().into() };
        let epoch = self.epoch;
        let known = self.hooks.get_key_value(&key).map(|(key, _)| key.clone());
        if let Some(known) = known.as_ref().and_then(|key| self.hooks.get_mut(key))
            && *known.uid == *seen.uid()
        {
            known.epoch = epoch;
            if seen.version() <= known.version && seen.version() != 0 {
                return None;
            }
        }
        let key = known.unwrap_or_else(|| Arc::new(key));
        let set = match self.by_set.get_key_value(&**set) {
            Some((set, _)) => set.clone(),
            None => set.as_ref().into(),
        };
        let object = HookObject {
            uid: seen.uid().into(),
            set: set.clone(),
            run: run.clone(),
            end: seen.end(&kind.group, &kind.kind),
            progress: seen.progress(&kind.group, &kind.kind),
            deleting: seen.deleting,
            gone: false,
            version: seen.version(),
            epoch,
        };
        let before = self.hooks.insert(key.clone(), object);
        let object = self.hooks.get(&key)?;
        let same = before.is_some_and(|b| {
            (b.uid, b.end, b.progress, b.deleting)
                == (object.uid.clone(), object.end.clone(), object.progress.clone(), object.deleting)
        });
        if same { None } else { self.wanted(&set, Trigger::Hook(key)) }
    }

    /// Takes in that an object of a hook is gone from its watch.
    pub(super) fn hook_gone(&mut self, key: &ObjectKey, version: u64) -> Option<Wanted> {
        let (key, _) = self.hooks.get_key_value(key)?;
        let key = key.clone();
        let object = self.hooks.get_mut(&key)?;
        if object.gone || version != 0 && version < object.version {
            return None;
        }
        object.gone = true;
        let set = object.set.clone();
        self.wanted(&set, Trigger::Hook(key))
    }

    /// The object that a run of a hook of a set has made.
    pub fn hook_of_run(&self, set: &str, run: &str) -> Option<(&Arc<ObjectKey>, &HookObject)> {
        self.hooks.iter().find(|(_, object)| *object.set == *set && *object.run == *run)
    }

    /// Forgets what hooks of a set came to.
    pub fn forget_hooks(&mut self, set: &str) {
        self.hooks.retain(|_, object| *object.set != *set);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::release::seen::Full;
    use serde_json::json;

    fn job(uid: &str, version: u64, conditions: &serde_json::Value) -> Seen<Full> {
        let object = json!({"metadata": {"name": "migrate", "namespace": "shop", "uid": uid, "resourceVersion": version.to_string(),
            "labels": {"pintle.dev/hook-of": "set"}, "annotations": {"pintle.dev/hook-run": uid}},
            "status": {"conditions": conditions}});
        serde_json::from_str(&object.to_string()).unwrap()
    }

    #[test]
    fn the_end_of_a_hook_outlives_its_object() {
        let mut world = World::default();
        let kind = Arc::new(GroupKind::parse("Job.batch"));
        world.saw(&kind, &job("a", 1, &json!([])));
        world.saw(&kind, &job("a", 2, &json!([{"type": "Complete", "status": "True"}])));
        // What the request that made it answered comes late.
        world.saw_hook(&kind, &job("a", 1, &json!([])));
        let key = world.hook_of_run("set", "a").unwrap().0.clone();
        world.gone(&key, 3);
        let (_, object) = world.hook_of_run("set", "a").unwrap();
        assert_eq!((object.gone, object.end.clone()), (true, Some(End::Succeeded)));
        world.saw(&kind, &job("b", 4, &json!([])));
        assert!(world.hook_of_run("set", "a").is_none(), "another of the same name");
        assert_eq!(world.hook_of_run("set", "b").unwrap().1.end, None);
        world.forget_hooks("set");
        assert!(world.hook_of_run("set", "b").is_none());
    }
}
