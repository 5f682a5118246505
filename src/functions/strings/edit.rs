//! Trimming, replacing, indenting, and questions about what a text holds.

use memchr::memmem;
use tera::Value;

use super::part;
use crate::functions::{Call, Error, Outcome, limits};
use crate::value::typed;

pub(super) fn trim(call: &Call<'_>) -> Outcome {
    Ok(part(call, 0, trimmed(call.bytes(0))))
}

/// Bytes without the white space at both ends.
pub(crate) fn trimmed(bytes: &[u8]) -> &[u8] {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.trim().as_bytes(),
        // White space is valid UTF-8, so that it can be cut off around the bytes that are not.
        Err(_) => trim_bytes(bytes, char::is_whitespace),
    }
}

/// Cuts the characters that `matches` off both ends of bytes that need not be UTF-8.
fn trim_bytes(mut bytes: &[u8], matches: impl Fn(char) -> bool) -> &[u8] {
    while let Some(first) = bytes.utf8_chunks().next().and_then(|chunk| chunk.valid().chars().next()) {
        if !matches(first) {
            break;
        }
        bytes = &bytes[first.len_utf8()..];
    }
    loop {
        let tail = (1..=4.min(bytes.len())).find_map(|n| std::str::from_utf8(&bytes[bytes.len() - n..]).ok());
        match tail.and_then(|tail| tail.chars().next()) {
            Some(last) if matches(last) => bytes = &bytes[..bytes.len() - last.len_utf8()],
            _ => return bytes,
        }
    }
}

pub(super) fn trim_all(call: &Call<'_>) -> Outcome {
    let cutset = call.text(0);
    let matches = |c: char| cutset.contains(c);
    Ok(match call.arg(1).as_str() {
        Some(text) => part(call, 1, text.trim_matches(matches).as_bytes()),
        None => part(call, 1, trim_bytes(call.bytes(1), matches)),
    })
}

pub(super) fn trim_prefix(call: &Call<'_>) -> Outcome {
    let text = call.bytes(1);
    Ok(part(call, 1, text.strip_prefix(call.bytes(0)).unwrap_or(text)))
}

pub(super) fn trim_suffix(call: &Call<'_>) -> Outcome {
    let text = call.bytes(1);
    Ok(part(call, 1, text.strip_suffix(call.bytes(0)).unwrap_or(text)))
}

pub(super) fn contains(call: &Call<'_>) -> Outcome {
    Ok(Value::from(memmem::find(call.bytes(1), call.bytes(0)).is_some()))
}

pub(super) fn has_prefix(call: &Call<'_>) -> Outcome {
    Ok(Value::from(call.bytes(1).starts_with(call.bytes(0))))
}

pub(super) fn has_suffix(call: &Call<'_>) -> Outcome {
    Ok(Value::from(call.bytes(1).ends_with(call.bytes(0))))
}

pub(super) fn replace(call: &Call<'_>) -> Outcome {
    let (old, new, text) = (call.bytes(0), call.bytes(1), call.bytes(2));
    if old.is_empty() {
        return replace_nothing(call, new);
    }
    let mut places = memmem::find_iter(text, old).peekable();
    if places.peek().is_none() {
        return Ok(call.arg(2).clone());
    }
    let mut out = Vec::with_capacity(text.len());
    let mut from = 0;
    for at in places {
        out.extend_from_slice(&text[from..at]);
        out.extend_from_slice(new);
        limits::check_text(call.scope, out.len())?;
        from = at + old.len();
    }
    out.extend_from_slice(&text[from..]);
    Ok(typed::text(out))
}

/// Go replaces an empty text at the start, and after each rune.
fn replace_nothing(call: &Call<'_>, new: &[u8]) -> Outcome {
    let text = call.bytes(2);
    limits::check_text(call.scope, new.len().saturating_mul(text.len() + 1))?;
    let mut out = Vec::with_capacity(text.len() + new.len() * (text.len() + 1));
    out.extend_from_slice(new);
    for rune in super::cut::runes(text) {
        out.extend_from_slice(rune);
        out.extend_from_slice(new);
    }
    Ok(typed::text(out))
}

pub(super) fn repeat(call: &Call<'_>) -> Outcome {
    let (count, text) = (call.int(0), call.bytes(1));
    if count < 0 {
        return Err(Error::new("strings: negative Repeat count"));
    }
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    limits::check_text(call.scope, count.saturating_mul(text.len()))?;
    Ok(match call.arg(1).as_str() {
        Some(text) => Value::from(text.repeat(count)),
        None => typed::text(text.repeat(count)),
    })
}

pub(super) fn indent(call: &Call<'_>) -> Outcome {
    indented(call, "")
}

pub(super) fn nindent(call: &Call<'_>) -> Outcome {
    indented(call, "\n")
}

fn indented(call: &Call<'_>, before: &str) -> Outcome {
    let spaces = call.int(0);
    if spaces < 0 {
        return Err(Error::new("strings: negative Repeat count"));
    }
    let spaces = usize::try_from(spaces).unwrap_or(usize::MAX);
    let text = call.bytes(1);
    let breaks = memchr::memchr_iter(b'\n', text).count();
    let size = spaces.saturating_mul(breaks + 1).saturating_add(text.len() + before.len());
    limits::check_text(call.scope, size)?;
    if size == text.len() {
        return Ok(call.arg(1).clone());
    }
    let mut out = Vec::with_capacity(size);
    out.extend_from_slice(before.as_bytes());
    out.resize(out.len() + spaces, b' ');
    let mut from = 0;
    for at in memchr::memchr_iter(b'\n', text) {
        out.extend_from_slice(&text[from..=at]);
        out.resize(out.len() + spaces, b' ');
        from = at + 1;
    }
    out.extend_from_slice(&text[from..]);
    Ok(typed::text(out))
}

/// goutils looks at bytes, each as the rune of its number, so that text beyond ASCII comes out as its bytes in Latin-1.
pub(super) fn nospace(call: &Call<'_>) -> Outcome {
    let text = call.bytes(0);
    if !text.iter().any(|&byte| char::from(byte).is_whitespace()) {
        return Ok(call.arg(0).clone());
    }
    Ok(Value::from(
        text.iter().map(|&byte| char::from(byte)).filter(|c| !c.is_whitespace()).collect::<String>(),
    ))
}

pub(super) fn plural(call: &Call<'_>) -> Outcome {
    Ok(call.arg(usize::from(call.int(2) != 1)).clone())
}
