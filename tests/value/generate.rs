//! Values, formats and what the judge is told of them.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use pintle::value::typed::{self, Time, Type};
use proptest::{prelude::*, sample::select};
use serde_json::json;
use tera::{Map, Value, value::ValueKind};

/// A value as the judge reads it.
pub fn tagged(value: &Value) -> serde_json::Value {
    match value.kind() {
        ValueKind::Bool => json!({"bool": value.as_bool()}),
        ValueKind::I64 => json!({"int": value.as_i64()}),
        ValueKind::I128 => json!({"int64": value.as_i64()}),
        ValueKind::U64 => json!({"uint64": value.as_u64()}),
        ValueKind::U128 => json!({"uint8": value.as_u64()}),
        ValueKind::F64 => json!({"float": format!("{:e}", value.as_f64().unwrap()).replace("inf", "Inf")}),
        ValueKind::String => json!({"string": value.as_str()}),
        ValueKind::Bytes => json!({"bytes": STANDARD.encode(value.as_bytes().unwrap())}),
        ValueKind::Array => json!({"list": value.as_array().unwrap().iter().map(tagged).collect::<Vec<_>>()}),
        ValueKind::Map => tagged_map(value),
        _ => json!({"nil": null}),
    }
}

fn tagged_map(value: &Value) -> serde_json::Value {
    let entries = || value.as_map().unwrap().iter().filter_map(|(key, value)| Some((key.as_str()?, value)));
    match Type::of(value) {
        None => {
            json!({"map": entries().map(|(k, v)| (k.to_owned(), tagged(v))).collect::<serde_json::Map<_, _>>()})
        }
        Some(Type::Text) => json!({"base64": STANDARD.encode(typed::text_bytes(value).unwrap())}),
        Some(Type::StringMap) => {
            json!({"stringmap": entries().map(|(k, v)| (k.to_owned(), json!(v.as_str()))).collect::<serde_json::Map<_, _>>()})
        }
        Some(Type::Duration) => json!({"duration": typed::number(value)}),
        Some(Type::Month) => json!({"month": typed::number(value)}),
        Some(Type::Weekday) => json!({"weekday": typed::number(value)}),
        Some(Type::Time) => {
            let time = Time::from_value(value).unwrap();
            json!({"time": {"unix": time.seconds, "nanos": time.nanoseconds}})
        }
        Some(Type::Capabilities) => json!({"capabilities": null}),
        Some(Type::KubeVersion) => json!({"kubeversion": null}),
        Some(kind) => panic!("the judge does not know {kind:?}"),
    }
}

fn kube_version() -> Value {
    let fields =
        [("Version", "v1.33.4-gke.1"), ("normalizedVersion", "v1.33.4"), ("Major", "1"), ("Minor", "33")];
    typed::make(Type::KubeVersion, fields.map(|(name, text)| (name, Value::from(text))))
}

fn capabilities() -> Value {
    let nothing = Type::BuildInfo.fields().iter().map(|name| (*name, Value::from("")));
    typed::make(
        Type::Capabilities,
        [
            ("KubeVersion", kube_version()),
            ("APIVersions", typed::make(Type::VersionSet, [("items", Value::from(vec!["v1", "apps/v1"]))])),
            ("HelmVersion", typed::make(Type::BuildInfo, nothing)),
        ],
    )
}

pub fn float() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<u64>().prop_map(f64::from_bits),
        any::<f32>().prop_map(f64::from),
        any::<i32>().prop_map(f64::from),
        (any::<i32>(), -8_i32..8).prop_map(|(n, exponent)| f64::from(n % 1000) * 10_f64.powi(exponent)),
        (0_u64..1 << 54).prop_map(|n| n as f64),
        (0..2000_i32).prop_map(|n| f64::from(n) / 8.0),
        select(vec![
            0.0,
            -0.0,
            1.0,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NAN,
            1e21,
            1e20,
            5e-324,
            f64::MAX,
            0.1,
            2.5
        ]),
    ]
}

fn text() -> impl Strategy<Value = Value> {
    let part = prop_oneof![
        "[a-z0-9 ]{0,6}".prop_map(String::into_bytes),
        "\\PC{0,3}".prop_map(String::into_bytes),
        any::<String>().prop_map(|text| text.chars().take(4).collect::<String>().into_bytes()),
        "[\"'`\\\\\n\t%<>&\u{2028}é字😀\u{a0}\u{feff}\u{7f}\u{0}]{0,3}".prop_map(String::into_bytes),
        prop::collection::vec(any::<u8>(), 0..3),
    ];
    prop::collection::vec(part, 0..3).prop_map(|parts| typed::text(parts.concat()))
}

fn integer() -> impl Strategy<Value = i64> {
    prop_oneof![
        -300..300_i64,
        any::<i64>(),
        select(vec![
            0,
            1,
            -1,
            i64::MIN,
            i64::MAX,
            0x10_ffff,
            0x11_0000,
            0xd800,
            1_000_000,
            1_000_001,
            -1_000_001
        ]),
    ]
}

pub fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        1 => Just(Value::none()),
        1 => any::<bool>().prop_map(Value::from),
        2 => integer().prop_map(Value::from),
        1 => integer().prop_map(|n| Value::from(i128::from(n))),
        1 => integer().prop_map(|n| Value::from(n.cast_unsigned())),
        1 => any::<u8>().prop_map(|n| Value::from(u128::from(n))),
        3 => float().prop_map(Value::from),
        4 => text(),
        1 => prop::collection::vec(any::<u8>(), 0..5).prop_map(Value::bytes),
    ]
}

fn typed_value() -> impl Strategy<Value = Value> {
    let number = |kind, value: i64| typed::make(kind, [("value", Value::from(value))]);
    prop_oneof![
        integer().prop_map(move |n| number(Type::Duration, n)),
        (0..14_i64).prop_map(move |n| number(Type::Month, n)),
        (-1..8_i64).prop_map(move |n| number(Type::Weekday, n)),
        (-100_000_000_000..300_000_000_000_i64, 0..1_000_000_000_u32).prop_map(|(seconds, nanoseconds)| {
            let (abbreviation, location) = ("UTC".to_owned(), "UTC".to_owned());
            Time { seconds, nanoseconds, offset: 0, abbreviation, location, monotonic: None }.to_value()
        }),
        prop::collection::btree_map("[a-c]{0,2}", "[a-z ]{0,3}", 0..3).prop_map(|entries| {
            typed::make(Type::StringMap, entries.into_iter().map(|(key, text)| (key, Value::from(text))))
        }),
        Just(kube_version()),
    ]
}

/// Any value but a pointer, whose address Go would print.
pub fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![8 => scalar(), 1 => typed_value()];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-cé\"]{0,2}", inner, 0..4).prop_map(|entries| {
                let entries: Map = entries.into_iter().map(|(key, value)| (key.into(), value)).collect();
                Value::from(entries)
            }),
        ]
    })
}

fn directive() -> impl Strategy<Value = String> {
    let number = || {
        prop_oneof![
            6 => (0..12_u32).prop_map(|n| n.to_string()),
            1 => (12..80_u32).prop_map(|n| n.to_string()),
            1 => select(vec!["1000001", "99999999999999999999", "00", "1100"]).prop_map(str::to_owned),
        ]
    };
    let index = || {
        prop_oneof![
            8 => Just(String::new()),
            2 => (0..4_u32).prop_map(|n| format!("[{n}]")),
            1 => select(vec!["[", "[]", "[x]", "[-1]", "[1", "[1x]", "[1000001]", "]"]).prop_map(str::to_owned),
        ]
    };
    let size = move || {
        prop_oneof![
            4 => Just(String::new()),
            3 => number(),
            2 => index().prop_map(|index| format!("{index}*")),
        ]
    };
    let precision = prop_oneof![3 => Just(String::new()), 2 => size().prop_map(|size| format!(".{size}"))];
    let verb = prop_oneof![
        12 => select("vvvvTtbcdoOqxXUeEfFgGssw".chars().collect::<Vec<_>>()),
        1 => select("%p!z aé\u{0}.".chars().collect::<Vec<_>>()),
    ];
    (
        "[#0+\\- ]{0,3}",
        size(),
        precision,
        index(),
        prop_oneof![30 => verb.prop_map(String::from), 1 => Just(String::new())],
    )
        .prop_map(|(flags, size, precision, index, verb)| format!("%{flags}{size}{precision}{index}{verb}"))
}

/// A format with its arguments. There are no addresses in what Go prints for it.
pub fn format_and_args() -> impl Strategy<Value = (Vec<u8>, Vec<Value>)> {
    let plain = prop_oneof!["[a-z ]{0,4}", "\\PC{0,2}"].prop_map(String::into_bytes);
    let piece = prop_oneof![
        6 => directive().prop_map(String::into_bytes),
        2 => plain,
        1 => "[%vds\\[\\]0-9*.#+\\- ]{0,8}".prop_map(String::into_bytes),
        1 => prop::collection::vec(any::<u8>(), 0..2),
    ];
    let top = prop_oneof![20 => any_value(), 1 => Just(capabilities())];
    (prop::collection::vec(piece, 1..4), prop::collection::vec(top, 0..4))
        .prop_map(|(pieces, args)| (pieces.concat(), args))
        .prop_filter("addresses", |(format, args)| {
            let scalar =
                |value: &Value| !matches!(value.kind(), ValueKind::Array | ValueKind::Map | ValueKind::Bytes);
            !format.contains(&b'p') || args.iter().all(scalar)
        })
}
