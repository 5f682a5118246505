//! Values: coalescing with subcharts, conditions, tags, imports, `--set`, JSON Schema.
//!
//! A chart is rendered from [`process_dependencies`] and then [`coalesce`], in this order, with the user's values
//! given to both: the first may change which charts there are and what their defaults are.

mod arena;
mod coalesce;
mod dependencies;
pub mod schema;
pub mod set;
mod user;

pub use coalesce::{Tree, coalesce, merge_over, repeat_values_in_warnings};
pub use dependencies::process_dependencies;
pub use schema::Schemas;
pub use user::Sources;

use crate::value::Scope;

/// Under which target the log has what Helm writes with `--debug`, in its words.
pub const DEBUG: &str = "helm";

/// Why values do not go together. The text is Helm's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Error(String);

impl Error {
    fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }
}

/// An entry of a map.
fn field<'v>(value: &'v tera::Value, name: &'v str) -> Option<&'v tera::Value> {
    value.as_map()?.get(&tera::value::Key::Str(name))
}

/// A value as Go's `fmt` writes it; `form` is a verb.
fn go_format(form: &str, value: &tera::Value) -> String {
    let text = crate::value::printf::sprintf(&Scope::new(), form.as_bytes(), std::slice::from_ref(value));
    text.map(|text| text.to_string()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use tera::Value;

    /// A value as JSON with sorted keys, integers and floats told apart: float64 has a fraction or an exponent.
    pub(super) fn sorted(value: &Value) -> serde_json::Value {
        serde_json::to_value(value).unwrap()
    }
}
