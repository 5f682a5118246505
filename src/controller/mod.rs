//! Definitions to controllers; one instance's reconcile, status, events, metrics.

pub mod cr;
pub mod queue;
pub mod trigger;
