//! The status of an instance.
//!
//! Bounded in size: digests instead of manifests, a few of what may be many, messages cut. operator-sdk's conditions
//! stand beside kstatus's, so that what waits for either works.

use serde::{Deserialize, Serialize};

/// The longest message of a condition or of a member, in bytes.
pub const MESSAGE_LIMIT: usize = 1024;
/// The longest notes, in bytes.
pub const NOTES_LIMIT: usize = 4096;
/// How many members that are not ready are listed.
pub const NOT_READY_LIMIT: usize = 10;
/// How many hooks are listed; so many of one event can be run.
pub const HOOKS_LIMIT: usize = 64;
/// How many earlier revisions are remembered.
pub const HISTORY_LIMIT: usize = 10;

/// The status subresource.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Status {
    /// The generation of the spec that the rest of the status is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// In the order in which they were first set.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
    /// What is deployed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub release: Option<Release>,
    /// What operator-sdk says of what is deployed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deployed_release: Option<DeployedRelease>,
    /// Counts of the members, and the ones that are not ready.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resources: Option<Resources>,
    /// A revision, or an uninstall, whose hooks have begun to run and have not all succeeded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pending: Option<Pending>,
    /// The hooks of the current revision, in the order in which they run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hooks: Vec<Hook>,
    /// The last run of the chart's tests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test: Option<Test>,
}

/// How far the hooks of a revision, or of an uninstall, have come. With [`Status::hooks`] it is all that a restart needs to
/// go on where it was.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Pending {
    /// What is done.
    pub action: Action,
    /// The revision.
    pub revision: u32,
    /// The digest of what began it: hooks of other inputs are other hooks.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub input_digest: String,
    /// The value of `pintle.dev/reconcile` when they were begun: another one begins them anew, if one has failed.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub request: String,
    /// How often the hooks of the present event were begun anew, at somebody's request.
    #[serde(skip_serializing_if = "is_zero")]
    pub attempt: u32,
    /// The events whose hooks have all succeeded.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub done: Vec<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants a reference")]
fn is_zero(n: &u32) -> bool {
    *n == 0
}

/// What is done to a release. It decides which hooks run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Action {
    /// The first revision.
    #[default]
    Install,
    /// A later one.
    Upgrade,
    /// A later one, made of what an earlier one was made of.
    Rollback,
    /// The end.
    Uninstall,
}

/// A run of the chart's tests.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Test {
    /// The value of `pintle.dev/test` that asked for it.
    pub request: String,
    /// The revision that was tested.
    pub revision: u32,
    /// What came of it.
    pub phase: HookPhase,
    /// When it began, RFC 3339.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub started_at: String,
    /// When it ended, RFC 3339.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub completed_at: String,
    /// Why, for a person.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub message: String,
}

/// What is deployed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Release {
    /// `.Release.Name` of the render.
    pub name: String,
    /// `.Release.Revision` of the render.
    pub revision: u32,
    /// The chart.
    pub chart: Chart,
    /// Digest of everything that begins a new revision: chart, values, release name and namespace.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub input_digest: String,
    /// Digest of the values given (not of the chart's defaults).
    #[serde(skip_serializing_if = "String::is_empty")]
    pub values_digest: String,
    /// Digest of the desired members. With [`Release::members_digest`], what lets a restart apply nothing.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub manifest_digest: String,
    /// Digest of the members' uids and of our entries in their `managedFields`, after the last apply.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub members_digest: String,
    /// When the first revision was applied, RFC 3339.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub first_deployed: String,
    /// When this revision was applied, RFC 3339.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub last_deployed: String,
    /// The rendered NOTES.txt, cut at [`NOTES_LIMIT`].
    #[serde(skip_serializing_if = "String::is_empty")]
    pub notes: String,
    /// What earlier revisions were made of, the latest first: [`Release::input_digest`] of each, shortened. Going back to
    /// one of them is a rollback.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub history: Vec<String>,
}

/// operator-sdk's record of what is deployed. It keeps the whole manifest there, Secrets and all; here it has the name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct DeployedRelease {
    /// The name of the release.
    pub name: String,
    /// The manifest, as operator-sdk left it: read to know that it is there, and never written.
    #[serde(skip_serializing)]
    pub manifest: Manifest,
}

/// Whether there is a manifest. Its text is not kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Manifest(pub bool);

impl<'de> Deserialize<'de> for Manifest {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        serde::de::IgnoredAny::deserialize(deserializer).map(|_| Manifest(true))
    }
}

/// The chart of a release.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Chart {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The version of the application in it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub app_version: String,
    /// Digest of its files.
    pub digest: String,
    /// `<name>-<version>`, as Helm's `helm.sh/chart` label has it: for the printer column.
    pub label: String,
}

/// The members of an instance, counted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Resources {
    /// All members.
    pub total: u32,
    /// Those that are ready.
    pub ready: u32,
    /// The first [`NOT_READY_LIMIT`] of the others.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_ready: Vec<Member>,
}

/// A member that is not ready, or that an uninstall waits for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Member {
    /// `<Kind>.<group>`.
    pub kind: String,
    /// Its namespace; empty when cluster-scoped.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// kstatus's word for its state: InProgress, Failed, Terminating, NotFound, Unknown.
    pub status: String,
    /// Why, for a person.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub message: String,
}

/// A hook of the current revision.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Hook {
    /// `<Kind>.<group>`.
    pub kind: String,
    /// Its namespace, if the manifest names one.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// Its name; of a hook with `generateName`, that of the object that was made last.
    pub name: String,
    /// `metadata.generateName`, for a hook without a name.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub generate_name: String,
    /// Helm's events, as annotated: `pre-upgrade`, `post-install`.
    pub events: Vec<String>,
    /// The event that it was last run at.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub event: String,
    /// What became of it.
    pub phase: HookPhase,
    /// When it was begun, RFC 3339.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub started_at: String,
    /// When its end was seen, RFC 3339.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub completed_at: String,
    /// Why it failed.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub message: String,
}

/// What became of a hook.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum HookPhase {
    /// It was not run: its event is none of this revision's, or has not come.
    #[default]
    NotRun,
    /// It runs.
    Running,
    /// It has ended well.
    Succeeded,
    /// It has not.
    Failed,
}

/// A condition, as Kubernetes has them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Condition {
    /// Its type, one of [`conditions`].
    pub r#type: String,
    /// `True`, `False` or `Unknown`.
    pub status: String,
    /// One word for machines.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// For a person.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// When the status last changed, RFC 3339.
    pub last_transition_time: String,
    /// The generation that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
}

/// Types of conditions.
pub mod conditions {
    /// kstatus: every member is ready, for this generation of the spec.
    pub const READY: &str = "Ready";
    /// kstatus: work is going on.
    pub const RECONCILING: &str = "Reconciling";
    /// kstatus: no progress without somebody's help.
    pub const STALLED: &str = "Stalled";
    /// operator-sdk: the resource was seen.
    pub const INITIALIZED: &str = "Initialized";
    /// operator-sdk: a release is deployed.
    pub const DEPLOYED: &str = "Deployed";
    /// operator-sdk: the last install, upgrade or uninstall failed.
    pub const RELEASE_FAILED: &str = "ReleaseFailed";
    /// operator-sdk: the release could not be kept as it is.
    pub const IRRECONCILABLE: &str = "Irreconcilable";
    /// Members were changed by others, and the definition only reports it.
    pub const DRIFTED: &str = "Drifted";
}

impl Status {
    /// Sets a condition. Its transition time changes (to `now`, RFC 3339) only when its status does.
    pub fn set(&mut self, r#type: &str, status: bool, reason: &str, message: &str, now: &str) {
        let observed_generation = self.observed_generation;
        let status = if status { "True" } else { "False" };
        let message = cut(message, MESSAGE_LIMIT);
        match self.conditions.iter_mut().find(|c| c.r#type == r#type) {
            Some(c) => {
                if c.status != status {
                    c.last_transition_time = now.to_owned();
                }
                c.status = status.to_owned();
                c.reason = reason.to_owned();
                c.message = message;
                c.observed_generation = observed_generation;
            }
            None => self.conditions.push(Condition {
                r#type: r#type.to_owned(),
                status: status.to_owned(),
                reason: reason.to_owned(),
                message,
                last_transition_time: now.to_owned(),
                observed_generation,
            }),
        }
    }

    /// Removes a condition.
    pub fn unset(&mut self, r#type: &str) {
        self.conditions.retain(|c| c.r#type != r#type);
    }

    /// The condition of a type.
    pub fn condition(&self, r#type: &str) -> Option<&Condition> {
        self.conditions.iter().find(|c| c.r#type == r#type)
    }

    /// Whether the condition of a type is `True`.
    pub fn is(&self, r#type: &str) -> bool {
        self.condition(r#type).is_some_and(|c| c.status == "True")
    }
}

/// Cuts a text to at most `limit` bytes, at a character, with an ellipsis where something was cut.
pub fn cut(text: &str, limit: usize) -> String {
    if text.len() <= limit {
        return text.to_owned();
    }
    let mut end = limit.saturating_sub('…'.len_utf8());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}…", &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transition_time_moves_only_with_the_status() {
        let mut s = Status { observed_generation: Some(1), ..Status::default() };
        s.set(conditions::READY, false, "Progressing", "1 of 2", "t1");
        s.set(conditions::READY, false, "Progressing", "2 of 2", "t2");
        assert_eq!(s.conditions[0].last_transition_time, "t1");
        assert_eq!(s.conditions[0].message, "2 of 2");
        s.set(conditions::READY, true, "Ready", "", "t3");
        assert_eq!(s.conditions[0].last_transition_time, "t3");
        assert!(s.is(conditions::READY));
        s.unset(conditions::READY);
        assert!(s.conditions.is_empty());
    }

    #[test]
    fn cuts_keep_characters_whole() {
        assert_eq!(cut("short", 10), "short");
        assert_eq!(cut("aaaaaüüüüü", 10), "aaaaaü…");
        assert!(cut(&"ü".repeat(1000), 1024).len() <= 1024);
    }

    #[test]
    fn a_status_of_operator_sdk_is_read() {
        let s: Status = serde_json::from_str(
            r#"{"conditions":[{"type":"Deployed","status":"True","reason":"InstallSuccessful","message":"notes","lastTransitionTime":"2024-01-01T00:00:00Z"}],"deployedRelease":{"name":"a","manifest":"---"}}"#,
        )
        .unwrap();
        assert!(s.is(conditions::DEPLOYED));
        assert_eq!(serde_json::to_value(&s).unwrap()["conditions"][0]["reason"], "InstallSuccessful");
    }
}
