//! Keys as they are written, and texts in quotes.

use std::fmt::Write as _;

/// Whether a key's character needs no quotes.
pub(super) fn is_bare(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-')
}

/// Appends a text in quotes.
pub(super) fn write_quoted(out: &mut Vec<u8>, text: &[u8]) {
    out.push(b'"');
    for &byte in text {
        match byte {
            b'"' | b'\\' => out.extend([b'\\', byte]),
            8 => out.extend(b"\\b"),
            b'\t' => out.extend(b"\\t"),
            b'\n' => out.extend(b"\\n"),
            12 => out.extend(b"\\f"),
            b'\r' => out.extend(b"\\r"),
            0..=0x1f | 0x7f => out.extend(format!("\\u{byte:04x}").as_bytes()),
            _ => out.push(byte),
        }
    }
    out.push(b'"');
}

/// Appends one part of a key, in quotes where it needs them.
pub(super) fn write_part(out: &mut Vec<u8>, part: &str) {
    if part.is_empty() || !part.chars().all(is_bare) {
        write_quoted(out, part.as_bytes());
    } else {
        out.extend(part.as_bytes());
    }
}

/// The whole of a key, its parts joined by dots.
pub(super) fn joined<S: AsRef<str>>(parts: &[S]) -> String {
    let mut out = Vec::new();
    for (at, part) in parts.iter().enumerate() {
        if at > 0 {
            out.push(b'.');
        }
        write_part(&mut out, part.as_ref());
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// The text of an error with its line and the last key.
pub(super) fn complaint(line: usize, last: &str, message: &str) -> String {
    let mut text = format!("toml: line {line}");
    if !last.is_empty() {
        let _ = write!(text, " (last key {})", crate::value::quote::quote(last.as_bytes()));
    }
    text + ": " + message
}
