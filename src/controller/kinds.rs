//! New kinds: while an instance waits for one, CRDs are watched (metadata alone), and what is served is asked for when one
//! changes.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Duration,
};

use futures::{StreamExt as _, pin_mut};
use kube::runtime::{WatchStreamExt as _, watcher::Event};
use tokio::{task::AbortHandle, time::Instant};

use super::{
    Operator,
    trigger::Trigger,
    watches::{failure_of, watched},
};
use crate::release::{
    cluster::dynamic,
    inventory::GroupKind,
    seen::{Meta, Seen},
};

const CRD: &str = "CustomResourceDefinition.apiextensions.k8s.io";
/// How long after a change of a CRD it is asked what is served: it is established a moment after it is made, and discovery
/// follows a moment after that. Each time twice as long, and so many times.
const FIRST: Duration = Duration::from_millis(100);
/// See [`FIRST`].
const TIMES: u32 = 8;

/// The watch of CRDs, once somebody has waited for a kind.
#[derive(Default)]
pub(super) struct KindsWatch {
    task: Mutex<Option<AbortHandle>>,
    works: AtomicBool,
}

impl KindsWatch {
    /// Ends it.
    pub fn stop(&self) {
        if let Some(task) = self.task.lock().unwrap_or_else(PoisonError::into_inner).take() {
            task.abort();
        }
    }
}

impl Operator {
    /// Watches CRDs from now on. Whether the watch is known to work.
    pub(super) fn watch_kinds(self: &Arc<Self>) -> bool {
        let mut task = self.kinds.task.lock().unwrap_or_else(PoisonError::into_inner);
        if task.as_ref().is_none_or(AbortHandle::is_finished) {
            *task = Some(tokio::spawn(self.clone().run_kinds()).abort_handle());
        }
        self.kinds.works.load(Relaxed)
    }

    async fn run_kinds(self: Arc<Self>) {
        let Some((_, resource, _)) = self.cluster.resource(&GroupKind::parse(CRD)) else { return };
        let api = dynamic::<Seen<Meta>>(self.cluster.client().clone(), &resource, "");
        let events = watched(api, self.settings.watch_config()).default_backoff();
        pin_mut!(events);
        let mut told = false;
        let mut epoch = self.cluster.epoch();
        // When to ask, and for which time.
        let mut ask: Option<(Instant, u32)> = None;
        loop {
            let due = ask.map_or_else(|| Instant::now() + FIRST, |(at, _)| at);
            tokio::select! {
                event = events.next() => match event {
                    Some(Ok(event @ (Event::InitDone | Event::Apply(_) | Event::Delete(_)))) => {
                        self.kinds.works.store(true, Relaxed);
                        if matches!(event, Event::Delete(_)) {
                            // Somebody may wait for just that, to make it anew.
                            let waiting = self.world().awaiting_kinds();
                            self.ask(waiting.into_iter().map(|id| (id, Trigger::Served)));
                        }
                        ask = Some((Instant::now() + FIRST, 0));
                    }
                    Some(Ok(_)) => {}
                    Some(Err(error)) => {
                        self.kinds.works.store(false, Relaxed);
                        if !told {
                            let error = failure_of(&error);
                            tracing::warn!(%error, "CRDs cannot be watched: it is looked for new kinds every few seconds");
                            told = true;
                        }
                    }
                    None => return,
                },
                () = tokio::time::sleep_until(due), if ask.is_some() => {
                    let waiting = self.world().awaiting_kinds();
                    if waiting.is_empty() {
                        ask = None;
                        continue;
                    }
                    match self.cluster.rediscover(self.cluster.epoch()).await {
                        Ok(new) if new != epoch => {
                            epoch = new;
                            self.ask(waiting.into_iter().map(|id| (id, Trigger::Served)));
                        }
                        Ok(_) => {}
                        Err(error) => tracing::debug!(%error, "discovery failed"),
                    }
                    ask = match ask {
                        Some((_, times)) if times < TIMES => Some((Instant::now() + FIRST * (1 << times), times + 1)),
                        _ => None,
                    };
                }
            }
        }
    }
}
