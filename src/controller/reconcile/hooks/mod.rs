//! Hooks, a step at a time: each reconcile looks what has become of the hook that runs, begins the next one, and never
//! waits. What has happened is in the status; a run that a crash kept out of it is known by a word on the object.

mod late;
mod one;

use std::{sync::Arc, time::Instant};

pub(super) use self::late::Wait;
use super::{
    super::events::Level,
    Outcome, Work,
    render::Rendering,
    report::now,
    status::{self, Hooks, Problem},
};
use crate::{
    api::status::{Action, HOOKS_LIMIT, Hook as Line, HookPhase, Pending, Test, cut},
    manifest::Event,
    release::{
        hooks::{self, Hook, Run},
        inventory::ObjectKey,
    },
};

/// How far the hooks of an event have come.
pub(super) enum Course {
    /// All have succeeded.
    Done,
    /// One runs, or cannot be begun yet.
    Waiting(Wait),
    /// One has failed. Nothing more happens until somebody asks for it.
    Failed(Problem),
    /// A request failed, and is made again.
    Trouble(Problem),
    /// All have succeeded, and a test runs.
    Testing(Option<Instant>),
}

impl Work<'_> {
    /// What is to be done about the hooks of a rendering, from where the status says they are.
    pub(super) fn hooks_of(&self, rendering: &Rendering) -> Hooks {
        let before = &self.cr.status;
        let mut state = Hooks::of(before);
        let fresh = before.release.as_ref().is_none_or(|r| r.revision != rendering.revision);
        let under_way = before.pending.as_ref().is_some_and(|p| {
            p.action != Action::Uninstall
                && p.revision == rendering.revision
                && p.input_digest == rendering.input_digest
        });
        if under_way && !self.cr.marks.hooks_disabled() {
            self.retry(&mut state);
            return state;
        }
        state.pending = None;
        if !fresh {
            return state;
        }
        state.lines = hooks::lines(&rendering.hooks);
        if let Some(test) = state.test.as_mut().filter(|t| t.phase == HookPhase::Running) {
            test.phase = HookPhase::Failed;
            test.completed_at = now();
            test.message = "a new revision began".into();
        }
        let action = self.action(rendering);
        if self.cr.marks.hooks_disabled() || self.is_taken_over() || !hooks::any_of(&rendering.hooks, action)
        {
            return state;
        }
        state.pending = Some(Pending {
            action,
            revision: rendering.revision,
            input_digest: rendering.input_digest.clone(),
            request: self.cr.marks.reconcile().to_owned(),
            ..Pending::default()
        });
        state
    }

    /// What a new revision is. Going back to what an earlier one was made of is a rollback to a chart that knows of
    /// rollbacks; to others it is an upgrade like any other, as `helm upgrade` with the old values is.
    fn action(&self, rendering: &Rendering) -> Action {
        let Some(release) = &self.cr.status.release else { return Action::Install };
        let back = release.history.contains(&status::short(&rendering.input_digest));
        if back && hooks::any_of(&rendering.hooks, Action::Rollback) {
            Action::Rollback
        } else {
            Action::Upgrade
        }
    }

    /// Whether the instance goes on with what another program has installed, and its install hooks with it.
    fn is_taken_over(&self) -> bool {
        self.cr.status.release.is_none() && self.cr.marks.adopts_release().is_some() || self.follows_sdk()
    }

    /// A new value of `pintle.dev/reconcile` begins the event anew in which a hook has failed.
    pub(super) fn retry(&self, state: &mut Hooks) {
        let Some(pending) = &mut state.pending else { return };
        if *pending.request == *self.cr.marks.reconcile() {
            return;
        }
        pending.request = self.cr.marks.reconcile().to_owned();
        let stuck = |line: &&Line| {
            line.phase == HookPhase::Failed
                || line.phase == HookPhase::Running && self.overdue(line).is_some()
        };
        let failed = state.lines.iter().filter(|line| line.event != Event::Test.name()).find(stuck);
        if let Some(event) = failed.map(|line| line.event.clone()) {
            pending.attempt += 1;
            hooks::begin_anew(&mut state.lines, &event);
        }
    }

    /// The kinds of hooks that may run in this reconcile, as keys.
    pub(super) fn hook_keys(&self, rendering: &Rendering, state: &Hooks) -> Vec<Arc<ObjectKey>> {
        let (pre, post) = match &state.pending {
            Some(pending) => hooks::events(pending.action),
            None if self.wants_tests(state.test.as_ref()) => (Event::Test, Event::Test),
            None => return Vec::new(),
        };
        let run = rendering.hooks.iter().filter(|hook| hook.is_of(pre) || hook.is_of(post));
        self.keys_of_hooks(run, &rendering.namespace)
    }

    /// One key (without a name) for each of these hooks whose kind is served.
    pub(super) fn keys_of_hooks<'h>(
        &self,
        hooks: impl Iterator<Item = &'h Hook>,
        namespace: &str,
    ) -> Vec<Arc<ObjectKey>> {
        hooks
            .filter_map(|hook| {
                let served = self.cluster().served(&hook.gvk)?;
                let home = home(served.namespaced, hook, namespace);
                Some(Arc::new(ObjectKey { kind: served.kind, namespace: home.into(), name: Box::default() }))
            })
            .collect()
    }

    /// The hooks before anything is applied. Some outcome is the end of the reconcile.
    pub(super) async fn before_apply(
        &self,
        rendering: &Rendering,
        state: &mut Hooks,
    ) -> Result<Option<Outcome>, Problem> {
        let Some(pending) = state.pending.clone() else { return Ok(None) };
        let (pre, _) = hooks::events(pending.action);
        match self.run_event(pre, &rendering.hooks, &rendering.namespace, state).await? {
            Course::Done | Course::Testing(_) => Ok(None),
            Course::Trouble(problem) => Err(problem),
            Course::Waiting(wait) => {
                let until = wait.until;
                self.await_hook(state, wait);
                let status = status::hooks_running(
                    &self.cr.status,
                    self.cr.generation(),
                    state.clone(),
                    &self.seen(&self.memory.expected),
                    &now(),
                );
                self.write(status).await?;
                let held = self.keep_deployed().await?;
                Ok(Some(Outcome::Waiting(until.into_iter().chain(held).min())))
            }
            Course::Failed(problem) => {
                let status = status::hook_failed(
                    &self.cr.status,
                    self.cr.generation(),
                    state.clone(),
                    &problem,
                    &self.seen(&self.memory.expected),
                    &now(),
                );
                self.say_failed(&problem);
                self.write(status).await?;
                self.clean_failed(pre, &rendering.hooks, state).await?;
                match self.keep_deployed().await? {
                    Some(held) => Ok(Some(Outcome::Waiting(Some(held)))),
                    None => Ok(Some(Outcome::Stuck(problem))),
                }
            }
        }
    }

    /// The hooks after everything is applied, and then the tests, if they are asked for.
    pub(super) async fn after_apply(
        &self,
        rendering: &Rendering,
        state: &mut Hooks,
    ) -> Result<Course, Problem> {
        if let Some(pending) = state.pending.clone() {
            let (_, post) = hooks::events(pending.action);
            let course = self.run_event(post, &rendering.hooks, &rendering.namespace, state).await?;
            if !matches!(course, Course::Done) {
                return Ok(course);
            }
            state.pending = None;
        }
        Ok(self.run_tests(rendering, state).await)
    }

    /// Whether tests are to be run, or run.
    pub(super) fn wants_tests(&self, test: Option<&Test>) -> bool {
        let request = self.cr.marks.test();
        match test {
            _ if request.is_empty() => false,
            Some(test) => test.request != request || test.phase == HookPhase::Running,
            None => true,
        }
    }

    /// Tests tell something about the instance, and change nothing for it.
    async fn run_tests(&self, rendering: &Rendering, state: &mut Hooks) -> Course {
        if !self.wants_tests(state.test.as_ref()) {
            return Course::Done;
        }
        let request = self.cr.marks.test();
        if state.test.as_ref().is_none_or(|test| test.request != request) {
            hooks::begin_anew(&mut state.lines, Event::Test.name());
            state.test = Some(Test {
                request: request.to_owned(),
                revision: rendering.revision,
                phase: HookPhase::Running,
                started_at: now(),
                ..Test::default()
            });
        }
        let course = self
            .run_event(Event::Test, &rendering.hooks, &rendering.namespace, state)
            .await
            .unwrap_or_else(Course::Trouble);
        let problem = match course {
            Course::Waiting(Wait { until, .. }) | Course::Testing(until) => return Course::Testing(until),
            Course::Done => None,
            Course::Failed(problem) | Course::Trouble(problem) => Some(problem),
        };
        let Some(test) = &mut state.test else { return Course::Done };
        test.completed_at = now();
        if let Some(problem) = &problem {
            test.phase = HookPhase::Failed;
            test.message = cut(&problem.message, one::MESSAGE);
            self.say(Level::Warning, "TestsFailed", "Test", None, &problem.message);
            if let Err(second) = self.clean_failed(Event::Test, &rendering.hooks, state).await {
                tracing::warn!(instance = %self.id, error = %second.message, "a test's object is left");
            }
        } else {
            test.phase = HookPhase::Succeeded;
            test.message = match rendering.hooks.iter().filter(|h| h.is_of(Event::Test)).count() {
                0 => "the chart has no tests".into(),
                1 => "1 test has succeeded".into(),
                n => format!("{n} tests have succeeded"),
            };
            self.say(Level::Normal, "TestsSucceeded", "Test", None, &test.message);
        }
        Course::Done
    }

    /// Runs the hooks of an event as far as they go without waiting, one after the other.
    pub(super) async fn run_event(
        &self,
        event: Event,
        all: &[Hook],
        namespace: &str,
        state: &mut Hooks,
    ) -> Result<Course, Problem> {
        if state.pending.as_ref().is_some_and(|p| p.done.iter().any(|done| done == event.name())) {
            return Ok(Course::Done);
        }
        let of_event: Vec<&Hook> = all.iter().filter(|hook| hook.is_of(event)).collect();
        if of_event.len() > HOOKS_LIMIT {
            return Ok(Course::Failed(Problem {
                reason: "TooManyHooks",
                message: format!(
                    "the chart has {} hooks of {}; at most {} can be run",
                    of_event.len(),
                    event.name(),
                    HOOKS_LIMIT
                ),
                passing: false,
            }));
        }
        if !of_event.is_empty() {
            // What the watches show after a restart is what there is.
            let keys = self.keys_of_hooks(of_event.iter().copied(), namespace);
            let keys: Vec<&ObjectKey> = keys.iter().map(|k| &**k).collect();
            self.operator.watch(&keys).await.map_err(|f| Problem::of_failure("WatchFailed", &f))?;
        }
        let cause = state.clone();
        let run = run_of(event, &cause);
        for hook in &of_event {
            if let Some(course) = self.advance(hook, run, namespace, state).await? {
                return Ok(course);
            }
        }
        self.clean_succeeded(event, &of_event, run, state).await?;
        if let Some(pending) = &mut state.pending
            && !of_event.is_empty()
        {
            pending.done.push(event.name().to_owned());
            pending.attempt = 0;
        }
        Ok(Course::Done)
    }

    /// Tells of a failed hook, once.
    pub(super) fn say_failed(&self, problem: &Problem) {
        let known = self
            .cr
            .status
            .condition(crate::api::status::conditions::READY)
            .is_some_and(|c| c.reason == problem.reason && c.message == cut(&problem.message, 1024));
        if !known {
            self.say(Level::Warning, problem.reason, "Hook", None, &problem.message);
        }
    }
}

/// Which run of an event's hooks a state is in.
pub(super) fn run_of(event: Event, state: &Hooks) -> Run<'_> {
    match (&state.pending, &state.test) {
        (None, Some(test)) if event == Event::Test => {
            Run { event, revision: test.revision, cause: &test.request, attempt: 0 }
        }
        (Some(p), _) => Run { event, revision: p.revision, cause: &p.input_digest, attempt: p.attempt },
        _ => Run { event, revision: 0, cause: "", attempt: 0 },
    }
}

fn home<'h>(namespaced: bool, hook: &'h Hook, namespace: &'h str) -> &'h str {
    match (namespaced, &*hook.namespace) {
        (false, _) => "",
        (true, "") => namespace,
        (true, own) => own,
    }
}
