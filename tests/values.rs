//! Values against Helm: `--set` strings, and charts with subcharts.
#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

#[path = "values/coalesce.rs"]
mod coalesce;
#[path = "values/dump.rs"]
mod dump;
mod judge;
#[path = "values/schema.rs"]
mod schema;
#[path = "values/set.rs"]
mod set;
