//! Whole templates, generated, rendered here and by Helm's engine: the same bytes, or the same error.
#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

#[path = "render_diff/generate.rs"]
mod generate;
mod judge;
#[path = "render_diff/objects.rs"]
mod objects;

use std::{cell::RefCell, collections::BTreeMap};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use generate::{Generator, vocabulary::VALUES};
use judge::{Judge, choices::choices};
use pintle::{
    chart, render,
    values::{coalesce, process_dependencies},
    yaml,
};
use proptest::prelude::*;
use serde_json::json;

type Outcome = Result<BTreeMap<String, String>, String>;

fn judged(files: &[(String, String)], values: &str) -> Outcome {
    thread_local! {
        static JUDGE: RefCell<Judge> = RefCell::new(Judge::start());
    }
    let files: Vec<_> =
        files.iter().map(|(name, text)| json!({"Name": name, "Data": STANDARD.encode(text)})).collect();
    let request = json!({"op": "template.exec", "files": files, "values": values});
    let answer = JUDGE.with_borrow_mut(|judge| judge.ask(&request))?;
    let text = |data: &serde_json::Value| {
        String::from_utf8_lossy(&STANDARD.decode(data.as_str().unwrap()).unwrap()).into_owned()
    };
    Ok(answer.as_object().unwrap().iter().map(|(name, data)| (name.clone(), text(data))).collect())
}

fn ours(files: &[(String, String)], values: &str) -> Outcome {
    let files: Vec<_> = files.iter().map(|(name, text)| (name.clone(), text.clone().into_bytes())).collect();
    let chart = chart::load_files(files, &chart::Limits::default()).map_err(|e| e.to_string())?;
    let user = yaml::parse(values).map_err(|e| e.to_string())?;
    let chart = process_dependencies(&chart, &user).map_err(|e| e.to_string())?;
    let values = coalesce(&chart, &user).map_err(|e| e.to_string())?;
    let program = render::Program::new(&chart).map_err(|e| e.to_string())?;
    let inputs = render::Inputs::offline(values, render::Release::install("rel", "ns"));
    let rendered = program.render(&inputs).map_err(|e| e.to_string())?;
    Ok(rendered.files.iter().map(|file| (file.name.to_string(), file.text().into_owned())).collect())
}

fn check(mut files: Vec<(String, String)>) {
    files.push(("Chart.yaml".to_owned(), "apiVersion: v2\nname: c\nversion: 1.0.0\n".to_owned()));
    let (ours, judged) = (ours(&files, VALUES), judged(&files, VALUES));
    // Where Go does not survive printing a map that contains itself, anything else is better.
    if ours != judged && judged.as_ref().err().is_none_or(|error| error != judge::DIED) {
        files.pop();
        let texts: Vec<_> = files.iter().map(|(name, text)| format!("--- {name}\n{text}")).collect();
        panic!("{}\n--- helm\n{judged:?}\n--- ours\n{ours:?}\n", texts.join("\n"));
    }
}

/// Go's strings are bytes, and so are files.
#[test]
fn what_is_not_utf8_goes_on_as_in_helm() {
    const BYTES: &[u8] = b"a\xff\xfe\0b\xc3\n\xe2\x82 text\n";
    let mut judge = Judge::start();
    let pieces: Vec<Vec<u8>> = [
        "{{ .Files.Get \"b.bin\" }}", "{{ .Files.Get \"b.bin\" | b64enc }}", "{{ .Files.GetBytes \"b.bin\" }}",
        "{{ .Files.Lines \"b.bin\" }}", "{{ range .Files.Lines \"b.bin\" }}[{{ . }}]{{ end }}", "{{ (.Files.Glob \"*.bin\").AsConfig }}",
        "{{ (.Files.Glob \"*.bin\").AsSecrets }}", "{{ range $n, $b := .Files.Glob \"*.bin\" }}{{ $n }}{{ toString $b | len }}{{ end }}",
        "{{ $f := .Files.Get \"b.bin\" }}{{ $f | len }} {{ $f | quote }} {{ $f | squote }} {{ $f | upper }} {{ $f | trunc 2 }} {{ $f | toJson }}",
        "{{ $f := .Files.Get \"b.bin\" }}{{ $f | toYaml }} {{ printf \"%q %x %s %v\" $f $f $f (list $f) }} {{ $f | sha256sum }} {{ $f | nindent 2 }}",
        "{{ $f := .Files.Get \"b.bin\" }}{{ dict \"a\" $f | toYaml }}{{ dict \"a\" $f | toJson }}{{ dict \"a\" $f }}{{ list $f $f | join \",\" }}",
        "{{ $f := .Files.Get \"b.bin\" }}{{ $f | replace \"a\" \"b\" }}{{ contains \"text\" $f }}{{ $f | splitList \"\\n\" }}{{ eq $f $f }}{{ $f | trim }}",
        "{{ $f := .Files.Get \"b.bin\" }}{{ tpl $f . }}{{ include \"h\" $f }}{{ include \"h\" $f | len }}{{ $f | html }}{{ $f | js }}{{ $f | urlquery }}",
        "{{ $f := .Files.Get \"b.bin\" }}{{ $f | fromYaml }}{{ $f | fromJson }}{{ regexFind \"t.*\" $f }}{{ regexReplaceAll \"[^a-z]\" $f \"-\" }}",
        "{{ $f := .Files.Get \"b.bin\" }}{{ fail $f }}", "{{ $f := .Files.Get \"b.bin\" }}{{ include $f . }}", "{{ .Files.Get \"b.bin\" | atoi }}",
        "{{ \"\\xff\" }}{{ \"\\xff\" | len }}{{ print \"\\xff\" \"\\xe2\" \"\\x82\" \"\\xac\" }}", "{{ \"\\xe2\" }}{{ \"\\x82\\xac\" }}",
    ]
    .iter()
    .map(|text| text.as_bytes().to_vec())
    .chain([b"raw \xff text {{ 1 }} \xe2\x82\xac \xe2\x82".to_vec(), b"{{ \"\xff\" }}".to_vec(), b"{{ `\xff` | len }}".to_vec(), b"{{/* \xff */}}x".to_vec(), b"{{ \xff }}".to_vec(), b"{{ $\xff }}".to_vec(), b"{{ .a\xff }}".to_vec()])
    .collect();
    let mut wrong = Vec::new();
    for piece in pieces {
        let files: Vec<(String, Vec<u8>)> = vec![
            ("Chart.yaml".to_owned(), b"apiVersion: v2\nname: c\nversion: 1.0.0\n".to_vec()),
            ("b.bin".to_owned(), BYTES.to_vec()),
            ("templates/_h.tpl".to_owned(), b"{{ define \"h\" }}<{{ . }}>{{ end }}".to_vec()),
            ("templates/x.yaml".to_owned(), piece.clone()),
        ];
        let told: Vec<_> =
            files.iter().map(|(name, data)| json!({"Name": name, "Data": STANDARD.encode(data)})).collect();
        let answer = judge.ask(&json!({"op": "template.exec", "files": told, "values": ""}));
        let helm =
            answer.map(|files| STANDARD.decode(files["c/templates/x.yaml"].as_str().unwrap()).unwrap());
        let chart = chart::load_files(files, &chart::Limits::default()).unwrap();
        let values = coalesce(&chart, &tera::Value::from(tera::Map::new())).unwrap();
        let ours = render::Program::new(&chart).and_then(|program| {
            let inputs = render::Inputs::offline(values, render::Release::install("rel", "ns"));
            Ok(program.render(&inputs)?.files[0].data.clone())
        });
        // Errors come here through JSON, which replaces what is not UTF-8.
        let plain = |text: String| text.replace(['\u{FFFD}', '\0'], "");
        let (ours, helm) = (ours.map_err(|error| plain(error.to_string())), helm.map_err(plain));
        if ours != helm {
            let shown = |outcome: &Result<Vec<u8>, String>| match outcome {
                Ok(data) => format!("ok {}", data.escape_ascii()),
                Err(text) => format!("error {text}"),
            };
            wrong.push(format!("{}\n  helm {}\n  ours {}", piece.escape_ascii(), shown(&helm), shown(&ours)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

proptest! {
    #![proptest_config(judge::cases(1000))]

    #[test]
    fn expressions(bytes in choices(120)) {
        check(vec![("templates/x.yaml".to_owned(), Generator::new(&bytes).expression())]);
    }

    #[test]
    fn charts(bytes in choices(500)) {
        check(Generator::new(&bytes).chart());
    }

    #[test]
    fn texts_for_tpl(bytes in choices(200)) {
        check(vec![("templates/x.yaml".to_owned(), Generator::new(&bytes).tpl())]);
    }
}
