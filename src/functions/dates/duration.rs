//! Durations: reading them, and rounding.

use super::parse::quote;

const SECOND: u64 = 1_000_000_000;

fn unit(name: &[u8]) -> Option<u64> {
    Some(match name {
        b"ns" => 1,
        b"us" => 1_000,
        // The micro sign, and the Greek letter mu.
        [0xC2, 0xB5, b's'] | [0xCE, 0xBC, b's'] => 1_000,
        b"ms" => 1_000_000,
        b"s" => SECOND,
        b"m" => 60 * SECOND,
        b"h" => 3600 * SECOND,
        _ => return None,
    })
}

/// Go's `time.ParseDuration`, in nanoseconds.
pub(crate) fn parse(text: &[u8]) -> Result<i64, String> {
    let invalid = || format!("time: invalid duration {}", quote(text));
    let (negative, mut rest) = match text.first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    if rest == b"0" {
        return Ok(0);
    }
    if rest.is_empty() {
        return Err(invalid());
    }
    let limit = 1_u64 << 63;
    let mut total: u64 = 0;
    while !rest.is_empty() {
        let digits = |text: &[u8]| text.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (whole, after) = rest.split_at(digits(rest));
        let (fraction, after) = match after.strip_prefix(b".") {
            Some(after) => after.split_at(digits(after)),
            None => (&[][..], after),
        };
        if whole.is_empty() && fraction.is_empty() {
            return Err(invalid());
        }
        let value = whole.iter().try_fold(0_u64, |value, digit| {
            let next = value.checked_mul(10)?.checked_add(u64::from(digit - b'0'))?;
            (next <= limit).then_some(next)
        });
        let value = value.ok_or_else(invalid)?;
        let (name, after) =
            after.split_at(after.iter().take_while(|byte| **byte != b'.' && !byte.is_ascii_digit()).count());
        if name.is_empty() {
            return Err(format!("time: missing unit in duration {}", quote(text)));
        }
        let unit = unit(name)
            .ok_or_else(|| format!("time: unknown unit {} in duration {}", quote(name), quote(text)))?;
        if value > limit / unit {
            return Err(invalid());
        }
        let value = value * unit + part_of(fraction, unit);
        if value > limit {
            return Err(invalid());
        }
        total = total.checked_add(value).filter(|total| *total <= limit).ok_or_else(invalid)?;
        rest = after;
    }
    if negative {
        return Ok(total.wrapping_neg().cast_signed());
    }
    i64::try_from(total).map_err(|_| invalid())
}

/// A decimal fraction of a unit, in floats as Go computes it.
fn part_of(digits: &[u8], unit: u64) -> u64 {
    let (mut value, mut scale) = (0_u64, 1.0_f64);
    for digit in digits {
        if value > (u64::MAX >> 1) / 10 {
            break;
        }
        let next = value * 10 + u64::from(digit - b'0');
        if next > 1 << 63 {
            break;
        }
        value = next;
        scale *= 10.0;
    }
    if value == 0 { 0 } else { (value as f64 * (unit as f64 / scale)) as u64 }
}

/// Go's `Duration.Round`: to the nearest multiple, halves away from zero.
pub(crate) fn round(duration: i64, multiple: i64) -> i64 {
    if multiple <= 0 {
        return duration;
    }
    let rest = (duration % multiple).unsigned_abs();
    let down = rest + rest < multiple.unsigned_abs();
    let rest = rest.cast_signed();
    if duration < 0 {
        if down { duration + rest } else { duration.checked_sub(multiple - rest).unwrap_or(i64::MIN) }
    } else if down {
        duration - rest
    } else {
        duration.checked_add(multiple - rest).unwrap_or(i64::MAX)
    }
}

/// Go's `Duration.Truncate`: toward zero to a multiple.
pub(crate) fn truncate(duration: i64, multiple: i64) -> i64 {
    if multiple <= 0 { duration } else { duration - duration % multiple }
}
