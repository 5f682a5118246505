//! Go's names of kinds and types, as sprig's `kindOf` and `typeOf` and Go's `%T` and error texts print them.

use tera::{Value, value::ValueKind};

use super::{Scope, typed};

/// The name of a value's `reflect.Kind`: `string`, `int`, `map`, `slice`, `ptr`, `invalid`…
#[must_use]
pub fn kind_of(value: &Value) -> &'static str {
    match value.kind() {
        ValueKind::Bool => "bool",
        ValueKind::String => "string",
        ValueKind::I64 => "int",
        ValueKind::I128 => "int64",
        ValueKind::U64 => "uint64",
        ValueKind::U128 => "uint8",
        ValueKind::F64 => "float64",
        ValueKind::Array | ValueKind::Bytes => "slice",
        ValueKind::Map => typed::Type::of(value).map_or("map", typed::Type::kind),
        _ => "invalid",
    }
}

/// The name of a value's type, as `%T` prints it: `map[string]interface {}`, `*semver.Version`, `<nil>`…
#[must_use]
pub fn type_of(scope: &Scope, value: &Value) -> &'static str {
    match value.kind() {
        ValueKind::Bool => "bool",
        ValueKind::String => "string",
        ValueKind::I64 => "int",
        ValueKind::I128 => "int64",
        ValueKind::U64 => "uint64",
        ValueKind::U128 => "uint8",
        ValueKind::F64 => "float64",
        ValueKind::Bytes => "[]uint8",
        ValueKind::Array => scope.named_type(value).unwrap_or("[]interface {}"),
        ValueKind::Map => typed::Type::of(value)
            .map(typed::Type::name)
            .or_else(|| scope.named_type(value))
            .unwrap_or("map[string]interface {}"),
        _ => "<nil>",
    }
}

/// The name of a value's type in errors of templates, where nil is `interface {}`.
#[must_use]
pub fn type_in_error(scope: &Scope, value: &Value) -> &'static str {
    if value.is_none() || value.is_undefined() { "interface {}" } else { type_of(scope, value) }
}
