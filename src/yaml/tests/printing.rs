//! Values printed: what `toYaml` and `toYamlPretty` write, but for the last line feed.

use super::super::{parse, to_string, to_string_pretty};

/// Values in JSON, and what is printed for them; an error after a `!`.
fn check(print: fn(&tera::Value) -> Result<String, super::super::Error>, cases: &[(&str, &str)]) {
    for (json, expected) in cases {
        let found = print(&parse(json).unwrap()).unwrap_or_else(|error| format!("!{error}"));
        assert_eq!(&found, expected, "{json}");
    }
}

/// Values that both ways of printing write alike.
fn check_both(cases: &[(&str, &str)]) {
    check(to_string, cases);
    check(to_string_pretty, cases);
}

#[test]
fn maps_and_lists() {
    check(
        to_string,
        &[
            (
                r#"{"b": 1, "a": [1, {"c": 2, "d": [3]}, [4, [5]], [], {}], "e": {}, "f": [], "g": {"h": {"i": null}}}"#,
                r#"a:
- 1
- c: 2
  d:
  - 3
- - 4
  - - 5
- []
- {}
b: 1
e: {}
f: []
g:
  h:
    i: null
"#,
            ),
            ("[]", "[]\n"),
            ("{}", "{}\n"),
            ("[[]]", "- []\n"),
            (
                "[{\"a\": [{\"b\": [\"c\"]}]}]",
                r#"- a:
  - b:
    - c
"#,
            ),
            (
                "{\"a\": [[\"b\", \"c\"], [\"d\"]]}",
                r#"a:
- - b
  - c
- - d
"#,
            ),
        ],
    );
}

#[test]
fn key_order() {
    check_both(&[(
        r#"{"a10": 1, "a2": 1, "a1": 1, "A1": 1, "a-1": 1, "a_1": 1, "a.1": 1, "a01": 1, "a": 1, "1": 1, "10": 1, "2": 1, "-": 1, "b": 1, "\u00e9": 1, "": 1}"#,
        r#""": 1
'-': 1
"1": 1
"2": 1
"10": 1
A1: 1
a: 1
a-1: 1
a.1: 1
a_1: 1
a1: 1
a01: 1
a2: 1
a10: 1
b: 1
é: 1
"#,
    )]);
}

#[test]
fn numbers() {
    check(
        to_string,
        &[(
            r#"[0, 1, -1, 1000000, 123456789, 1.5, 0.1, 1e+20, 1e+21, 1e-06, 1e-07, -0.0, 1e+19, 1.8e+19, 1234567.5, 4.611686018427388e+18]"#,
            r#"- 0
- 1
- -1
- 1000000
- 123456789
- 1.5
- 0.1
- 1e+20
- 1e+21
- 1e-06
- 1e-07
- 0
- 10000000000000000000
- 18000000000000000000
- 1.2345675e+06
- 4611686018427388000
"#,
        )],
    );
}

#[test]
fn strings_that_need_quotes() {
    check_both(&[
        (
            r#"["", "~", "null", "true", "yes", "on", "n", "y", "0", "1.5", "1e3", "0x1F", "0777", "1_000", ".5"]"#,
            r#"- ""
- "~"
- "null"
- "true"
- "yes"
- "on"
- "n"
- "y"
- "0"
- "1.5"
- "1e3"
- "0x1F"
- "0777"
- "1_000"
- ".5"
"#,
        ),
        (
            r#"[".inf", "-.inf", ".nan", "2001-01-01", "2001-1-2 3:4:5", "1:30", "12:30:45", "190:20:30.5", "<<", "=", "-", "--", "---", "...", "-a"]"#,
            r#"- ".inf"
- "-.inf"
- ".nan"
- "2001-01-01"
- "2001-1-2 3:4:5"
- "1:30"
- "12:30:45"
- "190:20:30.5"
- <<
- =
- '-'
- --
- '---'
- '...'
- -a
"#,
        ),
        (
            r##"["?", "? a", "?a", ":", ":a", "a:", "a: b", "a:b", "#a", "a #b", "a#b", "[a", "{a", "]a", "}a"]"##,
            r#"- '?'
- '? a'
- ?a
- ':'
- :a
- 'a:'
- 'a: b'
- a:b
- '#a'
- 'a #b'
- a#b
- '[a'
- '{a'
- ']a'
- '}a'
"#,
        ),
        (
            r#"[",a", "&a", "*a", "!a", "|a", ">a", "'a", "\"a", "%a", "@a", "`a", "a'b", "a\"b", " a", "a "]"#,
            r#"- ',a'
- '&a'
- '*a'
- '!a'
- '|a'
- '>a'
- '''a'
- '"a'
- '%a'
- '@a'
- '`a'
- a'b
- a"b
- ' a'
- 'a '
"#,
        ),
        (
            r#"["a  b", "\ta", "a\tb", "a\\b", "\u0000", "\u001b", "\u00a0", "\u00e9", "\u65e5\u672c", "😀", "\ufeffab", "a\u2028b", "a\r", "- a", "08"]"#,
            "- a  b\n- \"\\ta\"\n- \"a\\tb\"\n- a\\b\n- \"\\0\"\n- \"\\e\"\n-  \n- é\n- 日本\n- \"\\U0001F600\"\n- \"\\uFEFF\\x61\\x62\"\n- 'a\u{2028}  b'\n- \"a\\r\"\n- '- a'\n- \"08\"\n",
        ),
        (
            "[\"0b1\", \"0o7\", \"+1\", \"1.\", \"_1\"]",
            r#"- "0b1"
- "0o7"
- "+1"
- "1."
- _1
"#,
        ),
    ]);
}

#[test]
fn line_feeds() {
    check(
        to_string,
        &[
            (
                r#"{"a": "b\n", "b": "b\nc", "c": "b\n\n", "d": "\nb", "e": " b\nc", "f": "b \nc", "g": "b\n c\n\n d\n", "h": "b\nc ", "i": "\n", "j": "\n\n", "k": "b\n\tc", "l": "b\r\nc", "m": "\u00e9\n\u65e5\n"}"#,
                r#"a: |
  b
b: |-
  b
  c
c: |+
  b

d: |2-

  b
e: |2-
   b
  c
f: "b \nc"
g: |
  b
   c

   d
h: "b\nc "
i: |2+

j: |2+


k: "b\n\tc"
l: "b\r\nc"
m: |
  é
  日
"#,
            ),
            (
                "[\"a\\nb\\n\", [\"c\\nd\"]]",
                r#"- |
  a
  b
- - |-
    c
    d
"#,
            ),
            (
                "\"a\\nb\"",
                r#"|-
  a
  b
"#,
            ),
        ],
    );
}

#[test]
fn folding() {
    check(
        to_string,
        &[
            (
                r#"{"plain": "word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word end", "double": "1: word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word end\t", "single": "'word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word end", "spaces": "word   word   word   word   word   word   word   word   word   word   word   word   word   word   word   word   word   word   word   word   end", "none": "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "exact": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa b c", "exacter": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa b c", "utf8": "\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9 b c d"}"#,
                r#"double: "1: word word word word word word word word word word word word word word
  word word word word word word word word word word word word word word word word
  end\t"
exact: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
  b c
exacter: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
  b c
none: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
plain: word word word word word word word word word word word word word word word
  word word word word word word word word word word word word word word word end
single: '''word word word word word word word word word word word word word word word
  word word word word word word word word word word word word word word word end'
spaces: word   word   word   word   word   word   word   word   word   word   word   word   word   word   word   word   word   word   word   word   end
utf8: éééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééé
  b c d
"#,
            ),
            (
                r#""word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word end""#,
                r#"word word word word word word word word word word word word word word word word word
  word word word word word word word word word word word word word word word word
  word word word word word word word end
"#,
            ),
            (
                r#"["word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word end"]"#,
                r#"- word word word word word word word word word word word word word word word word
  word word word word word word word word word word word word word word word word
  word word word word word word word word end
"#,
            ),
            (
                r#"{"double": "a\tb b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b  c", "spaces": "\tb  b  b  b  b  b  b  b  b  b  b  b  b  b  b  b  b  b  b  b  b  b  b  b  b  b  b  b  b  b  b  b  b  b  b  b  b  b  b  b  "}"#,
                r#"double: "a\tb b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b
  b b b b b b b b b b b b b b b b b b b b b b b b b  c"
spaces: "\tb  b  b  b  b  b  b  b  b  b  b  b  b  b  b  b  b  b  b  b  b  b  b  b
  \ b  b  b  b  b  b  b  b  b  b  b  b  b  b  b  b  "
"#,
            ),
        ],
    );
}

#[test]
fn long_and_odd_keys() {
    check(
        to_string,
        &[(
            r#"{"kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk": 1, "lllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllll": 2, "mmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmm": {"a": [1]}, "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn": [1], "a\nb": 1, "a\u2028b": 2, "true": 1, "1": 2, "a: b": 3, "": 4, " a": 5, "a\t": 6, "o\n": [1]}"#,
            "\"\": 4\n' a': 5\n\"1\": 2\n\"a\\t\": 6\n? |-\n  a\n  b\n: 1\n'a: b': 3\n? 'a\u{2028}  b'\n: 2\nkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk: 1\n? lllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllll\n: 2\n? mmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmm\n: a:\n  - 1\n? nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn\n: - 1\n? |\n  o\n: - 1\n\"true\": 1\n",
        )],
    );
}

#[test]
fn characters_that_json_loses() {
    check(
        to_string,
        &[
            ("\"a\\u0085b\"", "a b\n"),
            (
                "\"a \\u0085\\u0085 b\"",
                r#"|-
  a
  b
"#,
            ),
            (
                "[\"a\\u0085b\\n\"]",
                r#"- |
  a b
"#,
            ),
            ("{\"a\\u0085b\": 1}", "!yaml: line 1: did not find expected ',' or '}'"),
            ("\"a\\u007fb\"", "!yaml: control characters are not allowed"),
            ("\"\\u0080\"", "!yaml: control characters are not allowed"),
            ("{\"a\\u007f\": 1}", "!yaml: control characters are not allowed"),
            ("\"\\ufffe\"", "!yaml: control characters are not allowed"),
        ],
    );
}

#[test]
fn maps_and_lists_prettily() {
    check(
        to_string_pretty,
        &[
            (
                r#"{"b": 1, "a": [1, {"c": 2, "d": [3]}, [4, [5]], [], {}], "e": {}, "f": [], "g": {"h": {"i": null}}}"#,
                r#"a:
  - 1
  - c: 2
    d:
      - 3
  - - 4
    - - 5
  - []
  - {}
b: 1
e: {}
f: []
g:
  h:
    i: null
"#,
            ),
            ("[]", "[]\n"),
            ("{}", "{}\n"),
            ("[[]]", "- []\n"),
            (
                "[{\"a\": [{\"b\": [\"c\"]}]}]",
                r#"- a:
    - b:
        - c
"#,
            ),
            (
                "{\"a\": [[\"b\", \"c\"], [\"d\"]]}",
                r#"a:
  - - b
    - c
  - - d
"#,
            ),
        ],
    );
}

#[test]
fn numbers_prettily() {
    check(
        to_string_pretty,
        &[(
            r#"[0, 1, -1, 1000000, 123456789, 1.5, 0.1, 1e+20, 1e+21, 1e-06, 1e-07, -0.0, 1e+19, 1.8e+19, 1234567.5, 4.611686018427388e+18]"#,
            r#"- 0
- 1
- -1
- 1e+06
- 1.23456789e+08
- 1.5
- 0.1
- 1e+20
- 1e+21
- 1e-06
- 1e-07
- -0
- 1e+19
- 1.8e+19
- 1.2345675e+06
- 4.611686018427388e+18
"#,
        )],
    );
}

#[test]
fn line_feeds_prettily() {
    check(
        to_string_pretty,
        &[
            (
                r#"{"a": "b\n", "b": "b\nc", "c": "b\n\n", "d": "\nb", "e": " b\nc", "f": "b \nc", "g": "b\n c\n\n d\n", "h": "b\nc ", "i": "\n", "j": "\n\n", "k": "b\n\tc", "l": "b\r\nc", "m": "\u00e9\n\u65e5\n"}"#,
                "a: |\n  b\nb: |-\n  b\n  c\nc: |+\n  b\n\nd: |2-\n\n  b\ne: |2-\n   b\n  c\nf: \"b \\nc\"\ng: |\n  b\n   c\n\n   d\nh: \"b\\nc \"\ni: |2+\n\nj: |2+\n\n\nk: |-\n  b\n  \tc\nl: \"b\\r\\nc\"\nm: |\n  é\n  日\n",
            ),
            (
                "[\"a\\nb\\n\", [\"c\\nd\"]]",
                r#"- |
  a
  b
- - |-
    c
    d
"#,
            ),
            (
                "\"a\\nb\"",
                r#"|-
  a
  b
"#,
            ),
        ],
    );
}

#[test]
fn folding_prettily() {
    check(
        to_string_pretty,
        &[
            (
                r#"{"plain": "word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word end", "double": "1: word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word end\t", "single": "'word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word end", "spaces": "word   word   word   word   word   word   word   word   word   word   word   word   word   word   word   word   word   word   word   word   end", "none": "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "exact": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa b c", "exacter": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa b c", "utf8": "\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9 b c d"}"#,
                r#"double: "1: word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word end\t"
exact: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa b c
exacter: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa b c
none: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
plain: word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word end
single: '''word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word end'
spaces: word   word   word   word   word   word   word   word   word   word   word   word   word   word   word   word   word   word   word   word   end
utf8: éééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééé b c d
"#,
            ),
            (
                r#""word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word end""#,
                r#"word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word end
"#,
            ),
            (
                r#"["word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word end"]"#,
                r#"- word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word end
"#,
            ),
            (
                r#"{"double": "a\tb b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b  c", "spaces": "\tb  b  b  b  b  b  b  b  b  b  b  b  b  b  b  b  b  b  b  b  b  b  b  b  b  b  b  b  b  b  b  b  b  b  b  b  b  b  b  b  "}"#,
                r#"double: "a\tb b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b  c"
spaces: "\tb  b  b  b  b  b  b  b  b  b  b  b  b  b  b  b  b  b  b  b  b  b  b  b  b  b  b  b  b  b  b  b  b  b  b  b  b  b  b  b  "
"#,
            ),
        ],
    );
}

#[test]
fn long_and_odd_keys_prettily() {
    check(
        to_string_pretty,
        &[(
            r#"{"kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk": 1, "lllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllll": 2, "mmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmm": {"a": [1]}, "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn": [1], "a\nb": 1, "a\u2028b": 2, "true": 1, "1": 2, "a: b": 3, "": 4, " a": 5, "a\t": 6, "o\n": [1]}"#,
            "\"\": 4\n' a': 5\n\"1\": 2\n\"a\\t\": 6\n? |-\n  a\n  b\n: 1\n'a: b': 3\n? 'a\u{2028}  b'\n: 2\nkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk: 1\n? lllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllll\n: 2\n? mmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmm\n: a:\n    - 1\n? nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn\n: - 1\n? |\n  o\n: - 1\n\"true\": 1\n",
        )],
    );
}
