//! What `/metrics` tells.

use std::{sync::atomic::AtomicI64, time::Duration};

use prometheus_client::{
    encoding::{EncodeLabelSet, text::encode},
    metrics::{counter::Counter, family::Family, gauge::Gauge, histogram::Histogram},
    registry::{Registry, Unit},
};

/// The labels of a definition's kind.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct OfKind {
    /// `<Kind>.<group>`.
    pub kind: String,
}

/// The labels of a reconcile.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct OfReconcile {
    /// `<Kind>.<group>` of the instance.
    pub kind: String,
    /// What came of it: `unchanged`, `applied`, `waiting`, `failed`, `suspended`, `deleted`.
    pub result: &'static str,
    /// The class of the first reason for it.
    pub trigger: &'static str,
}

/// The labels of what is done to members.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct OfMember {
    /// `<Kind>.<group>` of the instance.
    pub kind: String,
    /// `<Kind>.<group>` of the member.
    pub member: String,
}

/// All metrics.
pub struct Metrics {
    registry: Registry,
    /// Reconciles.
    pub reconciles: Family<OfReconcile, Counter>,
    /// How long they took.
    pub seconds: Family<OfKind, Histogram>,
    /// Applies.
    pub applies: Family<OfMember, Counter>,
    /// Corrections of drift.
    pub drifts: Family<OfMember, Counter>,
    /// Deletions of what is no longer rendered.
    pub prunes: Family<OfMember, Counter>,
    /// Renders that failed.
    pub render_failures: Family<OfKind, Counter>,
    /// Instances.
    pub instances: Family<OfKind, Gauge>,
    /// Open watches.
    pub watches: Gauge<i64, AtomicI64>,
    /// Instances that wait for a reconcile.
    pub queued: Gauge<i64, AtomicI64>,
    /// 1 in the process that leads, or needs not to.
    pub leader: Gauge<i64, AtomicI64>,
    /// Events that were dropped, since too many waited.
    pub events_dropped: Counter,
}

impl Default for Metrics {
    fn default() -> Self {
        let mut registry = Registry::with_prefix("pintle");
        // From a look at what is remembered (microseconds) to a large release on a slow API server.
        let buckets = || {
            Histogram::new([0.0001, 0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 30.0])
        };
        let metrics = Metrics {
            reconciles: Family::default(),
            seconds: Family::new_with_constructor(buckets),
            applies: Family::default(),
            drifts: Family::default(),
            prunes: Family::default(),
            render_failures: Family::default(),
            instances: Family::default(),
            watches: Gauge::default(),
            queued: Gauge::default(),
            leader: Gauge::default(),
            events_dropped: Counter::default(),
            registry: Registry::default(),
        };
        registry.register(
            "reconciles",
            "Reconciles, by result and first trigger",
            metrics.reconciles.clone(),
        );
        registry.register_with_unit(
            "reconcile",
            "How long reconciles took",
            Unit::Seconds,
            metrics.seconds.clone(),
        );
        registry.register("applies", "Server-side applies of members", metrics.applies.clone());
        registry.register(
            "drifts",
            "Members put back after somebody else changed them",
            metrics.drifts.clone(),
        );
        registry.register(
            "prunes",
            "Members deleted since they are no longer rendered",
            metrics.prunes.clone(),
        );
        registry.register("render_failures", "Renders that failed", metrics.render_failures.clone());
        registry.register("instances", "Custom resources under management", metrics.instances.clone());
        registry.register("watches", "Open watches", metrics.watches.clone());
        registry.register("queue_depth", "Instances waiting for a reconcile", metrics.queued.clone());
        registry.register(
            "leader",
            "1 in the process that works, 0 in one that stands by",
            metrics.leader.clone(),
        );
        registry.register(
            "events_dropped",
            "Events dropped since too many waited",
            metrics.events_dropped.clone(),
        );
        Metrics { registry, ..metrics }
    }
}

impl Metrics {
    /// Counts a reconcile.
    pub fn reconciled(&self, kind: &str, result: &'static str, trigger: &'static str, took: Duration) {
        let labels = OfReconcile { kind: kind.to_owned(), result, trigger };
        self.reconciles.get_or_create(&labels).inc();
        self.seconds.get_or_create(&OfKind { kind: kind.to_owned() }).observe(took.as_secs_f64());
    }

    /// All of them in the text format of OpenMetrics.
    pub fn text(&self) -> String {
        let mut out = String::new();
        // Writing to a String does not fail.
        let _ = encode(&mut out, &self.registry);
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_prometheus_own() {
        let metrics = Metrics::default();
        metrics.reconciled("Web.pintle.dev", "applied", "resource", Duration::from_millis(7));
        metrics.watches.set(3);
        let text = metrics.text();
        assert!(text.contains(
            r#"pintle_reconciles_total{kind="Web.pintle.dev",result="applied",trigger="resource"} 1"#
        ));
        assert!(text.contains("pintle_reconcile_seconds_count"));
        assert!(text.contains("pintle_watches 3"));
    }
}
