//! Text in, text out.
//!
//! Go's strings are bytes, so that what counts or cuts here (`trunc`, `substr`, `abbrev`, `wrap`) counts bytes.

mod case;
mod cut;
mod edit;
mod quote;
mod wrap;

use tera::Value;

pub(crate) use cut::runes;
pub(crate) use edit::trimmed;

use super::{Call, Family, Function, Outcome, Param, text};

pub(super) const FUNCTIONS: &[Function] = &[
    function("trim", &[Param::String], edit::trim, "Removes white space from both ends."),
    function(
        "trimAll",
        TWO_STRINGS,
        edit::trim_all,
        "Removes the characters of the first text from both ends.",
    ),
    function("trimall", TWO_STRINGS, edit::trim_all, "An old name of `trimAll`."),
    function(
        "trimPrefix",
        TWO_STRINGS,
        edit::trim_prefix,
        "Removes the first text from the start, if it is there.",
    ),
    function(
        "trimSuffix",
        TWO_STRINGS,
        edit::trim_suffix,
        "Removes the first text from the end, if it is there.",
    ),
    function("contains", TWO_STRINGS, edit::contains, "Whether the second text contains the first."),
    function("hasPrefix", TWO_STRINGS, edit::has_prefix, "Whether the second text starts with the first."),
    function("hasSuffix", TWO_STRINGS, edit::has_suffix, "Whether the second text ends with the first."),
    function(
        "replace",
        &[Param::String, Param::String, Param::String],
        edit::replace,
        "Replaces each old text by the new one.",
    ),
    function("repeat", INT_STRING, edit::repeat, "The text so many times over."),
    function("indent", INT_STRING, edit::indent, "Puts so many spaces before each line."),
    function(
        "nindent",
        INT_STRING,
        edit::nindent,
        "A new line, then the text with so many spaces before each line.",
    ),
    function("nospace", &[Param::String], edit::nospace, "Removes all white space."),
    function(
        "plural",
        &[Param::String, Param::String, Param::Int],
        edit::plural,
        "The first text if the count is one, else the second.",
    ),
    function("quote", &[], quote::quoted, "Each argument in double quotes, without nil.")
        .variadic(Param::Any),
    function("squote", &[], quote::single_quoted, "Each argument in single quotes, without nil.")
        .variadic(Param::Any),
    function("cat", &[], quote::cat, "The arguments with spaces between them, without nil.")
        .variadic(Param::Any),
    function("toString", &[Param::Any], quote::to_string, "The argument as text."),
    function(
        "split",
        TWO_STRINGS,
        quote::split,
        "The parts of the second text between the first, as `_0`, `_1`…",
    ),
    function(
        "splitn",
        &[Param::String, Param::Int, Param::String],
        quote::splitn,
        "As `split`, in at most so many parts.",
    ),
    function("hello", &[], hello, "A greeting; sprig's own test of itself."),
    function("lower", &[Param::String], case::lower, "Lower case."),
    function("upper", &[Param::String], case::upper, "Upper case."),
    function("title", &[Param::String], case::title, "Each word with a capital."),
    function("untitle", &[Param::String], case::untitle, "Each word without its capital."),
    function(
        "swapcase",
        &[Param::String],
        case::swapcase,
        "Swaps upper and lower case, words beginning with a capital.",
    ),
    function("camelcase", &[Param::String], case::camelcase, "`foo_bar` as `FooBar`."),
    function("snakecase", &[Param::String], case::snakecase, "`FooBar` as `foo_bar`."),
    function("kebabcase", &[Param::String], case::kebabcase, "`FooBar` as `foo-bar`."),
    function("initials", &[Param::String], case::initials, "The first letter of each word."),
    function(
        "trunc",
        INT_STRING,
        cut::trunc,
        "The first so many bytes, or the last ones for a negative number.",
    ),
    function(
        "substr",
        &[Param::Int, Param::Int, Param::String],
        cut::substr,
        "The bytes from the first number up to the second.",
    ),
    function("abbrev", INT_STRING, cut::abbrev, "Cuts to a width, with an ellipsis."),
    function(
        "abbrevboth",
        &[Param::Int, Param::Int, Param::String],
        cut::abbrevboth,
        "Cuts at both ends, with ellipses.",
    ),
    function("wrap", INT_STRING, wrap::wrap, "Breaks lines at a width."),
    function(
        "wrapWith",
        &[Param::Int, Param::String, Param::String],
        wrap::wrap_with,
        "Breaks lines at a width with a text of one's own, long words too.",
    ),
];

const TWO_STRINGS: &[Param] = &[Param::String, Param::String];
const INT_STRING: &[Param] = &[Param::Int, Param::String];

const fn function(
    name: &'static str,
    params: &'static [Param],
    native: super::Native,
    summary: &'static str,
) -> Function {
    Function::new(name, Family::Strings, params, native, summary)
}

fn hello(_: &Call<'_>) -> Outcome {
    Ok(Value::from("Hello!"))
}

/// A part of a string argument: the argument itself where it is the whole.
fn part(call: &Call<'_>, at: usize, part: &[u8]) -> Value {
    let whole = call.arg(at);
    if part.len() == call.bytes(at).len() {
        return whole.clone();
    }
    text::slice(part)
}
