//! Text as Go sees it.

use crate::value::is_printable;

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
    *text = text
        .chars()
        .filter_map(|c| if is_space(c) { Some(' ') } else { is_printable(c).then_some(c) })
        .collect();
}

/// Quotes `text` as Go's `%q` does.
pub(super) fn quote(text: &str) -> String {
    crate::value::quote::quote(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_printable_goes_and_spaces_are_plain() {
        let mut text = String::from("a\tb\u{200b}c\u{3000}d\u{85}e\u{ad}f\0");
        sanitize(&mut text);
        assert_eq!(text, "a bc d ef");
    }
}
