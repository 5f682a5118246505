//! A real control plane for tests, benchmarks and the demo.
//!
//! [`Cluster::shared`] starts one for this process at the first call and hands the same one to every test, each of
//! which works in a [`Namespace`] of its own. A test that stops or kills the API server starts its own with
//! [`Cluster::start`]. Whatever way this process ends, no process and no file of a cluster is left.
//!
//! This is a module and no crate: who needs it has
//! `#[path = "…/harness/mod.rs"] mod harness;`, and may use a part of it only.
#![allow(
    dead_code,
    unused_imports,
    reason = "each program that includes the harness uses another part of it"
)]

mod access;
mod between;
mod certificates;
mod cluster;
mod namespace;
mod observe;
pub mod process;
mod programs;
mod storage;
pub mod wait;

pub use access::{Credentials, Grant, Output, rule};
pub use between::{Between, Expired};
pub use cluster::{ATTACH, Cluster, Options};
pub use namespace::Namespace;
pub use observe::{AuditMark, Metrics, Request};
pub use process::Process;
pub use programs::program;
