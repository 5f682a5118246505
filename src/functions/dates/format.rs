//! Writing times.

use std::fmt::{self, Write as _};

use super::{
    calendar::{Civil, year_day},
    layout::{self, Element, Offset},
};
use crate::value::time::{MONTHS, Time, WEEKDAYS};

/// Go's `Time.Format`.
pub(crate) fn format(time: &Time, layout: &str) -> String {
    let mut out = String::with_capacity(layout.len() + 10);
    // A string takes what is written to it.
    let _ = write(&mut out, time, layout);
    out
}

pub(crate) fn civil(time: &Time) -> Civil {
    Civil::of(i128::from(time.seconds) + i128::from(time.offset))
}

/// A number padded with zeros, whose sign does not count.
fn padded(out: &mut String, number: i64, width: usize) -> fmt::Result {
    if number < 0 {
        out.push('-');
    }
    write!(out, "{:0width$}", number.unsigned_abs())
}

fn write(out: &mut String, time: &Time, mut layout: &str) -> fmt::Result {
    let civil = civil(time);
    loop {
        let next = layout::next(layout);
        out.push_str(next.prefix);
        let Some((element, _)) = next.element else { return Ok(()) };
        layout = next.rest;
        let hour12 = if civil.hour % 12 == 0 { 12 } else { civil.hour % 12 };
        match element {
            Element::LongYear => padded(out, civil.year, 4)?,
            Element::Year => padded(out, civil.year.abs() % 100, 2)?,
            Element::LongMonth => out.push_str(month(civil)),
            Element::Month => out.push_str(&month(civil)[..3]),
            Element::NumMonth => padded(out, civil.month, 0)?,
            Element::ZeroMonth => padded(out, civil.month, 2)?,
            Element::LongWeekday => out.push_str(weekday(civil)),
            Element::Weekday => out.push_str(&weekday(civil)[..3]),
            Element::Day => padded(out, civil.day, 0)?,
            Element::UnderDay => write!(out, "{:2}", civil.day)?,
            Element::ZeroDay => padded(out, civil.day, 2)?,
            Element::UnderYearDay => write!(out, "{:3}", year_day(civil))?,
            Element::ZeroYearDay => padded(out, year_day(civil), 3)?,
            Element::Hour => padded(out, civil.hour, 2)?,
            Element::Hour12 => padded(out, hour12, 0)?,
            Element::ZeroHour12 => padded(out, hour12, 2)?,
            Element::Minute => padded(out, civil.minute, 0)?,
            Element::ZeroMinute => padded(out, civil.minute, 2)?,
            Element::Second => padded(out, civil.second, 0)?,
            Element::ZeroSecond => padded(out, civil.second, 2)?,
            Element::UpperPm => out.push_str(if civil.hour >= 12 { "PM" } else { "AM" }),
            Element::LowerPm => out.push_str(if civil.hour >= 12 { "pm" } else { "am" }),
            Element::Offset(form) => offset(out, time.offset, form)?,
            Element::Abbreviation if time.abbreviation.is_empty() => {
                offset(out, time.offset, Offset { z: false, colon: false, parts: 2 })?;
            }
            Element::Abbreviation => out.push_str(&time.abbreviation),
            Element::Fraction { separator, digits, trim } => {
                fraction(out, time.nanoseconds, char::from(separator), digits, trim);
            }
        }
    }
}

fn month(civil: Civil) -> &'static str {
    usize::try_from(civil.month - 1).ok().and_then(|at| MONTHS.get(at)).unwrap_or(&MONTHS[0])
}

fn weekday(civil: Civil) -> &'static str {
    usize::try_from(civil.weekday()).ok().and_then(|at| WEEKDAYS.get(at)).unwrap_or(&WEEKDAYS[0])
}

fn offset(out: &mut String, seconds: i32, form: Offset) -> fmt::Result {
    if form.z && seconds == 0 {
        out.push('Z');
        return Ok(());
    }
    // Go decides the sign by whole minutes.
    let minutes = seconds / 60;
    out.push(if minutes < 0 { '-' } else { '+' });
    let (minutes, rest) = (minutes.unsigned_abs(), (if minutes < 0 { -seconds } else { seconds }) % 60);
    let colon = if form.colon { ":" } else { "" };
    write!(out, "{:02}", minutes / 60)?;
    if form.parts > 1 {
        write!(out, "{colon}{:02}", minutes % 60)?;
    }
    if form.parts > 2 {
        out.push_str(colon);
        padded(out, i64::from(rest), 2)?;
    }
    Ok(())
}

fn fraction(out: &mut String, nanoseconds: u32, separator: char, digits: usize, trim: bool) {
    if trim && (digits == 0 || nanoseconds == 0) {
        return;
    }
    let all = format!("{nanoseconds:09}");
    let mut shown = &all[..digits.min(9)];
    if trim {
        shown = shown.trim_end_matches('0');
        if shown.is_empty() {
            return;
        }
    }
    out.push(separator);
    out.push_str(shown);
}
