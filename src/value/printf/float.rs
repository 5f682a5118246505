//! `strconv.FormatFloat` for all the verbs of fmt.

use std::fmt::Write as _;

use crate::yaml::number::{Form, write_float, write_float_precision};

/// Writes a float64 by one of the verbs `e E f g G b x X`; a negative precision asks for the fewest digits.
pub(super) fn write(out: &mut String, number: f64, verb: u8, precision: i32) {
    if !number.is_finite() {
        return write_float(out, number, Form::General);
    }
    let form = match verb {
        b'e' | b'E' => Form::Exponent,
        b'f' => Form::Decimal,
        b'b' => return write_binary(out, number),
        b'x' | b'X' => return write_hexadecimal(out, number, verb, precision),
        _ => Form::General,
    };
    let start = out.len();
    match usize::try_from(precision) {
        Ok(precision) => write_float_precision(out, number, form, precision),
        Err(_) => write_float(out, number, form),
    }
    if verb.is_ascii_uppercase()
        && let Some(at) = out[start..].rfind('e')
    {
        out.replace_range(start + at..=start + at, "E");
    }
}

const MANTISSA_BITS: u32 = 52;

/// Mantissa and binary exponent, the hidden bit made explicit.
fn parts(number: f64) -> (u64, i64) {
    let bits = number.to_bits();
    let mantissa = bits & ((1 << MANTISSA_BITS) - 1);
    let exponent = i64::try_from((bits >> MANTISSA_BITS) & 0x7ff).unwrap_or(0);
    if exponent == 0 { (mantissa, -1022) } else { (mantissa | 1 << MANTISSA_BITS, exponent - 1023) }
}

fn sign(out: &mut String, number: f64) {
    if number.is_sign_negative() {
        out.push('-');
    }
}

/// `-ddddp±ddd`: mantissa and exponent in decimal.
fn write_binary(out: &mut String, number: f64) {
    let (mantissa, exponent) = parts(number);
    sign(out, number);
    // Writing to a string does not fail.
    let _ = write!(out, "{mantissa}p{:+}", exponent - i64::from(MANTISSA_BITS));
}

/// `-0x1.yyyp±dd`: a hexadecimal mantissa, a binary exponent in decimal.
fn write_hexadecimal(out: &mut String, number: f64, verb: u8, precision: i32) {
    let (mut mantissa, mut exponent) = parts(number);
    if mantissa == 0 {
        exponent = 0;
    }
    // The leading one goes to bit 60, so that a carry out of it can be seen.
    mantissa <<= 60 - MANTISSA_BITS;
    while mantissa != 0 && mantissa & (1 << 60) == 0 {
        mantissa <<= 1;
        exponent -= 1;
    }
    if (0..15).contains(&precision) {
        let shift = precision.unsigned_abs() * 4;
        let extra = (mantissa << shift) & ((1 << 60) - 1);
        mantissa >>= 60 - shift;
        // Half rounds to even.
        if extra | (mantissa & 1) > 1 << 59 {
            mantissa += 1;
        }
        mantissa <<= 60 - shift;
        if mantissa & (1 << 61) != 0 {
            mantissa >>= 1;
            exponent += 1;
        }
    }
    let upper = verb == b'X';
    let digit = |mantissa: u64| {
        let digit = u32::try_from(mantissa >> 60 & 15).ok().and_then(|digit| char::from_digit(digit, 16));
        digit.map_or('0', |digit| if upper { digit.to_ascii_uppercase() } else { digit })
    };
    sign(out, number);
    out.push_str(if upper { "0X" } else { "0x" });
    out.push(if mantissa & (1 << 60) == 0 { '0' } else { '1' });
    mantissa <<= 4;
    if precision < 0 && mantissa != 0 {
        out.push('.');
        while mantissa != 0 {
            out.push(digit(mantissa));
            mantissa <<= 4;
        }
    } else if precision > 0 {
        out.push('.');
        for _ in 0..precision {
            out.push(digit(mantissa));
            mantissa <<= 4;
        }
    }
    out.push(if upper { 'P' } else { 'p' });
    // Writing to a string does not fail.
    let _ = write!(out, "{exponent:+03}");
}

#[cfg(test)]
mod tests {
    #[test]
    fn binary_forms_are_those_of_go() {
        for (number, verb, precision, expected) in [
            (1.0, b'b', -1, "4503599627370496p-52"),
            (-0.0, b'b', -1, "-0p-1074"),
            (1.0, b'x', -1, "0x1p+00"),
            (0.0, b'x', 2, "0x0.00p+00"),
            (3.75, b'X', 1, "0X1.EP+01"),
            (1.999, b'x', 0, "0x1p+01"),
            (1e-310, b'x', -1, "0x1.2688b70e62bp-1030"),
            (1e6, b'G', -1, "1E+06"),
            (1e6, b'E', 2, "1.00E+06"),
        ] {
            let mut out = String::new();
            super::write(&mut out, number, verb, precision);
            assert_eq!(out, expected, "{number} %{} {precision}", char::from(verb));
        }
    }
}
