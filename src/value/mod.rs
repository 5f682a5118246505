//! Go's semantics on Tera's values: truth, equality, printing, and the mutation overlay.
//!
//! Templates hold [`tera::Value`]s, but what a chart sees must behave as Go's text/template and fmt make it behave.
//! Everything that tests, compares, prints or looks into a value goes through this layer.
//!
//! | Go | Tera |
//! |---|---|
//! | nil | none |
//! | bool, string | bool, string |
//! | int | i64 |
//! | int64 | i128 |
//! | uint64 | u64 |
//! | uint8 (a byte of a string) | u128 |
//! | float64 | f64 |
//! | \[\]byte | bytes |
//! | slices | array |
//! | map\[string\]interface{} | map with string keys |
//! | every other type | a map that carries a marker, see [`typed`] |

pub mod compare;
mod error;
pub mod json;
pub mod kind;
mod overlay;
pub mod print;
pub mod printable;
pub mod printf;
pub mod quote;
pub mod time;
pub mod truth;
pub mod typed;

pub use error::Error;
pub use overlay::{MapRef, Scope, empty_list};
pub use printable::is_printable;

/// How deep values may nest wherever they are walked: printing, comparing, copying.
///
/// Go's own encoders end at much the same depth or not at all; no chart comes near.
pub const MAX_DEPTH: usize = 1_000;
