//! Quoting and joining of values of any type as text.

use tera::Value;

use crate::{
    functions::{Call, Outcome, limits, text},
    value::{quote, typed},
};

/// Whether `%q` prints the bytes as they are.
fn is_plain(text: &[u8]) -> bool {
    text.iter().all(|byte| matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\'))
}

pub(super) fn quoted(call: &Call<'_>) -> Outcome {
    let mut out = String::new();
    for value in call.args.iter().filter(|value| !value.is_none() && !value.is_undefined()) {
        if !out.is_empty() {
            out.push(' ');
        }
        let text = text::strval(call.scope, value)?;
        match std::str::from_utf8(&text) {
            Ok(plain) if is_plain(&text) => {
                out.reserve(plain.len() + 2);
                out.push('"');
                out.push_str(plain);
                out.push('"');
            }
            _ => quote::quote_into(&mut out, &text),
        }
        limits::check_text(call.scope, out.len())?;
    }
    Ok(Value::from(out))
}

pub(super) fn single_quoted(call: &Call<'_>) -> Outcome {
    let mut out = Vec::new();
    for value in call.args.iter().filter(|value| !value.is_none() && !value.is_undefined()) {
        if !out.is_empty() {
            out.push(b' ');
        }
        out.push(b'\'');
        out.extend_from_slice(&text::printed(call.scope, value)?);
        out.push(b'\'');
        limits::check_text(call.scope, out.len())?;
    }
    Ok(typed::text(out))
}

pub(super) fn cat(call: &Call<'_>) -> Outcome {
    let mut out = Vec::new();
    for (at, value) in call.args.iter().filter(|value| !value.is_none() && !value.is_undefined()).enumerate()
    {
        if at > 0 {
            out.push(b' ');
        }
        out.extend_from_slice(&text::printed(call.scope, value)?);
        limits::check_text(call.scope, out.len())?;
    }
    Ok(typed::text(out))
}

pub(super) fn to_string(call: &Call<'_>) -> Outcome {
    Ok(text::value(text::strval(call.scope, call.arg(0))?))
}

pub(super) fn split(call: &Call<'_>) -> Outcome {
    numbered(text::split(call, 0, 1, None)?)
}

pub(super) fn splitn(call: &Call<'_>) -> Outcome {
    // No parts for zero, all for a negative number.
    numbered(text::split(call, 0, 2, usize::try_from(call.int(1)).ok())?)
}

/// The parts under the keys `_0`, `_1`…
fn numbered(parts: Vec<Value>) -> Outcome {
    let entries = parts.into_iter().enumerate().map(|(at, part)| (format!("_{at}"), part));
    Ok(typed::make(typed::Type::StringMap, entries))
}
