//! Formats of strings, with the complaints of Helm's library.

use super::pattern::Pattern;
use crate::value::net;
use crate::value::quote::quote;

/// A named form of text.
pub(super) struct Format {
    pub(super) name: &'static str,
    pub(super) check: fn(&str) -> Result<(), String>,
}

static FORMATS: &[Format] = &[
    Format { name: "regex", check: regex },
    Format { name: "json-pointer", check: json_pointer },
    Format { name: "relative-json-pointer", check: relative_json_pointer },
    Format { name: "uuid", check: uuid },
    Format { name: "duration", check: duration },
    Format { name: "period", check: period },
    Format { name: "ipv4", check: ipv4 },
    Format { name: "ipv6", check: ipv6 },
    Format { name: "hostname", check: hostname },
    Format { name: "email", check: email },
    Format { name: "date", check: date },
    Format { name: "time", check: time },
    Format { name: "date-time", check: date_time },
    Format { name: "uri", check: uri },
    Format { name: "iri", check: uri },
    Format { name: "uri-reference", check: uri_reference },
    Format { name: "iri-reference", check: uri_reference },
    Format { name: "uri-template", check: uri_template },
    Format { name: "semver", check: semver },
];

/// The format of a name; unknown ones constrain nothing.
pub(super) fn named(name: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.name == name)
}

/// Refuses with a text, unless a condition holds.
fn ensure(holds: bool, text: &str) -> Result<(), String> {
    if holds { Ok(()) } else { Err(text.to_owned()) }
}

/// A rune in Go's `%q`.
fn rune(c: char) -> String {
    match c {
        '\'' => r"'\''".into(),
        '"' => "'\"'".into(),
        c => {
            let quoted = quote(c.encode_utf8(&mut [0; 4]).as_bytes());
            format!("'{}'", &quoted[1..quoted.len() - 1])
        }
    }
}

fn regex(text: &str) -> Result<(), String> {
    Pattern::new(text).map(drop)
}

fn json_pointer(text: &str) -> Result<(), String> {
    if text.is_empty() {
        return Ok(());
    }
    ensure(text.starts_with('/'), "not starting with /")?;
    for part in text.split('/').skip(1) {
        let mut escape = false;
        for c in part.chars() {
            let escaped = std::mem::take(&mut escape);
            escape = c == '~' && !escaped;
            if escaped {
                ensure(c == '0' || c == '1', "~ must be followed by 0 or 1")?;
            }
        }
        ensure(!escape, "~ must be followed by 0 or 1")?;
    }
    Ok(())
}

fn relative_json_pointer(text: &str) -> Result<(), String> {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let digits = text.len() - rest.len();
    ensure(digits > 0, "must start with non-negative integer")?;
    ensure(digits == 1 || !text.starts_with('0'), "starts with zero")?;
    if rest == "#" { Ok(()) } else { json_pointer(rest) }
}

fn uuid(text: &str) -> Result<(), String> {
    let lengths = [8, 4, 4, 4, 12];
    let groups: Vec<_> = text.split('-').collect();
    ensure(groups.len() == lengths.len(), "must have 5 elements")?;
    for (index, (group, length)) in groups.into_iter().zip(lengths).enumerate() {
        ensure(group.len() == length, &format!("element {} must be {length} characters long", index + 1))?;
        if let Some(c) = group.chars().find(|c| !c.is_ascii_hexdigit()) {
            return Err(format!("non-hex character {}", rune(c)));
        }
    }
    Ok(())
}

fn duration(text: &str) -> Result<(), String> {
    let text = text.strip_prefix('P').ok_or("must start with P")?;
    ensure(!text.is_empty(), "nothing after P")?;
    if let Some(weeks) = text.strip_suffix('W') {
        ensure(!weeks.is_empty(), "no number in week")?;
        return ensure(weeks.bytes().all(|b| b.is_ascii_digit()), "invalid week");
    }
    for (index, part) in text.split('T').enumerate() {
        ensure(index == 0 || !part.is_empty(), "no time elements")?;
        let all = *["YMD", "HMS"].get(index).ok_or("more than one T")?;
        let mut units = all;
        let mut rest = part;
        while !rest.is_empty() {
            let after = rest.trim_start_matches(|c: char| c.is_ascii_digit());
            ensure(after.len() < rest.len(), "missing number")?;
            let unit = after.chars().next().ok_or("missing unit")?;
            let Some(at) = units.find(unit) else {
                // Go takes the first byte for the unit.
                let unit = char::from(after.as_bytes()[0]);
                return Err(if all.contains(unit) {
                    format!("unit {} out of order", rune(unit))
                } else {
                    format!("invalid unit {}", rune(unit))
                });
            };
            units = &units[at + 1..];
            rest = &after[1..];
        }
    }
    Ok(())
}

fn period(text: &str) -> Result<(), String> {
    let (start, end) = text.split_once('/').ok_or("missing slash")?;
    let within = |what: &'static str| move |e: String| format!("invalid {what}: {e}");
    if start.starts_with('P') {
        duration(start).map_err(within("start duration"))?;
        date_time(end).map_err(within("end date-time"))
    } else {
        date_time(start).map_err(within("start date-time"))?;
        if end.starts_with('P') {
            duration(end).map_err(within("end duration"))
        } else {
            date_time(end).map_err(within("end date-time"))
        }
    }
}

fn ipv4(text: &str) -> Result<(), String> {
    let groups: Vec<_> = text.split('.').collect();
    ensure(groups.len() == 4, "expected four decimals")?;
    for group in groups {
        ensure(group.len() < 2 || !group.starts_with('0'), "leading zeros")?;
        let number: i64 = group.parse().map_err(|e: std::num::ParseIntError| {
            let why = match e.kind() {
                std::num::IntErrorKind::PosOverflow | std::num::IntErrorKind::NegOverflow => {
                    "value out of range"
                }
                _ => "invalid syntax",
            };
            format!("strconv.Atoi: parsing {}: {why}", quote(group.as_bytes()))
        })?;
        ensure((0..=255).contains(&number), "decimal must be between 0 and 255")?;
    }
    Ok(())
}

fn ipv6(text: &str) -> Result<(), String> {
    ensure(text.contains(':'), "missing colon")?;
    ensure(!net::ipv6(text)?, "zone id is not a part of ipv6 address")
}

fn hostname(text: &str) -> Result<(), String> {
    let text = text.strip_suffix('.').unwrap_or(text);
    ensure(text.len() <= 253, "more than 253 characters long")?;
    for label in text.split('.') {
        ensure((1..=63).contains(&label.len()), "label must be 1 to 63 characters long")?;
        ensure(!label.starts_with('-'), "label starts with hyphen")?;
        ensure(!label.ends_with('-'), "label ends with hyphen")?;
        if let Some(c) = label.chars().find(|c| !(c.is_ascii_alphanumeric() || *c == '-')) {
            return Err(format!("invalid character {}", rune(c)));
        }
    }
    Ok(())
}

fn email(text: &str) -> Result<(), String> {
    ensure(text.len() <= 254, "more than 255 characters long")?;
    let (local, domain) = text.rsplit_once('@').ok_or("missing @")?;
    ensure(local.len() <= 64, "local part more than 64 characters long")?;
    if local.len() > 1 && local.starts_with('"') && local.ends_with('"') {
        let inner = &local[1..local.len() - 1];
        ensure(!inner.contains(['\\', '"']), "backslash and quote are not allowed within quoted local part")?;
    } else {
        ensure(!local.starts_with('.'), "starts with dot")?;
        ensure(!local.ends_with('.'), "ends with dot")?;
        ensure(!local.contains(".."), "consecutive dots")?;
        let allowed = |c: &char| c.is_ascii_alphanumeric() || ".!#$%&'*+-/=?^_`{|}~".contains(*c);
        if let Some(c) = local.chars().find(|c| !allowed(c)) {
            return Err(format!("invalid character {}", rune(c)));
        }
    }
    if let Some(inner) = domain.strip_prefix('[').and_then(|d| d.strip_suffix(']')) {
        return match inner.strip_prefix("IPv6:") {
            Some(address) => ipv6(address).map_err(|e| format!("invalid ipv6 address: {e}")),
            None => ipv4(inner).map_err(|e| format!("invalid ipv4 address: {e}")),
        };
    }
    hostname(domain).map_err(|e| format!("invalid domain: {e}"))
}

/// Text as package time quotes it: byte by byte.
fn time_quote(text: &str) -> String {
    let escaped = text.bytes().map(|b| match b {
        b'"' | b'\\' => format!("\\{}", char::from(b)),
        b' '..=b'~' => char::from(b).to_string(),
        b => format!("\\x{b:02x}"),
    });
    format!("\"{}\"", escaped.collect::<String>())
}

/// Go's `time.Parse("2006-01-02", …)`.
fn date(text: &str) -> Result<(), String> {
    let value = time_quote(text);
    let cannot = |rest: &str, element: &str| {
        Err(format!(
            "parsing time {value} as \"2006-01-02\": cannot parse {} as {}",
            time_quote(rest),
            time_quote(element)
        ))
    };
    let digits = |text: &str, length: usize| {
        text.get(..length)
            .filter(|d| d.bytes().all(|b| b.is_ascii_digit()))
            .and_then(|d| d.parse::<u32>().ok())
    };
    let Some(year) = digits(text, 4) else { return cannot(text, "2006") };
    let rest = &text[4..];
    let Some(rest) = rest.strip_prefix('-') else { return cannot(rest, "-") };
    let Some(month) = digits(rest, 2) else { return cannot(rest, "01") };
    if !(1..=12).contains(&month) {
        return Err(format!("parsing time {value}: month out of range"));
    }
    let rest = &rest[2..];
    let Some(rest) = rest.strip_prefix('-') else { return cannot(rest, "-") };
    let Some(day) = digits(rest, 2) else { return cannot(rest, "02") };
    let rest = &rest[2..];
    if !rest.is_empty() {
        return Err(format!("parsing time {value}: extra text: {}", time_quote(rest)));
    }
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let days = match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    ensure((1..=days).contains(&day), &format!("parsing time {value}: day out of range"))
}

fn time(text: &str) -> Result<(), String> {
    let bytes = text.as_bytes();
    ensure(bytes.len() >= 9, "less than 9 characters long")?;
    ensure(bytes[2] == b':' && bytes[5] == b':', "missing colon in correct place")?;
    let part = |text: Option<&str>, what: &str| -> Result<i64, String> {
        let number: i64 = text.and_then(|t| t.parse().ok()).ok_or_else(|| format!("invalid {what}"))?;
        ensure(number >= 0, &format!("non-positive {what}"))?;
        Ok(number)
    };
    let mut hour = part(text.get(..2), "hour/min/sec")?;
    let mut minute = part(text.get(3..5), "hour/min/sec")?;
    let second = part(text.get(6..8), "hour/min/sec")?;
    ensure(hour <= 23 && minute <= 59 && second <= 60, "hour/min/sec out of range")?;
    let mut rest = text.get(8..).unwrap_or_default();
    if let Some(fraction) = rest.strip_prefix('.') {
        rest = fraction.trim_start_matches(|c: char| c.is_ascii_digit());
        ensure(rest.len() < fraction.len(), "no digits in second fraction")?;
    }
    if rest != "z" && rest != "Z" {
        ensure(rest.len() == 6, "offset must be 6 characters long")?;
        let sign = match rest.as_bytes()[0] {
            b'+' => -1,
            b'-' => 1,
            _ => return Err("offset must begin with plus/minus".into()),
        };
        ensure(rest.as_bytes()[3] == b':', "missing colon in offset in correct place")?;
        let hours = part(rest.get(1..3), "hour/min in offset")?;
        let minutes = part(rest.get(4..6), "hour/min in offset")?;
        ensure(hours <= 23 && minutes <= 59, "hour/min in offset out of range")?;
        let mut total = hour * 60 + minute + sign * (hours * 60 + minutes);
        if total < 0 {
            total += 24 * 60;
        }
        (hour, minute) = (total / 60, total % 60);
    }
    ensure(second < 60 || (hour == 23 && minute == 59), "invalid leap second")
}

fn date_time(text: &str) -> Result<(), String> {
    ensure(text.len() >= 20, "less than 20 characters long")?;
    ensure(matches!(text.as_bytes()[10], b't' | b'T'), "11th character must be t or T")?;
    let halves = text.get(..10).zip(text.get(11..));
    let (day, clock) = halves.ok_or("11th character must be t or T")?;
    date(day).map_err(|e| format!("invalid date element: {e}"))?;
    time(clock).map_err(|e| format!("invalid time element: {e}"))
}

fn uri(text: &str) -> Result<(), String> {
    ensure(net::url(text)?.absolute, "relative url")
}

fn uri_reference(text: &str) -> Result<(), String> {
    ensure(!text.contains('\\'), r"contains \")?;
    net::url(text).map(drop)
}

fn uri_template(text: &str) -> Result<(), String> {
    for part in net::url(text)?.path.split('/') {
        let mut open = false;
        for c in part.chars().filter(|c| matches!(c, '{' | '}')) {
            ensure(open != (c == '{'), "nested curly braces")?;
            open = !open;
        }
        ensure(!open, "no matching closing brace")?;
    }
    Ok(())
}

fn semver(text: &str) -> Result<(), String> {
    let letter = |c: &char| c.is_ascii_alphanumeric() || *c == '-';
    let (text, build) = text.split_once('+').map_or((text, None), |(t, b)| (t, Some(b)));
    if let Some(build) = build {
        ensure(!build.is_empty(), "build is empty")?;
        for id in build.split('.') {
            ensure(!id.is_empty(), "build identifier is empty")?;
            if let Some(c) = id.chars().find(|c| !letter(c)) {
                return Err(format!("invalid character {} in build identifier", rune(c)));
            }
        }
    }
    let (text, pre) = text.split_once('-').map_or((text, None), |(t, p)| (t, Some(p)));
    for id in pre.into_iter().flat_map(|pre| pre.split('.')) {
        ensure(!id.is_empty(), "pre-release identifier is empty")?;
        if let Some(c) = id.chars().find(|c| !letter(c)) {
            return Err(format!("invalid character {} in pre-release identifier", rune(c)));
        }
        let zero = id.len() > 1 && id.starts_with('0') && id.bytes().all(|b| b.is_ascii_digit());
        ensure(!zero, "pre-release numeric identifier starts with zero")?;
    }
    let numbers: Vec<_> = text.split('.').collect();
    ensure(numbers.len() == 3, "versionCore must have 3 numbers separated by dot")?;
    for (number, name) in numbers.into_iter().zip(["major", "minor", "patch"]) {
        ensure(!number.is_empty(), &format!("{name} is empty"))?;
        ensure(number.len() == 1 || !number.starts_with('0'), &format!("{name} starts with zero"))?;
        ensure(number.bytes().all(|b| b.is_ascii_digit()), &format!("{name} contains non-digit"))?;
    }
    Ok(())
}
