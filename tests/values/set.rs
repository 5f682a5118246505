//! `--set` and its kin against Helm's own parser.

use pintle::values::set::{Style, parse_into};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::json;
use tera::{Map, Value};

use crate::dump::dump;
use crate::judge::{Judge, cases};

fn ours(style: &str, text: &str, before: &[String]) -> Result<String, String> {
    let mut values = Value::from(Map::default());
    for text in before {
        values = parse_into(text, Style::Typed, values)?;
    }
    let mut read = |path: &str| {
        if path.starts_with('!') {
            Err(format!("open {path}: no such file or directory"))
        } else {
            Ok(format!("<{path}>").into_bytes())
        }
    };
    let style = match style {
        "typed" => Style::Typed,
        "text" => Style::Text,
        "json" => {
            return parse_into(text, Style::Json, values).map(|v| dump(&v)).map_err(|_| "json".to_owned());
        }
        "literal" => Style::Literal,
        _ => Style::File(&mut read),
    };
    parse_into(text, style, values).map(|v| dump(&v))
}

#[test]
fn set_strings_mean_what_they_mean_to_helm() {
    let piece = prop_oneof![
        4 => "[abc]",
        3 => Just("=".to_owned()),
        2 => Just(".".to_owned()),
        2 => Just(",".to_owned()),
        2 => "\\[[0-3]\\]",
        1 => prop::sample::select(vec![
            "[", "]", "{", "}", "\\", " ", "true", "NULL", "false", "0", "-1", "007", "12", "1.5", "+3", "é", "\"", "!",
            "[-1]", "[x]", "[70000]", "9223372036854775808", "'", "ſ",
        ]).prop_map(str::to_owned),
        1 => prop::sample::select(vec!["{\"k\":[1,null]}", "[1,{}]", "\"a,b\"", "null", "1e3", "01", "-0.5", "{", "[[1]]"])
            .prop_map(str::to_owned),
    ];
    let text = prop::collection::vec(piece, 0..14).prop_map(|pieces| pieces.concat());
    let before = prop::collection::vec(
        prop::sample::select(vec![
            "a=1",
            "a.b=x",
            "a[0]=1",
            "a[0].b=2",
            "b=null",
            "c.a.b=1",
            "a[1][0]=z",
            "a={x,y}",
        ]),
        0..3,
    );
    let style = prop::sample::select(vec!["typed", "text", "json", "literal", "file"]);
    let judge = std::cell::RefCell::new(Judge::start());
    TestRunner::new(cases(300))
        .run(&(style, text, before), |(style, text, before)| {
            let before: Vec<_> = before.into_iter().map(str::to_owned).collect();
            let theirs = judge
                .borrow_mut()
                .ask(&json!({"op": "values.set", "style": style, "text": text, "before": before}))
                .map(|v| v.as_str().unwrap().to_owned());
            prop_assert_eq!(ours(style, &text, &before), theirs);
            Ok(())
        })
        .unwrap();
}
