//! The Pods of workloads that are not ready: a workload says that it has too few that are, and they say why.
//!
//! They are watched only while a workload in their namespace is not ready, and not before that has lasted a moment, so that
//! what starts as it should costs nothing. Of all Pods only those are kept that something is wrong with.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use futures::{StreamExt as _, pin_mut};
use kube::{
    Api,
    runtime::{
        WatchStreamExt as _,
        watcher::{Event, watcher},
    },
};
use tokio::{sync::Semaphore, task::AbortHandle};

use super::{Operator, queue::InstanceId, watches::failure_of};
use crate::release::{
    inventory::{GroupKind, ObjectKey},
    pods::Pod,
};

/// So long a workload may be on its way before its Pods are looked at.
const GRACE: Duration = Duration::from_millis(700);
/// In so many namespaces Pods are watched at once; others wait for their turn.
const AT_ONCE: usize = 32;

/// A workload: its kind and name.
type Workload = (GroupKind, Box<str>);

/// What is wrong with the Pods of one namespace: by workload, then by Pod.
type Troubles = HashMap<Workload, BTreeMap<Box<str>, Box<str>>>;

/// The watches of Pods.
pub struct Pods {
    namespaces: Mutex<HashMap<Box<str>, Watched>>,
    turns: Arc<Semaphore>,
}

struct Watched {
    task: AbortHandle,
    /// The instances with workloads there that are not ready.
    users: HashSet<InstanceId>,
    troubles: Troubles,
}

impl Default for Pods {
    fn default() -> Self {
        Pods { namespaces: Mutex::default(), turns: Arc::new(Semaphore::new(AT_ONCE)) }
    }
}

impl Pods {
    fn lock(&self) -> MutexGuard<'_, HashMap<Box<str>, Watched>> {
        self.namespaces.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends all watches.
    pub fn stop(&self) {
        self.lock().drain().for_each(|(_, watched)| watched.task.abort());
    }

    /// Ends the watches that only this instance has use for, but for those of these namespaces.
    pub fn release(&self, id: &InstanceId, but: &[Box<str>]) {
        self.lock().retain(|namespace, w| {
            if !but.contains(namespace) && w.users.remove(id) && w.users.is_empty() {
                w.task.abort();
                return false;
            }
            true
        });
    }

    /// What is wrong with the Pods of a workload, in a sentence.
    pub fn trouble(&self, key: &ObjectKey) -> Option<String> {
        let namespaces = self.lock();
        let workload = ((*key.kind).clone(), key.name.clone());
        let troubles = namespaces.get(&key.namespace)?.troubles.get(&workload)?;
        let (pod, trouble) = troubles.iter().next()?;
        let more = match troubles.len() - 1 {
            0 => String::new(),
            1 => " (and 1 more Pod)".into(),
            n => format!(" (and {n} more Pods)"),
        };
        Some(format!("Pod {pod}: {trouble}{more}"))
    }
}

impl Operator {
    /// Watches the Pods of these namespaces for an instance, and no longer those of others.
    pub(super) fn look_at_pods(self: &Arc<Self>, id: &InstanceId, namespaces: &[Box<str>]) {
        self.pods.release(id, namespaces);
        let mut watched = self.pods.lock();
        for namespace in namespaces {
            if let Some(w) = watched.get_mut(namespace) {
                w.users.insert(id.clone());
                continue;
            }
            let task = tokio::spawn(self.clone().watch_pods(namespace.clone())).abort_handle();
            let users = HashSet::from([id.clone()]);
            watched.insert(namespace.clone(), Watched { task, users, troubles: Troubles::default() });
        }
    }

    async fn watch_pods(self: Arc<Self>, namespace: Box<str>) {
        tokio::time::sleep(GRACE).await;
        // Nobody closes it.
        let Ok(_turn) = self.pods.turns.clone().acquire_owned().await else { return };
        let api: Api<Pod> = Api::namespaced(self.cluster.client().clone(), &namespace);
        let events = watcher(api, self.settings.watch_config()).default_backoff();
        pin_mut!(events);
        let mut told = false;
        let mut listed: Troubles = HashMap::new();
        while let Some(event) = events.next().await {
            match event {
                Err(error) => {
                    if !std::mem::replace(&mut told, true) {
                        tracing::warn!(%namespace, error = %failure_of(&error), "Pods cannot be looked at: it is not said why a workload is not ready");
                    }
                }
                Ok(Event::Init) => listed = HashMap::new(),
                Ok(Event::InitApply(pod)) => {
                    if let (Some(workload), Some(trouble)) = (pod.workload.clone(), pod.trouble.clone()) {
                        listed.entry(workload).or_default().insert(pod.name().into(), trouble);
                    }
                }
                Ok(Event::InitDone) => {
                    let found = std::mem::take(&mut listed);
                    let mut changed: HashSet<Workload> = found.keys().cloned().collect();
                    if let Some(w) = self.pods.lock().get_mut(&namespace) {
                        changed.extend(std::mem::replace(&mut w.troubles, found).into_keys());
                    }
                    changed.iter().for_each(|workload| self.ask_about(&namespace, workload));
                }
                Ok(Event::Apply(pod)) => self.saw_pod(&namespace, &pod, pod.trouble.as_deref()),
                Ok(Event::Delete(pod)) => self.saw_pod(&namespace, &pod, None),
            }
        }
    }

    /// Takes in a Pod that was seen, and asks for a look at its workload when what is wrong has changed.
    fn saw_pod(&self, namespace: &str, pod: &Pod, trouble: Option<&str>) {
        let Some(workload) = &pod.workload else { return };
        {
            let mut namespaces = self.pods.lock();
            let Some(w) = namespaces.get_mut(namespace) else { return };
            let before = match trouble {
                Some(trouble) => {
                    w.troubles.entry(workload.clone()).or_default().insert(pod.name().into(), trouble.into())
                }
                None => {
                    let Some(pods) = w.troubles.get_mut(workload) else { return };
                    let before = pods.remove(pod.name());
                    if pods.is_empty() {
                        w.troubles.remove(workload);
                    }
                    before
                }
            };
            if before.as_deref() == trouble {
                return;
            }
        }
        self.ask_about(namespace, workload);
    }

    fn ask_about(&self, namespace: &str, (kind, name): &Workload) {
        let wanted = self.world().look_at(kind, namespace, name);
        self.ask(wanted);
    }
}
