//! A compiled schema: nodes that refer to each other by number.

use std::collections::BTreeMap;

use super::decimal::Decimal;
use super::formats::Format;
use super::json::Json;
use super::pattern::Pattern;

pub(super) type Id = usize;

/// The versions of JSON Schema, oldest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Draft {
    Draft4,
    Draft6,
    Draft7,
    Draft2019,
    Draft2020,
}

impl Draft {
    pub(super) const LATEST: Self = Self::Draft2020;

    /// The draft that a `$schema` names.
    pub(super) fn of(url: &str) -> Option<Self> {
        let url = url.strip_suffix('#').unwrap_or(url);
        let rest = url.strip_prefix("http://").or_else(|| url.strip_prefix("https://")).unwrap_or(url);
        Some(match rest {
            "json-schema.org/schema" | "json-schema.org/draft/2020-12/schema" => Self::Draft2020,
            "json-schema.org/draft/2019-09/schema" => Self::Draft2019,
            "json-schema.org/draft-07/schema" => Self::Draft7,
            "json-schema.org/draft-06/schema" => Self::Draft6,
            "json-schema.org/draft-04/schema" => Self::Draft4,
            _ => return None,
        })
    }

    /// Where its own schema lives.
    pub(super) fn url(self) -> &'static str {
        match self {
            Self::Draft4 => "http://json-schema.org/draft-04/schema",
            Self::Draft6 => "http://json-schema.org/draft-06/schema",
            Self::Draft7 => "http://json-schema.org/draft-07/schema",
            Self::Draft2019 => "https://json-schema.org/draft/2019-09/schema",
            Self::Draft2020 => "https://json-schema.org/draft/2020-12/schema",
        }
    }
}

/// Kinds of JSON values, as bits.
pub(super) mod types {
    use super::Json;

    pub(in super::super) const NUMBER: u8 = 4;
    pub(in super::super) const INTEGER: u8 = 8;

    const NAMES: [(&str, u8); 7] = [
        ("null", 1),
        ("boolean", 2),
        ("number", NUMBER),
        ("integer", INTEGER),
        ("string", 16),
        ("array", 32),
        ("object", 64),
    ];

    pub(in super::super) fn of(value: &Json) -> u8 {
        match value {
            Json::Null => 1,
            Json::Bool(_) => 2,
            Json::Number(_) => NUMBER,
            Json::Text(_) => 16,
            Json::Array(_) => 32,
            Json::Object(_) => 64,
        }
    }

    pub(in super::super) fn named(name: &str) -> u8 {
        NAMES.iter().find(|(n, _)| *n == name).map_or(0, |(_, bit)| *bit)
    }

    /// The names of the bits, `or` between.
    pub(in super::super) fn names(bits: u8) -> String {
        let names: Vec<_> = NAMES.iter().filter(|(_, bit)| bits & bit != 0).map(|(name, _)| *name).collect();
        names.join(" or ")
    }
}

/// `additionalProperties` and `additionalItems`.
#[derive(Clone, Copy)]
pub(super) enum Additional {
    Allowed(bool),
    Schema(Id),
}

/// An entry of `dependencies`.
pub(super) enum Dependency {
    Required(Vec<String>),
    Schema(Id),
}

/// `items` before 2020-12.
pub(super) enum Items {
    All(Id),
    Each(Vec<Id>),
}

/// One schema. A keyword that is not there constrains nothing.
#[derive(Default)]
pub(super) struct Node {
    pub(super) location: String,
    pub(super) draft: Option<Draft>,
    /// The schema of the resource that this one is in.
    pub(super) resource: Id,
    pub(super) dynamic_anchors: BTreeMap<String, Id>,
    pub(super) recursive_anchor: bool,
    pub(super) dynamic_anchor: Option<String>,
    pub(super) all_properties_evaluated: bool,
    pub(super) all_items_evaluated: bool,
    pub(super) items_evaluated: usize,

    pub(super) boolean: Option<bool>,
    pub(super) reference: Option<Id>,
    pub(super) recursive_reference: Option<Id>,
    pub(super) dynamic_reference: Option<(Id, Option<String>)>,
    pub(super) types: u8,
    pub(super) constant: Option<Json>,
    pub(super) choices: Option<(Vec<Json>, u8)>,
    pub(super) format: Option<&'static Format>,
    pub(super) not: Option<Id>,
    pub(super) all_of: Vec<Id>,
    pub(super) any_of: Vec<Id>,
    pub(super) one_of: Vec<Id>,
    pub(super) condition: Option<Id>,
    pub(super) then: Option<Id>,
    pub(super) otherwise: Option<Id>,

    pub(super) min_properties: Option<i64>,
    pub(super) max_properties: Option<i64>,
    pub(super) required: Vec<String>,
    pub(super) property_names: Option<Id>,
    pub(super) properties: BTreeMap<Box<str>, Id>,
    pub(super) pattern_properties: Vec<(Pattern, Id)>,
    pub(super) additional_properties: Option<Additional>,
    pub(super) dependencies: Vec<(String, Dependency)>,
    pub(super) dependent_required: Vec<(String, Vec<String>)>,
    pub(super) dependent_schemas: Vec<(String, Id)>,
    pub(super) unevaluated_properties: Option<Id>,

    pub(super) min_items: Option<i64>,
    pub(super) max_items: Option<i64>,
    pub(super) unique_items: bool,
    pub(super) contains: Option<Id>,
    pub(super) min_contains: Option<i64>,
    pub(super) max_contains: Option<i64>,
    pub(super) items: Option<Items>,
    pub(super) additional_items: Option<Additional>,
    pub(super) prefix_items: Vec<Id>,
    pub(super) rest_items: Option<Id>,
    pub(super) unevaluated_items: Option<Id>,

    pub(super) min_length: Option<i64>,
    pub(super) max_length: Option<i64>,
    pub(super) pattern: Option<Pattern>,

    pub(super) minimum: Option<Decimal>,
    pub(super) maximum: Option<Decimal>,
    pub(super) exclusive_minimum: Option<Decimal>,
    pub(super) exclusive_maximum: Option<Decimal>,
    pub(super) multiple_of: Option<Decimal>,
}
