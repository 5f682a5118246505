//! Helm's own functions of durations.

use tera::{Value, value::ValueKind};

use super::{duration, duration_value};
use crate::{
    functions::{Call, Error, Outcome, cast, strings},
    value::{Scope, kind, quote, typed},
    yaml::number::go_format_float,
};

const SECOND: i64 = 1_000_000_000;

/// The duration that a value says: text as Go reads durations or else as seconds, numbers as seconds.
fn duration_of(scope: &Scope, value: &Value) -> Result<i64, Error> {
    match value.kind() {
        ValueKind::String => from_text(value.as_str().unwrap_or_default().as_bytes()),
        ValueKind::None | ValueKind::Undefined => Err(Error::new("invalid duration")),
        ValueKind::I64 | ValueKind::I128 | ValueKind::U64 | ValueKind::U128 => {
            let seconds = value.as_i128().unwrap_or_default();
            from_seconds(seconds)
        }
        ValueKind::F64 => from_float(value.as_f64().unwrap_or_default()),
        _ => match typed::Type::of(value) {
            Some(typed::Type::Text) => from_text(typed::text_bytes(value).unwrap_or_default()),
            Some(typed::Type::Duration) => Ok(typed::number(value).unwrap_or_default()),
            Some(typed::Type::Month | typed::Type::Weekday) => {
                from_seconds(i128::from(typed::number(value).unwrap_or_default()))
            }
            _ => Err(Error::new(format!("unsupported duration type {}", kind::type_of(scope, value)))),
        },
    }
}

fn from_text(text: &[u8]) -> Result<i64, Error> {
    let trimmed = strings::trimmed(text);
    if trimmed.is_empty() {
        return Err(Error::new("empty duration"));
    }
    if let Ok(duration) = duration::parse(trimmed) {
        return Ok(duration);
    }
    match std::str::from_utf8(trimmed).ok().and_then(cast::parse_float) {
        Some(seconds) => from_float(seconds),
        None => Err(Error::new(format!("could not parse duration {}", quote::quote(text)))),
    }
}

fn from_seconds(seconds: i128) -> Result<i64, Error> {
    let fits = (i128::from(i64::MIN / SECOND)..=i128::from(i64::MAX / SECOND)).contains(&seconds);
    match i64::try_from(seconds) {
        Ok(seconds) if fits => Ok(seconds * SECOND),
        _ => Err(Error::new(format!("duration seconds overflow: {seconds}"))),
    }
}

fn from_float(seconds: f64) -> Result<i64, Error> {
    let shown = go_format_float(seconds);
    if !seconds.is_finite() {
        return Err(Error::new(format!("invalid duration seconds: {shown}")));
    }
    let most = i64::MAX as f64 / SECOND as f64;
    if !(-most..=most).contains(&seconds) {
        return Err(Error::new(format!("duration seconds overflow: {shown}")));
    }
    let nanoseconds = seconds * SECOND as f64;
    if nanoseconds > i64::MAX as f64 || nanoseconds < i64::MIN as f64 {
        return Err(Error::new(format!("duration nanoseconds overflow: {}", go_format_float(nanoseconds))));
    }
    Ok(cast::float_to_int(nanoseconds))
}

/// The duration of an argument, zero for what is none.
fn argument(call: &Call<'_>, at: usize) -> Result<i64, Error> {
    duration_of(call.scope, call.arg(at))
}

pub(super) fn must_to_duration(call: &Call<'_>) -> Outcome {
    Ok(duration_value(argument(call, 0)?))
}

/// A duration in units of this many nanoseconds: whole ones and the rest apart, as Go divides.
fn in_units(call: &Call<'_>, unit: i64) -> f64 {
    let duration = argument(call, 0).unwrap_or_default();
    (duration / unit) as f64 + (duration % unit) as f64 / unit as f64
}

pub(super) fn weeks(call: &Call<'_>) -> Outcome {
    Ok(Value::from(in_units(call, 3600 * SECOND) / 24.0 / 7.0))
}

pub(super) fn days(call: &Call<'_>) -> Outcome {
    Ok(Value::from(in_units(call, 3600 * SECOND) / 24.0))
}

pub(super) fn hours(call: &Call<'_>) -> Outcome {
    Ok(Value::from(in_units(call, 3600 * SECOND)))
}

pub(super) fn minutes(call: &Call<'_>) -> Outcome {
    Ok(Value::from(in_units(call, 60 * SECOND)))
}

pub(super) fn seconds(call: &Call<'_>) -> Outcome {
    Ok(Value::from(in_units(call, SECOND)))
}

/// An int64 of whole units.
fn whole(call: &Call<'_>, unit: i64) -> Outcome {
    Ok(Value::from(i128::from(argument(call, 0).unwrap_or_default() / unit)))
}

pub(super) fn milliseconds(call: &Call<'_>) -> Outcome {
    whole(call, 1_000_000)
}

pub(super) fn microseconds(call: &Call<'_>) -> Outcome {
    whole(call, 1_000)
}

pub(super) fn nanoseconds(call: &Call<'_>) -> Outcome {
    whole(call, 1)
}

/// Zero where the first argument is no duration; the first argument where the second is none.
fn by_multiple(call: &Call<'_>, how: fn(i64, i64) -> i64) -> Outcome {
    let Ok(duration) = argument(call, 0) else { return Ok(duration_value(0)) };
    Ok(duration_value(argument(call, 1).map_or(duration, |multiple| how(duration, multiple))))
}

pub(super) fn round_to(call: &Call<'_>) -> Outcome {
    by_multiple(call, duration::round)
}

pub(super) fn truncate_to(call: &Call<'_>) -> Outcome {
    by_multiple(call, duration::truncate)
}
