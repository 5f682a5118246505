//! The documents of a file as Helm's linter reads them: a stream of JSON where it begins as one, else YAML.

use super::manifests::{Head, json_head, yaml_head};
use crate::functions::{First, first_value};
use crate::yaml;

/// How far into a file Kubernetes' reader looks for the brace with which JSON begins.
const PEEK: usize = 4096;

/// The heads of the documents of a file, `None` for empty ones, up to the first that is none.
pub(super) fn heads(text: &[u8]) -> impl Iterator<Item = Result<Option<Head>, String>> {
    let begin = &text[..text.len().min(PEEK)];
    let json = String::from_utf8_lossy(begin).trim_start().starts_with('{');
    let mut heads = Heads { text, at: 0, count: 0, json, yaml: None, first: None };
    std::iter::from_fn(move || heads.next())
}

struct Heads<'t> {
    text: &'t [u8],
    at: usize,
    /// How many values were JSON.
    count: usize,
    /// Whether JSON is tried.
    json: bool,
    yaml: Option<yaml::Documents<'t>>,
    /// What was wrong with the JSON, until the next document is read. It is told where that is no YAML either.
    first: Option<String>,
}

impl Heads<'_> {
    fn next(&mut self) -> Option<Result<Option<Head>, String>> {
        if self.json {
            let rest = &self.text[self.at..];
            let wrong = match first_value(rest) {
                First::Nothing => return None,
                First::Value(value, length) => match json_head(&value) {
                    Ok(head) => {
                        self.at += length;
                        self.count += 1;
                        return Some(Ok(head));
                    }
                    Err(text) => text,
                },
                First::Cut => "unexpected EOF".to_owned(),
                First::Broken(_, text) if self.count > 1 => text,
                First::Broken(at, text) => format!("json: offset {}: {text}", self.at + at + 1),
            };
            self.json = false;
            // More than one value of JSON, and the stream is JSON to its end. So is what has no room for YAML.
            let rest = (self.count <= 1).then(|| after_line(&self.text[self.at..])).flatten();
            let Some(rest) = rest else {
                self.yaml = Some(yaml::documents(&[]));
                return Some(Err(wrong));
            };
            self.first = Some(wrong);
            self.yaml = Some(yaml::documents(rest));
        }
        let document = self.yaml.get_or_insert_with(|| yaml::documents(self.text)).next()?;
        let first = self.first.take();
        let head = document.map_err(|error| error.to_string()).and_then(|document| yaml_head(&document));
        Some(head.map_err(|text| {
            self.yaml = Some(yaml::documents(&[]));
            first.unwrap_or(text)
        }))
    }
}

/// What follows white space up to the end of a line; none where fewer than four bytes are left.
fn after_line(mut text: &[u8]) -> Option<&[u8]> {
    while text.len() >= 4 {
        let first = text[..4].utf8_chunks().next()?.valid().chars().next()?;
        if !first.is_whitespace() {
            return Some(text);
        }
        text = &text[first.len_utf8()..];
        if first == '\n' {
            return Some(text);
        }
    }
    None
}
