//! The status that a reconcile comes to. Pure: from the status before, and from what was found.

use crate::{
    api::status::{
        Action, Chart, Condition, DeployedRelease, HISTORY_LIMIT, Hook, Member, NOT_READY_LIMIT, NOTES_LIMIT,
        Pending, Release, Resources, Status, Test, conditions, cut,
    },
    release::{
        failure::Failure,
        health::{Health, State},
        inventory::ObjectKey,
    },
};

/// Why a reconcile failed, for a condition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Problem {
    /// One word.
    pub reason: &'static str,
    /// For a person.
    pub message: String,
    /// Whether it may pass by itself. Else nothing helps but a change of spec, chart or rights.
    pub passing: bool,
}

impl Problem {
    /// A failed request that is not about a member.
    pub fn of_failure(reason: &'static str, failure: &Failure) -> Self {
        // Rights are given by others, so they may come.
        let passing = failure.is_passing() || matches!(failure, Failure::Forbidden(_) | Failure::Conflict(_));
        Problem { reason, message: failure.to_string(), passing }
    }

    /// One problem made of several.
    pub fn all(problems: Vec<Problem>) -> Option<Problem> {
        let mut problems = problems.into_iter();
        let mut all = problems.next()?;
        for more in problems {
            all.message.push_str("; ");
            all.message.push_str(&more.message);
            // What needs help needs it whatever else passes.
            all.passing &= more.passing;
        }
        Some(all)
    }
}

/// A member and how it does.
pub(super) struct Seen {
    pub key: std::sync::Arc<ObjectKey>,
    /// None: it is not there.
    pub health: Option<Health>,
}

/// What a deployment came to.
pub(super) struct Deployed {
    pub name: String,
    pub revision: u32,
    pub chart: Chart,
    pub input_digest: String,
    pub values_digest: String,
    pub manifest_digest: String,
    pub members_digest: String,
    pub notes: String,
    pub hooks: Hooks,
    /// What is not applied yet, each a sentence.
    pub waiting: Vec<String>,
    /// Members that others changed and that are left so.
    pub tolerated: Vec<String>,
}

/// What is said of hooks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Hooks {
    /// What is under way.
    pub pending: Option<Pending>,
    /// The hooks, each a line.
    pub lines: Vec<Hook>,
    /// The tests.
    pub test: Option<Test>,
    /// The hook that runs, and what it waits for.
    pub running: Option<Running>,
}

/// What is said of a hook that runs: a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Running {
    /// It has time.
    InTime(String),
    /// It has taken longer than it was given.
    Late(String),
}

/// The reason for a member that will not get well without help.
pub(super) const MEMBER_FAILED: &str = "MemberFailed";
/// The reason for a hook that has taken longer than it was given.
pub(super) const HOOK_TIMEOUT: &str = "HookTimeout";

impl Hooks {
    /// As the status has them.
    pub fn of(status: &Status) -> Self {
        Hooks {
            pending: status.pending.clone(),
            lines: status.hooks.clone(),
            test: status.test.clone(),
            running: None,
        }
    }

    fn into(self, status: &mut Status, now: &str) {
        status.pending = self.pending;
        status.hooks = self.lines;
        status.test = self.test;
        match &self.running {
            None => {}
            Some(Running::InTime(message)) => {
                status.set(conditions::READY, false, "HookRunning", message, now);
                status.set(conditions::RECONCILING, true, "HookRunning", message, now);
                status.unset(conditions::STALLED);
            }
            Some(Running::Late(message)) => {
                status.set(conditions::READY, false, HOOK_TIMEOUT, message, now);
                status.set(conditions::STALLED, true, HOOK_TIMEOUT, message, now);
                status.unset(conditions::RECONCILING);
            }
        }
    }
}

/// The status of an instance whose objects are applied.
pub(super) fn deployed(before: &Status, generation: i64, d: Deployed, members: &[Seen], now: &str) -> Status {
    let mut status = Status { observed_generation: Some(generation), ..before.clone() };
    let previous = before.release.as_ref();
    let complete = d.waiting.is_empty();
    if complete {
        let fresh = previous.is_none_or(|r| r.revision != d.revision);
        status.deployed_release =
            Some(DeployedRelease { name: d.name.clone(), ..DeployedRelease::default() });
        status.release = Some(Release {
            name: d.name,
            revision: d.revision,
            chart: d.chart,
            input_digest: d.input_digest,
            values_digest: d.values_digest,
            manifest_digest: d.manifest_digest,
            members_digest: d.members_digest,
            first_deployed: previous.map_or_else(|| now.to_owned(), |r| r.first_deployed.clone()),
            last_deployed: match previous {
                Some(r) if !fresh => r.last_deployed.clone(),
                _ => now.to_owned(),
            },
            notes: cut(&d.notes, NOTES_LIMIT),
            history: history(previous, d.revision),
        });
        let reason = if d.revision == 1 { "InstallSuccessful" } else { "UpgradeSuccessful" };
        // operator-sdk puts the chart's notes there.
        let message = if d.notes.is_empty() { format!("revision {}", d.revision) } else { d.notes };
        status.set(conditions::DEPLOYED, true, reason, &message, now);
    }
    status.unset(conditions::RELEASE_FAILED);
    status.unset(conditions::IRRECONCILABLE);
    if d.tolerated.is_empty() {
        status.unset(conditions::DRIFTED);
    } else {
        let message = format!("changed by others, and left so: {}", d.tolerated.join("; "));
        status.set(conditions::DRIFTED, true, "Reported", &message, now);
    }
    health(&mut status, members, &d.waiting, now);
    d.hooks.into(&mut status, now);
    finish(status)
}

/// What the revisions before `revision` were made of, the latest first.
fn history(previous: Option<&Release>, revision: u32) -> Vec<String> {
    let Some(previous) = previous else { return Vec::new() };
    let mut history = previous.history.clone();
    if previous.revision != revision {
        history.insert(0, short(&previous.input_digest));
        history.truncate(HISTORY_LIMIT);
    }
    history
}

/// A digest as the history has it.
pub(super) fn short(digest: &str) -> String {
    digest.trim_start_matches("sha256:").chars().take(16).collect()
}

/// The status of an instance whose hooks run before anything is applied.
pub(super) fn hooks_running(
    before: &Status,
    generation: i64,
    hooks: Hooks,
    members: &[Seen],
    now: &str,
) -> Status {
    let mut status = Status { observed_generation: Some(generation), ..before.clone() };
    status.resources = (!members.is_empty()).then(|| resources(members));
    status.unset(conditions::RELEASE_FAILED);
    status.unset(conditions::IRRECONCILABLE);
    hooks.into(&mut status, now);
    finish(status)
}

/// The status of an instance that waits before anything is rendered.
pub(super) fn waiting(
    before: &Status,
    generation: i64,
    message: &str,
    members: &[Seen],
    now: &str,
) -> Status {
    let mut status = Status { observed_generation: Some(generation), ..before.clone() };
    status.resources = (!members.is_empty()).then(|| resources(members));
    status.set(conditions::READY, false, "Waiting", message, now);
    status.set(conditions::RECONCILING, true, "Waiting", message, now);
    status.unset(conditions::STALLED);
    finish(status)
}

/// The status of an instance of which a hook has failed.
pub(super) fn hook_failed(
    before: &Status,
    generation: i64,
    hooks: Hooks,
    problem: &Problem,
    members: &[Seen],
    now: &str,
) -> Status {
    let before = Status { pending: hooks.pending.clone(), ..before.clone() };
    let mut status = failed(&before, generation, problem, members, now);
    let reason = match hooks.pending.as_ref().map(|p| p.action) {
        Some(Action::Install) => "InstallError",
        Some(Action::Uninstall) => "UninstallError",
        _ => "UpgradeError",
    };
    status.set(conditions::RELEASE_FAILED, true, reason, &problem.message, now);
    hooks.into(&mut status, now);
    status
}

/// The status of an instance about which nothing is new but how its members do: all are as they were applied.
pub(super) fn observed(before: &Status, members_digest: String, members: &[Seen], now: &str) -> Status {
    let mut status = before.clone();
    if let Some(release) = &mut status.release {
        release.members_digest = members_digest;
    }
    health(&mut status, members, &[], now);
    finish(status)
}

/// The status of an instance whose reconcile failed.
pub(super) fn failed(
    before: &Status,
    generation: i64,
    problem: &Problem,
    members: &[Seen],
    now: &str,
) -> Status {
    let mut status = Status { observed_generation: Some(generation), ..before.clone() };
    status.resources = (!members.is_empty()).then(|| resources(members));
    // operator-sdk tells a failed install or upgrade from a release that could not be kept.
    let upgrade = before.release.is_some();
    let spec_is_new = before.pending.is_some()
        || before.observed_generation != Some(generation)
        || before.is(conditions::RELEASE_FAILED)
        || !upgrade;
    let (failed, reason) = match (spec_is_new, upgrade) {
        (true, false) => (conditions::RELEASE_FAILED, "InstallError"),
        (true, true) => (conditions::RELEASE_FAILED, "UpgradeError"),
        (false, _) => (conditions::IRRECONCILABLE, "ReconcileError"),
    };
    status.set(failed, true, reason, &problem.message, now);
    status.set(conditions::READY, false, problem.reason, &problem.message, now);
    if problem.passing {
        status.set(conditions::RECONCILING, true, "Retrying", &problem.message, now);
        status.unset(conditions::STALLED);
    } else {
        status.unset(conditions::RECONCILING);
        status.set(conditions::STALLED, true, problem.reason, &problem.message, now);
    }
    finish(status)
}

/// The status of a suspended instance: as it was, and not being worked on.
pub(super) fn suspended(before: &Status, now: &str) -> Status {
    let mut status = before.clone();
    status.set(
        conditions::RECONCILING,
        false,
        "Suspended",
        "suspended by the annotation pintle.dev/suspend",
        now,
    );
    finish(status)
}

/// The status of an instance that is being uninstalled: what it waits for.
pub(super) fn uninstalling(
    before: &Status,
    generation: i64,
    left: &[Seen],
    hooks: Hooks,
    problem: Option<&Problem>,
    now: &str,
) -> Status {
    let mut status = Status { observed_generation: Some(generation), ..before.clone() };
    let names: Vec<String> = left
        .iter()
        .take(NOT_READY_LIMIT)
        .map(|m| match m.health.as_ref().filter(|h| h.message.starts_with("held by")) {
            Some(health) => format!("{} ({})", m.key, health.message),
            None => m.key.to_string(),
        })
        .collect();
    let message = match (problem, &hooks.running) {
        (Some(problem), _) => problem.message.clone(),
        (None, Some(Running::InTime(running) | Running::Late(running))) => running.clone(),
        (None, None) => {
            format!("waiting for {} to be gone: {}", count(left.len(), "object"), names.join(", "))
        }
    };
    status.resources = Some(resources(left));
    status.set(conditions::READY, false, "Uninstalling", &message, now);
    status.set(conditions::RECONCILING, true, "Uninstalling", &message, now);
    match problem {
        Some(_) => status.set(conditions::RELEASE_FAILED, true, "UninstallError", &message, now),
        None => {
            status.unset(conditions::RELEASE_FAILED);
            // operator-sdk's word for having asked for it.
            status.set(conditions::DEPLOYED, false, "UninstallSuccessful", &message, now);
        }
    }
    hooks.into(&mut status, now);
    finish(status)
}

fn finish(mut status: Status) -> Status {
    if status.condition(conditions::INITIALIZED).is_none() {
        let since = status.conditions.first().map(|c| c.last_transition_time.clone()).unwrap_or_default();
        status.conditions.insert(
            0,
            Condition {
                r#type: conditions::INITIALIZED.into(),
                status: "True".into(),
                last_transition_time: since,
                ..Condition::default()
            },
        );
    }
    status
}

/// The conditions Ready, Reconciling and Stalled, and the counts.
fn health(status: &mut Status, members: &[Seen], waiting: &[String], now: &str) {
    let found = resources(members);
    let failed: Vec<&Member> = found.not_ready.iter().filter(|m| m.status == State::Failed.word()).collect();
    let line = |m: &Member| {
        let place = if m.namespace.is_empty() { String::new() } else { format!("{}/", m.namespace) };
        format!("{} {place}{}: {}", m.kind, m.name, m.message)
    };
    if let Some(first) = failed.first() {
        let message = failed.iter().map(|m| line(m)).collect::<Vec<_>>().join("; ");
        status.set(conditions::READY, false, "Failed", &message, now);
        status.set(conditions::STALLED, true, MEMBER_FAILED, &line(first), now);
        status.unset(conditions::RECONCILING);
    } else if !waiting.is_empty() {
        let message = waiting.join("; ");
        status.set(conditions::READY, false, "Waiting", &message, now);
        status.set(conditions::RECONCILING, true, "Waiting", &message, now);
        status.unset(conditions::STALLED);
    } else if found.ready < found.total {
        let mut message = found.not_ready.iter().map(line).collect::<Vec<_>>().join("; ");
        let unnamed = (found.total - found.ready) as usize - found.not_ready.len();
        if unnamed > 0 {
            message.push_str(&format!("; and {unnamed} more"));
        }
        status.set(conditions::READY, false, "Progressing", &message, now);
        status.set(conditions::RECONCILING, true, "Progressing", &message, now);
        status.unset(conditions::STALLED);
    } else {
        status.set(
            conditions::READY,
            true,
            "Ready",
            &format!("{} ready", count(members.len(), "object")),
            now,
        );
        status.unset(conditions::RECONCILING);
        status.unset(conditions::STALLED);
    }
    status.resources = Some(found);
}

fn resources(members: &[Seen]) -> Resources {
    let mut found =
        Resources { total: u32::try_from(members.len()).unwrap_or(u32::MAX), ..Resources::default() };
    // Failures first: the list is short.
    let mut not_ready: Vec<(&Seen, Option<State>)> = Vec::new();
    for member in members {
        match &member.health {
            Some(health) if health.is_current() => found.ready += 1,
            health => not_ready.push((member, health.as_ref().map(|h| h.state))),
        }
    }
    not_ready.sort_by_key(|(_, state)| *state != Some(State::Failed));
    found.not_ready = not_ready
        .into_iter()
        .take(NOT_READY_LIMIT)
        .map(|(m, state)| Member {
            kind: m.key.kind.to_string(),
            namespace: m.key.namespace.to_string(),
            name: m.key.name.to_string(),
            status: state.map_or("NotFound", State::word).to_owned(),
            message: m.health.as_ref().map_or_else(|| "not found".to_owned(), |h| cut(&h.message, 256)),
        })
        .collect();
    found
}

pub(super) fn count(n: usize, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::release::inventory::GroupKind;
    use std::sync::Arc;

    fn member(kind: &str, name: &str, health: Option<Health>) -> Seen {
        let key =
            ObjectKey { kind: Arc::new(GroupKind::parse(kind)), namespace: "shop".into(), name: name.into() };
        Seen { key: Arc::new(key), health }
    }

    fn health(state: State, message: &str) -> Option<Health> {
        Some(Health { state, message: message.into() })
    }

    fn well() -> Option<Health> {
        Some(Health::current())
    }

    fn deployment(revision: u32) -> Deployed {
        Deployed {
            name: "front".into(),
            revision,
            chart: Chart {
                name: "web".into(),
                version: "1.2.3".into(),
                label: "web-1.2.3".into(),
                ..Chart::default()
            },
            input_digest: format!("in{revision}"),
            values_digest: "v".into(),
            manifest_digest: "m".into(),
            members_digest: "u".into(),
            notes: "Enjoy.".into(),
            hooks: Hooks::default(),
            waiting: Vec::new(),
            tolerated: Vec::new(),
        }
    }

    #[test]
    fn a_release_from_install_to_upgrade() {
        let progress = [
            member("Deployment.apps", "front", health(State::InProgress, "1 of 2 Pods are ready")),
            member("Service", "front", well()),
        ];
        let first = deployed(&Status::default(), 1, deployment(1), &progress, "t1");
        let ready = [member("Deployment.apps", "front", well()), member("Service", "front", well())];
        let second = observed(&first, "u2".into(), &ready, "t2");
        let third = deployed(&second, 2, deployment(2), &ready, "t3");
        insta::assert_json_snapshot!([first, second, third]);
    }

    #[test]
    fn failures_and_what_they_leave() {
        let before =
            deployed(&Status::default(), 1, deployment(1), &[member("Service", "front", well())], "t1");
        let stuck =
            Problem { reason: "RenderFailed", message: "web/templates/a.yaml:3: nil".into(), passing: false };
        let passing = Problem { reason: "ApplyFailed", message: "etcd".into(), passing: true };
        let install = failed(&Status::default(), 1, &stuck, &[], "t2");
        let upgrade = failed(&before, 2, &stuck, &[], "t2");
        let again = failed(&upgrade, 2, &stuck, &[], "t3");
        assert_eq!(again, upgrade, "the same failure writes nothing");
        let drift = failed(&before, 1, &passing, &[member("Service", "front", None)], "t2");
        let said = |s: &Status| {
            let lines: Vec<String> = s
                .conditions
                .iter()
                .map(|c| format!("{}={} {} {}", c.r#type, c.status, c.reason, c.message))
                .collect();
            lines.join("\n")
        };
        insta::assert_snapshot!([&install, &upgrade, &drift].map(said).join("\n--\n"));
        let mended = deployed(&upgrade, 3, deployment(2), &[member("Service", "front", well())], "t4");
        assert!(mended.is(conditions::READY));
        assert!(
            mended.condition(conditions::STALLED).is_none()
                && mended.condition(conditions::RELEASE_FAILED).is_none()
        );
    }

    #[test]
    fn many_members_stay_few_in_status() {
        let mut members: Vec<Seen> = (0..500)
            .map(|i| member("ConfigMap", &format!("c{i}"), health(State::InProgress, &"x".repeat(5000))))
            .collect();
        members.push(member("Job.batch", "last", health(State::Failed, "BackoffLimitExceeded")));
        let status = deployed(&Status::default(), 1, deployment(1), &members, "t");
        let found = status.resources.clone().unwrap();
        assert_eq!((found.total, found.ready, found.not_ready.len()), (501, 0, NOT_READY_LIMIT));
        assert_eq!(found.not_ready[0].name, "last");
        assert!(status.is(conditions::STALLED));
        assert!(serde_json::to_string(&status).unwrap().len() < 16 << 10);
    }
}
