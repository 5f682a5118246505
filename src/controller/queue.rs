//! The work queue: instances that need a reconcile, each at most once at a time.
//!
//! What comes in while an instance waits is merged; what comes in while it runs makes it run once more. Changes go before
//! periods. Nothing here waits on anything but time and its own callers.

use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use tokio::sync::Notify;

use super::trigger::{Trigger, Triggers};

/// After so many turns of those that go first, one of the others has its own.
const FAIR: u8 = 8;

/// An instance of a definition.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct InstanceKey {
    /// The definition's place in the operator's list.
    pub definition: usize,
    /// The namespace; empty when cluster-scoped.
    pub namespace: Box<str>,
    /// The name.
    pub name: Box<str>,
}

/// A shared [`InstanceKey`].
pub type InstanceId = Arc<InstanceKey>;

impl fmt::Display for InstanceKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.namespace.is_empty() {
            write!(f, "{}/", self.namespace)?;
        }
        f.write_str(&self.name)
    }
}

/// The queue. Shared by reference; all methods take `&self`.
pub struct Queue {
    inner: Mutex<Inner>,
    changed: Notify,
}

#[derive(Default)]
struct Inner {
    items: HashMap<InstanceId, Item>,
    ready: VecDeque<InstanceId>,
    background: VecDeque<InstanceId>,
    later: BTreeMap<(Instant, u64), InstanceId>,
    /// Tells apart what is due at the same instant.
    counter: u64,
    /// By definition: how many run, and how many may.
    running: Vec<(usize, usize)>,
    /// How many in a row went first.
    in_a_row: u8,
    closed: bool,
}

#[derive(Default)]
struct Item {
    triggers: Triggers,
    queued: bool,
    running: bool,
    due: Option<((Instant, u64), Trigger)>,
}

impl Queue {
    /// A queue for definitions of which so many instances each may run at once.
    pub fn new(limits: impl IntoIterator<Item = usize>) -> Self {
        let running = limits.into_iter().map(|limit| (0, limit)).collect();
        Queue { inner: Mutex::new(Inner { running, ..Inner::default() }), changed: Notify::new() }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // Nothing in here panics in the middle of a change.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks for a reconcile now.
    pub fn add(&self, id: &InstanceId, trigger: Trigger) {
        self.lock().add(id, trigger);
        self.changed.notify_one();
    }

    /// Asks for a reconcile at a later time; an earlier request that waits already stands.
    pub fn add_at(&self, id: &InstanceId, trigger: Trigger, at: Instant) {
        let mut inner = self.lock();
        inner.counter += 1;
        let when = (at, inner.counter);
        let item = inner.items.entry(id.clone()).or_default();
        if let Some((due, _)) = item.due {
            if due.0 <= at {
                return;
            }
            item.due = None;
            inner.later.remove(&due);
        }
        inner.later.insert(when, id.clone());
        if let Some(item) = inner.items.get_mut(id) {
            item.due = Some((when, trigger));
        }
        drop(inner);
        self.changed.notify_one();
    }

    /// Forgets an instance. A reconcile of it that runs is not stopped.
    pub fn forget(&self, id: &InstanceId) {
        let mut inner = self.lock();
        let Some(item) = inner.items.get_mut(id) else { return };
        let due = item.due.take();
        item.triggers = Triggers::default();
        if !item.running {
            inner.items.remove(id);
        }
        if let Some((due, _)) = due {
            inner.later.remove(&due);
        }
    }

    /// Waits for the next instance that may run, and marks it running. None once the queue is closed.
    pub async fn next(&self) -> Option<(InstanceId, Triggers)> {
        loop {
            let changed = self.changed.notified();
            let due = {
                let mut inner = self.lock();
                if inner.closed {
                    return None;
                }
                inner.promote(Instant::now());
                if let Some(next) = inner.take() {
                    return Some(next);
                }
                inner.later.keys().next().map(|(at, _)| *at)
            };
            match due {
                Some(at) => {
                    tokio::select! {
                        () = changed => {}
                        () = tokio::time::sleep_until(at.into()) => {}
                    }
                }
                None => changed.await,
            }
        }
    }

    /// Marks an instance as no longer running.
    pub fn done(&self, id: &InstanceId) {
        let mut inner = self.lock();
        inner.running[id.definition].0 -= 1;
        if let Some(item) = inner.items.get_mut(id) {
            item.running = false;
            if !item.triggers.is_empty() {
                inner.enqueue(id);
            } else if item.due.is_none() {
                inner.items.remove(id);
            }
        }
        drop(inner);
        self.changed.notify_one();
    }

    /// Lets nobody wait any more.
    pub fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_waiters();
        self.changed.notify_one();
    }

    /// How many instances wait to run now.
    pub fn depth(&self) -> usize {
        let inner = self.lock();
        inner.ready.len() + inner.background.len()
    }
}

impl Inner {
    fn add(&mut self, id: &InstanceId, trigger: Trigger) {
        let item = self.items.entry(id.clone()).or_default();
        let background = trigger.is_background();
        // What waits in the background moves up when somebody waits for it.
        let moves_up = item.queued && !background && !item.triggers.any(|t| !t.is_background());
        item.triggers.add(trigger);
        if moves_up {
            if let Some(at) = self.background.iter().position(|other| other == id) {
                self.background.remove(at);
                self.ready.push_back(id.clone());
            }
        } else if !item.queued && !item.running {
            self.enqueue(id);
        }
    }

    fn enqueue(&mut self, id: &InstanceId) {
        let Some(item) = self.items.get_mut(id) else { return };
        item.queued = true;
        if item.triggers.any(|t| !t.is_background()) {
            self.ready.push_back(id.clone());
        } else {
            self.background.push_back(id.clone());
        }
    }

    /// Moves what is due to the ready.
    fn promote(&mut self, now: Instant) {
        while let Some(entry) = self.later.first_entry() {
            if entry.key().0 > now {
                return;
            }
            let id = entry.remove();
            if let Some((_, trigger)) = self.items.get_mut(&id).and_then(|item| item.due.take()) {
                self.add(&id, trigger);
            }
        }
    }

    /// The first instance whose definition has room.
    fn take(&mut self) -> Option<(InstanceId, Triggers)> {
        let running = &mut self.running;
        let fair = self.in_a_row >= FAIR;
        let mut queues = [(&mut self.ready, false), (&mut self.background, true)];
        if fair {
            queues.reverse();
        }
        for (queue, background) in queues {
            let fits = |id: &InstanceId| running[id.definition].0 < running[id.definition].1;
            let Some(at) = queue.iter().position(fits) else { continue };
            let id = queue.remove(at)?;
            let Some(item) = self.items.get_mut(&id) else { continue };
            running[id.definition].0 += 1;
            item.queued = false;
            item.running = true;
            self.in_a_row = if background { 0 } else { self.in_a_row.saturating_add(1) };
            return Some((id, std::mem::take(&mut item.triggers)));
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn id(definition: usize, name: &str) -> InstanceId {
        Arc::new(InstanceKey { definition, namespace: "n".into(), name: name.into() })
    }

    /// What can be taken without waiting.
    fn now(queue: &Queue) -> Option<(String, String)> {
        let mut inner = queue.lock();
        inner.promote(Instant::now());
        inner.take().map(|(id, t)| (id.name.to_string(), t.to_string()))
    }

    #[test]
    fn triggers_merge_while_waiting() {
        let queue = Queue::new([4]);
        queue.add(&id(0, "a"), Trigger::Changed);
        queue.add(&id(0, "a"), Trigger::Changed);
        queue.add(&id(0, "a"), Trigger::Retry);
        assert_eq!(now(&queue), Some(("a".into(), "spec changed, retry".into())));
        assert_eq!(now(&queue), None);
    }

    #[test]
    fn one_at_a_time_and_once_more_after() {
        let queue = Queue::new([4]);
        queue.add(&id(0, "a"), Trigger::Changed);
        now(&queue).unwrap();
        queue.add(&id(0, "a"), Trigger::Marked);
        assert_eq!(now(&queue), None);
        queue.done(&id(0, "a"));
        assert_eq!(now(&queue), Some(("a".into(), "metadata changed".into())));
        queue.done(&id(0, "a"));
        assert_eq!(now(&queue), None);
        assert!(queue.lock().items.is_empty());
    }

    #[test]
    fn changes_go_before_periods() {
        let queue = Queue::new([4]);
        queue.add(&id(0, "a"), Trigger::Period);
        queue.add(&id(0, "b"), Trigger::Period);
        queue.add(&id(0, "c"), Trigger::Changed);
        queue.add(&id(0, "b"), Trigger::Changed);
        let order: Vec<String> = std::iter::from_fn(|| now(&queue)).map(|(n, _)| n).collect();
        assert_eq!(order, ["c", "b", "a"]);
    }

    #[test]
    fn nobody_waits_for_ever() {
        let queue = Queue::new([100]);
        queue.add(&id(0, "period"), Trigger::Period);
        for i in 0..50 {
            queue.add(&id(0, &format!("change-{i}")), Trigger::Changed);
        }
        let order: Vec<String> = std::iter::from_fn(|| now(&queue)).map(|(n, _)| n).collect();
        assert_eq!(order.iter().position(|n| n == "period"), Some(usize::from(FAIR)));
    }

    #[test]
    fn a_full_definition_does_not_hold_up_another() {
        let queue = Queue::new([1, 1]);
        for name in ["a", "b"] {
            queue.add(&id(0, name), Trigger::Changed);
        }
        queue.add(&id(1, "c"), Trigger::Changed);
        assert_eq!(now(&queue).unwrap().0, "a");
        assert_eq!(now(&queue).unwrap().0, "c");
        assert_eq!(now(&queue), None);
        queue.done(&id(0, "a"));
        assert_eq!(now(&queue).unwrap().0, "b");
    }

    #[test]
    fn the_earlier_time_stands() {
        let queue = Queue::new([1]);
        let soon = Instant::now();
        queue.add_at(&id(0, "a"), Trigger::Period, soon + Duration::from_secs(60));
        queue.add_at(&id(0, "a"), Trigger::Retry, soon);
        queue.add_at(&id(0, "a"), Trigger::Period, soon + Duration::from_secs(90));
        assert_eq!(now(&queue), Some(("a".into(), "retry".into())));
        assert!(queue.lock().later.is_empty());
        queue.forget(&id(0, "a"));
        queue.done(&id(0, "a"));
        assert_eq!(now(&queue), None);
    }

    #[tokio::test]
    async fn waiting_ends_with_work_time_or_close() {
        let queue = Arc::new(Queue::new([1]));
        let waiter = tokio::spawn({
            let queue = queue.clone();
            async move { queue.next().await.map(|(id, _)| id.name.to_string()) }
        });
        queue.add_at(&id(0, "a"), Trigger::Period, Instant::now() + Duration::from_millis(1));
        assert_eq!(waiter.await.unwrap().as_deref(), Some("a"));
        let waiter = tokio::spawn({
            let queue = queue.clone();
            async move { queue.next().await.is_none() }
        });
        queue.close();
        assert!(waiter.await.unwrap());
    }
}
