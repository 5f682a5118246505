//! What the whole of reading and printing must give; each rule as go-yaml and sigs.k8s.io/yaml have it.
#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod limits;
mod printing;
mod reading;
mod typed;
