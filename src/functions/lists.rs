//! Lists. What makes a list out of another copies it: lists in templates do not change.

use std::{borrow::Cow, collections::HashSet};

use tera::{Value, value::ValueKind};

use super::{
    Call, Error, Family, Function, Native, Outcome, Param,
    cast::{float_to_int, to_int64},
    limits, text,
};
use crate::value::{Scope, compare, kind, truth, typed};

pub(super) const FUNCTIONS: &[Function] = &[
    function("list", &[], list, "A list of the arguments.").variadic(Param::Any),
    function("tuple", &[], list, "An old name of `list`.").variadic(Param::Any),
    function("append", TWO, append, "The list with one more item at the end."),
    function("push", TWO, append, "Another name of `append`."),
    function("mustAppend", TWO, append, "The same as `append`."),
    function("mustPush", TWO, append, "The same as `append`."),
    function("prepend", TWO, prepend, "The list with one more item at the front."),
    function("mustPrepend", TWO, prepend, "The same as `prepend`."),
    function("first", ONE, first, "The first item, nil where there is none."),
    function("mustFirst", ONE, first, "The same as `first`."),
    function("rest", ONE, rest, "All items but the first."),
    function("mustRest", ONE, rest, "The same as `rest`."),
    function("last", ONE, last, "The last item, nil where there is none."),
    function("mustLast", ONE, last, "The same as `last`."),
    function("initial", ONE, initial, "All items but the last."),
    function("mustInitial", ONE, initial, "The same as `initial`."),
    function("reverse", ONE, reverse, "The items from last to first."),
    function("mustReverse", ONE, reverse, "The same as `reverse`."),
    function("compact", ONE, compact, "The items that are not empty."),
    function("mustCompact", ONE, compact, "The same as `compact`."),
    function("uniq", ONE, uniq, "Each item once."),
    function("mustUniq", ONE, uniq, "The same as `uniq`."),
    function("without", ONE, without, "The items that are none of the further arguments.")
        .variadic(Param::Any),
    function("mustWithout", ONE, without, "The same as `without`.").variadic(Param::Any),
    function("has", TWO, has, "Whether the list (second) has the item (first)."),
    function("mustHas", TWO, has, "The same as `has`."),
    function("slice", ONE, slice, "The items from the first number up to the second.").variadic(Param::Any),
    function("mustSlice", ONE, slice, "The same as `slice`.").variadic(Param::Any),
    function("concat", &[], concat, "All lists as one.").variadic(Param::Any),
    function("chunk", &[Param::Int, Param::Any], chunk, "The list as lists of so many items."),
    function("mustChunk", &[Param::Int, Param::Any], chunk, "The same as `chunk`."),
    function("sortAlpha", ONE, sort_alpha, "The items as texts, sorted."),
    function("toStrings", ONE, to_strings, "The items as texts."),
    function(
        "join",
        &[Param::String, Param::Any],
        join,
        "The items as one text, with this text between them.",
    ),
    function("splitList", &[Param::String, Param::String], split_list, "The parts of a text, as a list."),
];

const ONE: &[Param] = &[Param::Any];
const TWO: &[Param] = &[Param::Any, Param::Any];

const fn function(
    name: &'static str,
    params: &'static [Param],
    native: Native,
    summary: &'static str,
) -> Function {
    Function::new(name, Family::Lists, params, native, summary)
}

/// The items of what reflection sees as a slice; none for everything else.
pub(crate) fn items_of(value: &Value) -> Option<Cow<'_, [Value]>> {
    if let Some(items) = typed::items(value) {
        return Some(Cow::Borrowed(items));
    }
    // The bytes of a []byte are uint8.
    value
        .as_bytes()
        .map(|bytes| Cow::Owned(bytes.iter().map(|&byte| Value::from(u128::from(byte))).collect()))
}

/// The items of a list argument.
///
/// # Errors
/// Go's text: `what` and the kind of what is no list, a nil pointer for nil.
fn items<'a>(call: &Call<'a>, at: usize, what: &str) -> Result<Cow<'a, [Value]>, Error> {
    let value = call.arg(at);
    items_of(value).ok_or_else(|| match kind::kind_of(value) {
        "invalid" => nil_pointer(),
        kind => Error::new(format!("{what} type {kind}")),
    })
}

/// The text of Go's panic when it asks nil for its type.
pub(crate) fn nil_pointer() -> Error {
    Error::new("runtime error: invalid memory address or nil pointer dereference")
}

/// The text of Go's panic when it asks the zero `reflect.Value` for its type.
pub(crate) fn zero_value() -> Error {
    Error::new("reflect: call of reflect.Value.Type on zero Value")
}

fn made(call: &Call<'_>, items: Vec<Value>) -> Outcome {
    Ok(call.scope.admit(Value::from(items))?)
}

fn strings(call: &Call<'_>, items: Vec<Value>) -> Value {
    call.list_of(items, "[]string")
}

fn list(call: &Call<'_>) -> Outcome {
    made(call, call.args.to_vec())
}

fn append(call: &Call<'_>) -> Outcome {
    let mut items = items(call, 0, "Cannot push on")?.into_owned();
    items.push(call.arg(1).clone());
    made(call, items)
}

fn prepend(call: &Call<'_>) -> Outcome {
    let items = items(call, 0, "Cannot prepend on")?;
    let mut longer = Vec::with_capacity(items.len() + 1);
    longer.push(call.arg(1).clone());
    longer.extend_from_slice(&items);
    made(call, longer)
}

fn first(call: &Call<'_>) -> Outcome {
    Ok(items(call, 0, "Cannot find first on")?.first().cloned().unwrap_or_else(Value::none))
}

fn last(call: &Call<'_>) -> Outcome {
    Ok(items(call, 0, "Cannot find last on")?.last().cloned().unwrap_or_else(Value::none))
}

fn rest(call: &Call<'_>) -> Outcome {
    let items = items(call, 0, "Cannot find rest on")?;
    match items.split_first() {
        Some((_, rest)) => Ok(Value::from(rest)),
        None => Ok(call.nil_list("[]interface {}")),
    }
}

fn initial(call: &Call<'_>) -> Outcome {
    let items = items(call, 0, "Cannot find initial on")?;
    match items.split_last() {
        Some((_, initial)) => Ok(Value::from(initial)),
        None => Ok(call.nil_list("[]interface {}")),
    }
}

fn reverse(call: &Call<'_>) -> Outcome {
    let mut items = items(call, 0, "Cannot find reverse on")?.into_owned();
    items.reverse();
    Ok(Value::from(items))
}

fn compact(call: &Call<'_>) -> Outcome {
    let items = items(call, 0, "Cannot compact on")?;
    let full: Vec<Value> = items.iter().filter(|item| !truth::is_empty(call.scope, item)).cloned().collect();
    Ok(Value::from(full))
}

/// What tells a scalar from all others, as `reflect.DeepEqual` does: its kind and its content.
#[derive(PartialEq, Eq, Hash)]
enum Scalar<'a> {
    Nil,
    Bool(bool),
    Text(&'a str),
    Int(u8, i128),
    Float(u64),
}

impl<'a> Scalar<'a> {
    /// None for what has to be compared in depth, and for NaN, which equals nothing.
    fn of(value: &'a Value) -> Option<Self> {
        Some(match value.kind() {
            ValueKind::None | ValueKind::Undefined => Self::Nil,
            ValueKind::Bool => Self::Bool(value.as_bool()?),
            ValueKind::String => Self::Text(value.as_str()?),
            ValueKind::I64 => Self::Int(0, value.as_i128()?),
            ValueKind::I128 => Self::Int(1, value.as_i128()?),
            ValueKind::U64 => Self::Int(2, value.as_i128()?),
            ValueKind::U128 => Self::Int(3, value.as_i128()?),
            ValueKind::F64 => {
                let float = value.as_f64()?;
                if float.is_nan() {
                    return None;
                }
                // Both zeros are equal.
                Self::Float((float + 0.0).to_bits())
            }
            _ => return None,
        })
    }
}

/// The values met so far, to ask whether one equals another in depth.
struct Met<'a> {
    scope: &'a Scope,
    scalars: HashSet<Scalar<'a>>,
    others: Vec<&'a Value>,
}

impl<'a> Met<'a> {
    fn new(scope: &'a Scope) -> Self {
        Self { scope, scalars: HashSet::new(), others: Vec::new() }
    }

    fn has(&self, value: &Value) -> Result<bool, Error> {
        if let Some(scalar) = Scalar::of(value) {
            return Ok(self.scalars.contains(&scalar));
        }
        for other in &self.others {
            if compare::deep_equal(self.scope, value, other)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn add(&mut self, value: &'a Value) {
        match Scalar::of(value) {
            Some(scalar) => {
                self.scalars.insert(scalar);
            }
            None => self.others.push(value),
        }
    }
}

fn uniq(call: &Call<'_>) -> Outcome {
    let items = items(call, 0, "Cannot find uniq on")?;
    let mut met = Met::new(call.scope);
    let mut once = Vec::new();
    for item in items.iter() {
        if !met.has(item)? {
            met.add(item);
            once.push(item.clone());
        }
    }
    Ok(Value::from(once))
}

fn without(call: &Call<'_>) -> Outcome {
    let items = items(call, 0, "Cannot find without on")?;
    let mut left_out = Met::new(call.scope);
    for value in call.rest(1) {
        left_out.add(value);
    }
    let mut kept = Vec::new();
    for item in items.iter() {
        if !left_out.has(item)? {
            kept.push(item.clone());
        }
    }
    Ok(Value::from(kept))
}

fn has(call: &Call<'_>) -> Outcome {
    let (needle, haystack) = (call.arg(0), call.arg(1));
    if haystack.is_none() || haystack.is_undefined() {
        return Ok(Value::from(false));
    }
    for item in items(call, 1, "Cannot find has on")?.iter() {
        if compare::deep_equal(call.scope, needle, item)? {
            return Ok(Value::from(true));
        }
    }
    Ok(Value::from(false))
}

fn slice(call: &Call<'_>) -> Outcome {
    let items = items(call, 0, "list should be type of slice or array but")
        .map_err(|error| Error::new(error.to_string().replacen("but type ", "but ", 1)))?;
    if items.is_empty() {
        return Ok(Value::none());
    }
    let start = call.args.get(1).map_or(0, to_int64);
    let end = call.args.get(2).map_or_else(|| i64::try_from(items.len()).unwrap_or(i64::MAX), to_int64);
    let range = match (usize::try_from(start), usize::try_from(end)) {
        (Ok(start), Ok(end)) => start..end,
        _ => return Err(Error::new("reflect.Value.Slice: slice index out of bounds")),
    };
    if let Some(bytes) = call.arg(0).as_bytes().and_then(|bytes| bytes.get(range.clone())) {
        return Ok(Value::bytes(bytes));
    }
    match items.get(range) {
        // A list of a type keeps it.
        Some(part) => Ok(match call.scope.named_type(call.arg(0)) {
            Some(name) => call.list_of(part.to_vec(), name),
            None => Value::from(part),
        }),
        None => Err(Error::new("reflect.Value.Slice: slice index out of bounds")),
    }
}

fn concat(call: &Call<'_>) -> Outcome {
    let mut all = Vec::new();
    for at in 0..call.args.len() {
        let items = items(call, at, "Cannot concat").map_err(|error| match error.to_string() {
            text if text.starts_with("Cannot") => Error::new(format!("{text} as list")),
            _ => error,
        })?;
        limits::check_items(all.len() + items.len())?;
        all.extend_from_slice(&items);
    }
    if all.is_empty() {
        return Ok(call.nil_list("[]interface {}"));
    }
    made(call, all)
}

/// Sprig computes the number of chunks in floats, which decides what odd sizes give.
fn chunk(call: &Call<'_>) -> Outcome {
    let (size, items) = (call.int(0), items(call, 1, "Cannot chunk")?);
    let (length, width) = (items.len() as f64, size as f64);
    let count = float_to_int(((length - 1.0) / width).floor() + 1.0);
    let mut chunks = Vec::new();
    for at in 0..count {
        let mut taken = size;
        if at == count - 1 {
            taken = match float_to_int((length % width).floor()) {
                0 => size,
                rest => rest,
            };
        }
        let from = usize::try_from(at.saturating_mul(size));
        let (Ok(from), Ok(taken)) = (from, usize::try_from(taken)) else {
            return Err(Error::new("runtime error: makeslice: len out of range"));
        };
        let part = items.get(from..from.saturating_add(taken)).unwrap_or_default();
        chunks.push(Value::from(part));
    }
    if count < 0 {
        return Err(Error::new("runtime error: makeslice: len out of range"));
    }
    Ok(call.list_of(chunks, "[][]interface {}"))
}

/// Sprig's `strslice`: the items as texts, without nil; what is no list is the only item.
fn texts<'a>(call: &Call<'a>, value: &'a Value) -> Result<Vec<Cow<'a, [u8]>>, Error> {
    if let Some(items) = typed::items(value) {
        let items = items.iter().filter(|item| !item.is_none());
        return items.map(|item| text::strval(call.scope, item)).collect();
    }
    if let Some(bytes) = value.as_bytes() {
        return Ok(bytes.iter().map(|byte| Cow::Owned(byte.to_string().into_bytes())).collect());
    }
    if value.is_none() || value.is_undefined() {
        return Ok(Vec::new());
    }
    Ok(vec![text::strval(call.scope, value)?])
}

fn to_strings(call: &Call<'_>) -> Outcome {
    let texts = texts(call, call.arg(0))?;
    Ok(strings(call, texts.into_iter().map(text::value).collect()))
}

fn sort_alpha(call: &Call<'_>) -> Outcome {
    let value = call.arg(0);
    let mut texts = match items_of(value) {
        Some(_) => texts(call, value)?,
        None => vec![text::strval(call.scope, value)?],
    };
    texts.sort_unstable();
    Ok(strings(call, texts.into_iter().map(text::value).collect()))
}

fn join(call: &Call<'_>) -> Outcome {
    let texts = texts(call, call.arg(1))?;
    let between = call.bytes(0);
    let size = texts.iter().map(|text| text.len()).sum::<usize>() + between.len().saturating_mul(texts.len());
    limits::check_text(call.scope, size)?;
    Ok(typed::text(texts.join(between)))
}

fn split_list(call: &Call<'_>) -> Outcome {
    let parts = text::split(call, 0, 1, None)?;
    Ok(strings(call, parts))
}
