//! Values: coalescing with subcharts, conditions, tags, imports, `--set`, JSON Schema.
//!
//! A chart is rendered from [`process_dependencies`] and then [`coalesce`], in this order, with the user's values
//! given to both: the first may change which charts there are and what their defaults are.

mod arena;
mod coalesce;
mod dependencies;

pub use coalesce::coalesce;
pub use dependencies::process_dependencies;

/// Why values do not go together. The text is Helm's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Error(String);

impl Error {
    fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }
}
