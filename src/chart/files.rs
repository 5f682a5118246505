//! From a list of files to a chart, whatever they were read from.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::error::Error;
use super::metadata::{self, Lock};
use super::values::load_values;
use super::{Chart, Content, File, Limits, Unread, archive, decode, digest};

/// A file as it was read: its path inside the chart at hand, and its content.
pub(super) struct Raw {
    pub(super) name: String,
    pub(super) data: Vec<u8>,
    /// The values in it, if they were read already.
    values: Option<Result<tera::Value, String>>,
    /// Where the content is, if it was not read.
    unread: Option<PathBuf>,
}

impl Raw {
    /// A byte order mark is no part of the content.
    pub(super) fn new(name: String, mut data: Vec<u8>) -> Self {
        drop_byte_order_mark(&mut data);
        Self { name, data, values: None, unread: None }
    }

    /// A file that is left where it is.
    pub(super) fn unread(name: String, path: PathBuf) -> Self {
        Self { name, data: Vec::new(), values: None, unread: Some(path) }
    }

    /// Reads the values in it before anybody asks for them.
    pub(super) fn read_values(&mut self) {
        self.values = Some(load_values(&self.data));
    }

    fn into_file(self) -> File {
        File { name: self.name.into(), data: self.data.into() }
    }
}

pub(super) fn drop_byte_order_mark(data: &mut Vec<u8>) {
    if data.starts_with(b"\xef\xbb\xbf") {
        data.drain(..3);
    }
}

/// What a chart with all its nested ones may still cost.
pub(super) struct Budget<'a> {
    pub(super) limits: &'a Limits,
    pub(super) bytes: u64,
    pub(super) entries: usize,
    pub(super) depth: usize,
}

impl<'a> Budget<'a> {
    pub(super) fn new(limits: &'a Limits) -> Self {
        Self { limits, bytes: limits.total_bytes, entries: limits.entries, depth: limits.depth }
    }
}

/// Makes a chart of files in memory, each a path inside the chart and its content.
pub fn load_files(
    files: impl IntoIterator<Item = (String, Vec<u8>)>,
    limits: &Limits,
) -> Result<Chart, Error> {
    let files = files.into_iter().map(|(name, data)| Raw::new(name, data)).collect();
    assemble(files, &mut Budget::new(limits))
}

/// Sorts files by what they are to a chart, and loads its subcharts.
pub(super) fn assemble(files: Vec<Raw>, budget: &mut Budget<'_>) -> Result<Chart, Error> {
    let mut raw_metadata = None;
    for file in files.iter().filter(|f| f.name == "Chart.yaml") {
        let raw = raw_metadata.get_or_insert_with(metadata::RawMetadata::default);
        decode::metadata(&file.data, raw).map_err(|e| Error::new(format!("cannot load Chart.yaml: {e}")))?;
        if raw.api_version.is_empty() {
            raw.api_version = "v1".into();
        }
    }

    let mut lock = None;
    let mut values = None;
    let mut values_yaml = None;
    let mut schema = None;
    let mut templates = Vec::new();
    let mut others = Vec::new();
    let mut subcharts: BTreeMap<String, Vec<Raw>> = BTreeMap::new();
    for mut file in files {
        match file.name.as_str() {
            "Chart.yaml" => others.push((false, file)),
            "Chart.lock" => {
                lock = Some(read_lock(&file)?);
                others.push((false, file));
            }
            "values.yaml" => {
                let read = file.values.take().unwrap_or_else(|| load_values(&file.data));
                values = Some(read.map_err(|e| Error::new(format!("cannot load values.yaml: {e}")))?);
                values_yaml = Some(file.into_file());
            }
            "values.schema.json" => schema = Some(Content::from(file.data)),
            "requirements.yaml" => {
                let raw = raw_metadata.get_or_insert_with(metadata::RawMetadata::default);
                let v1 = raw.api_version == "v1";
                if !v1 {
                    tracing::info!(
                        "Warning: Dependencies are handled in Chart.yaml since apiVersion \"v2\". We recommend migrating dependencies to Chart.yaml."
                    );
                }
                decode::metadata(&file.data, raw)
                    .map_err(|e| Error::new(format!("cannot load requirements.yaml: {e}")))?;
                let shown = raw.api_version == "v1";
                others.push((shown, file));
            }
            "requirements.lock" => {
                lock = Some(read_lock(&file)?);
                let raw = raw_metadata.get_or_insert_with(metadata::RawMetadata::default);
                let v1 = raw.api_version == "v1";
                if !v1 {
                    tracing::info!(
                        "Warning: Dependency locking is handled in Chart.lock since apiVersion \"v2\". We recommend migrating to Chart.lock."
                    );
                }
                others.push((v1, file));
            }
            name if name.starts_with("templates/") => templates.push(file.into_file()),
            name if name.starts_with("charts/") => {
                let base = name.rsplit('/').next().unwrap_or(name);
                if base.ends_with(".prov") {
                    others.push((true, file));
                } else {
                    let name = name["charts/".len()..].to_owned();
                    let chart = name.split('/').next().unwrap_or(&name).to_owned();
                    subcharts.entry(chart).or_default().push(Raw { name, ..file });
                }
            }
            _ => others.push((true, file)),
        }
    }

    let metadata = raw_metadata.ok_or_else(|| Error::new("Chart.yaml file is missing"))?.validate()?;
    let dependencies = load_subcharts(subcharts, &metadata.name, budget)?;

    let mut hash = digest::Parts::default();
    let (mut visible, mut unread) = (Vec::new(), Vec::new());
    for (shown, file) in others {
        if let Some(path) = file.unread {
            unread.push(Unread { name: file.name.into(), path });
            continue;
        }
        let file = file.into_file();
        hash.file(&file.name, &file.data);
        if shown {
            visible.push(file);
        }
    }
    for file in templates.iter().chain(&values_yaml) {
        hash.file(&file.name, &file.data);
    }
    if let Some(schema) = &schema {
        hash.file(&"values.schema.json".into(), schema);
    }
    for sub in &dependencies {
        hash.chart(&sub.metadata.name, &sub.digest);
    }

    Ok(Chart {
        metadata,
        lock,
        values: values.unwrap_or_else(|| tera::Value::from(tera::Map::default())),
        values_yaml,
        schema,
        templates: templates.into(),
        files: visible.into(),
        unread: unread.into(),
        dependencies,
        digest: hash.finish(),
    })
}

fn read_lock(file: &Raw) -> Result<Lock, Error> {
    decode::lock(&file.data).map_err(|e| Error::new(format!("cannot load {}: {e}", file.name)))
}

/// Loads what `charts/` holds: folders and archives, without those whose names begin with `_` or `.`.
fn load_subcharts(
    subcharts: BTreeMap<String, Vec<Raw>>,
    parent: &str,
    budget: &mut Budget<'_>,
) -> Result<Vec<Chart>, Error> {
    let mut loaded = Vec::new();
    for (name, files) in subcharts {
        if name.starts_with(['_', '.']) {
            continue;
        }
        if budget.depth == 0 {
            return Err(Error::new(format!(
                "charts are nested deeper than the maximum of {}",
                budget.limits.depth
            )));
        }
        budget.depth -= 1;
        let chart = if name.ends_with(".tgz") {
            let mut files = files;
            let file = files.swap_remove(0);
            if file.name != name {
                return Err(Error::new(format!(
                    "error unpacking subchart tar in {parent}: expected {name}, got {}",
                    file.name
                )));
            }
            archive::read(&file.data[..], budget).and_then(|files| assemble(files, budget))
        } else {
            let inner = files.into_iter().filter_map(|file| {
                let (_, inner) = file.name.split_once('/')?;
                Some(Raw { name: inner.to_owned(), ..file })
            });
            assemble(inner.collect(), budget)
        };
        budget.depth += 1;
        loaded.push(chart.map_err(|e| e.within(&format!("error unpacking subchart {name} in {parent}")))?);
    }
    Ok(loaded)
}
