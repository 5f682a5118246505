//! What `/metrics` tells.

use std::{
    sync::{Arc, atomic::AtomicI64},
    time::Duration,
};

use prometheus_client::{
    encoding::{EncodeLabelSet, text::encode},
    metrics::{counter::Counter, family::Family, gauge::Gauge, histogram::Histogram},
    registry::{Registry, Unit},
};

use crate::release::connection::Seen;

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

/// The labels of instances in a state.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct InState {
    /// `<Kind>.<group>`.
    pub kind: String,
    /// `ready`, `progressing`, `stalled`, `suspended`, `deleting`.
    pub state: &'static str,
}

/// The labels of a request to the API server.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct OfRequest {
    /// `GET`, `PATCH`…
    pub method: String,
    /// The answer's status code; 0 when there was none.
    pub code: u16,
}

/// The labels of the program.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Build {
    version: &'static str,
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
    /// Instances by state.
    pub states: Family<InState, Gauge>,
    /// Requests to the API server.
    pub requests: Family<OfRequest, Counter>,
    /// Reconciles that run.
    pub running: Gauge<i64, AtomicI64>,
    /// Watches that failed and were tried again.
    pub watch_failures: Family<OfKind, Counter>,
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
            states: Family::default(),
            requests: Family::default(),
            running: Gauge::default(),
            watch_failures: Family::default(),
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
        registry.register(
            "instances_by_state",
            "Custom resources that are ready, progressing, stalled, suspended or deleting",
            metrics.states.clone(),
        );
        registry.register(
            "api_requests",
            "Requests to the API server by method and status code; code 0 is no answer",
            metrics.requests.clone(),
        );
        registry.register("reconciles_running", "Reconciles that run", metrics.running.clone());
        registry.register(
            "watch_failures",
            "Watches that failed and were tried again, by kind",
            metrics.watch_failures.clone(),
        );
        let build: Family<Build, Gauge> = Family::default();
        build.get_or_create(&Build { version: env!("CARGO_PKG_VERSION") }).set(1);
        registry.register("build_info", "The version of the program", build);
        registry.register("watches", "Open watches of members", metrics.watches.clone());
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

    /// What counts requests to the API server, for a client.
    pub fn counter(&self) -> Seen {
        let requests = self.requests.clone();
        Arc::new(move |method: &http::Method, code| {
            requests.get_or_create(&OfRequest { method: method.to_string(), code }).inc();
        })
    }

    /// All of them, and those of the process, in the text format of OpenMetrics.
    pub fn text(&self) -> String {
        let mut out = String::new();
        // Writing to a String does not fail.
        let _ = encode(&mut out, &self.registry);
        let end = out.trim_end().strip_suffix("# EOF").map_or(out.len(), str::len);
        out.truncate(end);
        if let Some(usage) = Usage::now() {
            usage.write(&mut out);
        }
        out.push_str("# EOF\n");
        out
    }
}

/// What the process uses, under the names that all clients of Prometheus have for it.
struct Usage {
    cpu_seconds: f64,
    resident_bytes: u64,
}

impl Usage {
    /// From Linux's /proc; none elsewhere.
    fn now() -> Option<Self> {
        let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
        // After the name in parentheses, which may hold anything. Times are in ticks of 1/100 s, sizes in pages, of which
        // the sizes are told in kB elsewhere.
        let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        let ticks = |at: usize| fields.get(at)?.parse::<u32>().ok().map(f64::from);
        let status = std::fs::read_to_string("/proc/self/status").ok()?;
        let resident = status.lines().find_map(|l| l.strip_prefix("VmRSS:"))?;
        Some(Usage {
            cpu_seconds: (ticks(11)? + ticks(12)?) / 100.0,
            resident_bytes: resident.split_whitespace().next()?.parse::<u64>().ok()? * 1024,
        })
    }

    fn write(&self, out: &mut String) {
        out.push_str(&format!(
            "# HELP process_cpu_seconds User and system CPU time.\n\
             # TYPE process_cpu_seconds counter\n\
             # UNIT process_cpu_seconds seconds\n\
             process_cpu_seconds_total {}\n\
             # HELP process_resident_memory_bytes Resident memory.\n\
             # TYPE process_resident_memory_bytes gauge\n\
             # UNIT process_resident_memory_bytes bytes\n\
             process_resident_memory_bytes {}\n",
            self.cpu_seconds, self.resident_bytes
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    /// All names and labels that can be there: what has no samples yet is not printed.
    fn vocabulary() -> HashSet<String> {
        let metrics = Metrics::default();
        let kind = || "k".to_owned();
        metrics.reconciled("k", "applied", "resource", Duration::ZERO);
        let member = OfMember { kind: kind(), member: kind() };
        for family in [&metrics.applies, &metrics.drifts, &metrics.prunes] {
            let _ = family.get_or_create(&member);
        }
        for family in [&metrics.render_failures, &metrics.watch_failures] {
            let _ = family.get_or_create(&OfKind { kind: kind() });
        }
        let _ = metrics.instances.get_or_create(&OfKind { kind: kind() });
        let _ = metrics.states.get_or_create(&InState { kind: kind(), state: "ready" });
        let _ = metrics.requests.get_or_create(&OfRequest { method: kind(), code: 200 });
        let text = metrics.text();
        let samples = text.lines().filter(|line| !line.starts_with('#'));
        // Names, labels, and what Prometheus adds.
        let words = samples.flat_map(|line| {
            let (name, rest) = line.split_once(['{', ' ']).unwrap();
            let labels = rest.split('=').filter_map(|part| part.rsplit([',', '{']).next());
            std::iter::once(name).chain(labels).map(str::to_owned).collect::<Vec<_>>()
        });
        words.chain(["pod", "namespace", "service", "job"].map(str::to_owned)).collect()
    }

    fn file(path: &str) -> String {
        std::fs::read_to_string(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
    }

    /// The queries of the dashboard and the alerts.
    fn queries() -> Vec<String> {
        let dashboard: serde_json::Value =
            serde_json::from_str(&file("deploy/chart/monitoring/dashboard.json")).unwrap();
        let alerts: serde_json::Value =
            serde_yaml::from_str(&file("deploy/chart/monitoring/alerts.yaml")).unwrap();
        let mut found = Vec::new();
        let mut left = vec![&dashboard, &alerts];
        while let Some(value) = left.pop() {
            match value {
                serde_json::Value::Array(all) => left.extend(all),
                serde_json::Value::Object(map) => {
                    found.extend(map.get("expr").and_then(|e| e.as_str()).map(str::to_owned));
                    left.extend(map.values());
                }
                _ => {}
            }
        }
        assert!(found.len() > 30, "{}", found.len());
        found
    }

    #[test]
    fn the_dashboard_and_the_alerts_ask_for_what_there_is() {
        let known = vocabulary();
        let name = regex::Regex::new(r"\b(?:pintle|process)_[a-z_]+").unwrap();
        let label = regex::Regex::new(r#"([a-z_]+)(?:=~|="|!=)"#).unwrap();
        let grouping = regex::Regex::new(r"by \(([a-z_, ]+)\)").unwrap();
        for query in queries() {
            for found in name.find_iter(&query) {
                assert!(known.contains(found.as_str()), "{}: {query}", found.as_str());
            }
            let labels = label.captures_iter(&query).map(|c| c[1].to_owned());
            let groups = grouping
                .captures_iter(&query)
                .flat_map(|c| c[1].split(", ").map(str::to_owned).collect::<Vec<_>>());
            for found in labels.chain(groups) {
                assert!(known.contains(&found), "{found}: {query}");
            }
        }
    }

    #[test]
    fn the_documentation_lists_each_metric() {
        let text = file("docs/observability.md");
        let documented: HashSet<&str> = text
            .lines()
            .filter_map(|l| l.strip_prefix("| `")?.split_once('`'))
            .map(|(name, _)| name)
            .collect();
        let known: HashSet<String> = vocabulary()
            .into_iter()
            .filter(|name| name.starts_with("pintle_") || name.starts_with("process_"))
            .map(|name| {
                let stem = ["_bucket", "_sum", "_count"].iter().find_map(|end| name.strip_suffix(end));
                stem.map_or(name.clone(), str::to_owned)
            })
            .collect();
        assert_eq!(known.iter().map(String::as_str).collect::<HashSet<_>>(), documented);
    }

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
        assert!(text.contains("\nprocess_resident_memory_bytes "));
        assert!(text.ends_with("\n# EOF\n") && text.matches("# EOF").count() == 1, "{text}");
    }
}
