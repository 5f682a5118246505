//! The Pods of workloads that are not ready: a workload says that it has too few that are, and they say why.
//!
//! They are watched only while a workload in their namespace is not ready, and not before that has lasted a moment, so that
//! what starts as it should costs nothing. Of all Pods only those are kept that something is wrong with.
//!
//! A Pod whose containers are not made for a while says nothing of why: a volume that cannot be mounted is an Event. Events are
//! not watched, there are too many of them; they are listed a few times while there are such Pods.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use futures::{StreamExt as _, pin_mut};
use k8s_openapi::api::core::v1::Event as Told;
use kube::{
    Api,
    api::ListParams,
    runtime::{WatchStreamExt as _, watcher::Event},
};
use tokio::{sync::Semaphore, task::AbortHandle};

use super::{
    Operator,
    queue::InstanceId,
    watches::{failure_of, watched},
};
use crate::release::{
    inventory::{GroupKind, ObjectKey},
    pods::Pod,
};

/// So long a workload may be on its way before its Pods are looked at.
const GRACE: Duration = Duration::from_millis(700);
/// In so many namespaces Pods are watched at once; others wait for their turn.
const AT_ONCE: usize = 32;

/// So long the containers of a Pod may be on their way until it is looked whether Events say why, and how often and how long
/// after that it is looked again: the attempt to attach a volume ends after two minutes, and is told then.
const LOOKS: [Duration; 4] =
    [Duration::from_secs(3), Duration::from_secs(12), Duration::from_secs(60), Duration::from_secs(120)];
/// So many Events are read in a look.
const EVENTS: u32 = 500;
/// What Events say of Pods whose containers are not made.
const REASONS: [&str; 5] =
    ["FailedMount", "FailedAttachVolume", "FailedMapVolume", "FailedCreatePodSandBox", "NetworkNotReady"];

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

    /// What Events say of Pods whose containers are not made. Who may not list Events knows nothing.
    async fn explain(&self, namespace: &str, creating: &mut Creating) {
        let api: Api<Told> = Api::namespaced(self.cluster.client().clone(), namespace);
        let warnings = ListParams::default().fields("involvedObject.kind=Pod,type=Warning").limit(EVENTS);
        let told = match api.list(&warnings).await {
            Ok(told) => told.items,
            Err(error) => {
                tracing::debug!(namespace, %error, "Events cannot be looked at");
                return;
            }
        };
        let time = |e: &Told| {
            let old = e.last_timestamp.as_ref().map(|t| t.0);
            old.max(e.event_time.as_ref().map(|t| t.0))
        };
        for (name, pod) in &mut creating.pods {
            let about = |e: &&Told| {
                let reason = e.reason.as_deref().unwrap_or_default();
                e.involved_object.uid.as_deref() == Some(pod.uid()) && REASONS.contains(&reason)
            };
            let Some(last) = told.iter().filter(about).max_by_key(|e| time(e)) else { continue };
            let why = format!(
                "{}: {}",
                last.reason.as_deref().unwrap_or_default(),
                last.message.as_deref().unwrap_or_default()
            );
            tracing::debug!(namespace, pod = &**name, why, "an Event says why it is not running");
            pod.trouble = Some(why.into());
            self.saw_pod(namespace, pod, pod.trouble.as_deref());
        }
    }

    async fn watch_pods(self: Arc<Self>, namespace: Box<str>) {
        tokio::time::sleep(GRACE).await;
        // Nobody closes it.
        let Ok(_turn) = self.pods.turns.clone().acquire_owned().await else { return };
        let api: Api<Pod> = Api::namespaced(self.cluster.client().clone(), &namespace);
        let events = watched(api, self.settings.watch_config()).default_backoff();
        pin_mut!(events);
        let mut told = false;
        let mut listed: Troubles = HashMap::new();
        let mut creating = Creating::default();
        loop {
            let event = tokio::select! {
                event = events.next() => event,
                () = creating.time() => {
                    creating.look();
                    self.explain(&namespace, &mut creating).await;
                    continue;
                }
            };
            let Some(event) = event else { return };
            match event {
                Err(error) => {
                    if !std::mem::replace(&mut told, true) {
                        tracing::warn!(%namespace, error = %failure_of(&error), "Pods cannot be looked at: it is not said why a workload is not ready");
                    }
                }
                Ok(Event::Init) => {
                    listed = HashMap::new();
                    creating.pods.clear();
                }
                Ok(Event::InitApply(mut pod)) => {
                    creating.saw(&mut pod);
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
                Ok(Event::Apply(mut pod)) => {
                    creating.saw(&mut pod);
                    self.saw_pod(&namespace, &pod, pod.trouble.as_deref());
                }
                Ok(Event::Delete(pod)) => {
                    creating.pods.remove(pod.name());
                    self.saw_pod(&namespace, &pod, None);
                }
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

/// The Pods of a namespace whose containers are not made yet.
#[derive(Default)]
struct Creating {
    pods: HashMap<Box<str>, Pod>,
    /// When to look at Events.
    next: Option<Instant>,
    /// How often they were looked at since a Pod was last new here.
    looks: usize,
}

impl Creating {
    /// Takes a Pod in. What Events said of it before is still so while nothing of it has changed.
    fn saw(&mut self, pod: &mut Pod) {
        if !pod.creating {
            self.pods.remove(pod.name());
            return;
        }
        match self.pods.get(pod.name()).filter(|known| known.uid() == pod.uid()) {
            Some(known) => pod.trouble.clone_from(&known.trouble),
            None => {
                self.looks = 0;
                let soon = Instant::now() + LOOKS[0];
                self.next = Some(self.next.map_or(soon, |next| next.min(soon)));
            }
        }
        self.pods.insert(pod.name().into(), pod.clone());
    }

    /// Ends when it is time to look.
    async fn time(&self) {
        match self.next {
            Some(at) => tokio::time::sleep_until(at.into()).await,
            None => std::future::pending().await,
        }
    }

    /// Sets the time of the look after this one.
    fn look(&mut self) {
        self.looks += 1;
        let wait = LOOKS.get(self.looks).filter(|_| !self.pods.is_empty());
        self.next = wait.map(|wait| Instant::now() + *wait);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pod(name: &str, reason: &str) -> Pod {
        let waiting = serde_json::json!({"waiting": {"reason": reason}});
        let object = serde_json::json!({"metadata": {"name": name, "uid": name},
            "status": {"phase": "Pending", "containerStatuses": [{"name": "main", "state": waiting}]}});
        serde_json::from_str(&object.to_string()).unwrap()
    }

    #[test]
    fn events_are_looked_at_a_few_times_while_containers_are_not_made() {
        let mut creating = Creating::default();
        creating.saw(&mut pod("a", "ImagePullBackOff"));
        assert!(creating.next.is_none(), "it says why itself");
        creating.saw(&mut pod("a", "ContainerCreating"));
        let mut looks = 0;
        while creating.next.is_some() {
            creating.look();
            looks += 1;
            creating.saw(&mut pod("a", "ContainerCreating"));
        }
        assert_eq!(looks, LOOKS.len());
        creating.saw(&mut pod("b", "PodInitializing"));
        assert!(creating.next.is_some(), "another one");
        creating.saw(&mut pod("a", "ErrImagePull"));
        creating.saw(&mut pod("b", "ErrImagePull"));
        creating.look();
        assert!(creating.next.is_none() && creating.pods.is_empty());
    }

    #[test]
    fn what_an_event_said_stays_said() {
        let mut creating = Creating::default();
        creating.saw(&mut pod("a", "ContainerCreating"));
        creating.pods.get_mut("a").unwrap().trouble = Some("FailedMount: no such ConfigMap".into());
        let mut again = pod("a", "ContainerCreating");
        creating.saw(&mut again);
        assert_eq!(again.trouble.as_deref(), Some("FailedMount: no such ConfigMap"));
    }
}
