//! Time zones by name, with the database that is built in.

use std::sync::LazyLock;

use jiff::{Timestamp, tz::TimeZone};

use crate::value::time::Time;

/// A zone, as Go's `time.Location`.
#[derive(Clone, Debug)]
pub(super) enum Zone {
    Utc,
    /// A zone of the database under its name.
    Named(TimeZone, String),
    /// A fixed number of seconds east of UTC, with an abbreviation that may be empty.
    Fixed(i32, String),
}

/// The zone of the process: `TZ`, or what the system is set to, read once.
static LOCAL: LazyLock<Zone> = LazyLock::new(|| match std::env::var("TZ") {
    Ok(name) => {
        let name = name.strip_prefix(':').unwrap_or(&name);
        if name.starts_with('/') { system() } else { named(name).unwrap_or(Zone::Utc) }
    }
    Err(_) => system(),
});

fn system() -> Zone {
    match TimeZone::try_system() {
        Ok(zone) if zone.is_unknown() => Zone::Utc,
        Ok(zone) => Zone::Named(zone, "Local".to_owned()),
        Err(_) => Zone::Utc,
    }
}

/// A zone of the database; none for a name that is not in it, letter by letter.
fn named(name: &str) -> Option<Zone> {
    match name {
        "" | "UTC" => Some(Zone::Utc),
        _ => {
            let zone = TimeZone::get(name).ok()?;
            (zone.iana_name() == Some(name)).then(|| Zone::Named(zone, name.to_owned()))
        }
    }
}

/// A moment that the zone's rules treat alike, in the years that the database covers: rules repeat with the calendar,
/// every 400 years.
fn within(seconds: i64) -> i64 {
    const CYCLE: i64 = 146_097 * 86_400;
    let last = Timestamp::MAX.as_second() - 86_400;
    if seconds > last {
        let beyond = (seconds - last) / CYCLE + 1;
        return seconds - beyond * CYCLE;
    }
    seconds.max(Timestamp::MIN.as_second())
}

impl Zone {
    pub(super) fn local() -> Self {
        LOCAL.clone()
    }

    /// Go's `time.LoadLocation`, which takes UTC for what it does not know as sprig does.
    pub(super) fn load(name: &str) -> Self {
        if name == "Local" { Self::local() } else { named(name).unwrap_or(Self::Utc) }
    }

    /// The abbreviation and the offset at a moment.
    pub(super) fn at(&self, seconds: i64) -> (String, i32) {
        match self {
            Self::Utc => ("UTC".to_owned(), 0),
            Self::Fixed(offset, abbreviation) => (abbreviation.clone(), *offset),
            Self::Named(zone, _) => {
                let Ok(moment) = Timestamp::from_second(within(seconds)) else {
                    return ("UTC".to_owned(), 0);
                };
                let info = zone.to_offset_info(moment);
                (info.abbreviation().to_owned(), info.offset().seconds())
            }
        }
    }

    /// Whether a moment is in summer time.
    pub(super) fn is_dst(&self, seconds: i64) -> bool {
        let Self::Named(zone, _) = self else { return false };
        Timestamp::from_second(within(seconds)).is_ok_and(|moment| zone.to_offset_info(moment).dst().is_dst())
    }

    pub(super) fn name(&self) -> &str {
        match self {
            Self::Utc => "UTC",
            Self::Named(_, name) | Self::Fixed(_, name) => name,
        }
    }

    /// A moment in this zone.
    pub(super) fn time(&self, seconds: i64, nanoseconds: u32) -> Time {
        let (abbreviation, offset) = self.at(seconds);
        Time { seconds, nanoseconds, offset, abbreviation, location: self.name().to_owned(), monotonic: None }
    }

    /// The moment at which clocks in the zone show this many seconds since 1970, as Go's `time.Date` finds it.
    pub(super) fn moment(&self, civil: i64) -> i64 {
        match self.at(civil).1 {
            0 => civil,
            guess => {
                let (_, offset) = self.at(civil.saturating_sub(i64::from(guess)));
                civil.saturating_sub(i64::from(offset))
            }
        }
    }

    /// The offset that an abbreviation stands for at a time on the clock; none if the zone never has it.
    pub(super) fn offset_of(&self, abbreviation: &str, civil: i64) -> Option<i32> {
        let Self::Named(zone, _) = self else { return None };
        let mut offsets: Vec<i32> = Vec::new();
        // Rules without an end repeat after the last change that the database lists.
        for change in zone.following(Timestamp::MIN).take(1_000) {
            let offset = change.offset().seconds();
            if change.abbreviation() == abbreviation && !offsets.contains(&offset) {
                offsets.push(offset);
            }
        }
        let holds = |offset: &&i32| self.at(civil - i64::from(**offset)).0 == abbreviation;
        offsets.iter().find(holds).or(offsets.first()).copied()
    }
}
