//! Charts of Go templates, converted: what comes out reads well and renders the same.
#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
};

use pintle::{
    chart, convert,
    render::{GeneratedKey, GeneratedValues, Inputs, Program, Release},
    values::{coalesce, process_dependencies},
    yaml,
};

/// What is random is the same each time.
struct Fixed;

impl GeneratedValues for Fixed {
    fn kept(&self, _: &GeneratedKey) -> Option<tera::Value> {
        Some("generated".into())
    }
}

type Files = Vec<(String, Vec<u8>)>;

/// What a chart renders to: the names of the files, and their texts.
fn render(files: Files, values: &str) -> Result<Vec<(String, String)>, String> {
    let chart = chart::load_files(files, &chart::Limits::default()).map_err(|e| e.to_string())?;
    let user = yaml::parse(values).map_err(|e| e.to_string())?;
    let user = if user.is_map() { user } else { tera::Value::from(tera::Map::new()) };
    let chart = process_dependencies(&chart, &user).map_err(|e| e.to_string())?;
    let values = coalesce(&chart, &user).map_err(|e| e.to_string())?;
    let program = Program::new(&chart).map_err(|e| e.to_string())?;
    let inputs = Inputs::offline(values, Release::install("rel", "ns"));
    let rendered = program.render(&Inputs { generated: Arc::new(Fixed), ..inputs });
    let rendered = rendered.map_err(|e| e.to_string())?;
    Ok(rendered.files.iter().map(|file| (file.name.to_string(), file.text().into_owned())).collect())
}

fn vendored(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("charts").join(name)
}

#[test]
fn our_charts_render_the_same() {
    for name in ["web", "ledger", "prometheus", "echo"] {
        let files = chart::read_folder(&vendored(name), &chart::Limits::default()).unwrap();
        let converted = convert::files(files.clone(), &chart::Limits::default()).unwrap();
        assert_eq!(converted.kept, [], "{name}");
        assert_eq!(render(converted.files, ""), render(files, ""), "{name}");
    }
}

#[test]
fn a_converted_chart_reads_well() {
    let files = chart::read_folder(&vendored("web"), &chart::Limits::default()).unwrap();
    let converted = convert::files(files, &chart::Limits::default()).unwrap();
    let mut text = String::new();
    for (name, data) in converted.files.iter().filter(|(name, _)| name.ends_with(".tera")) {
        writeln!(text, "==> {name}\n{}", String::from_utf8_lossy(data)).unwrap();
    }
    insta::assert_snapshot!(text);
}

/// Templates, one after the other, with what they become. Each renders to the same in both forms.
#[test]
fn constructs() {
    let cases = include_str!("convert/constructs.txt");
    let values = include_str!("convert/values.yaml");
    let (mut text, mut wrong) = (String::new(), String::new());
    for case in cases.split("\n---\n") {
        let files = |template: &str, name: &str| {
            vec![
                (
                    "Chart.yaml".to_owned(),
                    b"apiVersion: v2\nname: c\nversion: 1.0.0\nappVersion: \"2\"".to_vec(),
                ),
                ("files/a.txt".to_owned(), b"one\ntwo\n".to_vec()),
                (
                    "templates/_named.tpl".to_owned(),
                    b"{{ define \"named\" }}<{{ .Values.name }}{{ .x }}>{{ end }}".to_vec(),
                ),
                (name.to_owned(), template.as_bytes().to_vec()),
            ]
        };
        let converted = convert::template("templates/a.yaml", case.as_bytes()).unwrap().text;
        let before = render(files(case, "templates/a.yaml"), values);
        assert!(before.is_ok(), "{case}: {before:?}");
        let after = render(files(&converted, "templates/a.yaml.tera"), values);
        if after != before {
            writeln!(wrong, "{case}\n{converted}\nbefore: {before:?}\nafter:  {after:?}\n").unwrap();
        }
        writeln!(text, "{case}\n=>\n{converted}\n---").unwrap();
    }
    assert_eq!(wrong, "");
    insta::assert_snapshot!(text);
}

#[test]
fn archives_are_unpacked_and_files_stay() {
    let files = vec![
        ("Chart.yaml".to_owned(), b"apiVersion: v2\nname: c\nversion: 1.0.0".to_vec()),
        ("templates/plain.yaml".to_owned(), b"a: b\n".to_vec()),
        ("templates/a.yaml".to_owned(), b"a: {{ .Values.a }}".to_vec()),
        ("templates/_x.tpl".to_owned(), b"{{ define \"x\" }}{{ end }}".to_vec()),
        ("templates/bad.yaml".to_owned(), b"ok\n{{ .Values.a 1i }}".to_vec()),
        ("crds/{{x}}.yaml".to_owned(), b"{{ not a template }}".to_vec()),
        ("charts/sub/Chart.yaml".to_owned(), b"apiVersion: v2\nname: sub\nversion: 1.0.0".to_vec()),
        ("charts/sub/templates/NOTES.txt".to_owned(), b"{{ .Release.Name }}".to_vec()),
    ];
    let converted = convert::files(files, &chart::Limits::default()).unwrap();
    let names: Vec<&str> = converted.files.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        names,
        [
            "Chart.yaml",
            "templates/plain.yaml",
            "templates/a.yaml.tera",
            "templates/_x.tera",
            "templates/bad.yaml",
            "crds/{{x}}.yaml",
            "charts/sub/Chart.yaml",
            "charts/sub/templates/NOTES.txt.tera",
        ]
    );
    assert_eq!(converted.kept.len(), 1);
    assert_eq!((converted.kept[0].file.as_str(), converted.kept[0].line), ("templates/bad.yaml", 2));
}

/// Runs `pintle convert` on a chart of one template: whether it went well, what it said, and the new chart's templates.
fn convert_by_hand(template: &str, flags: &[&str]) -> (bool, String, Vec<String>) {
    let dir = tempfile::tempdir().unwrap();
    let chart = dir.path().join("chart");
    fs::create_dir_all(chart.join("templates")).unwrap();
    fs::write(chart.join("Chart.yaml"), "apiVersion: v2\nname: c\nversion: 1.0.0\n").unwrap();
    fs::write(chart.join("templates/a.yaml"), "a: {{ .Release.Name }}\n").unwrap();
    fs::write(chart.join("templates/b.yaml"), template).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_pintle"));
    let output =
        command.current_dir(dir.path()).args(["convert", "chart", "out"]).args(flags).output().unwrap();
    let said = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap()).concat();
    let made = fs::read_dir(dir.path().join("out/templates")).into_iter().flatten();
    let mut made: Vec<_> = made.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    made.sort();
    (output.status.success(), said, made)
}

/// Leaves the outer loop in the `else` of the inner one.
const UNCONVERTIBLE: &str =
    "b: 1\n{{ range until 2 }}{{ range list }}{{ else }}{{ break }}{{ end }}{{ end }}\n";

#[test]
fn what_cannot_be_converted_stays_and_is_named() {
    let (well, said, made) = convert_by_hand(UNCONVERTIBLE, &[]);
    assert!(well, "{said}");
    assert!(said.contains("templates/b.yaml:2: not converted, it stays a Go template: "), "{said}");
    assert!(said.contains("both charts render to the same bytes (2 files)"), "{said}");
    assert_eq!(made, ["a.yaml.tera", "b.yaml"]);
    let dollar = "{{ define \"d\" }}{{ $ := 1 }}{{ $ }}{{ end }}b: {{ include \"d\" 2 }}\n";
    let (well, said, made) = convert_by_hand(dollar, &[]);
    assert!(
        well && said.contains("b.yaml:1: not converted, it stays a Go template: a variable that is named $"),
        "{said}"
    );
    assert_eq!(made, ["a.yaml.tera", "b.yaml"]);
    let undeclared = "{{ if false }}{{ $x = 1 }}{{ end }}b: 1\n";
    let (well, said, made) = convert_by_hand(undeclared, &[]);
    assert!(well && said.contains("an assignment to $x, which is not declared"), "{said}");
    assert_eq!(made, ["a.yaml.tera", "b.yaml"]);
}

#[test]
fn strict_writes_nothing_where_something_cannot_be_converted() {
    let (well, said, made) = convert_by_hand(UNCONVERTIBLE, &["--strict"]);
    assert!(!well);
    assert!(said.contains("templates/b.yaml:2: not converted"), "{said}");
    assert!(said.contains("Error: 1 templates cannot be converted"), "{said}");
    assert!(made.is_empty(), "{made:?}");
    let (well, said, made) = convert_by_hand("b: {{ .Values.b }}\n", &["--strict"]);
    assert!(well, "{said}");
    assert_eq!(made, ["a.yaml.tera", "b.yaml.tera"]);
}

#[test]
fn both_charts_see_the_cluster_that_is_described() {
    let template = "{{ if ne .Capabilities.KubeVersion.Minor \"20\" }}{{ fail \"other\" }}{{ end }}\
                    {{ if not (.Capabilities.APIVersions.Has \"x/v1\") }}{{ fail \"none\" }}{{ end }}b: 1\n";
    let (well, said, _) = convert_by_hand(template, &[]);
    assert!(well && said.contains("nothing was compared"), "{said}");
    let (well, said, _) = convert_by_hand(template, &["--kube-version", "1.20", "-a", "x/v1,y/v1"]);
    assert!(well && said.contains("both charts render to the same bytes (2 files)"), "{said}");
    let (well, said, made) = convert_by_hand(template, &["--kube-version", "x"]);
    assert!(!well && said.contains("invalid kube version 'x'"), "{said}");
    assert!(made.is_empty(), "{made:?}");
}

/// What follows a line of three backticks and this word, up to the next three backticks: the place of each, and its text.
fn fenced(text: &str, language: &str) -> Vec<(usize, String)> {
    let open = format!("```{language}\n");
    let blocks = text.match_indices(&open).map(|(at, _)| {
        let from = at + open.len();
        (at, text[from..from + text[from..].find("```").unwrap()].to_owned())
    });
    blocks.collect()
}

#[test]
fn the_examples_of_the_documentation_are_true() {
    let text = include_str!("../docs/tera.md");
    let values = &fenced(text, "yaml")[0].1;
    let results = fenced(text, "text");
    let examples = fenced(text, "tera");
    assert!(examples.len() > 4);
    for (at, example) in examples {
        let (_, expected) = results.iter().find(|(result, _)| *result > at).unwrap();
        let files = vec![
            (
                "Chart.yaml".to_owned(),
                b"apiVersion: v2\nname: c\nversion: 1.0.0\nappVersion: \"2.0\"".to_vec(),
            ),
            ("files/motd.txt".to_owned(), b"hello\nyou".to_vec()),
            ("templates/a.yaml.tera".to_owned(), example.clone().into_bytes()),
        ];
        let rendered = render(files, values).map_err(|error| format!("{example}\n{error}")).unwrap();
        assert_eq!(&rendered[0].1, expected, "{example}");
    }
}
