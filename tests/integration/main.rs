//! What a user of a cluster sees, on a real control plane.
//!
//! All these tests are one program, so that one cluster serves them all; each has its own namespace.
#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

#[path = "../harness/mod.rs"]
mod harness;

mod adoption;
mod behind;
mod cluster;
mod command_line;
mod commands;
mod crds;
mod deploy;
mod deployed;
mod drift;
mod drift_rules;
mod errors;
mod flags;
mod generated;
mod health;
mod hooks;
mod idle;
mod immutable;
mod leader;
mod lifecycle;
mod logs;
mod lookup;
mod manifests;
mod operator;
mod outage;
mod ownership;
mod resilience;
mod schema;
mod scope;
mod sdk;
mod server;
mod template;
mod traces;
mod uninstall;
mod unset;
mod view;
