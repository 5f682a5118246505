//! What is deployed, while what is desired cannot be yet: a hook runs or has failed before the upgrade, or the new spec does not
//! render. The revision that runs is kept as it is until then.
//!
//! It is rendered from the resource as it was, which this process remembers. After a restart nobody does: then it is what the
//! members are found as, of which the API server knows what we have applied. What was changed before that is told.

use std::{
    sync::{Arc, OnceLock},
    time::Instant,
};

use futures::{StreamExt as _, stream};
use tokio::sync::OnceCell;
use tracing::Instrument as _;

use super::{super::events::Level, Work, status::Problem};
use crate::{
    release::{
        extract,
        failure::Failure,
        inventory::ObjectKey,
        object::{Desired, manifest_digest},
        plan::{self, Live, Situation, members_digest},
        rules,
    },
    step,
};

/// So many members are read at once.
const READS: usize = 8;

impl Work<'_> {
    /// Puts back what others did to the members of the revision that is deployed. When to look again, if something is put
    /// back later.
    pub(super) async fn keep_deployed(&self) -> Result<Option<Instant>, Problem> {
        let Some(release) = &self.cr.status.release else { return Ok(None) };
        let Some(deployed) = &self.memory.deployed else {
            return self.keep_found().instrument(step!("keep deployed")).await;
        };
        let as_applied = {
            let world = self.operator.world();
            world.instance(self.id).is_none_or(|instance| world.is_as_applied(instance))
        };
        if as_applied {
            return Ok(None);
        }
        let old = Work {
            operator: self.operator,
            id: self.id,
            served: self.served,
            cr: deployed.clone(),
            set: self.set.clone(),
            parent: self.parent.clone(),
            memory: self.memory.clone(),
            inputs: self.inputs,
            hook_pods: OnceLock::new(),
            own_crd: OnceLock::new(),
            stays: OnceCell::new(),
        };
        old.put_back(release.revision, &release.manifest_digest).instrument(step!("keep deployed")).await
    }

    async fn put_back(&self, revision: u32, digest: &str) -> Result<Option<Instant>, Problem> {
        let namespace = self.release_namespace()?;
        let (_, prepared, _) = self.render_as(revision, &namespace).await?;
        // What it looks up is something else by now.
        if manifest_digest(&prepared) != digest {
            return Ok(None);
        }
        let keys: Vec<&ObjectKey> = prepared.desired.iter().map(|d| &*d.key).collect();
        self.operator.watch(&keys).await.map_err(|f| Problem::of_failure("WatchFailed", &f))?;
        self.put_all_back(&prepared.desired).await
    }

    async fn put_all_back(&self, desired: &[Desired]) -> Result<Option<Instant>, Problem> {
        let plan = {
            let world = self.operator.world();
            let situation = Situation {
                set: &self.set,
                live: |key: &ObjectKey| world.live(key).cloned(),
                members: std::iter::empty::<(&Arc<ObjectKey>, Live)>(),
                repairs: |key: &ObjectKey| world.repairs(key),
                settled: true,
                mode: self.served.definition.spec.drift.mode,
                everything: false,
                now: Instant::now(),
            };
            plan::plan(desired, situation)
        };
        if self.apply(desired, &plan).await? {
            self.note_members(desired).await?;
        }
        Ok(plan.held.iter().map(|(_, until)| *until).min())
    }

    /// Notes in the status what the members are now, for whoever comes after this process: one that was made anew is
    /// another, and was not changed by somebody else.
    async fn note_members(&self, desired: &[Desired]) -> Result<(), Problem> {
        let mut status = self.latest().status.clone();
        let digest = members_digest(self.operator.world().members(&self.set), rules::hash(desired));
        match &mut status.release {
            Some(release) if !release.members_digest.is_empty() => release.members_digest = digest,
            _ => return Ok(()),
        }
        self.write(status).await
    }

    /// After a restart in the middle of an upgrade: the members as they were found.
    async fn keep_found(&self) -> Result<Option<Instant>, Problem> {
        if let Some(found) = &self.memory.found {
            return self.put_all_back(found).await;
        }
        let members: Vec<(Arc<ObjectKey>, Live)> = {
            let world = self.operator.world();
            let ours = world.members(&self.set).filter(|(_, live)| !live.deleting && live.applied.is_none());
            ours.map(|(key, live)| (key.clone(), live.clone())).collect()
        };
        let reads: Vec<_> = members.iter().map(|(key, live)| self.as_found(key, live)).collect();
        let read: Vec<Result<Option<Desired>, Problem>> = stream::iter(reads).buffered(READS).collect().await;
        let mut found: Vec<Desired> =
            read.into_iter().filter_map(Result::transpose).collect::<Result<_, _>>()?;
        found.sort_by(|a, b| {
            crate::manifest::Order::Install
                .compare(&a.key.kind.kind, &b.key.kind.kind)
                .then_with(|| a.key.cmp(&b.key))
        });
        for at in 1..found.len() {
            found[at].group = found[at - 1].group + usize::from(found[at].key.kind != found[at - 1].key.kind);
        }
        // What is wrong with annotations is told where the spec is rendered.
        let instance = self.cr.marks.rules().unwrap_or_default();
        rules::attach(&mut found, &self.served.definition.spec, &instance);
        let before = self.cr.status.release.as_ref().map(|r| r.members_digest.clone()).unwrap_or_default();
        let differs = {
            let mut world = self.operator.world();
            world.recall(found.iter().map(|d| (d.key.clone(), d.digest)));
            let now = members_digest(world.members(&self.set), rules::hash(&found));
            if let Some(memory) = world.memory(self.id) {
                memory.found = Some(found.into());
            }
            !before.is_empty() && before != now
        };
        if differs {
            let note = "members of the deployed revision were changed or deleted while no operator ran; they are put right with the next \
                revision that comes through";
            self.say(Level::Warning, "DriftDetected", "Reconcile", None, note);
        }
        Ok(None)
    }

    /// What we have applied of a member, if an apply of it changes nothing about whose the fields are.
    async fn as_found(&self, key: &Arc<ObjectKey>, live: &Live) -> Result<Option<Desired>, Problem> {
        let fail = |failure: Failure| self.problem("ReadFailed", key, &failure);
        let Some(mut object) = self.cluster().object(key).await.map_err(fail)? else { return Ok(None) };
        let Some(gvk) = extract::version(&object) else { return Ok(None) };
        if object["apiVersion"] != *gvk.api_version() {
            match self.cluster().fetch(&gvk, &key.namespace, &key.name).await.map_err(fail)? {
                Some(other) => object = other,
                None => return Ok(None),
            }
        }
        let Some(desired) = extract::applied(key, &object) else { return Ok(None) };
        match self.cluster().would_apply(&desired).await {
            Ok(seen) if *seen.uid() == *live.uid && seen.ours == live.observed => Ok(Some(desired)),
            Err(failure @ Failure::Unavailable(_)) => Err(fail(failure)),
            _ => Ok(None),
        }
    }
}
