//! Why a reconcile runs.

use std::{fmt, sync::Arc};

use crate::release::inventory::ObjectKey;

/// One reason for a reconcile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trigger {
    /// The operator saw the resource for the first time.
    Seen,
    /// Its spec changed.
    Changed,
    /// An annotation, a label or a finalizer that counts changed.
    Marked,
    /// It is to be deleted.
    Deleted,
    /// A member was changed by somebody else.
    Member(Arc<ObjectKey>),
    /// A member is gone, or lost the labels that it is watched by.
    Gone(Arc<ObjectKey>),
    /// A member does better or worse.
    Health(Arc<ObjectKey>),
    /// A hook's object changed or is gone.
    Hook(Arc<ObjectKey>),
    /// Something that a template looked up changed.
    LookedUp(Arc<str>),
    /// The kinds that the cluster serves changed.
    Served,
    /// Its period is over.
    Period,
    /// The last reconcile failed, or left something for later.
    Retry,
}

impl Trigger {
    /// The class of the trigger, for metrics.
    pub fn class(&self) -> &'static str {
        match self {
            Trigger::Seen => "start",
            Trigger::Changed | Trigger::Marked | Trigger::Deleted => "resource",
            Trigger::Member(_) | Trigger::Gone(_) => "member",
            Trigger::Health(_) => "health",
            Trigger::Hook(_) => "hook",
            Trigger::LookedUp(_) => "lookup",
            Trigger::Served => "served",
            Trigger::Period => "period",
            Trigger::Retry => "retry",
        }
    }

    /// Whether it may come after those that change objects: what it leads to, as a rule, is a look or a new status.
    pub fn is_background(&self) -> bool {
        matches!(self, Trigger::Period | Trigger::Served | Trigger::Health(_))
    }
}

impl fmt::Display for Trigger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Trigger::Seen => f.write_str("first seen"),
            Trigger::Changed => f.write_str("spec changed"),
            Trigger::Marked => f.write_str("metadata changed"),
            Trigger::Deleted => f.write_str("deleted"),
            Trigger::Member(key) => write!(f, "{key} changed"),
            Trigger::Gone(key) => write!(f, "{key} gone"),
            Trigger::Health(key) => write!(f, "health of {key}"),
            Trigger::Hook(key) => write!(f, "hook {key}"),
            Trigger::LookedUp(what) => write!(f, "{what}, which was looked up, changed"),
            Trigger::Served => f.write_str("served kinds changed"),
            Trigger::Period => f.write_str("period"),
            Trigger::Retry => f.write_str("retry"),
        }
    }
}

/// The reasons that have come together until a reconcile runs: the first few, and how many more.
#[derive(Debug, Clone, Default)]
pub struct Triggers {
    first: Vec<Trigger>,
    more: u32,
}

impl Triggers {
    const KEPT: usize = 8;

    /// Adds a reason, once.
    pub fn add(&mut self, trigger: Trigger) {
        if self.first.contains(&trigger) {
            return;
        }
        if self.first.len() < Self::KEPT {
            self.first.push(trigger);
        } else {
            self.more += 1;
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.first.is_empty()
    }

    /// Whether one of the reasons kept is such.
    pub fn any(&self, is: impl Fn(&Trigger) -> bool) -> bool {
        self.first.iter().any(is)
    }

    /// Whether nothing but time asks.
    pub fn is_only_period(&self) -> bool {
        matches!(self.first[..], [Trigger::Period])
    }

    /// The class of the first reason, for metrics.
    pub fn class(&self) -> &'static str {
        self.first.first().map_or("none", Trigger::class)
    }
}

impl fmt::Display for Triggers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, trigger) in self.first.iter().enumerate() {
            if i > 0 {
                f.write_str(", ")?;
            }
            write!(f, "{trigger}")?;
        }
        if self.more > 0 {
            write!(f, " and {} more", self.more)?;
        }
        Ok(())
    }
}
