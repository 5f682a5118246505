//! Bytes that are not UTF-8, on their way through Tera.
//!
//! Go's strings are bytes, and a template may print any. Tera's output is UTF-8. A byte that is not part of valid UTF-8
//! travels as a character of the last private use plane, and becomes the byte again when the file is finished.

use std::borrow::Cow;

/// The character that stands for the byte 0.
const FIRST: u32 = 0x10_FF00;

/// Text that may be printed by Tera for any bytes.
pub(super) fn encode(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    let mut text = String::with_capacity(bytes.len() + 16);
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().filter_map(|byte| char::from_u32(FIRST + u32::from(*byte))));
    }
    Cow::Owned(text)
}

/// The bytes that [`encode`] was given, out of what Tera wrote.
pub(super) fn decode(text: Vec<u8>) -> Vec<u8> {
    // All characters that stand for bytes begin with F4 8F BC to F4 8F BF.
    let stands = |at: usize| {
        matches!(text.get(at + 1..at + 4), Some([0x8F, 0xBC..=0xBF, _]))
            && std::str::from_utf8(&text[at..at + 4]).is_ok()
    };
    if !memchr::memchr_iter(0xF4, &text).any(stands) {
        return text;
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = 0;
    for at in memchr::memchr_iter(0xF4, &text).filter(|at| stands(*at)) {
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
