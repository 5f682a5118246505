//! Charts: what a folder or an archive holds, read as Helm reads it.
//!
//! [`load`] takes a folder or a `.tgz`, [`load_archive`] any reader of one, [`load_files`] a list of files. All give
//! a [`Chart`] with its subcharts, or the error that Helm would give. Nothing is rendered or merged here.

mod archive;
mod content;
mod decode;
mod digest;
mod error;
mod files;
mod folder;
mod ignore;
mod metadata;
mod pattern;
mod read;
pub mod semver;
mod text;
mod unread;
mod usable;
mod values;

use std::path::Path;
use std::sync::Arc;

use tera::Value;

pub use archive::{load_archive, unpack_archive};
pub use content::Content;
pub(crate) use decode::Decoder;
pub use digest::Digest;
pub use error::Error;
pub use files::load_files;
pub use folder::{absolute, load_any_version, read_folder};
pub use ignore::Rules;
pub use metadata::{Dependency, Lock, Maintainer, Metadata, RawMetadata};
pub use pattern::{BadPattern, matches};
pub use unread::Unread;
pub use values::{load_values, merge_maps};

/// What a chart may cost to load. One past a limit is an error, never a truncated chart.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Bytes of all files of one folder or one archive, decompressed. Helm's own limit is the default, 100 MiB.
    pub chart_bytes: u64,
    /// Bytes of all files, those of nested archives counted too.
    pub total_bytes: u64,
    /// Entries of a folder or an archive, nested archives counted too.
    pub entries: usize,
    /// How deep charts may be nested in charts.
    pub depth: usize,
    /// Whether a symbolic link in a chart folder may lead out of it. Helm follows such links and logs them.
    pub links_outside: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            chart_bytes: 100 << 20,
            total_bytes: 400 << 20,
            entries: 100_000,
            depth: 64,
            links_outside: true,
        }
    }
}

/// One file of a chart.
#[derive(Clone, PartialEq, Eq)]
pub struct File {
    /// The path inside its chart, with `/`.
    pub name: Arc<str>,
    /// The content, without a leading UTF-8 byte order mark. It need not be UTF-8.
    pub data: Content,
}

impl File {
    /// The content as text, with what is not UTF-8 replaced.
    pub fn text(&self) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(&self.data)
    }
}

impl std::fmt::Debug for File {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({} bytes)", self.name, self.data.len())
    }
}

/// A chart with its subcharts. Cheap to clone: files and default values are shared.
#[derive(Clone, Debug)]
pub struct Chart {
    /// Chart.yaml, and requirements.yaml of a chart of API version 1.
    pub metadata: Metadata,
    /// Chart.lock, or requirements.lock.
    pub lock: Option<Lock>,
    /// The default values: a map, empty when there is no values.yaml. Numbers are float64, as Helm's.
    pub values: Value,
    /// values.yaml as it was written.
    pub values_yaml: Option<File>,
    /// values.schema.json.
    pub schema: Option<Content>,
    /// The files under `templates/`, in the order in which they were read.
    pub templates: Arc<[File]>,
    /// All other files that are neither templates nor subcharts: what `.Files` shows, and `crds/`.
    pub files: Arc<[File]>,
    /// Files of the same kind that [`load_lazily`] left where they are: they are not among [`Self::files`].
    pub unread: Arc<[Unread]>,
    /// The charts under `charts/`, in the order of their file names.
    pub dependencies: Vec<Chart>,
    /// The chart's identity, files that were left unread aside.
    pub digest: Digest,
}

/// A file of `crds/`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Crd {
    /// The path that Helm prints: that of the chart in its parents, then that of the file.
    pub path: String,
    /// The file.
    pub file: File,
}

impl Chart {
    /// The name by which the chart goes: its alias, once dependencies are processed.
    pub fn name(&self) -> &str {
        &self.metadata.name
    }

    /// Whether the chart only lends its definitions.
    pub fn is_library(&self) -> bool {
        self.metadata.chart_type.eq_ignore_ascii_case("library")
    }

    /// Whether the chart, or one of its subcharts, has a values.schema.json.
    pub fn has_schema(&self) -> bool {
        self.schema.is_some() || self.dependencies.iter().any(Self::has_schema)
    }

    /// Lets go of the templates of the whole tree.
    pub fn drop_templates(&mut self) {
        self.templates = Arc::default();
        self.dependencies.iter_mut().for_each(Self::drop_templates);
    }

    /// The CRDs of the chart, then those of its subcharts, in Helm's order; without those that were left unread.
    pub fn crds(&self) -> Vec<Crd> {
        fn collect(chart: &Chart, path: &str, into: &mut Vec<Crd>) {
            let manifest = |name: &str| {
                let base = name.rsplit('/').next().unwrap_or(name);
                base.rsplit_once('.').is_some_and(|(_, extension)| {
                    ["yaml", "yml", "json"].iter().any(|e| extension.eq_ignore_ascii_case(e))
                })
            };
            for file in chart.files.iter().filter(|f| f.name.starts_with("crds/") && manifest(&f.name)) {
                into.push(Crd { path: format!("{path}/{}", file.name), file: file.clone() });
            }
            for sub in &chart.dependencies {
                collect(sub, &format!("{path}/charts/{}", sub.name()), into);
            }
        }
        let mut found = Vec::new();
        collect(self, self.name(), &mut found);
        found
    }
}

/// Loads the chart at `path`: a folder, or a gzipped tar archive.
///
/// Errors are Helm's own, word for word, where Helm has one.
pub fn load(path: &Path, limits: &Limits) -> Result<Chart, Error> {
    load_some(path, limits, false)
}

/// The same for a render that nothing comes after: of a folder, files that only `.Files` shows are left unread until a template
/// asks for them, which most never do. CRDs are among them.
///
/// # Errors
/// As [`load`]; files that cannot be opened are among them.
pub fn load_lazily(path: &Path, limits: &Limits) -> Result<Chart, Error> {
    load_some(path, limits, true)
}

fn load_some(path: &Path, limits: &Limits, lazily: bool) -> Result<Chart, Error> {
    let meta = std::fs::metadata(path).map_err(|e| Error::io("stat", path, &e))?;
    if meta.is_dir() { folder::load(path, limits, lazily) } else { archive::load(path, limits) }
}
