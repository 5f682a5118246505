//! Documents read: their JSON, or the error after a `!`.

use super::super::{json, parse};

/// Documents and the JSON of what they hold; an error after a `!`.
fn check(cases: &[(&str, &str)]) {
    for (text, expected) in cases {
        let found = match parse(text) {
            Ok(value) => json::to_string(&value).unwrap(),
            Err(error) => {
                let text = error.to_string();
                format!("!{}", text.strip_prefix("error converting YAML to JSON: ").unwrap_or(&text))
            }
        };
        assert_eq!(&found, expected, "{text:?}");
    }
}

#[test]
fn block_collections() {
    check(&[
        ("a: 1\nb:\n  - x\n  - v: z\n    w: v\nc:\n- 1\n", r#"{"a":1,"b":["x",{"v":"z","w":"v"}],"c":[1]}"#),
        ("- - a\n  - b\n- c\n", r#"[["a","b"],"c"]"#),
        ("? a\n: b\n? c\n", r#"{"a":"b","c":null}"#),
        ("a:\n  b:\n    c:\n  d: ~\n", r#"{"a":{"b":{"c":null},"d":null}}"#),
        ("- a: 1\n  b: 2\n-\n  c: 3\n-\n", r#"[{"a":1,"b":2},{"c":3},null]"#),
        ("a:\n- b\n-\n- c\nd: e\n", r#"{"a":["b",null,"c"],"d":"e"}"#),
    ]);
}

#[test]
fn flow_collections() {
    check(&[
        ("{a: 1, b: [x, y], c: {d: e}}", r#"{"a":1,"b":["x",true],"c":{"d":"e"}}"#),
        ("[a, b,]", r#"["a","b"]"#),
        ("{a, b: }", r#"{"a":null,"b":null}"#),
        ("[a: b, {c: d}]", r#"[{"a":"b"},{"c":"d"}]"#),
        ("[? a : b, ? c]", r#"[{"a":"b"},{"c":null}]"#),
        ("a: [\n1,\n2\n]\n", r#"{"a":[1,2]}"#),
        ("a:\n  b: [\n1,\n2\n]\nc: d\n", r#"{"a":{"b":[1,2]},"c":"d"}"#),
        ("{\"a\":1, 'b':2}", r#"{"a":1,"b":2}"#),
        ("[]", "[]"),
        ("{}", "{}"),
        ("{a: [}", "!yaml: did not find expected node content"),
        ("[a, b", "!yaml: line 1: did not find expected ',' or ']'"),
        ("{a: b, c", "!yaml: line 1: did not find expected ',' or '}'"),
        ("[,]", "!yaml: did not find expected node content"),
        ("[a b: c]", r#"[{"a b":"c"}]"#),
        ("{a: b: c}", "!yaml: did not find expected ',' or '}'"),
        ("[a]: b", r#"!yaml: invalid map key: []interface {}{"a"}"#),
        ("{}: b", "{}"),
        ("- x\n{}\n", "!yaml: line 1: did not find expected '-' indicator"),
    ]);
}

#[test]
fn scalars() {
    check(&[
        ("[~, null, Null, NULL, '', \"null\", nULL]", r#"[null,null,null,null,"","null","nULL"]"#),
        (
            "[true, True, TRUE, tRUE, yes, Yes, YES, on, On, ON, y, Y]",
            r#"[true,true,true,"tRUE",true,true,true,true,true,true,true,true]"#,
        ),
        ("[false, no, No, NO, off, OFF, n, N]", "[false,false,false,false,false,false,false,false]"),
        (
            "[0, 1, -1, +1, 0777, 0o17, 0b11, -0b11, 0x1F, 1_000, 1__0_, 08, 0_8]",
            "[0,1,-1,1,511,15,3,-3,31,1000,10,8,8]",
        ),
        ("[0b-1, 0x, 0b2, -, +, _1, 1_]", r#"[-1,"0x","0b2","-","+","_1",1]"#),
        (
            "[1.5, .5, 1., -.5, +.5, 1e3, 1E-3, 1e+3, 1_0.5, .1_0, ._1, .e5, 1e, 1e400, 0x1p4]",
            r#"[1.5,0.5,1,-0.5,0.5,1000,0.001,1000,10.5,0.1,"._1",".e5","1e","1e400","0x1p4"]"#,
        ),
        (
            "[9223372036854775807, 9223372036854775808, 18446744073709551615, 18446744073709551616, -9223372036854775809]",
            "[9223372036854776000,9223372036854776000,18446744073709552000,18446744073709552000,-9223372036854776000]",
        ),
        ("[190:20:30, 1:2, 12:30:45.5]", r#"["190:20:30","1:2","12:30:45.5"]"#),
        (
            "[2001-01-01, 2001-1-2, '2001-01-01', 2001-12-14t21:59:43.10-05:00, 2001-12-14 21:59:43]",
            r#"["2001-01-01","2001-1-2","2001-01-01","2001-12-14t21:59:43.10-05:00","2001-12-14 21:59:43"]"#,
        ),
        ("[a#b, a:b, a::b, -a, ?a, :a]", "!yaml: did not find expected node content"),
        ("- .inf", "!json: unsupported value: +Inf"),
        ("- -.Inf", "!json: unsupported value: -Inf"),
        ("- .nan", "!json: unsupported value: NaN"),
        ("[=, <<, a<<]", r#"["=","\u003c\u003c","a\u003c\u003c"]"#),
    ]);
}

#[test]
fn keys() {
    check(&[
        ("y: 1\nno: 2\non: 3\n", r#"{"false":2,"true":3}"#),
        ("1: a\n1.5: b\n1e3: c\n0x10: d\n.inf: e\n", r#"{".inf":"e","1":"a","1.5":"b","1000":"c","16":"d"}"#),
        ("~: a\n", r#"!unsupported map key of type: %!s(<nil>), key: <nil>, value: "a""#),
        (
            "null: {b: 1, c: [x, ~]}\n",
            r#"!unsupported map key of type: %!s(<nil>), key: <nil>, value: map[interface {}]interface {}{"b":1, "c":[]interface {}{"x", interface {}(nil)}}"#,
        ),
        (
            "18446744073709551615: a\n",
            r#"!unsupported map key of type: uint64, key: 0xffffffffffffffff, value: "a""#,
        ),
        ("? [a]\n: b\n", r#"!yaml: invalid map key: []interface {}{"a"}"#),
        ("? {a: 1, 2: b}\n: c\n", r#"!yaml: invalid map key: map[interface {}]interface {}{"a":1, 2:"b"}"#),
        ("{[.]}", r#"!yaml: invalid map key: []interface {}{"."}"#),
        ("{{.}}", r#"!yaml: invalid map key: map[interface {}]interface {}{".":interface {}(nil)}"#),
        ("a: 1\na: 2\n", r#"{"a":2}"#),
        ("'': a\n", r#"{"":"a"}"#),
        ("!!binary YQ==: b\n", r#"{"a":"b"}"#),
        ("123456789.5: a\n", r#"{"1.2345679e+08":"a"}"#),
        ("*a : b\n", "!yaml: unknown anchor 'a' referenced"),
        ("&a a: 1\nb: *a\n", r#"{"a":1,"b":"a"}"#),
        ("&a a: 1\n*a : 2\n", r#"{"a":2}"#),
    ]);
}

#[test]
fn anchors() {
    check(&[
        ("a: &x {b: 1}\nc: *x\nd: [*x, *x]\n", r#"{"a":{"b":1},"c":{"b":1},"d":[{"b":1},{"b":1}]}"#),
        ("a: &x 1\nb: &x 2\nc: *x\n", r#"{"a":1,"b":2,"c":2}"#),
        ("a: *x\n", "!yaml: unknown anchor 'x' referenced"),
        ("a: &x [*x]\n", "!yaml: anchor 'x' value contains itself"),
        ("a: &x\nb: *x\n", r#"{"a":null,"b":null}"#),
        ("a: &x!y 1\n", "!yaml: did not find expected alphabetic or numeric character"),
        ("a: & b\n", "!yaml: did not find expected alphabetic or numeric character"),
        ("a: *\n", "!yaml: did not find expected alphabetic or numeric character"),
        ("- &a x\n- *a\n- *a \n", r#"["x","x","x"]"#),
        ("&a", "null"),
        ("a: &x !!str 1\nb: !!str &y 2\nc: [*x, *y]\n", r#"{"a":"1","b":"2","c":["1","2"]}"#),
    ]);
}

#[test]
fn merges() {
    check(&[
        ("a: &x {b: 1, c: 2}\nd:\n  <<: *x\n  c: 3\n", r#"{"a":{"b":1,"c":2},"d":{"b":1,"c":3}}"#),
        ("a: &x {b: 1, c: 2}\nd:\n  c: 3\n  <<: *x\n", r#"{"a":{"b":1,"c":2},"d":{"b":1,"c":2}}"#),
        (
            "a: &x {b: 1}\ne: &y {b: 2, f: 3}\nd:\n  <<: [*x, *y]\n",
            r#"{"a":{"b":1},"d":{"b":1,"f":3},"e":{"b":2,"f":3}}"#,
        ),
        ("a: {<<: {b: 1}, c: 2}\n", r#"{"a":{"b":1,"c":2}}"#),
        ("a:\n  <<: 1\n", "!yaml: map merge requires map or sequence of maps as the value"),
        ("a: &x 1\nb:\n  <<: *x\n", "!yaml: map merge requires map or sequence of maps as the value"),
        ("a:\n  <<: [1]\n", "!yaml: map merge requires map or sequence of maps as the value"),
        ("a:\n  '<<': 1\n", r#"{"a":{"\u003c\u003c":1}}"#),
        ("a:\n  !!merge <<: {b: 1}\n", r#"{"a":{"b":1}}"#),
        ("a:\n  <<: \n", "!yaml: map merge requires map or sequence of maps as the value"),
        ("<<: [{a: 1}, {a: 2, b: 3}]\n", r#"{"a":1,"b":3}"#),
    ]);
}

#[test]
fn tags() {
    check(&[
        ("[!!str 1, !!str yes, !!str ~, !!str]", "!yaml: line 1: did not find expected ',' or ']'"),
        ("[!!int '1', !!int 0x10, !!float 1, !!float '1.5']", "[1,16,1,1.5]"),
        ("[!!bool yes, !!null ~, !!null '']", "[true,null,null]"),
        ("a: !!int x\n", "!yaml: cannot decode !!str `x` as a !!int"),
        ("a: !!int 1.5\n", "!yaml: cannot decode !!float `1.5` as a !!int"),
        ("a: !!float x\n", "!yaml: cannot decode !!str `x` as a !!float"),
        (
            "a: !!float 18446744073709551615\n",
            "!yaml: cannot decode !!int `18446744073709551615` as a !!float",
        ),
        ("a: !!bool 1\n", "!yaml: cannot decode !!int `1` as a !!bool"),
        ("a: !!null x\n", "!yaml: cannot decode !!str `x` as a !!null"),
        ("a: !!timestamp 2001-01-01\n", r#"{"a":"2001-01-01"}"#),
        ("a: !!timestamp x\n", "!yaml: cannot decode !!str `x` as a !!timestamp"),
        ("[!!binary aGVsbG8=, !!binary 'aGVs\n bG8=']", "!yaml: !!binary value contains invalid base64 data"),
        ("a: !!binary /w==\n", r#"{"a":"�"}"#),
        ("? !!binary /w==\n: a\n\"\\uFFFD\": b\n", r#"{"�":"a"}"#),
        ("a: !!binary x\n", "!yaml: !!binary value contains invalid base64 data"),
        ("[! 1, !foo 1, !!foo 1, !<tag:yaml.org,2002:str> 1, !<x> 1]", r#"["1","1","1","1","1"]"#),
        ("a: !e!x 1\n", "!yaml: found undefined tag handle"),
        ("%TAG !e! tag:yaml.org,2002:\n---\na: !e!str 1\n", r#"{"a":"1"}"#),
        ("%TAG ! tag:yaml.org,2002:\n---\na: !str 1\n", r#"{"a":"1"}"#),
        ("a: !!map []\nb: !!seq {}\nc: !!str [x]\n", r#"{"a":[],"b":{},"c":["x"]}"#),
        ("a: !!str%20 1\n", r#"{"a":"1"}"#),
        ("a: !<%zz> 1\n", "!yaml: did not find URI escaped octet"),
        ("a: !<> 1\n", "!yaml: did not find expected tag URI"),
        ("a: !<x 1\n", "!yaml: did not find the expected '>'"),
        ("a: !!int\n", "!yaml: cannot decode !!null `` as a !!int"),
        ("a: !x{b: c}\n", "!yaml: did not find expected whitespace or line break"),
    ]);
}

#[test]
fn quoted() {
    check(&[
        (
            "a: 'it''s'\nb: \"a\\tb\\n\\\"\\\\\\x41\\u00e9\\U0001F600\\0\\a\\b\\e\\f\\v\\r\\N\\_\\L\\P\\ \\'\"\n",
            r#"{"a":"it's","b":"a\tb\n\"\\Aé😀\u0000\u0007\b\u001b\f\u000b\r \u2028\u2029 '"}"#,
        ),
        ("a: \"\\/\"\n", "!yaml: found unknown escape character"),
        ("a: \"\\q\"\n", "!yaml: found unknown escape character"),
        ("a: \"\\xZZ\"\n", "!yaml: did not find expected hexdecimal number"),
        ("a: \"\\ud800\"\n", "!yaml: found invalid Unicode character escape code"),
        ("a: 'b\n\n  c\n  d'\n", r#"{"a":"b\nc d"}"#),
        ("a: \"b  \n  c\\\n  d\\n\\\n\n  e\"\n", r#"{"a":"b cd\n\ne"}"#),
        ("a: \"b\n", "!yaml: line 2: found unexpected end of stream"),
        ("a: 'b\n---\nc'\n", "!yaml: line 2: found unexpected document indicator"),
        ("a: \"b\" c\n", "!yaml: did not find expected key"),
        ("a: 'b'c\n", "!yaml: did not find expected key"),
        ("\"a\n b\": c\n", "!yaml: line 2: mapping values are not allowed in this context"),
    ]);
}

#[test]
fn plain() {
    check(&[
        ("a: b c\n  d\n\n  e\nf: g\n", r#"{"a":"b c d\ne","f":"g"}"#),
        ("a: b\n c: d\n", "!yaml: line 2: mapping values are not allowed in this context"),
        ("a: b: c\n", "!yaml: mapping values are not allowed in this context"),
        ("a: b #c\nd: e#f\n", "{\"a\":\"b\",\"d\":\"e#f\"}"),
        ("a:b\n", r#""a:b""#),
        ("a: -b\nc: - d\n", "!yaml: line 2: block sequence entries are not allowed in this context"),
        ("a: [b, c]d\n", "!yaml: did not find expected key"),
        ("a: @b\n", "!yaml: found character that cannot start any token"),
        ("a: `b`\n", "!yaml: found character that cannot start any token"),
        ("a: %b\n", "!yaml: found character that cannot start any token"),
        ("%b: c\n", "!yaml: found unexpected non-alphabetical character"),
        ("a: b\n  \tc\n", r#"{"a":"b c"}"#),
        ("a:\n\tb: c\n", "!yaml: line 2: found character that cannot start any token"),
        ("\ta: b\n", "!yaml: found character that cannot start any token"),
        ("a: b\n\tc\n", "!yaml: line 2: found a tab character that violates indentation"),
        ("a: b\n---c\n", "!yaml: line 3: could not find expected ':'"),
        ("- a\nb\n", "!yaml: line 3: could not find expected ':'"),
        ("a: b\nc\n", "!yaml: line 3: could not find expected ':'"),
        ("a\nb: c\n", "!yaml: line 2: mapping values are not allowed in this context"),
    ]);
}

#[test]
fn block_scalars() {
    check(&[
        ("a: |\n  b\n   c\n\n  d\n\n\nb: x\n", r#"{"a":"b\n c\n\nd\n","b":"x"}"#),
        ("a: |-\n  b\n\nc: |+\n  d\n\ne: f\n", r#"{"a":"b","c":"d\n\n","e":"f"}"#),
        ("a: >\n  b\n  c\n\n  d\n   e\n  f\n", r#"{"a":"b c\nd\n e\nf\n"}"#),
        ("a: >-\n\n  b\n  c\n", r#"{"a":"\nb c"}"#),
        ("a: |2\n   b\n  c\n", r#"{"a":" b\nc\n"}"#),
        ("a: |1-\n  b\n", r#"{"a":" b"}"#),
        ("a: |-1\n  b\n", r#"{"a":" b"}"#),
        ("a: |0\n b\n", "!yaml: found an indentation indicator equal to 0"),
        ("a: |+x\n b\n", "!yaml: did not find expected comment or line break"),
        ("a: | # c\n  b\n", r#"{"a":"b\n"}"#),
        ("a: |\n\tb\n", "!yaml: line 2: found a tab character where an indentation space is expected"),
        ("a: |\n  b\n c\n", "!yaml: line 2: did not find expected key"),
        ("a: |\nb: c\n", r#"{"a":"","b":"c"}"#),
        ("a: |", r#"{"a":""}"#),
        ("|\n a\n", r#""a\n""#),
        ("- |\n a\n- >\n b\n", r#"["a\n","b\n"]"#),
        ("a: |\n    \n  b\n", "!yaml: line 2: did not find expected key"),
    ]);
}

#[test]
fn comments_and_documents() {
    check(&[
        ("# a\n\n  # b\n", "null"),
        ("", "null"),
        ("---\n", "null"),
        ("---\na\n", r#""a""#),
        ("--- a\n---\nb\n", r#""a""#),
        ("a: 1\n...\nb: 2\n", r#"{"a":1}"#),
        ("a: 1\n---\n[\n", r#"{"a":1}"#),
        ("a: 1\n--- [\n", r#"{"a":1}"#),
        ("%YAML 1.1\n---\na: 1\n", r#"{"a":1}"#),
        ("%YAML 1.2\n---\na: 1\n", "!yaml: found incompatible YAML document"),
        ("%YAML 1.1\n%YAML 1.1\n---\n", "!yaml: line 1: found duplicate %YAML directive"),
        ("%YAML 1\n---\n", "!yaml: did not find expected digit or '.' character"),
        ("%YAML 1.123\n---\n", "!yaml: found extremely long version number"),
        ("%FOO\n---\n", "!yaml: found unknown directive name"),
        ("%TAG !a! b\n%TAG !a! c\n---\n", "!yaml: line 1: found duplicate %TAG directive"),
        ("%YAML 1.1\na: 1\n", "!yaml: line 1: did not find expected <document start>"),
        ("a: 1\n%YAML 1.1\n", r#"{"a":1}"#),
        ("a #b\n#c\n", r#""a""#),
        ("a: #b\n  c\n", r#"{"a":"c"}"#),
    ]);
}

#[test]
fn characters() {
    check(&[
        ("\u{feff}a: 1\n", r#"{"a":1}"#),
        ("a: 1\r\nb:\r\n- c\r\n", r#"{"a":1,"b":["c"]}"#),
        ("a: 1\rb: 2\r", r#"{"a":1,"b":2}"#),
        ("a: b\u{85} c\n", r#"{"a":"b c"}"#),
        ("a: b\u{2028}  c\n", r#"{"a":"b\u2028c"}"#),
        ("a: \"b\u{2029} c\"\n", r#"{"a":"b\u2029c"}"#),
        ("a: |\n  b\u{2028}  c\n", r#"{"a":"b\u2028c\n"}"#),
        ("a: \u{7}\n", "!yaml: control characters are not allowed"),
        ("a: \u{7f}\n", "!yaml: control characters are not allowed"),
        ("a: \u{fffe}\n", "!yaml: control characters are not allowed"),
        ("\u{feff}\u{feff}a: 1\nb: 2\n", "!yaml: line 1: did not find expected key"),
        ("a: é日本😀\n", r#"{"a":"é日本😀"}"#),
    ]);
}

#[test]
fn structure_errors() {
    check(&[
        ("a: b\n- c\n", "!yaml: line 1: did not find expected key"),
        ("a:\n  - b\n c: d\n", "!yaml: line 2: did not find expected key"),
        ("a:\n    b: c\n  d: e\n", "!yaml: line 2: did not find expected key"),
        ("- a\n  - b\n", r#"["a - b"]"#),
        ("]", "!yaml: did not find expected node content"),
        ("a: }\n", "!yaml: did not find expected node content"),
        ("a: b\n  c: d\n", "!yaml: line 2: mapping values are not allowed in this context"),
        ("? a\n b\n", r#"{"a b":null}"#),
        (": a\n", "!yaml: did not find expected key"),
        ("- : a\n", "!yaml: did not find expected key"),
        ("a: ? b\n", "!yaml: mapping keys are not allowed in this context"),
        ("a: - b\n", "!yaml: block sequence entries are not allowed in this context"),
        ("{a: b}}\n", r#"{"a":"b"}"#),
        ("a: &x\n  - b\n *x\n", "!yaml: line 2: did not find expected key"),
        ("a: *x *y\n", "!yaml: unknown anchor 'x' referenced"),
    ]);
}
