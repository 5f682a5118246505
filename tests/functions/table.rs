//! The functions that there are: those of Helm, with the types that Helm has, all of them in docs/functions.md.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    path::Path,
};

use pintle::{
    functions::{Family, Function, Param, all, find},
    render::{native_arguments, native_names},
};
use serde_json::json;

use crate::judge::Judge;

/// The functions of Go's text/template, with their types.
const BUILTINS: &[(&str, &str)] = &[
    ("and", "func(reflect.Value, ...reflect.Value) reflect.Value"),
    ("call", "func(reflect.Value, ...reflect.Value) (reflect.Value, error)"),
    ("eq", "func(reflect.Value, ...reflect.Value) (bool, error)"),
    ("ge", "func(reflect.Value, reflect.Value) (bool, error)"),
    ("gt", "func(reflect.Value, reflect.Value) (bool, error)"),
    ("html", "func(...interface {}) string"),
    ("index", "func(reflect.Value, ...reflect.Value) (reflect.Value, error)"),
    ("js", "func(...interface {}) string"),
    ("le", "func(reflect.Value, reflect.Value) (bool, error)"),
    ("len", "func(reflect.Value) (int, error)"),
    ("lt", "func(reflect.Value, reflect.Value) (bool, error)"),
    ("ne", "func(reflect.Value, reflect.Value) (bool, error)"),
    ("not", "func(reflect.Value) bool"),
    ("or", "func(reflect.Value, ...reflect.Value) reflect.Value"),
    ("print", "func(...interface {}) string"),
    ("printf", "func(string, ...interface {}) string"),
    ("println", "func(...interface {}) string"),
    ("slice", "func(reflect.Value, ...reflect.Value) (reflect.Value, error)"),
    ("urlquery", "func(...interface {}) string"),
];

/// The functions that need the evaluation itself, and are not in the registry.
const OWN: &[(&str, &str)] = &[
    ("and", "The first argument that is false, or else the last one."),
    ("call", "What a function answers that a value holds, which no value of a chart does."),
    ("include", "What a named template writes, given the dot."),
    ("lookup", "An object of the cluster, or a list of them; an empty dictionary where there is none."),
    ("or", "The first argument that is true, or else the last one."),
    ("tpl", "What a text writes as a template, given the dot."),
];

/// Helm's functions with their Go types.
fn of_helm() -> BTreeMap<String, String> {
    let answer = Judge::start().ask(&json!({"op": "func.list"})).unwrap();
    let listed = answer
        .as_object()
        .unwrap()
        .iter()
        .map(|(name, kind)| (name.clone(), kind.as_str().unwrap().to_owned()));
    let builtins = BUILTINS.iter().map(|(name, kind)| ((*name).to_owned(), (*kind).to_owned()));
    builtins.chain(listed).collect()
}

#[test]
fn all_functions_of_helm_are_there_and_no_others() {
    let ours: BTreeSet<&str> =
        all().iter().map(|function| function.name).chain(OWN.iter().map(|(name, _)| *name)).collect();
    let helm = of_helm();
    let helm: BTreeSet<&str> = helm.keys().map(String::as_str).collect();
    assert_eq!(ours, helm);
}

/// The arguments of a function as Go writes its type.
fn arguments(function: &Function) -> String {
    let fixed = function.params.iter().map(|param| param.go_type().to_owned());
    let more = function.variadic.map(|param| format!("...{}", param.go_type()));
    format!("func({})", fixed.chain(more).collect::<Vec<_>>().join(", "))
}

#[test]
fn arguments_have_the_types_of_helm() {
    for (name, helm) in of_helm() {
        let Some(function) = find(&name) else { continue };
        let ours = arguments(function);
        assert!(helm.starts_with(&ours), "{name} is {helm} and not {ours}");
    }
}

const fn title(family: Family) -> &'static str {
    match family {
        Family::Strings => "Text",
        Family::Printing => "Printing and escaping",
        Family::Comparison => "Comparison and logic",
        Family::Flow => "Defaults, choices and refusals",
        Family::Lists => "Lists",
        Family::Dicts => "Dictionaries",
        Family::Math => "Numbers",
        Family::Encoding => "Encodings and checksums",
        Family::Data => "YAML, JSON and TOML",
        Family::Dates => "Times and durations",
        Family::Semver => "Versions",
        Family::Regex => "Regular expressions",
        Family::Crypto => "Passwords, random text and encryption",
        Family::Certificates => "Keys and certificates",
        Family::Paths => "Paths",
        Family::Urls => "URLs",
        Family::Reflection => "Types and kinds",
        Family::Network => "Names of hosts",
        Family::Uuid => "UUIDs",
    }
}

/// One line of a table.
fn line(name: &'static str, helm: &BTreeMap<String, String>, summary: &str) -> String {
    let escaped = |text: &str| text.replace('|', "\\|");
    let go = helm[name].trim_start_matches("func").replace("interface {}", "any");
    let native = match native_names(name) {
        Some((spelling, _)) => {
            format!("`{spelling}({})`", native_arguments(name).unwrap_or_default().join(", "))
        }
        None => "Tera's own".to_owned(),
    };
    format!("| `{name}{}` | {} | {} |\n", escaped(&go), escaped(&native), escaped(summary))
}

/// The whole of docs/functions.md.
fn table() -> String {
    let helm = of_helm();
    let mut text = String::from(
        "# Functions of charts\n\n\
         Templates have every function that Helm 4.3 has: those of Go's text/template, those of sprig 3.3 without `env` and\n\
         `expandenv`, and Helm's own. They answer what Helm's answer, and refuse in the same words. The types are Go's. In\n\
         native templates (`.tera`) each is a function and a filter, under its own name and in Tera's style, with\n\
         arguments that have names; a filter takes what is piped as the first argument that is not named.\n\n\
         Random text, keys, certificates and times are made once for a release that the operator keeps, and stay.\n\n\
         This file is generated: `PINTLE_UPDATE_DOCS=1 cargo test --test functions table` writes it.\n",
    );
    let mut chapters: BTreeMap<Family, Vec<&Function>> = BTreeMap::new();
    for function in all() {
        chapters.entry(function.family).or_default().push(function);
    }
    let mut chapter = |title: &str, lines: Vec<String>| {
        let head = "| in Go templates | in native templates | |\n|---|---|---|\n";
        let _ = write!(text, "\n## {title}\n\n{head}{}", lines.concat());
    };
    chapter(
        "Templates and the cluster",
        OWN.iter().map(|(name, summary)| line(name, &helm, summary)).collect(),
    );
    for (family, functions) in chapters {
        let lines = functions.iter().map(|function| line(function.name, &helm, function.summary)).collect();
        chapter(title(family), lines);
    }
    text
}

#[test]
fn the_table_of_functions_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/functions.md");
    let text = table();
    if std::env::var_os("PINTLE_UPDATE_DOCS").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(found == text, "docs/functions.md is stale; PINTLE_UPDATE_DOCS=1 writes it");
}

/// Only a scope that may resolves names.
#[test]
fn names_of_hosts_are_looked_up_when_asked_for() {
    use pintle::{functions::Call, value::Scope};
    let scope = Scope::new();
    let ask = |name: &str| {
        let args = [tera::Value::from(name)];
        (find("getHostByName").unwrap().native)(&Call { args: &args, scope: &scope })
    };
    assert_eq!(ask("localhost").unwrap().as_str(), Some(""));
    scope.set_resolves_names(true);
    let found = ask("localhost").unwrap();
    assert!(["127.0.0.1", "::1"].contains(&found.as_str().unwrap()), "{found:?}");
    assert_eq!(ask("no-such-host.invalid").unwrap_err().to_string(), "invalid argument to Intn");
    assert_eq!(find("getHostByName").unwrap().params, [Param::String]);
}
