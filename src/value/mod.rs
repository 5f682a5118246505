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
mod inside;
pub mod json;
pub mod kind;
pub mod net;
mod overlay;
pub mod print;
pub mod printable;
pub mod printf;
pub mod quote;
pub(crate) mod regexp;
pub mod time;
pub mod truth;
pub mod typed;

pub use error::Error;
use inside::Inside;
pub use overlay::{MapRef, Scope, empty_list, lookup};
pub use printable::is_printable;

/// How deep values may nest wherever they are walked: printing, comparing, copying.
///
/// Go's own encoders end at much the same depth or not at all; no chart comes near.
pub const MAX_DEPTH: usize = 1_000;

#[cfg(test)]
mod tests {
    use super::*;
    use tera::{Map, Value};

    /// What nests as deep as it may is walked, and what nests deeper fails. Unoptimised, a level takes up to 4 KiB of stack.
    #[test]
    fn the_deepest_values_are_walked() {
        std::thread::Builder::new().stack_size(16 << 20).spawn(walk_the_deepest).unwrap().join().unwrap();
    }

    fn walk_the_deepest() {
        let scope = Scope::new();
        let changed = Value::from(Map::default());
        scope.set(&changed, "a", Value::from(1i64)).unwrap();
        let list = |inner| Value::from(vec![inner]);
        let map = |inner| Value::from(Map::from_iter([("a".into(), inner)]));
        for wrap in [&list as &dyn Fn(Value) -> Value, &map] {
            let (mut value, mut twin) = (changed.clone(), changed.clone());
            for deeper in [false, true] {
                for _ in 0..if deeper { 10 } else { MAX_DEPTH - 5 } {
                    (value, twin) = (wrap(value), wrap(twin));
                }
                let ok = [
                    print::to_text(&scope, &value).is_ok(),
                    printf::sprintf(&scope, b"%d", std::slice::from_ref(&value)).is_ok(),
                    json::to_string(&scope, &value, json::Style::PRETTY).is_ok(),
                    json::to_plain(&scope, &value).is_ok(),
                    scope.materialise(&value).is_ok(),
                    scope.deep_copy(&value).is_ok(),
                    compare::deep_equal(&scope, &value, &twin).is_ok(),
                ];
                assert_eq!(ok, [!deeper; 7]);
            }
        }
    }
}
