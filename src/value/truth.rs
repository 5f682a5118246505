//! What Go's text/template takes for true.

use tera::{Value, value::ValueKind};

use super::{Scope, typed};

/// Whether a value is true in a condition: neither zero, empty, false nor nil (text/template's `IsTrue`).
/// Structs and non-nil pointers are true.
#[must_use]
#[inline]
pub fn is_true(scope: &Scope, value: &Value) -> bool {
    match value.kind() {
        ValueKind::Map => match typed::Type::of(value) {
            None => scope.map(value).is_some_and(|map| !map.is_empty()),
            Some(typed::Type::Text) => typed::text_bytes(value).is_some_and(|bytes| !bytes.is_empty()),
            Some(typed::Type::StringMap | typed::Type::Files) => {
                scope.map(value).is_some_and(|map| map.len() > 1)
            }
            Some(typed::Type::VersionSet) => typed::items(value).is_some_and(|items| !items.is_empty()),
            Some(typed::Type::Duration | typed::Type::Month | typed::Type::Weekday) => {
                typed::number(value).is_some_and(|number| number != 0)
            }
            Some(typed::Type::Complex) => typed::complex(value) != Some((0.0, 0.0)),
            Some(_) => true,
        },
        // NaN is not zero.
        ValueKind::F64 => value.as_f64().is_some_and(|number| number != 0.0),
        _ => value.is_truthy(),
    }
}

/// Whether a value is empty for sprig's `empty`, `default` and `coalesce`, which is the same question.
#[must_use]
#[inline]
pub fn is_empty(scope: &Scope, value: &Value) -> bool {
    !is_true(scope, value)
}
