//! Spans of the work on a release, for traces. They cost nothing while nobody collects them.

/// The target of these spans. It is no module's, so that no filter of the log meant for others picks it.
pub const TARGET: &str = "trace";

/// A span: a reconcile, one of its steps, a request. What is open when it is made is its parent.
#[macro_export]
macro_rules! step {
    ($name:literal $(, $($fields:tt)*)?) => {
        tracing::debug_span!(target: $crate::release::spans::TARGET, $name $(, $($fields)*)?)
    };
}
