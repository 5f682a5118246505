//! Pintle wraps Helm charts as Kubernetes APIs.
//!
//! A chart becomes a kind; the `spec` of a custom resource of that kind is the chart's values; the operator renders
//! the chart with a Tera-based renderer, applies it with server-side apply, prunes, corrects drift and reports
//! health for as long as the resource lives.
//!
//! The modules are layers. Each may use only the ones below it in this list; `tests/layers.rs` enforces that.
//!
//! | layer | subject |
//! |---|---|
//! | [`cli`] | one file per subcommand |
//! | [`controller`] | definitions to controllers, one instance's reconcile, status, events, metrics |
//! | [`release`] | plan, apply, prune, drift, hooks, health, inventory |
//! | [`api`] | definitions and status types; CRD schema generation |
//! | [`registry`] | where charts come from |
//! | [`manifest`] | rendered text to objects: document split, hooks, order |
//! | [`convert`] | charts of Go templates to charts of Tera templates |
//! | [`render`] | the Tera instance, its context, include, tpl, lookup, generated values, errors |
//! | [`functions`] | the function library of charts, one file per family |
//! | [`gotemplate`] | lexer, parser, AST, lowering to Tera source, source map |
//! | [`values`] | coalescing with subcharts, conditions, tags, `--set`, JSON Schema |
//! | [`chart`] | Chart.yaml, file set, .helmignore, archives, dependencies |
//! | [`value`] | Go's semantics on Tera's values: truth, equality, printing, the mutation overlay |
//! | [`yaml`] | parsing and printing YAML as Go's sigs.k8s.io/yaml does |
//! | [`threads`] | stacks that carry a render, a second thread for large charts |

pub mod api;
pub mod chart;
pub mod cli;
pub mod controller;
pub mod convert;
pub mod functions;
pub mod gotemplate;
pub mod manifest;
pub mod registry;
pub mod release;
pub mod render;
pub mod threads;
pub mod value;
pub mod values;
pub mod yaml;
