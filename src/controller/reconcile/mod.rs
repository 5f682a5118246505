//! One instance's reconcile: a short, idempotent step that waits for nothing but the answers to its own requests.
//!
//! It may die after any of them; the next one comes to the same end. The steps, each marked as needing the client or not:
//!
//! 1. look at what is known (no client)
//! 2. is anything to be done at all? (no client)
//! 3. render: values, revision, chart (no client, but for generated values and lookups)
//! 4. prepare the objects (no client, unless a kind is not known)
//! 5. watch their kinds (client, once for each kind)
//! 6. plan (no client)
//! 7. claim: the parent's annotations and finalizer; generated values (client, when they change)
//! 8. apply (client)
//! 9. prune (client)
//! 10. observe health and report (client, when the status changes)

mod act;
mod adopt;
mod anew;
mod crds;
mod deadline;
mod deployed;
mod drifted;
mod hooks;
mod looked_up;
mod over;
mod render;
mod report;
mod status;
mod uninstall;

use std::{
    collections::BTreeSet,
    sync::{Arc, LazyLock, OnceLock, atomic::Ordering::Relaxed},
    time::{Duration, Instant},
};

use tokio::sync::OnceCell;
use tracing::{Instrument as _, field::Empty};

use self::{
    hooks::Course,
    render::Rendering,
    status::{Hooks, Problem},
};
use super::{
    Operator, Served,
    cr::Cr,
    jittered,
    queue::{InstanceId, InstanceKey},
    trigger::{Trigger, Triggers},
    world::{Inputs, Memory},
};
use crate::{
    api::duration,
    release::{
        cluster::Cluster,
        digest::Fnv,
        failure::Failure,
        inventory::{Extent, GroupKind, ObjectKey, Parent},
        object::Desired,
        plan::{self, Plan, Situation, members_digest},
        rules, scope,
    },
    step,
};

/// The first wait after a failure; it doubles with each further one.
const FIRST_WAIT: Duration = Duration::from_millis(500);
/// The longest wait after a failure.
const LONGEST_WAIT: Duration = Duration::from_secs(300);

/// What came of a reconcile.
#[derive(Debug)]
enum Outcome {
    /// There is no such instance any more, or it is on its way out and needs nothing.
    Gone,
    /// Nothing was to be done.
    Unchanged,
    /// Something was applied or pruned.
    Applied,
    /// Something cannot be done yet; what it waits for will trigger, or its time will come.
    Waiting(Option<Instant>),
    /// The instance is suspended.
    Suspended,
    /// It failed, and is tried again.
    Failed(Problem),
    /// It failed, and trying again would be no use.
    Stuck(Problem),
}

impl Outcome {
    fn word(&self) -> &'static str {
        match self {
            Outcome::Gone => "gone",
            Outcome::Unchanged => "unchanged",
            Outcome::Applied => "applied",
            Outcome::Waiting(_) => "waiting",
            Outcome::Suspended => "suspended",
            Outcome::Failed(_) | Outcome::Stuck(_) => "failed",
        }
    }
}

impl Operator {
    /// Reconciles an instance, logs why and what came of it, and sees to it that it is looked at again.
    pub(super) async fn run_one(self: &Arc<Self>, id: &InstanceId, triggers: &Triggers) {
        let started = Instant::now();
        let kind = self.served(id.definition).definition.gvk.group_kind();
        let epoch = self.cluster.epoch();
        // Of a thousand resources that nobody touches, each is looked at by the minute: that look is this one.
        if triggers.is_only_period()
            && self.world().instance(id).is_some_and(|i| i.memory.calm == Some(epoch))
        {
            self.metrics.reconciled(&kind, Outcome::Unchanged.word(), triggers.class(), started.elapsed());
            return self.schedule(id, &Outcome::Unchanged);
        }
        let span = step!("reconcile", kind, namespace = &*id.namespace, name = &*id.name,
            trigger = %triggers, result = Empty, error = Empty);
        let outcome = self.reconcile(id).instrument(span.clone()).await;
        span.record("result", outcome.word());
        if let Outcome::Failed(problem) = &outcome {
            span.record("error", problem.message.as_str());
        }
        let took = started.elapsed();
        self.metrics.reconciled(&kind, outcome.word(), triggers.class(), took);
        let (result, took) = (outcome.word(), took.as_secs_f64());
        match &outcome {
            Outcome::Unchanged | Outcome::Gone | Outcome::Suspended => {
                tracing::debug!(%kind, instance = %id, trigger = %triggers, result, seconds = took, "reconciled");
            }
            Outcome::Applied | Outcome::Waiting(_) => {
                tracing::info!(%kind, instance = %id, trigger = %triggers, result, seconds = took, "reconciled");
            }
            Outcome::Failed(problem) | Outcome::Stuck(problem) => {
                tracing::warn!(%kind, instance = %id, trigger = %triggers, result, seconds = took,
                    reason = problem.reason, error = %problem.message, "reconcile failed");
            }
        }
        self.schedule(id, &outcome);
        if matches!(outcome, Outcome::Unchanged)
            && let Some(instance) = self.world().instance_mut(id)
        {
            instance.memory.calm = (instance.cr.state() == "ready").then_some(epoch);
        }
    }

    /// Sets the time of the next look, if nothing triggers before.
    fn schedule(&self, id: &InstanceId, outcome: &Outcome) {
        let now = Instant::now();
        let failures = {
            let mut world = self.world();
            let Some(memory) = world.memory(id) else { return };
            memory.failures = match outcome {
                Outcome::Failed(_) => memory.failures.saturating_add(1),
                _ => 0,
            };
            memory.failures
        };
        match outcome {
            Outcome::Gone => return,
            Outcome::Failed(problem) => {
                let wait = back_off(failures).min(adopt::longest_wait(problem).unwrap_or(LONGEST_WAIT));
                self.queue.add_at(id, Trigger::Retry, now + jittered(wait));
            }
            Outcome::Waiting(Some(until)) => self.queue.add_at(id, Trigger::Retry, *until),
            _ => {}
        }
        let period = self.period(id);
        if !period.is_zero() {
            self.queue.add_at(id, Trigger::Period, gathered(now + jittered(period), period));
        }
    }

    /// How often an instance is looked at when nothing happens: its annotation, its definition or the operator says.
    fn period(&self, id: &InstanceKey) -> Duration {
        let marked = {
            let world = self.world();
            let period = world.instance(id).and_then(|i| i.cr.marks.period().map(str::to_owned));
            period.and_then(|p| duration::parse(&p).ok())
        };
        marked
            .or(self.served(id.definition).definition.reconcile_period)
            .unwrap_or(self.settings.reconcile_period)
    }

    async fn reconcile(self: &Arc<Self>, id: &InstanceId) -> Outcome {
        let Some(work) = Work::look(self, id) else { return Outcome::Gone };
        if work.cr.deleting {
            return match work.clear_sdk().await {
                Ok(false) => work.uninstall().instrument(step!("uninstall")).await,
                Ok(true) => Outcome::Waiting(Some(Instant::now() + FIRST_WAIT)),
                Err(problem) => Outcome::Failed(problem),
            };
        }
        if work.cr.marks.suspended() {
            return work.report_suspended().await;
        }
        let everything = work.is_requested();
        if !everything && work.is_settled() {
            return work.report_health().await;
        }
        match work.deploy(everything).await {
            Ok(outcome) => outcome,
            Err(problem) if work.is_over(&problem) => Outcome::Gone,
            Err(problem) => work.report_failure(problem).await,
        }
    }
}

/// One reconcile of one instance: what was known of it when it began.
struct Work<'a> {
    operator: &'a Arc<Operator>,
    id: &'a InstanceId,
    served: &'a Served,
    cr: Arc<Cr>,
    set: Arc<str>,
    parent: Parent,
    memory: Memory,
    inputs: Inputs,
    /// Where the Pods are that a hook waits for.
    hook_pods: OnceLock<Box<str>>,
    /// The CRD of the instance's own kind, if the chart renders it.
    own_crd: OnceLock<String>,
    /// Whether the API server has said that the resource is there, and is to stay.
    stays: OnceCell<bool>,
}

impl<'a> Work<'a> {
    /// Step 1: what is known.
    fn look(operator: &'a Arc<Operator>, id: &'a InstanceId) -> Option<Self> {
        let instance = operator.world().instance(id)?.clone();
        let served = operator.served(id.definition);
        let parent = operator.parent(id, instance.cr.uid());
        let mut uid = Fnv::default();
        uid.text(instance.cr.uid());
        let inputs = Inputs {
            spec: instance.cr.spec_hash(),
            uid: uid.finish(),
            marks: instance.cr.marks.hash(),
            served: operator.cluster.epoch(),
            chart: served.chart,
        };
        Some(Work {
            operator,
            id,
            served,
            cr: instance.cr,
            set: instance.set,
            parent,
            memory: instance.memory,
            inputs,
            hook_pods: OnceLock::new(),
            own_crd: OnceLock::new(),
            stays: OnceCell::new(),
        })
    }

    /// The resource as it is known now: what this reconcile has written itself is in it.
    fn latest(&self) -> Arc<Cr> {
        self.operator.world().instance(self.id).map_or_else(|| self.cr.clone(), |i| i.cr.clone())
    }

    fn cluster(&self) -> &Cluster {
        &self.operator.cluster
    }

    /// Whether somebody asked, by the annotation, that everything be applied again. What stands there when the operator
    /// first sees the resource asks for nothing.
    fn is_requested(&self) -> bool {
        self.memory.requested.as_deref().is_some_and(|last| last != self.cr.marks.reconcile())
    }

    /// Step 2: whether the last reconcile was made of the same, succeeded, and nobody has touched anything since.
    fn is_settled(&self) -> bool {
        if self.memory.settled != Some(self.inputs)
            || self.cr.status.observed_generation != Some(self.cr.generation())
            || !self.cr.marks.is_parent_of(&self.set)
            || (self.cr.marks.uninstall_waits() || self.is_to_leave_something()) && !self.cr.finalizer
            || !self.operator.lookups.is_current(self.id)
            || self.cr.status.pending.is_some()
            || self.wants_tests(self.cr.status.test.as_ref())
        {
            return false;
        }
        let wanted = Extent::of(self.memory.expected.iter().map(|k| &**k), &self.parent.namespace);
        if self.cr.marks.extent() != wanted {
            return false;
        }
        let world = self.operator.world();
        world.instance(self.id).is_some_and(|instance| world.is_as_applied(instance))
    }

    /// Steps 3 to 10.
    async fn deploy(&self, everything: bool) -> Result<Outcome, Problem> {
        if self.served.statusless.load(Relaxed) {
            self.try_status().await?;
        }
        let asked = self.cluster().rediscover_in_doubt().await;
        asked.map_err(|f| Problem::of_failure("DiscoveryFailed", &f))?;
        if let Some(outcome) = self.crds_first().await? {
            return Ok(outcome);
        }
        self.watch_known().await?;
        let rendering = match self.render().instrument(step!("render")).await {
            Ok(rendering) => self.check_scope(&rendering).map(|()| rendering),
            Err(problem) => Err(problem),
        };
        let rendering = match rendering {
            Ok(rendering) => rendering,
            Err(problem) => {
                self.keep_deployed().await?;
                return Err(problem);
            }
        };
        let mut hooks = self.hooks_of(&rendering);
        self.watch(&rendering, &hooks).instrument(step!("watch")).await?;
        self.recall(&rendering);
        let plan = step!("plan").in_scope(|| self.plan(&rendering, everything));
        self.claim(&rendering, &plan).instrument(step!("claim")).await?;
        self.keep_generated(&rendering).await?;
        if let Some(outcome) =
            self.before_apply(&rendering, &mut hooks).instrument(step!("hooks before")).await?
        {
            return Ok(outcome);
        }
        let applied = self.apply(&rendering.prepared.desired, &plan).instrument(step!("apply")).await?;
        let pruned = self.prune(&rendering, &plan).instrument(step!("prune")).await?;
        let course = if is_complete(&rendering, &plan) {
            self.after_apply(&rendering, &mut hooks)
                .instrument(step!("hooks after"))
                .await
                .unwrap_or_else(Course::Trouble)
        } else {
            Course::Done
        };
        self.remember(&rendering, &plan, &hooks);
        self.report(&rendering, &plan, applied || pruned, hooks, course).instrument(step!("report")).await
    }

    /// What the definition does not allow is not begun with.
    fn check_scope(&self, rendering: &Rendering) -> Result<(), Problem> {
        let Some(allow) = &self.served.definition.spec.allow else { return Ok(()) };
        let refused = scope::refused(
            allow,
            &rendering.prepared.desired,
            &rendering.hooks,
            &rendering.namespace,
            |gvk| self.cluster().served(gvk),
        );
        if refused.is_empty() {
            return Ok(());
        }
        Err(Problem { reason: "NotAllowed", message: refused.join("; "), passing: false })
    }

    /// Before a render: watches the kinds that the set is said to have, so that what it has is known.
    async fn watch_known(&self) -> Result<(), Problem> {
        let keys = self.keys_of_extent(&self.cr.marks.extent());
        let keys: Vec<&ObjectKey> = keys.iter().map(|k| &**k).collect();
        self.operator.watch(&keys).await.map_err(|f| Problem::of_failure("WatchFailed", &f))
    }

    /// Step 5: watches the kinds of what is desired and of what the set has had.
    async fn watch(&self, rendering: &Rendering, hooks: &Hooks) -> Result<(), Problem> {
        let extent = self.cr.marks.extent();
        let mut keys: Vec<Arc<ObjectKey>> =
            rendering.prepared.desired.iter().map(|d| d.key.clone()).collect();
        keys.extend(self.keys_of_extent(&extent));
        let members = keys.len();
        keys.extend(self.hook_keys(rendering, hooks));
        self.use_kinds(&keys);
        // Those of hooks are watched when their turn comes.
        keys.truncate(members);
        let mut keys: Vec<&ObjectKey> = keys.iter().map(|k| &**k).collect();
        keys.sort_unstable_by(|a, b| (&a.kind, &a.namespace).cmp(&(&b.kind, &b.namespace)));
        self.operator.watch(&keys).await.map_err(|f| Problem::of_failure("WatchFailed", &f))
    }

    /// One key (without a name) for each kind and namespace that the parent says its set has. Kinds that are not served any
    /// more have no objects.
    fn keys_of_extent(&self, extent: &Extent) -> Vec<Arc<ObjectKey>> {
        let mut keys = Vec::new();
        for kind in &extent.kinds {
            let Some((kind, _, namespaced)) = self.cluster().resource(&GroupKind::parse(kind)) else {
                continue;
            };
            let key = |namespace: &str| {
                Arc::new(ObjectKey { kind: kind.clone(), namespace: namespace.into(), name: Box::default() })
            };
            if namespaced {
                let homes = [self.parent.namespace.as_str()].into_iter().filter(|n| !n.is_empty());
                keys.extend(homes.chain(extent.namespaces.iter().map(String::as_str)).map(key));
            } else {
                keys.push(key(""));
            }
        }
        keys
    }

    /// Counts the instance as a user of these objects' kinds.
    fn use_kinds(&self, keys: &[Arc<ObjectKey>]) {
        let kinds: BTreeSet<_> = keys.iter().map(|k| k.kind.clone()).collect();
        let unused = self.operator.world().use_kinds(self.id, kinds.into_iter().collect());
        self.operator.unwatch(&unused);
    }

    /// After a restart: if the status says that this very desired state was applied, and nobody has touched the members
    /// since, they are taken for applied.
    fn recall(&self, rendering: &Rendering) {
        if self.memory.recalled {
            return;
        }
        let release = self.cr.status.release.as_ref();
        let mut world = self.operator.world();
        let same = release.is_some_and(|r| {
            r.manifest_digest == rendering.manifest_digest
                && r.members_digest
                    == members_digest(world.members(&self.set), rules::hash(&rendering.prepared.desired))
        });
        if same {
            world.recall(rendering.prepared.desired.iter().map(|d| (d.key.clone(), d.digest)));
        }
        if let Some(memory) = world.memory(self.id) {
            memory.recalled = true;
        }
    }

    /// Step 6.
    fn plan(&self, rendering: &Rendering, everything: bool) -> Plan {
        let world = self.operator.world();
        let situation = Situation {
            set: &self.set,
            live: |key: &ObjectKey| world.live(key).cloned(),
            members: world.members(&self.set).map(|(key, live)| (key, live.clone())),
            repairs: |key: &ObjectKey| world.repairs(key),
            settled: self.was_applied(rendering),
            mode: self.served.definition.spec.drift.mode,
            everything,
            now: Instant::now(),
        };
        plan::plan(&rendering.prepared.desired, situation)
    }

    /// Whether this desired state was applied in full before: then what is missing was taken away.
    fn was_applied(&self, rendering: &Rendering) -> bool {
        self.cr.status.release.as_ref().is_some_and(|r| r.manifest_digest == rendering.manifest_digest)
    }

    /// What the members will be once all is applied and pruned.
    fn extent(&self, desired: &[Desired]) -> Extent {
        Extent::of(desired.iter().map(|d| &*d.key), &self.parent.namespace)
    }

    /// Remembers that all was applied, for step 2 of the next reconcile.
    fn remember(&self, rendering: &Rendering, plan: &Plan, hooks: &Hooks) {
        let complete = is_complete(rendering, plan) && hooks.pending.is_none();
        let keys: Arc<[Arc<ObjectKey>]> = rendering.prepared.desired.iter().map(|d| d.key.clone()).collect();
        let extent = {
            let mut world = self.operator.world();
            let extent = world.instance(self.id).map(|i| i.cr.marks.extent()).unwrap_or_default();
            let Some(memory) = world.memory(self.id) else { return };
            memory.settled = complete.then_some(self.inputs);
            memory.awaits_kinds &= !complete;
            memory.expected = keys.clone();
            memory.spent = plan.spent.iter().map(|at| keys[*at].clone()).collect();
            memory.deployed = is_complete(rendering, plan).then(|| self.cr.clone());
            // Something of another revision is applied now.
            memory.found = Some(Arc::default());
            memory.rules = rules::hash(&rendering.prepared.desired);
            memory.requested = Some(self.cr.marks.reconcile().into());
            extent
        };
        // What was pruned may have been the last of its kind.
        let mut used = keys.to_vec();
        used.extend(self.keys_of_extent(&extent));
        let running = self.hook_keys(rendering, hooks);
        if running.is_empty() {
            self.operator.world().forget_hooks(&self.set);
        }
        used.extend(running);
        self.use_kinds(&used);
    }

    fn problem(&self, reason: &'static str, key: &ObjectKey, failure: &Failure) -> Problem {
        Problem { reason, message: format!("{key}: {}", failure.about(key)), passing: failure.is_passing() }
    }
}

/// Whether all that is desired is applied, and nothing is put off.
fn is_complete(rendering: &Rendering, plan: &Plan) -> bool {
    rendering.prepared.unserved.is_empty()
        && plan.foreign.is_empty()
        && plan.leaving.is_empty()
        && plan.held.is_empty()
}

/// A time a little later at which others come too, so that an idle process wakes up once for many.
fn gathered(at: Instant, period: Duration) -> Instant {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    let grid = (period / 60).min(Duration::from_secs(5)).as_nanos();
    let since = at.saturating_duration_since(*START).as_nanos();
    match since.checked_rem(grid) {
        None | Some(0) => at,
        Some(over) => at + Duration::from_nanos(u64::try_from(grid - over).unwrap_or(0)),
    }
}

/// How long to wait after so many failures in a row.
fn back_off(failures: u32) -> Duration {
    FIRST_WAIT.saturating_mul(1 << failures.saturating_sub(1).min(12)).min(LONGEST_WAIT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_a_limit() {
        let waits: Vec<u64> = (1..=12).map(|n| back_off(n).as_secs()).collect();
        assert_eq!(waits, [0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]);
        assert_eq!(back_off(u32::MAX), LONGEST_WAIT);
    }
}
