//! Whether a resource is still there, and is to stay; and what must stay after it.
//!
//! Its watch and those of its members are not in step: what garbage collection makes of the members of a deleted resource may
//! be seen before the deletion is. It would look like drift, and to put it back would harm: a member that was to be left gets
//! an owner that is gone, and is deleted for it.

use kube::core::{DynamicObject, PartialObjectMeta};

use super::{Work, status::Problem};
use crate::release::{failure::Failure, inventory::ObjectKey, object::Desired, own_kind};

/// The reason of what is not done since the resource is not to stay.
const OVER: &str = "Over";

impl Work<'_> {
    /// Whether what has happened to a member may be the end of the resource rather than drift: it is gone, or its owner was
    /// taken from it.
    pub(super) fn may_be_the_end(
        &self,
        desired: &Desired,
        live: Option<&PartialObjectMeta<DynamicObject>>,
    ) -> bool {
        self.parent.can_own(&desired.key) && !live.is_some_and(|live| self.parent.owns(&live.metadata))
    }

    /// Asks the API server, once in a reconcile, whether the resource is there and is to stay. The problem is that it is not.
    pub(super) async fn must_stay(&self) -> Result<(), Problem> {
        let asked = self.stays.get_or_try_init(async || {
            match self.own_api()?.get_opt(&self.parent.name).await.map_err(Failure::of) {
                Ok(None) => Ok(false),
                Ok(Some(cr)) => {
                    let stays = cr.uid() == self.parent.uid && !cr.deleting;
                    self.operator.saw_instance(self.id.definition, cr);
                    Ok(stays)
                }
                // Who may not ask goes by what was seen.
                Err(Failure::Forbidden(_)) => Ok(true),
                Err(failure) => Err(Problem::of_failure("ReadFailed", &failure)),
            }
        });
        if *asked.await? { Ok(()) } else { Err(self.over()) }
    }

    /// Whether an object must outlive the resource, whatever a chart says: the namespace that it is in, and the definition of
    /// its kind.
    pub(super) fn must_outlive(&self, key: &ObjectKey) -> bool {
        let is_definition = || {
            let own = self.cluster().resource_in(&self.parent.gvk);
            own.is_some_and(|(own, _)| *key.name == *format!("{}.{}", own.plural, own.group))
        };
        self.parent.is_in(key) || own_kind::is_crd(&key.kind.group, &key.kind.kind) && is_definition()
    }

    /// The problem that the resource is not there any more, or is on its way out.
    pub(super) fn over(&self) -> Problem {
        tracing::debug!(instance = %self.id, "it is gone or going, which its watch has not shown yet");
        Problem { reason: OVER, message: "the resource is gone, or is being deleted".into(), passing: true }
    }

    /// Whether what failed is of no interest any more, since the resource is gone or going: its end comes next.
    pub(super) fn is_over(&self, problem: &Problem) -> bool {
        let is_known = || {
            let world = self.operator.world();
            world.instance(self.id).is_none_or(|i| i.cr.deleting || i.cr.uid() != self.parent.uid)
        };
        problem.reason == OVER || is_known()
    }
}
