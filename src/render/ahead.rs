//! A second thread that renders a large chart's files from the last one on, while the first one renders from the first.
//!
//! It has a render of its own that begins with the same inputs. So what it writes is what the first thread would have written,
//! as long as no file before has changed what all files see, which each of the two finds out of its own files
//! ([`crate::value::Scope::watch`]). Whatever else is one for the whole render (what is generated, what is looked up, errors, limits) it
//! leaves to the first thread, by leaving it the file.

use std::sync::{
    Arc, Condvar, Mutex, MutexGuard, PoisonError,
    atomic::{AtomicBool, Ordering},
};

use super::run::Spent;

/// What the two threads share.
pub(super) struct Ahead {
    state: Mutex<State>,
    changed: Condvar,
    over: Arc<AtomicBool>,
}

struct State {
    /// The file that the first thread comes to next. All before are done or under way.
    front: usize,
    /// The last file that the second thread began with.
    back: usize,
    /// The file that the second thread is at.
    busy: Option<usize>,
    /// What the second thread made, by file.
    made: Vec<Option<Made>>,
}

/// A file that was rendered ahead.
pub(super) struct Made {
    /// What it wrote.
    pub data: Vec<u8>,
    /// What that took of the limits.
    pub spent: Spent,
}

impl Ahead {
    /// Nothing is rendered yet of so many files.
    pub(super) fn new(files: usize) -> Self {
        let made = std::iter::repeat_with(|| None).take(files).collect();
        let state = State { front: 0, back: files, busy: None, made };
        Self { state: Mutex::new(state), changed: Condvar::new(), over: Arc::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Becomes true when nothing more is wanted of the second thread.
    pub(super) fn over(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.over)
    }

    fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    /// Ends it: what the second thread has made since is worth nothing.
    pub(super) fn end(&self) {
        let _state = self.state();
        self.over.store(true, Ordering::Relaxed);
        self.changed.notify_all();
    }

    /// For the second thread: the next file to render.
    pub(super) fn claim(&self) -> Option<usize> {
        let mut state = self.state();
        if self.is_over() || state.back <= state.front {
            return None;
        }
        state.back -= 1;
        state.busy = Some(state.back);
        state.busy
    }

    /// For the second thread: what became of a file, none if the first thread has to render it.
    pub(super) fn put(&self, file: usize, made: Option<Made>) {
        let mut state = self.state();
        state.busy = None;
        state.made[file] = made;
        self.changed.notify_all();
    }

    /// For the first thread, which comes to a file: what the second one made of it.
    pub(super) fn take(&self, file: usize) -> Option<Made> {
        let mut state = self.state();
        state.front = file + 1;
        while state.busy == Some(file) && !self.is_over() {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if self.is_over() {
            return None;
        }
        state.made[file].take()
    }
}

/// Ends it when it goes, so that nobody waits for a thread that has ended in whatever way.
pub(super) struct Ending<'a>(pub &'a Ahead);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        // A panic leaves the file that the second thread was at for the first one.
        let mut state = self.0.state();
        state.busy = None;
        self.0.changed.notify_all();
    }
}
