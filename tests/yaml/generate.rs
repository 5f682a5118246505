//! YAML documents, good and bad, and values to print.

use proptest::{collection::vec, prelude::*, sample::select};
use tera::{Map, Value};

/// Scalars as they stand in a document.
const SCALARS: &[&str] = &[
    "a",
    "b1",
    "foo bar",
    "x y",
    "1",
    "-1",
    "0",
    "0777",
    "0o7",
    "0b11",
    "0x1F",
    "1_000",
    "08",
    "1e3",
    "1.5",
    ".5",
    "1.",
    "+1",
    "-.5e-3",
    "1e400",
    "12345678901234567890",
    "99999999999999999999",
    "-9223372036854775808",
    "9007199254740993",
    "0.1",
    "1e21",
    "1e20",
    "123456789012.5",
    "-0",
    "-0.0",
    ".inf",
    "-.inf",
    ".nan",
    "~",
    "null",
    "Null",
    "true",
    "True",
    "false",
    "yes",
    "No",
    "on",
    "OFF",
    "y",
    "n",
    "Y",
    "2001-01-01",
    "2001-1-2",
    "2001-12-14t21:59:43.10-05:00",
    "2001-12-14 21:59:43.10",
    "2001-02-30",
    "190:20:30",
    "1:2",
    "<<",
    "=",
    "-",
    "--",
    "---",
    "...",
    "?",
    ":",
    "::",
    "a:b",
    "a: b",
    "a #b",
    "a#b",
    "#c",
    "'x'",
    "'it''s'",
    "\"x\"",
    "\"a\\tb\\u00e9\\x41\\\"\\\\\\/\"",
    "\"a\\nb\"",
    "'a\n  b'",
    "\"a\n\n  b\\\n  c\"",
    "''",
    "\"\"",
    "é",
    "日本",
    "😀",
    "\"😀\"",
    "!!str 1",
    "!!int 1",
    "!!int '1'",
    "!!float 1",
    "!!float x",
    "!!bool yes",
    "!!null x",
    "!!null ''",
    "!!binary aGVsbG8=",
    "!!binary =",
    "!!binary /w==",
    "!!timestamp 2001-01-01",
    "!!timestamp x",
    "!foo bar",
    "! 1",
    "!<tag:yaml.org,2002:str> 1",
    "!e!x y",
    "&a 1",
    "&a x",
    "&b",
    "*a",
    "*b",
    "&a !!str 1",
    "!!str &a 1",
    "!!map {}",
    "!!seq []",
    "@x",
    "`x",
    "%x",
    "&",
    "*",
    "!",
    "|",
    ">",
    "|-",
    ">+",
    "{}",
    "[]",
    "{a: 1}",
    "[1, 2]",
    "[a: b]",
    "{a, b: }",
    "[? a : b]",
    "{? a}",
    "[,]",
    "{,}",
    "[a,]",
    "{a: 1, a: 2}",
    "{<<: *a, x: 1}",
    "[[], {}]",
    "[a, b]: c",
    "{a: b}: c",
    "\"a\":1",
    "{\"a\":1}",
    "[\"a\":1]",
    "-a",
    "?a",
    ":a",
];

/// What can stand between things.
const PIECES: &[&str] = &[
    " ",
    "  ",
    "\n",
    "\n",
    "\n",
    "\n  ",
    "\n    ",
    "\t",
    "- ",
    "-\n",
    ": ",
    ":\n",
    "? ",
    "# c\n",
    " # c",
    ",",
    "[",
    "]",
    "{",
    "}",
    "&a ",
    "*a",
    "*a ",
    "<<: *a\n",
    "<<: [*a, *b]\n",
    "|\n",
    ">\n",
    "|-\n  ",
    ">2\n",
    "|+\n",
    "|2-\n",
    "\"",
    "'",
    "\\",
    "---\n",
    "...\n",
    "--- ",
    "%YAML 1.1\n",
    "%YAML 1.2\n",
    "%TAG ! tag:x,2000:\n",
    "%TAG !e! !y\n",
    "%FOO x\n",
    "!!str ",
    "! ",
    "!",
    "@",
    "`",
    "%",
    "a",
    "b",
    "k: v\n",
    "k:\n  ",
    "- x\n",
    "\r\n",
    "\r",
    "\u{85}",
    "\u{2028}",
    "\u{2029}",
    "\u{feff}",
    "\u{a0}",
    "é",
    "😀",
    "\u{0}",
    "\u{7f}",
    "\u{1}",
    "\u{80}",
    "\u{ffff}",
    "''",
    "\"\"",
    "\\n",
    "\\u0041",
    "0",
    "1",
    ".",
    "~",
];

pub fn scalar() -> impl Strategy<Value = String> {
    prop_oneof![
        10 => select(SCALARS).prop_map(str::to_owned),
        2 => "[a-z]{1,3}",
        1 => "[-+0-9_.:xobeETtZ ]{1,8}",
        1 => "\\PC{0,5}",
    ]
}

/// Pieces in any order.
pub fn soup() -> impl Strategy<Value = String> {
    vec(prop_oneof![3 => select(PIECES).prop_map(str::to_owned), 1 => scalar()], 0..14)
        .prop_map(|pieces| pieces.concat())
}

/// Lines of any indentation.
pub fn lines() -> impl Strategy<Value = String> {
    let content = prop_oneof![
        4 => scalar().prop_map(|s| format!("{s}:")),
        6 => (scalar(), scalar()).prop_map(|(k, v)| format!("{k}: {v}")),
        3 => scalar().prop_map(|s| format!("- {s}")),
        2 => (scalar(), scalar()).prop_map(|(k, v)| format!("- {k}: {v}")),
        1 => scalar().prop_map(|s| format!("? {s}")),
        1 => scalar().prop_map(|s| format!(": {s}")),
        2 => scalar(),
        1 => select(vec!["", "# c", "---", "...", "-", "- -", "- - x", "a: |", "a: >-", "- |+", "a: &a", "&a", "\tx", "<<: *a", "]", "}"])
            .prop_map(str::to_owned),
    ];
    let line = (select(vec![0_usize, 0, 0, 1, 2, 2, 2, 3, 4, 4, 6]), content);
    let end = select(vec!["\n", "\n", "\n", "\n", "\r\n"]);
    (vec(line, 0..9), end, any::<bool>()).prop_map(|(lines, end, ended)| {
        let lines: Vec<String> =
            lines.into_iter().map(|(n, line)| format!("{}{line}", " ".repeat(n))).collect();
        lines.join(end) + if ended { end } else { "" }
    })
}

/// A document's structure.
#[derive(Debug, Clone)]
enum Tree {
    Scalar(String),
    Literal(&'static str, Vec<String>),
    List(Vec<Tree>),
    Map(Vec<(String, Tree)>),
    FlowList(Vec<Tree>),
    FlowMap(Vec<(String, Tree)>),
    Anchored(&'static str, Box<Tree>),
}

fn tree() -> impl Strategy<Value = Tree> {
    let key = || {
        prop_oneof![
            5 => "[a-d]{1,2}",
            1 => select(vec!["<<", "1", "1.5", "true", "null", "~", "yes", "'q'", "\"q\"", "2001-01-01", "a b", "*a", "18446744073709551615", "-", "1e3", ".inf"])
                .prop_map(str::to_owned),
        ]
    };
    let header = select(vec!["|", ">", "|-", ">-", "|+", ">+", "|2", ">1-", "|  # c", "|3"]);
    let text = vec(
        prop_oneof![4 => "[ ]{0,3}[a-z]{0,4}", 1 => select(vec!["", "  x", "\tx", "# x", "x  ", "a: b"]).prop_map(str::to_owned)],
        0..5,
    );
    let leaf = prop_oneof![
        6 => scalar().prop_map(Tree::Scalar),
        1 => (header, text).prop_map(|(header, text)| Tree::Literal(header, text)),
    ];
    leaf.prop_recursive(4, 24, 4, move |inner| {
        prop_oneof![
            3 => vec((key(), inner.clone()), 0..4).prop_map(Tree::Map),
            2 => vec(inner.clone(), 0..4).prop_map(Tree::List),
            1 => vec((key(), inner.clone()), 0..3).prop_map(Tree::FlowMap),
            1 => vec(inner.clone(), 0..3).prop_map(Tree::FlowList),
            1 => (select(vec!["&a", "&b", "!!map", "!x"]), inner).prop_map(|(name, tree)| Tree::Anchored(name, Box::new(tree))),
        ]
    })
}

impl Tree {
    /// Writes what follows a `key:` or a `-`, or the whole document.
    fn write(&self, out: &mut String, indent: usize, after_dash: bool) {
        let newline = |out: &mut String| out.push_str(&format!("\n{}", " ".repeat(indent)));
        match self {
            Self::Scalar(text) => out.push_str(&format!(" {text}")),
            Self::Literal(header, lines) => {
                out.push_str(&format!(" {header}"));
                for line in lines {
                    newline(out);
                    out.push_str(line);
                }
            }
            Self::List(items) => {
                for (i, item) in items.iter().enumerate() {
                    if i > 0 || !after_dash {
                        newline(out);
                    } else {
                        out.push(' ');
                    }
                    out.push('-');
                    item.write(out, indent + 2, true);
                }
            }
            Self::Map(entries) => {
                for (i, (key, value)) in entries.iter().enumerate() {
                    if i > 0 || !after_dash {
                        newline(out);
                    } else {
                        out.push(' ');
                    }
                    out.push_str(key);
                    out.push(':');
                    let deeper = if matches!(value, Self::List(_)) && key.len() == 1 { 0 } else { 2 };
                    value.write(out, indent + deeper, false);
                }
            }
            Self::FlowList(items) => {
                out.push_str(" [");
                for item in items {
                    item.write(out, indent, false);
                    out.push(',');
                }
                out.push(']');
            }
            Self::FlowMap(entries) => {
                out.push_str(" {");
                for (key, value) in entries {
                    out.push_str(key);
                    out.push(':');
                    value.write(out, indent, false);
                    out.push_str(", ");
                }
                out.push('}');
            }
            Self::Anchored(name, tree) => {
                out.push_str(&format!(" {name}"));
                tree.write(out, indent, false);
            }
        }
    }
}

/// A document that is mostly right.
pub fn document() -> impl Strategy<Value = String> {
    (tree(), select(vec!["", "", "", "\n", "---", "# c\n", "%YAML 1.1\n---", "--- # x"])).prop_map(
        |(tree, start)| {
            let mut text = start.to_owned();
            tree.write(&mut text, 0, false);
            if !start.starts_with("---") && text.starts_with([' ', '\n']) {
                text.remove(0);
            }
            text.push('\n');
            text
        },
    )
}

/// Documents that live off their aliases, more or less.
pub fn aliases() -> impl Strategy<Value = String> {
    let level = (1_usize..14, 0_usize..4, any::<bool>());
    (0_usize..1200, vec(level, 1..5)).prop_map(|(padding, levels)| {
        let mut text = format!("p: [{}]\na0: &a0 {{x: 1, z: [1, 2]}}\n", vec!["1"; padding].join(","));
        for (i, (fan, extra, merge)) in levels.into_iter().enumerate() {
            let alias = format!("*a{i}");
            let mut items = vec![alias.as_str(); fan];
            items.extend(vec!["1"; extra]);
            text += &format!(
                "a{}: &a{} {{l: [{}]{}}}\n",
                i + 1,
                i + 1,
                items.join(","),
                if merge { format!(", <<: {alias}") } else { String::new() }
            );
        }
        text
    })
}

/// A change to a text: where, how much is cut, and what is put there.
pub type Change = (prop::sample::Index, usize, &'static str);

pub fn changes() -> impl Strategy<Value = Vec<Change>> {
    vec(
        (
            any::<prop::sample::Index>(),
            prop_oneof![2 => Just(0_usize), 2 => Just(1), 1 => 0_usize..6],
            select(PIECES),
        ),
        0..4,
    )
}

pub fn change(mut text: String, changes: &[Change]) -> String {
    for (at, cut, piece) in changes {
        let boundaries: Vec<usize> = text.char_indices().map(|(i, _)| i).chain([text.len()]).collect();
        let from = at.index(boundaries.len());
        let to = (from + cut).min(boundaries.len() - 1);
        text.replace_range(boundaries[from]..boundaries[to], piece);
    }
    text
}

/// Documents of bytes: of some length, with bytes that are not UTF-8, in another encoding.
pub fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let filler = select(vec![
        "# comment\n",
        "k: v\n",
        "- é\n",
        "a: \"b c\"\n",
        "日本: x\n",
        "\u{2028}",
        "x",
        " ",
        "😀",
        "b: |\n  x\n",
    ]);
    let padding =
        (filler, prop_oneof![2 => Just(0_usize), 3 => 0_usize..90]).prop_map(|(piece, n)| piece.repeat(n));
    let text =
        (padding.clone(), prop_oneof![soup(), lines(), document()], padding, prop_oneof![soup(), document()])
            .prop_map(|(a, b, c, d)| a + &b + &c + &d);
    let bad = select(vec![
        &b"\xff"[..],
        b"\x80",
        b"\xc0\x80",
        b"\xe0\x80\x80",
        b"\xed\xa0\x80",
        b"\xf8",
        b"\xe2\x82",
        b"\xf0\x9f",
        b"\xc3",
        b"\x00",
        b"\x07",
        b"\x7f",
        b"\xc2\x80",
        b"\xc2\x85",
        b"\xef\xbf\xbf",
        b"\xef\xbb\xbf",
        b"\xf4\x90\x80\x80",
        b"\xc1a",
        b"\xe2a\x80",
    ]);
    let encoding = prop_oneof![6 => Just(0), 1 => Just(1), 1 => Just(2), 1 => Just(3)];
    let bad = vec((any::<prop::sample::Index>(), bad), 0..3);
    (text, bad, encoding).prop_map(|(text, bad, encoding)| {
        let units = || std::iter::once(0xFEFF).chain(text.encode_utf16());
        let mut bytes = match encoding {
            1 => units().flat_map(u16::to_le_bytes).collect(),
            2 => units().flat_map(u16::to_be_bytes).collect(),
            3 => [b"\xef\xbb\xbf", text.as_bytes()].concat(),
            _ => text.into_bytes(),
        };
        for (at, bad) in bad {
            let at = at.index(bytes.len() + 1);
            bytes.splice(at..at, bad.iter().copied());
        }
        bytes
    })
}

/// Strings that are hard to print.
pub fn text() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        6 => "[a-z]{1,9}",
        4 => select(SCALARS).prop_map(str::to_owned),
        2 => select(vec![" ", "  ", "\n", "\n\n", " \n", "\n ", "\t", ": ", " #", ", ", "'", "\"", "\\", "\r", "\u{85}", "\u{a0}", "\u{2028}",
            "\u{2029}", "\u{feff}", "\u{7f}", "\u{80}", "\u{ffff}", "\u{fffd}", "<", ">", "&", "\0", "\x1b", "é", "日本", "😀", "-", "---", "..."])
            .prop_map(str::to_owned),
        1 => "\\PC{0,3}",
    ];
    let separator = prop_oneof![6 => Just(" "), 1 => Just(""), 1 => Just("  "), 1 => Just("\n")];
    let joined = (vec(word, 0..6), separator.clone()).prop_map(|(words, separator)| words.join(separator));
    let long = (vec("[a-zé😀'\"\\\\:#-]{1,12}", 5..40), separator)
        .prop_map(|(words, separator)| words.join(separator));
    prop_oneof![
        4 => select(SCALARS).prop_map(str::to_owned),
        6 => joined,
        2 => long,
        1 => "[-+0-9_.:xobeETtZ ,]{1,12}",
        1 => "[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([Tt ] ?[0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2}([.,][0-9]{0,3})?(Z|[-+][0-9]{2}:[0-9]{2})?)?",
    ]
}

fn key() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-c]{1,2}",
        3 => "[a-b]?[0-9]{1,3}[a-b-]?",
        2 => "[-_.ab0-9A/]{0,5}",
        1 => text(),
        1 => "[a-z0-9é٣Ⅷ字०]{1,4}",
        1 => "[a-z<\u{2028}]{120,180}",
    ]
}

pub fn number() -> impl Strategy<Value = Value> {
    prop_oneof![
        3 => (any::<i32>(), -8_i32..8).prop_map(|(n, e)| Value::from(f64::from(n % 1000) * 10_f64.powi(e))),
        2 => any::<i32>().prop_map(|n| Value::from(f64::from(n))),
        1 => any::<f64>().prop_map(Value::from),
        1 => any::<i64>().prop_map(Value::from),
        1 => any::<i64>().prop_map(|n| Value::from(i128::from(n))),
        1 => any::<u64>().prop_map(Value::from),
        1 => (any::<i16>(), 14_i32..24).prop_map(|(n, e)| Value::from(f64::from(n) * 10_f64.powi(e))),
        1 => select(vec![0.0, -0.0, 1e20, 1e21, 1.8e19, -9.3e18, 9.2e18, 1e-6, 1e-7, 5e-324]).prop_map(Value::from),
    ]
}

/// Values to print. They hold no number that JSON cannot.
pub fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        1 => Just(Value::none()),
        1 => any::<bool>().prop_map(Value::from),
        3 => number(),
        8 => text().prop_map(Value::from),
        1 => vec(any::<u8>(), 0..60).prop_map(Value::bytes),
    ];
    leaf.prop_recursive(5, 40, 6, |inner| {
        prop_oneof![
            2 => vec(inner.clone(), 0..5).prop_map(Value::from),
            3 => vec((key(), inner), 0..6).prop_map(|entries| {
                let map: Map = entries.into_iter().map(|(key, value)| (key.into(), value)).collect();
                Value::from(map)
            }),
        ]
    })
}
