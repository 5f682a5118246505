//! What does not fit a schema, and the text that Helm shows for it.

use std::fmt::Write as _;

use super::decimal::Decimal;
use super::json::Json;
use crate::yaml::number::go_format_float;

/// Why a value does not fit, with what led to it below.
#[derive(Clone, Debug, Default)]
pub(super) struct Failure {
    /// The JSON pointer of the value.
    pub(super) at: String,
    pub(super) text: String,
    pub(super) kind: Kind,
    pub(super) causes: Vec<Self>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Kind {
    #[default]
    Plain,
    /// Several failures of one schema.
    Group,
    /// What a `$ref` led to; not shown where it led to one failure only.
    Reference,
}

impl Failure {
    /// Appends the lines of the failure, each indented by its depth.
    pub(super) fn write(&self, out: &mut String, indent: usize) {
        let skipped = self.kind == Kind::Reference && self.causes.len() == 1;
        if !skipped {
            out.push('\n');
            out.push_str(&"  ".repeat(indent));
            write!(out, "- at {}: {}", quote(&self.at), self.text).expect("a string takes all text");
        }
        for cause in &self.causes {
            cause.write(out, indent + usize::from(!skipped));
        }
    }

    /// The failures to show for a whole document: those of a group, or the one.
    pub(super) fn into_causes(self) -> Vec<Self> {
        if self.kind == Kind::Group { self.causes } else { vec![self] }
    }
}

/// Text in single quotes, as the Go library writes it.
pub(super) fn quote(text: &str) -> String {
    let quoted = crate::value::quote::quote(text.as_bytes()).replace("\\\"", "\"").replace('\'', "\\'");
    format!("'{}'", &quoted[1..quoted.len() - 1])
}

pub(super) fn quote_all(texts: &[&str]) -> String {
    texts.iter().map(|text| quote(text)).collect::<Vec<_>>().join(", ")
}

/// A value that is no array or object, as it is shown.
pub(super) fn display(value: &Json) -> String {
    match value {
        Json::Null => "<nil>".into(),
        Json::Bool(truth) => truth.to_string(),
        Json::Number(number) => number.to_string(),
        Json::Text(text) => quote(text),
        Json::Array(_) | Json::Object(_) => "value".into(),
    }
}

/// An integer with commas between thousands.
pub(super) fn count(number: i64) -> String {
    let digits = number.unsigned_abs().to_string();
    format!("{}{}", if number < 0 { "-" } else { "" }, grouped(&digits))
}

fn grouped(digits: &str) -> String {
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A number as it is shown to people who read English: `1,234.5`, `1.5×10⁻⁰⁷`.
pub(super) fn number(number: &Decimal) -> String {
    let text = go_format_float(number.to_f64());
    if let Some((mantissa, exponent)) = text.split_once('e') {
        let raised = exponent.chars().filter_map(|c| {
            Some(match c {
                '-' => '⁻',
                '1' => '¹',
                '2' => '²',
                '3' => '³',
                '0' | '4'..='9' => char::from_u32(0x2070 + c.to_digit(10)?)?,
                _ => return None,
            })
        });
        return format!("{mantissa}×10{}", raised.collect::<String>());
    }
    let (sign, text) = text.strip_prefix('-').map_or(("", text.as_str()), |text| ("-", text));
    let (whole, fraction) = text.split_once('.').map_or((text, None), |(w, f)| (w, Some(f)));
    let fraction = fraction.map(|f| format!(".{f}")).unwrap_or_default();
    format!("{sign}{}{fraction}", grouped(whole))
}
