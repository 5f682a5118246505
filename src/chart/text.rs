//! Text as Go sees it: which runes are printable, and quoting.

use std::sync::LazyLock;

use regex::Regex;

/// Go's `unicode.IsPrint`: letters, marks, numbers, punctuation, symbols, and the ASCII space.
pub(super) fn is_print(c: char) -> bool {
    static PRINT: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"^[\p{L}\p{M}\p{N}\p{P}\p{S}]$").expect("a fixed pattern"));
    match c {
        ' '..='~' => true,
        '\0'..='\u{9f}' | '\u{ad}' => false,
        '\u{a1}'..='\u{ff}' => true,
        _ => PRINT.is_match(c.encode_utf8(&mut [0; 4])),
    }
}

/// Go's `unicode.IsSpace`.
pub(super) fn is_space(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\x0b' | '\x0c' | '\r' | ' ' | '\u{85}' | '\u{a0}')
        || (c > '\u{ff}' && c.is_whitespace())
}

/// Makes every space an ASCII space and drops what is not printable, as Helm does with the fields of Chart.yaml.
pub(super) fn sanitize(text: &mut String) {
    if text.bytes().all(|b| (b' '..=b'~').contains(&b)) {
        return;
    }
    *text =
        text.chars().filter_map(|c| if is_space(c) { Some(' ') } else { is_print(c).then_some(c) }).collect();
}

/// Quotes `text` as Go's `%q` does.
pub fn quote(text: &str) -> String {
    use std::fmt::Write as _;
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\x07' => out.push_str("\\a"),
            '\x08' => out.push_str("\\b"),
            '\x0c' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\x0b' => out.push_str("\\v"),
            c if is_print(c) => out.push(c),
            c => {
                let code = u32::from(c);
                let written = if c.is_ascii() {
                    write!(out, "\\x{code:02x}")
                } else if code < 0x1_0000 {
                    write!(out, "\\u{code:04x}")
                } else {
                    write!(out, "\\U{code:08x}")
                };
                written.expect("a string takes all text");
            }
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoting_follows_go() {
        assert_eq!(quote("a\"b\\\n\u{7f}\u{a0}é\u{200b}😀"), "\"a\\\"b\\\\\\n\\x7f\\u00a0é\\u200b😀\"");
    }

    #[test]
    fn what_is_not_printable_goes_and_spaces_are_plain() {
        let mut text = String::from("a\tb\u{200b}c\u{3000}d\u{85}e\u{ad}f\0");
        sanitize(&mut text);
        assert_eq!(text, "a bc d ef");
    }
}
