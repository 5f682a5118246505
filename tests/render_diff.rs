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
