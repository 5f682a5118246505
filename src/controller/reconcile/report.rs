//! Step 10: how the members do, and the status that says so, written when it changed.

use std::sync::{Arc, atomic::Ordering::Relaxed};

use kube::api::{Patch, PatchParams};
use serde_json::json;

use super::{
    super::events::Level,
    Outcome, Work, deadline,
    hooks::{Course, Wait},
    render::Rendering,
    status::{self, Deployed, Hooks, Problem, Seen},
};
use crate::{
    api::{
        names,
        status::{Status, conditions},
    },
    release::{
        failure::Failure,
        inventory::ObjectKey,
        plan::{Plan, members_digest},
        pods, rules,
    },
};

/// What is wrong with a CRD that keeps no status.
const NO_STATUS: &str = "nothing is done: the CustomResourceDefinition of the resource keeps no status, in which the operator has what it \
    has done; give it `subresources: {status: {}}`, and status in its schema `x-kubernetes-preserve-unknown-fields: true`";

impl Work<'_> {
    /// After a deployment.
    pub(super) async fn report(
        &self,
        rendering: &Rendering,
        plan: &Plan,
        acted: bool,
        mut hooks: Hooks,
        course: Course,
    ) -> Result<Outcome, Problem> {
        let course = match course {
            Course::Waiting(wait) => {
                let until = wait.until;
                self.await_hook(&mut hooks, wait);
                Course::Testing(until)
            }
            course => course,
        };
        let desired = &rendering.prepared.desired;
        let mut waiting: Vec<String> = rendering
            .prepared
            .unserved
            .iter()
            .map(|(gvk, source)| format!("the cluster does not serve {gvk} ({source})"))
            .collect();
        waiting.extend(plan.leaving.iter().map(|at| format!("{} is being deleted", desired[*at].key)));
        waiting.extend(plan.held.iter().map(|(at, _)| self.held(&desired[*at].key)));
        let there = desired.iter().enumerate().filter(|(at, _)| !plan.spent.contains(at));
        let keys: Vec<Arc<ObjectKey>> = there.map(|(_, d)| d.key.clone()).collect();
        let deployed = Deployed {
            name: self.parent.name.clone(),
            revision: rendering.revision,
            chart: self.served.renderer.chart().clone(),
            input_digest: rendering.input_digest.clone(),
            values_digest: rendering.values_digest.clone(),
            manifest_digest: rendering.manifest_digest.clone(),
            // What others changed and we left so is not what we applied: a restart must not take it for that.
            members_digest: if plan.tolerated.is_empty() {
                members_digest(self.operator.world().members(&self.set), rules::hash(desired))
            } else {
                String::new()
            },
            notes: rendering.notes.clone(),
            hooks: hooks.clone(),
            tolerated: self.tolerated(desired, plan).await,
            waiting: waiting.clone(),
        };
        let before = &self.cr.status;
        let new_revision = before.release.as_ref().is_none_or(|r| r.revision != rendering.revision);
        let mut status = status::deployed(before, self.cr.generation(), deployed, &self.seen(&keys), &now());
        if let Course::Failed(problem) | Course::Trouble(problem) = &course {
            let (generation, seen) = (self.cr.generation(), self.seen(&keys));
            status = status::hook_failed(&status, generation, hooks.clone(), problem, &seen, &now());
            self.say_failed(problem);
        }
        self.hold_to_deadline(&mut status);
        self.write(status).await?;
        if new_revision && waiting.is_empty() {
            self.say_deployed(rendering);
        }
        match course {
            Course::Done => {}
            Course::Waiting(Wait { until, .. }) | Course::Testing(until) => {
                return Ok(Outcome::Waiting(until));
            }
            Course::Trouble(problem) => return Ok(Outcome::Failed(problem)),
            Course::Failed(problem) => {
                let post = hooks.pending.as_ref().map(|p| crate::release::hooks::events(p.action).1);
                if let Some(post) = post {
                    self.clean_failed(post, &rendering.hooks, &hooks).await?;
                }
                return Ok(Outcome::Stuck(problem));
            }
        }
        if waiting.is_empty() {
            return Ok(if acted { Outcome::Applied } else { Outcome::Unchanged });
        }
        let held = plan.held.iter().map(|(_, until)| *until).min();
        if rendering.prepared.unserved.is_empty() {
            return Ok(Outcome::Waiting(held));
        }
        let served = self.await_kinds();
        Ok(Outcome::Waiting(Some(held.map_or(served, |held| held.min(served)))))
    }

    fn say_deployed(&self, rendering: &Rendering) {
        let label = &self.served.renderer.chart().label;
        let (reason, verb) =
            if rendering.revision == 1 { ("Installed", "installed") } else { ("Upgraded", "upgraded") };
        let objects = status::count(rendering.prepared.desired.len(), "object");
        let note = format!("revision {} of {label} was {verb}: {objects}", rendering.revision);
        self.say(Level::Normal, reason, "Apply", None, &note);
        if let Some(name) = self.own_crd.get() {
            let note = format!(
                "CustomResourceDefinition {name}: left as it is, since it defines the kind of this resource and must outlive it"
            );
            self.say(Level::Warning, "ManifestMended", "Apply", None, &note);
        }
        let definition = &self.served.definition;
        for (key, value) in &definition.overrides {
            // As operator-sdk masks them.
            let value = if definition.quiet_overrides { "****" } else { value };
            let note = format!("the operator's definition sets {key} to {value:?}, whatever the spec says");
            self.say(Level::Warning, "OverrideValuesInUse", "Render", None, &note);
        }
    }

    /// When nothing is new but how the members do.
    pub(super) async fn report_health(&self) -> Outcome {
        let digest = members_digest(self.operator.world().members(&self.set), self.memory.rules);
        let mut status = status::observed(&self.cr.status, digest, &self.seen(&self.memory.expected), &now());
        self.hold_to_deadline(&mut status);
        match self.write(status).await {
            Ok(()) => Outcome::Unchanged,
            Err(problem) => Outcome::Failed(problem),
        }
    }

    /// When something failed.
    pub(super) async fn report_failure(&self, problem: Problem) -> Outcome {
        // What this reconcile has written before it failed stays.
        let latest = self.latest();
        let before = &latest.status;
        let is_new = before.condition(conditions::READY).is_none_or(|c| {
            c.status != "False"
                || c.reason != problem.reason
                || !problem.message.starts_with(c.message.trim_end_matches('…'))
        });
        let mut status =
            status::failed(before, self.cr.generation(), &problem, &self.seen(&self.memory.expected), &now());
        self.hold_to_deadline(&mut status);
        if is_new {
            self.say(Level::Warning, problem.reason, "Reconcile", None, &problem.message);
        }
        if let Err(second) = self.write(status).await {
            tracing::warn!(instance = %self.id, error = %second.message, "the status could not be written");
        }
        Outcome::Failed(problem)
    }

    /// When the instance is suspended.
    pub(super) async fn report_suspended(&self) -> Outcome {
        self.operator.pods.release(self.id, &[]);
        match self.write(status::suspended(&self.cr.status, &now())).await {
            Ok(()) => Outcome::Suspended,
            Err(problem) => Outcome::Failed(problem),
        }
    }

    /// Members, and how they do. The Pods of workloads that are not ready are looked at, for why they are not.
    pub(super) fn seen(&self, keys: &[Arc<ObjectKey>]) -> Vec<Seen> {
        let mut seen: Vec<Seen> = {
            let world = self.operator.world();
            let seen = keys.iter().map(|key| Seen { key: key.clone(), health: world.health(key).cloned() });
            seen.filter(|s| s.health.is_some() || !self.memory.spent.contains(&s.key)).collect()
        };
        let waits =
            |s: &&mut Seen| pods::has_pods(&s.key.kind) && s.health.as_ref().is_some_and(|h| !h.is_current());
        let unready: Vec<&mut Seen> = seen.iter_mut().filter(waits).collect();
        let mut namespaces: Vec<Box<str>> = unready.iter().map(|s| s.key.namespace.clone()).collect();
        namespaces.extend(self.hook_pods.get().cloned());
        self.operator.look_at_pods(self.id, &namespaces);
        for Seen { key, health } in unready {
            if let (Some(trouble), Some(health)) = (self.operator.pods.trouble(key), health) {
                health.message = format!("{}: {trouble}", health.message).into();
            }
        }
        seen
    }

    /// After a status could not be kept: sees whether one can be by now. What cannot say what it has done would do it again
    /// and again, its hooks among it.
    pub(super) async fn try_status(&self) -> Result<(), Problem> {
        let latest = self.latest();
        let message = "its status can be kept again";
        self.write(status::waiting(&latest.status, self.cr.generation(), message, &[], &now())).await
    }

    /// Writes the status, if it is another one.
    pub(super) async fn write(&self, status: Status) -> Result<(), Problem> {
        let latest = self.latest();
        if status == latest.status {
            return Ok(());
        }
        let news = news(&latest.status, &status);
        self.drop_manifest().await?;
        let gvk = &self.parent.gvk;
        let patch = json!({
            "apiVersion": gvk.api_version(),
            "kind": gvk.kind,
            // Not the status of another of the same name.
            "metadata": { "name": self.parent.name, "uid": self.parent.uid },
            "status": status,
        });
        let params = PatchParams::apply(names::FIELD_MANAGER).force();
        match self
            .own_api()?
            .patch_status(&self.parent.name, &params, &Patch::Apply(&patch))
            .await
            .map_err(Failure::of)
        {
            Ok(seen) => {
                self.served.statusless.store(false, Relaxed);
                self.operator.saw_instance(self.id.definition, seen);
                if let Some((level, reason, note)) = news {
                    self.say(level, reason, "Observe", None, &note);
                }
                Ok(())
            }
            // The CRD has no such subresource, or its schema does not know what is in it.
            Err(failure)
                if failure.says_no_kind() || matches!(failure, Failure::Untyped(_) | Failure::Invalid(_)) =>
            {
                self.served.statusless.store(true, Relaxed);
                let message = format!("{NO_STATUS}: {failure}");
                tracing::error!(instance = %self.id, error = message, "the status cannot be kept");
                // Nobody need know any more.
                if self.cr.deleting {
                    return Ok(());
                }
                Err(Problem { reason: "StatusFailed", message, passing: true })
            }
            // It is gone.
            Err(Failure::NotFound(_) | Failure::Conflict(_)) => Ok(()),
            Err(failure) => Err(Problem::of_failure("StatusFailed", &failure)),
        }
    }
}

/// What a new status has to tell of members, for Events: failures of the operator's own are told where they happen.
fn news(before: &Status, after: &Status) -> Option<(Level, &'static str, String)> {
    if after.is(conditions::READY) {
        let ready = after.condition(conditions::READY).filter(|_| !before.is(conditions::READY))?;
        return Some((Level::Normal, "Ready", ready.message.clone()));
    }
    let stalled = after.condition(conditions::STALLED).filter(|c| c.status == "True")?;
    let reason = [status::MEMBER_FAILED, deadline::EXCEEDED].into_iter().find(|r| *r == stalled.reason)?;
    let known = before.condition(conditions::STALLED);
    let new = known.is_none_or(|c| c.status != "True" || c.reason != reason || c.message != stalled.message);
    new.then(|| (Level::Warning, reason, stalled.message.clone()))
}

/// The time, as conditions have it.
pub(super) fn now() -> String {
    let now = jiff::Timestamp::now();
    jiff::Timestamp::from_second(now.as_second()).unwrap_or(now).to_string()
}
