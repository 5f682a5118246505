//! Numbers out of anything, as spf13/cast and Go's strconv read them. What cannot be read is zero, as in sprig.

use tera::{Value, value::ValueKind};

use crate::value::typed::{self, Type};

/// `cast.ToInt64`, which on 64-bit machines is also `cast.ToInt`.
pub(crate) fn to_int64(value: &Value) -> i64 {
    match value.kind() {
        ValueKind::I64 => value.as_i64().unwrap_or_default(),
        ValueKind::Bool => i64::from(value.as_bool() == Some(true)),
        ValueKind::F64 => float_to_int(value.as_f64().unwrap_or_default()),
        ValueKind::String => parse_int(trim_zero_decimal(value.as_str().unwrap_or_default()), 0).unwrap_or(0),
        // The numbers of uint64 beyond int64 wrap.
        ValueKind::U64 | ValueKind::U128 | ValueKind::I128 => value.as_i128().map_or(0, wrap),
        ValueKind::Map => match Type::of(value) {
            Some(Type::Month | Type::Weekday) => typed::number(value).unwrap_or_default(),
            _ => 0,
        },
        _ => 0,
    }
}

const fn wrap(n: i128) -> i64 {
    n as i64
}

/// Go's conversion of a float to an int64 on amd64: toward zero, and the least int64 for what does not fit.
pub(crate) fn float_to_int(f: f64) -> i64 {
    if (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&f) { f as i64 } else { i64::MIN }
}

/// `cast.ToFloat64`
pub(crate) fn to_float64(value: &Value) -> f64 {
    match value.kind() {
        ValueKind::F64 => value.as_f64().unwrap_or_default(),
        ValueKind::Bool => f64::from(u8::from(value.as_bool() == Some(true))),
        ValueKind::String => parse_float(value.as_str().unwrap_or_default()).unwrap_or(0.0),
        ValueKind::I64 | ValueKind::U64 | ValueKind::U128 | ValueKind::I128 => {
            value.as_i128().map_or(0.0, |n| n as f64)
        }
        ValueKind::Map => match Type::of(value) {
            Some(Type::Month | Type::Weekday) => typed::number(value).unwrap_or_default() as f64,
            _ => 0.0,
        },
        _ => 0.0,
    }
}

/// `2.0` as `2`: cast takes off a point that only zeros follow.
fn trim_zero_decimal(text: &str) -> &str {
    let trimmed = text.trim_end_matches('0');
    match trimmed.strip_suffix('.') {
        Some(whole) if trimmed.len() < text.len() => whole,
        _ => text,
    }
}

/// `strconv.ParseInt`: base 0 reads Go's prefixes and underscores.
pub(crate) fn parse_int(text: &str, base: u32) -> Option<i64> {
    let (negative, digits) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let magnitude = parse_uint(digits, base)?;
    let signed = if negative { -i128::from(magnitude) } else { i128::from(magnitude) };
    i64::try_from(signed).ok()
}

/// `strconv.ParseInt` in decimal, whose answer beside an error is the nearest number, or zero for what is none. It
/// leaves off at the digit that goes beyond 64 bits, and does not see what follows.
pub(crate) fn parse_int_clamped(text: &str) -> i64 {
    let negative = text.starts_with('-');
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() {
        return 0;
    }
    let nearest = if negative { i64::MIN } else { i64::MAX };
    let mut magnitude = 0_u64;
    for byte in digits.bytes() {
        if !byte.is_ascii_digit() {
            return 0;
        }
        match magnitude.checked_mul(10).and_then(|n| n.checked_add(u64::from(byte - b'0'))) {
            Some(next) => magnitude = next,
            None => return nearest,
        }
    }
    let signed = if negative { -i128::from(magnitude) } else { i128::from(magnitude) };
    i64::try_from(signed).unwrap_or(nearest)
}

fn parse_uint(digits: &str, base: u32) -> Option<u64> {
    if base != 0 {
        let plain = !digits.starts_with('+') && !digits.is_empty();
        return if plain { u64::from_str_radix(digits, base).ok() } else { None };
    }
    let (radix, body) = match digits.as_bytes() {
        [b'0', b'x' | b'X', _, ..] => (16, &digits[2..]),
        [b'0', b'b' | b'B', _, ..] => (2, &digits[2..]),
        [b'0', b'o' | b'O', _, ..] => (8, &digits[2..]),
        [b'0', _, ..] => (8, &digits[1..]),
        _ => (10, digits),
    };
    if body.contains('_') {
        if !underscores_ok(digits) {
            return None;
        }
        return parse_uint(&body.replace('_', ""), radix);
    }
    parse_uint(body, radix)
}

/// Whether underscores stand only between digits, the prefix of a base counting as a digit.
fn underscores_ok(digits: &str) -> bool {
    let bytes = digits.as_bytes();
    let (start, hex) = match bytes {
        [b'0', b'x' | b'X', ..] => (2, true),
        [b'0', b'b' | b'B' | b'o' | b'O', ..] => (2, false),
        _ => (0, false),
    };
    let mut before_is_digit = start == 2;
    let mut before_is_underscore = false;
    for &byte in &bytes[start..] {
        let digit = byte.is_ascii_digit() || hex && byte.is_ascii_hexdigit();
        if byte == b'_' && !before_is_digit || before_is_underscore && !digit {
            return false;
        }
        before_is_digit = digit;
        before_is_underscore = byte == b'_';
    }
    !before_is_underscore
}

/// `strconv.ParseFloat`; none where Go has an error, a number out of range included.
pub(crate) fn parse_float(text: &str) -> Option<f64> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let sign = if text.starts_with('-') { -1.0 } else { 1.0 };
    if unsigned.eq_ignore_ascii_case("inf") || unsigned.eq_ignore_ascii_case("infinity") {
        return Some(sign * f64::INFINITY);
    }
    if text.eq_ignore_ascii_case("nan") {
        return Some(f64::NAN);
    }
    if unsigned.contains('_') {
        return if underscores_ok(unsigned) { parse_float(&text.replace('_', "")) } else { None };
    }
    let number = if unsigned.starts_with("0x") || unsigned.starts_with("0X") {
        sign * parse_hex_float(&unsigned[2..])?
    } else {
        // What Rust reads beyond Go's syntax are the words, which are dealt with.
        if !unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
            return None;
        }
        sign * unsigned.parse::<f64>().ok()?
    };
    number.is_finite().then_some(number)
}

/// The digits and the exponent, which must be there, of a hexadecimal float.
fn parse_hex_float(text: &str) -> Option<f64> {
    let (digits, exponent) = text.split_once(['p', 'P'])?;
    let exponent = exponent.strip_prefix('+').filter(|e| !e.starts_with('-')).unwrap_or(exponent);
    let exponent: i32 = exponent.parse::<i64>().ok()?.clamp(-10_000, 10_000).try_into().ok()?;
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let mut mantissa = 0.0_f64;
    for digit in whole.chars().chain(fraction.chars()) {
        mantissa = mantissa.mul_add(16.0, f64::from(digit.to_digit(16)?));
    }
    let places = i32::try_from(fraction.len()).ok()?.checked_mul(4)?;
    // In two steps, since two to the whole exponent may leave the range that the result is in.
    let power = exponent.checked_sub(places)?;
    Some(mantissa * 2_f64.powi(power / 2) * 2_f64.powi(power - power / 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_read_as_cast_reads_them() {
        for (text, number) in [
            ("12", 12),
            ("-12", -12),
            ("+12", 12),
            ("0x1F", 31),
            ("0b11", 3),
            ("017", 15),
            ("0o17", 15),
            ("08", 0),
            ("1_000", 1000),
            ("1__0", 0),
            ("0x_1", 1),
            ("_1", 0),
            ("1.0", 1),
            ("1.00", 1),
            ("1.", 0),
            ("1.5", 0),
            ("0", 0),
            ("0.0", 0),
            (".0", 0),
            ("9223372036854775808", 0),
            ("-9223372036854775808", i64::MIN),
            ("", 0),
            ("0x", 0),
            ("++1", 0),
            (" 1", 0),
        ] {
            assert_eq!(to_int64(&Value::from(text)), number, "{text}");
        }
        assert_eq!(to_int64(&Value::from(f64::NAN)), i64::MIN);
        assert_eq!(to_int64(&Value::from(1e19)), i64::MIN);
        assert_eq!(to_int64(&Value::from(-1.9)), -1);
        assert_eq!(to_int64(&Value::from(u64::MAX)), -1);
        assert_eq!(to_int64(&Value::from(true)), 1);
    }

    #[test]
    fn floats_are_read_as_strconv_reads_them() {
        for (text, number) in [
            ("1.5", Some(1.5)),
            ("1e3", Some(1000.0)),
            (".5", Some(0.5)),
            ("5.", Some(5.0)),
            ("0x1p-2", Some(0.25)),
            ("0x1.8p1", Some(3.0)),
            ("0x1", None),
            ("1e400", None),
            ("inf", Some(f64::INFINITY)),
            ("-Infinity", Some(f64::NEG_INFINITY)),
            ("infinit", None),
            ("1_000.5", Some(1000.5)),
            ("1_.5", None),
            ("", None),
            ("e5", None),
            (" 1", None),
        ] {
            assert_eq!(parse_float(text), number, "{text}");
        }
        assert!(parse_float("NaN").is_some_and(f64::is_nan));
        assert_eq!(parse_float("-nan"), None);
    }
}
