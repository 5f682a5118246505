//! Parts of texts, by bytes.

use tera::Value;

use super::part;
use crate::functions::{Call, Error, Outcome};
use crate::value::typed;

/// The runes of a Go string as slices of it; a byte that is not part of valid UTF-8 is a rune of its own.
pub(crate) fn runes(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.utf8_chunks().flat_map(|chunk| {
        let valid = chunk.valid();
        let runes = valid.char_indices().map(move |(at, c)| &valid.as_bytes()[at..at + c.len_utf8()]);
        runes.chain(chunk.invalid().chunks(1))
    })
}

pub(super) fn trunc(call: &Call<'_>) -> Outcome {
    let (count, text) = (call.int(0), call.bytes(1));
    let size = usize::try_from(count.unsigned_abs()).unwrap_or(usize::MAX);
    Ok(if size >= text.len() {
        call.arg(1).clone()
    } else if count < 0 {
        part(call, 1, &text[text.len() - size..])
    } else {
        part(call, 1, &text[..size])
    })
}

pub(super) fn substr(call: &Call<'_>) -> Outcome {
    let (start, end, text) = (call.int(0), call.int(1), call.bytes(2));
    let size = i64::try_from(text.len()).unwrap_or(i64::MAX);
    let (start, end) = if start < 0 {
        if end < 0 {
            return Err(Error::new(format!("runtime error: slice bounds out of range [:{end}]")));
        }
        if end > size {
            return Err(Error::new(format!(
                "runtime error: slice bounds out of range [:{end}] with length {size}"
            )));
        }
        (0, end)
    } else if end < 0 || end > size {
        (start, size)
    } else {
        (start, end)
    };
    if start > end {
        return Err(Error::new(format!("runtime error: slice bounds out of range [{start}:{end}]")));
    }
    let place = |at: i64| usize::try_from(at).unwrap_or_default();
    Ok(part(call, 2, &text[place(start)..place(end)]))
}

pub(super) fn abbrev(call: &Call<'_>) -> Outcome {
    let width = call.int(0);
    if width < 4 {
        return Ok(call.arg(1).clone());
    }
    Ok(abbreviated(call, 1, 0, width))
}

pub(super) fn abbrevboth(call: &Call<'_>) -> Outcome {
    let (left, right) = (call.int(0), call.int(1));
    if right < 4 || left > 0 && right < 7 {
        return Ok(call.arg(2).clone());
    }
    Ok(abbreviated(call, 2, left, right))
}

/// The text of at most `width` bytes (at least four) that shows what is at `offset`, as goutils cuts it.
fn abbreviated(call: &Call<'_>, at: usize, offset: i64, width: i64) -> Value {
    const MARK: &[u8] = b"...";
    let text = call.bytes(at);
    let width = usize::try_from(width).unwrap_or(usize::MAX);
    if text.len() <= width {
        return call.arg(at).clone();
    }
    let shown = width - MARK.len();
    // Not beyond the last place that still fills the width.
    let offset = usize::try_from(offset).unwrap_or(0).min(text.len() - shown);
    let out = if offset <= 4 {
        [&text[..shown], MARK].concat()
    } else if width < 7 {
        Vec::new()
    } else if offset + shown < text.len() {
        [MARK, &text[offset..offset + shown - MARK.len()], MARK].concat()
    } else {
        [MARK, &text[text.len() - shown..]].concat()
    };
    typed::text(out)
}
