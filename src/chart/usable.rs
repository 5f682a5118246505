//! Whether a chart that was loaded can be installed.

use super::{Chart, Error, semver};

impl Chart {
    /// Refuses a chart that only lends its definitions, and one whose Chart.yaml needs what is not in `charts/`
    /// (Helm's `checkIfInstallable` and `CheckDependencies`). To be asked before dependencies are processed.
    pub fn check_installable(&self) -> Result<(), Error> {
        match self.metadata.chart_type.as_str() {
            "" | "application" => {}
            other => return Err(Error::new(format!("{other} charts are not installable"))),
        }
        let there = |name: &str| self.dependencies.iter().any(|sub| sub.name() == name);
        let missing: Vec<&str> = self
            .metadata
            .dependencies()
            .iter()
            .map(|dependency| dependency.name.as_str())
            .filter(|name| !there(name))
            .collect();
        if missing.is_empty() {
            return Ok(());
        }
        Err(Error::new(format!(
            "an error occurred while checking for chart dependencies. You may need to run 'helm dependency build' to fetch \
             missing dependencies: found in Chart.yaml, but missing in charts/ directory: {}",
            missing.join(", ")
        )))
    }

    /// Refuses a Kubernetes version that the chart's `kubeVersion` excludes. `normalized` is compared, `version` is named.
    pub fn check_kube_version(&self, normalized: &str, version: &str) -> Result<(), Error> {
        let wanted = &self.metadata.kube_version;
        if wanted.is_empty() || semver::is_compatible(wanted, normalized) {
            return Ok(());
        }
        Err(Error::new(format!(
            "chart requires kubeVersion: {wanted} which is incompatible with Kubernetes {version}"
        )))
    }
}
