//! Rules for Deployment, StatefulSet, DaemonSet and ReplicaSet.

use super::{Health, Observed};

/// kstatus's order of questions: are there enough, are they new, are the old gone, do they work.
pub(super) fn deployment(o: &Observed<'_>) -> Health {
    let s = o.status;
    let want = o.spec.replicas.0.unwrap_or(1);
    if let Some(c) = s.condition("Progressing")
        && &*c.reason.0 == "ProgressDeadlineExceeded"
    {
        return Health::failed(c.why());
    }
    if let Some(c) = s.condition("ReplicaFailure").filter(|c| c.is("True")) {
        return Health::failed(c.why());
    }
    let have = s.replicas.0.unwrap_or(0);
    let updated = s.updated_replicas.0.unwrap_or(0);
    let available = s.available_replicas.0.unwrap_or(0);
    let ready = s.ready_replicas.0.unwrap_or(0);
    if have < want {
        return Health::progress(format!("{have} of {want} Pods exist"));
    }
    if updated < want {
        return Health::progress(format!("{updated} of {want} Pods are updated"));
    }
    if have > updated {
        return Health::progress(format!("{} old Pods still run", have - updated));
    }
    if ready < want {
        return Health::progress(format!("{ready} of {want} Pods are ready"));
    }
    if available < want {
        return Health::progress(format!("{available} of {want} Pods are available"));
    }
    // A Deployment that nobody has looked at yet has no conditions and, with no replicas wanted, no numbers either.
    match s.condition("Available") {
        Some(c) if !c.is("True") => Health::progress(c.why()),
        None if s.observed_generation.0.is_none() => Health::progress("not yet observed"),
        _ => Health::current(),
    }
}

pub(super) fn stateful_set(o: &Observed<'_>) -> Health {
    let s = o.status;
    let strategy = &o.spec.update_strategy.0;
    if s.observed_generation.0.is_none() {
        return Health::progress("not yet observed");
    }
    if &*strategy.r#type.0 == "OnDelete" {
        return Health::current();
    }
    let want = o.spec.replicas.0.unwrap_or(1);
    let have = s.replicas.0.unwrap_or(0);
    let ready = s.ready_replicas.0.unwrap_or(0);
    let updated = s.updated_replicas.0.unwrap_or(0);
    if have < want {
        return Health::progress(format!("{have} of {want} Pods exist"));
    }
    if ready < want {
        return Health::progress(format!("{ready} of {want} Pods are ready"));
    }
    if have > want {
        return Health::progress(format!("{} Pods are to be removed", have - want));
    }
    let partition = strategy.rolling_update.0.partition.0.unwrap_or(0);
    if partition > 0 {
        let new = (want - partition).max(0);
        return if updated < new {
            Health::progress(format!("{updated} of {new} Pods beyond the partition are updated"))
        } else {
            Health::current()
        };
    }
    if s.current_revision != s.update_revision {
        return Health::progress(format!("{updated} of {want} Pods are updated"));
    }
    let current = s.current_replicas.0.unwrap_or(0);
    if current < want {
        return Health::progress(format!("{current} of {want} Pods are current"));
    }
    Health::current()
}

pub(super) fn daemon_set(o: &Observed<'_>) -> Health {
    let s = o.status;
    if s.observed_generation.0.is_none() {
        return Health::progress("not yet observed");
    }
    if &*o.spec.update_strategy.0.r#type.0 == "OnDelete" {
        return Health::current();
    }
    let Some(want) = s.desired_number_scheduled.0 else { return Health::progress("not yet scheduled") };
    let scheduled = s.current_number_scheduled.0.unwrap_or(0);
    let updated = s.updated_number_scheduled.0.unwrap_or(0);
    let available = s.number_available.0.unwrap_or(0);
    let ready = s.number_ready.0.unwrap_or(0);
    if scheduled < want {
        return Health::progress(format!("{scheduled} of {want} Pods are scheduled"));
    }
    if updated < want {
        return Health::progress(format!("{updated} of {want} Pods are updated"));
    }
    if ready < want {
        return Health::progress(format!("{ready} of {want} Pods are ready"));
    }
    if available < want {
        return Health::progress(format!("{available} of {want} Pods are available"));
    }
    Health::current()
}

pub(super) fn replica_set(o: &Observed<'_>) -> Health {
    let s = o.status;
    if let Some(c) = s.condition("ReplicaFailure").filter(|c| c.is("True")) {
        return Health::failed(c.why());
    }
    let want = o.spec.replicas.0.unwrap_or(1);
    let have = s.replicas.0.unwrap_or(0);
    let labelled = s.fully_labeled_replicas.0.unwrap_or(0);
    let available = s.available_replicas.0.unwrap_or(0);
    let ready = s.ready_replicas.0.unwrap_or(0);
    if labelled < want {
        return Health::progress(format!("{labelled} of {want} Pods are labelled"));
    }
    if available < want {
        return Health::progress(format!("{available} of {want} Pods are available"));
    }
    if ready < want {
        return Health::progress(format!("{ready} of {want} Pods are ready"));
    }
    if have > want {
        return Health::progress(format!("{} Pods are to be removed", have - want));
    }
    Health::current()
}
