//! The time that a hook has. One that takes longer is waited for nevertheless, where something hangs on its end: a migration
//! that is slow must not be begun twice. The instance is stalled until then.

use std::time::{Duration, Instant};

use jiff::Timestamp;

use super::super::{
    super::events::Level,
    Work,
    status::{HOOK_TIMEOUT, Hooks, Running},
};
use crate::{
    api::{
        names,
        status::{Hook, conditions},
    },
    manifest::Event,
};

/// What is waited for.
pub(in crate::controller::reconcile) struct Wait {
    /// A sentence.
    pub what: String,
    /// When to look again if nothing triggers before.
    pub until: Option<Instant>,
    /// Which hook has taken longer than the definition gives it, if one has. It is waited for nevertheless.
    pub late: Option<String>,
}

impl Wait {
    /// What is in time.
    pub fn of(what: String, until: Option<Instant>) -> Self {
        Wait { what, until, late: None }
    }
}

impl Work<'_> {
    /// How long a hook that runs was given, if that is over.
    pub(super) fn overdue(&self, line: &Hook) -> Option<Duration> {
        let limit = self.served.definition.spec.hook_limit()?;
        (ran(line)? >= limit).then_some(limit)
    }

    /// When the time of a hook that runs will be over.
    pub(super) fn due(&self, line: &Hook) -> Option<Instant> {
        let left = self.served.definition.spec.hook_limit()?.checked_sub(ran(line)?)?;
        // Times in status are whole seconds.
        Some(Instant::now() + left + Duration::from_secs(1))
    }

    /// Says what a hook is waited for, with an Event once it takes too long.
    pub(in crate::controller::reconcile) fn await_hook(&self, state: &mut Hooks, wait: Wait) {
        let Some(title) = wait.late else {
            state.running = Some(Running::InTime(wait.what));
            return;
        };
        let note = format!(
            "{}. It is waited for; a new value of the annotation {} begins it anew",
            wait.what.trim_end_matches('.'),
            names::RECONCILE
        );
        let ready = self.cr.status.condition(conditions::READY);
        if !ready.is_some_and(|c| c.reason == HOOK_TIMEOUT && c.message.starts_with(&title)) {
            self.say(Level::Warning, HOOK_TIMEOUT, "Hook", None, &note);
        }
        state.running = Some(Running::Late(note));
    }
}

/// How long a hook has run.
fn ran(line: &Hook) -> Option<Duration> {
    let began: Timestamp = line.started_at.parse().ok()?;
    let seconds = Timestamp::now().as_second().saturating_sub(began.as_second());
    Some(Duration::from_secs(u64::try_from(seconds).unwrap_or(0)))
}

/// Whether something hangs on the end of an event's hooks, so that they are waited for however long they take.
pub(super) fn matters(event: Event) -> bool {
    !matches!(event, Event::Test | Event::PostDelete)
}
