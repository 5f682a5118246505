//! The filters behind Go's own constructs: printing, loops, variables, what fails.

use tera::{Value, value::ValueKind};

use crate::{
    functions::Param,
    value::{print as printing, typed},
};

use super::{
    call, escape,
    run::{Fault, Run},
    unit::wrong_type,
};

/// The longest loop over a number.
const MAX_COUNT: i128 = 1 << 22;

/// A value as `{{ }}` prints it.
pub(super) fn print(run: &Run, value: &Value) -> Result<Value, Fault> {
    if value.is_none() || value.is_undefined() {
        return Ok(Value::from("<no value>"));
    }
    if let Some(bytes) = typed::text_bytes(value) {
        return Ok(Value::from(&*escape::encode(bytes)));
    }
    if typed::Type::of(value) == Some(typed::Type::KubeVersion) {
        // Go finds the String method of the pointer here, and nowhere else.
        return super::methods::call(run, typed::Type::KubeVersion, value, "String", &[]);
    }
    let failed = |error: crate::value::Error| Fault::Message(error.to_string());
    if value.is_map() || value.is_array() {
        // Something in it may not be UTF-8.
        let mut text = Vec::new();
        printing::append(&mut text, &run.scope, value).map_err(failed)?;
        if typed::Type::of(value) == Some(typed::Type::Capabilities) {
            // A pointer to a struct is followed, where fmt prints an ampersand.
            text.remove(0);
        }
        return Ok(match String::from_utf8(text) {
            Ok(text) => Value::from(text),
            Err(error) => Value::from(&*escape::encode(error.as_bytes())),
        });
    }
    Ok(Value::from(&*printing::display(&run.scope, value).map_err(failed)?))
}

/// Fails with a message.
pub(super) fn fault(_: &Run, message: &Value) -> Result<Value, Fault> {
    Err(Fault::Message(message.as_str().unwrap_or_default().to_owned()))
}

/// What `range` with at most one variable goes over: the elements.
pub(super) fn range(run: &Run, value: &Value) -> Result<Value, Fault> {
    run.tick()?;
    if let Some(items) = value.as_array() {
        run.spend(items.len());
        return Ok(value.clone());
    }
    if let Some(count) = count(value)? {
        run.spend(usize::try_from(count.end).unwrap_or_default());
        if let Some(frame) = run.frames.borrow_mut().last_mut() {
            frame.counted = true;
        }
        run.made(usize::try_from(count.end).unwrap_or_default().saturating_mul(size_of::<Value>()))?;
        return Ok(Value::from(count.into_iter().map(|int| like(value, int)).collect::<Vec<_>>()));
    }
    match elements(run, value)? {
        Elements::Keyed(pairs) => {
            run.made(size_of_val(&*pairs))?;
            Ok(Value::from(pairs.into_iter().map(|(_, value)| value).collect::<Vec<_>>()))
        }
        Elements::Listed(values) => {
            run.made(size_of_val(&*values))?;
            Ok(Value::from(values))
        }
    }
}

/// What `range` with two variables goes over: pairs of key and element.
pub(super) fn pairs(run: &Run, value: &Value) -> Result<Value, Fault> {
    run.tick()?;
    // Each is a list of its own.
    let account = |count: usize| run.made(count.saturating_mul(5 * size_of::<Value>()));
    let pair = |key: Value, value: Value| Value::from(vec![key, value]);
    let numbered = |values: Vec<Value>| {
        let keys = (0_i64..).map(Value::from);
        Value::from(keys.zip(values).map(|(key, value)| pair(key, value)).collect::<Vec<_>>())
    };
    if let Some(values) = value.as_array() {
        run.spend(values.len());
        account(values.len())?;
        return Ok(numbered(values.to_vec()));
    }
    if number(value).is_some() {
        let text = text(run, value)?;
        return Err(Fault::Message(format!("can't use {text} to iterate over more than one variable")));
    }
    match elements(run, value)? {
        Elements::Keyed(pairs) => {
            account(pairs.len())?;
            Ok(Value::from(pairs.into_iter().map(|(key, value)| pair(key, value)).collect::<Vec<_>>()))
        }
        Elements::Listed(values) => {
            account(values.len())?;
            Ok(numbered(values))
        }
    }
}

enum Elements {
    Keyed(Vec<(Value, Value)>),
    Listed(Vec<Value>),
}

fn elements(run: &Run, value: &Value) -> Result<Elements, Fault> {
    let kind = typed::Type::of(value);
    if let Some(items) = typed::items(value) {
        return Ok(Elements::Listed(items.to_vec()));
    }
    if let Some(bytes) = value.as_bytes() {
        // Go's byte is a number of its own kind.
        return Ok(Elements::Listed(bytes.iter().map(|byte| Value::from(u128::from(*byte))).collect()));
    }
    if value.is_none() || value.is_undefined() {
        return Ok(Elements::Listed(Vec::new()));
    }
    let is_map = matches!(kind, None | Some(typed::Type::StringMap | typed::Type::Files));
    match run.scope.map(value).filter(|_| is_map) {
        Some(map) => Ok(Elements::Keyed(
            map.sorted().into_iter().map(|(key, value)| (Value::from(key), value.clone())).collect(),
        )),
        None => Err(Fault::Message(format!("range can't iterate over {}", text(run, value)?))),
    }
}

/// What `range` counts up to.
fn number(value: &Value) -> Option<i128> {
    match value.kind() {
        ValueKind::I64 | ValueKind::I128 | ValueKind::U64 | ValueKind::U128 => value.as_i128(),
        ValueKind::Map => typed::number(value).map(i128::from),
        _ => None,
    }
}

/// The numbers that `range` over a number goes through.
fn count(value: &Value) -> Result<Option<std::ops::Range<i128>>, Fault> {
    match number(value) {
        Some(number) if number > MAX_COUNT => {
            Err(Fault::Limit(format!("range over {number}: no more than {MAX_COUNT} rounds are allowed")))
        }
        number => Ok(number.map(|number| 0..number)),
    }
}

/// An integer of the type that another value has.
fn like(value: &Value, int: i128) -> Value {
    match value.kind() {
        ValueKind::I64 => i64::try_from(int).map_or_else(|_| Value::none(), Value::from),
        ValueKind::U64 => u64::try_from(int).map_or_else(|_| Value::none(), Value::from),
        ValueKind::U128 => u128::try_from(int).map_or_else(|_| Value::none(), Value::from),
        ValueKind::Map => match (typed::Type::of(value), i64::try_from(int)) {
            (Some(kind), Ok(int)) => typed::make(kind, [("value", Value::from(int))]),
            _ => Value::none(),
        },
        _ => Value::from(int),
    }
}

fn text(run: &Run, value: &Value) -> Result<String, Fault> {
    printing::to_text(&run.scope, value).map_err(|error| Fault::Message(error.to_string()))
}

/// A variable that may be undefined, with its name.
pub(super) fn declared(_: &Run, args: &Value) -> Result<Value, Fault> {
    match args.as_array() {
        Some([value, name]) if value.is_undefined() => {
            Err(Fault::Message(format!("undefined variable: {}", name.as_str().unwrap_or_default())))
        }
        Some([value, _]) => Ok(value.clone()),
        _ => Ok(Value::none()),
    }
}

/// An argument with the type that it is for. A nil is good for a map or a list only if the third argument, what it is a field
/// of, is nil too.
pub(super) fn arg(run: &Run, args: &Value) -> Result<Value, Fault> {
    let Some([value, name, base @ ..]) = args.as_array() else { return Ok(Value::none()) };
    let param = Param::named(name.as_str().unwrap_or_default());
    let nil = |value: &Value| value.is_none() || value.is_undefined();
    if nil(value) {
        let got = match base {
            [base] if nil(base) => None,
            [_] => Some("interface {}".into()),
            _ if param.can_be_nil() => return Err(wrong_type(&run.scope, 0, param.go_type(), value)),
            _ => None,
        };
        if got.is_some() {
            return Err(Fault::Argument { at: 0, expected: param.go_type(), got });
        }
    }
    call::check(run, 0, param, value)?;
    Ok(value.clone())
}

/// What a cell of the running template holds.
pub(super) fn cell(run: &Run, number: usize) -> Value {
    let frames = run.frames.borrow();
    let cells = frames.last().map(|frame| frame.cells.as_slice()).unwrap_or_default();
    cells.get(number).cloned().unwrap_or_else(Value::undefined)
}

/// Puts a value into a cell of the running template.
pub(super) fn put(run: &Run, value: Value, number: usize) -> Result<(), Fault> {
    const MANY: usize = 1024;
    let mut frames = run.frames.borrow_mut();
    if let Some(frame) = frames.last_mut() {
        if frame.cells.len() <= number {
            if number >= MANY {
                run.made((number + 1 - frame.cells.len()) * size_of::<Value>())?;
            }
            frame.cells.resize(number + 1, Value::undefined());
        }
        frame.cells[number] = value;
    }
    Ok(())
}

/// Ends a block that was split off with a jump to a loop around it.
pub(super) fn leave(_: &Run, keyword: &Value) -> Result<Value, Fault> {
    Err(Fault::Jump(if keyword.as_str() == Some("break") { "break" } else { "continue" }))
}

/// Whether the block that was rendered last ended with this jump.
pub(super) fn left(run: &Run, keyword: &Value) -> Result<Value, Fault> {
    let mut frames = run.frames.borrow_mut();
    let Some(frame) = frames.last_mut() else { return Ok(Value::from(false)) };
    let is = frame.left.is_some() && frame.left == keyword.as_str();
    if is {
        frame.left = None;
    }
    Ok(Value::from(is))
}
