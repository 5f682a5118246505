//! Hooks: manifests that are run at an event of a release, and are no part of it.

use super::Manifest;

/// The annotation that makes a manifest a hook, and says of which events.
pub(super) const ANNOTATION: &str = "helm.sh/hook";
const WEIGHT: &str = "helm.sh/hook-weight";
const DELETE_POLICY: &str = "helm.sh/hook-delete-policy";
const LOG_POLICY: &str = "helm.sh/hook-output-log-policy";

/// When a hook is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs, reason = "the names are Helm's")]
pub enum Event {
    PreInstall,
    PostInstall,
    PreDelete,
    PostDelete,
    PreUpgrade,
    PostUpgrade,
    PreRollback,
    PostRollback,
    Test,
}

impl Event {
    /// The events of an annotation, commas between; `None` when one of them is unknown.
    pub(super) fn parse_all(annotation: &str) -> Option<Vec<Self>> {
        let one = |event: &str| {
            Some(match event.trim().to_lowercase().as_str() {
                "pre-install" => Self::PreInstall,
                "post-install" => Self::PostInstall,
                "pre-delete" => Self::PreDelete,
                "post-delete" => Self::PostDelete,
                "pre-upgrade" => Self::PreUpgrade,
                "post-upgrade" => Self::PostUpgrade,
                "pre-rollback" => Self::PreRollback,
                "post-rollback" => Self::PostRollback,
                "test" | "test-success" => Self::Test,
                _ => return None,
            })
        };
        annotation.split(',').map(one).collect()
    }

    /// The event's name in the annotation.
    pub fn name(self) -> &'static str {
        match self {
            Self::PreInstall => "pre-install",
            Self::PostInstall => "post-install",
            Self::PreDelete => "pre-delete",
            Self::PostDelete => "post-delete",
            Self::PreUpgrade => "pre-upgrade",
            Self::PostUpgrade => "post-upgrade",
            Self::PreRollback => "pre-rollback",
            Self::PostRollback => "post-rollback",
            Self::Test => "test",
        }
    }
}

/// When a hook's object is deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeletePolicy {
    /// Before it is created anew: what holds for a hook without any policy.
    BeforeHookCreation,
    /// When it has succeeded.
    HookSucceeded,
    /// When it has failed.
    HookFailed,
    /// A word that Helm does not know: it does nothing, but takes the default's place.
    Unknown(String),
}

/// When the logs of a hook's Pods are shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogPolicy {
    /// When it has succeeded.
    HookSucceeded,
    /// When it has failed.
    HookFailed,
    /// A word that Helm does not know: it does nothing.
    Unknown(String),
}

/// A manifest that is run at events.
#[derive(Clone, Debug)]
pub struct Hook {
    /// The manifest.
    pub manifest: Manifest,
    /// When it is run.
    pub events: Vec<Event>,
    /// Hooks of one event run by ascending weight.
    pub weight: i64,
    /// When its object is deleted, as the annotation says; see [`Hook::deleted_at`].
    pub delete_policies: Vec<DeletePolicy>,
    /// When its logs are shown.
    pub log_policies: Vec<LogPolicy>,
}

impl Hook {
    pub(super) fn new(manifest: Manifest, events: Vec<Event>) -> Self {
        let words = |annotation: &str| {
            let value = manifest.head.annotations.get(annotation);
            let words = value.into_iter().flat_map(|v| v.split(','));
            words.map(|word| word.trim().to_lowercase()).collect::<Vec<_>>()
        };
        let delete_policies = words(DELETE_POLICY)
            .into_iter()
            .map(|word| match word.as_str() {
                "before-hook-creation" => DeletePolicy::BeforeHookCreation,
                "hook-succeeded" => DeletePolicy::HookSucceeded,
                "hook-failed" => DeletePolicy::HookFailed,
                _ => DeletePolicy::Unknown(word),
            })
            .collect();
        let log_policies = words(LOG_POLICY)
            .into_iter()
            .map(|word| match word.as_str() {
                "hook-succeeded" => LogPolicy::HookSucceeded,
                "hook-failed" => LogPolicy::HookFailed,
                _ => LogPolicy::Unknown(word),
            })
            .collect();
        // A weight that is no number is none, as Helm has it.
        let weight = manifest.head.annotations.get(WEIGHT).and_then(|w| w.parse().ok()).unwrap_or(0);
        Self { manifest, events, weight, delete_policies, log_policies }
    }

    /// Whether the hook's object is deleted at the occasion that `policy` names. Without any policy it is deleted
    /// before it is created anew. A CustomResourceDefinition never is: all resources of its kind would go with it.
    pub fn deleted_at(&self, policy: &DeletePolicy) -> bool {
        if self.manifest.head.kind == "CustomResourceDefinition" {
            return false;
        }
        match self.delete_policies.as_slice() {
            [] => *policy == DeletePolicy::BeforeHookCreation,
            policies => policies.contains(policy),
        }
    }

    /// Sorts the hooks of one event as they are run: by weight, then by name, those of one name as they are.
    pub fn sort_for_run(hooks: &mut [&Self]) {
        hooks.sort_by(|a, b| {
            a.weight.cmp(&b.weight).then_with(|| a.manifest.head.name.cmp(&b.manifest.head.name))
        });
    }
}
