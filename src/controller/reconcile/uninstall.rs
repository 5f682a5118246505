//! The end of an instance: its members are deleted in Helm's order, and the finalizer is let go once they are gone.
//!
//! Without our finalizer there is nothing to do here: garbage collection deletes what the resource owns.

use std::sync::Arc;

use super::{
    super::events::Level,
    Outcome, Work,
    report::now,
    status::{self, Problem},
};
use crate::{
    api::names,
    manifest::Order,
    release::{
        inventory::{GroupKind, ObjectKey},
        plan::Live,
    },
};

impl Work<'_> {
    pub(super) async fn uninstall(&self) -> Outcome {
        if !self.cr.finalizer && !self.cr.sdk_finalizers {
            return Outcome::Gone;
        }
        match self.clear().await {
            Ok(outcome) => outcome,
            Err(problem) => {
                let left = self.left();
                let keys: Vec<_> = left.iter().map(|(key, _)| key.clone()).collect();
                let status = status::uninstalling(
                    &self.cr.status,
                    self.cr.generation(),
                    &self.seen(&keys),
                    Some(&problem),
                    &now(),
                );
                self.say(Level::Warning, "UninstallFailed", "Delete", None, &problem.message);
                if let Err(second) = self.write(status).await {
                    tracing::warn!(instance = %self.id, error = %second.message, "the status could not be written");
                }
                Outcome::Failed(problem)
            }
        }
    }

    async fn clear(&self) -> Result<Outcome, Problem> {
        let keys = self.keys_of_extent(&self.cr.marks.extent());
        self.use_kinds(&keys);
        let watched: Vec<&ObjectKey> = keys.iter().map(|k| &**k).collect();
        self.operator.watch(&watched).await.map_err(|f| Problem::of_failure("WatchFailed", &f))?;
        let mut left = self.left();
        // The order of a whole uninstall, in which what uses goes before what is used.
        left.sort_by(|(a, _), (b, _)| {
            Order::Uninstall.compare(&a.kind.kind, &b.kind.kind).then_with(|| a.cmp(b))
        });
        for (key, live) in &left {
            let fail = |failure| self.problem("UninstallFailed", key, &failure);
            if self.cr.marks.orphan() || live.keep {
                self.cluster().release(key, &self.parent.uid).await.map_err(fail)?;
            } else if !live.deleting {
                self.cluster().delete(key, &live.uid).await.map_err(fail)?;
            }
        }
        // What is let go or was deleted at once may still be known for a moment; the watch says when it is not.
        let waiting: Vec<Arc<ObjectKey>> = left
            .iter()
            .filter(|(_, live)| !self.cr.marks.orphan() && !live.keep)
            .map(|(key, _)| key.clone())
            .collect();
        if !waiting.is_empty() {
            let seen = self.seen(&waiting);
            self.write(status::uninstalling(&self.cr.status, self.cr.generation(), &seen, None, &now()))
                .await?;
            return Ok(Outcome::Waiting(None));
        }
        let own = ObjectKey {
            kind: Arc::new(GroupKind {
                group: self.parent.gvk.group.as_str().into(),
                kind: self.parent.gvk.kind.as_str().into(),
            }),
            namespace: self.parent.namespace.as_str().into(),
            name: self.parent.name.as_str().into(),
        };
        let drop = |f: &str| f == names::FINALIZER || names::SDK_FINALIZERS.contains(&f);
        self.cluster()
            .drop_finalizers(&own, &self.parent.uid, drop)
            .await
            .map_err(|f| Problem::of_failure("UninstallFailed", &f))?;
        tracing::info!(instance = %self.id, "uninstalled");
        self.say(Level::Normal, "Uninstalled", "Delete", None, "all members are gone, or were let go");
        Ok(Outcome::Gone)
    }

    /// The members that are still there.
    fn left(&self) -> Vec<(Arc<ObjectKey>, Live)> {
        let world = self.operator.world();
        world.members(&self.set).map(|(key, live)| (key.clone(), live.clone())).collect()
    }
}
