//! What is deployed, while what is desired cannot be yet: a hook runs or has failed before the upgrade, or the new spec does not
//! render. The revision that runs is kept as it is until then.
//!
//! It is rendered from the resource as it was, which this process remembers. After a restart in the middle of an upgrade
//! nobody does, and the members are left alone until the upgrade has come through.

use std::{
    sync::{Arc, OnceLock},
    time::Instant,
};

use tokio::sync::OnceCell;
use tracing::Instrument as _;

use super::{Work, status::Problem};
use crate::{
    release::{
        inventory::ObjectKey,
        object::manifest_digest,
        plan::{self, Situation},
    },
    step,
};

impl Work<'_> {
    /// Puts back what others did to the members of the revision that is deployed. When to look again, if something is put
    /// back later.
    pub(super) async fn keep_deployed(&self) -> Result<Option<Instant>, Problem> {
        let (Some(release), Some(deployed)) = (&self.cr.status.release, &self.memory.deployed) else {
            return Ok(None);
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
        let plan = {
            let world = self.operator.world();
            let situation = Situation {
                set: &self.set,
                live: |key: &ObjectKey| world.live(key).cloned(),
                members: std::iter::empty::<(&Arc<ObjectKey>, plan::Live)>(),
                repairs: |key: &ObjectKey| world.repairs(key),
                settled: true,
                mode: self.served.definition.spec.drift.mode,
                everything: false,
                now: Instant::now(),
            };
            plan::plan(&prepared.desired, situation)
        };
        self.apply(&prepared.desired, &plan).await?;
        Ok(plan.held.iter().map(|(_, until)| *until).min())
    }
}
