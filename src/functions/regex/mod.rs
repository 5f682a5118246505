//! Regular expressions in RE2's syntax, which Go reads, run by the engine of the regex crate, whose time is linear too.

mod expand;
mod search;

use std::{
    collections::HashMap,
    sync::{LazyLock, Mutex, PoisonError},
};

use tera::Value;

use super::{Call, Family, Function, Native, Outcome, Param, text};
use crate::value::{
    regexp::{Error, Expression},
    typed,
};
use expand::Template;

pub(super) const FUNCTIONS: &[Function] = &[
    function("regexMatch", TWO, matches, "Whether the text (second) has a match."),
    function("mustRegexMatch", TWO, must_match, "Whether the text (second) has a match, or the error."),
    function("regexFind", TWO, find, "The first match in the text (second)."),
    function("mustRegexFind", TWO, must_find, "The same as `regexFind`."),
    function("regexFindAll", FIND_ALL, find_all, "At most so many matches, all for a negative number."),
    function("mustRegexFindAll", FIND_ALL, must_find_all, "The same as `regexFindAll`."),
    function(
        "regexReplaceAll",
        THREE,
        replace_all,
        "Replaces the matches in the second text by the third, in which `$1` is a group.",
    ),
    function("mustRegexReplaceAll", THREE, must_replace_all, "The same as `regexReplaceAll`."),
    function(
        "regexReplaceAllLiteral",
        THREE,
        replace_all_literal,
        "Replaces the matches in the second text by the third as it is.",
    ),
    function(
        "mustRegexReplaceAllLiteral",
        THREE,
        must_replace_all_literal,
        "The same as `regexReplaceAllLiteral`.",
    ),
    function(
        "regexSplit",
        FIND_ALL,
        split,
        "The parts between matches, at most so many, all for a negative number.",
    ),
    function("mustRegexSplit", FIND_ALL, must_split, "The same as `regexSplit`."),
    function("regexQuoteMeta", &[Param::String], quote_meta, "The expression that matches the text itself."),
];

const TWO: &[Param] = &[Param::String, Param::String];
const THREE: &[Param] = &[Param::String, Param::String, Param::String];
const FIND_ALL: &[Param] = &[Param::String, Param::String, Param::Int];

const fn function(
    name: &'static str,
    params: &'static [Param],
    native: Native,
    summary: &'static str,
) -> Function {
    Function::new(name, Family::Regex, params, native, summary)
}

/// The compiled expression. Those of charts are few and short, and are kept.
fn expression(text: &[u8]) -> Result<Expression, Error> {
    const KEPT: usize = 256;
    const LONGEST_KEPT: usize = 1024;
    static CACHE: LazyLock<Mutex<HashMap<Vec<u8>, Expression>>> = LazyLock::new(Mutex::default);
    let cache = || CACHE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = cache().get(text) {
        return Ok(known.clone());
    }
    let compiled = Expression::compile(text)?;
    if text.len() <= LONGEST_KEPT {
        let mut cache = cache();
        if cache.len() >= KEPT {
            cache.clear();
        }
        cache.insert(text.to_vec(), compiled.clone());
    }
    Ok(compiled)
}

/// The expression that a call is about, or the error that a function with `must` answers.
fn must(call: &Call<'_>) -> Result<Expression, super::Error> {
    expression(call.bytes(0)).map_err(|error| super::Error::Call(error.text))
}

/// The expression that a call is about, or the panic of a function without `must`.
fn compiled(call: &Call<'_>) -> Result<Expression, super::Error> {
    let text = call.bytes(0);
    expression(text).map_err(|error| super::Error::Call(error.of_must_compile(text)))
}

fn matches(call: &Call<'_>) -> Outcome {
    Ok(Value::from(expression(call.bytes(0)).is_ok_and(|expression| expression.is_match(call.bytes(1)))))
}

fn must_match(call: &Call<'_>) -> Outcome {
    Ok(Value::from(must(call)?.is_match(call.bytes(1))))
}

fn find(call: &Call<'_>) -> Outcome {
    Ok(text::slice(compiled(call)?.first(call.bytes(1))))
}

fn must_find(call: &Call<'_>) -> Outcome {
    Ok(text::slice(must(call)?.first(call.bytes(1))))
}

/// A `[]string`, nil where there are none.
fn texts(call: &Call<'_>, parts: &[&[u8]]) -> Value {
    if parts.is_empty() {
        return call.nil_list("[]string");
    }
    call.list_of(parts.iter().map(|part| text::slice(part)).collect(), "[]string")
}

/// The number argument: none for a negative one.
fn most(call: &Call<'_>) -> Option<usize> {
    usize::try_from(call.int(2)).ok()
}

fn found(call: &Call<'_>, expression: &Expression) -> Outcome {
    Ok(texts(call, &expression.all(call.bytes(1), most(call).unwrap_or(usize::MAX))?))
}

fn find_all(call: &Call<'_>) -> Outcome {
    found(call, &compiled(call)?)
}

fn must_find_all(call: &Call<'_>) -> Outcome {
    found(call, &must(call)?)
}

fn replaced(call: &Call<'_>, expression: &Expression, template: &Template<'_>) -> Outcome {
    Ok(typed::text(expression.replace(call.scope, call.bytes(1), template)?))
}

fn replace_all(call: &Call<'_>) -> Outcome {
    replaced(call, &compiled(call)?, &Template::parse(call.bytes(2)))
}

fn must_replace_all(call: &Call<'_>) -> Outcome {
    replaced(call, &must(call)?, &Template::parse(call.bytes(2)))
}

fn replace_all_literal(call: &Call<'_>) -> Outcome {
    replaced(call, &compiled(call)?, &Template::Literal(call.bytes(2)))
}

fn must_replace_all_literal(call: &Call<'_>) -> Outcome {
    replaced(call, &must(call)?, &Template::Literal(call.bytes(2)))
}

fn parts(call: &Call<'_>, expression: &Expression) -> Outcome {
    match most(call) {
        Some(0) => Ok(call.nil_list("[]string")),
        most => {
            let parts = expression.split(call.bytes(1), most)?;
            Ok(call.list_of(parts.into_iter().map(text::slice).collect(), "[]string"))
        }
    }
}

fn split(call: &Call<'_>) -> Outcome {
    parts(call, &compiled(call)?)
}

fn must_split(call: &Call<'_>) -> Outcome {
    parts(call, &must(call)?)
}

fn quote_meta(call: &Call<'_>) -> Outcome {
    let text = call.bytes(0);
    let special = |byte: &u8| b"\\.+*?()|[]{}^$".contains(byte);
    if !text.iter().any(special) {
        return Ok(call.arg(0).clone());
    }
    let mut out = Vec::with_capacity(text.len() + 8);
    for byte in text {
        if special(byte) {
            out.push(b'\\');
        }
        out.push(*byte);
    }
    Ok(typed::text(out))
}
