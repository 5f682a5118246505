//! Bytes to checked text: encodings, byte order marks, characters that YAML forbids.
//!
//! go-yaml decodes its input in windows of 512 bytes, when the scanner asks for more characters than it has. A bad
//! character is therefore noticed when the window that holds it is read: before an error of the scanner in the same
//! window, after one in an earlier window, and never if it comes after the first document. [`Source`] keeps what is
//! needed to notice it at the same moment.

use std::borrow::Cow;

/// go-yaml's `input_raw_buffer_size`.
const WINDOW: usize = 512;

/// A text that is ready to be scanned.
pub(super) struct Source<'a> {
    /// The characters before the window with the first bad one, or all of them.
    pub(super) text: Cow<'a, str>,
    /// What is wrong right after `text`.
    pub(super) fault: Option<&'static str>,
    /// Whether a byte order mark occurs after the start, which go-yaml treats in its own way.
    pub(super) inner_mark: bool,
    /// Whether lines end in nothing else than line feeds.
    pub(super) line_feeds: bool,
    /// How many bytes of a leading mark were left out of `text`.
    pub(super) skipped: usize,
}

/// Decodes a document: UTF-16 after its byte order mark, else UTF-8.
pub(super) fn read(bytes: &[u8]) -> Source<'_> {
    match bytes {
        [0xFF, 0xFE, ..] => utf16(bytes, u16::from_le_bytes),
        [0xFE, 0xFF, ..] => utf16(bytes, u16::from_be_bytes),
        _ => utf8(bytes),
    }
}

/// What a first pass over valid text found.
#[derive(Default)]
struct Finding {
    inner_mark: bool,
    /// Whether there are breaks that are no line feeds.
    other_breaks: bool,
    /// The offset of the first forbidden character.
    forbidden: Option<usize>,
}

fn inspect(text: &str, start: usize) -> Finding {
    let bytes = text.as_bytes();
    let suspicious = |b: u8| (b < 0x20 && b != b'\n') || b == 0x7F || b == 0xC2 || b == 0xE2 || b == 0xEF;
    let mut found = Finding::default();
    let mut at = start;
    while at < bytes.len() {
        let end = bytes.len().min(at + 32);
        let chunk = &bytes[at..end];
        if chunk.iter().fold(false, |found, &b| found | suspicious(b)) {
            for (i, &b) in chunk.iter().enumerate() {
                let next = |n: usize| bytes.get(at + i + n).copied().unwrap_or(0);
                let forbidden = match b {
                    b'\t' | b'\n' | b'\r' => false,
                    0..0x20 | 0x7F => true,
                    0xC2 => next(1) < 0xA0 && next(1) != 0x85,
                    0xEF => next(1) == 0xBF && next(2) >= 0xBE,
                    _ => false,
                };
                if forbidden {
                    found.forbidden = Some(at + i);
                    return found;
                }
                found.inner_mark |= b == 0xEF && next(1) == 0xBB && next(2) == 0xBF;
                found.other_breaks |= match b {
                    b'\r' => true,
                    0xC2 => next(1) == 0x85,
                    0xE2 => next(1) == 0x80 && matches!(next(2), 0xA8 | 0xA9),
                    _ => false,
                };
            }
        }
        at = end;
    }
    found
}

const FORBIDDEN: &str = "control characters are not allowed";

fn utf8(bytes: &[u8]) -> Source<'_> {
    let skipped = if bytes.starts_with(&[0xEF, 0xBB, 0xBF]) { 3 } else { 0 };
    let (valid, broken) = match std::str::from_utf8(bytes) {
        Ok(text) => (text, None),
        Err(error) => {
            let (valid, rest) = bytes.split_at(error.valid_up_to());
            (std::str::from_utf8(valid).unwrap_or_default(), Some(sequence_fault(rest)))
        }
    };
    let finding = inspect(valid, skipped);
    let (at, fault) = match (finding.forbidden, broken) {
        (Some(at), _) => (at, Some((FORBIDDEN, width(bytes[at])))),
        (_, Some(fault)) => (valid.len(), Some(fault)),
        _ => (valid.len(), None),
    };
    let end = fault.map_or(valid.len(), |(_, width)| window_start(valid, bytes.len(), at, width));
    Source {
        text: Cow::Borrowed(valid.get(skipped..end).unwrap_or_default()),
        fault: fault.map(|(message, _)| message),
        inner_mark: finding.inner_mark,
        line_feeds: !finding.other_breaks,
        skipped,
    }
}

/// The length of a character from its first byte; zero where no character begins so.
fn width(lead: u8) -> usize {
    match lead {
        0..0x80 => 1,
        0xC0..0xE0 => 2,
        0xE0..0xF0 => 3,
        0xF0..0xF8 => 4,
        _ => 0,
    }
}

/// What go-yaml says of a sequence that is not UTF-8, and how many bytes it must see to say so.
fn sequence_fault(rest: &[u8]) -> (&'static str, usize) {
    let lead = rest.first().copied().unwrap_or(0);
    let width = width(lead);
    if width == 0 {
        return ("invalid leading UTF-8 octet", 1);
    }
    let Some(sequence) = rest.get(..width) else {
        return ("incomplete UTF-8 octet sequence", usize::MAX);
    };
    if sequence.iter().skip(1).any(|b| b & 0xC0 != 0x80) {
        return ("invalid trailing UTF-8 octet", width);
    }
    let first_bits = if width == 1 { u32::from(lead) } else { u32::from(lead) & (0x7F >> width) };
    let value = sequence.iter().skip(1).fold(first_bits, |value, b| value << 6 | u32::from(b & 0x3F));
    if value < [0, 0, 0x80, 0x800, 0x10000][width] {
        ("invalid length of a UTF-8 sequence", width)
    } else {
        ("invalid Unicode character", width)
    }
}

/// The start of the window in which the fault at `at`, `width` bytes long, is noticed.
fn window_start(valid: &str, length: usize, at: usize, width: usize) -> usize {
    let mut start = 0;
    loop {
        let end = length.min(start + WINDOW);
        if at < end {
            if end - at >= width {
                return start;
            }
            if start == at {
                return at;
            }
            start = at;
            continue;
        }
        let mut boundary = end;
        while !valid.is_char_boundary(boundary) {
            boundary -= 1;
        }
        if boundary == start {
            return start;
        }
        start = boundary;
    }
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Source<'_> {
    let mut text = String::with_capacity(bytes.len() / 2);
    let mut fault = None;
    let mut inner_mark = false;
    // Where the present window begins: in the bytes, and in the text.
    let mut window = (0, 0);
    let mut at = 2;
    let take = |at: usize| bytes.get(at..at + 2).map(|pair| unit([pair[0], pair[1]]));
    while at < bytes.len() {
        let visible = bytes.len().min(window.0 + WINDOW) - at;
        let Some(first) = take(at) else {
            (window, fault) = ((at, text.len()), Some("incomplete UTF-16 character"));
            break;
        };
        if visible < 2 {
            window = (at, text.len());
            continue;
        }
        let (character, size) = if first & 0xFC00 == 0xDC00 {
            fault = Some("unexpected low surrogate area");
            break;
        } else if first & 0xFC00 == 0xD800 {
            if visible < 4 && window.0 != at && bytes.len() - at >= 4 {
                window = (at, text.len());
                continue;
            }
            let Some(second) = take(at + 2) else {
                (window, fault) = ((at, text.len()), Some("incomplete UTF-16 surrogate pair"));
                break;
            };
            if second & 0xFC00 != 0xDC00 {
                fault = Some("expected low surrogate area");
                break;
            }
            (0x10000 + (u32::from(first & 0x3FF) << 10) + u32::from(second & 0x3FF), 4)
        } else {
            (u32::from(first), 2)
        };
        let allowed = match character {
            0x09
            | 0x0A
            | 0x0D
            | 0x20..=0x7E
            | 0x85
            | 0xA0..=0xD7FF
            | 0xE000..=0xFFFD
            | 0x10000..=0x10FFFF => char::from_u32(character),
            _ => None,
        };
        let Some(allowed) = allowed else {
            fault = Some(FORBIDDEN);
            break;
        };
        inner_mark |= allowed == '\u{FEFF}';
        text.push(allowed);
        at += size;
        if at >= window.0 + WINDOW {
            window = (at, text.len());
        }
    }
    if fault.is_some() {
        text.truncate(window.1);
    }
    Source { text: Cow::Owned(text), fault, inner_mark, line_feeds: false, skipped: 2 }
}
