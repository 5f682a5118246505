//! The functions of charts, held against Helm's own.
#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

#[path = "value/generate.rs"]
#[allow(dead_code, reason = "the other test uses all of it")]
mod generate;
#[path = "functions/inputs.rs"]
mod inputs;
mod judge;

use std::cell::RefCell;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use generate::tagged;
use judge::Judge;
use pintle::{
    functions::{Call, find},
    value::{Scope, json, kind, print, typed},
};
use proptest::prelude::*;
use serde_json::json;
use tera::Value;

/// What a call gives: the type, the text and the JSON of the result, or the text of the error.
type Given = Result<(String, String, String), String>;

/// Invalid UTF-8 is replaced by the judge's JSON, and by ours, but not in the same pieces.
fn error_text(text: &str) -> String {
    text.split('\u{fffd}').filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\u{fffd}")
}

fn go(name: &str, args: &[Value]) -> Given {
    thread_local! {
        static JUDGE: RefCell<Judge> = RefCell::new(Judge::start());
    }
    let request =
        json!({"op": "func.call", "name": name, "args": args.iter().map(tagged).collect::<Vec<_>>()});
    let answer = JUDGE.with_borrow_mut(|judge| judge.ask(&request)).map_err(|error| error_text(&error))?;
    let bytes = |key: &str| STANDARD.decode(answer[key].as_str().unwrap()).unwrap();
    let text = |key: &str| bytes(key).escape_ascii().to_string();
    Ok((answer["type"].as_str().unwrap().to_owned(), text("print"), text("json")))
}

fn ours(name: &str, args: &[Value]) -> Given {
    let function = find(name).unwrap_or_else(|| panic!("there is no {name}"));
    let scope = Scope::new();
    let value = (function.native)(&Call { args, scope: &scope }).map_err(|error| match error {
        pintle::functions::Error::Refused(text) => {
            error_text(&format!("execution error at (c/t:1:9): {text}"))
        }
        error => error_text(&format!("error calling {name}: {error}")),
    })?;
    let printed = match typed::text_bytes(&value) {
        Some(bytes) => bytes.escape_ascii().to_string(),
        // Helm takes this out of its output.
        None if value.is_none() => String::new(),
        None => {
            let mut out = Vec::new();
            print::append(&mut out, &scope, &value).unwrap();
            out.escape_ascii().to_string()
        }
    };
    let style = json::Style { html: true, indent: None };
    let json = json::to_string(&scope, &value, style).unwrap_or_default();
    Ok((kind::type_of(&scope, &value).to_owned(), printed, json.as_bytes().escape_ascii().to_string()))
}

/// Our value of a call that cannot fail.
fn ours_value(name: &str, args: &[Value]) -> Value {
    (find(name).unwrap().native)(&Call { args, scope: &Scope::new() }).unwrap()
}

fn same(name: &str, args: &[Value]) -> Result<(), TestCaseError> {
    let (ours, go) = (ours(name, args), go(name, args));
    prop_assert_eq!(ours, go, "{} {:?}", name, args);
    Ok(())
}

macro_rules! families {
    ($($family:ident: $calls:expr;)*) => {
        proptest! {
            #![proptest_config(judge::cases(1000))]
            $(
                #[test]
                fn $family((name, args) in $calls) {
                    same(name, &args)?;
                }
            )*
        }
    };
}

families! {
    strings_are_those_of_helm: inputs::strings();
    lists_are_those_of_helm: inputs::lists();
    dicts_are_those_of_helm: inputs::dicts();
    numbers_are_those_of_helm: inputs::math();
    flow_is_that_of_helm: inputs::flow();
    encodings_are_those_of_helm: inputs::encoding();
    json_is_that_of_helm: inputs::json();
    yaml_is_that_of_helm: inputs::yaml();
    dates_are_those_of_helm: inputs::dates();
    durations_are_those_of_helm: inputs::durations();
    versions_are_those_of_helm: inputs::semver();
    paths_are_those_of_helm: inputs::paths();
    types_are_those_of_helm: inputs::reflection();
    builtins_are_those_of_go: inputs::builtins();
}
