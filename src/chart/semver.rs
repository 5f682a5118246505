//! Semantic versions and constraints with the leniency of Masterminds' Go library, which Helm and charts rely on.

use std::cmp::Ordering;
use std::fmt;

use super::text::quote;

/// Why a version or a constraint is not one. The text is that of the Go library.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The text has not the form of a version.
    #[error("invalid semantic version")]
    InvalidVersion,
    /// A number with a leading zero among the parts of a pre-release.
    #[error("version segment starts with 0")]
    LeadingZero,
    /// More than 256 bytes.
    #[error("version string is too long (max 256 bytes)")]
    VersionTooLong,
    /// A number that 64 bits do not hold.
    #[error("error parsing version segment: strconv.ParseUint: parsing {}: value out of range", quote(.0))]
    OutOfRange(String),
    /// The text has not the form of a constraint.
    #[error("improper constraint: {}", quote(.0))]
    ImproperConstraint(String),
    /// A constraint whose version is none.
    #[error("constraint parser error")]
    Constraint,
    /// More than 512 bytes.
    #[error("constraint string is too long (max 512 bytes)")]
    ConstraintTooLong,
    /// More than 32 alternatives.
    #[error("too many constraint groups (max 32)")]
    TooManyGroups,
}

/// A version. Minor and patch may be left out when it is parsed, a `v` may precede it, zeros may lead its numbers.
#[derive(Clone, Debug)]
pub struct Version {
    /// The first number.
    pub major: u64,
    /// The second number.
    pub minor: u64,
    /// The third number.
    pub patch: u64,
    /// What follows the `-`, or nothing.
    pub pre: String,
    /// What follows the `+`, or nothing.
    pub metadata: String,
    /// The text that was parsed.
    pub original: String,
}

impl Version {
    /// Parses a version, as the Go library's `NewVersion`.
    pub fn parse(text: &str) -> Result<Self, Error> {
        if text.len() > 256 {
            return Err(Error::VersionTooLong);
        }
        let mut scan = Scan(text);
        scan.eat("v");
        let digits = |b: u8| b.is_ascii_digit();
        let major = scan.run(digits).ok_or(Error::InvalidVersion)?;
        let minor = scan.part(digits).unwrap_or("0");
        let patch = scan.part(digits).unwrap_or("0");
        let pre = scan.identifiers("-").unwrap_or_default();
        let metadata = scan.identifiers("+").unwrap_or_default();
        if !scan.0.is_empty() {
            return Err(Error::InvalidVersion);
        }
        let number = |s: &str| s.parse().map_err(|_| Error::OutOfRange(s.to_owned()));
        let version = Self {
            major: number(major)?,
            minor: number(minor)?,
            patch: number(patch)?,
            pre: pre.to_owned(),
            metadata: metadata.to_owned(),
            original: text.to_owned(),
        };
        if pre.split('.').any(|p| p.len() > 1 && p.starts_with('0') && p.bytes().all(|b| b.is_ascii_digit()))
        {
            return Err(Error::LeadingZero);
        }
        Ok(version)
    }
}

/// Whether a text is a version in the form of the specification: three numbers, nothing before them, no zeros leading.
pub fn is_strict(text: &str) -> bool {
    let Ok(version) = Version::parse(text) else { return false };
    let core = text.split(['-', '+']).next().unwrap_or(text);
    let numbers = format!("{}.{}.{}", version.major, version.minor, version.patch);
    core == numbers
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)?;
        if !self.pre.is_empty() {
            write!(f, "-{}", self.pre)?;
        }
        if !self.metadata.is_empty() {
            write!(f, "+{}", self.metadata)?;
        }
        Ok(())
    }
}

/// Precedence: build metadata does not count, a pre-release comes before its release.
impl Ord for Version {
    fn cmp(&self, other: &Self) -> Ordering {
        let numbers = |v: &Self| (v.major, v.minor, v.patch);
        numbers(self).cmp(&numbers(other)).then_with(|| match (self.pre.is_empty(), other.pre.is_empty()) {
            (true, true) => Ordering::Equal,
            (true, false) => Ordering::Greater,
            (false, true) => Ordering::Less,
            (false, false) => compare_pre(&self.pre, &other.pre),
        })
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Version {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Version {}

fn compare_pre(a: &str, b: &str) -> Ordering {
    let mut a = a.split('.');
    let mut b = b.split('.');
    loop {
        let order = match (a.next(), b.next()) {
            (None, None) => return Ordering::Equal,
            (None, Some(_)) => Ordering::Less,
            (Some(_), None) => Ordering::Greater,
            (Some(a), Some(b)) if a == b => Ordering::Equal,
            (Some(a), Some(b)) => match (a.parse::<u64>(), b.parse::<u64>()) {
                (Ok(a), Ok(b)) if a > b => Ordering::Greater,
                (Ok(_), _) => Ordering::Less,
                (Err(_), Ok(_)) => Ordering::Greater,
                (Err(_), Err(_)) => a.cmp(b),
            },
        };
        if order.is_ne() {
            return order;
        }
    }
}

/// A constraint: alternatives of conditions that all must hold.
#[derive(Clone, Debug)]
pub struct Constraint {
    groups: Vec<Vec<Condition>>,
}

#[derive(Clone, Copy, Debug)]
enum Operator {
    Equal,
    NotEqual,
    Greater,
    Less,
    GreaterEqual,
    LessEqual,
    Tilde,
    Caret,
}

#[derive(Clone, Debug)]
struct Condition {
    operator: Operator,
    version: Version,
    /// A part of the version is left open: `1`, `1.x`, `*`.
    open: bool,
    open_minor: bool,
    open_patch: bool,
}

impl Constraint {
    /// Parses a constraint such as `>= 1.2, < 2 || ~3.1`, as the Go library's `NewConstraint`.
    pub fn parse(text: &str) -> Result<Self, Error> {
        if text.len() > 512 {
            return Err(Error::ConstraintTooLong);
        }
        let text = rewrite_ranges(text);
        let groups: Vec<&str> = text.split("||").collect();
        if groups.len() > 32 {
            return Err(Error::TooManyGroups);
        }
        Ok(Self { groups: groups.into_iter().map(parse_group).collect::<Result<_, _>>()? })
    }

    /// Whether `version` satisfies the constraint. A pre-release only satisfies a group that names one.
    pub fn check(&self, version: &Version) -> bool {
        self.groups.iter().any(|group| {
            let pre = group.iter().any(|c| !c.version.pre.is_empty());
            (pre || version.pre.is_empty()) && group.iter().all(|c| c.check(version))
        })
    }
}

/// Whether `version` satisfies `constraint`; not, when either is none.
pub fn is_compatible(constraint: &str, version: &str) -> bool {
    match (Version::parse(version), Constraint::parse(constraint)) {
        (Ok(version), Ok(constraint)) => constraint.check(&version),
        _ => false,
    }
}

impl Condition {
    fn check(&self, v: &Version) -> bool {
        let c = &self.version;
        match self.operator {
            Operator::Equal if !self.open => v == c,
            Operator::Equal | Operator::Tilde => {
                let any = (c.major, c.minor, c.patch) == (0, 0, 0) && !self.open_minor && !self.open_patch;
                v >= c && (any || (v.major == c.major && (v.minor == c.minor || self.open_minor)))
            }
            Operator::NotEqual => {
                if self.open {
                    if c.major != v.major {
                        return true;
                    }
                    if self.open_minor {
                        return false;
                    }
                    if c.minor != v.minor {
                        return true;
                    }
                    if self.open_patch {
                        return !(v.pre.is_empty() && c.pre.is_empty())
                            && compare_pre(&v.pre, &c.pre).is_ne();
                    }
                    if c.patch != v.patch {
                        return true;
                    }
                }
                v != c
            }
            Operator::Greater if self.open && v.major != c.major => v.major > c.major,
            Operator::Greater if self.open && self.open_minor => false,
            Operator::Greater if self.open && self.open_patch => v.minor > c.minor,
            Operator::Greater => v > c,
            Operator::Less => v < c,
            Operator::GreaterEqual => v >= c,
            Operator::LessEqual if self.open => {
                v.major < c.major || (v.major == c.major && (v.minor <= c.minor || self.open_minor))
            }
            Operator::LessEqual => v <= c,
            Operator::Caret => {
                if v < c {
                    return false;
                }
                if c.major > 0 || self.open_minor {
                    return v.major == c.major;
                }
                if v.major > 0 {
                    return false;
                }
                if c.minor > 0 || self.open_patch {
                    return v.minor == c.minor;
                }
                v.minor == 0 && v.patch == c.patch
            }
        }
    }
}

/// Takes pieces off the front of a text.
struct Scan<'t>(&'t str);

impl<'t> Scan<'t> {
    fn eat(&mut self, prefix: &str) -> bool {
        let rest = self.0.strip_prefix(prefix);
        self.0 = rest.unwrap_or(self.0);
        rest.is_some()
    }

    fn run(&mut self, allowed: impl Fn(u8) -> bool) -> Option<&'t str> {
        let end = self.0.bytes().position(|b| !allowed(b)).unwrap_or(self.0.len());
        let (run, rest) = self.0.split_at(end);
        self.0 = rest;
        (!run.is_empty()).then_some(run)
    }

    /// A dot and a run, or nothing.
    fn part(&mut self, allowed: impl Fn(u8) -> bool) -> Option<&'t str> {
        let before = self.0;
        let run = if self.eat(".") { self.run(allowed) } else { None };
        if run.is_none() {
            self.0 = before;
        }
        run
    }

    /// After `mark`, identifiers with dots between.
    fn identifiers(&mut self, mark: &str) -> Option<&'t str> {
        let before = self.0;
        let allowed = |b: u8| b.is_ascii_alphanumeric() || b == b'-';
        if !self.eat(mark) {
            return None;
        }
        let start = self.0;
        if self.run(allowed).is_none() {
            self.0 = before;
            return None;
        }
        while self.part(allowed).is_some() {}
        Some(&start[..start.len() - self.0.len()])
    }

    fn spaces(&mut self) -> bool {
        self.run(|b| matches!(b, b'\t' | b'\n' | b'\x0c' | b'\r' | b' ')).is_some()
    }

    /// The version of a condition, parts of which may be left open.
    fn open_version(&mut self) -> Option<OpenVersion<'t>> {
        let before = self.0;
        let allowed = |b: u8| b.is_ascii_digit() || matches!(b, b'x' | b'X' | b'*' | b'|');
        self.eat("v");
        let Some(major) = self.run(allowed) else {
            self.0 = before;
            return None;
        };
        let minor = self.part(allowed);
        let patch = self.part(allowed);
        let pre = self.identifiers("-");
        self.identifiers("+");
        Some(OpenVersion { text: &before[..before.len() - self.0.len()], major, minor, patch, pre })
    }
}

struct OpenVersion<'t> {
    text: &'t str,
    major: &'t str,
    minor: Option<&'t str>,
    patch: Option<&'t str>,
    pre: Option<&'t str>,
}

fn parse_group(group: &str) -> Result<Vec<Condition>, Error> {
    let improper = || Error::ImproperConstraint(group.to_owned());
    let mut scan = Scan(group);
    let mut conditions = Vec::new();
    scan.spaces();
    loop {
        let operator = match scan.run(|b| matches!(b, b'=' | b'!' | b'<' | b'>' | b'~' | b'^')) {
            None | Some("=") => Operator::Equal,
            Some("!=") => Operator::NotEqual,
            Some(">") => Operator::Greater,
            Some("<") => Operator::Less,
            Some(">=" | "=>") => Operator::GreaterEqual,
            Some("<=" | "=<") => Operator::LessEqual,
            Some("~" | "~>") => Operator::Tilde,
            Some("^") => Operator::Caret,
            Some(_) => return Err(improper()),
        };
        scan.spaces();
        conditions.push((operator, scan.open_version().ok_or_else(improper)?));
        let spaced = scan.spaces();
        if scan.0.is_empty() {
            break;
        }
        if scan.eat(",") {
            scan.spaces();
        } else if !spaced {
            return Err(improper());
        }
    }
    conditions.into_iter().map(|(operator, version)| condition(operator, &version)).collect()
}

fn condition(operator: Operator, version: &OpenVersion<'_>) -> Result<Condition, Error> {
    let open = |part: Option<&str>| matches!(part, None | Some("x" | "X" | "*"));
    let pre = version.pre.map(|p| format!("-{p}")).unwrap_or_default();
    let (minor, patch) = (version.minor.unwrap_or_default(), version.patch.unwrap_or_default());
    let major = version.major;
    let mut condition = Condition {
        operator,
        version: Version::parse("0.0.0").expect("a fixed version"),
        open: true,
        open_minor: false,
        open_patch: false,
    };
    let text = if open(Some(major)) {
        format!("0.0.0{pre}")
    } else if open(version.minor) {
        condition.open_minor = true;
        format!("{major}.0.0{pre}")
    } else if open(version.patch) {
        condition.open_patch = true;
        format!("{major}.{minor}.0{pre}")
    } else {
        condition.open = false;
        format!("{major}.{minor}.{patch}{pre}")
    };
    condition.version = Version::parse(&text).map_err(|_| Error::Constraint)?;
    Ok(condition)
}

/// Writes `a - b` as `>= a, <= b `.
fn rewrite_ranges(text: &str) -> String {
    if !text.contains(" -") && !text.contains("\t-") {
        return text.to_owned();
    }
    let mut found = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let mut scan = Scan(&text[at..]);
        scan.spaces();
        let range = scan.open_version().and_then(|low| {
            let dash = scan.spaces() && scan.eat("-") && scan.spaces();
            let high = dash.then(|| scan.open_version()).flatten()?;
            scan.spaces();
            Some((low.text, high.text))
        });
        if let Some((low, high)) = range {
            let end = text.len() - scan.0.len();
            found.push((&text[at..end], format!(">= {low}, <= {high} ")));
            at = end;
        } else {
            at += text[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    found.into_iter().fold(text.to_owned(), |text, (range, conditions)| text.replacen(range, &conditions, 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions() {
        for (text, expected) in [
            ("1.2.3", "1.2.3"),
            ("v1.2", "1.2.0"),
            ("1", "1.0.0"),
            ("01.02.03", "1.2.3"),
            ("1.2.3-beta.1+b.01", "1.2.3-beta.1+b.01"),
            ("1-2", "1.0.0-2"),
            ("1.2+x", "1.2.0+x"),
            ("", "invalid semantic version"),
            ("V1", "invalid semantic version"),
            ("1.2.3.4", "invalid semantic version"),
            ("1.2.3 ", "invalid semantic version"),
            ("1.2.3-", "invalid semantic version"),
            ("1.2.3-01", "version segment starts with 0"),
            (
                "99999999999999999999",
                "error parsing version segment: strconv.ParseUint: parsing \"99999999999999999999\": value out of range",
            ),
        ] {
            let got = Version::parse(text).map_or_else(|e| e.to_string(), |v| v.to_string());
            assert_eq!(got, expected, "{text}");
        }
    }

    #[test]
    fn strictness() {
        for (text, expected) in [
            ("1.2.3", true),
            ("1.2.3-a+b", true),
            ("v1.2.3", false),
            ("1.2", false),
            ("01.2.3", false),
            ("", false),
        ] {
            assert_eq!(is_strict(text), expected, "{text}");
        }
    }

    #[test]
    fn precedence() {
        let ordered = ["1.0.0-1", "1.0.0-2", "1.0.0-10", "1.0.0-a", "1.0.0-a.1", "1.0.0-b", "1.0.0", "1.0.1"];
        for pair in ordered.windows(2) {
            assert!(Version::parse(pair[0]).unwrap() < Version::parse(pair[1]).unwrap(), "{pair:?}");
        }
    }

    #[test]
    fn constraints() {
        for (constraint, version, expected) in [
            ("*", "1.2.3", true),
            ("", "1.2.3", false),
            (">=1.19-0", "1.36.0", true),
            (">=1.19.0-0", "v1.19.0-alpha", true),
            (">=1.19.0", "1.20.0-alpha", false),
            ("^1.2", "1.9.0", true),
            ("^1.2", "2.0.0", false),
            ("^0.2.3", "0.2.9", true),
            ("^0.2.3", "0.3.0", false),
            ("^0.0.3", "0.0.4", false),
            ("~1.2.3", "1.2.9", true),
            ("~1.2.3", "1.3.0", false),
            ("~1", "1.9.9", true),
            ("1.x", "1.9.0", true),
            ("1.2.x", "1.3.0", false),
            ("!=1.2.x", "1.2.9", false),
            ("> 1.2", "1.2.9", false),
            ("> 1.2", "1.3.0", true),
            (">11", "11.1.0", false),
            ("<=1.2", "1.2.9", true),
            ("<=1.2", "1.3.0", false),
            (">= 1.2, < 2 || =>3", "3.0.0", true),
            (">=1 <2", "1.5.0", true),
            (">=1<2", "1.5.0", false),
            ("1.2 - 1.4", "1.4.9", true),
            ("1.2 - 1.4", "1.5.0", false),
            ("1.2.3 - 2.3.4 || 5", "5.1.0", true),
            ("1 || ", "1.0.0", false),
            ("==1", "1.0.0", false),
            ("v1.2.3", "1.2.3+meta", true),
        ] {
            assert_eq!(is_compatible(constraint, version), expected, "{constraint} on {version}");
        }
    }
}
