//! Rules for the kinds of the core group, disruption budgets and autoscalers.

use super::{Container, Health, Observed, Status, Terminated};

/// What is wrong with a Pod, for a person: a container that cannot start or keeps ending, no node for it, or its failure.
pub(super) fn trouble(s: &Status) -> Option<String> {
    if &*s.phase.0 == "Succeeded" {
        return None;
    }
    let containers = s.init_container_statuses.0.iter().chain(&s.container_statuses.0);
    if let Some(stuck) = containers.filter_map(stuck).next() {
        return Some(stuck);
    }
    if &*s.phase.0 == "Failed" {
        return Some(match (&*s.reason.0, &*s.message.0) {
            ("", "") => "the Pod has failed".into(),
            ("", message) => message.into(),
            (reason, "") => reason.into(),
            (reason, message) => format!("{reason}: {message}"),
        });
    }
    s.condition("PodScheduled").filter(|c| c.is("False")).map(super::Condition::why)
}

/// Whether a Pod has containers to make and none made yet. That lasts where a volume cannot be mounted or the network is not
/// set up, of which the status says nothing.
pub(super) fn is_creating(s: &Status) -> bool {
    let mut containers = s.init_container_statuses.0.iter().chain(&s.container_statuses.0).peekable();
    &*s.phase.0 == "Pending"
        && containers.peek().is_some()
        && containers
            .all(|c| matches!(&*c.state.0.waiting.0.reason.0, "ContainerCreating" | "PodInitializing"))
}

/// Why a container does not run, when it will not by itself.
fn stuck(c: &Container) -> Option<String> {
    let name = &c.name.0;
    let ended = |t: &Terminated| {
        let code = t.exit_code.0.filter(|code| *code != 0)?;
        let reason = if t.reason.0.is_empty() { String::new() } else { format!(" ({})", t.reason.0) };
        Some(format!("exit code {code}{reason}"))
    };
    let last = ended(&c.last_state.0.terminated.0);
    let waiting = &c.state.0.waiting.0;
    match &*waiting.reason.0 {
        "CrashLoopBackOff" => {
            let why = last.unwrap_or_else(|| waiting.message.0.to_string());
            return Some(format!("container {name}: CrashLoopBackOff: {why}"));
        }
        "ImagePullBackOff"
        | "ErrImagePull"
        | "ErrImageNeverPull"
        | "InvalidImageName"
        | "RegistryUnavailable"
        | "CreateContainerConfigError"
        | "CreateContainerError"
        | "RunContainerError" => {
            let message = &waiting.message.0;
            let why = if message.is_empty() { String::new() } else { format!(": {message}") };
            return Some(format!("container {name}: {}{why}", waiting.reason.0));
        }
        _ => {}
    }
    if let Some(ended) = ended(&c.state.0.terminated.0) {
        return Some(format!("container {name}: {ended}"));
    }
    // It runs again, and may end again.
    let restarted = c.restart_count.0.unwrap_or(0) > 0 && c.ready.0 == Some(false);
    last.filter(|_| restarted).map(|ended| format!("container {name} was restarted: {ended}"))
}

/// A Pod that is a member by itself. What is wrong with a container is a failure: nothing else will mend it.
pub(super) fn pod(o: &Observed<'_>) -> Health {
    let s = o.status;
    match &*s.phase.0 {
        "Succeeded" => Health::current(),
        "Failed" => Health::failed(trouble(s).unwrap_or_else(|| "the Pod has failed".into())),
        "Running" | "Pending" | "" => {
            let containers = s.init_container_statuses.0.iter().chain(&s.container_statuses.0);
            if let Some(failed) = containers.filter_map(stuck).next() {
                return Health::failed(failed);
            }
            if let Some(c) = s.condition("PodScheduled").filter(|c| c.is("False")) {
                return Health::progress(c.why());
            }
            match s.condition("Ready") {
                Some(c) if c.is("True") => Health::current(),
                Some(c) if &*s.phase.0 == "Running" => Health::progress(c.why()),
                _ => Health::progress("the Pod is not yet running"),
            }
        }
        other => Health::progress(format!("phase {other}")),
    }
}

pub(super) fn claim(o: &Observed<'_>) -> Health {
    match &*o.status.phase.0 {
        "Bound" => Health::current(),
        "Lost" => Health::failed("the volume behind the claim is lost"),
        _ => Health::progress("not yet bound to a volume"),
    }
}

pub(super) fn volume(o: &Observed<'_>) -> Health {
    match &*o.status.phase.0 {
        "Failed" => Health::failed("the volume could not be reclaimed"),
        "Available" | "Bound" | "Released" => Health::current(),
        _ => Health::progress("not yet available"),
    }
}

pub(super) fn phase(o: &Observed<'_>, want: &str) -> Health {
    if &*o.status.phase.0 == want { Health::current() } else { Health::progress(format!("not yet {want}")) }
}

pub(super) fn service(o: &Observed<'_>) -> Health {
    if &*o.spec.r#type.0 == "LoadBalancer" && o.status.load_balancer.0.ingress.0.is_empty() {
        return Health::progress("no address yet from the load balancer");
    }
    if matches!(&*o.spec.r#type.0, "ClusterIP" | "NodePort" | "LoadBalancer")
        && o.spec.cluster_ip.0.is_empty()
    {
        return Health::progress("no cluster IP yet");
    }
    Health::current()
}

/// kstatus calls every observed budget current: that Pods are missing is said by what owns them.
pub(super) fn disruption_budget(o: &Observed<'_>) -> Health {
    if o.status.observed_generation.0.is_none() {
        return Health::progress("not yet observed");
    }
    Health::current()
}

/// An autoscaler that cannot read its metrics is not a reason to call an application unready: only a target that cannot
/// be scaled is.
pub(super) fn autoscaler(o: &Observed<'_>) -> Health {
    match o.status.condition("AbleToScale") {
        Some(c) if c.is("False") && &*c.reason.0 == "FailedGetScale" => Health::failed(c.why()),
        _ => Health::current(),
    }
}
