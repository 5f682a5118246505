//! Charts in folders.

use std::fs::{self, FileType};
use std::path::{Path, PathBuf};

use super::decode;
use super::error::Error;
use super::files::{self, Raw};
use super::ignore::Rules;
use super::read::{Found, read_all};
use super::{Chart, Limits};

/// Loads the chart in `folder`, leaving out what its .helmignore names, following symbolic links.
/// `lazily` is as [`super::load_lazily`] says.
pub(super) fn load(folder: &Path, limits: &Limits, lazily: bool) -> Result<Chart, Error> {
    let chart_yaml = absolute(folder).join("Chart.yaml");
    let data = fs::read(&chart_yaml).map_err(|e| {
        Error::read(&chart_yaml, &e).within(&format!("unable to detect chart at {}", chart_yaml.display()))
    })?;
    decode::check_api_version(&data)?;
    files::assemble(walk(folder, limits, lazily)?, &mut files::Budget::new(limits))
}

/// Loads the chart in a folder whatever API version it claims, as Helm's linter does.
pub fn load_any_version(folder: &Path, limits: &Limits) -> Result<Chart, Error> {
    files::assemble(walk(folder, limits, false)?, &mut files::Budget::new(limits))
}

/// The files of the chart in a folder, those of its subcharts too: their paths inside the chart, and their contents. What
/// .helmignore names is left out.
pub fn read_folder(folder: &Path, limits: &Limits) -> Result<Vec<(String, Vec<u8>)>, Error> {
    Ok(walk(folder, limits, false)?.into_iter().map(|file| (file.name, file.data)).collect())
}

fn walk(folder: &Path, limits: &Limits, lazily: bool) -> Result<Vec<Raw>, Error> {
    let top = absolute(folder);
    let ignore = top.join(".helmignore");
    let ignore = match fs::read(&ignore) {
        Ok(data) => Some(data),
        Err(e) if fs::metadata(&ignore).is_ok() => return Err(Error::read(&ignore, &e)),
        Err(_) => None,
    };
    let mut walk = Walk {
        real_top: fs::canonicalize(&top).map_err(|e| Error::io("lstat", &top, &e))?,
        rules: Rules::parse(ignore.as_deref())?,
        limits,
        entries: 0,
        files: Vec::new(),
    };
    let walked = walk.children(&top, "");
    // A file that cannot be read comes before whatever is wrong further on.
    let files = read_all(walk.files, limits.chart_bytes, lazily)?;
    walked?;
    Ok(files)
}

/// The absolute form of a path, `.` and `..` resolved by the text alone, as Go's `filepath.Abs`.
pub fn absolute(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in std::path::absolute(path).as_deref().unwrap_or(path).components() {
        match part {
            std::path::Component::CurDir => {}
            std::path::Component::ParentDir => {
                out.pop();
            }
            part => out.push(part),
        }
    }
    out
}

/// Where a path leads, every link in it followed; Go's `filepath.EvalSymlinks`.
fn resolve(path: &Path) -> Result<PathBuf, Error> {
    if let Ok(resolved) = fs::canonicalize(path) {
        return Ok(resolved);
    }
    // Go names the first part that is not there.
    let mut resolved = PathBuf::new();
    let mut rest: Vec<_> = path.components().map(|part| PathBuf::from(part.as_os_str())).rev().collect();
    let mut links = 0;
    while let Some(part) = rest.pop() {
        if part.as_os_str() == ".." {
            resolved.pop();
            continue;
        }
        let next = resolved.join(&part);
        let meta = fs::symlink_metadata(&next).map_err(|e| Error::io("lstat", &next, &e))?;
        if meta.is_symlink() {
            links += 1;
            if links > 255 {
                return Err(Error::new("EvalSymlinks: too many links"));
            }
            let target = fs::read_link(&next).map_err(|e| Error::io("readlink", &next, &e))?;
            rest.extend(target.components().map(|part| PathBuf::from(part.as_os_str())).rev());
        } else {
            resolved = next;
        }
    }
    Ok(resolved)
}

struct Walk<'a> {
    real_top: PathBuf,
    rules: Rules,
    limits: &'a Limits,
    entries: usize,
    files: Vec<Found>,
}

impl Walk<'_> {
    /// Walks the entries of a folder in the order of their names.
    fn children(&mut self, folder: &Path, relative: &str) -> Result<(), Error> {
        let mut entries = Vec::new();
        for entry in fs::read_dir(folder).map_err(|e| Error::io("open", folder, &e))? {
            let entry = entry.map_err(|e| Error::io("readdirent", folder, &e))?;
            let kind = entry.file_type().map_err(|e| Error::io("lstat", &entry.path(), &e))?;
            entries.push((entry.file_name(), kind));
        }
        entries.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        for (name, kind) in entries {
            self.entries += 1;
            if self.entries > self.limits.entries {
                return Err(Error::new(format!(
                    "chart has more than the maximum of {} files and folders",
                    self.limits.entries
                )));
            }
            let shown = name.to_string_lossy();
            let inner = if relative.is_empty() { shown.into_owned() } else { format!("{relative}/{shown}") };
            self.entry(folder.join(&name), inner, kind)?;
        }
        Ok(())
    }

    fn entry(&mut self, path: PathBuf, relative: String, kind: FileType) -> Result<(), Error> {
        let mut kind = kind;
        if kind.is_symlink() {
            let resolved = resolve(&path)
                .map_err(|e| e.within(&format!("error evaluating symlink {}", path.display())))?;
            if !self.limits.links_outside && !resolved.starts_with(&self.real_top) {
                return Err(Error::new(format!("symbolic link {relative} leads out of the chart")));
            }
            tracing::info!(
                path = %path.display(),
                resolved = %resolved.display(),
                "found symbolic link in path. Contents of linked file included and used"
            );
            let meta = fs::symlink_metadata(&resolved).map_err(|e| Error::io("lstat", &resolved, &e))?;
            kind = meta.file_type();
        }
        if self.rules.ignores(&relative, kind.is_dir()) {
            return Ok(());
        }
        if kind.is_dir() {
            return self.children(&path, &relative);
        }
        if !kind.is_file() {
            return Err(Error::new(format!(
                "cannot load irregular file {} as it has file mode type bits set",
                path.display()
            )));
        }
        self.files.push(Found { path, name: relative });
        Ok(())
    }
}
