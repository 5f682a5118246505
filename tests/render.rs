//! Charts in memory, rendered, against what Helm 4.3.1 renders: the cases in `tests/render/`; and templates in
//! Tera's own language, the cases in `tests/native/`.
//!
//! A case is a line `=== name`, then sections that begin with `--- path`: the chart's files, `values` (what the user gives),
//! and what comes of it: `expect path` for each rendered file, or `error`. The expectations in `tests/render/` are
//! Helm's own, byte for byte.
#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use std::{collections::BTreeMap, fs, path::Path};

use pintle::{
    chart, render,
    values::{coalesce, process_dependencies},
    yaml,
};

#[derive(Default)]
struct Case {
    name: String,
    files: Vec<(String, Vec<u8>)>,
    values: String,
    expected: BTreeMap<String, String>,
    error: Option<String>,
}

fn cases(text: &str) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    let text = text.strip_suffix('\n').unwrap_or(text);
    for part in text.split("\n=== ").map(|part| part.strip_prefix("=== ").unwrap_or(part)) {
        let mut sections = part.split("\n--- ");
        let name = sections.next().unwrap().trim();
        if name.is_empty() || name.starts_with('#') {
            continue;
        }
        let mut case = Case { name: name.to_owned(), ..Case::default() };
        for section in sections {
            let (title, body) = section.split_once('\n').unwrap_or((section, ""));
            match title.split_once(' ') {
                Some(("expect", path)) => drop(case.expected.insert(path.to_owned(), body.to_owned())),
                _ if title == "error" => case.error = Some(body.to_owned()),
                _ if title == "values" => body.clone_into(&mut case.values),
                _ => case.files.push((title.to_owned(), body.as_bytes().to_vec())),
            }
        }
        if !case.files.iter().any(|(path, _)| path == "Chart.yaml") {
            case.files.push(("Chart.yaml".to_owned(), b"apiVersion: v2\nname: c\nversion: 1.0.0".to_vec()));
        }
        cases.push(case);
    }
    cases
}

fn run(case: &Case) -> Result<BTreeMap<String, String>, String> {
    let chart =
        chart::load_files(case.files.clone(), &chart::Limits::default()).map_err(|e| e.to_string())?;
    render(case, &chart, render::Program::new, render::Program::render)
}

/// The same from a folder, as a process does it that renders once.
fn run_once(case: &Case, folder: &Path) -> Result<BTreeMap<String, String>, String> {
    for (name, data) in &case.files {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, data).unwrap();
    }
    let chart = chart::load_lazily(folder, &chart::Limits::default()).map_err(|e| e.to_string())?;
    render(case, &chart, render::Program::for_one_render, render::Program::render_on_two_threads)
}

fn render(
    case: &Case,
    chart: &chart::Chart,
    compile: fn(&chart::Chart) -> Result<render::Program, render::Error>,
    run: fn(&render::Program, &render::Inputs) -> Result<render::Rendered, render::Error>,
) -> Result<BTreeMap<String, String>, String> {
    let user = yaml::parse(&case.values).map_err(|e| e.to_string())?;
    let user = if user.is_map() { user } else { tera::Value::from(tera::Map::new()) };
    let chart = process_dependencies(chart, &user).map_err(|e| e.to_string())?;
    let values = coalesce(&chart, &user).map_err(|e| e.to_string())?;
    let program = compile(&chart).map_err(|e| e.to_string())?;
    let inputs = render::Inputs::offline(values, render::Release::install("rel", "ns"));
    let rendered = run(&program, &inputs).map_err(|e| e.to_string())?;
    Ok(rendered.files.iter().map(|file| (file.name.to_string(), file.text().into_owned())).collect())
}

#[test]
fn charts_render_as_helm_renders_them() {
    check("tests/render");
}

#[test]
fn native_templates_render() {
    check("tests/native");
}

fn check(dir: &str) {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join(dir);
    let (mut count, mut wrong) = (0, Vec::new());
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        for case in cases(&fs::read_to_string(&path).unwrap()) {
            count += 1;
            let expected = case.error.clone().map_or_else(|| Ok(case.expected.clone()), Err);
            let found = run(&case);
            if found != expected {
                let file = path.file_name().unwrap().to_string_lossy();
                wrong.push(format!("{file}: {}\n  helm: {expected:?}\n  ours: {found:?}", case.name));
            }
            let folder = tempfile::tempdir().unwrap();
            let once = run_once(&case, folder.path());
            if once != found && !once.as_ref().is_err_and(|error| error.starts_with("chart.metadata")) {
                wrong.push(format!("{}: {found:?}\n  from a folder, once: {once:?}", case.name));
            }
        }
    }
    assert!(count > 0);
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
}
