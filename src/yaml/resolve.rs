//! What a plain scalar stands for, as go-yaml v2 decides: YAML 1.1 with gaps and additions of its own.

use super::{
    error::{Problem, Step},
    parser::Tag,
};

/// The value of a scalar.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Scalar<'t> {
    Null,
    Bool(bool),
    Int(i64),
    /// An integer that does not fit in an `int64`.
    Uint(u64),
    Float(f64),
    /// The scalar's own text.
    Str(&'t str),
}

/// The dialect of a go-yaml version, where it matters for what needs quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    /// What Helm reads and writes with.
    V2,
    /// What `toYamlPretty` writes with.
    V3,
}

/// The value of a scalar with a tag, or without one.
///
/// # Errors
/// When the tag asks for another type than the text has.
pub(super) fn resolve<'t>(tag: Tag, text: &'t str, line: u32) -> Step<Scalar<'t>> {
    if matches!(tag, Tag::NonSpecific | Tag::Binary | Tag::Merge | Tag::Other | Tag::Str) {
        return Ok(Scalar::Str(text));
    }
    let (found, value) = plain(text, Dialect::V2, matches!(tag, Tag::Absent | Tag::Timestamp));
    if tag == Tag::Absent || tag == found {
        return Ok(value);
    }
    if let (Tag::Float, Scalar::Int(value)) = (tag, value) {
        #[expect(clippy::cast_precision_loss, reason = "the conversion that Go does")]
        return Ok(Scalar::Float(value as f64));
    }
    Err(Problem::at(format!("cannot decode {} `{text}` as a {}", found.short(), tag.short()), line))
}

/// Whether a string must be quoted, lest it be read as something else. A string that is empty must be.
pub(super) fn is_plain_string(text: &str, dialect: Dialect) -> bool {
    let Some(first) = text.bytes().next() else {
        return false;
    };
    if !matches!(first, b'0'..=b'9' | b'+' | b'-' | b'.' | b'~')
        && !matches!(first | 0x20, b'y' | b'n' | b't' | b'f' | b'o')
    {
        return true;
    }
    plain(text, dialect, true).0 == Tag::Str
        && !is_base60(text)
        && !(dialect == Dialect::V3 && old_bool(text).is_some())
}

/// The booleans of YAML 1.1 that are not in 1.2.
fn old_bool(text: &str) -> Option<bool> {
    match text {
        "y" | "Y" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" => Some(true),
        "n" | "N" | "no" | "No" | "NO" | "off" | "Off" | "OFF" => Some(false),
        _ => None,
    }
}

/// The type and value of a plain scalar. Timestamps are looked for only if asked, and stay text.
fn plain(text: &str, dialect: Dialect, timestamps: bool) -> (Tag, Scalar<'_>) {
    let string = (Tag::Str, Scalar::Str(text));
    let Some(first) = text.bytes().next() else {
        return (Tag::Null, Scalar::Null);
    };
    match first {
        b'y' | b'Y' | b'n' | b'N' | b't' | b'T' | b'f' | b'F' | b'o' | b'O' | b'~' => match text {
            "~" | "null" | "Null" | "NULL" => (Tag::Null, Scalar::Null),
            "true" | "True" | "TRUE" => (Tag::Bool, Scalar::Bool(true)),
            "false" | "False" | "FALSE" => (Tag::Bool, Scalar::Bool(false)),
            _ => match old_bool(text) {
                Some(value) if dialect == Dialect::V2 => (Tag::Bool, Scalar::Bool(value)),
                _ => string,
            },
        },
        b'.' => match text {
            ".nan" | ".NaN" | ".NAN" => (Tag::Float, Scalar::Float(f64::NAN)),
            ".inf" | ".Inf" | ".INF" => (Tag::Float, Scalar::Float(f64::INFINITY)),
            _ => dotted_float(text).map_or(string, |value| (Tag::Float, Scalar::Float(value))),
        },
        b'+' | b'-' | b'0'..=b'9' => match text {
            "+.inf" | "+.Inf" | "+.INF" => (Tag::Float, Scalar::Float(f64::INFINITY)),
            "-.inf" | "-.Inf" | "-.INF" => (Tag::Float, Scalar::Float(f64::NEG_INFINITY)),
            _ if timestamps && is_timestamp(text) => (Tag::Timestamp, Scalar::Str(text)),
            _ => number(text, dialect).unwrap_or(string),
        },
        _ => string,
    }
}

fn number(text: &str, dialect: Dialect) -> Option<(Tag, Scalar<'static>)> {
    // Nothing else than these can be in a number; most strings end here.
    let numeric =
        |b: u8| b.is_ascii_hexdigit() || matches!(b, b'_' | b'.' | b'+' | b'-' | b'x' | b'X' | b'o' | b'O');
    if !text.bytes().all(numeric) {
        return None;
    }
    let without;
    let digits = if text.contains('_') {
        without = text.replace('_', "");
        &without
    } else {
        text
    };
    if let Some(value) = parse_int(digits, 0) {
        return Some((Tag::Int, Scalar::Int(value)));
    }
    if let Some(value) = parse_uint(digits, 0) {
        return Some((Tag::Int, Scalar::Uint(value)));
    }
    if is_float(digits)
        && let Some(value) = parse_float(digits)
    {
        return Some((Tag::Float, Scalar::Float(value)));
    }
    // Signs after the prefix: `0b-1` and the like.
    let prefixed = |letter: char, base: u32| {
        let int = if let Some(rest) = digits.strip_prefix('0').and_then(|rest| rest.strip_prefix(letter)) {
            parse_int(rest, base).map(Scalar::Int).or_else(|| parse_uint(rest, base).map(Scalar::Uint))
        } else {
            let rest = digits.strip_prefix("-0").and_then(|rest| rest.strip_prefix(letter))?;
            parse_int(&format!("-{rest}"), base).map(Scalar::Int)
        };
        int.map(|value| (Tag::Int, value))
    };
    prefixed('b', 2).or_else(|| if dialect == Dialect::V3 { prefixed('o', 8) } else { None })
}

/// `strconv.ParseInt`; base 0 takes the base from the prefix.
fn parse_int(text: &str, base: u32) -> Option<i64> {
    let (negative, digits) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let size = parse_uint(digits, base)?;
    if negative { 0i64.checked_sub_unsigned(size) } else { i64::try_from(size).ok() }
}

/// `strconv.ParseUint`, for a text without underscores.
fn parse_uint(text: &str, base: u32) -> Option<u64> {
    let (base, digits) = match (base, text.as_bytes()) {
        (0, [b'0', b'b' | b'B', _, ..]) => (2, &text[2..]),
        (0, [b'0', b'o' | b'O', _, ..]) => (8, &text[2..]),
        (0, [b'0', b'x' | b'X', _, ..]) => (16, &text[2..]),
        (0, [b'0']) => return Some(0),
        (0, [b'0', ..]) => (8, &text[1..]),
        (0, _) => (10, text),
        _ => (base, text),
    };
    if digits.starts_with('+') { None } else { u64::from_str_radix(digits, base).ok() }
}

/// `[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`
fn is_float(text: &str) -> bool {
    let rest = text.strip_prefix(['-', '+']).unwrap_or(text);
    let after_digits =
        |text: &'_ str| text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let whole = after_digits(rest);
    let mut rest = &rest[whole..];
    if let Some(fraction) = rest.strip_prefix('.') {
        let digits = after_digits(fraction);
        if whole == 0 && digits == 0 {
            return false;
        }
        rest = &fraction[digits..];
    } else if whole == 0 {
        return false;
    }
    let Some(exponent) = rest.strip_prefix(['e', 'E']) else {
        return rest.is_empty();
    };
    let exponent = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
    !exponent.is_empty() && exponent.bytes().all(|b| b.is_ascii_digit())
}

/// `strconv.ParseFloat` of a decimal number; too large a number is refused.
fn parse_float(text: &str) -> Option<f64> {
    text.parse().ok().filter(|value: &f64| value.is_finite())
}

/// `strconv.ParseFloat` of a text that begins with a point: underscores may separate digits here.
fn dotted_float(text: &str) -> Option<f64> {
    if !text.contains('_') {
        return if is_float(text) { parse_float(text) } else { None };
    }
    let mut last = b'^';
    for b in text.bytes() {
        match b {
            b'_' if !last.is_ascii_digit() => return None,
            b'_' | b'0'..=b'9' => {}
            _ if last == b'_' => return None,
            _ => {}
        }
        last = b;
    }
    let digits = text.replace('_', "");
    if last != b'_' && is_float(&digits) { parse_float(&digits) } else { None }
}

/// `[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?`: a number in base 60, which only other readers know.
fn is_base60(text: &str) -> bool {
    let rest = text.strip_prefix(['-', '+']).unwrap_or(text);
    if !rest.starts_with(|c: char| c.is_ascii_digit()) {
        return false;
    }
    let mut parts = rest.split(':');
    let whole = parts.next().unwrap_or_default();
    let counts = |b: u8| b.is_ascii_digit() || b == b'_';
    if !whole.bytes().all(counts) {
        return false;
    }
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else {
        return false;
    };
    let (last, fraction) = last.split_once('.').unwrap_or((last, ""));
    parts.push(last);
    let sixtieths = |part: &&str| match part.as_bytes() {
        [unit] => unit.is_ascii_digit(),
        [ten, unit] => (b'0'..=b'5').contains(ten) && unit.is_ascii_digit(),
        _ => false,
    };
    parts.iter().all(sixtieths) && fraction.bytes().all(counts)
}

/// Whether Go's `time.Parse` accepts a text in one of go-yaml's layouts.
fn is_timestamp(text: &str) -> bool {
    let [b'0'..=b'9', b'0'..=b'9', b'0'..=b'9', b'0'..=b'9', b'-', rest @ ..] = text.as_bytes() else {
        return false;
    };
    let year: u32 = text[..4].parse().unwrap_or(0);
    let Some((month, rest)) = one_or_two(rest) else {
        return false;
    };
    let [b'-', rest @ ..] = rest else {
        return false;
    };
    let Some((day, rest)) = one_or_two(rest) else {
        return false;
    };
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let days = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 => 28 + u32::from(leap),
        _ => return false,
    };
    if day == 0 || day > days {
        return false;
    }
    match rest {
        [] => true,
        [b'T' | b't', rest @ ..] => clock(rest).is_some_and(is_zone),
        [b' ', ..] => {
            let spaces = rest.iter().take_while(|b| **b == b' ').count();
            clock(&rest[spaces..]).is_some_and(<[u8]>::is_empty)
        }
        _ => false,
    }
}

fn one_or_two(text: &[u8]) -> Option<(u32, &[u8])> {
    match text {
        [a @ b'0'..=b'9', b @ b'0'..=b'9', rest @ ..] => {
            Some((u32::from(a - b'0') * 10 + u32::from(b - b'0'), rest))
        }
        [a @ b'0'..=b'9', rest @ ..] => Some((u32::from(a - b'0'), rest)),
        _ => None,
    }
}

/// Hours, minutes, seconds and perhaps a fraction; what follows them.
fn clock(text: &[u8]) -> Option<&[u8]> {
    let (hour, rest) = one_or_two(text)?;
    let [b':', rest @ ..] = rest else { return None };
    let (minute, rest) = one_or_two(rest)?;
    let [b':', rest @ ..] = rest else { return None };
    let (second, rest) = one_or_two(rest)?;
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    Some(match rest {
        [b'.' | b',', b'0'..=b'9', ..] => {
            let digits = rest[1..].iter().take_while(|b| b.is_ascii_digit()).count();
            &rest[1 + digits..]
        }
        _ => rest,
    })
}

fn is_zone(text: &[u8]) -> bool {
    match text {
        [b'Z'] => true,
        [b'+' | b'-', hour @ .., b':', m1, m2] if hour.len() == 2 => {
            let two = |text: &[u8]| match one_or_two(text) {
                Some((number, [])) if text.len() == 2 => Some(number),
                _ => None,
            };
            two(hour).is_some_and(|hour| hour <= 24) && two(&[*m1, *m2]).is_some_and(|minute| minute <= 60)
        }
        _ => false,
    }
}
