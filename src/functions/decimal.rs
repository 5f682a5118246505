//! Decimal numbers of any size, as shopspring/decimal computes them for sprig's `addf` and kin.

use num_bigint::BigInt;

use super::Error;

/// How many decimal places a quotient keeps.
const DIVISION_PLACES: i32 = 16;

/// `value` times ten to the `exponent`.
#[derive(Clone)]
pub(crate) struct Decimal {
    value: BigInt,
    exponent: i32,
}

impl Decimal {
    /// The shortest decimal that reads back as the float.
    pub(crate) fn from_float(float: f64) -> Result<Self, Error> {
        if !float.is_finite() {
            let text = if float.is_nan() {
                "NaN"
            } else if float > 0.0 {
                "+Inf"
            } else {
                "-Inf"
            };
            return Err(Error::new(format!("Cannot create a Decimal from {text}")));
        }
        let text = format!("{float:e}");
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let places = digits.split_once('.').map_or(0, |(_, fraction)| fraction.len());
        let value = digits.replace('.', "").parse().unwrap_or_default();
        let exponent = exponent.parse::<i32>().unwrap_or(0) - i32::try_from(places).unwrap_or(0);
        Ok(Self { value, exponent })
    }

    /// The nearest float, infinite beyond the range.
    pub(crate) fn to_float(&self) -> f64 {
        format!("{}e{}", self.value, self.exponent).parse().unwrap_or_default()
    }

    /// The same number with a lower exponent.
    fn at(&self, exponent: i32) -> BigInt {
        &self.value * ten_to(self.exponent - exponent)
    }

    fn together(&self, other: &Self, how: fn(BigInt, BigInt) -> BigInt) -> Self {
        let exponent = self.exponent.min(other.exponent);
        Self { value: how(self.at(exponent), other.at(exponent)), exponent }
    }

    pub(crate) fn add(self, other: &Self) -> Result<Self, Error> {
        Ok(self.together(other, |a, b| a + b))
    }

    pub(crate) fn sub(self, other: &Self) -> Result<Self, Error> {
        Ok(self.together(other, |a, b| a - b))
    }

    pub(crate) fn mul(self, other: &Self) -> Result<Self, Error> {
        let exponent = self.exponent.checked_add(other.exponent);
        let exponent = exponent.ok_or_else(|| {
            Error::new(format!(
                "exponent {} overflows an int32!",
                i64::from(self.exponent) + i64::from(other.exponent)
            ))
        })?;
        Ok(Self { value: self.value * &other.value, exponent })
    }

    /// The quotient to 16 decimal places, halves away from zero.
    pub(crate) fn div(self, other: &Self) -> Result<Self, Error> {
        if other.value == BigInt::ZERO {
            return Err(Error::new("decimal division by 0"));
        }
        let shift = self.exponent - other.exponent + DIVISION_PLACES;
        let (dividend, divisor) = if shift < 0 {
            (self.value, &other.value * ten_to(-shift))
        } else {
            (self.value * ten_to(shift), other.value.clone())
        };
        let mut quotient = &dividend / &divisor;
        let rest = &dividend - &quotient * &divisor;
        if (rest * 2_u8).magnitude() >= divisor.magnitude() {
            let toward = if dividend.sign() == divisor.sign() { 1 } else { -1 };
            quotient += toward;
        }
        Ok(Self { value: quotient, exponent: -DIVISION_PLACES })
    }
}

/// Ten to a power that is not negative.
fn ten_to(power: i32) -> BigInt {
    BigInt::from(10).pow(u32::try_from(power).unwrap_or(0))
}
