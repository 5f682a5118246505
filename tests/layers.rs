//! The modules of the library are layers: each uses only those below it.
#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use std::{fs, path::Path};

/// From the highest layer to the lowest. Two layers that share a line do not know each other.
const LAYERS: &[&[&str]] = &[
    &["cli"],
    &["controller"],
    &["release"],
    &["api"],
    &["registry"],
    &["manifest"],
    &["convert"],
    &["render"],
    &["functions", "gotemplate"],
    &["values"],
    &["chart"],
    &["value"],
    &["yaml", "threads"],
];

/// Only these layers may use tokio: everything below is pure and runs without a runtime.
const ASYNC: &[&str] = &["registry", "release", "controller", "cli"];

fn sources(dir: &Path, into: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, into);
        } else if path.extension().is_some_and(|e| e == "rs") {
            into.push((path.display().to_string(), fs::read_to_string(&path).unwrap()));
        }
    }
}

fn rank(layer: &str) -> usize {
    LAYERS.iter().position(|line| line.contains(&layer)).unwrap_or_else(|| panic!("unknown layer {layer}"))
}

/// The layers that a source names: `crate::x`, and every `x` of `crate::{x::…, y}`.
fn named(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices("crate::") {
        let rest = &text[at + "crate::".len()..];
        let ident = |s: &str| s.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
        if let Some(group) = rest.strip_prefix('{') {
            let mut depth = 0;
            let mut item = String::new();
            for c in group.chars() {
                match c {
                    '{' => depth += 1,
                    '}' if depth == 0 => break,
                    '}' => depth -= 1,
                    ',' if depth == 0 => {
                        found.push(ident(item.trim_start()));
                        item.clear();
                        continue;
                    }
                    _ => {}
                }
                if depth == 0 {
                    item.push(c);
                }
            }
            found.push(ident(item.trim_start()));
        } else {
            found.push(ident(rest));
        }
    }
    found.retain(|name| LAYERS.iter().any(|line| line.contains(&name.as_str())));
    found
}

#[test]
fn each_layer_uses_only_those_below_it() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut wrong = Vec::new();
    for layer in LAYERS.iter().copied().flatten().copied() {
        let mut files = Vec::new();
        sources(&src.join(layer), &mut files);
        assert!(!files.is_empty(), "{layer} has no source");
        for (path, text) in files {
            for used in named(&text) {
                if used != layer && rank(&used) <= rank(layer) {
                    wrong.push(format!("{path}: {layer} uses {used}"));
                }
            }
            if !ASYNC.contains(&layer) && text.contains("tokio::") {
                wrong.push(format!("{path}: {layer} uses tokio"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_source_directory_is_a_layer() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for entry in fs::read_dir(src).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            rank(entry.file_name().to_str().unwrap());
        }
    }
}
