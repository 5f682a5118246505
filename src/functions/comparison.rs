//! Go's own comparisons, `not`, `len` and `index`.

use std::borrow::Cow;

use tera::{Value, value::ValueKind};

use super::{Call, Error, Family, Function, Native, Outcome, Param};
use crate::value::{compare, kind, truth, typed};

pub(super) const FUNCTIONS: &[Function] = &[
    function("eq", ONE, eq, "Whether the first argument equals one of the others.").variadic(Param::Reflect),
    function("ne", TWO, ne, "Whether the arguments differ."),
    function("lt", TWO, lt, "Whether the first argument is less than the second."),
    function("le", TWO, le, "Whether the first argument is at most the second."),
    function("gt", TWO, gt, "Whether the first argument is greater than the second."),
    function("ge", TWO, ge, "Whether the first argument is at least the second."),
    function("not", ONE, not, "Whether the argument is false, zero, nil or without content."),
    function("len", ONE, len, "The number of items, entries, or bytes of a text."),
    function("index", ONE, index, "The item at an index or key, and so on into it.").variadic(Param::Reflect),
];

const ONE: &[Param] = &[Param::Reflect];
const TWO: &[Param] = &[Param::Reflect, Param::Reflect];

const fn function(
    name: &'static str,
    params: &'static [Param],
    native: Native,
    summary: &'static str,
) -> Function {
    Function::new(name, Family::Comparison, params, native, summary)
}

fn eq(call: &Call<'_>) -> Outcome {
    Ok(Value::from(compare::eq(call.scope, call.arg(0), call.rest(1))?))
}

fn ne(call: &Call<'_>) -> Outcome {
    Ok(Value::from(compare::ne(call.scope, call.arg(0), call.arg(1))?))
}

fn lt(call: &Call<'_>) -> Outcome {
    Ok(Value::from(compare::lt(call.scope, call.arg(0), call.arg(1))?))
}

fn le(call: &Call<'_>) -> Outcome {
    Ok(Value::from(compare::le(call.scope, call.arg(0), call.arg(1))?))
}

fn gt(call: &Call<'_>) -> Outcome {
    Ok(Value::from(compare::gt(call.scope, call.arg(0), call.arg(1))?))
}

fn ge(call: &Call<'_>) -> Outcome {
    Ok(Value::from(compare::ge(call.scope, call.arg(0), call.arg(1))?))
}

fn not(call: &Call<'_>) -> Outcome {
    Ok(Value::from(!truth::is_true(call.scope, call.arg(0))))
}

fn len(call: &Call<'_>) -> Outcome {
    let value = call.arg(0);
    let length = if let Some(bytes) = typed::text_bytes(value).or_else(|| value.as_bytes()) {
        bytes.len()
    } else if let Some(items) = typed::items(value) {
        items.len()
    } else if let Some(map) = call.scope.map(value).filter(|_| kind::kind_of(value) == "map") {
        map.count()
    } else if value.is_none() || value.is_undefined() {
        // Nil that a pipeline passes is another error in Go: only the renderer knows.
        return Err(Error::new("len of nil pointer"));
    } else {
        return Err(Error::new(format!("len of type {}", pointed_to(call, value))));
    };
    Ok(Value::from(i64::try_from(length).unwrap_or(i64::MAX)))
}

/// The type that a value has once Go has followed its pointer.
fn pointed_to(call: &Call<'_>, value: &Value) -> &'static str {
    kind::type_of(call.scope, value).trim_start_matches('*')
}

fn index(call: &Call<'_>) -> Outcome {
    let first = call.arg(0);
    if first.is_none() || first.is_undefined() {
        return Err(Error::new("index of untyped nil"));
    }
    let mut item = Cow::Borrowed(first);
    for at in call.rest(1) {
        let next = indexed(call, &item, at)?;
        item = Cow::Owned(next);
    }
    Ok(item.into_owned())
}

fn indexed(call: &Call<'_>, item: &Value, at: &Value) -> Outcome {
    if item.is_none() || item.is_undefined() {
        return Err(Error::new("index of nil pointer"));
    }
    if let Some(items) = typed::items(item) {
        let place = place(call, at, items.len())?;
        return items.get(place).cloned().ok_or_else(|| Error::new("reflect: slice index out of range"));
    }
    if let Some(bytes) = typed::text_bytes(item).or_else(|| item.as_bytes()) {
        let place = place(call, at, bytes.len())?;
        let kind = if item.as_bytes().is_some() { "slice" } else { "string" };
        return match bytes.get(place) {
            Some(&byte) => Ok(Value::from(u128::from(byte))),
            None => Err(Error::new(format!("reflect: {kind} index out of range"))),
        };
    }
    if kind::kind_of(item) != "map" {
        return Err(Error::new(format!("can't index item of type {}", pointed_to(call, item))));
    }
    let Some(key) = typed::text_bytes(at) else {
        return Err(Error::new(match kind::type_of(call.scope, at) {
            "<nil>" => "value is nil; should be of type string".to_owned(),
            found => format!("value has type {found}; should be string"),
        }));
    };
    Ok(match call.scope.get(item, &super::call::decode(key)) {
        Some(value) => value.into_owned(),
        None => match typed::Type::of(item) {
            Some(typed::Type::StringMap) => Value::from(""),
            Some(typed::Type::Files) => Value::bytes(Vec::new()),
            _ => Value::none(),
        },
    })
}

/// The place that an index names in a sequence; its end counts as within, as it does in Go until the item is taken.
fn place(call: &Call<'_>, at: &Value, length: usize) -> Result<usize, Error> {
    let number = match at.kind() {
        ValueKind::I64 | ValueKind::I128 | ValueKind::U64 | ValueKind::U128 => at.as_i64(),
        ValueKind::None | ValueKind::Undefined => {
            return Err(Error::new("cannot index slice/array with nil"));
        }
        _ => match typed::number(at) {
            Some(number) => Some(number),
            None => {
                let found = kind::type_of(call.scope, at);
                return Err(Error::new(format!("cannot index slice/array with type {found}")));
            }
        },
    };
    // A uint64 beyond int64 wraps in Go to a negative number.
    let number = number.unwrap_or_else(|| super::cast::to_int64(at));
    match usize::try_from(number) {
        Ok(place) if place <= length => Ok(place),
        _ => Err(Error::new(format!("index out of range: {number}"))),
    }
}
