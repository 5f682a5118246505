//! Charts and manifests against Helm: what is loaded, what is left out, what is refused, how it is sorted.
#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

#[path = "charts/archives.rs"]
mod archives;
#[path = "values/dump.rs"]
#[allow(dead_code, reason = "the other half is for values")]
mod dump;
#[path = "charts/folders.rs"]
mod folders;
mod judge;
#[path = "charts/load.rs"]
mod load;
#[path = "charts/manifests.rs"]
mod manifests;
#[path = "charts/rules.rs"]
mod rules;
