//! Go's own printing and escaping: `print` and its kin, `html`, `js`, `urlquery`.

use tera::Value;

use super::{Call, Error, Family, Function, Native, Outcome, Param, limits};
use crate::value::{is_printable, print, printf, typed};

pub(super) const FUNCTIONS: &[Function] = &[
    function("print", &[], print, "The arguments as text, with spaces where neither side is one."),
    Function::new("printf", Family::Printing, &[Param::String], printf, "The arguments in a format.")
        .variadic(Param::Any),
    function("println", &[], println, "The arguments with spaces between, and a new line."),
    function("html", &[], html, "Escapes text for HTML."),
    function("js", &[], js, "Escapes text for JavaScript."),
    function("urlquery", &[], urlquery, "Escapes text for the query of a URL."),
];

const fn function(
    name: &'static str,
    params: &'static [Param],
    native: Native,
    summary: &'static str,
) -> Function {
    Function::new(name, Family::Printing, params, native, summary).variadic(Param::Any)
}

fn print(call: &Call<'_>) -> Outcome {
    Ok(print::sprint(call.scope, call.args)?)
}

fn printf(call: &Call<'_>) -> Outcome {
    Ok(printf::sprintf(call.scope, call.bytes(0), call.rest(1))?)
}

fn println(call: &Call<'_>) -> Outcome {
    Ok(print::sprintln(call.scope, call.args)?)
}

/// The text of the arguments, as text/template's `evalArgs` makes it.
fn evaluated(call: &Call<'_>) -> Result<Value, Error> {
    if let [only] = call.args
        && typed::text_bytes(only).is_some()
    {
        return Ok(only.clone());
    }
    let shown = |value: &Value| if value.is_none() { Value::from("<no value>") } else { value.clone() };
    let values: Vec<Value> = call.args.iter().map(shown).collect();
    Ok(print::sprint(call.scope, &values)?)
}

fn bytes(value: &Value) -> &[u8] {
    typed::text_bytes(value).unwrap_or_default()
}

fn html(call: &Call<'_>) -> Outcome {
    let value = evaluated(call)?;
    let text = bytes(&value);
    let escape = |byte: &u8| match byte {
        0 => "\u{FFFD}",
        b'"' => "&#34;",
        b'\'' => "&#39;",
        b'&' => "&amp;",
        b'<' => "&lt;",
        b'>' => "&gt;",
        _ => "",
    };
    if text.iter().all(|byte| escape(byte).is_empty()) {
        return Ok(value);
    }
    let mut out = Vec::with_capacity(text.len() + text.len() / 8);
    for byte in text {
        match escape(byte) {
            "" => out.push(*byte),
            escaped => out.extend_from_slice(escaped.as_bytes()),
        }
    }
    limits::check_text(call.scope, out.len())?;
    Ok(typed::text(out))
}

fn js(call: &Call<'_>) -> Outcome {
    let value = evaluated(call)?;
    let text = bytes(&value);
    let special = |c: char| c < ' ' || !c.is_ascii() || "\\'\"<>&=".contains(c);
    if text.iter().all(|byte| byte.is_ascii() && !special(char::from(*byte))) {
        return Ok(value);
    }
    let mut out = Vec::with_capacity(text.len() + text.len() / 8);
    for chunk in text.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\\' | '\'' | '"' => out.extend([b'\\', c as u8]),
                c if !special(c) || !c.is_ascii() && is_printable(c) => {
                    out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                }
                c => out.extend_from_slice(format!("\\u{:04X}", u32::from(c)).as_bytes()),
            }
        }
        // Go takes what is not UTF-8 for U+FFFD, which is printable, and writes it as it is.
        out.extend_from_slice(chunk.invalid());
    }
    limits::check_text(call.scope, out.len())?;
    Ok(typed::text(out))
}

fn urlquery(call: &Call<'_>) -> Outcome {
    let out = query_escaped(bytes(&evaluated(call)?));
    limits::check_text(call.scope, out.len())?;
    Ok(Value::from(out))
}

/// A text as it stands in the query of a URL; Go's `url.QueryEscape`.
pub fn query_escaped(text: &[u8]) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 4);
    for &byte in text {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => out.push(char::from(byte)),
            b' ' => out.push('+'),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}
