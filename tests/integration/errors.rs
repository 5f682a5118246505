//! Charts, values and objects that are wrong: where it is said, what is left alone, and what becomes of it.

use k8s_openapi::api::core::v1::ConfigMap;
use kube::Api;
use serde_json::json;

use crate::{
    harness::Cluster,
    operator::{Operator, Resources, condition, entry, sample},
};

#[tokio::test]
async fn a_chart_that_fails_beside_healthy_ones() {
    let cluster = Cluster::shared().await.unwrap();
    let space = cluster.namespace("error-chart").await.unwrap();
    let operator = Operator::sample(cluster, &space).await.unwrap();
    let samples = Resources::new(&space, "Sample");
    samples.create("web", json!({"maps": 2, "workload": false})).await.unwrap();
    samples.ready(&operator, "web").await.unwrap();

    samples.change("web", json!({"fail": "no such plan", "maps": 0})).await.unwrap();
    let web = samples.await_condition(&operator, "web", "Stalled", "True").await.unwrap();
    let ready = condition(&web, "Ready").unwrap();
    assert_eq!((ready["status"].as_str(), ready["reason"].as_str()), (Some("False"), Some("RenderFailed")));
    let message = ready["message"].as_str().unwrap();
    assert!(message.contains("sample/templates/odd.yaml:2") && message.contains("no such plan"), "{message}");
    assert_eq!(condition(&web, "ReleaseFailed").unwrap()["reason"], "UpgradeError");
    assert_eq!(condition(&web, "Deployed").unwrap()["status"], "True", "what was deployed still is");
    assert_eq!(samples.event(&operator, "web", "RenderFailed").await.unwrap(), message);
    let maps: Api<ConfigMap> = space.api();
    assert!(maps.get_opt("web-1").await.unwrap().is_some(), "nothing is pruned");

    samples.create("healthy", json!({"workload": false})).await.unwrap();
    samples.ready(&operator, "healthy").await.unwrap();

    samples.change("web", json!({"fail": "", "maps": 1})).await.unwrap();
    let web = samples.ready(&operator, "web").await.unwrap();
    assert!(condition(&web, "Stalled").is_none() && condition(&web, "ReleaseFailed").is_none());
    assert!(maps.get_opt("web-1").await.unwrap().is_none());
}

#[tokio::test]
async fn an_object_that_the_api_server_refuses() {
    let cluster = Cluster::shared().await.unwrap();
    let space = cluster.namespace("error-apply").await.unwrap();
    let operator = Operator::sample(cluster, &space).await.unwrap();
    let samples = Resources::new(&space, "Sample");
    samples.create("web", json!({"maps": 2, "workload": false})).await.unwrap();
    samples.ready(&operator, "web").await.unwrap();
    samples.change("web", json!({"invalid": true, "maps": 1})).await.unwrap();
    let web = samples.await_condition(&operator, "web", "Stalled", "True").await.unwrap();
    let message = condition(&web, "Ready").unwrap()["message"].as_str().unwrap();
    assert!(
        message.contains("Service") && message.contains("web-invalid") && message.contains("ports[0].port"),
        "{message}"
    );
    assert!(space.api::<ConfigMap>().get_opt("web-1").await.unwrap().is_some(), "nothing is pruned");
    samples.change("web", json!({"invalid": false})).await.unwrap();
    samples.ready(&operator, "web").await.unwrap();
}

#[tokio::test]
async fn a_kind_that_nobody_serves() {
    let cluster = Cluster::shared().await.unwrap();
    let space = cluster.namespace("error-kind").await.unwrap();
    let operator = Operator::sample(cluster, &space).await.unwrap();
    let samples = Resources::new(&space, "Sample");
    samples.create("web", json!({"unserved": true, "workload": false})).await.unwrap();
    let web = samples.await_condition(&operator, "web", "Ready", "False").await.unwrap();
    let message = condition(&web, "Ready").unwrap()["message"].as_str().unwrap();
    assert!(
        message.contains("nowhere.example.com/v1, Kind=Nothing") && message.contains("odd.yaml"),
        "{message}"
    );
    assert_eq!(condition(&web, "Reconciling").unwrap()["status"], "True");
    assert!(space.api::<ConfigMap>().get_opt("web-0").await.unwrap().is_some(), "the others are applied");
}

#[tokio::test]
async fn sloppy_manifests_are_read_as_the_cluster_would() {
    let cluster = Cluster::shared().await.unwrap();
    let space = cluster.namespace("sloppy").await.unwrap();
    let operator = Operator::sample(cluster, &space).await.unwrap();
    let samples = Resources::new(&space, "Sample");
    samples.create("web", json!({"sloppy": true})).await.unwrap();
    samples.ready(&operator, "web").await.unwrap();
    let deployment = space.api::<k8s_openapi::api::apps::v1::Deployment>().get("web").await.unwrap();
    let container = &deployment.spec.unwrap().template.spec.unwrap().containers[0];
    let env: Vec<_> = container
        .env
        .iter()
        .flatten()
        .map(|e| (e.name.as_str(), e.value.as_deref().unwrap_or_default()))
        .collect();
    assert_eq!(env, [("B", "$(A)"), ("A", "last")]);
    assert_eq!(container.ports.as_ref().unwrap().len(), 1);
    let note = samples.event(&operator, "web", "ManifestMended").await.unwrap();
    assert!(note.contains("undeclared is not a field") && note.contains("the last was kept"), "{note}");
}

#[tokio::test]
async fn a_watches_file_is_honoured_or_refused() {
    let cluster = Cluster::shared().await.unwrap();
    let space = cluster.namespace("watches").await.unwrap();
    let mut wrong = entry("Sample", &sample());
    wrong["pintle"] = json!({"drfit": {"mode": "Off"}});
    let mut operator = Operator::new(cluster, &space, &[wrong], &[]).await.unwrap();
    let error = format!("{:#}", operator.run().await.unwrap_err());
    assert!(error.contains("unknown field `drfit`"), "{error}");

    let mut selected = entry("Sample", &sample());
    selected["selector"] = json!({"matchLabels": {"tier": "test"}});
    selected["overrideValues"] = json!({"message": "in ${WATCH_NAMESPACE}"});
    selected["reconcilePeriod"] = "1h".into();
    let operator =
        Operator::start(cluster, &space, &[selected], &["--suppress-override-values"]).await.unwrap();
    let samples = Resources::new(&space, "Sample");
    samples.create("not-selected", json!({})).await.unwrap();
    samples.create("web", json!({"workload": false})).await.unwrap();
    let label = json!({"metadata": {"labels": {"tier": "test"}}});
    let merge = kube::api::Patch::Merge(label);
    samples.api().patch("web", &kube::api::PatchParams::default(), &merge).await.unwrap();
    samples.ready(&operator, "web").await.unwrap();
    let map = space.api::<ConfigMap>().get("web-0").await.unwrap();
    assert_eq!(map.data.unwrap()["message"], format!("in {}", space.name()));
    assert_eq!(samples.api().get("not-selected").await.unwrap().data.get("status"), None);
}
