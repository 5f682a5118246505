//! Numbers as Go's strconv and encoding/json write them.
//!
//! YAML printing, `toJson`, `printf` and the plain printing of values all rest on these forms: `1e+06` for a float64 in
//! text, `1000000` in JSON, exponents of at least two digits, the shortest digits that read back to the same number.

use std::fmt::Write as _;

/// Which of `strconv.FormatFloat`'s forms to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// `'e'`: one digit, a fraction, an exponent of at least two digits (`1.5e+06`).
    Exponent,
    /// `'f'`: no exponent (`1500000`).
    Decimal,
    /// `'g'`: `'e'` for exponents below -4 or from the precision (6 when shortest) on, else `'f'`.
    General,
}

/// The decimal digits of a finite number: `0.d1 d2 d3… × 10^point`, without zeros at either end. `N` is the most digits
/// that there can be.
struct Digits<const N: usize> {
    digits: [u8; N],
    len: usize,
    point: i32,
}

/// The shortest digits that read back to a float64 are 17 at most.
type ShortDigits = Digits<20>;
/// All digits of a float64 that a precision can ask for.
type AllDigits = Digits<MOST_DIGITS>;

impl<const N: usize> Digits<N> {
    /// Reads the digits out of a decimal text such as `12.5`, `0.001` or `1.5e-7`, whose sign is ignored.
    fn read(text: &str) -> Self {
        let mut found = Self { digits: [0; N], len: 0, point: 0 };
        let mut seen_point = false;
        let mut exponent = 0;
        for (at, c) in text.bytes().enumerate() {
            match c {
                b'.' => seen_point = true,
                b'0'..=b'9' => {
                    if found.len == 0 && c == b'0' {
                        found.point -= i32::from(seen_point);
                        continue;
                    }
                    if found.len < N {
                        found.digits[found.len] = c;
                        found.len += 1;
                    }
                    found.point += i32::from(!seen_point);
                }
                b'e' => {
                    exponent = text[at + 1..].parse().unwrap_or(0);
                    break;
                }
                _ => {}
            }
        }
        while found.len > 0 && found.digits[found.len - 1] == b'0' {
            found.len -= 1;
        }
        found.point = if found.len == 0 { 0 } else { found.point + exponent };
        found
    }

    fn count(&self) -> i32 {
        i32::try_from(self.len).unwrap_or(i32::MAX)
    }

    /// The digit at a place counted from the first one; zero outside.
    fn at(&self, place: i64) -> char {
        let known = usize::try_from(place).ok().and_then(|at| self.digits[..self.len].get(at));
        known.map_or('0', |&c| char::from(c))
    }

    fn write_exponent(&self, out: &mut String, fraction: i32) {
        out.push(self.at(0));
        if fraction > 0 {
            out.push('.');
            out.extend((1..=i64::from(fraction)).map(|place| self.at(place)));
        }
        let exponent = if self.len == 0 { 0 } else { self.point - 1 };
        out.push_str(if exponent < 0 { "e-" } else { "e+" });
        let size = exponent.unsigned_abs();
        if size < 10 {
            out.push('0');
        }
        out.push_str(itoa::Buffer::new().format(size));
    }

    fn write_decimal(&self, out: &mut String, fraction: i32) {
        let point = i64::from(self.point);
        if point > 0 {
            out.extend((0..point).map(|place| self.at(place)));
        } else {
            out.push('0');
        }
        if fraction > 0 {
            out.push('.');
            out.extend((0..i64::from(fraction)).map(|place| self.at(point + place)));
        }
    }
}

fn special(number: f64) -> Option<&'static str> {
    if number.is_nan() {
        Some("NaN")
    } else if number.is_infinite() {
        Some(if number > 0.0 { "+Inf" } else { "-Inf" })
    } else {
        None
    }
}

fn shortest(out: &mut String, digits: &ShortDigits, form: Form) {
    let plain = match form {
        Form::Decimal => true,
        Form::Exponent => false,
        Form::General => (-4..6).contains(&(digits.point - 1)),
    };
    if plain {
        digits.write_decimal(out, digits.count() - digits.point);
    } else {
        digits.write_exponent(out, digits.count() - 1);
    }
}

/// Appends a float64 as `strconv.FormatFloat(number, form, -1, 64)` does: the fewest digits that read back to it.
pub fn write_float(out: &mut String, number: f64, form: Form) {
    // Nearly all numbers of values are small and whole.
    if number.fract() == 0.0
        && number.abs() < 1e6
        && !number.is_sign_negative()
        && !matches!(form, Form::Exponent)
    {
        #[expect(clippy::cast_possible_truncation, reason = "whole and well inside i64")]
        return out.push_str(itoa::Buffer::new().format(number as i64));
    }
    if let Some(text) = special(number) {
        out.push_str(text);
        return;
    }
    if number.is_sign_negative() {
        out.push('-');
    }
    shortest(out, &ShortDigits::read(ryu::Buffer::new().format_finite(number)), form);
}

/// A float64 as Go prints it with `%v`, and as `strconv.FormatFloat(number, 'g', -1, 64)` does: `1e+06`, `0.5`, `+Inf`.
#[must_use]
pub fn go_format_float(number: f64) -> String {
    let mut out = String::with_capacity(24);
    write_float(&mut out, number, Form::General);
    out
}

/// A number rounded to float32 as `strconv.FormatFloat(number, 'g', -1, 32)` writes it; sigs.k8s.io/yaml makes map keys
/// and strings from float64 numbers this way, losing digits.
#[must_use]
pub fn go_format_float32(number: f64) -> String {
    let mut out = String::with_capacity(16);
    #[expect(clippy::cast_possible_truncation, reason = "rounding to float32 is what Go does here")]
    let number = number as f32;
    if let Some(text) = special(f64::from(number)) {
        out.push_str(text);
        return out;
    }
    if number.is_sign_negative() {
        out.push('-');
    }
    shortest(&mut out, &ShortDigits::read(ryu::Buffer::new().format_finite(number)), Form::General);
    out
}

/// The most digits that a float64 has after its point, and the most significant ones. Beyond them are only zeros, which
/// Rust's formatter refuses to write in large numbers.
const MOST_PLACES: usize = 1074;
const MOST_DIGITS: usize = 768;

/// Appends a float64 with a fixed precision, as `strconv.FormatFloat(number, form, precision, 64)` does: digits after the
/// point for [`Form::Exponent`] and [`Form::Decimal`], significant digits at most for [`Form::General`].
pub fn write_float_precision(out: &mut String, number: f64, form: Form, precision: usize) {
    if let Some(text) = special(number) {
        out.push_str(text);
        return;
    }
    if number.is_sign_negative() {
        out.push('-');
    }
    let number = number.abs();
    let wanted = i32::try_from(precision).unwrap_or(i32::MAX);
    match form {
        Form::Decimal => {
            let exact = precision.min(MOST_PLACES);
            write!(out, "{number:.exact$}").expect("a String takes any text");
            out.extend(std::iter::repeat_n('0', precision - exact));
        }
        Form::Exponent => {
            AllDigits::read(&format!("{number:.*e}", precision.min(MOST_DIGITS))).write_exponent(out, wanted);
        }
        Form::General => {
            let wanted = wanted.max(1);
            let digits = AllDigits::read(&format!("{number:.*e}", precision.clamp(1, MOST_DIGITS) - 1));
            let (count, exponent) = (digits.count(), digits.point - 1);
            let threshold = if wanted > count && count >= digits.point { count } else { wanted };
            if exponent < -4 || exponent >= threshold {
                digits.write_exponent(out, wanted.min(count) - 1);
            } else {
                let places = if wanted > digits.point { count } else { wanted };
                digits.write_decimal(out, places - digits.point);
            }
        }
    }
}

/// Appends a finite float64 as encoding/json does: no exponent from 1e-6 to below 1e21, `1e-7` and `1e+21` beyond, whole
/// numbers without a point. Infinities and NaN are not JSON: the caller refuses them.
pub fn write_json_float(out: &mut String, number: f64) {
    let size = number.abs();
    if size < 9e15 && number.fract() == 0.0 && !(number == 0.0 && number.is_sign_negative()) {
        #[expect(clippy::cast_possible_truncation, reason = "whole and well inside i64")]
        out.push_str(itoa::Buffer::new().format(number as i64));
    } else if size == 0.0 || (1e-6..1e21).contains(&size) {
        write_float(out, number, Form::Decimal);
    } else {
        let start = out.len();
        write_float(out, number, Form::Exponent);
        // Go writes the exponents of its own 'e' form with two digits, JSON's negative ones with as few as needed.
        if let Some(at) = out[start..].rfind("e-0") {
            out.remove(start + at + 2);
        }
    }
}

/// A float64 as a reader of its JSON form finds it, which is written with the fewest digits that tell it apart: 2^62 is
/// `4611686018427388000` there.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Read {
    Int(i64),
    /// Past the range of an int64.
    Uint(u64),
    Float,
}

/// What a float64 becomes on a way through JSON.
pub(super) fn read_back(number: f64) -> Read {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if number.fract() != 0.0 || number.abs() >= 1e20 {
        return Read::Float;
    }
    if number.abs() <= EXACT {
        #[expect(clippy::cast_possible_truncation, reason = "whole and well inside i64")]
        return Read::Int(number as i64);
    }
    let mut text = String::with_capacity(24);
    write_float(&mut text, number, Form::Decimal);
    match (text.parse(), text.parse()) {
        (Ok(int), _) => Read::Int(int),
        (_, Ok(uint)) => Read::Uint(uint),
        _ => Read::Float,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]
    use super::*;

    fn float(number: f64, form: Form) -> String {
        let mut out = String::new();
        write_float(&mut out, number, form);
        out
    }

    fn precise(number: f64, form: Form, precision: usize) -> String {
        let mut out = String::new();
        write_float_precision(&mut out, number, form, precision);
        out
    }

    fn json(number: f64) -> String {
        let mut out = String::new();
        write_json_float(&mut out, number);
        out
    }

    #[test]
    fn general_form_is_that_of_percent_v() {
        for (number, text) in [
            (0.0, "0"),
            (-0.0, "-0"),
            (1.0, "1"),
            (100_000.0, "100000"),
            (1_000_000.0, "1e+06"),
            (1_234_567.0, "1.234567e+06"),
            (123_456.7, "123456.7"),
            (0.0001, "0.0001"),
            (0.00001, "1e-05"),
            (0.1, "0.1"),
            (-2.5, "-2.5"),
            (1e21, "1e+21"),
            (1e100, "1e+100"),
            (f64::MIN_POSITIVE, "2.2250738585072014e-308"),
            (5e-324, "5e-324"),
            (f64::MAX, "1.7976931348623157e+308"),
            (f64::INFINITY, "+Inf"),
            (f64::NEG_INFINITY, "-Inf"),
            (f64::NAN, "NaN"),
        ] {
            assert_eq!(go_format_float(number), text);
        }
    }

    #[test]
    fn float32_rounds_first() {
        assert_eq!(go_format_float32(1.1), "1.1");
        assert_eq!(go_format_float32(123_456_789.0), "1.2345679e+08");
        assert_eq!(go_format_float32(1e100), "+Inf");
        assert_eq!(go_format_float32(0.1 + 0.2), "0.3");
    }

    #[test]
    fn decimal_and_exponent_forms() {
        assert_eq!(float(1e21, Form::Decimal), "1000000000000000000000");
        assert_eq!(float(0.000_012_5, Form::Decimal), "0.0000125");
        assert_eq!(float(0.0, Form::Exponent), "0e+00");
        assert_eq!(float(1500.0, Form::Exponent), "1.5e+03");
    }

    #[test]
    fn a_precision_rounds() {
        assert_eq!(precise(2.5, Form::Decimal, 0), "2");
        assert_eq!(precise(1.005, Form::Decimal, 2), "1.00");
        assert_eq!(precise(1234.5, Form::Exponent, 2), "1.23e+03");
        assert_eq!(precise(0.0, Form::Exponent, 3), "0.000e+00");
        assert_eq!(precise(100_000.0, Form::General, 6), "100000");
        assert_eq!(precise(1_000_000.0, Form::General, 6), "1e+06");
        assert_eq!(precise(0.5, Form::General, 3), "0.5");
        assert_eq!(precise(1234.5678, Form::General, 0), "1e+03");
        assert_eq!(precise(9.995, Form::General, 3), "9.99");
        assert_eq!(precise(-0.000_012_345, Form::General, 3), "-1.23e-05");
    }

    #[test]
    fn json_has_its_own_thresholds() {
        for (number, text) in [
            (1e6, "1000000"),
            (1e20, "100000000000000000000"),
            (1e21, "1e+21"),
            (1e-6, "0.000001"),
            (1e-7, "1e-7"),
            (1.5e-10, "1.5e-10"),
            (-0.0, "-0"),
            (-1.5, "-1.5"),
            (9_007_199_254_740_993.0, "9007199254740992"),
        ] {
            assert_eq!(json(number), text);
        }
    }

    #[test]
    fn json_rounds_whole_numbers() {
        assert_eq!(read_back(1.0), Read::Int(1));
        assert_eq!(read_back(-0.0), Read::Int(0));
        assert_eq!(read_back(0.5), Read::Float);
        assert_eq!(read_back(4_611_686_018_427_387_904.0), Read::Int(4_611_686_018_427_388_000));
        assert_eq!(read_back(9_223_372_036_854_775_808.0), Read::Uint(9_223_372_036_854_776_000));
        assert_eq!(read_back(-9_223_372_036_854_775_808.0), Read::Float);
        assert_eq!(read_back(18_446_744_073_709_551_615.0), Read::Float);
        assert_eq!(read_back(f64::INFINITY), Read::Float);
    }
}
