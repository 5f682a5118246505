//! Rules for the kinds of the core group, disruption budgets and autoscalers.

use super::{Container, Health, Observed};

pub(super) fn pod(o: &Observed<'_>) -> Health {
    let s = o.status;
    let stuck = |containers: &[Container]| {
        containers.iter().find_map(|c| {
            let w = &c.state.0.waiting.0;
            matches!(
                &*w.reason.0,
                "CrashLoopBackOff"
                    | "ImagePullBackOff"
                    | "ErrImagePull"
                    | "InvalidImageName"
                    | "CreateContainerConfigError"
                    | "CreateContainerError"
                    | "RunContainerError"
            )
            .then(|| {
                let detail =
                    if w.message.0.is_empty() { String::new() } else { format!(": {}", w.message.0) };
                Health::failed(format!("container {}: {}{detail}", c.name.0, w.reason.0))
            })
        })
    };
    match &*s.phase.0 {
        "Succeeded" => Health::current(),
        "Failed" => Health::failed("the Pod has failed"),
        "Running" | "Pending" | "" => {
            if let Some(failed) =
                stuck(&s.init_container_statuses.0).or_else(|| stuck(&s.container_statuses.0))
            {
                return failed;
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
