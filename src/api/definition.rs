//! A definition: a chart, the kind it becomes, and how instances of that kind are kept.
//!
//! Entries of watches.yaml become definitions today; the specs of ChartDefinition objects will.

use std::{fmt, path::PathBuf, time::Duration};

use serde::{Deserialize, Serialize};

use super::{duration, names};

/// A group, version and kind.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Gvk {
    /// The API group; empty for the core group.
    pub group: String,
    /// The version within the group.
    pub version: String,
    /// The kind, as in a manifest.
    pub kind: String,
}

impl Gvk {
    /// What a manifest's `apiVersion` and `kind` name.
    pub fn of(api_version: &str, kind: &str) -> Self {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        Gvk { group: group.to_owned(), version: version.to_owned(), kind: kind.to_owned() }
    }

    /// The `apiVersion` of a manifest of this kind.
    pub fn api_version(&self) -> String {
        if self.group.is_empty() { self.version.clone() } else { format!("{}/{}", self.group, self.version) }
    }

    /// `<Kind>.<group>`, or the kind alone for the core group, as KEP-3659 writes group-kinds.
    pub fn group_kind(&self) -> String {
        if self.group.is_empty() { self.kind.clone() } else { format!("{}.{}", self.kind, self.group) }
    }
}

impl fmt::Display for Gvk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, Kind={}", self.api_version(), self.kind)
    }
}

/// Everything that is configured about one wrapped chart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Definition {
    /// The kind that the chart becomes.
    pub gvk: Gvk,
    /// Where the chart is: a folder or a .tgz.
    pub chart: PathBuf,
    /// Whether a change of a member triggers a reconcile (operator-sdk's `watchDependentResources`). Without it members
    /// are looked at only when the resource changes and at each period.
    pub watch_dependents: bool,
    /// `--set-string` expressions laid over each instance's values, in the order of their keys, environment variables
    /// already expanded.
    pub overrides: Vec<(String, String)>,
    /// Whether the values are masked in the Events that list the overrides in use.
    pub quiet_overrides: bool,
    /// The label selector of the instances, in the API's own syntax; empty for all.
    pub selector: String,
    /// How often an instance is looked at when nothing happens; none for the operator's default.
    pub reconcile_period: Option<Duration>,
    /// How many instances of this kind may reconcile at once; none for the operator's default.
    pub max_concurrent: Option<usize>,
    /// What operator-sdk's file has no word for.
    pub spec: Spec,
}

/// The part of a definition that ChartDefinition's spec shares with the `pintle:` key of watches.yaml.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Spec {
    /// How long the results of random functions live.
    pub generated_values: GeneratedValues,
    /// What is done about changes that others make to members.
    pub drift: Drift,
    /// The release's namespace for instances that are in none, being cluster-scoped.
    pub release_namespace: Option<String>,
    /// What is done about objects that are there already and in no instance.
    pub adoption: Adoption,
    /// What is done with the CRDs of the chart's `crds/`.
    pub crds: CrdPolicy,
    /// Which objects the chart may make. Without it, any that the operator has the rights for, as operator-sdk has it.
    pub allow: Option<Allow>,
    /// How long an instance may take from its last deployment, or from when it was last ready, until it is ready (again);
    /// then it is stalled. None, and zero: for ever.
    #[serde(with = "duration::text")]
    pub progress_deadline: Option<Duration>,
    /// How long a hook may run until the instance says that it is stalled; zero is for ever. None: Helm's five minutes.
    #[serde(with = "duration::text")]
    pub hook_timeout: Option<Duration>,
    /// Kinds (`Job`, or with the group `Deployment.apps`) whose objects are deleted and made anew when a field of theirs has
    /// to change that cannot be changed.
    pub recreate: Vec<String>,
}

/// How long `helm install` waits for a hook unless it is told otherwise.
const HOOK_TIMEOUT: Duration = Duration::from_secs(300);

impl Spec {
    /// How long a hook may run; none: for ever.
    pub fn hook_limit(&self) -> Option<Duration> {
        Some(self.hook_timeout.unwrap_or(HOOK_TIMEOUT)).filter(|limit| !limit.is_zero())
    }

    /// What is wrong with it, if anything is.
    pub fn check(&self) -> Result<(), String> {
        for (at, rule) in self.drift.ignore.iter().enumerate() {
            let fail = |what: String| format!("drift.ignore[{at}]: {what}");
            if rule.kind.is_empty() {
                return Err(fail("kind must not be empty; * is every kind".into()));
            }
            if rule.pointers.is_empty() {
                return Err(fail("pointers must name a field, such as /spec/replicas".into()));
            }
            for pointer in &rule.pointers {
                check_pointer(pointer).map_err(fail)?;
            }
        }
        Ok(())
    }
}

/// Whether a text is a JSON pointer (RFC 6901) to a field that may be left to others. The error says why it is not.
pub fn check_pointer(pointer: &str) -> Result<(), String> {
    if !pointer.starts_with('/') || pointer.len() == 1 {
        return Err(format!("{pointer:?} is not a JSON pointer to a field, such as /spec/replicas"));
    }
    let own = ["/apiVersion", "/kind", "/metadata/name", "/metadata/namespace", "/metadata"];
    let label = |name: &str| format!("/metadata/labels/{}", name.replace('~', "~0").replace('/', "~1"));
    if own.contains(&pointer) || pointer == label(names::PART_OF) || pointer == label(names::DEFINITION) {
        return Err(format!("{pointer:?} is what an object is known by, and cannot be ignored"));
    }
    Ok(())
}

/// What is done with the CRDs of a chart's `crds/`. They are never deleted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum CrdPolicy {
    /// Those that are missing are created, and those that are there are left, as Helm does.
    #[default]
    Create,
    /// They are created, and made what the chart says.
    CreateReplace,
    /// They are somebody else's to install.
    Skip,
}

/// Which objects a chart may make: members, and the objects of hooks.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Allow {
    /// The namespaces besides the release's own; `*` for all.
    pub namespaces: Vec<String>,
    /// The cluster-scoped kinds, each `<Kind>.<group>` or `<Kind>` of the core group; `*` for all.
    pub cluster_scoped: Vec<String>,
    /// The namespaced kinds, written likewise. Without it, all.
    pub kinds: Option<Vec<String>>,
}

/// How long the result of a random, certificate or identifier function in a template is kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum GeneratedValues {
    /// For the life of the instance.
    #[default]
    Keep,
    /// Until the next revision.
    PerRevision,
}

/// What is done about an object that a chart renders, that is there already and that is in no instance.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Adoption {
    /// It is left alone, and the instance says so.
    #[default]
    Refuse,
    /// It becomes a member.
    Adopt,
}

impl Adoption {
    /// What an annotation says; none when it is neither word.
    pub fn read(text: &str) -> Option<Self> {
        match text {
            "Refuse" => Some(Adoption::Refuse),
            "Adopt" => Some(Adoption::Adopt),
            _ => None,
        }
    }
}

/// What is done about drift.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Drift {
    /// The mode for all members.
    pub mode: DriftMode,
    /// Fields that are left to whoever takes them.
    pub ignore: Vec<DriftIgnore>,
}

/// Fields of some members that are left to whoever takes them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct DriftIgnore {
    /// The kind of the members; `*` for every kind.
    pub kind: String,
    /// Their API group; none for any.
    pub group: Option<String>,
    /// Their name; none for any.
    pub name: Option<String>,
    /// Their namespace; none for any.
    pub namespace: Option<String>,
    /// JSON pointers (RFC 6901) to the fields; what is below one is meant with it.
    pub pointers: Vec<String>,
}

/// What happens when somebody else changes a field that the chart renders.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum DriftMode {
    /// It is put back, with an Event.
    #[default]
    Correct,
    /// An Event and a condition say so; it is left.
    Report,
    /// Nobody looks.
    Off,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn api_versions_round_trip() {
        for (api_version, kind, group_kind) in
            [("apps/v1", "Deployment", "Deployment.apps"), ("v1", "Service", "Service")]
        {
            let gvk = Gvk::of(api_version, kind);
            assert_eq!(gvk.api_version(), api_version);
            assert_eq!(gvk.group_kind(), group_kind);
        }
    }
}
