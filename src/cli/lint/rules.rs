//! Rules for a chart's values, templates, dependencies and CRDs.

use std::collections::BTreeSet;
use std::sync::Arc;

use tera::Value;

use super::{Linter, Severity, cluster, manifests, stream};
use crate::chart::{self, Chart, Limits};
use crate::render::{Capabilities, Inputs, Program, Release};
use crate::values::{Schemas, coalesce, merge_over, process_dependencies, schema};
use crate::yaml;

type Found = Result<(), String>;

/// values.yaml: that it is there, and fits the schema with the user's values over it.
pub(super) fn values(linter: &mut Linter<'_>) {
    const FILE: &str = "values.yaml";
    let path = linter.dir.join(FILE);
    if std::fs::metadata(&path).is_err() {
        linter.rule::<()>(Severity::Info, FILE, Err("file does not exist".into()));
        return;
    }
    let found = values_fit(linter, &path);
    linter.rule(Severity::Error, FILE, found);
}

fn values_fit(linter: &Linter<'_>, path: &std::path::Path) -> Found {
    let unreadable = |why: String| format!("unable to parse YAML: {why}");
    let data = std::fs::read(path).map_err(|error| {
        let operation = if path.is_dir() { "read" } else { "open" };
        let why = super::super::values::reason(&error);
        unreadable(format!("{operation} {}: {why}", path.display()))
    })?;
    let options = yaml::Options { target: yaml::Target::Map, ..Default::default() };
    let values = yaml::parse_with(&data, &options).map_err(|e| {
        unreadable(
            e.to_string()
                .replace("Go value of type map[string]interface {}", "Go value of type common.Values"),
        )
    })?;
    let values = merge_over(linter.values, &values);
    let Ok(schema) = std::fs::read(path.with_extension("schema.json")) else { return Ok(()) };
    if schema.is_empty() || linter.skip_schema_validation {
        return Ok(());
    }
    schema::validate_one(&schema, &values)
}

/// The folder templates/, and what comes out of it.
pub(super) fn templates(linter: &mut Linter<'_>) {
    const FOLDER: &str = "templates/";
    let path = linter.dir.join(FOLDER);
    match std::fs::metadata(&path) {
        Err(_) => {
            linter.rule::<()>(Severity::Warning, FOLDER, Err("directory does not exist".into()));
            return;
        }
        Ok(meta) if !meta.is_dir() => {
            linter.rule::<()>(Severity::Error, FOLDER, Err("not a directory".into()));
            return;
        }
        Ok(_) => {}
    }
    let loaded = chart::load_any_version(&linter.dir, &Limits::default()).map_err(|e| e.to_string());
    let Some(chart) = linter.rule(Severity::Error, FOLDER, loaded) else { return };
    // Helm says nothing of dependencies and values that do not go together.
    let Ok(chart) = process_dependencies(&chart, linter.values) else { return };
    let Ok(values) = coalesce(&chart, linter.values) else { return };
    let rendered = coalesce(&chart, &values)
        .map_err(|e| e.to_string())
        .and_then(|values| {
            if !linter.skip_schema_validation {
                Schemas::default().validate(&chart, &values).map_err(|e| e.to_string())?;
            }
            Ok(values)
        })
        .and_then(|values| render(linter, &chart, values));
    let Some(rendered) = linter.rule(Severity::Error, FOLDER, rendered) else { return };

    for template in chart.templates.iter() {
        let name = &*template.name;
        linter.rule(Severity::Error, name, extension(name));
        let lower = name.to_lowercase();
        if !(lower.ends_with(".yaml") || lower.ends_with(".yml")) {
            continue;
        }
        let full = format!("{}/{name}", chart.name());
        let Some(file) = rendered.files.iter().find(|file| *file.name == *full) else { continue };
        if !file.text().trim().is_empty() && !manifests::check(linter, name, &file.data) {
            return;
        }
    }
    cluster::remark(linter, &rendered);
}

fn render(linter: &Linter<'_>, chart: &Chart, values: Value) -> Result<crate::render::Rendered, String> {
    let mut capabilities = Capabilities::default();
    if let Some(version) = linter.kube_version {
        capabilities.kube_version = version.clone();
    }
    let release = Release {
        name: "test-release".into(),
        namespace: linter.namespace.into(),
        revision: 0,
        is_install: false,
        is_upgrade: false,
    };
    let inputs = Inputs { capabilities: Arc::new(capabilities), ..Inputs::offline(values, release) };
    let program = Program::new(chart).map_err(|e| e.to_string())?;
    program.lint(&inputs).map_err(|e| e.to_string())
}

/// Helm's extensions, and that of Tera templates.
fn extension(name: &str) -> Found {
    let base = name.rsplit('/').next().unwrap_or(name);
    let extension = base.rfind('.').map_or("", |at| &base[at..]);
    if [".yaml", ".yml", ".tpl", ".txt", ".tera"].contains(&extension) {
        return Ok(());
    }
    Err(format!("file extension '{extension}' not valid. Valid extensions are .yaml, .yml, .tpl, or .txt"))
}

/// Chart.yaml's dependencies against the charts in charts/.
pub(super) fn dependencies(linter: &mut Linter<'_>) {
    let loaded = chart::load_any_version(&linter.dir, &Limits::default());
    let loaded = loaded.map_err(|e| format!("unable to load chart\n\t{e}"));
    let Some(chart) = linter.rule(Severity::Error, "", loaded) else { return };
    let place = linter.dir.display().to_string();
    let named: BTreeSet<&str> = chart.metadata.dependencies().iter().map(|d| d.name.as_str()).collect();
    let present: BTreeSet<&str> = chart.dependencies.iter().map(Chart::name).collect();
    let listed = |what: &str, missing: Vec<&str>| {
        if missing.is_empty() { Ok(()) } else { Err(format!("{what} {}", missing.join(","))) }
    };
    let unnamed = chart.dependencies.iter().map(Chart::name).filter(|name| !named.contains(name)).collect();
    linter.rule(Severity::Error, &place, listed("chart metadata is missing these dependencies:", unnamed));
    let absent = chart.metadata.dependencies().iter().map(|d| d.name.as_str());
    let absent = absent.filter(|name| !present.contains(name)).collect();
    linter.rule(Severity::Warning, &place, listed("chart directory is missing these dependencies:", absent));
}

/// The folder crds/: that all in it are CRDs.
pub(super) fn crds(linter: &mut Linter<'_>) {
    const FOLDER: &str = "crds/";
    let path = linter.dir.join("crds");
    match std::fs::metadata(&path) {
        Err(_) => return,
        Ok(meta) if !meta.is_dir() => {
            linter.rule::<()>(Severity::Error, FOLDER, Err("not a directory".into()));
            return;
        }
        Ok(_) => {}
    }
    let loaded = chart::load_any_version(&linter.dir, &Limits::default()).map_err(|e| e.to_string());
    let Some(chart) = linter.rule(Severity::Error, FOLDER, loaded) else { return };
    for crd in chart.crds() {
        let place = &*crd.file.name;
        for head in stream::heads(&crd.file.data) {
            let head = head.map_err(|e| format!("unable to parse YAML: {e}"));
            let Some(head) = linter.rule(Severity::Error, place, head) else { return };
            let Some(head) = head else { continue };
            let group = head.api_version.starts_with("apiextensions.k8s.io");
            let group =
                group.then_some(()).ok_or_else(|| "apiVersion is not in 'apiextensions.k8s.io'".to_owned());
            linter.rule(Severity::Error, place, group);
            let kind = head.kind == "CustomResourceDefinition";
            let kind =
                kind.then_some(()).ok_or_else(|| "object kind is not 'CustomResourceDefinition'".to_owned());
            linter.rule(Severity::Error, place, kind);
        }
    }
}
