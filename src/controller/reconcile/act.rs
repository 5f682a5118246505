//! Steps 7 to 9: what is written to the cluster.

use std::borrow::Cow;

use futures::{StreamExt as _, stream};
use kube::{
    Api,
    api::{Patch, PatchParams},
};
use tracing::Instrument as _;

use super::{
    super::{
        cr::{Cr, claim_of},
        events::{Level, Said, about, related},
        metrics::OfMember,
    },
    Work, adopt,
    render::Rendering,
    status::Problem,
};
use crate::{
    api::{names, status::Action},
    release::{
        cluster::dynamic,
        failure::Failure,
        hooks, immutable,
        inventory::{Extent, ObjectKey},
        mend,
        object::Desired,
        plan::{Plan, Step, Why},
        seen::Seen,
    },
    step,
};

/// So many applies of one instance are under way at once.
const APPLIES: usize = 8;

impl Work<'_> {
    /// Step 7, its first half: before anything is applied, the resource says which kinds its set has, and has the finalizer
    /// if garbage collection would not find all of it.
    pub(super) async fn claim(&self, rendering: &Rendering, plan: &Plan) -> Result<(), Problem> {
        let before = self.cr.marks.extent();
        let wanted = self.extent(&rendering.prepared.desired);
        let extent =
            if plan.apply.is_empty() && plan.prune.is_empty() { wanted } else { before.union(&wanted) };
        self.mark(&extent, self.needs_finalizer(rendering)).await
    }

    fn needs_finalizer(&self, rendering: &Rendering) -> bool {
        let desired = &rendering.prepared.desired;
        let runs_hooks =
            || !self.cr.marks.hooks_disabled() && hooks::any_of(&rendering.hooks, Action::Uninstall);
        desired.iter().any(|d| d.keep || !self.parent.can_own(&d.key))
            || self.cr.sdk_finalizers
            || self.cr.marks.uninstall_waits()
            || self.is_to_leave_something()
            || runs_hooks()
    }

    /// Writes the parent's marks, if they are not there already. A finalizer that is no longer needed stays until what
    /// needed it is pruned.
    async fn mark(&self, extent: &Extent, finalizer: bool) -> Result<(), Problem> {
        let finalizer = finalizer || self.cr.finalizer;
        let same = self.cr.marks.is_parent_of(&self.set)
            && self.cr.marks.extent() == *extent
            && self.cr.finalizer == finalizer;
        if same {
            return Ok(());
        }
        if let Some(memory) = self.operator.world().memory(self.id) {
            memory.claim = Some(claim_of(&self.set, extent));
        }
        let patch = extent.parent_patch(&self.parent, finalizer);
        let seen = self
            .own_api()?
            .patch(
                &self.parent.name,
                &PatchParams::apply(names::PARENT_MANAGER).force(),
                &Patch::Apply(&patch),
            )
            .await
            .map_err(|e| match Failure::of(e) {
                // Not the one with this uid, which others' fields cannot be a reason for: it is forced.
                Failure::Conflict(_) | Failure::NotFound(_) => self.over(),
                failure => Problem::of_failure("ClaimFailed", &failure),
            })?;
        self.operator.saw_instance(self.id.definition, seen);
        Ok(())
    }

    /// The API of the instance's own kind.
    pub(super) fn own_api(&self) -> Result<Api<Cr>, Problem> {
        let gvk = &self.parent.gvk;
        let (resource, _) = self
            .cluster()
            .resource_in(gvk)
            .ok_or_else(|| Problem::of_failure("NotServed", &Failure::NotServed(gvk.to_string())))?;
        Ok(dynamic(self.cluster().client().clone(), &resource, &self.parent.namespace))
    }

    /// Step 8: group after group, the objects of a group at once. Whether anything was applied; the problem is that of
    /// all objects of the first group in which there was one. What comes after it waits, but for drift: that is put back,
    /// however long nobody mends what is wrong with others.
    pub(super) async fn apply(&self, desired: &[Desired], plan: &Plan) -> Result<bool, Problem> {
        let mut foreign = Vec::new();
        for (at, set) in &plan.foreign {
            // Whoever edited the label by hand has not made the object another's.
            if let Err(problem) = self.apply_one(&desired[*at], Why::Drifted, true).await {
                tracing::debug!(key = %desired[*at].key, set = %set, "not ours");
                foreign.push(problem);
            }
        }
        let mut problem = Problem::all(foreign);
        for group in &plan.apply {
            let waits = problem.is_some();
            let is_drift = |step: &&Step| matches!(step.why, Why::Drifted | Why::Lost);
            let steps = group.iter().filter(|step| !waits || is_drift(step));
            match self.apply_all(desired, steps).await {
                Some(second) if waits => {
                    tracing::warn!(instance = %self.id, error = %second.message, "drift could not be put back");
                }
                Some(first) => problem = Some(first),
                None => {}
            }
        }
        problem.map_or(Ok(!plan.apply.is_empty() || !plan.foreign.is_empty()), Err)
    }

    /// Applies some objects at once. What went wrong.
    async fn apply_all<'s>(
        &self,
        desired: &[Desired],
        steps: impl Iterator<Item = &'s Step>,
    ) -> Option<Problem> {
        let mut applies = Vec::new();
        for Step { desired: at, why } in steps {
            applies.push(self.apply_one(&desired[*at], *why, false));
        }
        let results: Vec<Result<(), Problem>> =
            stream::iter(applies).buffer_unordered(APPLIES).collect().await;
        let mut problems: Vec<Problem> = results.into_iter().filter_map(Result::err).collect();
        // The same ones are told with the same words, however their answers came.
        problems.sort_by(|a, b| a.message.cmp(&b.message));
        Problem::all(problems)
    }

    async fn apply_one(&self, desired: &Desired, why: Why, doubtful: bool) -> Result<(), Problem> {
        let key = &desired.key;
        let fail = |failure: Failure| self.problem("ApplyFailed", key, &failure);
        // What was there before tells who did it, and what is left to others.
        let before = match why {
            Why::Drifted | Why::Lost => self.cluster().metadata(key).await.map_err(fail)?,
            Why::Changed | Why::Unknown if self.may_yield(desired) => {
                self.cluster().metadata(key).await.map_err(fail)?
            }
            _ => None,
        };
        if matches!(why, Why::Drifted | Why::Lost) && self.may_be_the_end(desired, before.as_ref()) {
            self.must_stay().await?;
        }
        let was_ours = !matches!(why, Why::Missing);
        if let Some(live) = &before
            && (doubtful || why == Why::Lost)
        {
            self.take(desired, &live.metadata, was_ours).await?;
        }
        let mut force = match why {
            Why::Missing => false,
            Why::Lost => before.is_some(),
            _ => true,
        };
        let mut body = match force {
            true => Cow::Borrowed(&desired.body),
            // Whatever is there by this name and is not known of must not be changed by the way.
            false => Cow::Owned(adopt::only_new(&desired.body)),
        };
        let mut yielded = self.yield_fields(desired, &mut body, before.as_ref()).await.map_err(fail)?;
        let mut mended: Vec<String> = Vec::new();
        let (mut anew, mut relisted) = (false, false);
        loop {
            let span = step!("apply object", object = %key);
            self.operator.world().applying(key);
            let answer = self.cluster().apply(desired, &body, force).instrument(span).await;
            let wanted = {
                let mut world = self.operator.world();
                if let Ok(seen) = &answer {
                    world.applied(key, desired.digest, seen);
                }
                world.answered(key, answer.as_ref().map_or(0, Seen::version))
            };
            self.operator.ask(wanted);
            match answer {
                Ok(_) => break,
                Err(Failure::Untyped(message)) if mended.len() < mend::ROUNDS => {
                    match mend::mend(body.to_mut(), &message) {
                        Some(done) => mended.extend(done),
                        None => return Err(fail(Failure::Untyped(message))),
                    }
                }
                Err(Failure::Conflict(_)) if !force => {
                    // It is there: whose is it?
                    if let Some(live) = self.cluster().metadata(key).await.map_err(fail)? {
                        self.take(desired, &live.metadata, was_ours).await?;
                    }
                    adopt::or_old(body.to_mut());
                    let live = self.cluster().metadata(key).await.map_err(fail)?;
                    yielded = self.yield_fields(desired, &mut body, live.as_ref()).await.map_err(fail)?;
                    force = true;
                }
                Err(Failure::Invalid(message)) => match immutable::read(&message) {
                    Some(change) if !anew => {
                        self.make_anew(desired, &change).await?;
                        (anew, force) = (true, false);
                    }
                    None if !relisted && matches!(why, Why::Drifted | Why::Unknown) => {
                        relisted = true;
                        if !self.cluster().relist(key, &body).await.map_err(fail)? {
                            return Err(fail(Failure::Invalid(message)));
                        }
                    }
                    _ => return Err(fail(Failure::Invalid(message))),
                },
                Err(failure) => return Err(fail(failure)),
            }
        }
        self.count(&self.operator.metrics.applies, key);
        if !mended.is_empty() {
            self.say(
                Level::Warning,
                "ManifestMended",
                "Apply",
                Some(desired),
                &format!("{key}: {}", mended.join("; ")),
            );
        }
        if !yielded.is_empty() {
            self.say_yielded(desired, &yielded, before.as_ref());
        }
        if matches!(why, Why::Drifted | Why::Lost) {
            self.repaired(desired, &body, !yielded.is_empty(), before.as_ref());
        }
        Ok(())
    }

    /// Step 9: deletes what is no longer desired, once everything desired is applied. Whether anything was.
    pub(super) async fn prune(&self, rendering: &Rendering, plan: &Plan) -> Result<bool, Problem> {
        let incomplete =
            !rendering.prepared.unserved.is_empty() || !plan.leaving.is_empty() || !plan.held.is_empty();
        if incomplete {
            return Ok(false);
        }
        for prune in &plan.prune {
            let key = &prune.key;
            let fail = |failure: Failure| self.problem("PruneFailed", key, &failure);
            if prune.stray {
                if self.cluster().release(key, &self.parent.uid).await.map_err(fail)? {
                    self.say(Level::Normal, "Kept", "Release", None, &stray(key));
                }
            } else if prune.keep || self.must_outlive(key) {
                if self.cluster().release(key, &self.parent.uid).await.map_err(fail)? {
                    self.say(
                        Level::Normal,
                        "Kept",
                        "Release",
                        None,
                        &format!("{key} is no longer rendered, and was kept"),
                    );
                }
            } else if self.cluster().delete(key, &prune.uid).await.map_err(fail)? {
                self.count(&self.operator.metrics.prunes, key);
                self.say(
                    Level::Normal,
                    "Pruned",
                    "Delete",
                    None,
                    &format!("{key} is no longer rendered, and was deleted"),
                );
            }
        }
        if !plan.prune.is_empty() {
            // What was deleted may take its time to go, and keeps its kind watched until it has.
            let rest =
                self.operator.world().members(&self.set).map(|(key, _)| key.clone()).collect::<Vec<_>>();
            let wanted = self.extent(&rendering.prepared.desired);
            let extent = wanted.union(&Extent::of(rest.iter().map(|k| &**k), &self.parent.namespace));
            self.mark(&extent, self.needs_finalizer(rendering)).await?;
        }
        Ok(!plan.prune.is_empty())
    }

    pub(super) fn count(
        &self,
        family: &prometheus_client::metrics::family::Family<
            OfMember,
            prometheus_client::metrics::counter::Counter,
        >,
        key: &ObjectKey,
    ) {
        let labels = OfMember { kind: self.parent.gvk.group_kind(), member: key.kind.to_string() };
        family.get_or_create(&labels).inc();
    }

    /// Hands in an Event about the instance.
    pub(super) fn say(
        &self,
        level: Level,
        reason: &'static str,
        action: &'static str,
        member: Option<&Desired>,
        note: &str,
    ) {
        self.operator.events.say(Said {
            about: about(&self.parent),
            related: member.map(|d| related(&d.key, &d.gvk.api_version())),
            level,
            reason,
            action,
            note: note.to_owned(),
        });
    }
}

/// What is said of something that only looks like a member.
pub(super) fn stray(key: &ObjectKey) -> String {
    format!(
        "{key} has the labels of a member, and was not applied by Pintle: the labels were taken off, and it was left"
    )
}
