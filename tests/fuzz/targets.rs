//! What is fuzzed: each function takes any bytes and must return, without a panic and in bounded time and memory.

use std::{io::Write as _, time::Duration};

use flate2::{Compression, write::GzEncoder};
use pintle::{
    chart, render,
    values::{coalesce, process_dependencies, set},
    yaml::{self, Options, Target},
};

/// A target: its name, and what runs it.
pub type Fuzzed = (&'static str, fn(&[u8]));

/// All of them.
pub const TARGETS: &[Fuzzed] =
    &[("templates", templates), ("yaml", yaml), ("archives", archives), ("set", set)];

const VALUES: &str = "name: web\ncount: 3\nenabled: true\nnothing: null\nlist: [a, 1, {k: v}]\n\
                      map: {a: x, b: {c: [1, 2]}}\ntext: \"{{ .Values.name }}\"\n";
const HELPERS: &str = "{{ define \"h\" }}{{ . }}{{ end }}{{ define \"r\" }}{{ include \"r\" . }}{{ end }}";

/// The lexer, the parser, the lowering, Tera's own parser, and the render with what it finds wrong.
pub fn templates(data: &[u8]) {
    let file = |name: &str, data: &[u8]| (name.to_owned(), data.to_vec());
    let files = vec![
        file("Chart.yaml", b"apiVersion: v2\nname: c\nversion: 1.0.0\n"),
        file("values.yaml", VALUES.as_bytes()),
        file("templates/_h.tpl", HELPERS.as_bytes()),
        file("templates/a.yaml", data),
    ];
    let Ok(chart) = chart::load_files(files, &chart::Limits::default()) else { return };
    let user = tera::Value::from(tera::Map::new());
    let Ok(chart) = process_dependencies(&chart, &user) else { return };
    let Ok(values) = coalesce(&chart, &user) else { return };
    let program = match render::Program::new(&chart) {
        Ok(program) => program,
        Err(error) => return drop(error.to_string()),
    };
    let mut inputs = render::Inputs::offline(values, render::Release::install("rel", "ns"));
    inputs.limits = render::Limits {
        depth: 100,
        output_bytes: 1 << 20,
        text_bytes: 1 << 18,
        made_bytes: 32 << 20,
        time: Duration::from_secs(2),
    };
    if let Err(error) = program.render(&inputs) {
        drop(error.to_string());
    }
}

/// The YAML reader, and the printer: what it prints must be read as what was printed.
pub fn yaml(data: &[u8]) {
    for target in [Target::Any, Target::Map, Target::List] {
        for strict in [false, true] {
            let options = Options { target, strict, ..Options::default() };
            let Ok(value) = yaml::parse_with(data, &options) else { continue };
            for print in [yaml::to_string, yaml::to_string_pretty] {
                let Ok(text) = print(&value) else { continue };
                let again = yaml::parse(&text).and_then(|value| print(&value));
                // The float -0 is printed as an integer, which has no sign when it is read again: so it is in Go.
                let (text, again) =
                    (text.replace("-0\n", "0\n"), again.map(|text| text.replace("-0\n", "0\n")));
                assert_eq!(again.ok().as_deref(), Some(&*text), "{}", data.escape_ascii());
            }
        }
    }
    yaml::documents(data).for_each(drop);
    if let Ok(text) = std::str::from_utf8(data) {
        drop(yaml::comments(text));
    }
}

/// Chart archives: as they are, and compressed first, so that what is in them varies too.
pub fn archives(data: &[u8]) {
    let limits = chart::Limits {
        chart_bytes: 1 << 20,
        total_bytes: 4 << 20,
        entries: 200,
        depth: 4,
        ..chart::Limits::default()
    };
    drop(chart::load_archive(data, &limits));
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    if packed.write_all(data).is_ok()
        && let Ok(packed) = packed.finish()
    {
        drop(chart::load_archive(packed.as_slice(), &limits));
    }
}

/// `--set` and its kin.
pub fn set(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    drop(set::parse(&text, set::Style::Typed));
    drop(set::parse(&text, set::Style::Text));
    drop(set::parse(&text, set::Style::Json));
    drop(set::parse(&text, set::Style::Literal));
    let mut file = |path: &str| {
        if path.len().is_multiple_of(2) { Ok(path.repeat(2).into_bytes()) } else { Err("no file".to_owned()) }
    };
    drop(set::parse(&text, set::Style::File(&mut file)));
    // Over what is there already.
    if let Ok(values) = yaml::parse(VALUES) {
        drop(set::parse_into(&text, set::Style::Typed, values));
    }
}
