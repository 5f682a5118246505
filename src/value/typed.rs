//! Go types that have no counterpart among Tera's values.
//!
//! Each is a map with a marker: an entry under the key `0` (a number; the keys of Go maps are strings) that holds the
//! name of the Go type. The other entries are the fields of the struct, unexported ones included, since Go prints them.
//!
//! | type | entries |
//! |---|---|
//! | [`Type::Text`] | `bytes`: bytes; a string that is not UTF-8 |
//! | [`Type::StringMap`] | the entries, all strings; a missing one is `""`, not nil |
//! | [`Type::Time`] | see [`Time`] |
//! | [`Type::Duration`] | `value`: i64 nanoseconds |
//! | [`Type::Month`], [`Type::Weekday`] | `value`: i64 |
//! | [`Type::Complex`] | `real`, `imaginary`: f64 |
//! | [`Type::VersionSet`] | `items`: array of strings |
//! | [`Type::Files`] | the files by name: bytes, or [`Type::Unread`] |
//! | [`Type::Unread`] | under the key `1`: which of the files that the render knows |
//! | [`Type::Error`] | `text`: string |
//! | structs | the fields that [`Type::fields`] lists |

use std::{borrow::Cow, cell::Cell};

use tera::{Map, Value, value::Key};

pub use super::time::Time;
use super::{
    overlay::{FEW_KEYS, lookup},
    time,
};

const MARKER: Key<'static> = Key::U64(0);

/// Where a [`Type::Unread`] has its number: under no name that a template could ask for.
const UNREAD_NUMBER: Key<'static> = Key::U64(1);

/// A Go type that templates meet and Tera does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Type {
    /// A Go string that is not valid UTF-8, such as a binary file or half of a rune.
    Text,
    /// `map[string]string`: the result of `split`, the annotations of a chart.
    StringMap,
    /// `time.Time`.
    Time,
    /// `time.Duration`.
    Duration,
    /// `time.Month`.
    Month,
    /// `time.Weekday`.
    Weekday,
    /// `complex128`, of which templates have constants.
    Complex,
    /// `*semver.Version` of Masterminds' semver.
    Semver,
    /// `sprig.certificate`: what `genCA` and its kin return.
    Certificate,
    /// `*common.Capabilities`, the object `.Capabilities`.
    Capabilities,
    /// `common.KubeVersion`.
    KubeVersion,
    /// `common.VersionSet`: a list of strings with the method `Has`.
    VersionSet,
    /// `version.BuildInfo`, the object `.Capabilities.HelmVersion`.
    BuildInfo,
    /// `engine.files`, the object `.Files`.
    Files,
    /// A file in `.Files` that was not read: `[]uint8`. Whoever comes to one is noticed, see [`unread_was_met`].
    Unread,
    /// A value that implements `error`.
    Error,
}

impl Type {
    pub(crate) const ALL: [Self; 16] = [
        Self::Text,
        Self::StringMap,
        Self::Time,
        Self::Duration,
        Self::Month,
        Self::Weekday,
        Self::Complex,
        Self::Semver,
        Self::Certificate,
        Self::Capabilities,
        Self::KubeVersion,
        Self::VersionSet,
        Self::BuildInfo,
        Self::Files,
        Self::Unread,
        Self::Error,
    ];

    /// The type of a value that carries a marker; none for plain maps and everything else.
    #[must_use]
    pub fn of(value: &Value) -> Option<Self> {
        Self::of_map(value.as_map()?)
    }

    pub(super) fn of_map(map: &Map) -> Option<Self> {
        let marker = if map.len() <= FEW_KEYS {
            map.iter().find(|(key, _)| is_marker(key)).map(|(_, name)| name)?
        } else {
            map.get(&MARKER)?
        };
        let name = marker.as_str()?;
        let found = Self::ALL.into_iter().find(|found| found.marker() == name);
        if found == Some(Self::Unread) {
            UNREAD_WAS_MET.set(true);
        }
        found
    }

    const fn marker(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Unread => "unread",
            _ => self.name(),
        }
    }

    /// The type's name as Go's `%T` prints it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Text => "string",
            Self::StringMap => "map[string]string",
            Self::Time => "time.Time",
            Self::Duration => "time.Duration",
            Self::Month => "time.Month",
            Self::Weekday => "time.Weekday",
            Self::Complex => "complex128",
            Self::Semver => "*semver.Version",
            Self::Certificate => "sprig.certificate",
            Self::Capabilities => "*common.Capabilities",
            Self::KubeVersion => "common.KubeVersion",
            Self::VersionSet => "common.VersionSet",
            Self::BuildInfo => "version.BuildInfo",
            Self::Files => "engine.files",
            Self::Unread => "[]uint8",
            Self::Error => "*errors.errorString",
        }
    }

    /// The name of the type's `reflect.Kind`.
    #[must_use]
    pub const fn kind(self) -> &'static str {
        match self {
            Self::Text => "string",
            Self::StringMap | Self::Files => "map",
            Self::Duration => "int64",
            Self::Month | Self::Weekday => "int",
            Self::Complex => "complex128",
            Self::VersionSet | Self::Unread => "slice",
            Self::Semver | Self::Capabilities | Self::Error => "ptr",
            Self::Time | Self::Certificate | Self::KubeVersion | Self::BuildInfo => "struct",
        }
    }

    /// The fields of a struct in Go's order; empty for what is not a struct.
    #[must_use]
    pub const fn fields(self) -> &'static [&'static str] {
        match self {
            Self::Semver => &["major", "minor", "patch", "pre", "metadata", "original"],
            Self::Certificate => &["Cert", "Key"],
            Self::Capabilities => &["KubeVersion", "APIVersions", "HelmVersion"],
            Self::KubeVersion => &["Version", "normalizedVersion", "Major", "Minor"],
            Self::Error => &["text"],
            Self::BuildInfo => &["Version", "GitCommit", "GitTreeState", "GoVersion", "KubeClientVersion"],
            _ => &[],
        }
    }

    /// Whether the type is a pointer, which Go prints with a leading `&`.
    #[must_use]
    pub const fn is_pointer(self) -> bool {
        matches!(self, Self::Semver | Self::Capabilities | Self::Error)
    }

    /// The methods that a template can call on a value of the type.
    #[must_use]
    pub const fn methods(self) -> &'static [&'static str] {
        match self {
            Self::Text
            | Self::StringMap
            | Self::Complex
            | Self::Certificate
            | Self::BuildInfo
            | Self::Unread => &[],
            Self::Time => &[
                "Add",
                "AddDate",
                "After",
                "AppendBinary",
                "AppendFormat",
                "AppendText",
                "Before",
                "Clock",
                "Compare",
                "Date",
                "Day",
                "Equal",
                "Format",
                "GoString",
                "GobEncode",
                "Hour",
                "ISOWeek",
                "In",
                "IsDST",
                "IsZero",
                "Local",
                "Location",
                "MarshalBinary",
                "MarshalJSON",
                "MarshalText",
                "Minute",
                "Month",
                "Nanosecond",
                "Round",
                "Second",
                "String",
                "Sub",
                "Truncate",
                "UTC",
                "Unix",
                "UnixMicro",
                "UnixMilli",
                "UnixNano",
                "Weekday",
                "Year",
                "YearDay",
                "Zone",
                "ZoneBounds",
            ],
            Self::Duration => &[
                "Abs",
                "Hours",
                "Microseconds",
                "Milliseconds",
                "Minutes",
                "Nanoseconds",
                "Round",
                "Seconds",
                "String",
                "Truncate",
            ],
            Self::Month | Self::Weekday => &["String"],
            Self::Semver => &[
                "Compare",
                "Equal",
                "GreaterThan",
                "GreaterThanEqual",
                "IncMajor",
                "IncMinor",
                "IncPatch",
                "LessThan",
                "LessThanEqual",
                "Major",
                "MarshalJSON",
                "MarshalText",
                "Metadata",
                "Minor",
                "Original",
                "Patch",
                "Prerelease",
                "SetMetadata",
                "SetPrerelease",
                "String",
                "UnmarshalJSON",
                "UnmarshalText",
                "Value",
            ],
            Self::Capabilities => &["Copy"],
            Self::KubeVersion => &["GitVersion", "String"],
            Self::VersionSet => &["Has"],
            Self::Files => &["AsConfig", "AsSecrets", "Get", "GetBytes", "Glob", "Lines"],
            Self::Error => &["Error"],
        }
    }
}

/// Makes a value of a type from its entries (see the table of this module).
pub fn make<K: Into<Key<'static>>>(kind: Type, entries: impl IntoIterator<Item = (K, Value)>) -> Value {
    let mut map: Map = entries.into_iter().map(|(key, value)| (key.into(), value)).collect();
    map.insert(MARKER, Value::from(kind.marker()));
    Value::from(map)
}

thread_local! {
    static UNREAD_WAS_MET: Cell<bool> = const { Cell::new(false) };
}

/// Whether, since this was last asked on the present thread, anybody asked for the type of a [`Type::Unread`], as whoever makes anything
/// of a value does: what came of it is wrong.
pub fn unread_was_met() -> bool {
    UNREAD_WAS_MET.take()
}

/// A file in `.Files` that is left where it is, by the number that whoever renders knows it by.
#[must_use]
pub fn unread(number: usize) -> Value {
    make(Type::Unread, [(UNREAD_NUMBER, Value::from(number as u64))])
}

/// The number of a [`Type::Unread`], whose type is not asked for with this.
#[must_use]
pub fn unread_number(value: &Value) -> Option<usize> {
    let map = value.as_map().filter(|map| map.len() == 2)?;
    let is_unread = map.get(&MARKER)?.as_str() == Some(Type::Unread.marker());
    map.get(&UNREAD_NUMBER).filter(|_| is_unread)?.as_u64()?.try_into().ok()
}

/// Whether a key of a map is the marker, which no template may see.
#[must_use]
pub fn is_marker(key: &Key<'_>) -> bool {
    matches!(key, Key::U64(0))
}

/// A field of a typed value, by the name of the struct's field or of the entry; methods are not looked at.
#[must_use]
pub fn field<'v>(value: &'v Value, name: &'v str) -> Option<&'v Value> {
    lookup(value.as_map()?, name)
}

/// A Go string from its bytes: a string where they are UTF-8, and [`Type::Text`] where not.
#[must_use]
pub fn text(bytes: Vec<u8>) -> Value {
    match String::from_utf8(bytes) {
        Ok(text) => Value::from(text),
        Err(error) => make(Type::Text, [("bytes", Value::bytes(error.into_bytes()))]),
    }
}

/// The bytes of a Go string: of a string, or of a [`Type::Text`]; none for every other value, \[\]byte included.
#[must_use]
pub fn text_bytes(value: &Value) -> Option<&[u8]> {
    if let Some(text) = value.as_str() {
        return Some(text.as_bytes());
    }
    match Type::of(value)? {
        Type::Text => field(value, "bytes")?.as_bytes(),
        _ => None,
    }
}

/// The same as [`text_bytes`], as a string whose invalid bytes are replaced.
#[must_use]
pub fn text_lossy(value: &Value) -> Option<Cow<'_, str>> {
    match value.as_str() {
        Some(text) => Some(Cow::Borrowed(text)),
        None => text_bytes(value).map(String::from_utf8_lossy),
    }
}

/// A Go string as JSON has it: each byte that is not UTF-8 becomes a character of its own, U+FFFD.
pub(super) fn text_lossy_bytes(value: &Value) -> String {
    let mut out = String::new();
    for chunk in text_bytes(value).unwrap_or_default().utf8_chunks() {
        out.push_str(chunk.valid());
        out.extend(chunk.invalid().iter().map(|_| char::REPLACEMENT_CHARACTER));
    }
    out
}

/// The elements of a list: of an array, or of a typed list such as [`Type::VersionSet`].
#[must_use]
pub fn items(value: &Value) -> Option<&[Value]> {
    if let Some(items) = value.as_array() {
        return Some(items);
    }
    match Type::of(value)? {
        Type::VersionSet => field(value, "items")?.as_array(),
        _ => None,
    }
}

/// The number behind [`Type::Duration`], [`Type::Month`] and [`Type::Weekday`].
#[must_use]
pub fn number(value: &Value) -> Option<i64> {
    match Type::of(value)? {
        Type::Duration | Type::Month | Type::Weekday => field(value, "value")?.as_i64(),
        _ => None,
    }
}

/// A complex number.
#[must_use]
pub fn from_complex(real: f64, imaginary: f64) -> Value {
    make(Type::Complex, [("real", Value::from(real)), ("imaginary", Value::from(imaginary))])
}

/// The real and the imaginary part of a [`Type::Complex`].
#[must_use]
pub fn complex(value: &Value) -> Option<(f64, f64)> {
    match Type::of(value)? {
        Type::Complex => Some((field(value, "real")?.as_f64()?, field(value, "imaginary")?.as_f64()?)),
        _ => None,
    }
}

/// What the `String` or `Error` method of a typed value returns, if fmt would call one: bytes, since a string in Go need
/// not be UTF-8.
pub(super) fn string_method(value: &Value) -> Option<Vec<u8>> {
    let text = match Type::of(value)? {
        Type::Text => return text_bytes(value).map(<[u8]>::to_vec),
        Type::Time => Time::from_value(value)?.to_string(),
        Type::Duration => time::duration_text(number(value)?),
        Type::Month => time::month_text(number(value)?),
        Type::Weekday => time::weekday_text(number(value)?),
        Type::Error => field(value, "text")?.as_str()?.to_owned(),
        Type::Semver => {
            let number = |name| field(value, name).and_then(Value::as_u64);
            let text = |name, sign: &str| match field(value, name).and_then(Value::as_str) {
                None | Some("") => String::new(),
                Some(text) => format!("{sign}{text}"),
            };
            let (pre, metadata) = (text("pre", "-"), text("metadata", "+"));
            format!("{}.{}.{}{pre}{metadata}", number("major")?, number("minor")?, number("patch")?)
        }
        _ => return None,
    };
    Some(text.into_bytes())
}

/// The fields of a struct as fmt prints them, in Go's order; none is a nil pointer.
pub(super) fn struct_fields(kind: Type, value: &Value) -> Vec<(&'static str, Option<Value>)> {
    if let Some(time) = Time::from_value(value) {
        let (wall, ext) = time.readings();
        return vec![
            ("wall", Some(Value::from(wall))),
            ("ext", Some(Value::from(i128::from(ext)))),
            ("loc", None),
        ];
    }
    let fields = kind.fields().iter();
    fields.map(|name| (*name, Some(field(value, name).cloned().unwrap_or_else(Value::none)))).collect()
}
