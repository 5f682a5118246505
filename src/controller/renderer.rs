//! What the controller needs of a renderer: a chart that makes objects from a spec.

use std::sync::Arc;

use super::generated::{Generated, Made};
use crate::{
    api::status,
    manifest,
    release::object::Rendered,
    render::{Capabilities, Lookup},
};

/// A loaded chart. Shared by all instances of its definition and by all threads.
pub trait Renderer: Send + Sync {
    /// The chart, for status. Its digest is that of its files.
    fn chart(&self) -> &status::Chart;

    /// The objects of the chart's `crds/`, in order.
    fn crds(&self) -> &[Rendered];

    /// Renders. Blocking: it computes, and reads the cluster where a template looks something up.
    fn render(&self, input: &Input<'_>) -> Result<Render, RenderError>;
}

/// What a render is made from.
pub struct Input<'a> {
    /// The spec of the resource, as JSON: the values given.
    pub spec: &'a str,
    /// `--set-string` expressions of the definition, laid over the values.
    pub overrides: &'a [(String, String)],
    /// Paths of values whose defaults are removed, with commas between.
    pub unset: &'a str,
    /// `.Release.Name`.
    pub name: &'a str,
    /// `.Release.Namespace`.
    pub namespace: &'a str,
    /// `.Release.Revision`, from 1.
    pub revision: u32,
    /// The cluster's version and APIs.
    pub capabilities: &'a Arc<Capabilities>,
    /// Random values of earlier renders.
    pub generated: &'a Arc<Generated>,
    /// Reads the cluster.
    pub lookup: &'a Arc<dyn Lookup>,
}

/// What a chart rendered to.
#[derive(Debug, Default)]
pub struct Render {
    /// The objects, in install order.
    pub objects: Vec<Rendered>,
    /// The hooks, in the order of their kinds.
    pub hooks: Vec<manifest::Hook>,
    /// NOTES.txt.
    pub notes: String,
    /// The random values that were used.
    pub generated: Vec<Made>,
}

/// Why a render failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RenderError {
    /// The values do not fit the chart.
    #[error("{0}")]
    Values(String),
    /// A template failed: with the chart's own file and line.
    #[error("{0}")]
    Template(String),
    /// What was rendered is no YAML, or no object.
    #[error("{0}")]
    Manifest(String),
    /// The cluster could not be read.
    #[error("{0}")]
    Lookup(String),
}

impl RenderError {
    /// The reason for a condition.
    pub fn reason(&self) -> &'static str {
        match self {
            RenderError::Values(_) => "InvalidValues",
            RenderError::Template(_) => "RenderFailed",
            RenderError::Manifest(_) => "InvalidManifest",
            RenderError::Lookup(_) => "LookupFailed",
        }
    }

    /// Whether it may pass without a change of values or chart.
    pub fn is_passing(&self) -> bool {
        matches!(self, RenderError::Lookup(_))
    }
}
