//! Go's duration syntax (`time.ParseDuration`), which Kubernetes configuration uses: `1h30m`, `1.5s`, `300ms`, `0`.

use std::time::Duration;

/// Why a text is not a duration that can be waited for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// Not Go's syntax.
    #[error("invalid duration {0:?}: write it as 30s, 5m or 1h30m")]
    Syntax(String),
    /// A number without a unit, which Go refuses too.
    #[error("missing unit in duration {0:?}: write it as 30s, 5m or 1h30m")]
    Unit(String),
    /// Below zero.
    #[error("negative duration {0:?}")]
    Negative(String),
}

/// Parses a Go duration.
///
/// ```
/// use std::time::Duration;
/// assert_eq!(pintle::api::duration::parse("1m30s"), Ok(Duration::from_secs(90)));
/// assert_eq!(pintle::api::duration::parse("0"), Ok(Duration::ZERO));
/// assert!(pintle::api::duration::parse("90").is_err());
/// ```
pub fn parse(text: &str) -> Result<Duration, Error> {
    let syntax = || Error::Syntax(text.to_owned());
    let mut rest = match text.strip_prefix('-') {
        Some("0") => return Ok(Duration::ZERO),
        Some(_) => return Err(Error::Negative(text.to_owned())),
        None => text.strip_prefix('+').unwrap_or(text),
    };
    if rest == "0" {
        return Ok(Duration::ZERO);
    }
    if rest.is_empty() {
        return Err(syntax());
    }
    let mut total = Duration::ZERO;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (number, tail) = rest.split_at(digits);
        let unit_end = tail.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(tail.len());
        let (unit, tail) = tail.split_at(unit_end);
        let amount: f64 = number.parse().map_err(|_| syntax())?;
        let seconds = match unit {
            "ns" => 1e-9,
            "us" | "µs" | "μs" => 1e-6,
            "ms" => 1e-3,
            "s" => 1.0,
            "m" => 60.0,
            "h" => 3600.0,
            "" => return Err(Error::Unit(text.to_owned())),
            _ => return Err(syntax()),
        };
        let part = Duration::try_from_secs_f64(amount * seconds).map_err(|_| syntax())?;
        total = total.checked_add(part).ok_or_else(syntax)?;
        rest = tail;
    }
    Ok(total)
}

/// Durations as text, for serde's `with`.
pub mod text {
    use std::time::Duration;

    use serde::{Deserialize as _, Deserializer, Serializer};

    /// Reads Go's syntax; null is none.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
        let text = Option::<String>::deserialize(deserializer)?;
        text.map(|t| super::parse(&t)).transpose().map_err(serde::de::Error::custom)
    }

    /// Writes seconds, in Go's syntax.
    pub fn serialize<S: Serializer>(duration: &Option<Duration>, serializer: S) -> Result<S::Ok, S::Error> {
        match duration {
            Some(d) => serializer.collect_str(&format_args!("{}s", d.as_secs_f64())),
            None => serializer.serialize_none(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn go_durations() {
        assert_eq!(parse("1h2m3s"), Ok(Duration::from_secs(3723)));
        assert_eq!(parse("1.5s"), Ok(Duration::from_millis(1500)));
        assert_eq!(parse("250ms"), Ok(Duration::from_millis(250)));
        assert_eq!(parse("1m0s"), Ok(Duration::from_secs(60)));
        assert_eq!(parse("60"), Err(Error::Unit("60".into())));
        assert_eq!(parse("-1s"), Err(Error::Negative("-1s".into())));
        for bad in ["", "s", "1d", "1..s", "1s ", "99999999999999999999h"] {
            assert_eq!(parse(bad), Err(Error::Syntax(bad.into())), "{bad}");
        }
    }
}
