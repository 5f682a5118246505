//! The charts that are rendered.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::{Context as _, Result};
use tempfile::TempDir;

use crate::process::{Programs, Tool};

/// A chart on the disk, with values that it renders with.
#[derive(Clone)]
pub struct Chart {
    /// The name of its folder.
    pub name: String,
    /// Its folder.
    pub path: PathBuf,
    /// A file of values, if the defaults alone do not render.
    pub values: Option<PathBuf>,
    /// The folder that is removed with it.
    _dir: Option<Arc<TempDir>>,
}

/// All charts that helm and we can render.
pub fn all(programs: &Programs) -> Result<Vec<Chart>> {
    let mut found = vec![of_helm_create(programs)?];
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("charts");
    let given = std::env::var_os("PINTLE_CHARTS").map(PathBuf::from);
    for folder in [Some(own), given].into_iter().flatten() {
        below(&folder, &mut found).with_context(|| format!("read {}", folder.display()))?;
    }
    let mut usable = Vec::new();
    for chart in found {
        let name = chart.name.clone();
        match with_values(programs, &chart)? {
            Some(chart) => usable.push(chart),
            None => println!("  {name}: left out, since helm or pintle does not render it by itself"),
        }
    }
    Ok(usable)
}

fn of_helm_create(programs: &Programs) -> Result<Chart> {
    let dir = tempfile::tempdir()?;
    let path = dir.path().join("created");
    programs.create(&path)?;
    Ok(Chart { name: "helm create".into(), path, values: None, _dir: Some(Arc::new(dir)) })
}

/// The charts of a folder, however deep, but not the charts within charts.
fn below(folder: &Path, into: &mut Vec<Chart>) -> Result<()> {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    paths.sort();
    for path in paths.into_iter().filter(|path| path.is_dir()) {
        if path.join("Chart.yaml").is_file() {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            into.push(Chart { name, path, values: None, _dir: None });
        } else {
            below(&path, into)?;
        }
    }
    Ok(())
}

/// The chart with the first values that both programs render it with.
fn with_values(programs: &Programs, chart: &Chart) -> Result<Option<Chart>> {
    let mut ci: Vec<PathBuf> = match fs::read_dir(chart.path.join("ci")) {
        Ok(entries) => entries.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?,
        Err(_) => Vec::new(),
    };
    ci.retain(|path| path.to_string_lossy().ends_with("values.yaml"));
    ci.sort();
    for values in std::iter::once(None).chain(ci.into_iter().map(Some)) {
        let chart = Chart { values, ..chart.clone() };
        if programs.renders(Tool::Helm, &chart)? && programs.renders(Tool::Pintle, &chart)? {
            return Ok(Some(chart));
        }
    }
    Ok(None)
}
