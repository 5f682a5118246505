//! Bytes that are not UTF-8, on their way through Tera.
//!
//! Go's strings are bytes, and a template may print any. Tera's output is UTF-8. A byte that is not part of valid UTF-8
//! travels as a character of the last private use plane, and becomes the byte again when the file is finished.

use std::{
    borrow::Cow,
    sync::atomic::{AtomicBool, Ordering},
};

use tera::Value;

use crate::value::typed;

/// The character that stands for the byte 0.
const FIRST: u32 = 0x10_FF00;

/// Whether there ever was anything to encode, without which there is nothing to decode.
static USED: AtomicBool = AtomicBool::new(false);

/// Text that may be printed by Tera for any bytes.
pub(super) fn encode(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    USED.store(true, Ordering::Relaxed);
    let mut text = String::with_capacity(bytes.len() + 16);
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().filter_map(|byte| char::from_u32(FIRST + u32::from(*byte))));
    }
    Cow::Owned(text)
}

/// Arguments of a function in which bytes are bytes again; none if they are as they should be.
pub(super) fn decode_values(values: &[Value]) -> Option<Vec<Value>> {
    let encoded = |value: &Value| value.as_str().is_some_and(|text| first(text.as_bytes()).is_some());
    if !USED.load(Ordering::Relaxed) || !values.iter().any(encoded) {
        return None;
    }
    let decoded = |value: &Value| match value.as_str() {
        Some(text) if encoded(value) => typed::text(decode(text.as_bytes().to_vec())),
        _ => value.clone(),
    };
    Some(values.iter().map(decoded).collect())
}

/// Where the first character is that stands for a byte.
fn first(text: &[u8]) -> Option<usize> {
    memchr::memchr_iter(0xF4, text).find(|at| stands_for_byte(text, *at))
}

/// Whether a character that stands for a byte begins here. They are F4 8F BC 80 to F4 8F BF BF.
fn stands_for_byte(text: &[u8], at: usize) -> bool {
    matches!(text.get(at + 1..at + 4), Some([0x8F, 0xBC..=0xBF, 0x80..=0xBF]))
}

/// The bytes that [`encode`] was given, out of what Tera wrote.
pub(super) fn decode(text: Vec<u8>) -> Vec<u8> {
    if first(&text).is_none() {
        return text;
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = 0;
    for at in memchr::memchr_iter(0xF4, &text).filter(|at| stands_for_byte(&text, *at)) {
        bytes.extend_from_slice(&text[rest..at]);
        bytes.push((text[at + 2] & 0x03) << 6 | (text[at + 3] & 0x3F));
        rest = at + 4;
    }
    bytes.extend_from_slice(&text[rest..]);
    bytes
}

#[cfg(test)]
mod tests {
    use super::{decode, encode};

    #[test]
    fn any_bytes_come_back() {
        let all: Vec<u8> = (0..=255).collect();
        for bytes in [b"plain".as_slice(), "é\u{10FFFF}".as_bytes(), &all, b"\xf4\x8f\xbc"] {
            let expected: &[u8] =
                if bytes.ends_with("\u{10FFFF}".as_bytes()) { b"\xc3\xa9\xff" } else { bytes };
            assert_eq!(decode(encode(bytes).into_owned().into_bytes()), expected);
        }
    }
}
