//! Semantic versions.

use tera::Value;

use super::{Call, Error, Family, Function, Outcome, Param};
use crate::{
    chart::semver::{Constraint, Version},
    value::typed::{self, Type},
};

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("semver", Family::Semver, &[Param::String], semver, "The parts of a version."),
    Function::new(
        "semverCompare",
        Family::Semver,
        &[Param::String, Param::String],
        compare,
        "Whether the version (second) satisfies the constraint (first).",
    ),
];

fn version(text: &str) -> Result<Version, Error> {
    Version::parse(text).map_err(|error| Error::new(error.to_string()))
}

fn semver(call: &Call<'_>) -> Outcome {
    Ok(to_value(&version(&call.text(0))?))
}

fn compare(call: &Call<'_>) -> Outcome {
    let constraint = Constraint::parse(&call.text(0)).map_err(|error| Error::new(error.to_string()))?;
    Ok(Value::from(constraint.check(&version(&call.text(1))?)))
}

/// The value that templates have of a version: Go's `*semver.Version`.
#[must_use]
pub fn to_value(version: &Version) -> Value {
    typed::make(
        Type::Semver,
        [
            ("major", Value::from(version.major)),
            ("minor", Value::from(version.minor)),
            ("patch", Value::from(version.patch)),
            ("pre", Value::from(version.pre.as_str())),
            ("metadata", Value::from(version.metadata.as_str())),
            ("original", Value::from(version.original.as_str())),
        ],
    )
}

/// The version that [`to_value`] made a value of.
#[must_use]
pub fn from_value(value: &Value) -> Option<Version> {
    if Type::of(value)? != Type::Semver {
        return None;
    }
    let number = |name| typed::field(value, name).and_then(Value::as_u64);
    let text = |name| typed::field(value, name).and_then(Value::as_str).unwrap_or_default().to_owned();
    Some(Version {
        major: number("major")?,
        minor: number("minor")?,
        patch: number("patch")?,
        pre: text("pre"),
        metadata: text("metadata"),
        original: text("original"),
    })
}
