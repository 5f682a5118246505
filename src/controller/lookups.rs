//! What templates looked up in the cluster, and the watches that say when it is something else by now.
//!
//! An answer is told from another by the resource versions in it; nothing else of it is kept, since it may be secret.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use futures::{StreamExt as _, pin_mut};
use kube::{
    core::ApiResource,
    runtime::{WatchStreamExt as _, watcher::Event},
};
use tokio::task::AbortHandle;

use super::{
    Operator,
    events::{Level, Said, about},
    queue::{InstanceId, InstanceKey},
    trigger::Trigger,
    watches::{failure_of, watched},
};
use crate::{
    api::Gvk,
    release::{
        cluster::dynamic,
        digest::Fnv,
        failure::Failure,
        inventory::ObjectKey,
        plan::Repairs,
        seen::{Meta, Seen},
    },
    render::LookupRecord,
};

/// Changes come in bursts; so long they are gathered.
const GATHER: Duration = Duration::from_millis(100);
/// After a render that a watch has not caught up with, it is looked again.
const CATCH_UP: Duration = Duration::from_secs(1);

/// Which answer a look-up had: 0 is none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Version(u64);

impl Version {
    /// Takes an object in. The order does not matter.
    pub fn add(&mut self, namespace: &str, name: &str, resource_version: &str) {
        self.0 = self.0.wrapping_add(Self::of(namespace, name, resource_version));
    }

    fn of(namespace: &str, name: &str, resource_version: &str) -> u64 {
        let mut hash = Fnv::default();
        for part in [namespace, name, resource_version] {
            hash.text(part);
        }
        hash.finish()
    }
}

/// A look-up and which answer it had.
pub type Read = (LookupRecord, Version);

/// All look-ups of all instances.
#[derive(Default)]
pub struct Lookups {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    watched: HashMap<LookupRecord, Watched>,
    users: HashMap<InstanceId, User>,
}

struct Watched {
    task: Option<AbortHandle>,
    /// What the watch shows; none before its first list.
    shown: Option<Version>,
    /// Who looked it up.
    users: Vec<InstanceId>,
}

#[derive(Default)]
struct User {
    reads: Vec<Read>,
    /// How often it was rendered otherwise lately, with nothing changed but what it looks up.
    renders: Repairs,
}

impl Lookups {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends all watches.
    pub fn stop(&self) {
        self.lock().watched.drain().for_each(|(_, w)| w.task.iter().for_each(AbortHandle::abort));
    }

    /// Whether what an instance looked up is still so, or is not to be looked at yet.
    pub fn is_current(&self, id: &InstanceKey) -> bool {
        let inner = self.lock();
        let Some(user) = inner.users.get(id) else { return true };
        user.renders.held_until(Instant::now()).is_some()
            || user.reads.iter().all(|(record, read)| {
                inner.watched.get(record).and_then(|w| w.shown).is_none_or(|shown| shown == *read)
            })
    }

    /// Counts that an instance was rendered otherwise because of what it looks up.
    pub fn rendered_otherwise(&self, id: &InstanceId) -> Repairs {
        let mut inner = self.lock();
        let user = inner.users.entry(id.clone()).or_default();
        user.renders.count(Instant::now());
        user.renders
    }

    /// What an instance looked up.
    pub fn reads(&self, id: &InstanceKey) -> Vec<LookupRecord> {
        let inner = self.lock();
        inner.users.get(id).into_iter().flat_map(|user| &user.reads).map(|(r, _)| r.clone()).collect()
    }

    /// An instance is gone.
    pub fn forget(&self, id: &InstanceKey) {
        let mut inner = self.lock();
        if inner.users.remove(id).is_some() {
            inner.watched.retain(|_, w| w.leave(id));
        }
    }

    fn held_until(&self, id: &InstanceKey) -> Option<Instant> {
        self.lock().users.get(id)?.renders.held_until(Instant::now())
    }
}

impl Watched {
    /// Takes an instance off. False when nobody is left, and the watch has ended.
    fn leave(&mut self, id: &InstanceKey) -> bool {
        self.users.retain(|user| **user != *id);
        if self.users.is_empty() {
            self.task.iter().for_each(AbortHandle::abort);
        }
        !self.users.is_empty()
    }
}

/// Whether a look-up is for an object.
pub fn is_for(record: &LookupRecord, key: &ObjectKey) -> bool {
    let gvk = Gvk::of(&record.api_version, &record.kind);
    *gvk.group == *key.kind.group
        && *gvk.kind == *key.kind.kind
        && *record.name == *key.name
        && (key.namespace.is_empty() || *record.namespace == *key.namespace)
}

impl Operator {
    /// Takes in what a render of an instance looked up, and watches it.
    pub(super) fn looked_up(self: &Arc<Self>, id: &InstanceId, reads: Vec<Read>) {
        let mut behind = false;
        {
            let mut inner = self.lookups.lock();
            if reads.is_empty() && !inner.users.contains_key(id) {
                return;
            }
            inner.watched.retain(|record, w| reads.iter().any(|(r, _)| r == record) || w.leave(id));
            for (record, read) in &reads {
                let w = inner.watched.entry(record.clone()).or_insert_with(|| Watched {
                    task: self.watch_looked_up(record),
                    shown: None,
                    users: Vec::new(),
                });
                behind |= w.shown.is_some_and(|shown| shown != *read);
                if !w.users.contains(id) {
                    w.users.push(id.clone());
                }
            }
            inner.users.entry(id.clone()).or_default().reads = reads;
        }
        if behind {
            self.wake(id);
            // The watch is behind the answer, or the answer behind the watch.
            self.queue.add_at(id, Trigger::Retry, Instant::now() + CATCH_UP);
        }
    }

    /// Asks for a render after a change of what was looked up: at once, or when it is its turn.
    pub(super) fn ask_for_lookup(&self, id: &InstanceId, trigger: Trigger) {
        self.wake(id);
        let soon = Instant::now() + GATHER;
        let at = self.lookups.held_until(id).map_or(soon, |until| until.max(soon));
        self.queue.add_at(id, trigger, at);
    }

    /// A turn that comes before is to look as well.
    fn wake(&self, id: &InstanceId) {
        if let Some(instance) = self.world().instance_mut(id) {
            instance.memory.calm = None;
        }
    }

    /// Starts a watch, if the kind is served: when it comes to be, everything is rendered anew.
    fn watch_looked_up(self: &Arc<Self>, record: &LookupRecord) -> Option<AbortHandle> {
        let gvk = Gvk::of(&record.api_version, &record.kind);
        let (resource, namespaced) = self.cluster.resource_in(&gvk)?;
        let namespace = if namespaced { record.namespace.clone() } else { String::new() };
        let task = self.clone().run_lookup_watch(record.clone(), resource, namespace);
        Some(tokio::spawn(task).abort_handle())
    }

    async fn run_lookup_watch(
        self: Arc<Self>,
        record: LookupRecord,
        resource: ApiResource,
        namespace: String,
    ) {
        let api = dynamic::<Seen<Meta>>(self.cluster.client().clone(), &resource, &namespace);
        let mut config = self.settings.watch_config();
        if !record.name.is_empty() {
            config = config.fields(&format!("metadata.name={}", record.name));
        }
        let events = watched(api, config).default_backoff();
        pin_mut!(events);
        let mut told = false;
        // The objects, by hash of namespace and name.
        let mut objects: HashMap<u64, u64> = HashMap::new();
        let mut listed: HashMap<u64, u64> = HashMap::new();
        let entry = |seen: &Seen<Meta>| {
            let version = seen.meta.resource_version.as_deref().unwrap_or_default();
            let (namespace, name) = (seen.namespace(), seen.name());
            (Version::of(namespace, name, ""), Version::of(namespace, name, version))
        };
        while let Some(event) = events.next().await {
            match event {
                Err(error) => {
                    let failure = failure_of(&error);
                    tracing::warn!(lookup = %describe(&record), error = %failure, "what was looked up cannot be watched");
                    if matches!(failure, Failure::Forbidden(_)) && !std::mem::replace(&mut told, true) {
                        self.say_unwatched(&record, &failure);
                    }
                    continue;
                }
                Ok(Event::Init) => {
                    listed = HashMap::new();
                    continue;
                }
                Ok(Event::InitApply(seen)) => {
                    listed.extend([entry(&seen)]);
                    continue;
                }
                Ok(Event::InitDone) => objects = std::mem::take(&mut listed),
                Ok(Event::Apply(seen)) => objects.extend([entry(&seen)]),
                Ok(Event::Delete(seen)) => {
                    objects.remove(&entry(&seen).0);
                }
            }
            let shown = Version(objects.values().fold(0, |sum, version| sum.wrapping_add(*version)));
            let behind: Vec<InstanceId> = {
                let mut inner = self.lookups.lock();
                let Some(w) = inner.watched.get_mut(&record) else { return };
                w.shown = Some(shown);
                let users = w.users.clone();
                let saw_else = |id: &InstanceId| {
                    let reads = inner.users.get(id).map(|user| &user.reads[..]).unwrap_or_default();
                    reads.iter().any(|(r, read)| *r == record && *read != shown)
                };
                users.into_iter().filter(saw_else).collect()
            };
            for id in behind {
                self.ask([(id, Trigger::LookedUp(describe(&record).into()))]);
            }
        }
    }

    fn say_unwatched(&self, record: &LookupRecord, failure: &Failure) {
        let users = self.lookups.lock().watched.get(record).map(|w| w.users.clone()).unwrap_or_default();
        for id in users {
            let Some(uid) = self.world().instance(&id).map(|i| i.cr.uid().to_owned()) else { continue };
            self.events.say(Said {
                about: about(&self.parent(&id, &uid)),
                related: None,
                level: Level::Warning,
                reason: "LookupNotWatched",
                action: "Render",
                note: format!(
                    "the chart looks up {}, which cannot be watched, so that its changes are not seen: {failure}",
                    describe(record)
                ),
            });
        }
    }
}

/// A look-up for a person: `Secret shop/key`, `all Secrets in shop`.
pub fn describe(record: &LookupRecord) -> String {
    let kind = Gvk::of(&record.api_version, &record.kind).group_kind();
    match (&*record.namespace, &*record.name) {
        ("", "") => format!("every {kind}"),
        (namespace, "") => format!("every {kind} in {namespace}"),
        ("", name) => format!("{kind} {name}"),
        (namespace, name) => format!("{kind} {namespace}/{name}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::release::inventory::GroupKind;

    fn record(namespace: &str, name: &str) -> LookupRecord {
        LookupRecord {
            api_version: "v1".into(),
            kind: "Secret".into(),
            namespace: namespace.into(),
            name: name.into(),
        }
    }

    #[test]
    fn answers_are_told_apart_whatever_their_order() {
        let of = |objects: &[(&str, &str)]| {
            let mut version = Version::default();
            for (name, at) in objects {
                version.add("shop", name, at);
            }
            version
        };
        assert_eq!(of(&[("a", "1"), ("b", "2")]), of(&[("b", "2"), ("a", "1")]));
        for other in [&[("a", "1")][..], &[("a", "2"), ("b", "2")], &[("a", "2"), ("b", "1")], &[]] {
            assert_ne!(of(&[("a", "1"), ("b", "2")]), of(other), "{other:?}");
        }
    }

    #[test]
    fn what_a_lookup_is_for() {
        let key = |kind: &str, namespace: &str| ObjectKey {
            kind: Arc::new(GroupKind::parse(kind)),
            namespace: namespace.into(),
            name: "key".into(),
        };
        assert!(is_for(&record("shop", "key"), &key("Secret", "shop")));
        assert!(!is_for(&record("shop", "key"), &key("Secret", "edge")));
        assert!(!is_for(&record("shop", "key"), &key("ConfigMap", "shop")));
        assert!(!is_for(&record("shop", ""), &key("Secret", "shop")));
        let said = [record("shop", "key"), record("shop", ""), record("", ""), record("", "key")];
        assert_eq!(
            said.map(|r| describe(&r)),
            ["Secret shop/key", "every Secret in shop", "every Secret", "Secret key"]
        );
    }
}
