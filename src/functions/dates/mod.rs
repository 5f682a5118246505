//! Times and durations, in Go's layouts and words.
//!
//! `Local` is the zone that the process is set to, which in a container is UTC.

mod calendar;
pub(super) mod duration;
mod format;
mod helm;
mod layout;
mod parse;
mod zone;

use std::sync::LazyLock;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use tera::{Value, value::ValueKind};

pub(super) use calendar::year_day;
pub(super) use format::civil;
pub(crate) use format::format;

use super::{Call, Error, Family, Function, Native, Outcome, Param, cast};
use crate::value::{
    time::{Time, duration_text},
    typed::{self, Type},
};
use zone::Zone;

pub(super) const FUNCTIONS: &[Function] = &[
    function("now", &[], now, "The present moment.").per_revision(),
    function("date", &[Param::String, Param::Any], date, "The date in a layout.").unless_dated(1),
    function("dateInZone", DATE_IN_ZONE, date_in_zone, "The date in a layout, in a zone.").unless_dated(1),
    function("date_in_zone", DATE_IN_ZONE, date_in_zone, "An old name of `dateInZone`.").unless_dated(1),
    function("htmlDate", &[Param::Any], html_date, "The date as HTML has it.").unless_dated(0),
    function(
        "htmlDateInZone",
        &[Param::Any, Param::String],
        html_date_in_zone,
        "The date as HTML has it, in a zone.",
    )
    .unless_dated(0),
    function(
        "dateModify",
        DATE_MODIFY,
        date_modify,
        "The time later by a duration; unchanged if that is none.",
    ),
    function("date_modify", DATE_MODIFY, date_modify, "An old name of `dateModify`."),
    function("mustDateModify", DATE_MODIFY, must_date_modify, "The time later by a duration."),
    function("must_date_modify", DATE_MODIFY, must_date_modify, "An old name of `mustDateModify`."),
    function(
        "toDate",
        TO_DATE,
        to_date,
        "The time that a text says in a layout; the zero time if it says none.",
    ),
    function("mustToDate", TO_DATE, must_to_date, "The time that a text says in a layout."),
    function("ago", &[Param::Any], ago, "How long ago the time was.").per_revision(),
    function("unixEpoch", &[Param::Time], unix_epoch, "The seconds since 1970."),
    function("duration", &[Param::Any], duration, "A number of seconds as a duration."),
    function("durationRound", &[Param::Any], duration_round, "A duration in its greatest unit.")
        .per_revision(),
    function(
        "mustToDuration",
        &[Param::Any],
        helm::must_to_duration,
        "The argument as a duration; numbers are seconds.",
    ),
    function("durationWeeks", &[Param::Any], helm::weeks, "The weeks of a duration."),
    function("durationDays", &[Param::Any], helm::days, "The days of a duration."),
    function("durationHours", &[Param::Any], helm::hours, "The hours of a duration."),
    function("durationMinutes", &[Param::Any], helm::minutes, "The minutes of a duration."),
    function("durationSeconds", &[Param::Any], helm::seconds, "The seconds of a duration."),
    function(
        "durationMilliseconds",
        &[Param::Any],
        helm::milliseconds,
        "The whole milliseconds of a duration.",
    ),
    function(
        "durationMicroseconds",
        &[Param::Any],
        helm::microseconds,
        "The whole microseconds of a duration.",
    ),
    function("durationNanoseconds", &[Param::Any], helm::nanoseconds, "The nanoseconds of a duration."),
    function(
        "durationRoundTo",
        &[Param::Any, Param::Any],
        helm::round_to,
        "A duration rounded to a multiple of another.",
    ),
    function(
        "durationTruncateTo",
        &[Param::Any, Param::Any],
        helm::truncate_to,
        "A duration cut to a multiple of another.",
    ),
];

const DATE_IN_ZONE: &[Param] = &[Param::String, Param::Any, Param::String];
const DATE_MODIFY: &[Param] = &[Param::String, Param::Time];
const TO_DATE: &[Param] = &[Param::String, Param::String];

const fn function(
    name: &'static str,
    params: &'static [Param],
    native: Native,
    summary: &'static str,
) -> Function {
    Function::new(name, Family::Dates, params, native, summary)
}

/// A moment in UTC.
pub(super) fn utc(seconds: i64) -> Time {
    Zone::Utc.time(seconds, 0)
}

/// The present moment, in the local zone.
pub(super) fn present() -> Time {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    let elapsed = START.elapsed().as_nanos();
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let mut time =
        Zone::local().time(i64::try_from(since.as_secs()).unwrap_or(i64::MAX), since.subsec_nanos());
    time.monotonic = i64::try_from(elapsed).ok();
    time
}

/// Whether sprig's date functions know the value as a time; for all others they take the present.
pub(super) fn is_dated(value: &Value) -> bool {
    matches!(value.kind(), ValueKind::I64 | ValueKind::I128) || Type::of(value) == Some(Type::Time)
}

fn time_of(value: &Value) -> Time {
    match value.kind() {
        ValueKind::I64 | ValueKind::I128 => Zone::local().time(cast::to_int64(value), 0),
        _ => Time::from_value(value).unwrap_or_else(present),
    }
}

/// A time argument; the zero time for what is none.
fn time_argument(call: &Call<'_>, at: usize) -> Time {
    Time::from_value(call.arg(at)).unwrap_or_else(zero)
}

/// Go's zero time: the beginning of the year 1.
fn zero() -> Time {
    Zone::Utc.time(-62_135_596_800, 0)
}

fn now(_: &Call<'_>) -> Outcome {
    Ok(present().to_value())
}

fn in_zone(layout: &str, date: &Value, zone: &str) -> Value {
    let time = time_of(date);
    Value::from(format(&Zone::load(zone).time(time.seconds, time.nanoseconds), layout))
}

const HTML: &str = "2006-01-02";

fn date(call: &Call<'_>) -> Outcome {
    Ok(in_zone(&call.text(0), call.arg(1), "Local"))
}

fn date_in_zone(call: &Call<'_>) -> Outcome {
    Ok(in_zone(&call.text(0), call.arg(1), &call.text(2)))
}

fn html_date(call: &Call<'_>) -> Outcome {
    Ok(in_zone(HTML, call.arg(0), "Local"))
}

fn html_date_in_zone(call: &Call<'_>) -> Outcome {
    Ok(in_zone(HTML, call.arg(0), &call.text(1)))
}

fn must_date_modify(call: &Call<'_>) -> Outcome {
    let duration = duration::parse(call.bytes(0)).map_err(Error::Call)?;
    Ok(later(&time_argument(call, 1), duration).to_value())
}

fn date_modify(call: &Call<'_>) -> Outcome {
    match duration::parse(call.bytes(0)) {
        Ok(duration) => Ok(later(&time_argument(call, 1), duration).to_value()),
        Err(_) => Ok(call.arg(1).clone()),
    }
}

/// The time so many nanoseconds later. The offset of its zone is that of the new moment.
pub(super) fn later(time: &Time, duration: i64) -> Time {
    let nanoseconds = i64::from(time.nanoseconds) + duration % 1_000_000_000;
    let seconds = time.seconds.wrapping_add(duration / 1_000_000_000 + nanoseconds.div_euclid(1_000_000_000));
    let nanoseconds = u32::try_from(nanoseconds.rem_euclid(1_000_000_000)).unwrap_or_default();
    let mut moved = zone_of(time).time(seconds, nanoseconds);
    moved.location.clone_from(&time.location);
    moved.monotonic = time.monotonic.and_then(|reading| reading.checked_add(duration));
    moved
}

fn zone_of(time: &Time) -> Zone {
    match time.location.as_str() {
        "Local" => Zone::local(),
        "UTC" if time.offset == 0 => Zone::Utc,
        name => match Zone::load(name) {
            zone @ Zone::Named(..) => zone,
            _ => Zone::Fixed(time.offset, time.abbreviation.clone()),
        },
    }
}

/// The same moment in UTC.
pub(super) fn in_utc(time: &Time) -> Time {
    Time { monotonic: time.monotonic, ..Zone::Utc.time(time.seconds, time.nanoseconds) }
}

/// The same moment in the zone of the process.
pub(super) fn in_local(time: &Time) -> Time {
    Time { monotonic: time.monotonic, ..Zone::local().time(time.seconds, time.nanoseconds) }
}

/// Whether clocks are set to summer time.
pub(super) fn is_dst(time: &Time) -> bool {
    zone_of(time).is_dst(time.seconds)
}

/// Go's `Time.AddDate`: the same time of the day so many years, months and days later.
pub(super) fn add_date(time: &Time, years: i64, months: i64, days: i64) -> Time {
    let mut date = civil(time);
    date.year = date.year.saturating_add(years);
    date.month = date.month.saturating_add(months);
    date.day = date.day.saturating_add(days);
    let seconds = date.seconds();
    let seconds = i64::try_from(seconds).unwrap_or(if seconds < 0 { i64::MIN } else { i64::MAX });
    let zone = zone_of(time);
    let mut moved = zone.time(zone.moment(seconds), time.nanoseconds);
    moved.location.clone_from(&time.location);
    moved
}

/// A time read by a layout: in the zone of the process, or in one of its offset under a name of its own.
pub(super) fn read(layout: &str, text: &[u8], named: Option<&str>) -> Option<Time> {
    let zone = match named {
        None => Zone::local(),
        Some(name) => Zone::Fixed(Zone::local().at(present().seconds).1, name.to_owned()),
    };
    parse::parse(layout, text, &zone).ok()
}

fn must_to_date(call: &Call<'_>) -> Outcome {
    let time = parse::parse(&call.text(0), call.bytes(1), &Zone::local()).map_err(Error::Call)?;
    Ok(time.to_value())
}

fn to_date(call: &Call<'_>) -> Outcome {
    Ok(parse::parse(&call.text(0), call.bytes(1), &Zone::local()).unwrap_or_else(|_| zero()).to_value())
}

/// The nanoseconds from a time to the present, within what a duration holds.
fn since(time: &Time) -> i64 {
    let now = present();
    let seconds = i128::from(now.seconds) - i128::from(time.seconds);
    let nanoseconds = seconds * 1_000_000_000 + i128::from(now.nanoseconds) - i128::from(time.nanoseconds);
    i64::try_from(nanoseconds).unwrap_or(if nanoseconds < 0 { i64::MIN } else { i64::MAX })
}

fn ago(call: &Call<'_>) -> Outcome {
    Ok(Value::from(duration_text(duration::round(since(&time_of(call.arg(0))), 1_000_000_000))))
}

fn unix_epoch(call: &Call<'_>) -> Outcome {
    Ok(Value::from(time_argument(call, 0).seconds.to_string()))
}

fn duration(call: &Call<'_>) -> Outcome {
    let value = call.arg(0);
    let seconds = match value.kind() {
        ValueKind::String => cast::parse_int_clamped(value.as_str().unwrap_or_default()),
        ValueKind::I128 => cast::to_int64(value),
        _ => 0,
    };
    Ok(Value::from(duration_text(seconds.wrapping_mul(1_000_000_000))))
}

fn duration_round(call: &Call<'_>) -> Outcome {
    let value = call.arg(0);
    let duration = match value.kind() {
        ValueKind::String => duration::parse(call.bytes(0)).unwrap_or_default(),
        ValueKind::I128 => cast::to_int64(value),
        _ => Time::from_value(value).map_or(0, |time| since(&time)),
    };
    const SECOND: u64 = 1_000_000_000;
    const DAY: u64 = 24 * 3600 * SECOND;
    let size = duration.unsigned_abs();
    for (unit, name) in [
        (365 * DAY, "y"),
        (30 * DAY, "mo"),
        (DAY, "d"),
        (3600 * SECOND, "h"),
        (60 * SECOND, "m"),
        (SECOND, "s"),
    ] {
        if size > unit {
            return Ok(Value::from(format!("{}{name}", size / unit)));
        }
    }
    Ok(Value::from("0s"))
}

/// A `time.Duration`.
pub(super) fn duration_value(nanoseconds: i64) -> Value {
    typed::make(Type::Duration, [("value", Value::from(nanoseconds))])
}
