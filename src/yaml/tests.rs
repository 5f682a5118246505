//! What the whole of reading and printing must give; each rule as go-yaml and sigs.k8s.io/yaml have it.
#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use super::*;

/// A document in JSON, as `toJson` of what was read prints it.
fn json_of(text: &str) -> String {
    match parse(text) {
        Ok(value) => json::to_string(&value).unwrap(),
        Err(error) => format!("!{error}"),
    }
}

/// A document read and printed again.
fn printed(text: &str) -> String {
    to_string(&parse(text).unwrap()).unwrap()
}

#[test]
fn block_collections() {
    assert_eq!(
        json_of("a: 1\nb:\n  - x\n  - v: z\n    w: v\nc:\n- 1\n"),
        r#"{"a":1,"b":["x",{"v":"z","w":"v"}],"c":[1]}"#
    );
}

#[test]
fn prints_maps_and_lists() {
    let text = "a: 1\nb:\n- x\n- v: z\n  w: v\nc: []\nd: {}\n";
    assert_eq!(printed(text), text);
}

#[test]
fn literal_blocks_survive() {
    let text = "a: |\n  one\n  two\nb: |-\n  one\n  two\n";
    assert_eq!(printed(text), text);
}

#[test]
fn nesting_is_limited() {
    for (open, close) in [("[", "]"), ("{a: ", "}"), ("- ", ""), ("? ", ""), ("&a [*a, ", "]")] {
        for depth in [900, 1_100, 20_000] {
            let text = format!("{}x{}", open.repeat(depth), close.repeat(depth));
            let read = parse(&text);
            assert_eq!(parse_json(&text).is_ok(), read.is_ok());
            if let Ok(value) = read {
                assert!(to_string(&value).is_ok());
            }
        }
    }
    let deep = |depth: usize| parse(&format!("{}{}", "[".repeat(depth), "]".repeat(depth)));
    assert!(deep(1_000).is_ok());
    assert_eq!(
        deep(1_001).unwrap_err().to_string(),
        "error converting YAML to JSON: yaml: exceeded max depth of 1000"
    );
    assert_eq!(
        deep(10_001).unwrap_err().to_string(),
        "error converting YAML to JSON: yaml: exceeded max depth of 10000"
    );
}
