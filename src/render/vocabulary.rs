//! The functions that templates may call, as the lowering wants to know them.

use crate::{
    functions::{self, Param as GoParam},
    gotemplate::lower::{Known, Param, Signature, Vocabulary},
};

/// Every function of charts.
pub(super) struct Functions;

/// The functions that need the evaluation itself: their names, how many arguments they take, and whether more may follow.
const OWN: &[(&str, usize, bool)] = &[
    ("and", 1, true),
    ("or", 1, true),
    ("call", 1, true),
    ("include", 2, false),
    ("tpl", 2, false),
    ("lookup", 4, false),
];

/// The types of the parameters of those functions that do not take just anything.
pub(super) fn own_param(function: &str, at: usize) -> GoParam {
    match (function, at) {
        ("include" | "tpl", 0) | ("lookup", _) => GoParam::String,
        ("and" | "or" | "call", _) => GoParam::Reflect,
        _ => GoParam::Any,
    }
}

/// Functions that answer a string which is UTF-8 if what they are given is. [`super::call`] sees to the rest.
pub(super) const TEXT: &[&str] = &[
    "b64enc",
    "camelcase",
    "cat",
    "include",
    "indent",
    "join",
    "kebabcase",
    "kindOf",
    "lower",
    "nindent",
    "nospace",
    "print",
    "printf",
    "println",
    "quote",
    "replace",
    "sha256sum",
    "snakecase",
    "squote",
    "title",
    "toJson",
    "toPrettyJson",
    "toString",
    "toYaml",
    "toYamlPretty",
    "tpl",
    "trim",
    "trimAll",
    "trimPrefix",
    "trimSuffix",
    "trunc",
    "typeOf",
    "upper",
];

/// Functions that answer a boolean.
const BOOL: &[&str] = &[
    "all",
    "any",
    "contains",
    "deepEqual",
    "empty",
    "eq",
    "ge",
    "gt",
    "has",
    "hasKey",
    "hasPrefix",
    "hasSuffix",
    "kindIs",
    "le",
    "lt",
    "ne",
    "not",
    "regexMatch",
    "semverCompare",
    "typeIs",
    "typeIsLike",
];

impl Functions {
    /// Whether there is such a function.
    pub(super) fn knows(&self, function: &str) -> bool {
        functions::find(function).is_some() || OWN.iter().any(|(name, ..)| *name == function)
    }
}

/// Whether templates may call a function of this name.
#[must_use]
pub fn is_function(name: &str) -> bool {
    Functions.knows(name)
}

/// Whether a function always answers a string.
pub(super) fn answers_text(function: &str) -> bool {
    TEXT.binary_search(&function).is_ok()
}

/// Whether a function always answers a boolean.
pub(super) fn answers_bool(function: &str) -> bool {
    BOOL.binary_search(&function).is_ok()
}

impl Vocabulary for Functions {
    fn signature(&self, function: &str) -> Option<Signature> {
        let (fixed, variadic) = match functions::find(function) {
            Some(found) => (found.params.len(), found.variadic.is_some()),
            None => {
                OWN.iter().find(|(name, ..)| *name == function).map(|(_, fixed, more)| (*fixed, *more))?
            }
        };
        let answer = if answers_text(function) {
            Known::Text
        } else if answers_bool(function) {
            Known::Bool
        } else {
            Known::Any
        };
        Some(Signature { fixed, variadic, answer })
    }

    fn elements(&self, function: &str) -> Option<&'static str> {
        match function {
            "until" | "untilStep" | "int" | "len" | "atoi" => Some("int"),
            "add" | "add1" | "div" | "int64" | "max" | "min" | "mod" | "mul" | "sub" => Some("int64"),
            "keys" | "mustRegexFindAll" | "mustRegexSplit" | "regexFindAll" | "regexSplit" | "sortAlpha"
            | "split" | "splitList" | "splitn" | "toStrings" => Some("string"),
            "chunk" | "mustChunk" => Some("[]interface {}"),
            // The only integer that templates are given, and the lists and maps of types that they are given.
            ".Release.Revision" => Some("int"),
            ".Chart.Annotations" | ".Capabilities.APIVersions" | ".Files.Lines" => Some("string"),
            ".Files" | ".Files.Glob" => Some("[]uint8"),
            _ => None,
        }
    }

    fn param(&self, function: &str, at: usize) -> Param {
        let param = match functions::find(function) {
            Some(found) => found.param(at).unwrap_or(GoParam::Any),
            None => own_param(function, at),
        };
        match param {
            GoParam::Any | GoParam::Reflect => Param::Any,
            GoParam::String => Param::String,
            GoParam::Int => Param::Int(param.go_type()),
            GoParam::Uint32 => Param::Uint(param.go_type()),
            GoParam::Float64 => Param::Float,
            GoParam::Bool => Param::Bool,
            GoParam::Map | GoParam::List | GoParam::Time | GoParam::Certificate => {
                Param::Other(param.go_type(), param.can_be_nil())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{BOOL, TEXT};

    #[test]
    fn lists_are_sorted() {
        for list in [TEXT, BOOL] {
            assert!(list.is_sorted(), "{list:?}");
        }
    }
}
