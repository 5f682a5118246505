//! Line breaking as goutils does it, by bytes.

use memchr::{memchr, memrchr};
use tera::Value;

use crate::functions::{Call, Error, Outcome, limits};
use crate::value::{Scope, typed};

pub(super) fn wrap(call: &Call<'_>) -> Outcome {
    wrapped(call.scope, call.int(0), b"", call.bytes(1), false)
}

pub(super) fn wrap_with(call: &Call<'_>) -> Outcome {
    wrapped(call.scope, call.int(0), call.bytes(1), call.bytes(2), true)
}

fn wrapped(
    scope: &Scope,
    width: i64,
    line_end: &[u8],
    text: &[u8],
    break_words: bool,
) -> Result<Value, Error> {
    let line_end = if line_end.is_empty() { b"\n" } else { line_end };
    let width = usize::try_from(width.max(1)).unwrap_or(usize::MAX);
    let mut out = Vec::with_capacity(text.len() + text.len() / 16);
    let mut at = 0;
    while text.len() - at > width {
        if text[at] == b' ' {
            at += 1;
            continue;
        }
        let end = at + width;
        let stop = match memrchr(b' ', &text[at..=end]) {
            Some(space) => at + space,
            None if break_words => end,
            None => match memchr(b' ', &text[end..]) {
                Some(space) => end + space,
                None => break,
            },
        };
        out.extend_from_slice(&text[at..stop]);
        out.extend_from_slice(line_end);
        limits::check_text(scope, out.len())?;
        // The space that a line ends at is gone; a broken word loses nothing.
        at = if stop == end && text[stop] != b' ' { stop } else { stop + 1 };
    }
    out.extend_from_slice(&text[at..]);
    Ok(typed::text(out))
}
