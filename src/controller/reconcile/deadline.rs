//! The progress deadline of a definition: an instance that takes longer to be ready is stalled.

use std::time::{Duration, Instant};

use jiff::Timestamp;

use super::{super::trigger::Trigger, Work, report::now};
use crate::api::status::{Condition, Status, conditions};

/// The reason of the conditions, which is that of a Deployment's.
pub(super) const EXCEEDED: &str = "ProgressDeadlineExceeded";

impl Work<'_> {
    /// Says in a status that the deadline is over, or has the instance looked at again when it is.
    pub(super) fn hold_to_deadline(&self, status: &mut Status) {
        let deadline = self.served.definition.spec.progress_deadline.filter(|d| !d.is_zero());
        let Some(deadline) = deadline else { return };
        if let Some(left) = hold(status, &self.cr.status, deadline, &now()) {
            self.operator.queue.add_at(self.id, Trigger::Retry, Instant::now() + left);
        }
    }
}

/// What is left until the deadline of a status that is not ready, if it is not over; if it is, the status says so.
///
/// The time runs from when the instance was last ready, or from its last deployment if that is later.
fn hold(status: &mut Status, before: &Status, deadline: Duration, now: &str) -> Option<Duration> {
    let ready = status.condition(conditions::READY).filter(|c| c.status == "False")?;
    // Who does not work on it has said so already.
    if !status.is(conditions::RECONCILING) {
        return None;
    }
    let time = |text: &str| text.parse::<Timestamp>().ok();
    let deployed = status.release.as_ref().and_then(|r| time(&r.last_deployed));
    let since = time(&ready.last_transition_time).max(deployed)?;
    let passed = time(now)?.as_second().saturating_sub(since.as_second());
    let passed = Duration::from_secs(u64::try_from(passed).unwrap_or(0));
    if let Some(left) = deadline.checked_sub(passed).filter(|left| !left.is_zero()) {
        // Times in status are whole seconds.
        return Some(left + Duration::from_secs(1));
    }
    let message = format!("not ready within {} s: {}", deadline.as_secs(), ready.message);
    status.set(conditions::READY, false, EXCEEDED, &message, now);
    status.unset(conditions::RECONCILING);
    status.set(conditions::STALLED, true, EXCEEDED, &message, now);
    let since: Option<&Condition> = before.condition(conditions::STALLED).filter(|c| c.status == "True");
    if let (Some(since), Some(stalled)) =
        (since, status.conditions.iter_mut().find(|c| c.r#type == conditions::STALLED))
    {
        stalled.last_transition_time.clone_from(&since.last_transition_time);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::status::Release;

    fn progressing(since: &str, deployed: &str) -> Status {
        let mut status = Status {
            release: Some(Release { last_deployed: deployed.into(), ..Release::default() }),
            ..Status::default()
        };
        status.set(conditions::READY, false, "Progressing", "Deployment.apps web: 0 of 1", since);
        status.set(conditions::RECONCILING, true, "Progressing", "…", since);
        status
    }

    #[test]
    fn time_runs_from_the_last_deployment_or_readiness() {
        let minute = Duration::from_secs(60);
        let left = |since, deployed, now| {
            let mut status = progressing(since, deployed);
            hold(&mut status, &Status::default(), minute, now).map(|d| d.as_secs())
        };
        assert_eq!(left("2026-01-01T00:00:00Z", "", "2026-01-01T00:00:10Z"), Some(51));
        assert_eq!(left("2026-01-01T00:00:00Z", "2026-01-01T00:00:30Z", "2026-01-01T00:01:10Z"), Some(21));
        assert_eq!(left("2026-01-01T00:00:00Z", "", "2026-01-01T00:01:00Z"), None);
    }

    #[test]
    fn what_is_over_is_said_once() {
        let mut status = progressing("2026-01-01T00:00:00Z", "");
        hold(&mut status, &Status::default(), Duration::from_secs(5), "2026-01-01T00:00:09Z");
        assert!(status.condition(conditions::RECONCILING).is_none());
        let stalled = status.condition(conditions::STALLED).unwrap();
        assert_eq!(
            (stalled.reason.as_str(), stalled.message.as_str()),
            (EXCEEDED, "not ready within 5 s: Deployment.apps web: 0 of 1")
        );
        // A second look, for which the first verdict is gone from the status again.
        let mut again = status.clone();
        again.unset(conditions::STALLED);
        again.set(
            conditions::READY,
            false,
            "Progressing",
            "Deployment.apps web: 0 of 1",
            "2026-01-01T00:00:12Z",
        );
        again.set(conditions::RECONCILING, true, "Progressing", "…", "2026-01-01T00:00:12Z");
        hold(&mut again, &status, Duration::from_secs(5), "2026-01-01T00:00:12Z");
        assert_eq!(again, status);
    }
}
