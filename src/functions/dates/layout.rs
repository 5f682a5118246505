//! Go's layouts of times: what stands for what in `Mon Jan 2 15:04:05 MST 2006`.

/// One element of a layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Element {
    /// `January`
    LongMonth,
    /// `Jan`
    Month,
    /// `1`
    NumMonth,
    /// `01`
    ZeroMonth,
    /// `Monday`
    LongWeekday,
    /// `Mon`
    Weekday,
    /// `2`
    Day,
    /// `_2`
    UnderDay,
    /// `02`
    ZeroDay,
    /// `__2`
    UnderYearDay,
    /// `002`
    ZeroYearDay,
    /// `15`
    Hour,
    /// `3`
    Hour12,
    /// `03`
    ZeroHour12,
    /// `4`
    Minute,
    /// `04`
    ZeroMinute,
    /// `5`
    Second,
    /// `05`
    ZeroSecond,
    /// `2006`
    LongYear,
    /// `06`
    Year,
    /// `PM`
    UpperPm,
    /// `pm`
    LowerPm,
    /// `MST`
    Abbreviation,
    /// `-0700`, `Z07:00` and kin
    Offset(Offset),
    /// `.000`, `,999` and kin
    Fraction {
        /// `.` or `,`
        separator: u8,
        /// The number of digits.
        digits: usize,
        /// Whether zeros at the end are left out: `.999`.
        trim: bool,
    },
}

/// The form of a numeric zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Offset {
    /// Whether UTC is `Z`.
    pub(super) z: bool,
    /// Whether colons stand between the parts.
    pub(super) colon: bool,
    /// 1 for hours only, 2 with minutes, 3 with seconds.
    pub(super) parts: usize,
}

impl Offset {
    /// The length of the text, sign included.
    pub(super) const fn width(self) -> usize {
        1 + 2 * self.parts + if self.colon { self.parts - 1 } else { 0 }
    }
}

/// The first element of a layout: the literal text before it, the element with its text, and the layout after it.
pub(super) struct Next<'l> {
    pub(super) prefix: &'l str,
    pub(super) element: Option<(Element, &'l str)>,
    pub(super) rest: &'l str,
}

pub(super) fn next(layout: &str) -> Next<'_> {
    let bytes = layout.as_bytes();
    for (at, byte) in bytes.iter().enumerate() {
        // All that elements begin with is ASCII.
        if !matches!(byte, b'J' | b'M' | b'0'..=b'5' | b'_' | b'P' | b'p' | b'-' | b'Z' | b'.' | b',') {
            continue;
        }
        if let Some((skip, length, element)) = element(&layout[at..]) {
            let (prefix, tail) = layout.split_at(at + skip);
            let (text, rest) = tail.split_at(length);
            return Next { prefix, element: Some((element, text)), rest };
        }
    }
    Next { prefix: layout, element: None, rest: "" }
}

/// The element that a text starts with: how many bytes before it are literal, its length, and what it is.
fn element(text: &str) -> Option<(usize, usize, Element)> {
    let starts = |prefix: &str| text.starts_with(prefix);
    // "Month" is no "Mon".
    let word =
        |prefix: &str| starts(prefix) && !text[prefix.len()..].starts_with(|c: char| c.is_ascii_lowercase());
    let found = |element, length| Some((0, length, element));
    match text.as_bytes()[0] {
        b'J' if starts("January") => found(Element::LongMonth, 7),
        b'J' if word("Jan") => found(Element::Month, 3),
        b'M' if starts("Monday") => found(Element::LongWeekday, 6),
        b'M' if word("Mon") => found(Element::Weekday, 3),
        b'M' if starts("MST") => found(Element::Abbreviation, 3),
        b'0' => match text.as_bytes().get(1) {
            Some(b'1') => found(Element::ZeroMonth, 2),
            Some(b'2') => found(Element::ZeroDay, 2),
            Some(b'3') => found(Element::ZeroHour12, 2),
            Some(b'4') => found(Element::ZeroMinute, 2),
            Some(b'5') => found(Element::ZeroSecond, 2),
            Some(b'6') => found(Element::Year, 2),
            _ if starts("002") => found(Element::ZeroYearDay, 3),
            _ => None,
        },
        b'1' if starts("15") => found(Element::Hour, 2),
        b'1' => found(Element::NumMonth, 1),
        b'2' if starts("2006") => found(Element::LongYear, 4),
        b'2' => found(Element::Day, 1),
        // The underscore of _2006 is literal.
        b'_' if starts("_2006") => Some((1, 4, Element::LongYear)),
        b'_' if starts("_2") => found(Element::UnderDay, 2),
        b'_' if starts("__2") => found(Element::UnderYearDay, 3),
        b'3' => found(Element::Hour12, 1),
        b'4' => found(Element::Minute, 1),
        b'5' => found(Element::Second, 1),
        b'P' if starts("PM") => found(Element::UpperPm, 2),
        b'p' if starts("pm") => found(Element::LowerPm, 2),
        b'-' => offset(&text[1..]).map(|(colon, parts)| offset_element(false, colon, parts)),
        b'Z' => offset(&text[1..]).map(|(colon, parts)| offset_element(true, colon, parts)),
        separator @ (b'.' | b',') => fraction(text, separator),
        _ => None,
    }
}

fn offset_element(z: bool, colon: bool, parts: usize) -> (usize, usize, Element) {
    let offset = Offset { z, colon, parts };
    (0, offset.width(), Element::Offset(offset))
}

/// The form of what follows the sign: whether with colons, and of how many parts.
fn offset(text: &str) -> Option<(bool, usize)> {
    if text.starts_with("070000") {
        Some((false, 3))
    } else if text.starts_with("07:00:00") {
        Some((true, 3))
    } else if text.starts_with("0700") {
        Some((false, 2))
    } else if text.starts_with("07:00") {
        Some((true, 2))
    } else if text.starts_with("07") {
        Some((false, 1))
    } else {
        None
    }
}

/// A fraction is all zeros or all nines, and no other digit follows.
fn fraction(text: &str, separator: u8) -> Option<(usize, usize, Element)> {
    let bytes = text.as_bytes();
    let digit = *bytes.get(1).filter(|digit| matches!(digit, b'0' | b'9'))?;
    let digits = bytes[1..].iter().take_while(|byte| **byte == digit).count();
    if bytes.get(1 + digits).is_some_and(u8::is_ascii_digit) {
        return None;
    }
    Some((0, 1 + digits, Element::Fraction { separator, digits, trim: digit == b'9' }))
}
