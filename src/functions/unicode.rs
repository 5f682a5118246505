//! Go's `unicode` package: simple case mappings (one rune to one rune) and the general categories.
//!
//! Go's tables are those of Unicode 15.0. Characters that came later are none to it, which [`is_printable`] tells.

use unicode_general_category::{GeneralCategory, get_general_category};

use crate::value::is_printable;

/// The category by Go's tables.
fn category(c: char) -> GeneralCategory {
    if is_printable(c) { get_general_category(c) } else { GeneralCategory::Unassigned }
}

/// A mapping, if Go knows it.
fn known(from: char, to: char) -> char {
    if is_printable(from) && is_printable(to) { to } else { from }
}

/// `unicode.ToUpper`
pub(crate) fn to_upper(c: char) -> char {
    if c.is_ascii() {
        return c.to_ascii_uppercase();
    }
    let mut mapped = c.to_uppercase();
    match (mapped.next(), mapped.next()) {
        (Some(upper), None) => known(c, upper),
        _ => simple_upper(c),
    }
}

/// The simple mapping of what has several letters as its full upper case: a few Greek letters with iota subscript.
fn simple_upper(c: char) -> char {
    let distance = match c {
        '\u{1F80}'..='\u{1F87}' | '\u{1F90}'..='\u{1F97}' | '\u{1FA0}'..='\u{1FA7}' => 8,
        '\u{1FB3}' | '\u{1FC3}' | '\u{1FF3}' => 9,
        _ => 0,
    };
    char::from_u32(u32::from(c) + distance).unwrap_or(c)
}

/// `unicode.ToLower`
pub(crate) fn to_lower(c: char) -> char {
    if c.is_ascii() {
        return c.to_ascii_lowercase();
    }
    known(c, c.to_lowercase().next().unwrap_or(c))
}

/// `unicode.ToTitle`
pub(crate) fn to_title(c: char) -> char {
    match c {
        '\u{01C4}'..='\u{01C6}' => '\u{01C5}',
        '\u{01C7}'..='\u{01C9}' => '\u{01C8}',
        '\u{01CA}'..='\u{01CC}' => '\u{01CB}',
        '\u{01F1}'..='\u{01F3}' => '\u{01F2}',
        // Georgian has no title case.
        '\u{10D0}'..='\u{10FA}' | '\u{10FD}'..='\u{10FF}' => c,
        _ => to_upper(c),
    }
}

/// `unicode.IsLetter`
pub(crate) fn is_letter(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_alphabetic();
    }
    matches!(
        category(c),
        GeneralCategory::UppercaseLetter
            | GeneralCategory::LowercaseLetter
            | GeneralCategory::TitlecaseLetter
            | GeneralCategory::ModifierLetter
            | GeneralCategory::OtherLetter
    )
}

/// `unicode.IsUpper`
pub(crate) fn is_upper(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_uppercase() } else { category(c) == GeneralCategory::UppercaseLetter }
}

/// `unicode.IsLower`
pub(crate) fn is_lower(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_lowercase() } else { category(c) == GeneralCategory::LowercaseLetter }
}

/// `unicode.IsTitle`
pub(crate) fn is_title(c: char) -> bool {
    !c.is_ascii() && category(c) == GeneralCategory::TitlecaseLetter
}

/// `unicode.IsNumber`
pub(crate) fn is_number(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_digit();
    }
    matches!(
        category(c),
        GeneralCategory::DecimalNumber | GeneralCategory::LetterNumber | GeneralCategory::OtherNumber
    )
}

/// `unicode.IsDigit`
pub(crate) fn is_decimal_digit(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_digit() } else { category(c) == GeneralCategory::DecimalNumber }
}

/// `unicode.IsPunct`
pub(crate) fn is_punct(c: char) -> bool {
    matches!(
        category(c),
        GeneralCategory::ConnectorPunctuation
            | GeneralCategory::DashPunctuation
            | GeneralCategory::OpenPunctuation
            | GeneralCategory::ClosePunctuation
            | GeneralCategory::InitialPunctuation
            | GeneralCategory::FinalPunctuation
            | GeneralCategory::OtherPunctuation
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_are_mapped_one_to_one() {
        for (c, upper, lower, title) in [
            ('a', 'A', 'a', 'A'),
            ('ß', 'ß', 'ß', 'ß'),
            ('ǆ', 'Ǆ', 'ǆ', 'ǅ'),
            ('İ', 'İ', 'i', 'İ'),
            ('ῳ', 'ῼ', 'ῳ', 'ῼ'),
            ('ა', 'Ა', 'ა', 'ა'),
            // Its upper case came with Unicode 16.
            ('\u{19B}', '\u{19B}', '\u{19B}', '\u{19B}'),
        ] {
            assert_eq!((to_upper(c), to_lower(c), to_title(c)), (upper, lower, title), "{c}");
        }
    }

    #[test]
    fn characters_after_unicode_15_are_none() {
        assert!(is_letter('é') && is_upper('É') && is_number('٣') && is_punct('、') && is_title('ǅ'));
        assert!(!is_letter('\u{10D50}') && !is_upper('\u{10D50}') && !is_number('\u{10D40}'));
    }
}
