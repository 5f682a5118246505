//! values.schema.json against Helm's library: what fits, and the report of what does not.

use std::cell::RefCell;

use pintle::values::schema::validate_one;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::{Value as Json, json};

use crate::coalesce::value;
use crate::judge::{Judge, cases};

/// A report whose siblings are sorted, since Go walks maps in any order.
fn sorted(report: &str) -> String {
    fn depth(line: &str) -> usize {
        line.len() - line.trim_start_matches(' ').len()
    }
    fn block(lines: &[String]) -> Vec<String> {
        let mut blocks: Vec<Vec<String>> = Vec::new();
        let level = lines.first().map_or(0, |line| depth(line));
        for line in lines {
            match blocks.last_mut() {
                Some(last) if depth(line) > level => last.push(line.clone()),
                _ => blocks.push(vec![line.clone()]),
            }
        }
        let mut blocks: Vec<Vec<String>> = blocks
            .into_iter()
            .map(|lines| {
                let mut out = vec![lines[0].clone()];
                out.extend(block(&lines[1..]));
                out
            })
            .collect();
        blocks.sort();
        blocks.concat()
    }
    let lines: Vec<String> = report
        .lines()
        .map(|line| match line.split_once("additional properties ") {
            Some((start, rest)) => {
                let mut names: Vec<_> = rest.trim_end_matches(" not allowed").split(", ").collect();
                names.sort_unstable();
                format!("{start}additional properties {}", names.join(", "))
            }
            None => line.to_owned(),
        })
        .collect();
    // What is wrong with an expression is not said in Go's words yet.
    let text = block(&lines).join("\n");
    text.split("error parsing regexp").next().unwrap_or_default().to_owned()
}

fn compare(judge: &RefCell<Judge>, schema: &str, values: &Json, ints: bool) -> Result<(), TestCaseError> {
    let ours = validate_one(schema.as_bytes(), &value(values)).map_err(|e| sorted(&e));
    let request = json!({"op": "values.schema", "schema": schema, "values": values, "ints": ints});
    let ask = || judge.borrow_mut().ask(&request).map(drop).map_err(|e| sorted(&e));
    // Which of several mistakes in a schema is named first is up to chance there.
    let theirs = (0..10).map(|_| ask()).find(|theirs| *theirs == ours).unwrap_or_else(ask);
    prop_assert_eq!(ours, theirs);
    Ok(())
}

fn scalar() -> impl Strategy<Value = Json> {
    prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        prop::sample::select(vec![
            json!(0),
            json!(1),
            json!(2),
            json!(-1),
            json!(1.5),
            json!(1000),
            json!(1e6),
            json!(12345.5),
            json!(0.00001)
        ]),
        prop::sample::select(vec![
            "",
            "a",
            "ab",
            "x1",
            "é",
            "it's \"q\"",
            "2020-01-02",
            "10.0.0.1",
            "a@b.c",
            "http://x/y"
        ])
        .prop_map(Json::from),
    ]
}

fn instance() -> impl Strategy<Value = Json> {
    let inner = scalar().prop_recursive(3, 20, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Json::from),
            prop::collection::btree_map("[abx/]", inner, 0..4)
                .prop_map(|map| Json::Object(map.into_iter().collect())),
        ]
    });
    prop::collection::btree_map("[abx/]", inner, 0..4).prop_map(|map| Json::Object(map.into_iter().collect()))
}

fn keyword(inner: BoxedStrategy<Json>) -> impl Strategy<Value = (String, Json)> {
    let kind =
        prop::sample::select(vec!["null", "boolean", "number", "integer", "string", "array", "object"]);
    let types = prop_oneof![
        3 => kind.clone().prop_map(Json::from),
        1 => prop::collection::btree_set(kind, 1..4).prop_map(|set| Json::from(set.into_iter().collect::<Vec<_>>())),
    ];
    let schema_map = prop::collection::btree_map("[abx]", inner.clone(), 0..3)
        .prop_map(|map| Json::Object(map.into_iter().collect()));
    let schemas = prop::collection::vec(inner.clone(), 1..4).prop_map(Json::from);
    let names = prop::collection::btree_set("[abx]", 0..3)
        .prop_map(|set| Json::from(set.into_iter().collect::<Vec<_>>()));
    let small = (0..4).prop_map(Json::from);
    let limit = prop::sample::select(vec![json!(0), json!(1), json!(1.5), json!(1000), json!(1234567)]);
    let one = |names: Vec<&'static str>| prop::sample::select(names);
    prop_oneof![
        4 => types.prop_map(|t| ("type".into(), t)),
        2 => (one(vec!["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"]), limit).prop_map(|(k, v)| (k.into(), v)),
        1 => prop::sample::select(vec![json!(1), json!(0.5), json!(3)]).prop_map(|v| ("multipleOf".into(), v)),
        2 => (one(vec!["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"]), small.clone())
            .prop_map(|(k, v)| (k.into(), v)),
        1 => any::<bool>().prop_map(|v| ("uniqueItems".into(), v.into())),
        1 => one(vec!["^a", "[0-9]+", "^[a-z]{2}$", "x|é", "\\d"]).prop_map(|v| ("pattern".into(), v.into())),
        1 => prop::collection::vec(scalar(), 1..4).prop_map(|mut v| {
            let mut seen = std::collections::BTreeSet::new();
            v.retain(|item| seen.insert(item.to_string()));
            ("enum".into(), v.into())
        }),
        1 => scalar().prop_map(|v| ("const".into(), v)),
        1 => Just(("const".into(), json!({"a": 1}))),
        2 => names.clone().prop_map(|v| ("required".into(), v)),
        4 => schema_map.clone().prop_map(|v| ("properties".into(), v)),
        1 => inner.clone().prop_map(|v| ("patternProperties".into(), json!({"^[ab]": v}))),
        2 => inner.clone().prop_map(|v| ("additionalProperties".into(), v)),
        1 => inner.clone().prop_map(|v| ("propertyNames".into(), v)),
        1 => (inner.clone(), names.clone()).prop_map(|(s, n)| ("dependencies".into(), json!({"a": s, "b": n}))),
        1 => names.prop_map(|n| ("dependentRequired".into(), json!({"a": n}))),
        1 => schema_map.prop_map(|v| ("dependentSchemas".into(), v)),
        2 => inner.clone().prop_map(|v| ("items".into(), v)),
        1 => schemas.clone().prop_map(|v| ("items".into(), v)),
        1 => inner.clone().prop_map(|v| ("additionalItems".into(), v)),
        1 => schemas.clone().prop_map(|v| ("prefixItems".into(), v)),
        1 => (one(vec!["contains", "unevaluatedProperties", "unevaluatedItems", "not"]), inner.clone()).prop_map(|(k, v)| (k.into(), v)),
        1 => (one(vec!["minContains", "maxContains"]), small).prop_map(|(k, v)| (k.into(), v)),
        3 => (one(vec!["allOf", "anyOf", "oneOf"]), schemas).prop_map(|(k, v)| (k.into(), v)),
        1 => (one(vec!["if", "then", "else"]), inner).prop_map(|(k, v)| (k.into(), v)),
        2 => one(vec!["#", "#/definitions/d", "#/$defs/e", "#anchor", "#/properties/a", "#/nowhere", "other.json", "urn:a:b", "#/definitions/d/type", "item"])
            .prop_map(|v| ("$ref".into(), v.into())),
        1 => one(vec!["date", "ipv4", "ipv6", "email", "uri", "hostname", "date-time", "time", "duration", "uuid", "regex", "json-pointer", "semver", "unknown"])
            .prop_map(|v| ("format".into(), v.into())),
        1 => one(vec!["#anchor", "anchor", "item"]).prop_map(|v| ("$id".into(), v.into())),
        1 => Just(("$anchor".into(), "anchor".into())),
        1 => Just(("$dynamicAnchor".into(), "node".into())),
        1 => one(vec!["#node", "#", "#anchor"]).prop_map(|v| ("$dynamicRef".into(), v.into())),
    ]
}

fn schema() -> BoxedStrategy<Json> {
    let leaf = prop_oneof![
        any::<bool>().prop_map(Json::from),
        Just(json!({})),
        Just(json!({"type": "string"})),
        Just(json!({"type": "integer"}))
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop::collection::vec(keyword(inner.boxed()), 0..4)
            .prop_map(|list| Json::Object(list.into_iter().collect()))
    })
    .boxed()
}

fn document() -> impl Strategy<Value = Json> {
    let draft = prop::sample::select(vec![
        None,
        Some("http://json-schema.org/draft-04/schema#"),
        Some("http://json-schema.org/draft-06/schema#"),
        Some("http://json-schema.org/draft-07/schema#"),
        Some("https://json-schema.org/draft/2019-09/schema"),
        Some("https://json-schema.org/draft/2020-12/schema"),
    ]);
    (draft, schema(), schema(), schema()).prop_map(|(draft, mut root, d, e)| {
        if let Json::Object(map) = &mut root {
            if let Some(draft) = draft {
                map.insert("$schema".into(), draft.into());
            }
            map.insert("definitions".into(), json!({"d": d}));
            map.insert("$defs".into(), json!({"e": e}));
        }
        root
    })
}

#[test]
fn values_fit_a_schema_as_they_do_for_helm() {
    let judge = RefCell::new(Judge::start());
    TestRunner::new(cases(300))
        .run(&(document(), instance(), any::<bool>()), |(schema, values, ints)| {
            compare(&judge, &schema.to_string(), &values, ints)
        })
        .unwrap();
}

#[test]
fn formats_complain_as_in_helm() {
    let format = prop::sample::select(vec![
        "date",
        "ipv4",
        "ipv6",
        "email",
        "uri",
        "uri-reference",
        "hostname",
        "date-time",
        "time",
        "duration",
        "uuid",
        "json-pointer",
        "relative-json-pointer",
        "semver",
        "period",
        "uri-template",
        "iri",
    ]);
    let text = prop_oneof![
        prop::collection::vec(
            prop::sample::select(vec![
                "a", "1", "0", "12", ".", ":", "-", "/", "T", "P", "Z", "@", "é", "~", "#", "+", "[", "]",
                "%", "2020", "W", "H", "%41", "{", "}", " ",
            ]),
            0..8
        )
        .prop_map(|pieces| pieces.concat()),
        "[0-9]{4}-[0-3][0-9]-[0-3][0-9](T[0-2][0-9]:[0-5][0-9]:[0-6][0-9](\\.1)?(Z|[+-][0-2][0-9]:[0-5][0-9]))?",
        "[0-9]{1,3}\\.[0-9]{1,3}\\.[0-9]{1,3}\\.[0-9]{1,3}",
        "[a-f0-9]{8}-[a-f0-9]{4}-[a-g0-9]{4}-[a-f0-9]{4}-[a-f0-9]{12}",
        "https?://[a-z]{1,5}(:[0-9a]{1,3})?/[a-z%]{0,3}",
    ];
    let judge = RefCell::new(Judge::start());
    TestRunner::new(cases(300))
        .run(&(format, text), |(format, text)| {
            let schema = json!({"$schema": "http://json-schema.org/draft-07/schema#", "properties": {"x": {"format": format}}});
            compare(&judge, &schema.to_string(), &json!({"x": text}), false)
        })
        .unwrap();
}

#[test]
fn files_of_references_are_named_as_by_helm() {
    let judge = RefCell::new(Judge::start());
    let refer = |reference: &str| {
        let schema = json!({"properties": {"x": {"$ref": reference}}});
        compare(&judge, &schema.to_string(), &json!({"x": 1}), false)
    };
    for reference in [
        "file://../a.json",
        "file://host",
        "file://host?a",
        "file://",
        "file:a.json",
        "file:///etc/passwd/a.json",
        "file://a b/c.json",
    ] {
        refer(reference).unwrap();
    }
    let start = prop::sample::select(vec![
        "",
        "/",
        "./",
        "../",
        "a?",
        "file:/",
        "file:///",
        "FILE:///",
        "file://../",
        "file://h:80/",
        "file://u@h/",
        "//h/",
    ]);
    let piece = prop::sample::select(vec![
        "a", "..", "/", ".", "é", " ", "%41", "a%2F", "%20", "%C3%A9", "(", ",", "!", "'", "~", "[", "?",
        "&", ";", "=", "+", "$", "*", "@", "\"", "<", "^",
    ]);
    TestRunner::new(cases(200))
        .run(&(start, prop::collection::vec(piece, 0..6)), |(start, pieces)| {
            // Hosts are those that the starts have.
            refer(&format!("{start}{}/none.json", pieces.concat().trim_start_matches('/')))
        })
        .unwrap();
}

#[test]
fn json_that_is_none_is_refused_as_by_go() {
    let text = prop::collection::vec(
        prop::sample::select(vec![
            "{",
            "}",
            "[",
            "]",
            ",",
            ":",
            "\"a\"",
            "\"",
            "\\",
            "\\u12",
            "1",
            "-",
            ".",
            "e",
            "0",
            "true",
            "tru",
            "null",
            " ",
            "'",
            "\n",
            "x",
            "{\"type\":\"object\"}",
        ]),
        0..7,
    );
    let judge = RefCell::new(Judge::start());
    TestRunner::new(cases(300))
        .run(&text, |pieces| compare(&judge, &pieces.concat(), &json!({}), false))
        .unwrap();
}
