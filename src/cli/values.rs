//! The flags that give values, as Helm's commands have them.

use clap::Args;
use tera::Value;

use super::usage::{self, Items};
use crate::values::{self, Sources};

/// Where values come from
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Values")]
pub struct ValueFlags {
    /// A YAML file with values; - is standard input. May be repeated, later ones win
    #[arg(short = 'f', long = "values", value_name = "FILE", value_parser = usage::items)]
    values: Vec<Items>,
    /// Set values: key1=val1,key2=val2. May be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Set values that are strings
    #[arg(long, value_name = "KEY=VALUE")]
    set_string: Vec<String>,
    /// Set values to the contents of files: key1=path1,key2=path2
    #[arg(long, value_name = "KEY=FILE")]
    set_file: Vec<String>,
    /// Set values from JSON: key=json, or a whole object
    #[arg(long, value_name = "KEY=JSON")]
    set_json: Vec<String>,
    /// Set a value to the text as it is
    #[arg(long, value_name = "KEY=VALUE")]
    set_literal: Vec<String>,
}

impl ValueFlags {
    /// The values of all flags, merged.
    pub fn merge(&self) -> Result<Value, values::Error> {
        let sources = Sources {
            files: self.values.iter().flat_map(|items| items.0.clone()).collect(),
            json: self.set_json.clone(),
            set: self.set.clone(),
            strings: self.set_string.clone(),
            set_files: self.set_file.clone(),
            literals: self.set_literal.clone(),
        };
        sources.merge(read)
    }
}

/// The content of a file, in the words of Go when there is none.
fn read(path: &str) -> Result<Vec<u8>, String> {
    use std::io::Read as _;
    if path.trim() == "-" {
        let mut data = Vec::new();
        std::io::stdin().read_to_end(&mut data).map_err(|error| error.to_string())?;
        return Ok(data);
    }
    if let Some((scheme, _)) = path.split_once("://")
        && ["http", "https", "oci"].contains(&scheme.to_ascii_lowercase().as_str())
    {
        return Err(format!("{path} is not on this machine; values are not fetched here"));
    }
    std::fs::read(path).map_err(|error| {
        let operation = if error.kind() == std::io::ErrorKind::IsADirectory { "read" } else { "open" };
        format!("{operation} {path}: {}", reason(&error))
    })
}

/// What Go says for an error of the operating system.
pub fn reason(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => "no such file or directory".to_owned(),
        std::io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        std::io::ErrorKind::IsADirectory => "is a directory".to_owned(),
        std::io::ErrorKind::NotADirectory => "not a directory".to_owned(),
        _ => error.to_string(),
    }
}
