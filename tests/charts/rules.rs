//! Versions, patterns and the rules of .helmignore.

use std::cell::RefCell;

use pintle::chart::semver::{Constraint, Version};
use pintle::chart::{Rules, matches};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::{Value as Json, json};

use crate::judge::{Judge, cases};

fn pieces(pieces: &'static [&'static str], most: usize) -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(pieces), 0..most).prop_map(|pieces| pieces.concat())
}

#[test]
fn versions_and_constraints() {
    let version = prop_oneof![
        pieces(&["1", "0", "2", "10", ".", "-", "+", "v", "a", "rc", "01", "x"], 8),
        "v?[0-3](\\.[0-3](\\.[0-3])?)?(-(a|b|1|2|10|rc\\.1))?(\\+m)?",
    ];
    let constraint = prop_oneof![
        pieces(
            &[
                "1", "0", "2", ".", "-", " ", ",", "||", "|", ">", "<", "=", "!", "~", "^", "x", "*", "v",
                "+", "a"
            ],
            10
        ),
        "(=|!=|>|<|>=|=>|<=|=<|~|~>|\\^)? ?v?[0-3x](\\.[0-3*](\\.[0-3X])?)?(-(0|a|rc\\.1))?(( | - |, ?| \\|\\| )(>|<|=|\\^|!=)?[0-3](\\.[0-3](\\.[0-3])?)?(-a)?)?",
    ];
    let judge = RefCell::new(Judge::start());
    TestRunner::new(cases(300))
        .run(&(version, constraint), |(version, constraint)| {
            let theirs = judge
                .borrow_mut()
                .ask(&json!({"op": "chart.version", "version": version, "constraint": constraint}));
            let ours = Version::parse(&version)
                .and_then(|version| Ok(Json::from(Constraint::parse(&constraint)?.check(&version))))
                .map_err(|e| e.to_string());
            prop_assert_eq!(ours, theirs);
            Ok(())
        })
        .unwrap();
}

#[test]
fn patterns() {
    let parts = &["a", "b", "*", "?", "[", "]", "^", "-", "\\", "/", "é", "[a-c]", "[^a]"][..];
    let judge = RefCell::new(Judge::start());
    TestRunner::new(cases(300))
        .run(&(pieces(parts, 7), pieces(&["a", "b", "c", "/", "é", "-", "*"], 6)), |(pattern, name)| {
            let theirs =
                judge.borrow_mut().ask(&json!({"op": "chart.match", "pattern": pattern, "name": name}));
            let ours = matches(&pattern, &name).map(Json::from).map_err(|e| e.to_string());
            prop_assert_eq!(ours, theirs);
            Ok(())
        })
        .unwrap();
}

#[test]
fn ignore_rules() {
    let line = pieces(&["a", "b", "*", "?", "/", "!", ".", "#", " ", "[a-b]", "templates", "\t"], 6);
    let rules = prop::collection::vec(line, 0..4).prop_map(|lines| lines.join("\n"));
    let path = prop::sample::select(vec![
        "a",
        "b",
        "a/b",
        ".a",
        "templates/.a",
        "templates/a",
        "a/b/a",
        "a.b",
        "b/a.b",
    ]);
    let judge = RefCell::new(Judge::start());
    TestRunner::new(cases(300))
        .run(&(rules, path, any::<bool>()), |(rules, path, folder)| {
            let theirs = judge
                .borrow_mut()
                .ask(&json!({"op": "chart.ignore", "rules": rules, "path": path, "folder": folder}));
            let ours = Rules::parse(Some(rules.as_bytes()))
                .map(|rules| Json::from(rules.ignores(path, folder)))
                .map_err(|e| e.to_string());
            prop_assert_eq!(ours, theirs);
            Ok(())
        })
        .unwrap();
}
