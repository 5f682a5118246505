//! Files in memory into charts.

use std::cell::RefCell;

use pintle::chart::{self, Chart, Dependency, Limits};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::{Value as Json, json};

use crate::dump::dump;
use crate::judge::{Judge, cases};

/// Leaves out what Go leaves out: empty fields.
fn sparse(entries: Vec<(&str, Json)>) -> Json {
    let empty = |v: &Json| match v {
        Json::Null | Json::Bool(false) => true,
        Json::String(text) => text.is_empty(),
        Json::Array(items) => items.is_empty(),
        Json::Object(map) => map.is_empty(),
        _ => false,
    };
    entries
        .into_iter()
        .filter(|(_, v)| !empty(v))
        .map(|(k, v)| (k.to_owned(), v))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

fn dependency(d: &Dependency) -> Json {
    let mut shown = sparse(vec![
        ("version", json!(d.version)),
        ("condition", json!(d.condition)),
        ("tags", json!(d.tags)),
        ("enabled", json!(d.enabled)),
        ("import-values", json!(d.import_values)),
        ("alias", json!(d.alias)),
    ]);
    shown["name"] = json!(d.name);
    shown["repository"] = json!(d.repository);
    shown
}

pub fn shown(chart: &Chart) -> Json {
    let m = &chart.metadata;
    let maintainers = m.maintainers.iter();
    let maintainers = maintainers
        .map(|m| sparse(vec![("name", json!(m.name)), ("email", json!(m.email)), ("url", json!(m.url))]));
    let metadata = sparse(vec![
        ("name", json!(m.name)),
        ("home", json!(m.home)),
        ("sources", json!(m.sources)),
        ("version", json!(m.version)),
        ("description", json!(m.description)),
        ("keywords", json!(m.keywords)),
        ("maintainers", Json::Array(maintainers.collect())),
        ("icon", json!(m.icon)),
        ("apiVersion", json!(m.api_version)),
        ("condition", json!(m.condition)),
        ("tags", json!(m.tags)),
        ("appVersion", json!(m.app_version)),
        ("deprecated", json!(m.deprecated)),
        ("annotations", json!(m.annotations)),
        ("kubeVersion", json!(m.kube_version)),
        ("dependencies", Json::Array(m.dependencies().iter().map(dependency).collect())),
        ("type", json!(m.chart_type)),
    ]);
    let names = |files: &[chart::File]| files.iter().map(|f| f.name.to_string()).collect::<Vec<_>>();
    json!({
        "metadata": metadata,
        "values": dump(&chart.values),
        "templates": names(&chart.templates),
        "files": names(&chart.files),
        "charts": chart.dependencies.iter().map(|c| (c.name().to_owned(), shown(c))).collect::<serde_json::Map<_, _>>(),
    })
}

/// Whole numbers in any spelling are equal.
fn floats(value: &mut Json) {
    match value {
        Json::Number(number) => *value = number.as_f64().into(),
        Json::Array(items) => items.iter_mut().for_each(floats),
        Json::Object(map) => map.values_mut().for_each(floats),
        _ => {}
    }
}

fn check(judge: &RefCell<Judge>, files: &[(String, Vec<u8>)]) -> Result<(), TestCaseError> {
    let asked: Vec<_> = files
        .iter()
        .map(|(name, data)| json!({"Name": name, "Data": data_encoding::BASE64.encode(data)}))
        .collect();
    let theirs = judge.borrow_mut().ask(&json!({"op": "chart.load", "files": asked}));
    same(chart::load_files(files.to_vec(), &Limits::default()), theirs)
}

/// Compares a chart, or why it is none, with what the judge says.
pub fn same(
    ours: Result<Chart, chart::Error>,
    mut theirs: Result<Json, String>,
) -> Result<(), TestCaseError> {
    let mut ours = ours.map(|c| shown(&c)).map_err(|e| e.to_string());
    theirs.iter_mut().chain(&mut ours).for_each(floats);
    // Of several subcharts that are broken, Helm names any.
    let subchart = |e: &String| e.starts_with("error unpacking subchart ");
    if ours.as_ref().is_err_and(subchart) && theirs.as_ref().is_err_and(subchart) {
        return Ok(());
    }
    prop_assert_eq!(ours, theirs);
    Ok(())
}

fn scalar() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "a",
        "1",
        "1.0",
        "1.10",
        "1.2.3",
        "v2",
        "v1",
        "true",
        "~",
        "",
        "[]",
        "[a, 1]",
        "{}",
        "{a: 1}",
        "\"x\\ty\"",
        "20210101",
        "0x10",
        "1e3",
        "2021-01-01",
        "application",
        "library",
        "..",
        "a/b",
        "'a b'",
        "\"\\u200b\"",
        "[null]",
        "yes",
        "12345678901234567890",
    ])
    .prop_map(str::to_owned)
}

fn chart_yaml() -> impl Strategy<Value = String> {
    let key = prop::sample::select(vec![
        "name",
        "version",
        "apiVersion",
        "Name",
        "description",
        "keywords",
        "sources",
        "maintainers",
        "appVersion",
        "annotations",
        "kubeVersion",
        "type",
        "deprecated",
        "dependencies",
        "icon",
        "home",
        "other",
        "tags",
        "APIVERSION",
    ]);
    let block = prop::sample::select(vec![
        "dependencies:\n- name: x\n  version: 1\n  alias: y",
        "dependencies:\n- name: x\n- name: x",
        "dependencies:\n- name: x\n  alias: a b",
        "dependencies:\n- x",
        "dependencies:\n- null",
        "dependencies:\n- name: x\n  tags: [1, true]\n  import-values: [a, {child: b, parent: 1}]\n  enabled: true",
        "dependencies:\n- name: x\n  enabled: 1",
        "maintainers:\n- name: x\n  email: 1\n- url: \"a\\nb\"",
        "maintainers:\n- null",
        "maintainers: {name: x}",
        "annotations:\n  a: 1.50\n  b: true\n  c: null\n  d: [x]",
        "annotations:\n  a: b",
        "annotations:\n  1: 2",
    ]);
    let line = prop_oneof![
        2 => (key, scalar()).prop_map(|(key, value)| format!("{key}: {value}")),
        1 => block.prop_map(str::to_owned),
    ];
    (prop::bool::weighted(0.9), prop::collection::vec(line, 0..4)).prop_map(|(sound, lines)| {
        let start = if sound { "name: top\nversion: 1.2.3\n" } else { "" };
        format!("{start}{}\n", lines.join("\n"))
    })
}

#[test]
fn metadata() {
    let judge = RefCell::new(Judge::start());
    let other = prop::option::of((
        prop::sample::select(vec!["requirements.yaml", "Chart.lock", "requirements.lock"]),
        chart_yaml(),
    ));
    TestRunner::new(cases(300))
        .run(&(chart_yaml(), other), |(yaml, other)| {
            let mut files = vec![("Chart.yaml".to_owned(), yaml.into_bytes())];
            files.extend(other.map(|(name, text)| (name.to_owned(), text.into_bytes())));
            check(&judge, &files)
        })
        .unwrap();
}

#[test]
fn places_of_files() {
    let judge = RefCell::new(Judge::start());
    let name = prop::sample::select(vec![
        "values.yaml",
        "values.schema.json",
        "templates/a.yaml",
        "templates/sub/b.yaml",
        "crds/c.yaml",
        "README.md",
        "Chart.lock",
        "requirements.yaml",
        "requirements.lock",
        "charts/README.md",
        "charts/sub/Chart.yaml",
        "charts/sub/values.yaml",
        "charts/sub/templates/x.yaml",
        "charts/_sub/Chart.yaml",
        "charts/.sub/x",
        "charts/sub/charts/deep/Chart.yaml",
        "charts/x.tgz.prov",
        "charts/broken.tgz",
        "charts/x.tgz/inner",
        ".helmignore",
        "templates",
        "charts",
        "sub/Chart.yaml",
    ]);
    let data = prop::sample::select(vec![
        "",
        "name: sub\nversion: 1.0.0\n",
        "a: 1\n---\nb: 2\n",
        "apiVersion: v2\nname: sub\nversion: 2\n",
        "x: {y: [1, 2.5]}",
        "- a",
        "a: b: c",
        "digest: 1\ngenerated: \"2021-01-01T00:00:00Z\"\n",
    ]);
    let api = prop::sample::select(vec!["", "apiVersion: v1\n", "apiVersion: v2\n"]);
    let files = prop::collection::vec((name, data), 0..6);
    TestRunner::new(cases(300))
        .run(&(api, files), |(api, files)| {
            let top = format!("{api}name: top\nversion: 1.2.3\n");
            let mut all = vec![("Chart.yaml".to_owned(), top.into_bytes())];
            all.extend(files.into_iter().map(|(name, data)| (name.to_owned(), data.as_bytes().to_vec())));
            check(&judge, &all)
        })
        .unwrap();
}
