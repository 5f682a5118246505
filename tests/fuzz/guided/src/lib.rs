//! The layers of Pintle that are fuzzed, without those that need a network or a cluster: what these depend on takes most of a
//! build's time.
#![forbid(unsafe_code)]
#![allow(dead_code, unused_imports, reason = "what is used by the layers that are left out")]

#[path = "../../../../src/chart/mod.rs"]
pub mod chart;
#[path = "../../../../src/functions/mod.rs"]
pub mod functions;
#[path = "../../../../src/gotemplate/mod.rs"]
pub mod gotemplate;
#[path = "../../../../src/render/mod.rs"]
pub mod render;
#[path = "../../../../src/threads/mod.rs"]
pub mod threads;
#[path = "../../../../src/value/mod.rs"]
pub mod value;
#[path = "../../../../src/values/mod.rs"]
pub mod values;
#[path = "../../../../src/yaml/mod.rs"]
pub mod yaml;
