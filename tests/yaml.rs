//! YAML reading and printing, held against Go: sigs.k8s.io/yaml and go-yaml.
#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

#[path = "yaml/generate.rs"]
mod generate;
mod judge;

use std::cell::RefCell;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use generate::{change, changes, document, lines, soup, value};
use judge::{Judge, cases};
use pintle::yaml::{self, Options, Target, json};
use proptest::prelude::*;
use serde_json::json;
use tera::{Value, value::ValueKind};

fn ask(request: &serde_json::Value) -> Result<Vec<u8>, String> {
    thread_local! {
        static JUDGE: RefCell<Judge> = RefCell::new(Judge::start());
    }
    let answer = JUDGE.with_borrow_mut(|judge| judge.ask(request))?;
    // Go writes a []byte of nothing as null.
    Ok(STANDARD.decode(answer.as_str().unwrap_or_default()).unwrap())
}

/// What Go reads, in JSON.
fn go_read(text: &[u8], target: &str, strict: bool) -> Result<String, String> {
    ask(&json!({"op": "yaml.parse", "text": STANDARD.encode(text), "target": target, "strict": strict}))
        .map(|json| String::from_utf8(json).unwrap())
}

fn read(text: &[u8], target: Target, strict: bool) -> Result<String, String> {
    let options = Options { target, strict, ..Options::default() };
    yaml::parse_with(text, &options)
        .map(|value| json::to_string(&value).unwrap())
        .map_err(|error| error.to_string())
}

/// Whether Go's answer is up to chance: it says of one of several, in the order of a map.
fn by_chance(answer: &Result<String, String>) -> bool {
    matches!(answer, Err(text) if text.contains("unsupported map key") || text.contains("json: unsupported value"))
}

fn compare(text: &[u8]) -> Result<(), TestCaseError> {
    for (target, name, strict) in
        [(Target::Any, "any", false), (Target::Map, "map", true), (Target::List, "list", false)]
    {
        let (ours, theirs) = (read(text, target, strict), go_read(text, name, strict));
        if ours == theirs || theirs.as_ref().is_err_and(|text| text.starts_with("panic: ")) {
            continue;
        }
        if by_chance(&theirs) && by_chance(&ours) || is_undecided(|| go_read(text, name, strict)) {
            continue;
        }
        prop_assert_eq!(ours, theirs, "{} (strict: {}): {}", name, strict, text.escape_ascii());
    }
    Ok(())
}

/// Whether Go's answer depends on the order of a map, which is another each time: keys that become the same string, keys
/// whose order goes round in a circle.
fn is_undecided<T: PartialEq>(answer: impl Fn() -> T) -> bool {
    let first = answer();
    (0..20).any(|_| answer() != first)
}

/// A value as the judge reads it.
fn tagged(value: &Value) -> serde_json::Value {
    match value.kind() {
        ValueKind::Bool => json!({"bool": value.as_bool()}),
        ValueKind::I64 => json!({"int": value.as_i64()}),
        ValueKind::I128 => json!({"int64": value.as_i64()}),
        ValueKind::U64 => json!({"uint64": value.as_u64()}),
        ValueKind::F64 => json!({"float": format!("{:e}", value.as_f64().unwrap()).replace("inf", "Inf")}),
        ValueKind::String => json!({"string": value.as_str()}),
        ValueKind::Bytes => json!({"bytes": STANDARD.encode(value.as_bytes().unwrap())}),
        ValueKind::Array => json!({"list": value.as_array().unwrap().iter().map(tagged).collect::<Vec<_>>()}),
        ValueKind::Map => {
            let entries =
                value.as_map().unwrap().iter().map(|(k, v)| (k.as_str().unwrap().to_owned(), tagged(v)));
            json!({"map": entries.collect::<serde_json::Map<_, _>>()})
        }
        _ => json!({"nil": null}),
    }
}

fn go_print(value: &Value, op: &str) -> Result<String, String> {
    ask(&json!({"op": op, "value": tagged(value)})).map(|text| String::from_utf8(text).unwrap())
}

proptest! {
    #![proptest_config(cases(400))]

    #[test]
    fn reads_soup(text in soup()) {
        compare(text.as_bytes())?;
    }

    #[test]
    fn reads_lines(text in lines(), changes in changes()) {
        compare(change(text, &changes).as_bytes())?;
    }

    #[test]
    fn reads_documents(text in document(), changes in changes()) {
        compare(change(text, &changes).as_bytes())?;
    }

    #[test]
    fn prints_values(value in value()) {
        let ours = yaml::to_string(&value).map_err(|error| error.to_string());
        let theirs = go_print(&value, "yaml.print");
        prop_assert!(ours == theirs || is_undecided(|| go_print(&value, "yaml.print")), "{ours:?}\n{theirs:?}");
    }

    #[test]
    fn prints_values_prettily(value in value()) {
        let ours = yaml::to_string_pretty(&value).map_err(|error| error.to_string());
        let theirs = go_print(&value, "yaml.pretty");
        prop_assert!(ours == theirs || is_undecided(|| go_print(&value, "yaml.pretty")), "{ours:?}\n{theirs:?}");
    }
}
