//! Whether what runs to an end has come to it: for hooks, whose health in kstatus's sense says nothing (a Job that runs is
//! current there).

use super::{Container, Observed, Status, generic};

/// What something that runs came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// It ended well.
    Succeeded,
    /// It did not: why, in its own words.
    Failed(Box<str>),
}

/// Whether objects of a kind are waited for when they are hooks. All others have done what they can when they are made, as
/// Helm has it; Helm waits for no CRD either, but whatever comes next may be of its kind.
pub fn ends(group: &str, kind: &str) -> bool {
    matches!(
        (group, kind),
        ("batch", "Job") | ("", "Pod") | ("apiextensions.k8s.io", "CustomResourceDefinition")
    )
}

/// What an object that runs has come to; none while it runs.
pub fn end(o: &Observed<'_>) -> Option<End> {
    match (o.group, o.kind) {
        ("batch", "Job") => o.status.conditions.0.iter().find_map(|c| match &*c.r#type.0 {
            "Complete" if c.is("True") => Some(End::Succeeded),
            "Failed" if c.is("True") => Some(End::Failed(c.why().into())),
            _ => None,
        }),
        ("", "Pod") => match &*o.status.phase.0 {
            "Succeeded" => Some(End::Succeeded),
            "Failed" => Some(End::Failed(why_pod_failed(o.status).into())),
            _ => None,
        },
        ("apiextensions.k8s.io", "CustomResourceDefinition") => {
            generic::established(o).is_current().then_some(End::Succeeded)
        }
        _ => Some(End::Succeeded),
    }
}

/// What something that runs waits for, if it says so.
pub fn progress(o: &Observed<'_>) -> Option<Box<str>> {
    match (o.group, o.kind) {
        ("", "Pod") => {
            let health = super::core::pod(o);
            (!health.is_current()).then_some(health.message)
        }
        ("apiextensions.k8s.io", "CustomResourceDefinition") => Some(generic::established(o).message),
        _ => None,
    }
}

fn why_pod_failed(status: &Status) -> String {
    let ended = |c: &Container| {
        let t = &c.state.0.terminated.0;
        let code = t.exit_code.0.filter(|code| *code != 0)?;
        let reason = if t.reason.0.is_empty() { String::new() } else { format!(" ({})", t.reason.0) };
        let message = t.message.0.trim();
        let message = if message.is_empty() { String::new() } else { format!(": {message}") };
        Some(format!("container {} ended with exit code {code}{reason}{message}", c.name.0))
    };
    let containers = status.init_container_statuses.0.iter().chain(&status.container_statuses.0);
    let said: Vec<String> = containers.filter_map(ended).collect();
    if !said.is_empty() {
        return said.join("; ");
    }
    match (&*status.reason.0, &*status.message.0) {
        ("", "") => "the Pod has failed".to_owned(),
        ("", m) => m.to_owned(),
        (r, "") => r.to_owned(),
        (r, m) => format!("{r}: {m}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::release::seen::{Full, Seen};
    use serde_json::json;

    #[test]
    fn ends_of_jobs_and_pods() {
        let end = |kind: &str, status: serde_json::Value| {
            let seen: Seen<Full> =
                serde_json::from_value(json!({"metadata": {"name": "x"}, "status": status})).unwrap();
            seen.end(if kind == "Job" { "batch" } else { "" }, kind)
        };
        assert_eq!(end("Job", json!({"active": 1})), None);
        assert_eq!(
            end("Job", json!({"conditions": [{"type": "SuccessCriteriaMet", "status": "True"}]})),
            None
        );
        assert_eq!(
            end("Job", json!({"conditions": [{"type": "Complete", "status": "True"}]})),
            Some(End::Succeeded)
        );
        let failed = end(
            "Job",
            json!({"conditions": [{"type": "Failed", "status": "True", "reason": "BackoffLimitExceeded", "message": "too often"}]}),
        );
        assert_eq!(failed, Some(End::Failed("BackoffLimitExceeded: too often".into())));
        assert_eq!(end("Pod", json!({"phase": "Running"})), None);
        let failed = end(
            "Pod",
            json!({"phase": "Failed", "containerStatuses": [
                {"name": "a", "state": {"terminated": {"exitCode": 0}}},
                {"name": "b", "state": {"terminated": {"exitCode": 3, "reason": "Error", "message": "no such table\n"}}}]}),
        );
        assert_eq!(
            failed,
            Some(End::Failed("container b ended with exit code 3 (Error): no such table".into()))
        );
        assert_eq!(
            end("Pod", json!({"phase": "Failed", "reason": "Evicted"})),
            Some(End::Failed("Evicted".into()))
        );
        assert_eq!(end("Secret", json!({})), Some(End::Succeeded));
    }
}
