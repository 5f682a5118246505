//! Events that wait to be written. When too many do, the least important are dropped.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::Notify;

use super::events::{Level, Said};

/// So many may wait: some megabytes.
const WAITING: usize = 16_384;

/// What waits, from the side of those who hand in. Its drop is the end, once all that waits is taken.
pub struct Backlog(Arc<Shared>);

/// What waits, from the side of the one who writes.
pub struct Taker(Arc<Shared>);

struct Shared {
    inner: Mutex<Inner>,
    more: Notify,
    limit: usize,
}

#[derive(Default)]
struct Inner {
    said: VecDeque<Said>,
    ended: bool,
    /// Dropped since there was last room.
    dropped: u64,
}

/// Both sides of an empty one.
pub fn new() -> (Backlog, Taker) {
    of_size(WAITING)
}

fn of_size(limit: usize) -> (Backlog, Taker) {
    let shared = Arc::new(Shared { inner: Mutex::default(), more: Notify::new(), limit });
    (Backlog(shared.clone()), Taker(shared))
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Backlog {
    /// Hands one in. False: one was dropped, this one or one that is less important. It is logged when that begins.
    pub fn add(&self, said: Said) -> bool {
        let full = {
            let mut inner = self.0.lock();
            let full = inner.said.len() >= self.0.limit;
            if full {
                if inner.dropped == 0 {
                    tracing::warn!(
                        waiting = self.0.limit,
                        "too many Events wait: the least important are dropped"
                    );
                }
                inner.dropped += 1;
                if said.level == Level::Normal {
                    return false;
                }
                match inner.said.iter().position(|s| s.level == Level::Normal) {
                    Some(at) => inner.said.remove(at),
                    None => return false,
                };
            }
            inner.said.push_back(said);
            full
        };
        self.0.more.notify_one();
        !full
    }

    /// Nothing more comes.
    pub fn end(&self) {
        self.0.lock().ended = true;
        self.0.more.notify_one();
    }
}

impl Drop for Backlog {
    fn drop(&mut self) {
        self.end();
    }
}

impl Taker {
    /// The one that has waited longest; none at the end.
    pub async fn next(&mut self) -> Option<Said> {
        loop {
            {
                let mut inner = self.0.lock();
                if let Some(said) = inner.said.pop_front() {
                    return Some(said);
                }
                if inner.dropped > 0 {
                    tracing::warn!(dropped = inner.dropped, "no Event waits any more; so many were dropped");
                    inner.dropped = 0;
                }
                if inner.ended {
                    return None;
                }
            }
            self.0.more.notified().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(level: Level, note: &str) -> Said {
        Said {
            about: Default::default(),
            related: None,
            level,
            reason: "Tested",
            action: "Test",
            note: note.to_owned(),
        }
    }

    #[tokio::test]
    async fn warnings_take_the_place_of_others() {
        let (backlog, mut taker) = of_size(3);
        let handed_in = [
            (Level::Normal, "a"),
            (Level::Warning, "b"),
            (Level::Normal, "c"),
            (Level::Normal, "d"),
            (Level::Warning, "e"),
            (Level::Warning, "f"),
            (Level::Warning, "g"),
        ];
        let kept = handed_in.map(|(level, note)| backlog.add(said(level, note)));
        assert_eq!(kept, [true, true, true, false, false, false, false]);
        drop(backlog);
        let mut notes = Vec::new();
        while let Some(said) = taker.next().await {
            notes.push(said.note);
        }
        assert_eq!(notes, ["b", "e", "f"]);
    }

    #[tokio::test]
    async fn what_comes_later_is_waited_for() {
        let (backlog, mut taker) = new();
        let waits = tokio::spawn(async move { taker.next().await.map(|said| said.note) });
        assert!(backlog.add(said(Level::Normal, "a")));
        assert_eq!(waits.await.unwrap().as_deref(), Some("a"));
    }
}
