//! Go's semantics on values, held against Go itself.
#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

#[path = "value/alias.rs"]
mod alias;
#[path = "value/generate.rs"]
mod generate;
mod judge;

use std::cell::RefCell;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use generate::{any_value, format_and_args, tagged};
use judge::Judge;
use pintle::value::{Scope, compare, json, print, printf, truth, typed};
use proptest::{prelude::*, sample::select};
use serde_json::json;
use tera::Value;

thread_local! {
    static JUDGE: RefCell<Judge> = RefCell::new(Judge::start());
}

fn ask(request: &serde_json::Value) -> Result<Vec<u8>, String> {
    let answer = JUDGE.with_borrow_mut(|judge| judge.ask(request))?;
    // Go writes a []byte of nothing as null.
    Ok(STANDARD.decode(answer.as_str().unwrap_or_default()).unwrap())
}

fn all_tagged(values: &[Value]) -> Vec<serde_json::Value> {
    values.iter().map(tagged).collect()
}

fn shown(text: &[u8]) -> String {
    text.escape_ascii().to_string()
}

fn go_sprintf(format: &[u8], args: &[Value]) -> String {
    let request = json!({"op": "fmt.sprintf", "format": STANDARD.encode(format), "args": all_tagged(args)});
    shown(&ask(&request).unwrap())
}

fn sprintf(format: &[u8], args: &[Value]) -> String {
    let text = printf::sprintf(&Scope::new(), format, args).unwrap();
    shown(typed::text_bytes(&text).unwrap())
}

/// An error's text. The judge's errors and ours replace what is not UTF-8, but not in the same pieces.
fn error_text(text: &str) -> String {
    text.split('\u{fffd}').filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\u{fffd}")
}

/// What a template of one call prints or fails with, in Go.
fn go_call(text: &str, args: &[Value]) -> Result<String, String> {
    ask(&json!({"op": "template.call", "text": text, "args": all_tagged(args)}))
        .map(|out| shown(&out))
        .map_err(|error| error_text(&error))
}

/// What is found becomes a case of the unit tests; `PROPTEST_CASES` asks for more than these.
fn config() -> ProptestConfig {
    let default = ProptestConfig { failure_persistence: None, ..ProptestConfig::default() };
    if std::env::var_os("PROPTEST_CASES").is_some() {
        default
    } else {
        ProptestConfig { cases: 400, ..default }
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn sprintf_is_that_of_go((format, args) in format_and_args()) {
        prop_assert_eq!(sprintf(&format, &args), go_sprintf(&format, &args), "{:?} of {:?}", shown(&format), args);
    }

    #[test]
    fn sprint_is_that_of_go(args in prop::collection::vec(any_value(), 0..4)) {
        let scope = Scope::new();
        let request = |op| json!({"op": op, "args": all_tagged(&args)});
        let ours = |value: Value| shown(typed::text_bytes(&value).unwrap());
        prop_assert_eq!(
            ours(print::sprint(&scope, &args).unwrap()), shown(&ask(&request("fmt.sprint")).unwrap()), "{:?}", args
        );
        prop_assert_eq!(
            ours(print::sprintln(&scope, &args).unwrap()), shown(&ask(&request("fmt.sprintln")).unwrap()), "{:?}", args
        );
    }

    #[test]
    fn templates_print_as_in_go(value in any_value()) {
        // A template meets this type through a pointer alone, the judge without one.
        prop_assume!(typed::Type::of(&value) != Some(typed::Type::KubeVersion));
        let ours = print::display(&Scope::new(), &value).unwrap();
        // What is not UTF-8 is replaced in a template's output.
        prop_assume!(!ours.contains('\u{fffd}'));
        prop_assert_eq!(shown(ours.as_bytes()), go_call(".a0", std::slice::from_ref(&value)).unwrap(), "{:?}", value);
    }

    #[test]
    fn json_is_that_of_go(value in any_value(), html in any::<bool>(), indent in select(vec!["", "  ", "\t"])) {
        let request = json!({"op": "json.marshal", "value": tagged(&value), "html": html, "indent": indent});
        let go = ask(&request).map(|out| shown(&out));
        let style = json::Style { html, indent: Some(indent).filter(|indent| !indent.is_empty()) };
        let scope = Scope::new();
        let ours = json::to_string(&scope, &value, style).map(|out| shown(out.as_bytes()));
        prop_assert_eq!(ours.map_err(|error| error.to_string()), go, "{:?}", value);
        if let Ok(plain) = json::to_plain(&scope, &value) {
            // Structs become maps, whose keys are sorted.
            let of = |value: &Value| {
                let text = json::to_string(&scope, value, style).unwrap();
                serde_json::from_str::<serde_json::Value>(&text).unwrap()
            };
            prop_assert_eq!(of(&plain), of(&value), "{:?}", value);
        }
    }

    #[test]
    fn truth_is_that_of_go(value in any_value()) {
        let ours = truth::is_true(&Scope::new(), &value);
        prop_assert_eq!((!ours).to_string(), go_call("not .a0", std::slice::from_ref(&value)).unwrap(), "{:?}", value);
    }

    #[test]
    fn changes_show_as_in_go(steps in alias::steps()) {
        let (ours, told) = alias::run(&steps);
        let go = JUDGE.with_borrow_mut(|judge| judge.ask(&json!({"op": "alias.run", "steps": told}))).unwrap();
        let cycle = |text: &str| {
            // Go names the type at which it noticed.
            text.replace("cycle via []interface {}", "cycle via map[string]interface {}")
        };
        let go: Vec<_> = go.as_array().unwrap().iter().map(|text| cycle(text.as_str().unwrap())).collect();
        prop_assert_eq!(ours, go);
    }

    #[test]
    fn comparison_is_that_of_go(args in prop::collection::vec(any_value(), 1..4)) {
        let scope = Scope::new();
        let text = |found: Result<bool, pintle::value::Error>| match found {
            Ok(found) => Ok(found.to_string()),
            Err(error) => Err(error_text(&format!("error calling eq: {error}"))),
        };
        let names: Vec<_> = (0..args.len()).map(|at| format!(".a{at}")).collect();
        prop_assert_eq!(
            text(compare::eq(&scope, &args[0], &args[1..])), go_call(&format!("eq {}", names.join(" ")), &args),
            "{:?}", args
        );
        if let [first, second, ..] = &args[..] {
            type Compare = fn(&Scope, &Value, &Value) -> Result<bool, pintle::value::Error>;
            let all: [(&str, Compare); 5] = [
                ("ne", compare::ne), ("lt", compare::lt), ("le", compare::le), ("gt", compare::gt), ("ge", compare::ge),
            ];
            for (name, compare) in all {
                let ours = text(compare(&scope, first, second)).map_err(|error| error.replace("eq:", &format!("{name}:")));
                prop_assert_eq!(ours, go_call(&format!("{name} .a0 .a1"), &args[..2]), "{} {:?}", name, args);
            }
        }
    }
}
