//! Types and kinds, in Go's names.

use tera::Value;

use super::{Call, Family, Function, Native, Outcome, Param};
use crate::value::{compare, kind};

pub(super) const FUNCTIONS: &[Function] = &[
    function("typeOf", &[Param::Any], type_of, "The Go type of the argument."),
    function("typeIs", STRING_ANY, type_is, "Whether the second argument is of the Go type."),
    function(
        "typeIsLike",
        STRING_ANY,
        type_is_like,
        "Whether the second argument is of the Go type, or points to one.",
    ),
    function("kindOf", &[Param::Any], kind_of, "The kind of the argument: `map`, `slice`, `string`…"),
    function("kindIs", STRING_ANY, kind_is, "Whether the second argument is of the kind."),
    function(
        "deepEqual",
        &[Param::Any, Param::Any],
        deep_equal,
        "Whether the arguments are equal all through.",
    ),
];

const STRING_ANY: &[Param] = &[Param::String, Param::Any];

const fn function(
    name: &'static str,
    params: &'static [Param],
    native: Native,
    summary: &'static str,
) -> Function {
    Function::new(name, Family::Reflection, params, native, summary)
}

fn type_of(call: &Call<'_>) -> Outcome {
    Ok(Value::from(kind::type_of(call.scope, call.arg(0))))
}

fn type_is(call: &Call<'_>) -> Outcome {
    Ok(Value::from(call.text(0) == kind::type_of(call.scope, call.arg(1))))
}

fn type_is_like(call: &Call<'_>) -> Outcome {
    let found = kind::type_of(call.scope, call.arg(1));
    let wanted = call.text(0);
    Ok(Value::from(wanted == found || found.strip_prefix('*') == Some(&wanted)))
}

fn kind_of(call: &Call<'_>) -> Outcome {
    Ok(Value::from(kind::kind_of(call.arg(0))))
}

fn kind_is(call: &Call<'_>) -> Outcome {
    Ok(Value::from(call.text(0) == kind::kind_of(call.arg(1))))
}

fn deep_equal(call: &Call<'_>) -> Outcome {
    Ok(Value::from(compare::deep_equal(call.scope, call.arg(0), call.arg(1))?))
}
