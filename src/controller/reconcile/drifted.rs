//! What others did to members: what is left to them, what is told of it, and of what was put back.

use std::{borrow::Cow, time::Instant};

use kube::core::{DynamicObject, PartialObjectMeta};
use serde_json::Value;

use super::{super::events::Level, Work};
use crate::{
    api::names,
    release::{drift, failure::Failure, inventory::ObjectKey, object::Desired, plan::Plan, yielding},
};

/// The metadata of a live object.
pub(super) type Live = PartialObjectMeta<DynamicObject>;

/// Of so many members that were changed and left so, it is told who changed what.
const TOLD: usize = 10;

impl Work<'_> {
    /// Whether there may be fields of an object that are left to others, so that it has to be looked at before an apply.
    pub(super) fn may_yield(&self, desired: &Desired) -> bool {
        if !desired.rules.ignore.is_empty() {
            return true;
        }
        let world = self.operator.world();
        world
            .live(&desired.key)
            .is_some_and(|live| live.scaled || live.rules.as_ref().is_some_and(|r| !r.ignore.is_empty()))
    }

    /// Takes from the body of an apply what is left to others: by the rules, and a replica count that a
    /// HorizontalPodAutoscaler holds. What was taken out.
    pub(super) async fn yield_fields(
        &self,
        desired: &Desired,
        body: &mut Cow<'_, Value>,
        live: Option<&Live>,
    ) -> Result<Vec<String>, Failure> {
        let Some(managed) = live.and_then(|l| l.metadata.managed_fields.as_deref()) else {
            return Ok(Vec::new());
        };
        let rules = self.operator.world().live(&desired.key).and_then(|l| l.rules.clone());
        let pointers =
            yielding::pointers(self.cluster().client(), &self.set, desired, rules.as_deref(), managed)
                .await?;
        if pointers.is_empty() {
            return Ok(Vec::new());
        }
        Ok(yielding::leave(body.to_mut(), managed, &pointers))
    }

    /// Tells what is left to others.
    pub(super) fn say_yielded(&self, desired: &Desired, yielded: &[String], live: Option<&Live>) {
        let managers: Vec<&str> = {
            let entries = live.and_then(|l| l.metadata.managed_fields.as_deref()).unwrap_or_default();
            let mut managers: Vec<&str> = entries
                .iter()
                .filter_map(|e| e.manager.as_deref())
                .filter(|m| *m != names::FIELD_MANAGER)
                .collect();
            managers.sort_unstable();
            managers.dedup();
            managers
        };
        let note = format!(
            "{}: left to others by a rule: {} (other field managers: {})",
            desired.key,
            yielded.join(", "),
            managers.join(", ")
        );
        self.say(Level::Normal, "DriftIgnored", "Apply", Some(desired), &note);
    }

    /// Tells that an object was put back by an apply of `body`, and from whom; unless what was taken was all `yielded`.
    pub(super) fn repaired(&self, desired: &Desired, body: &Value, yielded: bool, before: Option<&Live>) {
        let key = &desired.key;
        let managed = before.map(|live| live.metadata.managed_fields.as_deref().unwrap_or_default());
        let taken = managed.map(|managed| drift::taken(body, managed)).unwrap_or_default();
        if yielded && taken.is_empty() {
            return;
        }
        let what = match before {
            None => "it was deleted".to_owned(),
            Some(_) if taken.is_empty() => "its fields were changed".to_owned(),
            Some(_) => drift::sentence(&taken),
        };
        let contest = drift::contest(&taken);
        let repairs = self.operator.world().repaired(key, contest.clone(), Instant::now());
        self.count(&self.operator.metrics.drifts, key);
        let mut note = format!("{key} was put back: {what}");
        if repairs.is_fight() {
            note.push_str(&format!(" ({} times lately", repairs.lately()));
            if let Some(contest) = contest {
                note.push_str(&format!(": {contest}"));
            }
            note.push_str("; the next correction waits)");
        }
        tracing::info!(instance = %self.id, %key, what, "drift corrected");
        let level = if repairs.is_fight() { Level::Warning } else { Level::Normal };
        self.say(level, "DriftCorrected", "Apply", Some(desired), &note);
    }

    /// What is said of an object that somebody fights over.
    pub(super) fn held(&self, key: &ObjectKey) -> String {
        let world = self.operator.world();
        match world.contest(key) {
            Some(contest) => {
                format!("{key} is changed again and again ({contest}), and is put back later")
            }
            None => format!("{key} is changed again and again, and is put back later"),
        }
    }

    /// What is said of members that others changed and that are left so. An Event tells it when it is new.
    pub(super) async fn tolerated(&self, desired: &[Desired], plan: &Plan) -> Vec<String> {
        let mut said = Vec::with_capacity(plan.tolerated.len());
        for (n, at) in plan.tolerated.iter().enumerate() {
            let d = &desired[*at];
            if n >= TOLD {
                said.push(d.key.to_string());
                continue;
            }
            let what = match self.cluster().metadata(&d.key).await {
                Ok(Some(live)) => {
                    let taken = drift::taken(&d.body, live.metadata.managed_fields.as_deref().unwrap_or(&[]));
                    if taken.is_empty() {
                        "its fields were changed".to_owned()
                    } else {
                        drift::sentence(&taken)
                    }
                }
                Ok(None) => "it was deleted".to_owned(),
                Err(_) => "it was changed".to_owned(),
            };
            said.push(format!("{}: {what}", d.key));
        }
        let known = self.cr.status.condition(crate::api::status::conditions::DRIFTED);
        for line in &said {
            if known.is_none_or(|c| !c.message.contains(line.as_str())) {
                self.say(
                    Level::Warning,
                    "DriftDetected",
                    "Reconcile",
                    None,
                    &format!("{line}; it is left so"),
                );
            }
        }
        said
    }
}
