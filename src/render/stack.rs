//! A stack that carries what nests: inclusions up to Helm's thousand and more, and what a chart writes deeply.

use std::{cell::Cell, io, thread};

/// The stack of a thread that renders. Only what is used of it costs memory.
const STACK: usize = 512 << 20;

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
