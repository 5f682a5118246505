//! One hook: its object is made, looked at, and deleted when its policy says so.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use super::{
    super::{
        super::world::HookObject,
        Work,
        report::now,
        status::{Hooks, Problem},
    },
    Course, home,
    late::{Wait, matters},
    run_of,
};
use crate::{
    api::{
        names,
        status::{HookPhase, cut},
    },
    manifest::Event,
    release::{
        cluster::Made,
        failure::Failure,
        health::End,
        hooks::{self, Hook, Run},
        inventory::ObjectKey,
        pods,
    },
};

/// How soon it is looked again for something that no watch shows.
const AGAIN: Duration = Duration::from_secs(2);
/// The longest message of a hook, in bytes.
pub(super) const MESSAGE: usize = 512;

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
    /// One hook, a step on. None once it has succeeded.
    pub(super) async fn advance(
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
                        let what = format!("{title} waits for {what}");
                        return Ok(Some(Course::Waiting(Wait::of(what, until))));
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
        let found = {
            let world = self.operator.world();
            world.hook_of_run(&self.set, &word).map(|(key, object)| (key.clone(), object.clone()))
        };
        let end = match found {
            Some((_, HookObject { end: Some(end), .. })) => end,
            Some((key, HookObject { gone: false, progress, .. })) => {
                let progress = self.progress(&key, progress).map_or(String::new(), |p| format!(": {p}"));
                match self.overdue(line) {
                    None => {
                        let what = format!("waiting for {title}{progress}");
                        return Ok(Some(Course::Waiting(Wait::of(what, self.due(line)))));
                    }
                    Some(limit) => {
                        let why = format!("it has not ended within {} s{progress}", limit.as_secs());
                        if matters(run.event) {
                            let late = Some(title.clone());
                            let what = format!("{title}: {why}");
                            return Ok(Some(Course::Waiting(Wait { what, until: None, late })));
                        }
                        End::Failed(why.into())
                    }
                }
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

    /// What a hook's object says that it waits for; of a Job, what its Pods say.
    fn progress(&self, key: &ObjectKey, own: Option<Box<str>>) -> Option<String> {
        if !pods::has_pods(&key.kind) {
            return own.filter(|p| !p.is_empty()).map(String::from);
        }
        // One hook runs at a time.
        let _ = self.hook_pods.set(key.namespace.clone());
        self.operator.pods.trouble(key)
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
                // What an earlier run has made was created, and its fields are not those of an apply.
                let ours = mark(labels, names::HOOK_OF).is_some();
                let seen = cluster.apply_hook(&hook.gvk, &key, &body, ours).await.map_err(fail)?;
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
    pub(super) async fn clean_succeeded(
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
    pub(in crate::controller::reconcile) async fn clean_failed(
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
}

fn failed(title: &str, why: &str) -> Problem {
    let why = if why.is_empty() { String::new() } else { format!(": {why}") };
    Problem { reason: "HookFailed", message: format!("{title} failed{why}"), passing: false }
}
