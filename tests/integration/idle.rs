//! What an operator costs that has nothing to do.

use std::{path::Path, time::Duration};

use serde_json::json;

use crate::{
    harness::{Cluster, Options},
    operator::{Operator, Resources, entry},
};

/// The most that an idle operator with 50 resources may take, in bytes. (An unoptimised build.)
const MEMORY: u64 = 40 << 20;

#[tokio::test]
async fn fifty_idle_resources_cost_no_request_and_little_memory() {
    // A cluster of its own: the requests of a minute are counted, and 100 Pods need room.
    let cluster = Cluster::start(Options { nodes: 2, ..Options::default() }).await.unwrap();
    let space = cluster.namespace("idle").await.unwrap();
    let chart = Path::new(env!("CARGO_MANIFEST_DIR")).join("charts/web");
    let operator =
        Operator::start(&cluster, &space, &[entry("Sample", &chart)], &["--reconcile-period", "10s"])
            .await
            .unwrap();
    let samples = Resources::new(&space, "Sample");
    for i in 0..50 {
        samples.create(&format!("web-{i}"), json!({"replicas": 1})).await.unwrap();
    }
    for i in 0..50 {
        samples.ready(&operator, &format!("web-{i}")).await.unwrap();
    }
    // Events are written behind the work.
    let quiet = Duration::from_secs(5);
    operator
        .until("the operator is quiet", || async {
            let mark = cluster.audit_mark()?;
            tokio::time::sleep(quiet).await;
            let busy = cluster.requests_since(mark)?.iter().any(|r| r.user == operator.user());
            Ok((!busy).then_some(()))
        })
        .await
        .unwrap();
    let mark = cluster.audit_mark().unwrap();
    let reconciles = || async {
        operator.metrics().await.unwrap().sum("pintle_reconciles_total", &[("trigger", "period")])
    };
    let before = reconciles().await;
    tokio::time::sleep(Duration::from_secs(60)).await;
    let requests: Vec<String> = cluster
        .requests_since(mark)
        .unwrap()
        .into_iter()
        .filter(|r| r.user == operator.user() && r.verb != "watch")
        .map(|r| format!("{} {}", r.verb, r.uri))
        .collect();
    assert_eq!(requests, [] as [&str; 0]);
    assert!(reconciles().await > before, "the periods went by");
    let memory = operator.memory().unwrap();
    assert!(memory < MEMORY, "{} MiB", memory >> 20);
}
