//! Calls to try: the names of functions of one family with arguments for them.

use std::ops::Range;

use pintle::value::typed::{self, Time};
use proptest::{
    prelude::*,
    sample::{Index, select},
};
use tera::{Map, Value};

use crate::generate::{any_value, float, scalar};

/// A call to try.
pub type Calls = BoxedStrategy<(&'static str, Vec<Value>)>;

/// One of the names with these arguments.
fn call<const N: usize>(names: &[&'static str], args: [BoxedStrategy<Value>; N]) -> Calls {
    let args: Vec<BoxedStrategy<Value>> = args.into();
    (select(names.to_vec()), args).boxed()
}

/// One of the names with these arguments, and some more.
fn call_with<const N: usize>(
    names: &[&'static str],
    args: [BoxedStrategy<Value>; N],
    more: BoxedStrategy<Value>,
    count: Range<usize>,
) -> Calls {
    let args: Vec<BoxedStrategy<Value>> = args.into();
    (select(names.to_vec()), args, prop::collection::vec(more, count))
        .prop_map(|(name, args, more)| (name, [args, more].concat()))
        .boxed()
}

fn one_of(calls: Vec<Calls>) -> Calls {
    proptest::strategy::Union::new(calls).boxed()
}

fn anything() -> BoxedStrategy<Value> {
    any_value().boxed()
}

/// Words with separators between, case changes, letters beyond ASCII, now and then half of one.
pub fn text() -> BoxedStrategy<Value> {
    let part = prop_oneof![
        6 => "[a-zA-Z0-9]{0,8}".prop_map(String::into_bytes),
        4 => "[ _\\-./\n\t,:]{0,2}".prop_map(String::into_bytes),
        2 => select(vec!["HTTP", "Server2", "foo", "XMLHttp20x", "v1", "é", "ß", "ǆ", "İ", "字", "ﬁ", "Ω", "ῳ", "٣", "\u{a0}", "\u{85}"])
            .prop_map(|text| text.as_bytes().to_vec()),
        1 => "\\PC{0,3}".prop_map(String::into_bytes),
        1 => "[\"'`\\\\<>&=\u{2028}\u{0}\u{7f}\u{feff}😀]{0,2}".prop_map(String::into_bytes),
        1 => prop::collection::vec(any::<u8>(), 0..3),
    ];
    prop::collection::vec(part, 0..5).prop_map(|parts| typed::text(parts.concat())).boxed()
}

fn one_of_texts(texts: &'static [&'static str]) -> BoxedStrategy<Value> {
    select(texts).prop_map(Value::from).boxed()
}

/// Something that is likely to be in [`text`].
fn piece() -> BoxedStrategy<Value> {
    prop_oneof![
        4 => one_of_texts(&["", "a", "-", "/", " ", ".", "foo", "\n", "é", "1", ", ", "_"]),
        1 => "[a-z]{1,2}".prop_map(Value::from),
        1 => text(),
    ]
    .boxed()
}

/// Whether a dictionary of ours can have the value as a key, which is UTF-8.
fn is_key(value: &Value) -> bool {
    let text = match value.as_bytes() {
        Some(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        None => pintle::value::print::to_text(&pintle::value::Scope::new(), value).unwrap_or_default(),
    };
    !text.contains('\u{fffd}')
}

fn int(range: Range<i64>) -> BoxedStrategy<Value> {
    range.prop_map(Value::from).boxed()
}

pub fn strings() -> Calls {
    one_of(vec![
        call(
            &[
                "trim",
                "nospace",
                "lower",
                "upper",
                "title",
                "untitle",
                "swapcase",
                "camelcase",
                "snakecase",
                "kebabcase",
                "initials",
                "toString",
                "quote",
                "squote",
                "html",
                "js",
                "urlquery",
            ],
            [text()],
        ),
        call(
            &[
                "camelcase",
                "snakecase",
                "kebabcase",
                "title",
                "initials",
                "upper",
                "lower",
                "swapcase",
                "untitle",
            ],
            [text()],
        ),
        call(
            &[
                "trimAll",
                "trimall",
                "trimPrefix",
                "trimSuffix",
                "contains",
                "hasPrefix",
                "hasSuffix",
                "split",
                "splitList",
            ],
            [piece(), text()],
        ),
        call(&["replace"], [piece(), piece(), text()]),
        call(&["repeat"], [int(-2..6), text()]),
        call(&["indent", "nindent"], [int(-1..12), text()]),
        call(&["trunc", "abbrev"], [int(-20..30), text()]),
        call(&["wrap"], [int(-2..30), text()]),
        call(&["wrapWith"], [int(-2..30), piece(), text()]),
        call(&["substr"], [int(-5..20), int(-5..20), text()]),
        call(&["abbrevboth"], [int(-5..20), int(-5..20), text()]),
        call(&["plural"], [text(), text(), int(-1..3)]),
        call(&["splitn"], [piece(), int(-1..5), text()]),
        call_with(&["quote", "squote", "cat", "html", "js", "urlquery"], [], anything(), 0..4),
        call(&["toString"], [anything()]),
    ])
}

/// Few different scalars, so that some are equal.
fn item() -> BoxedStrategy<Value> {
    prop_oneof![
        6 => select(vec![
            Value::none(), Value::from(1_i64), Value::from(1.0), Value::from(1_i128), Value::from("1"), Value::from(""),
            Value::from(0.0), Value::from(-0.0), Value::from(f64::NAN), Value::from(false), Value::from(true), Value::from("a"),
            Value::from("b"), Value::from(Vec::<Value>::new()), Value::from(vec![1_i64]), Value::from(1_u64), Value::from(1_u128), Value::bytes(vec![1]), Value::bytes(vec![]),
        ]),
        // Each its own: a clone would be the same map.
        1 => Just(()).prop_map(|()| Value::from(Map::default())),
        1 => anything(),
    ]
    .boxed()
}

fn list() -> BoxedStrategy<Value> {
    prop_oneof![
        8 => prop::collection::vec(item(), 0..6).prop_map(Value::from),
        1 => anything(),
    ]
    .boxed()
}

pub fn lists() -> Calls {
    let number = || prop_oneof![6 => int(-2..7), 1 => scalar()].boxed();
    one_of(vec![
        call(
            &[
                "first",
                "mustFirst",
                "rest",
                "mustRest",
                "last",
                "mustLast",
                "initial",
                "mustInitial",
                "reverse",
                "mustReverse",
                "compact",
                "mustCompact",
                "uniq",
                "mustUniq",
                "sortAlpha",
                "toStrings",
            ],
            [list()],
        ),
        call(&["append", "mustAppend", "push", "mustPush", "prepend", "mustPrepend"], [list(), item()]),
        call_with(&["without", "mustWithout"], [list()], item(), 0..3),
        call(&["has", "mustHas"], [item(), list()]),
        call_with(&["slice", "mustSlice"], [list()], number(), 0..3),
        call_with(&["concat"], [], list(), 0..4),
        call_with(&["list", "tuple"], [], item(), 0..4),
        call(&["chunk", "mustChunk"], [int(-3..5), list()]),
        call(&["join"], [piece(), list()]),
        call(&["join"], [piece(), anything()]),
    ])
}

fn key() -> BoxedStrategy<Value> {
    one_of_texts(&["a", "b", "c", "d", ""])
}

/// Dictionaries that have keys in common, with dictionaries within.
fn dict() -> BoxedStrategy<Value> {
    let leaf = item();
    let level = |inner: BoxedStrategy<Value>| {
        prop::collection::btree_map("[a-d]", inner, 0..4)
            .prop_map(|entries| {
                Value::from(entries.into_iter().map(|(key, value)| (key.into(), value)).collect::<Map>())
            })
            .boxed()
    };
    let deeper = level(prop_oneof![2 => leaf.clone(), 1 => level(leaf.clone())].boxed());
    level(prop_oneof![2 => leaf, 2 => deeper].boxed())
}

pub fn dicts() -> Calls {
    let path = || prop_oneof![12 => key(), 1 => anything()].boxed();
    one_of(vec![
        call(&["get", "hasKey", "unset"], [dict(), key()]),
        call(&["set"], [dict(), key(), item()]),
        call_with(&["pluck"], [key()], dict(), 0..4),
        call_with(&["pick", "omit"], [dict()], key(), 0..4),
        call_with(&["merge", "mustMerge", "mergeOverwrite", "mustMergeOverwrite"], [dict()], dict(), 0..4),
        call_with(&["merge", "mergeOverwrite"], [dict()], dict(), 1..3),
        call_with(
            &["dict"],
            [],
            prop_oneof![3 => key(), 1 => anything()].prop_filter("UTF-8", is_key).boxed(),
            0..6,
        ),
        call(&["deepCopy", "mustDeepCopy"], [anything()]),
        (prop::collection::vec(path(), 0..4), prop_oneof![9 => dict(), 1 => anything()])
            .prop_map(|(mut args, dict)| {
                args.push(dict);
                ("dig", args)
            })
            .boxed(),
        // One key each: Go has more in any order.
        call_with(&["keys"], [], dict().prop_filter("one key", |dict| dict.len() < Some(2)).boxed(), 0..3),
        call(&["values"], [dict().prop_filter("one key", |dict| dict.len() < Some(2)).boxed()]),
    ])
}

/// Numbers, and texts that look like them.
fn number() -> BoxedStrategy<Value> {
    prop_oneof![
        3 => (-100..100_i64).prop_map(Value::from),
        2 => (-100..100_i64).prop_map(|n| Value::from(n as f64 / 8.0)),
        2 => float().prop_map(Value::from),
        2 => scalar(),
        3 => "[+-]?[0-9]{1,3}(\\.[0-9]{0,3})?".prop_map(Value::from),
        2 => "[+-]?0?[xXbBoO]?[0-9a-fA-F_]{0,5}\\.?[0-9_]{0,3}([eEpP][+-]?[0-9_]{0,3})?".prop_map(Value::from),
        1 => one_of_texts(&["", "inf", "-Inf", "NaN", "infinity", "+nan", "08", "1_000", "9223372036854775808", "1e400", " 1", "1."]),
    ]
    .boxed()
}

fn finite() -> BoxedStrategy<Value> {
    prop_oneof![
        4 => (-10_000..10_000_i64).prop_map(|n| Value::from(n as f64 / 100.0)),
        1 => float().prop_map(Value::from),
        1 => number(),
    ]
    .boxed()
}

pub fn math() -> Calls {
    let small = || int(-20..20);
    one_of(vec![
        call(&["int", "int64", "float64", "toDecimal", "add1", "ceil", "floor", "add1f"], [number()]),
        call(&["atoi"], ["[+-]?[0-9_x]{0,22}".prop_map(Value::from).boxed()]),
        call_with(&["add", "addf"], [], finite(), 0..4),
        call(&["sub", "div", "mod"], [number(), number()]),
        call_with(&["mul", "max", "biggest", "min", "maxf", "minf"], [number()], number(), 0..3),
        call_with(&["subf", "divf", "mulf"], [finite()], finite(), 0..3),
        call(&["round"], [finite(), int(-4..10)]),
        call(&["round"], [finite(), int(0..4), float().prop_map(Value::from).boxed()]),
        call(&["until"], [small()]),
        call(&["untilStep"], [small(), small(), int(-5..5)]),
        call_with(&["seq"], [], small(), 0..5),
    ])
}

pub fn flow() -> Calls {
    one_of(vec![
        call(&["empty"], [anything()]),
        call_with(&["default"], [anything()], anything(), 0..3),
        call_with(&["coalesce", "all", "any"], [], prop_oneof![item(), anything()].boxed(), 0..4),
        call(&["ternary"], [anything(), anything(), any::<bool>().prop_map(Value::from).boxed()]),
        call(
            &["required"],
            ["[a-z ]{1,8}".prop_map(Value::from).boxed(), prop_oneof![item(), anything()].boxed()],
        ),
        call(&["fail"], ["[a-z ]{1,8}".prop_map(Value::from).boxed()]),
    ])
}

pub fn encoding() -> Calls {
    let bytes = || prop::collection::vec(any::<u8>(), 0..20).prop_map(typed::text).boxed();
    one_of(vec![
        call(
            &["b64enc", "b32enc", "sha1sum", "sha256sum", "sha512sum", "adler32sum"],
            [prop_oneof![text(), bytes()].boxed()],
        ),
        call(&["b64dec"], ["[A-Za-z0-9+/]{0,12}={0,3}".prop_map(Value::from).boxed()]),
        call(&["b64dec"], ["[A-Za+/=\n\r -]{0,9}[A=\n]{0,5}".prop_map(Value::from).boxed()]),
        call(&["b32dec"], ["[A-Z2-7]{0,16}={0,7}".prop_map(Value::from).boxed()]),
        call(&["b32dec"], ["[A-C2-8=\n]{0,12}[=\n]{0,8}".prop_map(Value::from).boxed()]),
    ])
}

/// Texts that are JSON or nearly so.
fn json_text() -> BoxedStrategy<Value> {
    let valid = any_value()
        .prop_map(|value| {
            let scope = pintle::value::Scope::new();
            pintle::value::json::to_string(
                &scope,
                &value,
                pintle::value::json::Style { html: false, indent: Some(" ") },
            )
            .unwrap_or_default()
        })
        .boxed();
    let token = select(vec![
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"a\"",
        "\"",
        "1",
        "-",
        "0",
        "01",
        "1.",
        "1.5",
        "1e",
        "1e5",
        "1e400",
        "true",
        "tru",
        "false",
        "null",
        "nul",
        " ",
        "\n",
        "\\",
        "\"\\u00e9\"",
        "\"\\ud83d\\ude00\"",
        "\"\\ud83d\"",
        "\"\\ud83dx\"",
        "\"\\x\"",
        "\"\\u12\"",
        "'",
        "é",
        "\"\t\"",
        "\"b\":",
        "\"\\ud83d\\u0041\"",
        "\"\\n\\/\"",
        "x",
    ]);
    let tokens = prop::collection::vec(token, 0..7).prop_map(|tokens| tokens.concat());
    let damaged = (valid.clone(), any::<Index>(), "\\PC?").prop_map(|(mut text, at, new)| {
        let at = at.index(text.len() + 1);
        let at = (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        let end = text[at..].chars().next().map_or(at, |c| at + c.len_utf8());
        text.replace_range(at..end, &new);
        text
    });
    prop_oneof![valid, tokens, damaged].prop_map(Value::from).boxed()
}

pub fn json() -> Calls {
    one_of(vec![
        call(
            &["toJson", "mustToJson", "toPrettyJson", "mustToPrettyJson", "toRawJson", "mustToRawJson"],
            [anything()],
        ),
        call(&["fromJson", "fromJsonArray", "mustFromJson"], [json_text()]),
    ])
}

/// Texts that are TOML or nearly so.
fn toml_text() -> BoxedStrategy<Value> {
    let line = select(vec![
        "a = 1\n",
        "b = 'x'\n",
        "a.b = 2\n",
        "[a]\n",
        "[a.b]\n",
        "[[a]]\n",
        "[[a.b]]\n",
        "[c]",
        "[[c]\n",
        "c = [1, 2.5, 'x', [true, {d = 1}]]\n",
        "c = {a = 1, b.c = 2, b.d = {}}\n",
        "c.b.e = 3\n",
        "d = [{a = 1}, {a = 2}]\n",
        "d = [\n1, # one\n2,\n]\n",
        "e = {a = 1,\n# two\nb = 2,}\n",
        "# only this\n",
        "\n",
        "\r\n",
        "\r",
        "\u{1}",
        "a b = 1\n",
        "= 1\n",
        ".a = 1\n",
        "a..b = 1\n",
        "a. = 1\n",
        "'q q'.\"\\u00e9\" = 1\n",
        "\"\" = 1\n",
        "é = 1\n",
        "[]\n",
        "[.a]\n",
        "[a.]\n",
        "['x'.\"y\\t\"]\n",
        "f = ",
        "f\n",
        "f",
        "f =\n",
        "[",
        "[[",
        "f = [1 2]\n",
        "f = [,]\n",
        "f = {,}\n",
        "f = {a = 1 b = 2}\n",
        "f = [1,",
        "f = {a = 1",
        "g = \"\"\"\n  m \\\n   n\"\"\"\n",
        "g = '''\nx'y'''\n",
        "g = \"\"\"a\"\"\"\"\"\n",
        "g = '''a''''''\n",
        "g = \"\"\"x\"\"\"\"\"\"\n",
        "g = \"a\\qb\"\n",
        "g = \"a\n",
        "g = \"\\ud800\"\n",
        "g = \"\\u12\"\n",
        "g = \"\\x4\"\n",
        "g = \"\\x41\\e\"\n",
        "g = \"a\\ b\"\n",
        "g = \"\"\"a\\ b\"\"\"\n",
        "g = \"\"\"a",
        "g = '''a",
        "g = 'a",
        "g = \"a\\",
        "a = 1 b = 2\n",
        "a = {b = 1}\na.c = 2\n",
        "a = {b = {c = 1}, b.d = 2}\n",
        "a = {b = 1, b.c = 2}\n",
    ]);
    let token = select(vec![
        "0",
        "1",
        "_",
        ".",
        "e",
        "-",
        "+",
        "0x",
        "0o",
        "0b",
        "f",
        "nan",
        "inf",
        "n",
        "i",
        "9223372036854775807",
        "2020",
        "-01",
        "-02",
        "T",
        " ",
        "03",
        ":04",
        ":05",
        ".5",
        "Z",
        "z",
        "t",
        "+02:00",
        "true",
        "false",
        "no",
        "1e400",
        "12",
        "'",
        "\"",
        "ª",
    ]);
    let number = prop::collection::vec(token, 1..6).prop_map(|parts| format!("n = {}\n", parts.concat()));
    let part = prop_oneof![3 => line.prop_map(str::to_owned), 1 => number];
    prop::collection::vec(part, 0..5).prop_map(|parts| Value::from(parts.concat())).boxed()
}

pub fn toml() -> Calls {
    one_of(vec![
        call(&["toToml", "mustToToml"], [anything()]),
        call(&["fromToml"], [prop_oneof![9 => toml_text(), 1 => text()].boxed()]),
    ])
}

/// Texts that are YAML or nearly so. What YAML means is held against Go elsewhere.
fn yaml_text() -> BoxedStrategy<Value> {
    let part = select(vec![
        "a: 1\n",
        "b: x\n",
        "- c\n",
        "- 2\n",
        "  - d: e\n",
        "f:\n",
        "  g: [1, 2]\n",
        "h: {i: j}\n",
        ": \n",
        "k: |\n  l\n",
        "@",
        "\t",
        "yes: no\n",
        "'",
        "---\n",
        "null",
        "...\n",
        "1",
        "text",
        "a: *b\n",
        "[",
        "{",
        "- ~\n",
        "1e400: 1e400\n",
        "m: 0777\n",
        "é: \u{85}\n",
    ]);
    prop::collection::vec(part, 0..5).prop_map(|parts| Value::from(parts.concat())).boxed()
}

pub fn yaml() -> Calls {
    one_of(vec![
        call(&["toYaml", "mustToYaml"], [prop_oneof![anything(), dict(), list()].boxed()]),
        // There, times have no quotes, texts that are not UTF-8 are marked as binary, and structs keep the order of their
        // fields, none of which we write.
        call(
            &["toYamlPretty"],
            [prop_oneof![anything(), dict(), list()]
                .prop_filter("plain", |value| {
                    let shown = format!("{value:?}");
                    !["time.Time", "\"text\"", "KubeVersion"].iter().any(|odd| shown.contains(odd))
                })
                .boxed()],
        ),
        call(&["fromYaml", "fromYamlArray"], [yaml_text()]),
    ])
}

fn moment() -> BoxedStrategy<Value> {
    let seconds = prop_oneof![
        4 => 0..2_000_000_000_i64,
        1 => -100_000_000_000..300_000_000_000_i64,
        1 => -70_000_000_000_000..70_000_000_000_000_i64,
    ];
    let nanoseconds = prop_oneof![0..1_000_000_000_u32, Just(0), (0..1000_u32).prop_map(|n| n * 1_000_000)];
    let time = (seconds.clone(), nanoseconds).prop_map(|(seconds, nanoseconds)| {
        let (abbreviation, location) = ("UTC".to_owned(), "UTC".to_owned());
        Time { seconds, nanoseconds, offset: 0, abbreviation, location, monotonic: None }.to_value()
    });
    prop_oneof![
        3 => time,
        1 => seconds.clone().prop_map(Value::from),
        1 => seconds.prop_map(|n| Value::from(i128::from(n))),
    ]
    .boxed()
}

fn time() -> BoxedStrategy<Value> {
    moment().prop_filter("a time", |value| Time::from_value(value).is_some()).boxed()
}

const ELEMENTS: &[&str] = &[
    "January",
    "Jan",
    "1",
    "01",
    "Monday",
    "Mon",
    "2",
    "_2",
    "02",
    "__2",
    "002",
    "15",
    "3",
    "03",
    "4",
    "04",
    "5",
    "05",
    "2006",
    "06",
    "PM",
    "pm",
    "MST",
    "-0700",
    "-07:00",
    "-07",
    "-070000",
    "-07:00:00",
    "Z0700",
    "Z07:00",
    "Z07",
    "Z070000",
    "Z07:00:00",
    ".000",
    ".999",
    ",000000",
    ".9",
    ".0",
    "-",
    " ",
    ":",
    "/",
    "T",
    "_2006",
    "Month",
    "é",
    "_",
    ".00x",
    ".001",
    ", ",
    "  ",
];

fn layout() -> BoxedStrategy<Value> {
    prop_oneof![
        1 => one_of_texts(&[
            "2006-01-02T15:04:05Z07:00", "2006-01-02T15:04:05.999999999Z07:00", "2006-01-02", "Mon Jan _2 15:04:05 MST 2006",
            "Mon, 02 Jan 2006 15:04:05 -0700", "3:04PM", "02 Jan 06 15:04 MST", "2006-01-02 15:04:05.000",
        ]),
        2 => prop::collection::vec(select(ELEMENTS), 0..8).prop_map(|parts| Value::from(parts.concat())),
    ]
    .boxed()
}

/// Texts that a layout may read: one that it wrote, perhaps damaged.
fn layout_and_text() -> BoxedStrategy<Vec<Value>> {
    let read = prop::collection::vec(select(ELEMENTS), 0..8).prop_map(|parts| parts.concat());
    let layout =
        prop_oneof![layout().prop_map(|layout| layout.as_str().unwrap_or_default().to_owned()), read];
    let zone = select(vec!["UTC", "Europe/Paris", "Asia/Kolkata", "America/New_York"]);
    (layout, moment(), zone, any::<Index>(), "[0-9a-zA-Z :+-]?", 0..3_u8)
        .prop_map(|(layout, moment, zone, at, new, damage)| {
            let args = [Value::from(layout.as_str()), moment, Value::from(zone)];
            let text = super::ours_value("dateInZone", &args);
            let mut text = text.as_str().unwrap_or_default().to_owned();
            if damage == 0 {
                let at = at.index(text.len() + 1);
                let at = (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
                let end = text[at..].chars().next().map_or(at, |c| at + c.len_utf8());
                text.replace_range(at..end, &new);
            }
            vec![Value::from(layout), Value::from(text)]
        })
        .boxed()
}

pub fn dates() -> Calls {
    let zone = || {
        one_of_texts(&[
            "UTC",
            "",
            "Local",
            "Europe/Paris",
            "europe/paris",
            "America/New_York",
            "Asia/Kolkata",
            "Australia/Lord_Howe",
            "Nowhere",
            "EST",
            "../x",
            "Africa/Monrovia",
            "Pacific/Apia",
            "Etc/GMT+5",
        ])
    };
    let duration =
        || prop_oneof![duration_text(), one_of_texts(&["1h", "-24h", "720h", "1.5s", "x"])].boxed();
    one_of(vec![
        call(&["date"], [layout(), moment()]),
        call(&["dateInZone", "date_in_zone"], [layout(), moment(), zone()]),
        call(&["htmlDate"], [moment()]),
        call(&["htmlDateInZone"], [moment(), zone()]),
        call(&["dateModify", "date_modify", "mustDateModify", "must_date_modify"], [duration(), time()]),
        call(&["unixEpoch"], [time()]),
        (select(vec!["toDate", "mustToDate"]), layout_and_text()).boxed(),
        (select(vec!["toDate", "mustToDate"]), layout_and_text()).boxed(),
    ])
}

fn duration_text() -> BoxedStrategy<Value> {
    prop_oneof![
        3 => "[+-]?([0-9]{1,4}(\\.[0-9]{0,4})?(h|m|s|ms|us|µs|ns)){1,3}".prop_map(Value::from),
        1 => "[+-]?[0-9.]{0,12}(h|m|s|x|é|\"|)[0-9.]{0,4}".prop_map(Value::from),
        1 => "[0-9]{15,21}(\\.[0-9]{15,25})?(h|ns|s)".prop_map(Value::from),
        1 => one_of_texts(&["", "0", "-0", "+", ".s", "9223372036854775807ns", "9223372036854775808ns", "-9223372036854775808ns", "1h ", " 5 "]),
    ]
    .boxed()
}

pub fn durations() -> Calls {
    let duration = || {
        prop_oneof![
            4 => duration_text(),
            2 => (any::<i64>(), 0..63_u32).prop_map(|(n, shift)| {
                typed::make(typed::Type::Duration, [("value", Value::from(n >> shift))])
            }),
            2 => number(),
            1 => anything(),
        ]
        .boxed()
    };
    // The clock has no part in what is not a time.
    let timeless = || duration().prop_filter("no time", |value| Time::from_value(value).is_none()).boxed();
    one_of(vec![
        call(
            &[
                "mustToDuration",
                "durationWeeks",
                "durationDays",
                "durationHours",
                "durationMinutes",
                "durationSeconds",
                "durationMilliseconds",
                "durationMicroseconds",
                "durationNanoseconds",
            ],
            [duration()],
        ),
        call(&["durationRoundTo", "durationTruncateTo"], [duration(), duration()]),
        call(&["duration", "durationRound"], [timeless()]),
        call(&["duration", "durationRound"], [any::<i64>().prop_map(|n| Value::from(i128::from(n))).boxed()]),
        call(&["duration"], ["[+-]?[0-9]{0,20}".prop_map(Value::from).boxed()]),
    ])
}

pub fn semver() -> Calls {
    let version = || {
        prop_oneof![
            5 => "v?[0-9]{1,2}(\\.[0-3]){0,2}(-[a-z0-9]{1,3}(\\.[0-9a-z]{1,2})?)?(\\+[a-z0-9.]{1,3})?".prop_map(Value::from),
            1 => "[vV]?[0-9x.*+ -]{0,8}".prop_map(Value::from),
            1 => one_of_texts(&["", "1.2.3-01", "18446744073709551615.0.0", "18446744073709551616.0.0", "1.02.3", "1.2.3-rc.1", "v1.36.0"]),
        ]
        .boxed()
    };
    let single = "(=|!=|>|<|>=|=>|<=|=<|~|~>|\\^|) ?v?([0-3]|x|\\*|X)(\\.([0-3]|x|\\*)){0,2}(-[a-z0-9]{1,2})?(\\+[a-z])?";
    let constraint = prop_oneof![
        3 => single.prop_map(Value::from),
        3 => prop::collection::vec(single, 1..4).prop_flat_map(|parts| {
            select(vec![" ", ", ", " || ", "||", ",", "  ", " - ", " -", "- ", "\t-\t"]).prop_map(move |between| Value::from(parts.join(between)))
        }),
        1 => "[<>=!~^ x0-3.,|v*-]{0,12}".prop_map(Value::from),
    ];
    one_of(vec![
        call(&["semver"], [version()]),
        call(&["semverCompare"], [constraint.boxed(), version()]),
        call(
            &["semverCompare"],
            [
                single.prop_map(Value::from).boxed(),
                "[0-3]\\.[0-3]\\.[0-3](-[a-z0-9]{1,2})?".prop_map(Value::from).boxed(),
            ],
        ),
    ])
}

/// Expressions, most of which are valid, out of the pieces of RE2's syntax.
fn expression() -> BoxedStrategy<Value> {
    let atom = select(vec![
        "a",
        "b",
        "ab",
        "é",
        ".",
        "x",
        "-",
        "1",
        "\\d",
        "\\w",
        "\\s",
        "\\D",
        "\\W",
        "\\S",
        "[a-c]",
        "[^a]",
        "[[:alpha:]]",
        "[[:^digit:]]",
        "[\\d_]",
        "\\pL",
        "\\p{Greek}",
        "\\PN",
        "\\p{^Lu}",
        "^",
        "$",
        "\\b",
        "\\B",
        "\\A",
        "\\z",
        "\\.",
        "\\x41",
        "\\x{e9}",
        "\\n",
        "\\101",
        "[]a]",
        "[a-]",
        "\\Qa.b\\E",
        "(?i)",
        "(?s)",
        "(?m)",
        "(?U)",
        "(?-i)",
        "(?i:A)",
        "()",
        "(a)",
        "(b|)",
        "(?:a|bc)",
        "(?P<n>a)",
        "(?<m>b)",
        "(|a)",
        "(a*)",
        "[\\w-]",
        "[&&a]",
        "{",
        "[^\\S\\n]",
        "\\_",
        "K",
        "(a|b|c)",
    ]);
    let repeat = select(vec![
        "", "", "", "", "*", "+", "?", "*?", "+?", "??", "{2}", "{1,2}", "{0,3}?", "{,2}", "{2,}", "{0}",
    ]);
    let odd = select(vec![
        "(",
        ")",
        "[",
        "]",
        "\\",
        "|",
        "*",
        "{1001}",
        "{2,1}",
        "(?",
        "(?P<",
        "(?P<n",
        "(?P<é>a)",
        "(?=a)",
        "(?<=a)",
        "(?z)",
        "(?i-)",
        "(?--i)",
        "\\8",
        "\\C",
        "\\p{X}",
        "\\pX",
        "\\p",
        "\\p{",
        "[z-a]",
        "[[:foo:]]",
        "[[:alpha]",
        "\\x",
        "\\x{",
        "\\x{110000}",
        "\\xg",
        "\\x4",
        "\\Q",
        "\\E",
        "**",
        "+*",
        "{1}{2}",
        "(a{100}){11}",
        "\\Z",
        "(?P=n)",
        "[a",
        "[^",
        "[\\",
        "(?#a)",
        "\\p{letter}",
        "\\p{Old_Italic}",
        "\\p{any}",
        "\\p{LC}",
        "\\p{Grek}",
        "\\1",
        "\\08",
        "(?i)k",
        "[:alpha:]",
        "\\u0041",
        "\u{80}",
    ]);
    let piece =
        (prop_oneof![12 => atom, 1 => odd], repeat).prop_map(|(atom, repeat)| format!("{atom}{repeat}"));
    let joined = prop::collection::vec(piece, 0..5)
        .prop_flat_map(|pieces| select(vec!["", "", "", "|"]).prop_map(move |between| pieces.join(between)));
    prop_oneof![
        8 => joined.clone().prop_map(Value::from),
        1 => (joined, prop::collection::vec(any::<u8>(), 0..2)).prop_map(|(text, more)| typed::text([text.into_bytes(), more].concat())),
        1 => "[a-c(){}\\[\\]*+?|.^$\\\\:-]{0,8}".prop_map(Value::from),
    ]
    .boxed()
}

pub fn regex() -> Calls {
    let subject = || {
        prop_oneof![
            4 => "[abcABC1-4é.x_ \nKk\u{212a}-]{0,10}".prop_map(Value::from),
            1 => text(),
            1 => prop::collection::vec(prop_oneof![select(b"ab1 ".to_vec()), any::<u8>()], 0..6).prop_map(typed::text),
        ]
        .boxed()
    };
    let replacement = || {
        prop_oneof![
            "[a$]{0,3}(\\$[0-2]|\\$\\{[0-2n]\\}|\\$n|\\$m|\\$\\$|\\$1a|\\$\\{1|\\$é|\\$\\{\\})?[-x$]{0,2}"
                .prop_map(Value::from),
            piece(),
        ]
        .boxed()
    };
    one_of(vec![
        call(&["regexMatch", "mustRegexMatch", "regexFind", "mustRegexFind"], [expression(), subject()]),
        call(
            &["regexFindAll", "mustRegexFindAll", "regexSplit", "mustRegexSplit"],
            [expression(), subject(), int(-1..4)],
        ),
        call(
            &[
                "regexReplaceAll",
                "mustRegexReplaceAll",
                "regexReplaceAllLiteral",
                "mustRegexReplaceAllLiteral",
            ],
            [expression(), subject(), replacement()],
        ),
        call(&["regexQuoteMeta"], [text()]),
    ])
}

pub fn paths() -> Calls {
    let path = prop_oneof![4 => "[a./]{0,12}".prop_map(Value::from), 1 => text()];
    call(
        &["base", "dir", "clean", "ext", "isAbs", "osBase", "osDir", "osClean", "osExt", "osIsAbs"],
        [path.boxed()],
    )
}

pub fn reflection() -> Calls {
    let name = || {
        one_of_texts(&[
            "string",
            "map",
            "slice",
            "int",
            "float64",
            "bool",
            "[]interface {}",
            "map[string]interface {}",
            "time.Time",
            "*x",
            "invalid",
            "ptr",
            "struct",
            "int64",
        ])
    };
    one_of(vec![
        call(&["typeOf", "kindOf"], [anything()]),
        call(&["typeIs", "typeIsLike", "kindIs"], [name(), anything()]),
        call(&["deepEqual"], [item(), item()]),
        call(&["deepEqual"], [list(), list()]),
        call(&["deepEqual"], [dict(), dict()]),
    ])
}

pub fn builtins() -> Calls {
    let index = || prop_oneof![4 => key(), 4 => int(-1..5), 1 => anything()].boxed();
    let container = || prop_oneof![3 => list(), 3 => dict(), 1 => text(), 1 => anything()].boxed();
    one_of(vec![
        call(&["len", "not"], [container()]),
        call_with(&["index"], [container()], index(), 0..4),
        call_with(&["print", "println"], [], anything(), 0..4),
        call(&["ne", "lt", "le", "gt", "ge"], [item(), item()]),
        call_with(&["eq"], [item()], item(), 0..3),
        call_with(
            &["printf"],
            [one_of_texts(&["%s-%d", "%v", "%q %05.2f", "%+v %t", "%x", "%-8s|", "%T"])],
            anything().prop_filter("addresses", |value| typed::Type::of(value).is_none()).boxed(),
            0..3,
        ),
    ])
}
