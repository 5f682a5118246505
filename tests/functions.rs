//! The functions of charts, held against Helm's own.
#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

#[path = "functions/certificates.rs"]
mod certificates;
#[path = "value/generate.rs"]
#[allow(dead_code, reason = "the other test uses all of it")]
mod generate;
#[path = "functions/inputs.rs"]
mod inputs;
mod judge;
#[path = "functions/table.rs"]
mod table;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use generate::tagged;
use judge::Judge;
use pintle::{
    functions::{Call, find},
    value::{Scope, json, kind, print, typed},
};
use proptest::{
    strategy::{Strategy as _, ValueTree},
    test_runner::TestRunner,
};
use serde_json::json;
use tera::Value;

/// What a call gives: the type, the text and the JSON of the result, or the text of the error.
type Given = Result<(String, String, String), String>;

/// Invalid UTF-8 is replaced by the judge's JSON, and by ours, but not in the same pieces.
fn error_text(text: &str) -> String {
    text.split('\u{fffd}').filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\u{fffd}")
}

fn question(name: &str, args: &[Value]) -> serde_json::Value {
    json!({"op": "func.call", "name": name, "args": args.iter().map(tagged).collect::<Vec<_>>()})
}

fn given(answer: Result<serde_json::Value, String>) -> Given {
    let answer = answer.map_err(|error| error_text(&error))?;
    let bytes = |key: &str| STANDARD.decode(answer[key].as_str().unwrap()).unwrap();
    let text = |key: &str| bytes(key).escape_ascii().to_string();
    Ok((answer["type"].as_str().unwrap().to_owned(), text("print"), text("json")))
}

/// What Helm gives for one call.
fn go(name: &str, args: &[Value]) -> Given {
    given(Judge::start().ask(&question(name, args)))
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

/// Tries calls in batches; the first that differs is made as small as it can be.
fn hold(calls: &inputs::Calls) {
    const BATCH: u32 = 500;
    let config = judge::cases(1000);
    let mut left = config.cases;
    let mut runner = TestRunner::new(config);
    let mut judge = Judge::start();
    while left > 0 {
        let count = left.min(BATCH);
        left -= count;
        let mut trees: Vec<_> = (0..count).map(|_| calls.new_tree(&mut runner).unwrap()).collect();
        let questions: Vec<_> =
            trees.iter().map(|tree| tree.current()).map(|(name, args)| question(name, &args)).collect();
        for (tree, answer) in trees.iter_mut().zip(judge.ask_all(&questions)) {
            let (name, args) = tree.current();
            if ours(name, &args) != given(answer) {
                let (name, args) = smallest(&mut judge, tree.as_mut());
                let go = given(judge.ask(&question(name, &args)));
                assert_eq!(ours(name, &args), go, "{name} {args:?}");
            }
        }
    }
}

type Tree = dyn ValueTree<Value = (&'static str, Vec<Value>)>;

/// The smallest call found that differs.
fn smallest(judge: &mut Judge, tree: &mut Tree) -> (&'static str, Vec<Value>) {
    let mut worst = tree.current();
    let mut steps = 0;
    let mut more = tree.simplify();
    while more && steps < 2000 {
        steps += 1;
        let (name, args) = tree.current();
        if ours(name, &args) != given(judge.ask(&question(name, &args))) {
            worst = (name, args);
            more = tree.simplify();
        } else {
            more = tree.complicate();
        }
    }
    worst
}

macro_rules! families {
    ($($family:ident: $calls:expr;)*) => {
        $(
            #[test]
            fn $family() {
                hold(&$calls);
            }
        )*
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
    toml_is_that_of_helm: inputs::toml();
    dates_are_those_of_helm: inputs::dates();
    durations_are_those_of_helm: inputs::durations();
    versions_are_those_of_helm: inputs::semver();
    regular_expressions_are_those_of_go: inputs::regex();
    paths_are_those_of_helm: inputs::paths();
    types_are_those_of_helm: inputs::reflection();
    builtins_are_those_of_go: inputs::builtins();
}
