//! `.Capabilities`: the cluster that a chart is rendered for.

use tera::Value;

use crate::value::{
    quote::quote,
    typed::{self, Type},
};

/// The cluster that a chart is rendered for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// Its version.
    pub kube_version: KubeVersion,
    /// The API versions that it serves: `v1`, `apps/v1`, and with a kind `apps/v1/Deployment`.
    pub api_versions: Vec<String>,
    /// The version of Helm that charts are told: the one whose rendering this is.
    pub helm_version: HelmVersion,
}

/// The version of a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KubeVersion {
    /// The whole version: `v1.33.4-gke.1245000`.
    pub version: String,
    /// Its first three numbers, which constraints are checked against: `v1.33.4`.
    pub normalized: String,
    /// `1`
    pub major: String,
    /// `33`
    pub minor: String,
}

/// A version of Helm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HelmVersion {
    /// `v4.3.1`
    pub version: String,
    /// The commit it was built from.
    pub git_commit: String,
    /// `clean` or `dirty`.
    pub git_tree_state: String,
    /// The Go it was built with.
    pub go_version: String,
    /// The version of Kubernetes' client that it has.
    pub kube_client_version: String,
}

/// What a version of Kubernetes must look like, and does not.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadVersion(String);

impl KubeVersion {
    /// Reads a version, as `--kube-version` gives it.
    ///
    /// # Errors
    /// In the words of k8s.io/apimachinery's `ParseGeneric`.
    pub fn parse(text: &str) -> Result<Self, BadVersion> {
        let numbers = generic(text)?;
        let version = if text.starts_with('v') { text.to_owned() } else { format!("v{text}") };
        let joined = numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(".");
        Ok(Self {
            version,
            normalized: format!("v{joined}"),
            major: numbers[0].to_string(),
            minor: numbers[1].to_string(),
        })
    }
}

/// The dotted numbers at the beginning of a version, at least two.
fn generic(text: &str) -> Result<Vec<u64>, BadVersion> {
    let trimmed = text.trim_start();
    let digits = trimmed.strip_prefix('v').unwrap_or(trimmed);
    let mut numbers = Vec::new();
    let mut rest = digits;
    loop {
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        if end == 0 {
            break;
        }
        numbers.push(&rest[..end]);
        match rest[end..].strip_prefix('.') {
            Some(after) => rest = after,
            None => break,
        }
    }
    let quoted = quote(text.as_bytes());
    match numbers.first() {
        None => return Err(BadVersion(format!("could not parse {quoted} as version"))),
        Some(first) if numbers.len() > 1 && first.len() > 1 && first.starts_with('0') => {
            let first = quote(first.as_bytes());
            return Err(BadVersion(format!("illegal zero-prefixed version component {first} in {quoted}")));
        }
        Some(_) if numbers.len() < 2 => return Err(BadVersion(format!("illegal version string {quoted}"))),
        Some(_) => {}
    }
    let number = |part: &str| {
        part.parse::<u64>().map_err(|_| {
            let number = quote(part.as_bytes());
            BadVersion(format!(
                "illegal non-numeric version component {number} in {quoted}: strconv.ParseUint: parsing {number}: value out of range"
            ))
        })
    };
    numbers.into_iter().map(number).collect()
}

impl Default for Capabilities {
    /// What `helm template` of Helm 4.3.1 renders for when it is told nothing.
    fn default() -> Self {
        Self {
            kube_version: KubeVersion {
                version: DEFAULT_VERSION.to_owned(),
                normalized: DEFAULT_VERSION.to_owned(),
                major: "1".to_owned(),
                minor: "37".to_owned(),
            },
            api_versions: API_VERSIONS.iter().map(|&version| version.to_owned()).collect(),
            helm_version: HelmVersion::default(),
        }
    }
}

impl Default for HelmVersion {
    fn default() -> Self {
        Self {
            version: "v4.3.1".to_owned(),
            git_commit: String::new(),
            git_tree_state: String::new(),
            go_version: "go1.26.8".to_owned(),
            kube_client_version: "v1.37".to_owned(),
        }
    }
}

const DEFAULT_VERSION: &str = "v1.37.0";

/// What Helm 4.3.1 takes for served when it asks no cluster, in its order.
const API_VERSIONS: &[&str] = &[
    "v1",
    "admissionregistration.k8s.io/v1",
    "admissionregistration.k8s.io/v1alpha1",
    "admissionregistration.k8s.io/v1beta1",
    "internal.apiserver.k8s.io/v1alpha1",
    "apps/v1",
    "apps/v1beta1",
    "apps/v1beta2",
    "authentication.k8s.io/v1",
    "authentication.k8s.io/v1alpha1",
    "authentication.k8s.io/v1beta1",
    "authorization.k8s.io/v1",
    "authorization.k8s.io/v1beta1",
    "autoscaling/v1",
    "autoscaling/v2",
    "batch/v1",
    "batch/v1beta1",
    "certificates.k8s.io/v1",
    "certificates.k8s.io/v1beta1",
    "certificates.k8s.io/v1alpha1",
    "coordination.k8s.io/v1alpha2",
    "coordination.k8s.io/v1beta1",
    "coordination.k8s.io/v1",
    "discovery.k8s.io/v1",
    "discovery.k8s.io/v1beta1",
    "events.k8s.io/v1",
    "events.k8s.io/v1beta1",
    "extensions/v1beta1",
    "flowcontrol.apiserver.k8s.io/v1",
    "flowcontrol.apiserver.k8s.io/v1beta1",
    "flowcontrol.apiserver.k8s.io/v1beta2",
    "flowcontrol.apiserver.k8s.io/v1beta3",
    "lifecycle.k8s.io/v1alpha1",
    "networking.k8s.io/v1",
    "networking.k8s.io/v1beta1",
    "node.k8s.io/v1",
    "node.k8s.io/v1alpha1",
    "node.k8s.io/v1beta1",
    "policy/v1",
    "policy/v1beta1",
    "rbac.authorization.k8s.io/v1",
    "rbac.authorization.k8s.io/v1beta1",
    "rbac.authorization.k8s.io/v1alpha1",
    "resource.k8s.io/v1",
    "resource.k8s.io/v1beta2",
    "resource.k8s.io/v1beta1",
    "resource.k8s.io/v1alpha3",
    "scheduling.k8s.io/v1alpha3",
    "scheduling.k8s.io/v1beta1",
    "scheduling.k8s.io/v1",
    "storage.k8s.io/v1beta1",
    "storage.k8s.io/v1",
    "storage.k8s.io/v1alpha1",
    "storagemigration.k8s.io/v1",
    "storagemigration.k8s.io/v1beta1",
    "apiextensions.k8s.io/v1beta1",
    "apiextensions.k8s.io/v1",
];

impl Capabilities {
    /// The object `.Capabilities`.
    pub(super) fn object(&self) -> Value {
        let text = |text: &String| Value::from(text.as_str());
        let (kube, helm) = (&self.kube_version, &self.helm_version);
        let versions: Vec<Value> = self.api_versions.iter().map(text).collect();
        typed::make(
            Type::Capabilities,
            [
                (
                    "KubeVersion",
                    typed::make(
                        Type::KubeVersion,
                        [
                            ("Version", text(&kube.version)),
                            ("normalizedVersion", text(&kube.normalized)),
                            ("Major", text(&kube.major)),
                            ("Minor", text(&kube.minor)),
                        ],
                    ),
                ),
                ("APIVersions", typed::make(Type::VersionSet, [("items", Value::from(versions))])),
                (
                    "HelmVersion",
                    typed::make(
                        Type::BuildInfo,
                        [
                            ("Version", text(&helm.version)),
                            ("GitCommit", text(&helm.git_commit)),
                            ("GitTreeState", text(&helm.git_tree_state)),
                            ("GoVersion", text(&helm.go_version)),
                            ("KubeClientVersion", text(&helm.kube_client_version)),
                        ],
                    ),
                ),
            ],
        )
    }
}

#[cfg(test)]
mod tests {
    use super::KubeVersion;

    /// What helm 4.3.1 says to `--kube-version`, without what it puts before.
    #[test]
    fn versions_are_read_as_helm_reads_them() {
        let read = |text| KubeVersion::parse(text).map(|v| (v.version, v.normalized, v.major, v.minor));
        let is = |version: &str, normalized: &str, minor: &str| {
            Ok((version.to_owned(), normalized.to_owned(), "1".to_owned(), minor.to_owned()))
        };
        assert_eq!(read("1.34.0"), is("v1.34.0", "v1.34.0", "34"));
        assert_eq!(read("1.34"), is("v1.34", "v1.34", "34"));
        assert_eq!(read("v1.34.5-gke.1"), is("v1.34.5-gke.1", "v1.34.5", "34"));
        assert_eq!(read("1.2.3.4.5"), is("v1.2.3.4.5", "v1.2.3.4.5", "2"));
        assert_eq!(read(" 1.30"), is("v 1.30", "v1.30", "30"));
        let error = |text| read(text).map_err(|e| e.to_string());
        assert_eq!(error("x"), Err("could not parse \"x\" as version".to_owned()));
        assert_eq!(error("1.a"), Err("illegal version string \"1.a\"".to_owned()));
        assert_eq!(
            error("v01.2"),
            Err("illegal zero-prefixed version component \"01\" in \"v01.2\"".to_owned())
        );
    }
}
