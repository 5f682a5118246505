//! `pintle lint`: what is wrong with a chart, as `helm lint` says it, and what else would surprise in a cluster.

mod address;
mod chartfile;
mod cluster;
mod deprecated;
mod manifests;
mod names;
mod rules;
mod stream;

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use clap::Args;
use tera::Value;

use super::global::Global;
use super::out;
use super::usage;
use super::values::ValueFlags;
use super::warnings;
use crate::chart::{self, Limits};
use crate::render::KubeVersion;
use crate::value::quote::quote;

/// Look for mistakes in charts
///
/// Prints what helm lint prints, and goes on to standard error with what else would surprise in a cluster.
#[derive(Args)]
pub struct Lint {
    /// The charts: folders or archives
    #[arg(value_name = "PATH", num_args = 0..)]
    paths: Vec<String>,
    /// Fail on warnings too
    #[arg(long)]
    strict: bool,
    /// Lint the charts in charts/ too
    #[arg(long)]
    with_subcharts: bool,
    /// Print warnings and errors only
    #[arg(long)]
    quiet: bool,
    /// Do not hold the values against values.schema.json
    #[arg(long)]
    skip_schema_validation: bool,
    /// The version of Kubernetes for which to lint
    #[arg(long, value_name = "VERSION")]
    kube_version: Option<String>,
    /// The release's namespace; without it that of the kubeconfig's context
    #[arg(short, long, env = "HELM_NAMESPACE")]
    namespace: Option<String>,
    #[command(flatten)]
    values: ValueFlags,
    /// Log the schemas that the values are held against
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", hide_short_help = true, value_parser = usage::truth)]
    debug: Option<bool>,
    #[command(flatten)]
    global: Global,
}

const MANIFESTS: &str = concat!(env!("CARGO_CRATE_NAME"), "::manifest");

/// How bad something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Severity {
    Info,
    Warning,
    Error,
}

/// Something that was found.
struct Message {
    severity: Severity,
    /// The file, relative to the chart.
    place: String,
    text: String,
}

impl std::fmt::Display for Message {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let severity = match self.severity {
            Severity::Info => "INFO",
            Severity::Warning => "WARNING",
            Severity::Error => "ERROR",
        };
        write!(f, "[{severity}] {}: {}", self.place, self.text)
    }
}

/// What one chart is linted with, and what was found in it.
struct Linter<'l> {
    /// The chart's folder.
    dir: PathBuf,
    values: &'l Value,
    namespace: &'l str,
    kube_version: Option<&'l KubeVersion>,
    skip_schema_validation: bool,
    messages: Vec<Message>,
    /// What Helm does not look for.
    remarks: Vec<String>,
}

impl Linter<'_> {
    /// Notes what a rule found; says whether it found nothing.
    fn rule<T>(&mut self, severity: Severity, place: &str, found: Result<T, String>) -> Option<T> {
        match found {
            Ok(value) => Some(value),
            Err(text) => {
                self.messages.push(Message { severity, place: place.to_owned(), text });
                None
            }
        }
    }
}

/// What was found in one chart, or why it could not be looked at.
struct Report {
    messages: Vec<Message>,
    remarks: Vec<String>,
    refused: Option<String>,
}

impl Lint {
    /// Lints and prints.
    ///
    /// # Errors
    /// When a chart has errors, or warnings if those count.
    pub fn run(&self) -> Result<()> {
        if self.paths.is_empty() {
            bail!("\"pintle lint\" requires at least 1 argument\n\nUsage:  pintle lint PATH [flags]");
        }
        // Helm does not sort when it lints.
        let debug = self.debug.unwrap_or_else(|| usage::switched_on("HELM_DEBUG"));
        warnings::start(&[MANIFESTS], debug);
        let kube_version = usage::kube_version(self.kube_version.as_deref())?;
        let mut paths = self.paths.clone();
        if self.with_subcharts {
            for path in &self.paths {
                subcharts(&usage::joined(Path::new(path), "charts"), &mut paths);
            }
        }
        self.global.check()?;
        let namespace = self.global.reach.namespace(self.namespace.as_deref());
        let values = self.values.merge()?;

        let worst_let_pass = if self.strict { Severity::Info } else { Severity::Warning };
        let mut failed = 0;
        let mut noisy = false;
        for path in &paths {
            let report = self.one(path, &values, &namespace, kube_version.as_ref());
            let loud =
                report.refused.is_some() || report.messages.iter().any(|m| m.severity > Severity::Info);
            noisy |= loud;
            if self.quiet && !loud {
                continue;
            }
            let mut text = format!("==> Linting {path}\n");
            if let Some(refused) = &report.refused {
                text.push_str(&format!("Error {refused}\n"));
            }
            for message in report.messages.iter().filter(|m| !self.quiet || m.severity > Severity::Info) {
                text.push_str(&format!("{message}\n"));
            }
            let bad = report.messages.iter().any(|m| m.severity > worst_let_pass);
            failed += usize::from(bad || report.refused.is_some());
            text.push('\n');
            out::write(text.as_bytes())?;
            if !self.quiet {
                report.remarks.iter().for_each(|remark| out::complain(&format!("note: {path}: {remark}")));
            }
        }
        let summary = format!("{} chart(s) linted, {failed} chart(s) failed", paths.len());
        if failed > 0 {
            bail!(summary);
        }
        if !self.quiet || noisy {
            out::write(format!("{summary}\n").as_bytes())?;
        }
        Ok(())
    }

    fn one(&self, path: &str, values: &Value, namespace: &str, kube_version: Option<&KubeVersion>) -> Report {
        let refused =
            |text: String| Report { messages: Vec::new(), remarks: Vec::new(), refused: Some(text) };
        let unpacked;
        let dir = if path.ends_with(".tgz") || path.ends_with(".tar.gz") {
            unpacked = match Unpacked::new(path) {
                Ok(unpacked) => unpacked,
                Err(text) => return refused(text),
            };
            unpacked.chart.clone()
        } else {
            PathBuf::from(path)
        };
        let chart_yaml = usage::joined(&dir, "Chart.yaml");
        if let Err(error) = std::fs::metadata(&chart_yaml) {
            let why = super::values::reason(&error);
            return refused(format!(
                "unable to check Chart.yaml file in chart: stat {}: {why}",
                chart_yaml.display()
            ));
        }
        let mut linter = Linter {
            dir: chart::absolute(&dir),
            values,
            namespace,
            kube_version,
            skip_schema_validation: self.skip_schema_validation,
            messages: Vec::new(),
            remarks: Vec::new(),
        };
        chartfile::check(&mut linter);
        rules::values(&mut linter);
        rules::templates(&mut linter);
        rules::dependencies(&mut linter);
        rules::crds(&mut linter);
        Report { messages: linter.messages, remarks: linter.remarks, refused: None }
    }
}

/// Adds the charts under a folder: folders with a Chart.yaml, and archives, in the order of their paths.
fn subcharts(dir: &Path, into: &mut Vec<String>) {
    let Ok(entries) = std::fs::read_dir(dir) else { return };
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        let shown = path.to_string_lossy();
        if path.file_name().is_some_and(|name| name == "Chart.yaml") {
            into.extend(path.parent().map(|parent| parent.to_string_lossy().into_owned()));
        } else if shown.ends_with(".tgz") || shown.ends_with(".tar.gz") {
            into.push(shown.into_owned());
        } else if path.is_dir() && !path.is_symlink() {
            subcharts(&path, into);
        }
    }
}

/// An archive in a folder of its own, which goes with this.
struct Unpacked {
    folder: PathBuf,
    chart: PathBuf,
}

impl Unpacked {
    fn new(path: &str) -> Result<Self, String> {
        let failed = |error: &std::io::Error| format!("open {path}: {}", super::values::reason(error));
        let file =
            std::fs::File::open(path).map_err(|e| format!("unable to open tarball: {}", failed(&e)))?;
        let within = |text: String| format!("unable to extract tarball: {text}");
        let files = chart::unpack_archive(file, &Limits::default()).map_err(|e| within(e.to_string()))?;
        let yaml = files.iter().find(|(name, _)| name == "Chart.yaml");
        let (_, yaml) = yaml.ok_or_else(|| within("chart name not specified".into()))?;
        let raw =
            chart::RawMetadata::read(yaml).map_err(|e| within(format!("cannot load Chart.yaml: {e}")))?;
        if raw.name.is_empty() || raw.name.contains('/') || raw.name.starts_with('.') {
            return Err(within(format!("{} is not a valid chart name", quote(raw.name.as_bytes()))));
        }
        let unique = format!("pintle-lint-{}-{:x}", std::process::id(), rand::random::<u64>());
        let folder = std::env::temp_dir().join(unique);
        let unpacked = Self { chart: folder.join(&raw.name), folder };
        for (name, data) in files {
            let target = unpacked.chart.join(&name);
            let parent = target.parent().unwrap_or(&unpacked.chart).to_owned();
            std::fs::create_dir_all(parent)
                .and_then(|()| std::fs::write(&target, data))
                .map_err(|e| within(e.to_string()))?;
        }
        Ok(unpacked)
    }
}

impl Drop for Unpacked {
    fn drop(&mut self) {
        // What is left in a folder for temporary files does no harm.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
