//! Defaults, choices and refusals.

use tera::Value;

use super::{Call, Error, Family, Function, Native, Outcome, Param};
use crate::value::truth;

pub(super) const FUNCTIONS: &[Function] = &[
    function("default", ONE, default, "The last argument, or the first where that is empty.")
        .variadic(Param::Any),
    function("empty", ONE, empty, "Whether the argument is nil, false, 0, or without content."),
    function("coalesce", &[], coalesce, "The first argument that is not empty.").variadic(Param::Any),
    function("all", &[], all, "Whether no argument is empty.").variadic(Param::Any),
    function("any", &[], any, "Whether some argument is not empty.").variadic(Param::Any),
    function(
        "ternary",
        &[Param::Any, Param::Any, Param::Bool],
        ternary,
        "The first argument if the last is true, else the second.",
    ),
    function("fail", &[Param::String], fail, "Ends the render with this message."),
    function(
        "required",
        &[Param::String, Param::Any],
        required,
        "The second argument; ends the render with the message where that is nil or an empty text.",
    ),
];

const ONE: &[Param] = &[Param::Any];

const fn function(
    name: &'static str,
    params: &'static [Param],
    native: Native,
    summary: &'static str,
) -> Function {
    Function::new(name, Family::Flow, params, native, summary)
}

fn default(call: &Call<'_>) -> Outcome {
    let given = call.arg(1);
    Ok(if truth::is_empty(call.scope, given) { call.arg(0) } else { given }.clone())
}

fn empty(call: &Call<'_>) -> Outcome {
    Ok(Value::from(truth::is_empty(call.scope, call.arg(0))))
}

fn coalesce(call: &Call<'_>) -> Outcome {
    Ok(call.args.iter().find(|arg| !truth::is_empty(call.scope, arg)).cloned().unwrap_or_else(Value::none))
}

fn all(call: &Call<'_>) -> Outcome {
    Ok(Value::from(call.args.iter().all(|arg| !truth::is_empty(call.scope, arg))))
}

fn any(call: &Call<'_>) -> Outcome {
    Ok(Value::from(call.args.iter().any(|arg| !truth::is_empty(call.scope, arg))))
}

fn ternary(call: &Call<'_>) -> Outcome {
    Ok(call.arg(usize::from(!call.bool(2))).clone())
}

fn fail(call: &Call<'_>) -> Outcome {
    if call.scope.is_lenient() {
        tracing::info!(text = call.text(0).as_ref(), "funcMap fail");
        return Ok(Value::from(""));
    }
    Err(Error::Refused(call.text(0).into_owned()))
}

fn required(call: &Call<'_>) -> Outcome {
    let value = call.arg(1);
    if value.is_none() || value.is_undefined() || value.as_str() == Some("") {
        if call.scope.is_lenient() {
            let plural = if value.as_str().is_some() { "s" } else { "" };
            tracing::warn!(text = call.text(0).as_ref(), "missing required value{plural}");
            return Ok(Value::from(""));
        }
        return Err(Error::Refused(call.text(0).into_owned()));
    }
    Ok(value.clone())
}
