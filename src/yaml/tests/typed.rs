//! Numbers of other types, strictness, shapes and targets.

use serde_json::json;
use tera::value::ValueKind;

use super::super::{Integers, Options, Shape, Target, documents, parse_json, parse_shaped, parse_with};

fn error(text: &str, options: &Options) -> String {
    parse_with(text.as_bytes(), options).unwrap_err().to_string()
}

#[test]
fn integers_are_int64_if_asked() {
    let options = Options { integers: Integers::Int64, ..Options::default() };
    let value = parse_with(b"[1, 1.0, 1e3, 1.5, 9223372036854775808, -0.0, x]", &options).unwrap();
    let kinds: Vec<ValueKind> = value.as_array().unwrap().iter().map(tera::Value::kind).collect();
    use ValueKind::{F64, I128, String};
    assert_eq!(kinds, [I128, I128, I128, F64, F64, I128, String]);
    assert_eq!(value.as_array().unwrap()[2].as_i64(), Some(1000));
}

#[test]
fn json_keeps_integers() {
    let text = "[9007199254740993, 18446744073709551615, 1.0, 1e3, 1.5, 0777, 6.294686935585939e18]";
    let exact = json!([
        9_007_199_254_740_993_u64,
        18_446_744_073_709_551_615_u64,
        1,
        1000,
        1.5,
        511,
        6_294_686_935_585_939_000_u64
    ]);
    assert_eq!(parse_json(text).unwrap(), exact);
}

#[test]
fn strict_reading_refuses_keys_that_are_set_twice() {
    let strict = Options { strict: true, ..Options::default() };
    assert_eq!(
        error("a: 1\nb: {c: 1,\n c: 2}\na: 3\n1: x\n1: y\n1.0: z\n", &strict),
        "error converting YAML to JSON: yaml: unmarshal errors:\n  line 3: key \"c\" already set in map\n  line 4: key \"a\" already set in map\n  line 6: key 1 already set in map"
    );
    assert_eq!(
        error("a: &x {b: 1}\nc:\n  b: 2\n  <<: *x\n", &strict),
        "error converting YAML to JSON: yaml: unmarshal errors:\n  line 1: key \"b\" already set in map"
    );
    assert!(parse_with(b"a: 1\nb: 2\n", &strict).is_ok());
}

#[test]
fn targets_ask_for_a_kind() {
    let (map, list) = (
        Options { target: Target::Map, ..Options::default() },
        Options { target: Target::List, ..Options::default() },
    );
    let wrong = |kind: &str, wanted: &str| {
        format!(
            "error unmarshaling JSON: while decoding JSON: json: cannot unmarshal {kind} into Go value of type {wanted}"
        )
    };
    assert_eq!(error("[a]", &map), wrong("array", "map[string]interface {}"));
    assert_eq!(error("a", &map), wrong("string", "map[string]interface {}"));
    assert_eq!(error("1", &list), wrong("number", "[]interface {}"));
    assert_eq!(error("yes", &list), wrong("bool", "[]interface {}"));
    assert_eq!(error("{}", &list), wrong("object", "[]interface {}"));
    assert!(parse_with(b"", &map).unwrap().is_map());
    assert!(parse_with(b"~", &list).unwrap().is_array());
}

#[test]
fn shapes_make_strings() {
    const SHAPE: Shape = Shape::Struct(&[
        ("version", Shape::Text),
        ("keywords", Shape::List(&Shape::Text)),
        ("annotations", Shape::Map(&Shape::Text)),
        ("deep", Shape::List(&Shape::Struct(&[("name", Shape::Text)]))),
        ("any", Shape::Any),
    ]);
    let text = "Version: 1.10\nkeywords: [1, yes, 1e10, x, ~]\nannotations: {1: 0x10}\ndeep: [{NAME: 1.0, other: 1}]\nany: 1\n";
    assert_eq!(
        parse_shaped(text.as_bytes(), &SHAPE, false).unwrap(),
        json!({"Version": "1.1", "keywords": ["1", "true", "1e+10", "x", null], "annotations": {"1": "16"},
            "deep": [{"NAME": "1", "other": 1}], "any": 1})
    );
    let error = parse_shaped(b"a: 1\na: 2\n", &SHAPE, true).unwrap_err();
    assert!(error.to_string().ends_with("line 2: key \"a\" already set in map"), "{error}");
}

#[test]
fn values_files_have_documents() {
    let split = |text: &str| -> Vec<String> {
        documents(text.as_bytes())
            .map(|document| {
                document.map_or_else(|error| format!("!{error}"), |text| String::from_utf8(text).unwrap())
            })
            .collect()
    };
    assert_eq!(split("a: 1\r\n---\nb: 2"), ["a: 1\n", "b: 2\n"]);
    assert_eq!(split("---\na: 1\n--- # x\n---\nb: 2\n"), ["---\na: 1\n", "---\nb: 2\n"]);
    assert_eq!(split("a: 1\n--- x\nb: 2\n"), ["!invalid Yaml document separator: x"]);
    assert_eq!(split(""), [""; 0]);
}

#[test]
fn errors_know_their_line() {
    let line = |text: &str| super::super::parse(text).unwrap_err().line();
    assert_eq!(line("a: b: c\n"), Some(1));
    assert_eq!(line("a: 1\nb: [\n"), Some(3));
    assert_eq!(line("a: 1\nb: *x\n"), Some(2));
    assert_eq!(line("a: 1\nb: !!int x\n"), Some(2));
    assert_eq!(line("a: \u{7}"), None);
}
