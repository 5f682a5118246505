//! Days and dates of the Gregorian calendar, without an end.

/// A date and the time of its day, without a zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Civil {
    pub(crate) year: i64,
    /// From 1.
    pub(crate) month: i64,
    /// From 1.
    pub(crate) day: i64,
    pub(crate) hour: i64,
    pub(crate) minute: i64,
    pub(crate) second: i64,
}

pub(super) const fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

pub(super) const fn days_in(month: i64, year: i64) -> i64 {
    match month {
        2 => 28 + is_leap(year) as i64,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// The days of a year that is no leap year before a month.
pub(super) const fn days_before(month: i64) -> i64 {
    let mut days = 0;
    let mut before = 1;
    while before < month {
        days += days_in(before, 1);
        before += 1;
    }
    days
}

/// The day of the year, from 1.
pub(crate) const fn year_day(civil: Civil) -> i64 {
    days_before(civil.month) + civil.day + (civil.month > 2 && is_leap(civil.year)) as i64
}

impl Civil {
    /// Of seconds since 1970-01-01T00:00:00.
    pub(super) fn of(seconds: i128) -> Self {
        let (days, clock) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
        // Years that begin in March end with the day that comes and goes; 400 of them are 146,097 days.
        let from = days + 719_468;
        let (era, day_of_era) = (from.div_euclid(146_097), from.rem_euclid(146_097));
        let year_of_era =
            (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let shifted = (5 * day_of_year + 2) / 153;
        let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
        let year = year_of_era + era * 400 + i128::from(month <= 2);
        let small = |n: i128| i64::try_from(n).unwrap_or_default();
        Self {
            year: small(year),
            month: small(month),
            day: small(day_of_year - (153 * shifted + 2) / 5 + 1),
            hour: small(clock / 3600),
            minute: small(clock / 60 % 60),
            second: small(clock % 60),
        }
    }

    /// Seconds since 1970-01-01T00:00:00. The parts may be out of their ranges.
    pub(super) fn seconds(self) -> i128 {
        let months = i128::from(self.month) - 1;
        let year = i128::from(self.year) + months.div_euclid(12);
        let month = months.rem_euclid(12) + 1;
        let from_march = if month > 2 { month - 3 } else { month + 9 };
        let shifted = if month > 2 { year } else { year - 1 };
        let (era, year_of_era) = (shifted.div_euclid(400), shifted.rem_euclid(400));
        let day_of_year = (153 * from_march + 2) / 5 + i128::from(self.day) - 1;
        let days =
            era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468;
        days * 86_400 + i128::from(self.hour) * 3600 + i128::from(self.minute) * 60 + i128::from(self.second)
    }

    /// From 0, Sunday.
    pub(crate) fn weekday(self) -> i64 {
        let days = self.seconds().div_euclid(86_400);
        i64::try_from((days + 4).rem_euclid(7)).unwrap_or_default()
    }
}
