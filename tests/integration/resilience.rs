//! Ends, restarts and outages, after which everything is as it should be.

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api,
    api::{DeleteParams, ListParams, Patch, PatchParams},
};
use serde_json::json;

use crate::{
    harness::{Cluster, Options, wait},
    operator::{Operator, Resources, set_of},
};

#[tokio::test]
async fn killed_in_the_middle_of_applying() {
    let cluster = Cluster::shared().await.unwrap();
    let space = cluster.namespace("killed").await.unwrap();
    let mut operator = Operator::sample(cluster, &space).await.unwrap();
    let samples = Resources::new(&space, "Sample");
    let mark = cluster.audit_mark().unwrap();
    for i in 0..20 {
        samples.create(&format!("web-{i}"), json!({"maps": 5})).await.unwrap();
    }
    // Somewhere in the 140 applies.
    let user = operator.user().to_owned();
    operator
        .until("a third is applied", || async {
            let applies =
                cluster.requests_since(mark)?.iter().filter(|r| r.user == user && r.verb == "patch").count();
            Ok((applies > 50).then_some(()))
        })
        .await
        .unwrap();
    operator.kill().await.unwrap();
    operator.run().await.unwrap();
    let maps: Api<ConfigMap> = space.api();
    let mut expected = 0;
    for i in 0..20 {
        let web = samples.ready(&operator, &format!("web-{i}")).await.unwrap();
        let members =
            ListParams::default().labels(&format!("applyset.kubernetes.io/part-of={}", set_of(&web)));
        assert_eq!(maps.list(&members).await.unwrap().items.len(), 5);
        assert_eq!(web.data["status"]["release"]["revision"], 1);
        expected += 5;
    }
    let all = maps.list(&ListParams::default().labels("applyset.kubernetes.io/part-of")).await.unwrap();
    assert_eq!(all.items.len(), expected, "no orphan, no duplicate");
}

#[tokio::test]
async fn a_restart_applies_nothing_where_nothing_drifted() {
    let cluster = Cluster::shared().await.unwrap();
    let space = cluster.namespace("restart").await.unwrap();
    let mut operator = Operator::sample(cluster, &space).await.unwrap();
    let samples = Resources::new(&space, "Sample");
    for name in ["a", "b", "c"] {
        samples.create(name, json!({"maps": 3})).await.unwrap();
    }
    for name in ["a", "b", "c"] {
        samples.ready(&operator, name).await.unwrap();
    }
    operator.stop().await.unwrap();
    let maps: Api<ConfigMap> = space.api();
    let theirs = PatchParams { field_manager: Some("kubectl-edit".into()), ..PatchParams::default() };
    maps.patch("b-1", &theirs, &Patch::Merge(json!({"data": {"message": "theirs"}}))).await.unwrap();
    maps.delete("c-2", &DeleteParams::default()).await.unwrap();

    let mark = cluster.audit_mark().unwrap();
    operator.run().await.unwrap();
    let back =
        |m: Option<&ConfigMap>| m.and_then(|m| m.data.as_ref()).is_some_and(|d| d["message"] == "hello");
    wait::object(&maps, "b-1", "it is put back", back).await.unwrap();
    wait::object(&maps, "c-2", "it is back", back).await.unwrap();
    operator
        .until("all three were looked at", || async {
            Ok((operator.metrics().await?.sum("pintle_reconciles_total", &[("trigger", "start")]) >= 3.0)
                .then_some(()))
        })
        .await
        .unwrap();
    for name in ["a", "b", "c"] {
        samples.ready(&operator, name).await.unwrap();
    }
    let requests = cluster.requests_since(mark).unwrap();
    let writes: Vec<String> = requests
        .iter()
        .filter(|r| r.user == operator.user() && !["get", "list", "watch"].contains(&r.verb.as_str()))
        .filter(|r| r.resource != "events")
        .map(|r| format!("{} {}/{}", r.verb, r.resource, r.name))
        .collect();
    assert!(!writes.iter().any(|w| w.contains("/a")), "{writes:?}");
}

#[tokio::test]
async fn the_api_server_restarts_under_the_operator() {
    let cluster = Cluster::start(Options { nodes: 1, ..Options::default() }).await.unwrap();
    let space = cluster.namespace("outage").await.unwrap();
    let operator = Operator::sample(&cluster, &space).await.unwrap();
    let samples = Resources::new(&space, "Sample");
    samples.create("web", json!({})).await.unwrap();
    samples.ready(&operator, "web").await.unwrap();
    cluster.kill_api_server().await.unwrap();
    cluster.start_api_server().await.unwrap();

    let maps: Api<ConfigMap> = space.api();
    maps.patch("web-0", &PatchParams::default(), &Patch::Merge(json!({"data": {"message": "theirs"}})))
        .await
        .unwrap();
    let back =
        |m: Option<&ConfigMap>| m.and_then(|m| m.data.as_ref()).is_some_and(|d| d["message"] == "hello");
    wait::object(&maps, "web-0", "it is put back", back).await.unwrap();
    samples.change("web", json!({"message": "after"})).await.unwrap();
    samples.ready(&operator, "web").await.unwrap();
    samples.create("late", json!({"workload": false})).await.unwrap();
    samples.ready(&operator, "late").await.unwrap();
}

#[tokio::test]
async fn a_signal_ends_it_well() {
    let cluster = Cluster::shared().await.unwrap();
    let space = cluster.namespace("signal").await.unwrap();
    let mut operator = Operator::sample(cluster, &space).await.unwrap();
    Resources::new(&space, "Sample").create("web", json!({"maps": 20})).await.unwrap();
    operator.stop().await.unwrap();
}
