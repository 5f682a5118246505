//! Threads that render and compile: a stack that carries what nests (inclusions up to Helm's thousand and more, and what a chart
//! writes deeply), a second thread for large charts, and the memory of both.

use std::{
    cell::Cell,
    hint::black_box,
    io,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread::{self, Scope},
};

/// The stack of a thread that renders. Only what is used of it costs memory.
pub const STACK: usize = 512 << 20;

thread_local! {
    static LARGE: Cell<bool> = const { Cell::new(false) };
}

/// Runs `body` on a thread whose stack carries a render: the present one if that is such a thread already.
///
/// # Errors
/// When no thread can be started.
pub fn on_large_stack<T: Send>(body: impl FnOnce() -> T + Send) -> io::Result<T> {
    if LARGE.get() {
        return Ok(body());
    }
    thread::scope(|scope| {
        let started =
            thread::Builder::new().name("render".to_owned()).stack_size(STACK).spawn_scoped(scope, || {
                LARGE.set(true);
                body()
            })?;
        match started.join() {
            Ok(result) => Ok(result),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

/// Says that the present thread has a stack of the size of [`STACK`], so that what is rendered on it needs no other.
pub fn has_large_stack() {
    LARGE.set(true);
}

/// Starts a thread that does a part of the work of the present one, with a stack like that. False if none can be started.
pub fn spawn_helper<'scope>(scope: &'scope Scope<'scope, '_>, body: impl FnOnce() + Send + 'scope) -> bool {
    let builder = thread::Builder::new().name("render-helper".to_owned()).stack_size(STACK);
    let started = builder.spawn_scoped(scope, || {
        LARGE.set(true);
        if KEEPS.load(Ordering::Relaxed) {
            reserve();
        }
        body();
    });
    started.is_ok()
}

/// Does two things at once: the first on another thread, if one can be started.
pub fn both<A: Send, B>(other: impl FnOnce() -> A + Send, own: impl FnOnce() -> B) -> (A, B) {
    let waiting = Mutex::new(Some(other));
    let done = Mutex::new(None);
    let run = || {
        let other = waiting.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(other) = other {
            let result = other();
            *done.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
        }
    };
    let own = thread::scope(|scope| {
        spawn_helper(scope, run);
        own()
    });
    // Where no thread was started, and after one that panicked nobody comes here.
    run();
    let other = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    (other.expect("what was taken was done"), own)
}

/// What a function makes of each item, in their order. Both this thread and another one take items, from the first on.
pub fn map<T: Sync, R: Send>(items: &[T], make: impl Fn(&T) -> R + Sync) -> Vec<R> {
    map_with(items, || (), |(), item| make(item))
}

/// The same for a function that is given what its thread has begun with.
pub fn map_with<S, T: Sync, R: Send>(
    items: &[T],
    begin: impl Fn() -> S + Sync,
    make: impl Fn(&mut S, &T) -> R + Sync,
) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut own = begin();
        let mut made = Vec::with_capacity(items.len() / 2);
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(number) else { return made };
            made.push((number, make(&mut own, item)));
        }
    };
    // Nothing is left for a thread that starts when all is done.
    let (mut made, own) = both(work, work);
    made.extend(own);
    made.sort_unstable_by_key(|(number, _)| *number);
    made.into_iter().map(|(_, made)| made).collect()
}

/// Whether memory is kept.
static KEEPS: AtomicBool = AtomicBool::new(false);

/// For a process that renders once: has the allocator keep what is freed, and take memory in large steps, on this thread and
/// on those that help it.
///
/// glibc's gives memory back as soon as it can, takes it again page by page, and asks the kernel for each block above
/// 128 KiB; all that only until a large block was freed once. Other allocators do not mind.
pub fn keep_memory() {
    KEEPS.store(true, Ordering::Relaxed);
    drop(black_box(Vec::<u8>::with_capacity(31 << 20)));
    reserve();
}

/// Makes the heap of the present thread large, which takes no memory before it is written to.
fn reserve() {
    drop(black_box(Vec::<u8>::with_capacity(30 << 20)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_the_order_of_the_items() {
        let items: Vec<usize> = (0..1000).collect();
        assert_eq!(map(&items, |item| item * 2), items.iter().map(|item| item * 2).collect::<Vec<_>>());
        assert!(map(&[], |item: &usize| *item).is_empty());
        assert_eq!(both(|| 1, || 2), (1, 2));
    }
}
