//! How often objects were put back lately, and who wants their fields.

use std::{sync::Arc, time::Instant};

use super::World;
use crate::release::{inventory::ObjectKey, plan::Repairs};

/// How often an object was put back lately, and who wants its fields.
#[derive(Debug, Default)]
pub(super) struct Repaired {
    repairs: Repairs,
    contest: Option<Box<str>>,
}

impl World {
    /// Counts that an object was put back, and from whom: a sentence, when somebody else holds its fields.
    pub fn repaired(&mut self, key: &Arc<ObjectKey>, contest: Option<String>, now: Instant) -> Repairs {
        self.repairs.retain(|_, r| !r.repairs.is_forgotten(now));
        let repaired = self.repairs.entry(key.clone()).or_default();
        repaired.repairs.count(now);
        if let Some(contest) = contest {
            repaired.contest = Some(contest.into());
        }
        repaired.repairs
    }

    /// Who fights over an object, in a sentence.
    pub fn contest(&self, key: &ObjectKey) -> Option<&str> {
        self.repairs.get(key)?.contest.as_deref()
    }

    /// How often an object was put back lately.
    pub fn repairs(&self, key: &ObjectKey) -> Repairs {
        self.repairs.get(key).map(|r| r.repairs).unwrap_or_default()
    }
}
