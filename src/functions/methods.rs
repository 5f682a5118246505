//! Methods of the values that functions answer and templates can call: `now.Unix`, `(semver "1.2.3").Major`.
//!
//! They follow Go's package time and Masterminds' semver.

use tera::{Value, value::ValueKind};

use super::{
    dates::{self, duration},
    semver,
};
use crate::{
    chart::semver::Version,
    value::{
        time::{Time, duration_text, month_text, weekday_text},
        typed::{self, Type},
    },
};

/// Why a method could not be called, or failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MethodError {
    /// It takes another number of arguments: this one.
    Count(usize),
    /// An argument, counted from 0, is not of this Go type.
    Argument(usize, &'static str),
    /// A template cannot call it; Go's text.
    Uncallable(String),
    /// It failed, with Go's text.
    Failed(String),
}

type Answer = Result<Value, MethodError>;

/// Calls a method of a time, a duration, a month, a weekday or a version; none if it is not known here.
#[must_use]
pub fn call(kind: Type, name: &str, receiver: &Value, args: &[Value]) -> Option<Answer> {
    match kind {
        Type::Time => time(name, &Time::from_value(receiver)?, args),
        Type::Duration => of_duration(name, typed::number(receiver)?, args),
        Type::Month => (name == "String").then(|| none(args, || text(month_text(typed::number(receiver)?)))),
        Type::Weekday => {
            (name == "String").then(|| none(args, || text(weekday_text(typed::number(receiver)?))))
        }
        Type::Semver => version(name, &semver::from_value(receiver)?, args),
        _ => None,
    }
}

fn text(text: String) -> Option<Value> {
    Some(Value::from(text))
}

/// A method without arguments.
fn none(args: &[Value], answer: impl FnOnce() -> Option<Value>) -> Answer {
    if !args.is_empty() {
        return Err(MethodError::Count(0));
    }
    Ok(answer().unwrap_or_else(Value::none))
}

/// A method with one argument, which `read` understands if it is of the type.
fn one<T>(
    args: &[Value],
    expected: &'static str,
    read: impl FnOnce(&Value) -> Option<T>,
    answer: impl FnOnce(T) -> Answer,
) -> Answer {
    let [arg] = args else { return Err(MethodError::Count(1)) };
    answer(read(arg).ok_or(MethodError::Argument(0, expected))?)
}

fn as_text(value: &Value) -> Option<String> {
    typed::text_lossy(value).map(std::borrow::Cow::into_owned)
}

/// A duration, or a whole constant, which Go makes one.
fn as_duration(value: &Value) -> Option<i64> {
    match value.kind() {
        ValueKind::I64 => value.as_i64(),
        _ => typed::number(value).filter(|_| Type::of(value) == Some(Type::Duration)),
    }
}

fn int64(number: i64) -> Value {
    Value::from(i128::from(number))
}

fn time(name: &str, time: &Time, args: &[Value]) -> Option<Answer> {
    let civil = || dates::civil(time);
    let moment = |time: &Time| i128::from(time.seconds) * 1_000_000_000 + i128::from(time.nanoseconds);
    let ordered = |check: fn(std::cmp::Ordering) -> Value| {
        one(args, "time.Time", Time::from_value, |other| Ok(check(moment(time).cmp(&moment(&other)))))
    };
    let clamped = |nanoseconds: i128| {
        i64::try_from(nanoseconds).unwrap_or(if nanoseconds < 0 { i64::MIN } else { i64::MAX })
    };
    let plain = |time: Time| Time { monotonic: None, ..time }.to_value();
    let rounded = |round: fn(i64, i64) -> i64| {
        one(args, "time.Duration", as_duration, |multiple| {
            // Counted from the year 1, as Go does.
            let since = moment(time) + 62_135_596_800 * 1_000_000_000;
            if multiple <= 0 {
                return Ok(plain(time.clone()));
            }
            let rest = clamped(since.rem_euclid(i128::from(multiple)));
            Ok(plain(dates::later(time, round(rest, multiple) - rest)))
        })
    };
    Some(match name {
        "Unix" => none(args, || Some(int64(time.seconds))),
        "UnixMilli" => none(args, || Some(int64(clamped(moment(time).div_euclid(1_000_000))))),
        "UnixMicro" => none(args, || Some(int64(clamped(moment(time).div_euclid(1_000))))),
        "UnixNano" => none(args, || Some(int64(clamped(moment(time))))),
        "Year" => none(args, || Some(Value::from(civil().year))),
        "Month" => none(args, || Some(typed::make(Type::Month, [("value", Value::from(civil().month))]))),
        "Day" => none(args, || Some(Value::from(civil().day))),
        "Hour" => none(args, || Some(Value::from(civil().hour))),
        "Minute" => none(args, || Some(Value::from(civil().minute))),
        "Second" => none(args, || Some(Value::from(civil().second))),
        "Nanosecond" => none(args, || Some(Value::from(i64::from(time.nanoseconds)))),
        "Weekday" => {
            none(args, || Some(typed::make(Type::Weekday, [("value", Value::from(civil().weekday()))])))
        }
        "YearDay" => none(args, || Some(Value::from(dates::year_day(civil())))),
        "IsZero" => none(args, || Some(Value::from(moment(time) == -62_135_596_800 * 1_000_000_000))),
        "IsDST" => none(args, || Some(Value::from(dates::is_dst(time)))),
        "String" => none(args, || text(time.to_string())),
        "GoString" => none(args, || text(time.go_string())),
        "UTC" => none(args, || Some(dates::in_utc(time).to_value())),
        "Local" => none(args, || Some(dates::in_local(time).to_value())),
        "Format" => one(args, "string", as_text, |layout| Ok(Value::from(dates::format(time, &layout)))),
        "After" => ordered(|order| Value::from(order.is_gt())),
        "Before" => ordered(|order| Value::from(order.is_lt())),
        "Equal" => ordered(|order| Value::from(order.is_eq())),
        "Compare" => ordered(|order| Value::from(order as i64)),
        "Sub" => one(args, "time.Time", Time::from_value, |other| {
            Ok(dates::duration_value(clamped(moment(time) - moment(&other))))
        }),
        "Add" => one(args, "time.Duration", as_duration, |by| Ok(dates::later(time, by).to_value())),
        "Truncate" => rounded(|_, _| 0),
        "Round" => rounded(|rest, multiple| if rest + rest < multiple { 0 } else { multiple }),
        "AddDate" => match args {
            [years, months, days] => {
                let number = |at, value: &Value| match value.kind() {
                    ValueKind::I64 => Ok(value.as_i64().unwrap_or_default()),
                    _ => Err(MethodError::Argument(at, "int")),
                };
                number(0, years).and_then(|years| {
                    let (months, days) = (number(1, months)?, number(2, days)?);
                    Ok(dates::add_date(time, years, months, days).to_value())
                })
            }
            _ => Err(MethodError::Count(3)),
        },
        "MarshalJSON" => none(args, || time.to_json().ok().map(|json| Value::bytes(format!("\"{json}\"")))),
        "MarshalText" => none(args, || time.to_json().ok().map(Value::bytes)),
        "Clock" | "Date" => {
            Err(MethodError::Uncallable(format!("function {name} has 3 return values; should be 1 or 2")))
        }
        "ISOWeek" | "Zone" => Err(second_result(name, "int")),
        "ZoneBounds" => Err(second_result(name, "time.Time")),
        _ => return None,
    })
}

fn second_result(name: &str, go_type: &str) -> MethodError {
    MethodError::Uncallable(format!(
        "invalid function signature for {name}: second return value should be error; is {go_type}"
    ))
}

fn of_duration(name: &str, nanoseconds: i64, args: &[Value]) -> Option<Answer> {
    let float = |unit: i64| {
        let (whole, rest) = (nanoseconds / unit, nanoseconds % unit);
        #[allow(clippy::cast_precision_loss, reason = "Go computes it so")]
        none(args, || Some(Value::from(whole as f64 + rest as f64 / unit as f64)))
    };
    let to_multiple = |how: fn(i64, i64) -> i64| {
        one(args, "time.Duration", as_duration, |multiple| {
            Ok(dates::duration_value(how(nanoseconds, multiple)))
        })
    };
    Some(match name {
        "Hours" => float(3_600_000_000_000),
        "Minutes" => float(60_000_000_000),
        "Seconds" => float(1_000_000_000),
        "Milliseconds" => none(args, || Some(int64(nanoseconds / 1_000_000))),
        "Microseconds" => none(args, || Some(int64(nanoseconds / 1_000))),
        "Nanoseconds" => none(args, || Some(int64(nanoseconds))),
        "Abs" => none(args, || Some(dates::duration_value(nanoseconds.saturating_abs()))),
        "String" => none(args, || text(duration_text(nanoseconds))),
        "Round" => to_multiple(duration::round),
        "Truncate" => to_multiple(duration::truncate),
        _ => return None,
    })
}

fn version(name: &str, version: &Version, args: &[Value]) -> Option<Answer> {
    let ordered = |check: fn(std::cmp::Ordering) -> Value| {
        one(args, "*semver.Version", semver::from_value, |other| Ok(check(version.cmp(&other))))
    };
    let next = |major: u64, minor: u64, patch: u64| {
        let original = format!("{}{major}.{minor}.{patch}", prefix(&version.original));
        let next = Version { major, minor, patch, pre: String::new(), metadata: String::new(), original };
        Some(semver::to_value(&next))
    };
    let (major, minor, patch) = (version.major, version.minor, version.patch);
    Some(match name {
        "Major" => none(args, || Some(Value::from(major))),
        "Minor" => none(args, || Some(Value::from(minor))),
        "Patch" => none(args, || Some(Value::from(patch))),
        "Prerelease" => none(args, || text(version.pre.clone())),
        "Metadata" => none(args, || text(version.metadata.clone())),
        "Original" => none(args, || text(version.original.clone())),
        "String" => none(args, || text(version.to_string())),
        "IncMajor" => none(args, || next(major.wrapping_add(1), 0, 0)),
        "IncMinor" => none(args, || next(major, minor.wrapping_add(1), 0)),
        // A pre-release comes before its patch.
        "IncPatch" if !version.pre.is_empty() => none(args, || next(major, minor, patch)),
        "IncPatch" => none(args, || next(major, minor, patch.wrapping_add(1))),
        "Compare" => ordered(|order| Value::from(order as i64)),
        "Equal" => ordered(|order| Value::from(order.is_eq())),
        "LessThan" => ordered(|order| Value::from(order.is_lt())),
        "LessThanEqual" => ordered(|order| Value::from(order.is_le())),
        "GreaterThan" => ordered(|order| Value::from(order.is_gt())),
        "GreaterThanEqual" => ordered(|order| Value::from(order.is_ge())),
        "MarshalText" => none(args, || Some(Value::bytes(version.to_string()))),
        "MarshalJSON" => none(args, || Some(Value::bytes(format!("\"{version}\"")))),
        "Value" => none(args, || text(version.to_string())),
        "SetPrerelease" => one(args, "string", as_text, |pre| {
            changed(Version { pre, ..version.clone() }, "invalid prerelease string")
        }),
        "SetMetadata" => one(args, "string", as_text, |metadata| {
            changed(Version { metadata, ..version.clone() }, "invalid metadata string")
        }),
        _ => return None,
    })
}

fn prefix(original: &str) -> &str {
    if original.starts_with('v') { "v" } else { "" }
}

/// A version with another pre-release or metadata, if they are such.
fn changed(mut version: Version, refusal: &str) -> Answer {
    version.original = format!("{}{version}", prefix(&version.original));
    Version::parse(&version.to_string()).map(|_| semver::to_value(&version)).map_err(|error| match error {
        crate::chart::semver::Error::InvalidVersion => MethodError::Failed(refusal.to_owned()),
        error => MethodError::Failed(error.to_string()),
    })
}
