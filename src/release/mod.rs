//! A release in the cluster: plan, apply, prune, drift, health, inventory.

pub mod claim;
pub mod cluster;
pub mod connection;
pub mod digest;
pub mod drift;
pub mod failure;
pub mod health;
pub mod helm;
pub mod hooks;
pub mod immutable;
pub mod inventory;
pub mod lanes;
pub mod leftover;
pub mod lenient;
pub mod mandate;
pub mod mend;
pub mod object;
pub mod own_kind;
pub mod plan;
pub mod pods;
pub mod rules;
pub mod scope;
pub mod seen;
pub mod spans;
pub mod takeover;
pub mod yielding;
