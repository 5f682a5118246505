//! Numeric constants: the kinds of number that a literal can be, by Go's rules for ideal constants.

use crate::value::quote::{Unit, quote, unquote_unit};

/// What a literal stands for, under every kind that can represent it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Constant {
    pub int: Option<i64>,
    pub uint: Option<u64>,
    pub float: Option<f64>,
    pub complex: Option<(f64, f64)>,
}

/// A character constant with its quotes.
pub(super) fn character(literal: &[u8]) -> Result<Constant, String> {
    let (unit, rest) = unquote_unit(&literal[1..], b'\'').ok_or("invalid syntax")?;
    if rest != b"'" {
        return Err(format!("malformed character constant: {}", String::from_utf8_lossy(literal)));
    }
    let code = match unit {
        Unit::Byte(byte) => u32::from(byte),
        Unit::Char(c) => u32::from(c),
    };
    Ok(Constant {
        int: Some(i64::from(code)),
        uint: Some(u64::from(code)),
        float: Some(f64::from(code)),
        complex: None,
    })
}

/// A complex constant, `1+2i`.
pub(super) fn complex(literal: &str) -> Result<Constant, String> {
    const SYNTAX: &str = "syntax error scanning complex number";
    // Go lets fmt.Sscan read it, whose tokens differ from the lexer's in odd cases (`1+i`, `0b1+1i`).
    let mut rest = literal;
    let real = scan_float_token(&mut rest);
    if !rest.starts_with(['+', '-']) {
        return Err(SYNTAX.to_owned());
    }
    let sign = &rest[..1];
    rest = &rest[1..];
    let imaginary = format!("{sign}{}", scan_float_token(&mut rest));
    if !rest.starts_with('i') {
        return Err(SYNTAX.to_owned());
    }
    let part = |text: &str| {
        parse_float(text).map_err(|error| {
            let reason = match error {
                FloatError::Syntax => "invalid syntax",
                FloatError::Range => "value out of range",
            };
            format!("strconv.ParseFloat: parsing {}: {reason}", quote(text.as_bytes()))
        })
    };
    Ok(simplified(part(real)?, part(&imaginary)?))
}

/// Any other number.
pub(super) fn number(literal: &str) -> Result<Constant, String> {
    if let Some(digits) = literal.strip_suffix('i')
        && let Ok(imaginary) = parse_float(digits)
    {
        return Ok(simplified(0.0, imaginary));
    }
    let mut constant = Constant { uint: parse_uint(literal), int: parse_int(literal), ..Constant::default() };
    if constant.int == Some(0) {
        // -0 and +0 are unsigned too.
        constant.uint = Some(0);
    }
    if let Some(int) = constant.int {
        constant.float = Some(int as f64);
    } else if let Some(uint) = constant.uint {
        constant.float = Some(uint as f64);
    } else if let Ok(float) = parse_float(literal) {
        if !literal.contains(['.', 'e', 'E', 'p', 'P']) {
            return Err(format!("integer overflow: {}", quote(literal.as_bytes())));
        }
        constant.float = Some(float);
        constant.int = exact_int(float);
        constant.uint = exact_uint(float);
    } else {
        return Err(format!("illegal number syntax: {}", quote(literal.as_bytes())));
    }
    Ok(constant)
}

/// A complex number, and what else it is when its imaginary part is zero.
fn simplified(real: f64, imaginary: f64) -> Constant {
    let mut constant = Constant { complex: Some((real, imaginary)), ..Constant::default() };
    if imaginary == 0.0 {
        constant.float = Some(real);
        constant.int = exact_int(real);
        constant.uint = exact_uint(real);
    }
    constant
}

/// The integer that a float is, if it is one and fits.
fn exact_int(float: f64) -> Option<i64> {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    ((-LIMIT..LIMIT).contains(&float) && float.trunc() == float).then_some(float as i64)
}

/// The unsigned integer that a float is, if it is one and fits.
fn exact_uint(float: f64) -> Option<u64> {
    const LIMIT: f64 = 18_446_744_073_709_551_616.0;
    ((0.0..LIMIT).contains(&float) && float.trunc() == float).then_some(float as u64)
}

/// `strconv.ParseUint` with base 0.
fn parse_uint(text: &str) -> Option<u64> {
    let bytes = text.as_bytes();
    let (base, digits) = match bytes {
        [b'0', b'b' | b'B', _, ..] => (2, &bytes[2..]),
        [b'0', b'o' | b'O', _, ..] => (8, &bytes[2..]),
        [b'0', b'x' | b'X', _, ..] => (16, &bytes[2..]),
        [b'0', ..] => (8, &bytes[1..]),
        [] => return None,
        _ => (10, bytes),
    };
    let mut value: u64 = 0;
    for digit in digits {
        if *digit == b'_' {
            continue;
        }
        let digit = char::from(*digit).to_digit(base)?;
        value = value.checked_mul(u64::from(base))?.checked_add(u64::from(digit))?;
    }
    underscores_fit(text).then_some(value)
}

/// `strconv.ParseInt` with base 0.
fn parse_int(text: &str) -> Option<i64> {
    if let Some(digits) = text.strip_prefix('-') {
        return 0_i64.checked_sub_unsigned(parse_uint(digits)?);
    }
    i64::try_from(parse_uint(text.strip_prefix('+').unwrap_or(text))?).ok()
}

/// Whether each underscore stands between digits, or after the prefix of a base.
fn underscores_fit(text: &str) -> bool {
    if !text.contains('_') {
        return true;
    }
    let text = text.strip_prefix(['+', '-']).unwrap_or(text).as_bytes();
    let prefix = matches!(text, [b'0', b'b' | b'B' | b'o' | b'O' | b'x' | b'X', ..]);
    let hex = prefix && text[1].eq_ignore_ascii_case(&b'x');
    let is_digit = |byte: u8| byte.is_ascii_digit() || (hex && byte.is_ascii_hexdigit());
    let mut after_digit = prefix;
    let mut after_underscore = false;
    for &byte in &text[if prefix { 2 } else { 0 }..] {
        if byte == b'_' {
            if !after_digit {
                return false;
            }
            (after_digit, after_underscore) = (false, true);
        } else if is_digit(byte) {
            (after_digit, after_underscore) = (true, false);
        } else if after_underscore {
            return false;
        } else {
            after_digit = false;
        }
    }
    !after_underscore
}

enum FloatError {
    Syntax,
    Range,
}

/// `strconv.ParseFloat`, of what a lexer lets through (no infinities, no NaN).
fn parse_float(text: &str) -> Result<f64, FloatError> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let negative = text.starts_with('-');
    let hex = unsigned.len() > 2 && unsigned.as_bytes()[..2].eq_ignore_ascii_case(b"0x");
    let body = if hex { &unsigned[2..] } else { unsigned };
    let (mantissa, exponent) = match body.find(if hex { ['p', 'P'] } else { ['e', 'E'] }) {
        Some(at) => (&body[..at], Some(&body[at + 1..])),
        None => (body, None),
    };
    let is_digit = |c: char| c.is_digit(if hex { 16 } else { 10 });
    let dots = mantissa.matches('.').count();
    let well_formed = dots <= 1
        && mantissa.contains(is_digit)
        && mantissa.chars().all(|c| c == '.' || c == '_' || is_digit(c))
        && match exponent {
            // Only hexadecimal numbers need an exponent.
            None => !hex,
            Some(exponent) => {
                let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
                digits.starts_with(|c: char| c.is_ascii_digit())
                    && digits.chars().all(|c| c == '_' || c.is_ascii_digit())
            }
        };
    if !well_formed || !underscores_fit(text) {
        return Err(FloatError::Syntax);
    }
    let value = if hex {
        hex_float(mantissa, exponent.unwrap_or_default())
    } else {
        let plain: String = unsigned.chars().filter(|c| *c != '_').collect();
        plain.parse::<f64>().map_err(|_| FloatError::Syntax)?
    };
    if value.is_infinite() {
        return Err(FloatError::Range);
    }
    Ok(if negative { -value } else { value })
}

/// A hexadecimal float from its well-formed parts, rounded to even; infinite when too large.
fn hex_float(mantissa: &str, exponent: &str) -> f64 {
    let mut bits: u64 = 0;
    // Whether digits beyond those that fit were not all zero.
    let mut sticky = false;
    let mut scale: i64 = 0;
    let mut fraction = false;
    for c in mantissa.chars() {
        if c == '.' {
            fraction = true;
        }
        let Some(digit) = c.to_digit(16) else { continue };
        if bits >> 60 == 0 {
            bits = bits << 4 | u64::from(digit);
            scale -= if fraction { 4 } else { 0 };
        } else {
            sticky |= digit != 0;
            scale += if fraction { 0 } else { 4 };
        }
    }
    if bits == 0 {
        return 0.0;
    }
    let digits = exponent.trim_start_matches(['+', '-']).bytes().filter(u8::is_ascii_digit);
    let size = digits.fold(0_i64, |size, digit| (size * 10 + i64::from(digit - b'0')).min(100_000));
    let scale = scale.saturating_add(if exponent.starts_with('-') { -size } else { size });

    // The value is bits * 2^scale, its highest bit 2^top; 2^low is the lowest bit that a float keeps of it.
    let top = scale + 63 - i64::from(bits.leading_zeros());
    if top > 1023 {
        return f64::INFINITY;
    }
    let low = (top - 52).max(-1074);
    let drop = low - scale;
    let kept = if drop <= 0 {
        bits << -drop
    } else if drop > 64 {
        0
    } else {
        let kept = if drop == 64 { 0 } else { bits >> drop };
        let half = bits >> (drop - 1) & 1 == 1;
        let below = sticky || bits & ((1 << (drop - 1)) - 1) != 0;
        kept + u64::from(half && (below || kept & 1 == 1))
    };
    let unit = if low >= -1022 {
        f64::from_bits(((low + 1023) as u64) << 52)
    } else {
        f64::from_bits(1 << (low + 1074))
    };
    kept as f64 * unit
}

/// Takes what `fmt.Sscan` takes for a float from the front of a text.
fn scan_float_token<'t>(rest: &mut &'t str) -> &'t str {
    let text = *rest;
    let bytes = text.as_bytes();
    let mut end = 0;
    let accept = |end: &mut usize, set: &[u8]| {
        let accepted = bytes.get(*end).is_some_and(|byte| set.contains(byte));
        *end += usize::from(accepted);
        accepted
    };
    accept(&mut end, b"+-");
    // It tries "Inf" and keeps an "i" that it has taken.
    accept(&mut end, b"iI");
    let mut digits: &[u8] = b"0123456789_";
    let mut exponent: &[u8] = b"eEpP";
    if accept(&mut end, b"0") && accept(&mut end, b"xX") {
        digits = b"0123456789aAbBcCdDeEfF_";
        exponent = b"pP";
    }
    while accept(&mut end, digits) {}
    if accept(&mut end, b".") {
        while accept(&mut end, digits) {}
    }
    if accept(&mut end, exponent) {
        accept(&mut end, b"+-");
        while accept(&mut end, b"0123456789_") {}
    }
    *rest = &text[end..];
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ints(literal: &str) -> (Option<i64>, Option<u64>, Option<f64>) {
        let constant = number(literal).unwrap();
        (constant.int, constant.uint, constant.float)
    }

    #[test]
    fn integers_of_every_base() {
        for (literal, value) in [
            ("0", 0),
            ("17", 17),
            ("017", 15),
            ("0o17", 15),
            ("0b1_01", 5),
            ("0x_1F", 31),
            ("1_000", 1000),
            ("+5", 5),
        ] {
            assert_eq!(number(literal).unwrap().int, Some(value), "{literal}");
        }
        assert_eq!(ints("-1"), (Some(-1), None, Some(-1.0)));
        assert_eq!(ints("-0"), (Some(0), Some(0), Some(0.0)));
        assert_eq!(ints("18446744073709551615"), (None, Some(u64::MAX), Some(u64::MAX as f64)));
        assert_eq!(ints("-9223372036854775808"), (Some(i64::MIN), None, Some(i64::MIN as f64)));
    }

    #[test]
    fn floats_that_are_integers() {
        assert_eq!(ints("1e3"), (Some(1000), Some(1000), Some(1000.0)));
        assert_eq!(ints("1e19"), (None, Some(10_000_000_000_000_000_000), Some(1e19)));
        assert_eq!(ints("9.223372036854775808e18").0, None);
        assert_eq!(ints("-1.5"), (None, None, Some(-1.5)));
        assert_eq!(ints("0x1p4"), (Some(16), Some(16), Some(16.0)));
    }

    #[test]
    fn hexadecimal_floats_are_rounded_to_even() {
        for (literal, value) in [
            ("0x1.8p1", 3.0),
            ("0x.8p0", 0.5),
            ("0x1p-1074", f64::from_bits(1)),
            ("0x1p-1075", 0.0),
            ("0x1.8p-1075", f64::from_bits(1)),
            ("0x1.fffffffffffff8p0", 2.0),
            ("0x1.00000000000008p0", 1.0),
            ("0x1.00000000000008000001p0", 1.0 + f64::EPSILON),
            ("0x1.fffffffffffffp1023", f64::MAX),
        ] {
            assert_eq!(number(literal).unwrap().float, Some(value), "{literal}");
        }
        assert!(number("0x1p1024").is_err());
        assert!(number("0x1.fffffffffffff8p1023").is_err());
    }

    #[test]
    fn errors_have_the_words_of_go() {
        for (literal, error) in [
            ("089", "integer overflow: \"089\""),
            ("18446744073709551616", "integer overflow: \"18446744073709551616\""),
            ("1__0", "illegal number syntax: \"1__0\""),
            ("1e999", "illegal number syntax: \"1e999\""),
            (".", "illegal number syntax: \".\""),
            ("0x1i", "illegal number syntax: \"0x1i\""),
        ] {
            assert_eq!(number(literal).unwrap_err(), error);
        }
    }

    #[test]
    fn complex_numbers() {
        assert_eq!(complex("1+2i").unwrap().complex, Some((1.0, 2.0)));
        assert_eq!(complex("1-0i").unwrap().int, Some(1));
        assert_eq!(number("0i").unwrap().int, Some(0));
        assert_eq!(number("2i").unwrap(), Constant { complex: Some((0.0, 2.0)), ..Constant::default() });
        assert_eq!(complex("1+i").unwrap_err(), "syntax error scanning complex number");
    }

    #[test]
    fn characters() {
        assert_eq!(character("'é'".as_bytes()).unwrap().int, Some(0xe9));
        assert_eq!(character(br"'\xff'").unwrap().int, Some(255));
        assert_eq!(character(b"'ab'").unwrap_err(), "malformed character constant: 'ab'");
        assert_eq!(character(b"''").unwrap_err(), "invalid syntax");
    }
}
