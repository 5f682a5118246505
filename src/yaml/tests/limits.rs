//! Documents that mean harm.

use std::fmt::Write as _;

use proptest::prelude::*;

use super::super::{parse, parse_json, parse_with, to_string, to_string_pretty};

fn error(text: &str) -> String {
    let text = parse(text).unwrap_err().to_string();
    text.strip_prefix("error converting YAML to JSON: yaml: ").unwrap_or(&text).to_owned()
}

#[test]
fn nesting_is_limited() {
    for (open, close) in [("[", "]"), ("{a: ", "}"), ("- ", ""), ("? ", ""), ("&a [*a, ", "]"), ("- &a ", "")]
    {
        for depth in [900, 1_100, 20_000] {
            let text = format!("{}x{}", open.repeat(depth), close.repeat(depth));
            let read = parse(&text);
            assert_eq!(parse_json(&text).is_ok(), read.is_ok());
            if let Ok(value) = read {
                assert!(to_string(&value).is_ok());
            }
        }
    }
    let deep = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    assert!(parse(&deep(1_000)).is_ok());
    assert_eq!(error(&deep(1_001)), "exceeded max depth of 1000");
    assert_eq!(error(&deep(10_001)), "exceeded max depth of 10000");
    assert_eq!(error(&"- ".repeat(10_001)), "exceeded max depth of 10000");
}

#[test]
fn nested_values_are_printed_without_recursion() {
    let mut value = tera::Value::from("x");
    for _ in 0..9_000 {
        value = tera::Value::from(vec![value]);
    }
    let deep = std::thread::Builder::new().stack_size(64 << 20).spawn(move || {
        let shallow = |value: &tera::Value| {
            std::thread::scope(|scope| {
                let small = std::thread::Builder::new().stack_size(256 << 10);
                small
                    .spawn_scoped(scope, || (to_string(value).is_ok(), to_string_pretty(value).is_ok()))
                    .unwrap()
                    .join()
            })
        };
        assert_eq!(shallow(&value).unwrap(), (true, true));
        for _ in 0..2_000 {
            value = tera::Value::from(vec![value]);
        }
        assert_eq!(shallow(&value).unwrap(), (false, false));
    });
    deep.unwrap().join().unwrap();
}

#[test]
fn aliases_are_limited() {
    let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
    for i in 1..9 {
        let aliases = vec![format!("*a{}", i - 1); 9].join(", ");
        writeln!(bomb, "a{i}: &a{i} [{aliases}]").unwrap();
    }
    assert_eq!(error(&bomb), "document contains excessive aliasing");
    // Ten times the text for a hundred aliases is no bomb.
    let fair = format!("a: &a [{}]\nb: [{}]\n", ["x"; 100].join(", "), ["*a"; 10].join(", "));
    assert!(parse(&fair).is_ok());
}

#[test]
fn many_keys_of_any_type_are_read_in_time() {
    let mut text = "~: x\n".to_owned();
    for i in 0..20_000 {
        writeln!(text, "{i}.5: x").unwrap();
    }
    assert!(error(&text).contains("unsupported map key"));
    let strict = super::super::Options { strict: true, ..Default::default() };
    assert!(parse_with(text.as_bytes(), &strict).is_err());
}

#[test]
fn long_lines_and_many_lines_are_read_in_time() {
    for unit in [
        "[", "{", "- ", "a: ", "&a ", "!x ", "\"a\" ", "'", "# x\n", "a\n", "\n", "a: b\n", "? a\n",
        "- - x\n", "*a ", "|\n", "x y ", "\\", "\"\\",
    ] {
        let _ = parse(&unit.repeat(20_000));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = parse_with(&bytes, &super::super::Options::default());
    }

    #[test]
    fn any_indicators_are_survived(text in "[-?:,\\[\\]{}#&*!|>'\"%@`~ \n\ta<=\r\u{85}\u{2028}\u{feff}.0-9]{0,60}") {
        if let Ok(value) = parse(&text) {
            let printed = to_string(&value).unwrap();
            prop_assert_eq!(&parse(&printed).unwrap(), &value, "{}", printed);
            to_string_pretty(&value).unwrap();
        }
        let _ = super::super::comments(&text);
    }
}
