//! Fields that cannot be changed: the object is deleted and made anew where somebody has said so, and else it is told.

use super::{super::events::Level, Work, status::Problem};
use crate::{
    api::names,
    release::{
        claim::{Whose, whose},
        failure::Failure,
        immutable::Immutable,
        inventory::ObjectKey,
        object::Desired,
        rules,
    },
};

impl Work<'_> {
    /// Deletes an object of which a field has to change that cannot be changed, if that is allowed. A StatefulSet leaves its
    /// Pods and claims, which the new one takes over. The problem is that it is not allowed, or that the old one is not gone
    /// yet.
    pub(super) async fn make_anew(&self, desired: &Desired, change: &Immutable) -> Result<(), Problem> {
        let key = &desired.key;
        let fail = |failure: Failure| self.problem("RecreateFailed", key, &failure);
        let live_says = self
            .operator
            .world()
            .live(key)
            .and_then(|live| live.rules.as_ref())
            .is_some_and(|rules| rules.recreate);
        if rules::never_anew(key) || !(desired.rules.recreate || live_says) {
            return Err(refused(key, change));
        }
        let Some(live) = self.cluster().metadata(key).await.map_err(fail)? else { return Ok(()) };
        if whose(&live.metadata, &self.parent, true) != Whose::Ours {
            return Err(refused(key, change));
        }
        let uid = live.metadata.uid.unwrap_or_default();
        let keeps_pods = (&*key.kind.group, &*key.kind.kind) == ("apps", "StatefulSet");
        let deleted = if keeps_pods {
            self.cluster().delete_alone(key, &uid).await
        } else {
            self.cluster().delete(key, &uid).await
        };
        if deleted.map_err(fail)? {
            let left = if keeps_pods { "; its Pods and claims stay" } else { "" };
            let note = format!("{key} is made anew, since {} cannot be changed{left}", change.names());
            tracing::info!(instance = %self.id, %key, fields = change.names(), "recreated");
            self.say(Level::Warning, "Recreated", "Delete", Some(desired), &note);
        }
        match self.cluster().metadata(key).await.map_err(fail)? {
            None => Ok(()),
            Some(_) => Err(Problem {
                reason: "Recreating",
                message: format!(
                    "{key} is made anew, since {} cannot be changed, once the old one is gone",
                    change.names()
                ),
                passing: true,
            }),
        }
    }
}

fn refused(key: &ObjectKey, change: &Immutable) -> Problem {
    let advice = if rules::never_anew(key) {
        "it is never deleted to be made anew: render it under another name, or change it by hand".to_owned()
    } else {
        format!(
            "the annotation {}: \"true\" on it, or on the instance, has it deleted and made anew",
            names::RECREATE
        )
    };
    Problem {
        reason: "ImmutableField",
        message: format!("{key}: {} cannot be changed ({}); {advice}", change.names(), change.why),
        passing: false,
    }
}
