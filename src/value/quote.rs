//! Go's quoting and unquoting of strings and characters (`strconv.Quote`, `strconv.Unquote`, `%#U`).
//!
//! Strings are bytes here, since a Go string need not be UTF-8.

use std::borrow::Cow;
use std::fmt::Write as _;

use super::printable::is_printable;

/// A string in double quotes with Go's escapes: `%q`.
#[must_use]
pub fn quote(text: &[u8]) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    quote_into(&mut out, text);
    out
}

/// Appends what [`quote`] returns.
pub fn quote_into(out: &mut String, text: &[u8]) {
    quote_with(out, text, false);
}

/// Appends a string in double quotes; with `ascii`, all that is beyond ASCII is escaped too (`%+q`).
pub fn quote_with(out: &mut String, text: &[u8], ascii: bool) {
    out.reserve(text.len() + 2);
    out.push('"');
    for chunk in text.utf8_chunks() {
        let mut rest = chunk.valid();
        // Whole runs of plain characters are copied at once.
        while let Some(at) =
            rest.bytes().position(|byte| !matches!(byte, b' '..=b'~') || matches!(byte, b'"' | b'\\'))
        {
            out.push_str(&rest[..at]);
            let mut chars = rest[at..].chars();
            if let Some(c) = chars.next() {
                escape(out, c, '"', ascii);
            }
            rest = chars.as_str();
        }
        out.push_str(rest);
        for byte in chunk.invalid() {
            let _ = write!(out, "\\x{byte:02x}");
        }
    }
    out.push('"');
}

/// Appends the character of a code point in single quotes (`%q` of a number); what is no character becomes U+FFFD.
pub fn quote_char_with(out: &mut String, code: u64, ascii: bool) {
    out.push('\'');
    escape(out, character(code), '\'', ascii);
    out.push('\'');
}

/// The character of a code point; U+FFFD where it is none (`%c`).
#[must_use]
pub fn character(code: u64) -> char {
    u32::try_from(code).ok().and_then(char::from_u32).unwrap_or(char::REPLACEMENT_CHARACTER)
}

/// Whether a string can stand between backquotes as it is (`strconv.CanBackquote`).
#[must_use]
pub fn can_backquote(text: &[u8]) -> bool {
    std::str::from_utf8(text).is_ok_and(|text| {
        text.chars().all(|c| !matches!(c, '\0'..='\u{8}' | '\u{a}'..='\u{1f}' | '`' | '\u{7f}' | '\u{feff}'))
    })
}

/// A string cut to a number of characters, then quoted: `%.10q`. A byte that is not UTF-8 counts as one character.
#[must_use]
pub fn quote_first(text: &[u8], characters: usize) -> String {
    let mut left = characters;
    let mut end = 0;
    for chunk in text.utf8_chunks() {
        for width in chunk.valid().chars().map(char::len_utf8).chain(chunk.invalid().iter().map(|_| 1)) {
            if left == 0 {
                return quote(&text[..end]);
            }
            left -= 1;
            end += width;
        }
    }
    quote(text)
}

/// Appends one character of a text that is quoted with `quote`.
fn escape(out: &mut String, c: char, quote: char, ascii: bool) {
    match c {
        '\\' => out.push_str("\\\\"),
        c if c == quote => out.extend(['\\', c]),
        c if is_printable(c) && (c.is_ascii() || !ascii) => out.push(c),
        '\u{7}' => out.push_str("\\a"),
        '\u{8}' => out.push_str("\\b"),
        '\u{c}' => out.push_str("\\f"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        '\u{b}' => out.push_str("\\v"),
        c => {
            let code = u32::from(c);
            let _ = match code {
                0..=0x7f => write!(out, "\\x{code:02x}"),
                0x80..=0xffff => write!(out, "\\u{code:04x}"),
                _ => write!(out, "\\U{code:08x}"),
            };
        }
    }
}

/// A character as `%#U` prints it: `U+0023 '#'`, and without the character where it is not printable.
#[must_use]
pub fn code_point(c: char) -> String {
    let code = u32::from(c);
    if is_printable(c) { format!("U+{code:04X} '{c}'") } else { format!("U+{code:04X}") }
}

/// The value of a Go string literal, quoted or raw, with its quotes; `None` is Go's "invalid syntax".
#[must_use]
pub fn unquote(literal: &[u8]) -> Option<Cow<'_, [u8]>> {
    let (&quote, rest) = literal.split_first()?;
    let (&last, inner) = rest.split_last()?;
    if last != quote {
        return None;
    }
    match quote {
        b'`' if inner.contains(&b'`') => None,
        // Go drops carriage returns from raw strings.
        b'`' if inner.contains(&b'\r') => {
            Some(Cow::Owned(inner.iter().copied().filter(|byte| *byte != b'\r').collect()))
        }
        b'`' => Some(Cow::Borrowed(inner)),
        b'"' => {
            let plain = !inner.iter().any(|byte| matches!(byte, b'"' | b'\\' | b'\n'));
            if plain && std::str::from_utf8(inner).is_ok() {
                return Some(Cow::Borrowed(inner));
            }
            let mut out = Vec::with_capacity(inner.len());
            let mut rest = inner;
            while !rest.is_empty() {
                if rest[0] == b'\n' {
                    return None;
                }
                let (unit, after) = unquote_unit(rest, b'"')?;
                match unit {
                    Unit::Byte(byte) => out.push(byte),
                    Unit::Char(c) => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
                }
                rest = after;
            }
            Some(Cow::Owned(out))
        }
        _ => None,
    }
}

/// What an escape stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A byte, written as `\x…` or in octal.
    Byte(u8),
    /// A character.
    Char(char),
}

/// The first character or escape of the inside of a literal with that quote, and what follows it
/// (`strconv.UnquoteChar`); `None` is Go's "invalid syntax".
#[must_use]
pub fn unquote_unit(text: &[u8], quote: u8) -> Option<(Unit, &[u8])> {
    let (&first, rest) = text.split_first()?;
    if first == quote {
        return None;
    }
    if first >= 0x80 {
        let chunk = text[..text.len().min(4)].utf8_chunks().next()?;
        return Some(match chunk.valid().chars().next() {
            Some(c) => (Unit::Char(c), &text[c.len_utf8()..]),
            None => (Unit::Char(char::REPLACEMENT_CHARACTER), rest),
        });
    }
    if first != b'\\' {
        return Some((Unit::Char(char::from(first)), rest));
    }
    let (&escape, rest) = rest.split_first()?;
    let simple = match escape {
        b'a' => '\u{7}',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'v' => '\u{b}',
        b'\\' => '\\',
        b'\'' | b'"' if escape == quote => char::from(quote),
        b'x' => {
            let (code, rest) = digits(rest, 2, 16)?;
            return Some((Unit::Byte(u8::try_from(code).ok()?), rest));
        }
        b'u' | b'U' => {
            let (code, rest) = digits(rest, if escape == b'u' { 4 } else { 8 }, 16)?;
            return Some((Unit::Char(char::from_u32(code)?), rest));
        }
        b'0'..=b'7' => {
            let (code, rest) = digits(&text[1..], 3, 8)?;
            return Some((Unit::Byte(u8::try_from(code).ok()?), rest));
        }
        _ => return None,
    };
    Some((Unit::Char(simple), rest))
}

/// A number of exactly so many digits.
fn digits(text: &[u8], count: usize, radix: u32) -> Option<(u32, &[u8])> {
    let (digits, rest) = text.split_at_checked(count)?;
    let mut value: u32 = 0;
    for digit in digits {
        value = value.checked_mul(radix)?.checked_add(char::from(*digit).to_digit(radix)?)?;
    }
    Some((value, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_quoted_as_strconv_does() {
        assert_eq!(
            quote("a\"b\\c\n\u{7}\u{7f}é\u{a0}😀\u{e0001}".as_bytes()),
            r#""a\"b\\c\n\a\x7fé\u00a0😀\U000e0001""#
        );
        assert_eq!(quote(b"\xffa\xe2\x82"), r#""\xffa\xe2\x82""#);
        assert_eq!(quote(b"it's"), r#""it's""#);
    }

    #[test]
    fn all_beyond_ascii_can_be_escaped() {
        let mut out = String::new();
        quote_with(&mut out, "aé😀".as_bytes(), true);
        assert_eq!(out, r#""a\u00e9\U0001f600""#);
    }

    #[test]
    fn characters_are_quoted_as_strconv_does() {
        let quoted = |code| {
            let mut out = String::new();
            quote_char_with(&mut out, code, false);
            out
        };
        assert_eq!(quoted(u64::from('\'')), r"'\''");
        assert_eq!(quoted(u64::from('"')), "'\"'");
        assert_eq!(quoted(0xd800), "'\u{fffd}'");
        assert_eq!(quoted(u64::MAX), "'\u{fffd}'");
    }

    #[test]
    fn backquotes_hold_all_but_controls() {
        assert!(can_backquote("a\tb é".as_bytes()));
        assert!(!can_backquote(b"a`b") && !can_backquote(b"a\nb") && !can_backquote("\u{feff}".as_bytes()));
        assert!(!can_backquote(b"\xff"));
    }

    #[test]
    fn a_cut_counts_characters() {
        assert_eq!(quote_first("äöüabc".as_bytes(), 3), r#""äöü""#);
        assert_eq!(quote_first(b"\xff\xff\xffa", 2), r#""\xff\xff""#);
        assert_eq!(quote_first(b"ab", 10), r#""ab""#);
    }

    #[test]
    fn code_points_show_what_is_printable() {
        assert_eq!(code_point('#'), "U+0023 '#'");
        assert_eq!(code_point('\0'), "U+0000");
        assert_eq!(code_point('😀'), "U+1F600 '😀'");
    }

    #[test]
    fn literals_are_unquoted_as_strconv_does() {
        let value = |literal: &str| {
            unquote(literal.as_bytes()).map(|text| String::from_utf8_lossy(&text).into_owned())
        };
        assert_eq!(value(r#""a\tb\x41\101\u00e9\"""#).unwrap(), "a\tbAAé\"");
        assert_eq!(value("`a\\n\r\nb`").unwrap(), "a\\n\nb");
        for wrong in
            [r#""\'""#, r#""\q""#, r#""\x4""#, r#""\400""#, r#""\ud800""#, "\"a", "\"", "", "'a'", "\"a\"b\""]
        {
            assert_eq!(value(wrong), None, "{wrong}");
        }
        assert_eq!(unquote(br#""\xff""#).unwrap().as_ref(), b"\xff");
        assert_eq!(unquote(b"\"\xff\"").unwrap().as_ref(), "\u{fffd}".as_bytes());
    }
}
