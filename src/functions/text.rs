//! Texts out of values, and values out of texts.

use std::borrow::Cow;

use memchr::memmem;
use tera::Value;

use super::{Call, Error, limits, strings};
use crate::value::{Scope, print, typed};

/// Sprig's `strval`, as bytes: the text of a string or \[\]byte itself, and `%v` of everything else.
pub(crate) fn strval<'v>(scope: &Scope, value: &'v Value) -> Result<Cow<'v, [u8]>, Error> {
    if let Some(bytes) = typed::text_bytes(value).or_else(|| value.as_bytes()) {
        return Ok(Cow::Borrowed(bytes));
    }
    printed(scope, value)
}

/// What `%v` prints, as bytes.
pub(crate) fn printed<'v>(scope: &Scope, value: &'v Value) -> Result<Cow<'v, [u8]>, Error> {
    if let Some(bytes) = typed::text_bytes(value) {
        return Ok(Cow::Borrowed(bytes));
    }
    let mut out = Vec::new();
    print::append(&mut out, scope, value)?;
    Ok(Cow::Owned(out))
}

/// A Go string.
pub(crate) fn value(text: Cow<'_, [u8]>) -> Value {
    match text {
        Cow::Owned(bytes) => typed::text(bytes),
        Cow::Borrowed(bytes) => slice(bytes),
    }
}

/// A Go string of a part of another.
pub(crate) fn slice(bytes: &[u8]) -> Value {
    match std::str::from_utf8(bytes) {
        Ok(text) => Value::from(text),
        Err(_) => typed::text(bytes.to_vec()),
    }
}

/// The parts of a string argument between separators, `strings.SplitN`: at most `most` of them, where that is given.
pub(crate) fn split(
    call: &Call<'_>,
    separator: usize,
    whole: usize,
    most: Option<usize>,
) -> Result<Vec<Value>, Error> {
    let (separator, whole) = (call.bytes(separator), call.bytes(whole));
    let most = most.unwrap_or(usize::MAX);
    if most == 0 {
        return Ok(Vec::new());
    }
    if separator.is_empty() {
        return split_runes(whole, most);
    }
    let mut parts = Vec::new();
    let mut from = 0;
    for at in memmem::find_iter(whole, separator).take(most - 1) {
        limits::check_items(parts.len() + 2)?;
        parts.push(slice(&whole[from..at]));
        from = at + separator.len();
    }
    parts.push(slice(&whole[from..]));
    Ok(parts)
}

fn split_runes(whole: &[u8], most: usize) -> Result<Vec<Value>, Error> {
    let mut parts = Vec::new();
    let mut at = 0;
    for rune in strings::runes(whole) {
        limits::check_items(parts.len() + 1)?;
        if parts.len() == most - 1 {
            parts.push(slice(&whole[at..]));
            break;
        }
        at += rune.len();
        parts.push(slice(rune));
    }
    Ok(parts)
}
