//! Health of one object by the rules of kstatus (sigs.k8s.io/cli-utils/pkg/kstatus), kind by kind.
//!
//! Two rules are stricter than kstatus's, so that "ready" means usable: a Service of type LoadBalancer waits for its
//! address, and a Pod that crashes or whose image cannot be pulled has failed.

mod batch;
mod core;
mod end;
mod generic;
mod workloads;

pub use end::{End, end, ends, progress};

use super::lenient::{Flag, Int, List, Present, Struct, Text};

/// How an object does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Health {
    /// The word for it.
    pub state: State,
    /// Why, for a person; empty when all is well.
    pub message: Box<str>,
}

/// kstatus's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// As its spec wants it.
    Current,
    /// On the way there.
    InProgress,
    /// It will not get there without help.
    Failed,
    /// Being deleted.
    Terminating,
}

impl State {
    /// The word as kstatus writes it.
    pub fn word(self) -> &'static str {
        match self {
            State::Current => "Current",
            State::InProgress => "InProgress",
            State::Failed => "Failed",
            State::Terminating => "Terminating",
        }
    }
}

impl Health {
    /// All is well.
    pub fn current() -> Self {
        Health { state: State::Current, message: Box::default() }
    }

    /// It is being deleted.
    pub fn terminating() -> Self {
        Health { state: State::Terminating, message: "being deleted".into() }
    }

    fn progress(message: impl Into<Box<str>>) -> Self {
        Health { state: State::InProgress, message: message.into() }
    }

    fn failed(message: impl Into<Box<str>>) -> Self {
        Health { state: State::Failed, message: message.into() }
    }

    /// Whether all is well.
    pub fn is_current(&self) -> bool {
        self.state == State::Current
    }
}

/// Whether the health of a kind is told from more than its metadata: then it is watched in full.
///
/// Kinds outside of Kubernetes' own groups may have conditions, so they are.
pub fn is_read(group: &str, kind: &str) -> bool {
    match group {
        "" => matches!(
            kind,
            "Pod"
                | "PersistentVolumeClaim"
                | "Service"
                | "ReplicationController"
                | "Namespace"
                | "PersistentVolume"
        ),
        "apps" => matches!(kind, "Deployment" | "StatefulSet" | "DaemonSet" | "ReplicaSet"),
        "batch" => kind == "Job",
        "policy" => kind == "PodDisruptionBudget",
        "autoscaling" => kind == "HorizontalPodAutoscaler",
        "apiextensions.k8s.io" | "apiregistration.k8s.io" => true,
        // The rest of Kubernetes' own groups has no health to speak of: an object that exists is current.
        _ => !is_built_in(group),
    }
}

/// Whether a group is one of Kubernetes' own. Others of its project (`cluster.x-k8s.io`, `gateway.networking.k8s.io`) are
/// custom resources, and have conditions.
pub fn is_built_in(group: &str) -> bool {
    matches!(
        group,
        "" | "apps"
            | "batch"
            | "autoscaling"
            | "policy"
            | "extensions"
            | "admissionregistration.k8s.io"
            | "apiextensions.k8s.io"
            | "apiregistration.k8s.io"
            | "authentication.k8s.io"
            | "authorization.k8s.io"
            | "certificates.k8s.io"
            | "coordination.k8s.io"
            | "discovery.k8s.io"
            | "events.k8s.io"
            | "flowcontrol.apiserver.k8s.io"
            | "internal.apiserver.k8s.io"
            | "networking.k8s.io"
            | "node.k8s.io"
            | "rbac.authorization.k8s.io"
            | "resource.k8s.io"
            | "scheduling.k8s.io"
            | "storage.k8s.io"
            | "storagemigration.k8s.io"
    )
}

/// What is known of an object.
pub struct Observed<'a> {
    /// Its API group.
    pub group: &'a str,
    /// Its kind.
    pub kind: &'a str,
    /// `metadata.generation`.
    pub generation: Option<i64>,
    /// Whether it is being deleted.
    pub deleting: bool,
    /// Of its spec.
    pub spec: &'a Spec,
    /// Of its status.
    pub status: &'a Status,
}

/// The fields of a spec that any rule reads.
#[derive(Debug, Clone, Default, serde::Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Spec {
    replicas: Int,
    paused: Flag,
    update_strategy: Struct<UpdateStrategy>,
    r#type: Text,
    #[serde(rename = "clusterIP")]
    cluster_ip: Text,
}

#[derive(Debug, Clone, Default, serde::Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct UpdateStrategy {
    r#type: Text,
    rolling_update: Struct<RollingUpdate>,
}

#[derive(Debug, Clone, Default, serde::Deserialize)]
#[serde(default)]
struct RollingUpdate {
    partition: Int,
}

/// The fields of a status that any rule reads.
#[derive(Debug, Clone, Default, serde::Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Status {
    observed_generation: Int,
    replicas: Int,
    ready_replicas: Int,
    available_replicas: Int,
    updated_replicas: Int,
    current_replicas: Int,
    fully_labeled_replicas: Int,
    current_revision: Text,
    update_revision: Text,
    desired_number_scheduled: Int,
    current_number_scheduled: Int,
    updated_number_scheduled: Int,
    number_available: Int,
    number_ready: Int,
    phase: Text,
    reason: Text,
    message: Text,
    conditions: List<Condition>,
    load_balancer: Struct<LoadBalancer>,
    start_time: Present,
    succeeded: Int,
    active: Int,
    failed: Int,
    container_statuses: List<Container>,
    init_container_statuses: List<Container>,
    current_healthy: Int,
    desired_healthy: Int,
}

#[derive(Debug, Clone, Default, serde::Deserialize)]
#[serde(default)]
struct LoadBalancer {
    ingress: List<Present>,
}

#[derive(Debug, Clone, Default, serde::Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Condition {
    r#type: Text,
    status: Text,
    reason: Text,
    message: Text,
    observed_generation: Int,
}

#[derive(Debug, Clone, Default, serde::Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Container {
    name: Text,
    state: Struct<ContainerState>,
    last_state: Struct<ContainerState>,
    restart_count: Int,
    ready: Flag,
}

#[derive(Debug, Clone, Default, serde::Deserialize)]
#[serde(default)]
struct ContainerState {
    waiting: Struct<Waiting>,
    terminated: Struct<Terminated>,
}

#[derive(Debug, Clone, Default, serde::Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Terminated {
    exit_code: Int,
    reason: Text,
    message: Text,
}

#[derive(Debug, Clone, Default, serde::Deserialize)]
#[serde(default)]
struct Waiting {
    reason: Text,
    message: Text,
}

impl Status {
    /// Whether there is a condition of a type.
    pub fn has(&self, r#type: &str) -> bool {
        self.condition(r#type).is_some()
    }

    fn condition(&self, r#type: &str) -> Option<&Condition> {
        self.conditions.0.iter().find(|c| &*c.r#type.0 == r#type)
    }
}

impl Condition {
    fn is(&self, status: &str) -> bool {
        &*self.status.0 == status
    }

    /// Reason and message as one text.
    fn why(&self) -> String {
        match (&*self.reason.0, &*self.message.0) {
            ("", m) => m.to_owned(),
            (r, "") => r.to_owned(),
            (r, m) => format!("{r}: {m}"),
        }
    }
}

/// What is wrong with a Pod of this status, for a person; none when it does well, or is on its way.
pub fn trouble(status: &Status) -> Option<String> {
    core::trouble(status)
}

/// Whether a Pod of this status has containers to make and none made yet.
pub fn is_creating(status: &Status) -> bool {
    core::is_creating(status)
}

/// The health of an object.
pub fn of(o: &Observed<'_>) -> Health {
    if o.deleting {
        return Health::terminating();
    }
    if let Some(early) = generic::not_observed(o) {
        return early;
    }
    match (o.group, o.kind) {
        ("apps", "Deployment") => workloads::deployment(o),
        ("apps", "StatefulSet") => workloads::stateful_set(o),
        ("apps", "DaemonSet") => workloads::daemon_set(o),
        ("apps", "ReplicaSet") | ("", "ReplicationController") => workloads::replica_set(o),
        ("batch", "Job") => batch::job(o),
        ("", "Pod") => core::pod(o),
        ("", "PersistentVolumeClaim") => core::claim(o),
        ("", "Service") => core::service(o),
        ("", "Namespace") => core::phase(o, "Active"),
        ("", "PersistentVolume") => core::volume(o),
        ("policy", "PodDisruptionBudget") => core::disruption_budget(o),
        ("autoscaling", "HorizontalPodAutoscaler") => core::autoscaler(o),
        ("apiextensions.k8s.io", "CustomResourceDefinition") => generic::established(o),
        ("apiregistration.k8s.io", "APIService") => generic::available(o),
        _ => generic::conditions(o),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::release::seen::{Full, Seen};

    /// A table of live objects, cut to what counts, and the verdicts on them.
    #[test]
    fn verdicts() {
        let cases = include_str!("cases.yaml");
        let mut said = String::new();
        for case in serde_yaml::Deserializer::from_str(cases) {
            let case = <serde_json::Value as serde::Deserialize>::deserialize(case).unwrap();
            let api_version = case["apiVersion"].as_str().unwrap();
            let kind = case["kind"].as_str().unwrap();
            let group = api_version.split_once('/').map_or("", |(g, _)| g);
            let seen: Seen<Full> = serde_json::from_value(case.clone()).unwrap();
            let health = seen.health(group, kind);
            let title = case["case"].as_str().unwrap();
            said.push_str(&format!("{kind}: {title}\n    {} {}\n", health.state.word(), health.message));
            assert!(is_read(group, kind), "{kind} is judged but not read");
        }
        insta::assert_snapshot!(said);
    }

    #[test]
    fn kinds_without_status_are_not_read() {
        for (group, kind) in [
            ("", "ConfigMap"),
            ("", "Secret"),
            ("", "ServiceAccount"),
            ("rbac.authorization.k8s.io", "ClusterRole"),
            ("networking.k8s.io", "Ingress"),
            ("batch", "CronJob"),
        ] {
            assert!(!is_read(group, kind), "{group} {kind}");
        }
        for group in
            ["example.com", "cluster.x-k8s.io", "gateway.networking.k8s.io", "snapshot.storage.k8s.io"]
        {
            assert!(is_read(group, "Database"), "{group}");
        }
    }
}
