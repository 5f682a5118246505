//! Exact comparison of numbers in decimal text.

use std::cmp::Ordering;

/// A number as `± 0.digits × 10^point`, the digits without zeros at either end; no digits is zero.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Decimal {
    negative: bool,
    digits: Vec<u8>,
    point: i64,
    float: u64,
}

impl Decimal {
    /// Reads what JSON or Go writes for a number.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (negative, rest) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
        let (mantissa, exponent) = rest.split_once(['e', 'E']).unwrap_or((rest, "0"));
        let exponent: i64 = exponent.parse().ok()?;
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let mut digits: Vec<u8> = whole.bytes().chain(fraction.bytes()).collect();
        if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
            return None;
        }
        digits.iter_mut().for_each(|d| *d -= b'0');
        let leading = digits.iter().take_while(|d| **d == 0).count();
        digits.drain(..leading);
        while digits.last() == Some(&0) {
            digits.pop();
        }
        let point = i64::try_from(whole.len()).ok()? - i64::try_from(leading).ok()?;
        let zero = digits.is_empty();
        Some(Self {
            negative: negative && !zero,
            digits,
            point: if zero { 0 } else { point.checked_add(exponent)? },
            float: text.parse::<f64>().ok()?.to_bits(),
        })
    }

    /// The same text for equal numbers.
    pub(super) fn key(&self) -> String {
        format!("{}{:?}e{}", self.negative, self.digits, self.point)
    }

    pub(super) fn is_integer(&self) -> bool {
        i64::try_from(self.digits.len()).is_ok_and(|length| length <= self.point.max(0))
    }

    pub(super) fn to_f64(&self) -> f64 {
        f64::from_bits(self.float)
    }

    /// The value as a count, if it is a whole number.
    pub(super) fn to_count(&self) -> Option<i64> {
        #[expect(clippy::cast_possible_truncation, reason = "a limit beyond 2^53 is never reached")]
        self.is_integer().then_some(self.to_f64() as i64)
    }

    /// Whether the quotient is a whole number.
    pub(super) fn is_multiple_of(&self, other: &Self) -> bool {
        if self.digits.is_empty() {
            return true;
        }
        if other.digits.is_empty() {
            return false;
        }
        let scale = |d: &Self| d.point - d.digits.len() as i64;
        let (mine, theirs) = (scale(self), scale(other));
        let low = mine.min(theirs);
        let number = |digits: &[u8], zeros: i64| {
            let mut number = 0_u128;
            for digit in digits.iter().copied().chain((0..zeros).map(|_| 0)) {
                number = number.checked_mul(10)?.checked_add(u128::from(digit))?;
            }
            (number < 1 << 120).then_some(number)
        };
        let zeros = (mine - low).min(20_000);
        let Some(divisor) = number(&other.digits, (theirs - low).min(64)) else {
            return (self.to_f64() / other.to_f64()).fract() == 0.0
                && self.to_f64().abs() >= other.to_f64().abs();
        };
        let digits = self.digits.iter().copied().chain((0..zeros).map(|_| 0));
        digits.fold(0, |rest, digit| (rest * 10 + u128::from(digit)) % divisor) == 0
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        let sign = |d: &Self| match (d.digits.is_empty(), d.negative) {
            (true, _) => 0,
            (false, true) => -1,
            (false, false) => 1,
        };
        let size = || self.point.cmp(&other.point).then_with(|| self.digits.cmp(&other.digits));
        sign(self).cmp(&sign(other)).then_with(|| match sign(self) {
            0 => Ordering::Equal,
            1 => size(),
            _ => size().reverse(),
        })
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_exact() {
        let n = |text: &str| Decimal::parse(text).unwrap();
        assert!(n("0.1") < n("0.10000000000000000001"));
        assert!(n("-2") < n("-1.5") && n("-1") < n("0") && n("0") < n("1e-9") && n("9") < n("1e1"));
        assert_eq!(n("100").cmp(&n("1e+02")), Ordering::Equal);
        assert_eq!(n("-0.0").cmp(&n("0")), Ordering::Equal);
        assert!(n("1e+06").is_integer() && n("1.0").is_integer() && n("0").is_integer());
        assert!(!n("1.5").is_integer() && !n("1e-1").is_integer());
        for (a, b, expected) in [
            ("0.3", "0.1", true),
            ("1e308", "0.01", true),
            ("7", "2", false),
            ("4.5", "1.5", true),
            ("0", "3", true),
            ("1e-5", "1", false),
            ("1e300", "7", false),
        ] {
            assert_eq!(n(a).is_multiple_of(&n(b)), expected, "{a} {b}");
        }
    }
}
