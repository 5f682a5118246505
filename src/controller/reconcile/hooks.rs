//! Hooks, a step at a time: each reconcile looks what has become of the hook that runs, begins the next one, and never
//! waits. What has happened is in the status; a run that a crash kept out of it is known by a word on the object.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use super::{
    super::{events::Level, world::HookObject},
    Outcome, Work,
    render::Rendering,
    report::now,
    status::{self, Hooks, Problem},
};
use crate::{
    api::{
        names,
        status::{Action, HookPhase, Pending, Test, cut},
    },
    manifest::Event,
    release::{
        cluster::Made,
        failure::Failure,
        health::End,
        hooks::{self, Hook, Run},
        inventory::ObjectKey,
    },
};

/// How soon it is looked again for something that no watch shows.
const AGAIN: Duration = Duration::from_secs(2);
/// The longest message of a hook, in bytes.
const MESSAGE: usize = 512;

/// How far the hooks of an event have come.
pub(super) enum Course {
    /// All have succeeded.
    Done,
    /// One runs, or cannot be begun yet: a sentence, and when to look again if nothing triggers before.
    Waiting(String, Option<Instant>),
    /// One has failed. Nothing more happens until somebody asks for it.
    Failed(Problem),
    /// A request failed, and is made again.
    Trouble(Problem),
    /// All have succeeded, and a test runs.
    Testing(Option<Instant>),
}

/// What came of the attempt to make a hook's object.
enum Begun {
    /// It is there.
    Made(Arc<ObjectKey>),
    /// Its predecessor is not gone yet.
    Blocked(String, Option<Instant>),
    /// It cannot be made, now or later.
    Refused(String),
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
        let failed = state.lines.iter().find(|line| line.phase == HookPhase::Failed && line.event != "test");
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
            Course::Waiting(what, until) => {
                state.running = Some(what);
                let status = status::hooks_running(
                    &self.cr.status,
                    self.cr.generation(),
                    state.clone(),
                    &self.seen(&self.memory.expected),
                    &now(),
                );
                self.write(status).await?;
                Ok(Some(Outcome::Waiting(until)))
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
                Ok(Some(Outcome::Stuck(problem)))
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
            Course::Waiting(_, until) | Course::Testing(until) => return Course::Testing(until),
            Course::Done => None,
            Course::Failed(problem) | Course::Trouble(problem) => Some(problem),
        };
        let Some(test) = &mut state.test else { return Course::Done };
        test.completed_at = now();
        if let Some(problem) = &problem {
            test.phase = HookPhase::Failed;
            test.message = cut(&problem.message, MESSAGE);
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
        if of_event.len() > crate::api::status::HOOKS_LIMIT {
            return Ok(Course::Failed(Problem {
                reason: "TooManyHooks",
                message: format!(
                    "the chart has {} hooks of {}; at most {} can be run",
                    of_event.len(),
                    event.name(),
                    crate::api::status::HOOKS_LIMIT
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

    /// One hook, a step on. None once it has succeeded.
    async fn advance(
        &self,
        hook: &Hook,
        run: Run<'_>,
        namespace: &str,
        state: &mut Hooks,
    ) -> Result<Option<Course>, Problem> {
        let mut title = hook.title(run.event);
        let word = hook.run(run, &self.parent.uid);
        let line = hooks::line_of(&mut state.lines, hook, run.event);
        match line.phase {
            HookPhase::Succeeded => return Ok(None),
            HookPhase::Failed => return Ok(Some(Course::Failed(failed(&title, &line.message)))),
            HookPhase::Running => {}
            HookPhase::NotRun => {
                let key = match self.begin(hook, run, &word, namespace).await? {
                    Begun::Made(key) => key,
                    Begun::Blocked(what, until) => {
                        return Ok(Some(Course::Waiting(format!("{title} waits for {what}"), until)));
                    }
                    Begun::Refused(why) => {
                        line.phase = HookPhase::Failed;
                        line.message = cut(&why, MESSAGE);
                        line.started_at = now();
                        line.completed_at = now();
                        return Ok(Some(Course::Failed(failed(&title, &why))));
                    }
                };
                tracing::info!(instance = %self.id, hook = %key, event = run.event.name(), "begun");
                line.phase = HookPhase::Running;
                line.name = key.name.to_string();
                line.started_at = now();
            }
        }
        if hook.name.is_empty() {
            title = hook.title_of(&line.name, run.event);
        }
        let object: Option<HookObject> =
            self.operator.world().hook_of_run(&self.set, &word).map(|(_, object)| object.clone());
        let end = match object {
            Some(HookObject { end: Some(end), .. }) => end,
            Some(HookObject { gone: false, progress, .. }) => {
                let what = match progress.filter(|p| !p.is_empty()) {
                    Some(progress) => format!("waiting for {title}: {progress}"),
                    None => format!("waiting for {title}"),
                };
                return Ok(Some(Course::Waiting(what, None)));
            }
            // Deleted by somebody, or by its own time limit while nobody looked.
            _ if hook.ends() => End::Failed("its object is gone, and its end was not seen".into()),
            _ => End::Succeeded,
        };
        line.completed_at = now();
        tracing::info!(instance = %self.id, hook = title, ?end, "ended");
        match end {
            End::Succeeded => {
                line.phase = HookPhase::Succeeded;
                Ok(None)
            }
            End::Failed(why) => {
                line.phase = HookPhase::Failed;
                line.message = cut(&why, MESSAGE);
                let problem = failed(&title, &line.message);
                Ok(Some(Course::Failed(problem)))
            }
        }
    }

    /// Makes a hook's object, unless this very run has made it before.
    async fn begin(&self, hook: &Hook, run: Run<'_>, word: &str, namespace: &str) -> Result<Begun, Problem> {
        let made = {
            let world = self.operator.world();
            world.hook_of_run(&self.set, word).map(|(key, _)| key.clone())
        };
        if let Some(key) = made {
            return Ok(Begun::Made(key));
        }
        let cluster = self.cluster();
        if cluster.served(&hook.gvk).is_none() {
            // Perhaps it is served by now.
            cluster
                .rediscover(cluster.epoch())
                .await
                .map_err(|f| Problem::of_failure("DiscoveryFailed", &f))?;
        }
        let Some(served) = cluster.served(&hook.gvk) else {
            return Ok(Begun::Blocked(
                format!("the kind {} to be served", hook.gvk),
                Some(self.await_kinds()),
            ));
        };
        let home = home(served.namespaced, hook, namespace);
        let key = ObjectKey { kind: served.kind, namespace: home.into(), name: hook.name.clone() };
        // It was not served when the kinds were watched.
        self.operator.watch(&[&key]).await.map_err(|f| Problem::of_failure("WatchFailed", &f))?;
        let body = hook.body(&key, &self.parent, run).map_err(|path| Problem {
            reason: "InvalidManifest",
            message: format!("{}: {}: {path} is not a mapping", hook.source, hook.title(run.event)),
            passing: false,
        })?;
        let fail = |failure: Failure| Problem {
            message: format!("{}: {}", hook.title(run.event), failure.about(&key)),
            ..Problem::of_failure("HookFailed", &failure)
        };
        // Once more, after what was there was deleted and went at once.
        for last in [false, true] {
            match cluster.create(&hook.gvk, home, &body).await {
                Ok(seen) => return Ok(Begun::Made(self.saw_made(&key, &seen))),
                Err(Failure::Conflict(_)) if !hook.name.is_empty() => {}
                Err(failure) => return Err(fail(failure)),
            }
            let Some(live) = cluster.metadata(&key).await.map_err(fail)? else {
                continue;
            };
            let mark = |map: &Option<std::collections::BTreeMap<String, String>>, name: &str| {
                map.as_ref().and_then(|m| m.get(name)).cloned()
            };
            let labels = &live.metadata.labels;
            if mark(&live.metadata.annotations, names::HOOK_RUN).as_deref() == Some(word) {
                // Made before a crash, and the watch has not shown it yet.
                return Ok(Begun::Blocked(format!("{key} to be seen"), Some(Instant::now() + AGAIN)));
            }
            for label in [names::HOOK_OF, names::PART_OF] {
                if mark(labels, label).is_some_and(|set| set != *self.set) {
                    let why = format!("{key} is there, and is another instance's");
                    return Err(Problem { reason: "NotOurs", message: why, passing: true });
                }
            }
            if !hook.replaces {
                if hook.ends() && &*key.kind.kind != "CustomResourceDefinition" {
                    return Ok(Begun::Refused(
                        "an object of its name is there, and its delete policy has no before-hook-creation"
                            .into(),
                    ));
                }
                let seen = cluster.apply_hook(&hook.gvk, &key, &body).await.map_err(fail)?;
                return Ok(Begun::Made(self.saw_made(&key, &seen)));
            }
            let uid = live.metadata.uid.clone().unwrap_or_default();
            if live.metadata.deletion_timestamp.is_none() {
                cluster.delete(&key, &uid).await.map_err(fail)?;
            }
            if last {
                let held = live.metadata.finalizers.unwrap_or_default();
                let what = if held.is_empty() {
                    format!("the {key} before it to be gone")
                } else {
                    format!("the {key} before it to be gone (finalizers {})", held.join(", "))
                };
                let watched = mark(labels, names::DEFINITION).as_ref() == Some(&self.parent.definition);
                return Ok(Begun::Blocked(what, (!watched).then(|| Instant::now() + AGAIN)));
            }
        }
        Ok(Begun::Blocked(format!("{key} to be made"), Some(Instant::now() + AGAIN)))
    }

    fn saw_made(&self, key: &ObjectKey, seen: &Made) -> Arc<ObjectKey> {
        let _ = self.operator.world().saw_hook(&key.kind, seen);
        Arc::new(ObjectKey {
            kind: key.kind.clone(),
            namespace: seen.namespace().into(),
            name: seen.name().into(),
        })
    }

    /// Once all hooks of an event have succeeded: those whose policy says so are deleted, the last one first, after the
    /// status has what they came to.
    async fn clean_succeeded(
        &self,
        event: Event,
        of_event: &[&Hook],
        run: Run<'_>,
        state: &Hooks,
    ) -> Result<(), Problem> {
        let going = self.there(of_event.iter().rev().filter(|hook| hook.goes_when_well).copied(), run);
        if going.is_empty() {
            return Ok(());
        }
        let mut written = self.latest().status.clone();
        written.hooks = state.lines.clone();
        written.pending = state.pending.clone();
        written.test = state.test.clone();
        self.write(written).await?;
        self.delete_hooks(event, &going).await
    }

    /// Once a hook has failed: its object is deleted if its policy says so, and those of the hooks before it if theirs do.
    pub(super) async fn clean_failed(
        &self,
        event: Event,
        all: &[Hook],
        state: &Hooks,
    ) -> Result<(), Problem> {
        let run = run_of(event, state);
        let mut lines = state.lines.clone();
        let going = all.iter().filter(|hook| hook.is_of(event)).filter(|hook| {
            match hooks::line_of(&mut lines, hook, event).phase {
                HookPhase::Failed => hook.goes_when_failed,
                HookPhase::Succeeded => hook.goes_when_well,
                _ => false,
            }
        });
        let going = self.there(going, run);
        self.delete_hooks(event, &going).await
    }

    /// Those of the objects of hooks that are there, with their uids.
    fn there<'h>(
        &self,
        hooks: impl Iterator<Item = &'h Hook>,
        run: Run<'_>,
    ) -> Vec<(Arc<ObjectKey>, Box<str>)> {
        let world = self.operator.world();
        hooks
            .filter_map(|hook| {
                let (key, object) = world.hook_of_run(&self.set, &hook.run(run, &self.parent.uid))?;
                (!object.gone && !object.deleting).then(|| (key.clone(), object.uid.clone()))
            })
            .collect()
    }

    async fn delete_hooks(&self, event: Event, going: &[(Arc<ObjectKey>, Box<str>)]) -> Result<(), Problem> {
        for (key, uid) in going {
            self.cluster()
                .delete(key, uid)
                .await
                .map_err(|failure| self.problem("HookFailed", key, &failure))?;
            tracing::debug!(instance = %self.id, hook = %key, event = event.name(), "deleted by its policy");
        }
        Ok(())
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

fn failed(title: &str, why: &str) -> Problem {
    let why = if why.is_empty() { String::new() } else { format!(": {why}") };
    Problem { reason: "HookFailed", message: format!("{title} failed{why}"), passing: false }
}
