//! Methods that templates can call on values of Go's types.

use tera::Value;

use crate::{
    functions::{
        Param,
        methods::{self, MethodError},
    },
    value::typed::{self, Type},
};

use super::{
    call::{check_arg, check_count, method_error, wrong_count},
    files,
    run::{Fault, Run},
    unit::wrong_type,
};

/// Calls a method that [`Type::methods`] lists.
pub(super) fn call(
    run: &Run,
    kind: Type,
    receiver: &Value,
    name: &str,
    args: &[Value],
) -> Result<Value, Fault> {
    let field = |name| typed::field(receiver, name).cloned().unwrap_or_else(Value::none);
    match (kind, name) {
        (Type::Files, _) => files::call(run, receiver, name, args),
        (Type::VersionSet, "Has") => {
            check_count(name, 1, args.len())?;
            check_arg(run, 0, Param::String, &args[0])?;
            let items = typed::items(receiver).unwrap_or_default();
            Ok(Value::from(items.iter().any(|item| item.as_str() == args[0].as_str())))
        }
        (Type::KubeVersion, "String") => {
            check_count(name, 0, args.len())?;
            let normalized = field("normalizedVersion");
            Ok(if normalized.as_str().is_some_and(|text| !text.is_empty()) {
                normalized
            } else {
                field("Version")
            })
        }
        (Type::KubeVersion, "GitVersion") => {
            check_count(name, 0, args.len())?;
            Ok(field("Version"))
        }
        (Type::Capabilities, "Copy") => {
            check_count(name, 0, args.len())?;
            Ok(receiver.clone())
        }
        (Type::Error, "Error") => {
            check_count(name, 0, args.len())?;
            Ok(field("text"))
        }
        _ => match methods::call(kind, name, receiver, args) {
            Some(answer) => answer.map_err(|error| match error {
                MethodError::Count(want) => wrong_count(name, want, args.len()),
                MethodError::Argument(at, expected) => wrong_type(&run.scope, at + 1, expected, &args[at]),
                MethodError::Uncallable(text) => Fault::Message(text),
                MethodError::Failed(text) => method_error(name, text),
            }),
            None => Err(method_error(name, format!("the method {name} of {} is not supported", kind.name()))),
        },
    }
}
