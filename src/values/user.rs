//! The user's values: files and flags, merged.

use tera::{Map, Value};

use super::Error;
use super::set::{self, Style};
use crate::chart::{load_values, merge_maps};

/// Where a user's values come from, each kind in the order in which it was given.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// `-f`, `--values`: paths.
    pub files: Vec<String>,
    /// `--set-json`: `path=json`, or a whole object.
    pub json: Vec<String>,
    /// `--set`.
    pub set: Vec<String>,
    /// `--set-string`.
    pub strings: Vec<String>,
    /// `--set-file`: `path=file`.
    pub set_files: Vec<String>,
    /// `--set-literal`.
    pub literals: Vec<String>,
}

impl Sources {
    /// Merges all of them, later ones over earlier ones: files, then JSON, then `--set`, strings, files, literals, in
    /// Helm's order whatever that of the command line. `read` gives the content of a file by its path.
    pub fn merge(&self, mut read: impl FnMut(&str) -> Result<Vec<u8>, String>) -> Result<Value, Error> {
        let mut values = Value::from(Map::default());
        for path in &self.files {
            let data = read(path).map_err(Error::new)?;
            let file = load_values(&data).map_err(|e| Error::new(format!("failed to parse {path}: {e}")))?;
            values = merge_maps(values, file);
        }
        for text in &self.json {
            let trimmed = text.trim();
            values = if trimmed.starts_with('{') {
                let object = set::parse_json(trimmed);
                let object = object
                    .ok_or_else(|| Error::new(format!("failed parsing --set-json data JSON: {text}")))?;
                merge_maps(values, object)
            } else {
                set::parse_into(text, Style::Json, values)
                    .map_err(|_| Error::new(format!("failed parsing --set-json data {text}")))?
            };
        }
        let failed =
            |flag: &'static str| move |e: String| Error::new(format!("failed parsing {flag} data: {e}"));
        for text in &self.set {
            values = set::parse_into(text, Style::Typed, values).map_err(failed("--set"))?;
        }
        for text in &self.strings {
            values = set::parse_into(text, Style::Text, values).map_err(failed("--set-string"))?;
        }
        for text in &self.set_files {
            values = set::parse_into(text, Style::File(&mut read), values).map_err(failed("--set-file"))?;
        }
        for text in &self.literals {
            values = set::parse_into(text, Style::Literal, values).map_err(failed("--set-literal"))?;
        }
        Ok(values)
    }
}
