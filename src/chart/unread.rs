//! Files that are left where they are until they are asked for.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use super::{Error, files};

/// A file that was not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unread {
    /// The path inside its chart, with `/`.
    pub name: Arc<str>,
    /// Where it is.
    pub path: PathBuf,
}

impl Unread {
    /// What is in it, as [`super::File::data`] has it.
    ///
    /// # Errors
    /// When it cannot be read (any more).
    pub fn read(&self) -> Result<Vec<u8>, Error> {
        let Self { name, path } = self;
        let failed = |e| Error::io("read", path, &e).within(&format!("error reading {name}"));
        let mut data = fs::read(path).map_err(failed)?;
        files::drop_byte_order_mark(&mut data);
        Ok(data)
    }
}

/// Whether a file is more to its chart than one that `.Files` shows. `name` is its path inside the chart, through those it is in.
pub(super) fn is_needed(name: &str) -> bool {
    let rest = within_its_chart(name);
    matches!(
        rest,
        "Chart.yaml"
            | "Chart.lock"
            | "values.yaml"
            | "values.schema.json"
            | "requirements.yaml"
            | "requirements.lock"
    ) || rest.starts_with("templates/")
        || rest.starts_with("charts/")
}

/// The path of a file inside the innermost chart.
pub(super) fn within_its_chart(name: &str) -> &str {
    let mut rest = name;
    while let Some((_, inner)) = rest.strip_prefix("charts/").and_then(|inner| inner.split_once('/')) {
        rest = inner;
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_gone_is_told() {
        let unread = Unread { name: "crds/a.yaml".into(), path: "/nowhere/crds/a.yaml".into() };
        let error = unread.read().unwrap_err().to_string();
        assert_eq!(error, "error reading crds/a.yaml: read /nowhere/crds/a.yaml: no such file or directory");
    }

    #[test]
    fn what_only_files_shows_is_not_needed() {
        for name in [
            "values.yaml",
            "templates/a/b.txt",
            "charts/a.tgz",
            "charts/a/charts/b/Chart.yaml",
            "charts/a/templates/x",
        ] {
            assert!(is_needed(name), "{name}");
        }
        for name in
            ["README.md", "crds/a.yaml", "charts/a/crds/b.yaml", "charts/a/charts/b/files/values.yaml"]
        {
            assert!(!is_needed(name), "{name}");
        }
    }
}
