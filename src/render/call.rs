//! Calls of functions and methods: the checks of text/template, then the function.

use std::borrow::Cow;

use tera::{Value, value::ValueKind};

use crate::{
    functions::{self, Call, Error, Function, Generated, Param},
    value::{self, kind, typed},
};

use super::{
    error::{GoError, REFUSAL},
    escape, generated, methods, of_values,
    path::{Held, Path, no_field},
    run::{Fault, Run},
    unit::wrong_type,
    vocabulary::own_param,
};

/// A function that needs the render itself.
pub(super) type Own = fn(&Run, &[Value]) -> Result<Value, OwnError>;

/// Why such a function failed.
pub(super) enum OwnError {
    /// With an error that the caller is told of: `error calling include: …`.
    Error(Box<GoError>),
    /// With something that no caller is told of.
    Fault(Fault),
}

impl From<GoError> for OwnError {
    fn from(error: GoError) -> Self {
        Self::Error(Box::new(error))
    }
}

impl From<Fault> for OwnError {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

/// Calls a function of the library.
pub(super) fn library(
    run: &Run,
    function: &'static Function,
    text: bool,
    args: &[Value],
) -> Result<Value, Fault> {
    run.tick()?;
    let decoded = escape::decode_values(args);
    let args = decoded.as_deref().unwrap_or(args);
    for (at, value) in args.iter().enumerate() {
        if let Some(param) = function.param(at) {
            check(run, at, param, value)?;
        }
    }
    run.read(args);
    if function.generated != Generated::No || function.name == "derivePassword" {
        // Some of them are slow by design.
        run.spend(usize::MAX);
    }
    let call = Call { args, scope: &run.scope };
    let answer = match function.generated {
        Generated::No => (function.native)(&call),
        kept => generated::call(run, function, kept, &call),
    };
    if let Ok(value) = &answer {
        run.account(value)?;
    }
    match answer {
        Ok(value) if text && !value.is_string() => Ok(Value::from(&*escaped(&value))),
        Ok(value) => Ok(value),
        Err(error) => Err(calling(function.name, &error)),
    }
}

/// Calls a function that needs the render itself.
pub(super) fn own(run: &Run, name: &str, body: Own, args: &[Value]) -> Result<Value, Fault> {
    run.tick()?;
    let decoded = escape::decode_values(args);
    let args = decoded.as_deref().unwrap_or(args);
    for (at, value) in args.iter().enumerate() {
        check(run, at, own_param(name, at), value)?;
    }
    body(run, args).map_err(|error| match error {
        OwnError::Error(error) => Fault::Calling { name: name.into(), error },
        OwnError::Fault(fault) => fault,
    })
}

/// The fault of a function's error.
pub(super) fn calling(name: &str, error: &Error) -> Fault {
    let text = match error {
        Error::Limit(text) => return Fault::Limit(format!("{name}: {text}")),
        Error::Call(text) => text.clone(),
        Error::Refused(text) => format!("{}{text}{}", REFUSAL.0, REFUSAL.1),
    };
    Fault::Calling { name: name.into(), error: Box::new(GoError::new(text)) }
}

/// A string that is not UTF-8, for Tera.
fn escaped(value: &Value) -> Cow<'_, str> {
    typed::text_bytes(value).map(escape::encode).unwrap_or_default()
}

/// Checks an argument against a parameter (validateType).
pub(super) fn check(run: &Run, at: usize, param: Param, value: &Value) -> Result<(), Fault> {
    let kind = value.kind();
    let fits = match param {
        Param::Any | Param::Reflect => true,
        Param::String => kind == ValueKind::String || typed::text_bytes(value).is_some(),
        Param::Int => kind == ValueKind::I64,
        // Only constants come here, which the lowering has checked.
        Param::Uint32 => kind == ValueKind::U64,
        Param::Float64 => kind == ValueKind::F64,
        Param::Bool => kind == ValueKind::Bool,
        Param::List if kind == ValueKind::Array => true,
        Param::Map | Param::List if matches!(kind, ValueKind::None | ValueKind::Undefined) => true,
        Param::Map if kind == ValueKind::Map => typed::Type::of(value).is_none(),
        Param::Map | Param::List | Param::Time | Param::Certificate => {
            param.accepts(kind::type_of(&run.scope, value))
        }
    };
    if fits { Ok(()) } else { Err(wrong_type(&run.scope, at, param.go_type(), value)) }
}

/// Go's `call`. What it calls comes second: first is how the template writes it.
pub(super) fn call(run: &Run, args: &[Value]) -> Result<Value, OwnError> {
    // No value of a chart is a function.
    let [name, callee, ..] = args else { return Err(GoError::new("call of nil").into()) };
    if callee.is_none() {
        return Err(GoError::new("call of nil").into());
    }
    let type_name = kind::type_of(&run.scope, callee);
    let name = match (name.as_str(), callee.as_str()) {
        (Some(written), _) => written.to_owned(),
        (None, Some(text)) => text.to_owned(),
        (None, None) => format!("<{type_name} Value>"),
    };
    Err(GoError::new(format!("non-function {name} of type {type_name}")).into())
}

/// What a method with arguments is called on: a value, or fields of it. Where nil may have fields, none of nil is nil.
pub(super) fn receiver(
    run: &Run,
    base: &Value,
    path: Option<&Path>,
    name: &str,
    strict: bool,
) -> Result<Value, Fault> {
    if is_nil(base) && !strict {
        return Ok(Value::none());
    }
    let (receiver, held) = match path {
        Some(path) => path.step_by_step(run, base, strict)?,
        None => (Cow::Borrowed(base), Held::at_first(strict)),
    };
    if is_nil(&receiver) {
        return Err(Fault::Message(format!("nil pointer evaluating interface {{}}.{name}")));
    }
    if has_method(run, &receiver, name) {
        return Ok(receiver.into_owned());
    }
    Err(no_method(run, &receiver, name, held))
}

fn is_nil(value: &Value) -> bool {
    value.is_none() || value.is_undefined()
}

fn has_method(run: &Run, receiver: &Value, name: &str) -> bool {
    match typed::Type::of(receiver) {
        Some(kind) => kind.methods().contains(&name),
        None => of_values::is_method(run, receiver, name),
    }
}

/// The fault of what is no method but has arguments.
fn no_method(run: &Run, receiver: &Value, name: &str, held: Held) -> Fault {
    let kind = typed::Type::of(receiver);
    let is_map =
        receiver.is_map() && matches!(kind, None | Some(typed::Type::StringMap | typed::Type::Files));
    if is_map {
        return Fault::Message(format!("{name} is not a method but has arguments"));
    }
    match run.scope.field(receiver, name) {
        Ok(_) => Fault::Message(format!("{name} has arguments but cannot be invoked as function")),
        Err(error @ value::Error::Unexported(..)) => Fault::Message(error.to_string()),
        Err(_) => no_field(run, receiver, name, held),
    }
}

/// Refuses a number of arguments that a method does not take, and methods that cannot be called, which Go sees before it evaluates
/// the arguments.
pub(super) fn check_args(run: &Run, receiver: &Value, name: &str, count: usize) -> Result<(), Fault> {
    // Of other arguments, they are the first thing that is found wrong.
    match invoke(run, receiver, name, &vec![Value::none(); count]) {
        Err(fault @ Fault::Message(_)) => Err(fault),
        _ => Ok(()),
    }
}

/// Calls a method: the receiver comes first. A method of nil is nil.
pub(super) fn method(run: &Run, name: &str, args: &[Value]) -> Result<Value, Fault> {
    run.tick()?;
    let decoded = escape::decode_values(args);
    let args = decoded.as_deref().unwrap_or(args);
    let Some((receiver, args)) = args.split_first() else { return Ok(Value::none()) };
    if is_nil(receiver) {
        return Ok(Value::none());
    }
    if !has_method(run, receiver, name) {
        return Err(no_method(run, receiver, name, Held::Typed));
    }
    invoke(run, receiver, name, args)
}

/// Calls a method that a value has.
pub(super) fn invoke(run: &Run, receiver: &Value, name: &str, args: &[Value]) -> Result<Value, Fault> {
    let answer = match typed::Type::of(receiver) {
        Some(kind) => methods::call(run, kind, receiver, name, args)?,
        None => of_values::call(run, receiver, name, args)?,
    };
    run.account(&answer)?;
    Ok(answer)
}

/// The number of arguments that a method takes, checked.
pub(super) fn check_count(name: &str, want: usize, got: usize) -> Result<(), Fault> {
    if want == got { Ok(()) } else { Err(wrong_count(name, want, got)) }
}

/// The fault of a wrong number of arguments.
pub(super) fn wrong_count(name: &str, want: usize, got: usize) -> Fault {
    Fault::Message(format!("wrong number of args for {name}: want {want} got {got}"))
}

/// Checks a method's argument.
pub(super) fn check_arg(run: &Run, at: usize, param: Param, value: &Value) -> Result<(), Fault> {
    // The receiver is the first of the arguments that the template has.
    check(run, at + 1, param, value)
}

/// An error of a method.
pub(super) fn method_error(name: &str, text: impl Into<String>) -> Fault {
    calling(name, &functions::Error::new(text))
}
