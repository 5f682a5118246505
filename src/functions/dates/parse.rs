//! Reading times by a layout, with Go's errors.

use super::{
    calendar::{Civil, days_before, days_in, is_leap},
    layout::{self, Element, Offset},
    zone::Zone,
};
use crate::value::time::{MONTHS, Time, WEEKDAYS};

/// Go's quoting of what it could not read: everything beyond printable ASCII as bytes.
pub(super) fn quote(text: &[u8]) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for &byte in text {
        match byte {
            b'"' | b'\\' => out.extend(['\\', char::from(byte)]),
            b' '..=0x7F => out.push(char::from(byte)),
            _ => out.push_str(&format!("\\x{byte:02x}")),
        }
    }
    out.push('"');
    out
}

/// Why an element could not be read.
enum Fault {
    /// The text does not look like the element.
    Bad,
    /// The number is out of the range of what the word says.
    Range(&'static str),
}

/// What has been read so far.
#[derive(Default)]
struct Parts {
    year: i64,
    month: Option<i64>,
    day: Option<i64>,
    year_day: Option<i64>,
    hour: i64,
    minute: i64,
    second: i64,
    nanoseconds: i64,
    am: bool,
    pm: bool,
    utc: bool,
    offset: Option<i64>,
    abbreviation: String,
}

/// Go's `time.ParseInLocation`.
pub(crate) fn parse(layout: &str, text: &[u8], zone: &Zone) -> Result<Time, String> {
    let whole = |message: &str| format!("parsing time {}{message}", quote(text));
    let cannot = |rest: &[u8], element: &str| {
        let (layout, rest) = (quote(layout.as_bytes()), quote(rest));
        whole(&format!(" as {layout}: cannot parse {rest} as {}", quote(element.as_bytes())))
    };
    let mut parts = Parts::default();
    let (mut rest, mut layout_rest) = (text, layout);
    loop {
        let next = layout::next(layout_rest);
        rest = skip(rest, next.prefix.as_bytes()).map_err(|rest| cannot(rest, next.prefix))?;
        layout_rest = next.rest;
        let Some((element, name)) = next.element else { break };
        let before = rest;
        match parts.take(element, &mut rest, layout_rest) {
            Ok(()) => {}
            Err(Fault::Bad) => return Err(cannot(before, name)),
            Err(Fault::Range(what)) => return Err(whole(&format!(": {what} out of range"))),
        }
    }
    if !rest.is_empty() {
        return Err(whole(&format!(": extra text: {}", quote(rest))));
    }
    parts.finish(zone).map_err(|message| whole(&format!(": {message}")))
}

/// Takes literal text off; any run of spaces is as good as another. An error is where it failed.
fn skip<'t>(mut text: &'t [u8], mut literal: &[u8]) -> Result<&'t [u8], &'t [u8]> {
    while let Some(&byte) = literal.first() {
        if byte == b' ' {
            if text.first().is_some_and(|&byte| byte != b' ') {
                return Err(text);
            }
            literal = literal.trim_ascii_start_spaces();
            text = text.trim_ascii_start_spaces();
            continue;
        }
        if text.first() != Some(&byte) {
            return Err(text);
        }
        (text, literal) = (&text[1..], &literal[1..]);
    }
    Ok(text)
}

trait Spaces {
    fn trim_ascii_start_spaces(&self) -> &Self;
}

impl Spaces for [u8] {
    fn trim_ascii_start_spaces(&self) -> &Self {
        &self[self.iter().take_while(|&&byte| byte == b' ').count()..]
    }
}

/// Takes between `least` and `most` digits.
fn number(text: &mut &[u8], least: usize, most: usize) -> Result<i64, Fault> {
    let count = text.iter().take(most).take_while(|byte| byte.is_ascii_digit()).count();
    if count < least {
        return Err(Fault::Bad);
    }
    let (digits, rest) = text.split_at(count);
    *text = rest;
    Ok(digits.iter().fold(0, |number, digit| number * 10 + i64::from(digit - b'0')))
}

/// Takes a number, and refuses it beyond a range.
fn number_in(
    text: &mut &[u8],
    least: usize,
    range: std::ops::RangeInclusive<i64>,
    what: &'static str,
) -> Result<i64, Fault> {
    let number = number(text, least, 2)?;
    if range.contains(&number) { Ok(number) } else { Err(Fault::Range(what)) }
}

/// Takes one of the names, of which the first `letters` count; upper and lower case are the same.
fn name(text: &mut &[u8], names: &[&str], letters: usize) -> Result<i64, Fault> {
    for (at, name) in names.iter().enumerate() {
        let name = &name.as_bytes()[..name.len().min(letters)];
        if text.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name)) {
            *text = &text[name.len()..];
            return Ok(i64::try_from(at).unwrap_or_default());
        }
    }
    Err(Fault::Bad)
}

fn take<'t>(text: &mut &'t [u8], count: usize) -> Result<&'t [u8], Fault> {
    let (taken, rest) = text.split_at_checked(count).ok_or(Fault::Bad)?;
    *text = rest;
    Ok(taken)
}

/// A separator and digits as nanoseconds; more than nine digits are cut.
fn fraction(text: &[u8]) -> Result<i64, Fault> {
    if !matches!(text.first(), Some(b'.' | b',')) {
        return Err(Fault::Bad);
    }
    let digits = &text[1..text.len().min(10)];
    // Go reads these with a sign.
    let (sign, unsigned) = match digits.first() {
        Some(b'-') => (-1, &digits[1..]),
        Some(b'+') => (1, &digits[1..]),
        _ => (1, digits),
    };
    if !unsigned.iter().all(u8::is_ascii_digit) {
        return Err(Fault::Bad);
    }
    let number = sign * unsigned.iter().fold(0, |number: i64, digit| number * 10 + i64::from(digit - b'0'));
    if number < 0 {
        return Err(Fault::Range("fractional second"));
    }
    Ok((digits.len()..9).fold(number, |number, _| number * 10))
}

impl Parts {
    /// Takes an element off the text. The layout after it decides whether seconds take a fraction with them.
    fn take(&mut self, element: Element, text: &mut &[u8], layout: &str) -> Result<(), Fault> {
        match element {
            Element::Year => {
                // Go reads the two bytes with a sign.
                let digits = std::str::from_utf8(take(text, 2)?).map_err(|_| Fault::Bad)?;
                let year: i64 = digits.parse().map_err(|_| Fault::Bad)?;
                self.year = if year >= 69 { year + 1900 } else { year + 2000 };
            }
            Element::LongYear => self.year = number(text, 4, 4)?,
            Element::Month => self.month = Some(name(text, &MONTHS, 3)? + 1),
            Element::LongMonth => self.month = Some(name(text, &MONTHS, usize::MAX)? + 1),
            Element::NumMonth => self.month = Some(number_in(text, 1, 1..=12, "month")?),
            Element::ZeroMonth => self.month = Some(number_in(text, 2, 1..=12, "month")?),
            Element::Weekday => drop(name(text, &WEEKDAYS, 3)?),
            Element::LongWeekday => drop(name(text, &WEEKDAYS, usize::MAX)?),
            Element::Day => self.day = Some(number(text, 1, 2)?),
            Element::UnderDay => {
                *text = text.strip_prefix(b" ").unwrap_or(text);
                self.day = Some(number(text, 1, 2)?);
            }
            Element::ZeroDay => self.day = Some(number(text, 2, 2)?),
            Element::UnderYearDay => {
                *text = text.strip_prefix(b" ").unwrap_or(text);
                *text = text.strip_prefix(b" ").unwrap_or(text);
                self.year_day = Some(number(text, 1, 3)?);
            }
            Element::ZeroYearDay => self.year_day = Some(number(text, 3, 3)?),
            Element::Hour => self.hour = number_in(text, 1, 0..=23, "hour")?,
            Element::Hour12 => self.hour = number_in(text, 1, 0..=12, "hour")?,
            Element::ZeroHour12 => self.hour = number_in(text, 2, 0..=12, "hour")?,
            Element::Minute => self.minute = number_in(text, 1, 0..=59, "minute")?,
            Element::ZeroMinute => self.minute = number_in(text, 2, 0..=59, "minute")?,
            Element::Second => self.take_second(text, 1, layout)?,
            Element::ZeroSecond => self.take_second(text, 2, layout)?,
            Element::UpperPm => self.take_half(text, b"AM", b"PM")?,
            Element::LowerPm => self.take_half(text, b"am", b"pm")?,
            Element::Offset(form) => self.take_offset(text, form)?,
            Element::Abbreviation => self.take_abbreviation(text)?,
            Element::Fraction { digits, trim: false, .. } => {
                self.nanoseconds = fraction(take(text, digits + 1)?)?;
            }
            Element::Fraction { .. } => self.take_fraction(text)?,
        }
        Ok(())
    }

    fn take_second(&mut self, text: &mut &[u8], least: usize, layout: &str) -> Result<(), Fault> {
        self.second = number_in(text, least, 0..=59, "second")?;
        let next = layout::next(layout).element;
        if matches!(next, Some((Element::Fraction { .. }, _))) {
            return Ok(());
        }
        self.take_fraction(text)
    }

    /// Takes a fraction of any length, if there is one.
    fn take_fraction(&mut self, text: &mut &[u8]) -> Result<(), Fault> {
        if !matches!(**text, [b'.' | b',', b'0'..=b'9', ..]) {
            return Ok(());
        }
        let digits = text[1..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.nanoseconds = fraction(take(text, 1 + digits)?)?;
        Ok(())
    }

    fn take_half(&mut self, text: &mut &[u8], am: &[u8], pm: &[u8]) -> Result<(), Fault> {
        let half = take(text, 2)?;
        if half == pm {
            self.pm = true;
        } else if half == am {
            self.am = true;
        } else {
            return Err(Fault::Bad);
        }
        Ok(())
    }

    fn take_offset(&mut self, text: &mut &[u8], form: Offset) -> Result<(), Fault> {
        if form.z && text.first() == Some(&b'Z') {
            *text = &text[1..];
            self.utc = true;
            return Ok(());
        }
        let taken = take(text, form.width())?;
        let step = if form.colon { 3 } else { 2 };
        if form.colon && (1..form.parts).any(|part| taken[part * step] != b':') {
            return Err(Fault::Bad);
        }
        let mut numbers = [0_i64; 3];
        let mut bad = false;
        for (part, number) in numbers.iter_mut().enumerate().take(form.parts) {
            let from = 1 + part * step;
            match self::number(&mut &taken[from..from + 2], 2, 2) {
                Ok(read) if !bad => *number = read,
                _ => bad = true,
            }
        }
        let [hours, minutes, seconds] = numbers;
        // Ranges come before malformed parts, and the last one counts.
        for (number, most, what) in [
            (seconds, 60, "time zone offset second"),
            (minutes, 60, "time zone offset minute"),
            (hours, 24, "time zone offset hour"),
        ] {
            if number > most {
                return Err(Fault::Range(what));
            }
        }
        if bad {
            return Err(Fault::Bad);
        }
        let offset = (hours * 60 + minutes) * 60 + seconds;
        self.offset = Some(match taken[0] {
            b'+' => offset,
            b'-' => -offset,
            _ => return Err(Fault::Bad),
        });
        Ok(())
    }

    fn take_abbreviation(&mut self, text: &mut &[u8]) -> Result<(), Fault> {
        if let Some(rest) = text.strip_prefix(b"UTC") {
            *text = rest;
            self.utc = true;
            return Ok(());
        }
        let length = abbreviation(text).ok_or(Fault::Bad)?;
        self.abbreviation = String::from_utf8_lossy(take(text, length)?).into_owned();
        Ok(())
    }

    fn finish(mut self, zone: &Zone) -> Result<Time, &'static str> {
        if self.pm && self.hour < 12 {
            self.hour += 12;
        } else if self.am && !self.pm && self.hour == 12 {
            self.hour = 0;
        }
        if let Some(day) = self.year_day {
            self.by_year_day(day)?;
        }
        let (month, day) = (self.month.unwrap_or(1), self.day.unwrap_or(1));
        if day < 1 || day > days_in(month, self.year) {
            return Err("day out of range");
        }
        let civil =
            Civil { year: self.year, month, day, hour: self.hour, minute: self.minute, second: self.second };
        let clock = i64::try_from(civil.seconds()).unwrap_or_default();
        let nanoseconds = u32::try_from(self.nanoseconds).unwrap_or_default();
        if self.utc {
            return Ok(Zone::Utc.time(clock, nanoseconds));
        }
        if let Some(offset) = self.offset {
            let moment = clock - offset;
            let (name, here) = zone.at(moment);
            let same =
                i64::from(here) == offset && (self.abbreviation.is_empty() || name == self.abbreviation);
            let fixed = Zone::Fixed(i32::try_from(offset).unwrap_or_default(), self.abbreviation);
            return Ok(if same { zone } else { &fixed }.time(moment, nanoseconds));
        }
        if self.abbreviation.is_empty() {
            return Ok(zone.time(zone.moment(clock), nanoseconds));
        }
        if let Some(offset) = zone.offset_of(&self.abbreviation, clock) {
            return Ok(zone.time(clock - i64::from(offset), nanoseconds));
        }
        // A name that means nothing here is kept, at the time as it is written.
        let hours = self.abbreviation.strip_prefix("GMT").and_then(|hours| hours.parse::<i32>().ok());
        let offset = hours.unwrap_or(0) * 3600;
        Ok(Zone::Fixed(offset, self.abbreviation).time(clock, nanoseconds))
    }

    /// Month and day out of the day of the year, which must agree with those that are there.
    fn by_year_day(&mut self, mut day_of_year: i64) -> Result<(), &'static str> {
        let mut found = None;
        if is_leap(self.year) {
            if day_of_year == 31 + 29 {
                found = Some((2, 29));
            } else if day_of_year > 31 + 29 {
                day_of_year -= 1;
            }
        }
        if !(1..=365).contains(&day_of_year) {
            return Err("day-of-year out of range");
        }
        let (month, day) = found.unwrap_or_else(|| {
            let month = (1..=12).rev().find(|month| days_before(*month) < day_of_year).unwrap_or(1);
            (month, day_of_year - days_before(month))
        });
        if self.month.is_some_and(|already| already != month) {
            return Err("day-of-year does not match month");
        }
        if self.day.is_some_and(|already| already != day) {
            return Err("day-of-year does not match day");
        }
        (self.month, self.day) = (Some(month), Some(day));
        Ok(())
    }
}

/// The length of what looks like the abbreviation of a zone.
fn abbreviation(text: &[u8]) -> Option<usize> {
    if text.len() < 3 {
        return None;
    }
    if text.starts_with(b"ChST") || text.starts_with(b"MeST") {
        return Some(4);
    }
    if text.starts_with(b"GMT") {
        return Some(3 + signed_hours(&text[3..]));
    }
    if matches!(text[0], b'+' | b'-') {
        return Some(signed_hours(text)).filter(|length| *length > 0);
    }
    match text.iter().take(6).take_while(|byte| byte.is_ascii_uppercase()).count() {
        5 if text[4] == b'T' => Some(5),
        4 if text[3] == b'T' || text.starts_with(b"WITA") => Some(4),
        3 => Some(3),
        _ => None,
    }
}

/// The length of a sign and a number up to 23; 0 for everything else.
fn signed_hours(text: &[u8]) -> usize {
    if !matches!(text.first(), Some(b'+' | b'-')) {
        return 0;
    }
    let digits = text[1..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let hours = std::str::from_utf8(&text[1..=digits]).ok().and_then(|digits| digits.parse::<u64>().ok());
    match hours {
        Some(0..=23) => 1 + digits,
        _ => 0,
    }
}
