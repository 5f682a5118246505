//! YAML reading and printing, held against Go: sigs.k8s.io/yaml and go-yaml.
#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

#[path = "yaml/generate.rs"]
mod generate;
mod judge;

use std::{
    cell::RefCell,
    fs,
    path::{Path, PathBuf},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use generate::{aliases, bytes, change, changes, document, lines, scalar, soup, value};
use judge::{Judge, cases};
use pintle::yaml::{self, Options, Shape, Target, json};
use proptest::prelude::*;
use serde_json::json;
use tera::{Value, value::ValueKind};

thread_local! {
    static JUDGE: RefCell<Judge> = RefCell::new(Judge::start());
}

fn ask(request: &serde_json::Value) -> Result<Vec<u8>, String> {
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

/// Makes `-0` the integer that it is to whoever reads it as one.
fn without_negative_zero(value: &mut serde_json::Value) {
    match value {
        serde_json::Value::Array(items) => items.iter_mut().for_each(without_negative_zero),
        serde_json::Value::Object(entries) => entries.values_mut().for_each(without_negative_zero),
        other if other.as_f64() == Some(0.0) => *other = json!(0),
        _ => {}
    }
}

/// Compares the integers and floats that JSON has.
fn compare_exactly(text: &str, strict: bool) -> Result<(), TestCaseError> {
    let theirs = go_read(text.as_bytes(), "exact", strict);
    let ours = yaml::parse_shaped(text.as_bytes(), &Shape::Any, strict);
    match (ours, &theirs) {
        (Ok(ours), Ok(theirs)) => {
            let mut theirs: serde_json::Value = serde_json::from_str(theirs).unwrap();
            without_negative_zero(&mut theirs);
            if ours != theirs && !is_undecided(|| go_read(text.as_bytes(), "exact", strict)) {
                prop_assert_eq!(ours, theirs, "{}", text);
            }
        }
        (ours, theirs) => prop_assert_eq!(ours.is_ok(), theirs.is_ok(), "{}", text),
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
    fn reads_bytes(bytes in bytes()) {
        compare(&bytes)?;
    }

    #[test]
    fn counts_aliases(text in aliases()) {
        let (ours, theirs) = (read(text.as_bytes(), Target::Any, false), go_read(text.as_bytes(), "any", false));
        prop_assert!(ours == theirs, "{:?} {:?} {}", ours.as_ref().err(), theirs.as_ref().err(), text);
    }

    #[test]
    fn reads_numbers_exactly(text in prop_oneof![document(), lines()], strict in any::<bool>()) {
        compare_exactly(&text, strict)?;
    }

    #[test]
    fn reads_fields_as_strings(values in prop::collection::vec(scalar(), 4)) {
        let text = format!(
            "name: {}\nVersion: {}\nappVersion: {}\nkeywords:\n- {}\nannotations:\n  a: {}\n",
            values[0], values[1], values[2], values[3], values[0]
        );
        const METADATA: Shape = Shape::Struct(&[
            ("name", Shape::Text),
            ("version", Shape::Text),
            ("appVersion", Shape::Text),
            ("keywords", Shape::List(&Shape::Text)),
            ("annotations", Shape::Map(&Shape::Text)),
        ]);
        let Ok(theirs) = go_read(text.as_bytes(), "metadata", false) else { return Ok(()) };
        let theirs: serde_json::Value = serde_json::from_str(&theirs).unwrap();
        let ours = yaml::parse_shaped(text.as_bytes(), &METADATA, false).unwrap();
        for (field, known) in [("name", "name"), ("Version", "version"), ("appVersion", "appVersion")] {
            prop_assert_eq!(ours[field].as_str().unwrap_or_default(), theirs[known].as_str().unwrap_or_default(), "{}", text);
        }
        let first = |value: &serde_json::Value| value["keywords"][0].as_str().unwrap_or_default().to_owned();
        prop_assert_eq!(first(&ours), first(&theirs), "{}", text);
        let a = |value: &serde_json::Value| value["annotations"]["a"].as_str().unwrap_or_default().to_owned();
        prop_assert_eq!(a(&ours), a(&theirs), "{}", text);
    }

    #[test]
    fn splits_documents(text in prop_oneof![soup(), lines()]) {
        let request = json!({"op": "yaml.documents", "text": STANDARD.encode(&text)});
        let mut theirs = JUDGE.with_borrow_mut(|judge| judge.ask(&request)).unwrap();
        let mut ours = json!({"documents": []});
        for document in yaml::documents(text.as_bytes()) {
            match document {
                Ok(document) => ours["documents"].as_array_mut().unwrap().push(json!(STANDARD.encode(document))),
                Err(error) => ours["error"] = json!(error.to_string()),
            }
        }
        // What is not UTF-8 cannot come up here.
        theirs["documents"].as_array_mut().unwrap().retain(|document| document != "");
        prop_assert_eq!(ours, theirs, "{}", text);
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

/// The YAML files below a directory.
fn files(directory: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, into);
        } else if path.extension().is_some_and(|e| e == "yaml" || e == "yml" || e == "tpl" || e == "json") {
            into.push(path);
        }
    }
}

/// Reads every file below the directory that `YAML_CORPUS` names, as it is and changed in a few places, and prints what it
/// holds. Templates that are no YAML are as good a test of errors.
#[test]
#[ignore = "needs a directory of YAML files"]
fn corpus() {
    let mut found = Vec::new();
    files(Path::new(&std::env::var("YAML_CORPUS").unwrap()), &mut found);
    let mut runner = proptest::test_runner::TestRunner::new(cases(4));
    for path in found {
        let whole = fs::read(&path).unwrap();
        let mut documents = vec![whole.clone()];
        documents.extend(yaml::documents(&whole).filter_map(Result::ok));
        for document in documents {
            compare(&document).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            if let Ok(value) = yaml::parse_with(&document, &Options::default()) {
                assert_eq!(
                    yaml::to_string(&value).unwrap(),
                    go_print(&value, "yaml.print").unwrap(),
                    "{}",
                    path.display()
                );
                let pretty = go_print(&value, "yaml.pretty").unwrap();
                assert_eq!(yaml::to_string_pretty(&value).unwrap(), pretty, "{}", path.display());
            }
            let Ok(text) = String::from_utf8(document) else {
                continue;
            };
            if text.len() > 20_000 {
                continue;
            }
            runner
                .run(&changes(), |changes| compare(change(text.clone(), &changes).as_bytes()))
                .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        }
    }
}
