//! Charts with subcharts, their switches, aliases, imports and globals, against Helm.

use std::sync::Arc;

use pintle::chart::{self, Chart, Limits};
use pintle::values;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::{Value as Json, json};
use tera::Value;

use crate::dump::{dump, shared};
use crate::judge::{Judge, cases};

/// Numbers become float64, as decoding into `interface{}` makes them.
pub fn value(json: &Json) -> Value {
    match json {
        Json::Null => Value::none(),
        Json::Bool(truth) => Value::from(*truth),
        Json::Number(number) => Value::from(number.as_f64().unwrap()),
        Json::String(text) => Value::from(text.as_str()),
        Json::Array(items) => Value::from(items.iter().map(value).collect::<Vec<_>>()),
        Json::Object(map) => {
            Value::from(map.iter().map(|(k, v)| (k.clone().into(), value(v))).collect::<tera::Map>())
        }
    }
}

fn made(chart: &Json) -> Chart {
    let yaml = chart["metadata"].to_string().into_bytes();
    let mut loaded = chart::load_files([("Chart.yaml".to_owned(), yaml)], &Limits::default()).unwrap();
    loaded.values = value(&chart["values"]);
    loaded.dependencies = chart["charts"].as_array().unwrap().iter().map(made).collect();
    loaded
}

fn tree(chart: &Chart) -> Json {
    let text = |value: &Value| {
        let mut fields: Vec<_> = value
            .as_map()
            .unwrap()
            .iter()
            .filter_map(|(key, value)| Some(format!("{}:{}", json!(key.as_str()?), json!(value.as_str()?))))
            .collect();
        fields.sort();
        format!("{{{}}}", fields.join(","))
    };
    json!({
        "name": chart.name(),
        "charts": chart.dependencies.iter().map(tree).collect::<Vec<_>>(),
        "dependencies": chart.metadata.dependencies().iter().map(|d| {
            let imports: Vec<_> = d.import_values.iter().map(text).collect();
            format!("{} {} [{}]", d.name, d.enabled, imports.join(","))
        }).collect::<Vec<_>>(),
    })
}

fn ours(chart: &Json, user: &Json) -> Result<Json, String> {
    let user = value(user);
    let chart = values::process_dependencies(&made(chart), &user).map_err(|e| e.to_string())?;
    let values = values::coalesce(&chart, &user).map_err(|e| e.to_string())?;
    Ok(json!({"values": dump(&values), "shared": shared(&values), "tree": tree(&chart)}))
}

fn key() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["a", "b", "c", "global", "one", "two", "tags", "exports", "on"])
        .prop_map(str::to_owned)
}

fn any_value() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        2 => Just(Json::Null),
        2 => any::<bool>().prop_map(Json::from),
        2 => (0..3).prop_map(Json::from),
        1 => "[xy]".prop_map(Json::from),
        1 => Just(json!([{"k": 1}, null])),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop::collection::btree_map(key(), inner, 0..4)
            .prop_map(|map| Json::Object(map.into_iter().collect()))
    })
}

fn table() -> impl Strategy<Value = Json> {
    prop::collection::btree_map(key(), any_value(), 0..6)
        .prop_map(|map| Json::Object(map.into_iter().collect()))
}

fn dependency() -> impl Strategy<Value = Json> {
    let import = prop_oneof![
        Just(json!("a")),
        Just(json!("b")),
        Just(json!({"child": "a", "parent": "b"})),
        Just(json!({"child": "a.b", "parent": "a.c"})),
        Just(json!({"child": "exports.a", "parent": "."})),
        Just(json!({"child": "global", "parent": "global"})),
        Just(json!({"child": 1})),
    ];
    (
        prop::sample::select(vec!["one", "two", "two", "other"]),
        prop::sample::select(vec!["*", "1.x", "^2", ">=0.1.0-0", ""]),
        prop::option::of(prop::sample::select(vec!["first", "second", "third", "one"])),
        prop::option::of(prop::sample::select(vec![
            "one.on",
            "two.on,on",
            "a",
            "a.b, c",
            "first.on",
            "global.on",
        ])),
        prop::collection::vec(prop::sample::select(vec!["a", "b", "on"]), 0..2),
        prop::collection::vec(import, 0..3),
    )
        .prop_map(|(name, version, alias, condition, tags, imports)| {
            let mut dependency = json!({"name": name, "version": version});
            if let Some(alias) = alias {
                dependency["alias"] = alias.into();
            }
            if let Some(condition) = condition {
                dependency["condition"] = condition.into();
            }
            if !tags.is_empty() {
                dependency["tags"] = tags.into();
            }
            if !imports.is_empty() {
                dependency["import-values"] = imports.into();
            }
            dependency
        })
}

fn dependencies() -> impl Strategy<Value = Option<Vec<Json>>> {
    let list = prop::collection::vec(dependency(), 0..4).prop_map(|mut list| {
        let mut names = std::collections::BTreeSet::new();
        list.retain(|d| names.insert(d.get("alias").unwrap_or(&d["name"]).to_string()));
        list
    });
    prop::option::weighted(0.9, list)
}

fn any_chart(name: &'static str, charts: BoxedStrategy<Vec<Json>>) -> impl Strategy<Value = Json> {
    let version = prop::sample::select(vec!["1.2.3", "2.0.0", "0.1.0-rc.1"]);
    (version, dependencies(), table(), charts).prop_map(move |(version, dependencies, values, charts)| {
        let mut metadata = json!({"name": name, "version": version, "apiVersion": "v2"});
        if let Some(dependencies) = dependencies {
            metadata["dependencies"] = dependencies.into();
        }
        json!({"metadata": metadata, "values": values, "charts": charts})
    })
}

fn whole_chart() -> impl Strategy<Value = Json> {
    let leaf = |name| any_chart(name, Just(Vec::new()).boxed());
    let inner = (prop::option::of(leaf("two")), prop::option::of(leaf("other")))
        .prop_map(|(a, b)| a.into_iter().chain(b).collect::<Vec<_>>());
    let one = any_chart("one", inner.boxed());
    let charts = (prop::option::weighted(0.8, one), prop::option::weighted(0.8, leaf("two")))
        .prop_map(|(a, b)| a.into_iter().chain(b).collect::<Vec<_>>());
    any_chart("top", charts.boxed())
}

#[test]
fn charts_and_their_values_come_together_as_in_helm() {
    let judge = std::cell::RefCell::new(Judge::start());
    TestRunner::new(cases(300))
        .run(&(whole_chart(), table()), |(chart, user)| {
            let theirs =
                judge.borrow_mut().ask(&json!({"op": "values.coalesce", "chart": chart, "user": user}));
            prop_assert_eq!(ours(&chart, &user), theirs);
            Ok(())
        })
        .unwrap();
}

/// What is shared with a chart stays as it was.
#[test]
fn the_chart_itself_is_not_changed() {
    let chart = made(&json!({
        "metadata": {"name": "top", "version": "1.0.0", "dependencies": [{"name": "one", "version": "*", "alias": "x"}]},
        "values": {"global": {"a": {"b": {"c": 1}}}, "x": {"k": null}},
        "charts": [{"metadata": {"name": "one", "version": "1.0.0"}, "values": {"k": 1, "global": {"a": {"b": {"d": 1}}}}, "charts": []}],
    }));
    let before = format!("{} {}", dump(&chart.values), dump(&chart.dependencies[0].values));
    let user = value(&json!({"global": {"z": {}}}));
    let processed = values::process_dependencies(&chart, &user).unwrap();
    values::coalesce(&processed, &user).unwrap();
    assert_eq!(format!("{} {}", dump(&chart.values), dump(&chart.dependencies[0].values)), before);
    assert_eq!(chart.dependencies[0].name(), "one");
    assert!(Arc::ptr_eq(&chart.files, &processed.files));
}
