//! Moments and durations as Go's package time has them, and how they print.

use std::fmt::{self, Write as _};

use tera::Value;

use super::{
    Error,
    typed::{Type, field, make},
};

/// A moment with its zone, as Go's `time.Time`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Time {
    /// Seconds since 1970-01-01T00:00:00Z, without leap seconds.
    pub seconds: i64,
    /// Nanoseconds within the second, below 10⁹.
    pub nanoseconds: u32,
    /// Offset of the zone, in seconds east of UTC.
    pub offset: i32,
    /// Abbreviation of the zone at that moment, such as `CEST`; empty where the zone has none.
    pub abbreviation: String,
    /// Name of the location, such as `Europe/Paris`, `UTC`, `Local` or empty for a fixed offset.
    pub location: String,
    /// The monotonic reading that `now` carries and `String` prints, in nanoseconds.
    pub monotonic: Option<i64>,
}

impl Time {
    /// The value of the time.
    #[must_use]
    pub fn to_value(&self) -> Value {
        make(
            Type::Time,
            [
                ("seconds", Value::from(self.seconds)),
                ("nanoseconds", Value::from(i64::from(self.nanoseconds))),
                ("offset", Value::from(i64::from(self.offset))),
                ("abbreviation", Value::from(self.abbreviation.as_str())),
                ("location", Value::from(self.location.as_str())),
                ("monotonic", Value::from(self.monotonic)),
            ],
        )
    }

    /// Reads what [`Time::to_value`] made; none for every other value.
    #[must_use]
    pub fn from_value(value: &Value) -> Option<Self> {
        if Type::of(value)? != Type::Time {
            return None;
        }
        let number = |name| field(value, name).and_then(Value::as_i64);
        let text = |name| field(value, name).and_then(Value::as_str).unwrap_or_default().to_owned();
        Some(Self {
            seconds: number("seconds")?,
            nanoseconds: u32::try_from(number("nanoseconds")?).ok()?,
            offset: i32::try_from(number("offset")?).ok()?,
            abbreviation: text("abbreviation"),
            location: text("location"),
            monotonic: number("monotonic"),
        })
    }
}

impl Time {
    /// Go's `Time.GoString`, which `%#v` prints.
    #[must_use]
    pub fn go_string(&self) -> String {
        let (year, month, day, second) = self.civil();
        let month = match month {
            1..=12 => format!("time.{}", month_text(i64::try_from(month).unwrap_or(0))),
            _ => month.to_string(),
        };
        let location = match self.location.as_str() {
            "UTC" => "time.UTC".to_owned(),
            "Local" => "time.Local".to_owned(),
            name => format!("time.Location({})", super::quote::quote(name.as_bytes())),
        };
        let (hour, minute) = (second / 3600, second / 60 % 60);
        let nanoseconds = self.nanoseconds;
        format!(
            "time.Date({year}, {month}, {day}, {hour}, {minute}, {}, {nanoseconds}, {location})",
            second % 60
        )
    }

    /// Go's `Time.MarshalJSON`, without the quotes: RFC 3339 with nanoseconds.
    ///
    /// # Errors
    /// Years that have not four digits, and offsets of a day and more, in the words of encoding/json.
    pub fn to_json(&self) -> Result<String, Error> {
        let wrong = |what: &str| {
            let text = format!("Time.MarshalJSON: {what}");
            Error::Marshaler("MarshalJSON".to_owned(), "time.Time".to_owned(), text)
        };
        let (year, month, day, second) = self.civil();
        if !(0..=9999).contains(&year) {
            return Err(wrong("year outside of range [0,9999]"));
        }
        let minutes = self.offset / 60;
        let zone = match (self.offset, minutes.abs()) {
            (0, _) => "Z".to_owned(),
            (_, 1440..) => return Err(wrong("timezone hour outside of range [0,23]")),
            (_, size) => format!("{}{:02}:{:02}", if minutes < 0 { '-' } else { '+' }, size / 60, size % 60),
        };
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        let fraction = self.fraction();
        Ok(format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{fraction}{zone}"))
    }

    /// The nanoseconds as `.123`, without trailing zeros; nothing where there are none.
    fn fraction(&self) -> String {
        if self.nanoseconds == 0 {
            return String::new();
        }
        let digits = format!("{:09}", self.nanoseconds);
        format!(".{}", digits.trim_end_matches('0'))
    }

    /// The numbers in Go's struct, which mistaken verbs show: nanoseconds, and seconds since the year 1.
    pub(super) fn readings(&self) -> (u64, i64) {
        (u64::from(self.nanoseconds), self.seconds.wrapping_add(62_135_596_800))
    }

    /// Year, month, day, and the second of the day, in the time's zone.
    fn civil(&self) -> (i128, i128, i128, i128) {
        let local = i128::from(self.seconds) + i128::from(self.offset);
        let (year, month, day) = civil(local.div_euclid(86_400));
        (year, month, day, local.rem_euclid(86_400))
    }
}

impl fmt::Display for Time {
    /// Go's `Time.String`: `2006-01-02 15:04:05.999999999 -0700 MST`, and the monotonic reading.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day, second) = self.civil();
        if year < 0 {
            out.write_char('-')?;
        }
        write!(out, "{:04}-{month:02}-{day:02} ", year.unsigned_abs())?;
        write!(out, "{:02}:{:02}:{:02}", second / 3600, second / 60 % 60, second % 60)?;
        out.write_str(&self.fraction())?;
        let minutes = self.offset / 60;
        let sign = if minutes < 0 { '-' } else { '+' };
        write!(out, " {sign}{:02}{:02} ", minutes.abs() / 60, minutes.abs() % 60)?;
        if self.abbreviation.is_empty() {
            write!(out, "{sign}{:02}{:02}", minutes.abs() / 60, minutes.abs() % 60)?;
        } else {
            out.write_str(&self.abbreviation)?;
        }
        if let Some(reading) = self.monotonic {
            let sign = if reading < 0 { '-' } else { '+' };
            let reading = reading.unsigned_abs();
            write!(out, " m={sign}{}.{:09}", reading / 1_000_000_000, reading % 1_000_000_000)?;
        }
        Ok(())
    }
}

/// Year, month and day of a day counted from 1970-01-01, in the proleptic Gregorian calendar.
fn civil(day: i128) -> (i128, i128, i128) {
    // Counted in eras of 400 years that begin on a 1st of March, so that the leap day is the last of its year.
    let day = day + 719_468;
    let (era, day_of_era) = (day.div_euclid(146_097), day.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = era * 400 + year_of_era + i128::from(month <= 2);
    (year, month, day_of_year - (153 * shifted + 2) / 5 + 1)
}

/// Go's `Duration.String`, of nanoseconds: `1h2m3.5s`, `1.5ms`, `0s`.
#[must_use]
pub fn duration_text(nanoseconds: i64) -> String {
    let mut out = String::new();
    if nanoseconds < 0 {
        out.push('-');
    }
    let nanos = nanoseconds.unsigned_abs();
    let fraction = |value: u64, digits: usize, unit: u64| {
        let rest = value % unit;
        if rest == 0 {
            String::new()
        } else {
            format!(".{}", format!("{rest:0digits$}").trim_end_matches('0'))
        }
    };
    match nanos {
        0 => out.push_str("0s"),
        1..1_000 => out.push_str(&format!("{nanos}ns")),
        1_000..1_000_000 => out.push_str(&format!("{}{}µs", nanos / 1_000, fraction(nanos, 3, 1_000))),
        1_000_000..1_000_000_000 => {
            out.push_str(&format!("{}{}ms", nanos / 1_000_000, fraction(nanos, 6, 1_000_000)));
        }
        _ => {
            let seconds = nanos / 1_000_000_000;
            if seconds >= 3600 {
                out.push_str(&format!("{}h", seconds / 3600));
            }
            if seconds >= 60 {
                out.push_str(&format!("{}m", seconds / 60 % 60));
            }
            out.push_str(&format!("{}{}s", seconds % 60, fraction(nanos, 9, 1_000_000_000)));
        }
    }
    out
}

/// The names of the months, from January.
pub const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// The names of the days of a week, from Sunday.
pub const WEEKDAYS: [&str; 7] =
    ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/// Go's `Month.String`; January is 1.
#[must_use]
pub fn month_text(month: i64) -> String {
    let known = usize::try_from(month).ok().and_then(|month| MONTHS.get(month.checked_sub(1)?));
    known.map_or_else(|| format!("%!Month({})", month.cast_unsigned()), |name| (*name).to_owned())
}

/// Go's `Weekday.String`; Sunday is 0.
#[must_use]
pub fn weekday_text(day: i64) -> String {
    let known = usize::try_from(day).ok().and_then(|day| WEEKDAYS.get(day));
    known.map_or_else(|| format!("%!Weekday({})", day.cast_unsigned()), |name| (*name).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_print_as_in_go() {
        let mut time = Time {
            seconds: 1_136_239_445,
            nanoseconds: 0,
            offset: -25_200,
            abbreviation: "MST".to_owned(),
            location: String::new(),
            monotonic: None,
        };
        assert_eq!(time.to_string(), "2006-01-02 15:04:05 -0700 MST");
        assert_eq!(Time::from_value(&time.to_value()), Some(time.clone()));
        time.nanoseconds = 120_000_000;
        time.offset = 19_800;
        time.abbreviation.clear();
        time.monotonic = Some(1_500_000_000);
        assert_eq!(time.to_string(), "2006-01-03 03:34:05.12 +0530 +0530 m=+1.500000000");
        time.seconds = -62_135_596_800;
        time.offset = 0;
        time.monotonic = None;
        time.nanoseconds = 0;
        time.abbreviation = "UTC".to_owned();
        assert_eq!(time.to_string(), "0001-01-01 00:00:00 +0000 UTC");
    }

    #[test]
    fn times_are_written_to_json_as_in_go() {
        let time = |seconds, nanoseconds, offset| {
            let (abbreviation, location) = (String::new(), String::new());
            Time { seconds, nanoseconds, offset, abbreviation, location, monotonic: None }.to_json()
        };
        assert_eq!(time(0, 0, 0).unwrap(), "1970-01-01T00:00:00Z");
        assert_eq!(time(0, 120, -5400).unwrap(), "1969-12-31T22:30:00.00000012-01:30");
        assert_eq!(
            time(300_000_000_000, 0, 0).unwrap_err().to_string(),
            "json: error calling MarshalJSON for type time.Time: Time.MarshalJSON: year outside of range [0,9999]"
        );
    }

    #[test]
    fn durations_print_as_in_go() {
        for (nanoseconds, text) in [
            (0, "0s"),
            (1, "1ns"),
            (1_100, "1.1µs"),
            (2_200_000, "2.2ms"),
            (3_300_000_000, "3.3s"),
            (245_000_000_000, "4m5s"),
            (245_001_000_000, "4m5.001s"),
            (18_367_001_000_000, "5h6m7.001s"),
            (480_000_000_001, "8m0.000000001s"),
            (i64::MAX, "2562047h47m16.854775807s"),
            (i64::MIN, "-2562047h47m16.854775808s"),
        ] {
            assert_eq!(duration_text(nanoseconds), text);
        }
    }
}
