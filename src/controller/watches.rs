//! The watches of members: one for each kind (and namespace, where not all are watched), shared by all instances.
//!
//! A watch is started before the first plan that has objects of its kind, so that what the plan does not find is not
//! there; it ends when no instance uses the kind any more.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use futures::{Stream, StreamExt as _, TryStreamExt as _, pin_mut, stream};
use kube::{
    Api, Resource,
    core::ApiResource,
    runtime::{
        WatchStreamExt as _,
        watcher::{self, Event, watcher},
    },
};
use serde::de::DeserializeOwned;
use tokio::{sync::watch, task::AbortHandle};

use super::{Operator, metrics::OfKind};
use crate::{
    api::names,
    release::{
        cluster::dynamic,
        failure::Failure,
        health,
        inventory::{GroupKind, ObjectKey},
        seen::{Depth, Full, Meta, Seen},
    },
};

/// How long a reconcile waits for the first list of a kind before it is tried again later.
const FIRST_LIST: Duration = Duration::from_secs(15);

/// What is watched: a kind, in a namespace or (empty) in all.
type Scope = (Arc<GroupKind>, Box<str>);

/// The running watches.
#[derive(Default)]
pub struct Watches {
    running: Mutex<HashMap<Scope, Running>>,
}

struct Running {
    task: AbortHandle,
    state: watch::Receiver<State>,
}

impl Running {
    /// Whether it will show something. One of a kind that was not served looks again too late for whoever knows that it is.
    fn goes_on(&self) -> bool {
        let lost = matches!(&*self.state.borrow(), State::Failing(failure) if failure.says_no_kind());
        !self.task.is_finished() && !lost
    }
}

/// How a watch does.
#[derive(Debug, Clone)]
enum State {
    /// Its first list is not complete.
    Listing,
    /// What it shows is complete.
    Synced,
    /// Its first list fails.
    Failing(Failure),
}

impl Watches {
    fn lock(&self) -> MutexGuard<'_, HashMap<Scope, Running>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends all.
    pub fn stop(&self) {
        self.lock().drain().for_each(|(_, watch)| watch.task.abort());
    }

    /// How many run.
    pub fn count(&self) -> usize {
        self.lock().len()
    }
}

impl Operator {
    /// Sees to it that these objects would be seen if they were there. What fails is the first watch that does.
    pub(super) async fn watch(self: &Arc<Self>, keys: &[&ObjectKey]) -> Result<(), Failure> {
        let mut waiting = Vec::new();
        {
            let mut running = self.watches.lock();
            let mut last: Option<Scope> = None;
            for key in keys {
                let scope: Scope = (key.kind.clone(), self.settings.scope_of(&key.namespace).into());
                if last.as_ref() == Some(&scope) {
                    continue;
                }
                last = Some(scope.clone());
                let state = match running.get(&scope) {
                    Some(watch) if watch.goes_on() => watch.state.clone(),
                    before => {
                        if let Some(watch) = before {
                            watch.task.abort();
                        }
                        let Some((kind, resource, _)) = self.cluster.resource(&scope.0) else {
                            return Err(Failure::NotServed(scope.0.to_string()));
                        };
                        let watch = self.start_watch(kind, &resource, &scope.1);
                        let state = watch.state.clone();
                        running.insert(scope, watch);
                        state
                    }
                };
                waiting.push(state);
            }
            self.metrics.watches.set(i64::try_from(running.len()).unwrap_or(i64::MAX));
        }
        for mut state in waiting {
            let settled = async {
                loop {
                    match &*state.borrow_and_update() {
                        State::Listing => {}
                        State::Synced => return Ok(()),
                        State::Failing(failure) => return Err(failure.clone()),
                    }
                    if state.changed().await.is_err() {
                        return Err(Failure::Unavailable("a watch ended".into()));
                    }
                }
            };
            match tokio::time::timeout(FIRST_LIST, settled).await {
                Ok(result) => result?,
                Err(_) => {
                    return Err(Failure::Unavailable("the first list of a watch takes too long".into()));
                }
            }
        }
        Ok(())
    }

    /// Ends the watches of kinds that no instance uses any more, and forgets what they showed.
    pub(super) fn unwatch(&self, unused: &[Arc<GroupKind>]) {
        if unused.is_empty() {
            return;
        }
        let mut running = self.watches.lock();
        let mut world = self.world();
        for kind in unused {
            // Somebody may have come to use it since.
            if world.is_used(kind) {
                continue;
            }
            running.retain(|(watched, _), watch| {
                if watched != kind {
                    return true;
                }
                watch.task.abort();
                tracing::debug!(kind = %kind, "no longer watched");
                false
            });
            world.forget_kind(kind);
        }
        self.metrics.watches.set(i64::try_from(running.len()).unwrap_or(i64::MAX));
    }

    fn start_watch(
        self: &Arc<Self>,
        kind: Arc<GroupKind>,
        resource: &ApiResource,
        namespace: &str,
    ) -> Running {
        let (sender, state) = watch::channel(State::Listing);
        tracing::debug!(%kind, namespace, "watched");
        let task = if health::is_read(&kind.group, &kind.kind) {
            tokio::spawn(self.clone().run_watch::<Full>(kind, resource.clone(), namespace.into(), sender))
        } else {
            tokio::spawn(self.clone().run_watch::<Meta>(kind, resource.clone(), namespace.into(), sender))
        };
        Running { task: task.abort_handle(), state }
    }

    async fn run_watch<D: Depth>(
        self: Arc<Self>,
        kind: Arc<GroupKind>,
        resource: ApiResource,
        namespace: Box<str>,
        state: watch::Sender<State>,
    ) {
        let api = dynamic::<Seen<D>>(self.cluster.client().clone(), &resource, &namespace);
        let config = self.settings.watch_config().labels(names::DEFINITION);
        // An error is reported before the stream waits to try again.
        let events = watched(api, config)
            .inspect_err(|error| {
                let failure = failure_of(error);
                self.cluster.doubt(&failure);
                tracing::warn!(%kind, error = %failure, "a watch failed and will be tried again");
                self.metrics.watch_failures.get_or_create(&OfKind { kind: kind.to_string() }).inc();
                state.send_if_modified(|state| {
                    // Who waits for the first list is told, and so is who comes after the kind has gone.
                    let first = !matches!(state, State::Synced) || failure.says_no_kind();
                    if first {
                        *state = State::Failing(failure);
                    }
                    first
                });
            })
            .default_backoff();
        pin_mut!(events);
        let mut epoch = 0;
        while let Some(event) = events.next().await {
            let Ok(event) = event else { continue };
            let complete = matches!(event, Event::InitDone);
            let wanted = {
                let mut world = self.world();
                match event {
                    Event::Init => {
                        epoch = world.begin_list();
                        Vec::new()
                    }
                    Event::InitApply(seen) | Event::Apply(seen) => world.saw(&kind, &seen),
                    Event::InitDone => {
                        let vanished = world.members_not_since(&kind, &namespace, epoch);
                        vanished.iter().flat_map(|key| world.gone(key, 0)).collect()
                    }
                    Event::Delete(seen) => {
                        let key = ObjectKey {
                            kind: kind.clone(),
                            namespace: seen.namespace().into(),
                            name: seen.name().into(),
                        };
                        world.gone(&key, seen.version())
                    }
                }
            };
            self.ask(wanted);
            // After the world holds everything, so that whoever waits for it sees it.
            if complete {
                state.send_replace(State::Synced);
            }
        }
    }
}

/// A watcher that lists anew once the version that it would go on from is forgotten, in whichever way the API server says so.
/// kube's own does after an error within the watch, but when the request is refused it would make the same one for ever.
pub(super) fn watched<K>(
    api: Api<K>,
    config: watcher::Config,
) -> impl Stream<Item = watcher::Result<Event<K>>> + Send
where
    K: Resource + Clone + DeserializeOwned + std::fmt::Debug + Send + 'static,
{
    let begin = move || watcher(api.clone(), config.clone()).boxed();
    stream::unfold((begin(), begin), |(mut events, begin)| async move {
        let event = events.next().await?;
        if matches!(&event, Err(watcher::Error::WatchStartFailed(kube::Error::Api(status))) if status.code == 410)
        {
            events = begin();
        }
        Some((event, (events, begin)))
    })
}

/// What a watcher's error means for a request.
pub(super) fn failure_of(error: &watcher::Error) -> Failure {
    match error {
        watcher::Error::InitialListFailed(e)
        | watcher::Error::WatchStartFailed(e)
        | watcher::Error::WatchFailed(e) => match e {
            kube::Error::Api(status) => Failure::of(kube::Error::Api(status.clone())),
            other => Failure::Unavailable(other.to_string()),
        },
        watcher::Error::WatchError(status) => Failure::of(kube::Error::Api(status.clone())),
        watcher::Error::NoResourceVersion => Failure::Invalid("the kind cannot be watched".into()),
    }
}
