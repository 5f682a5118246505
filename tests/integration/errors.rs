//! Charts, values and objects that are wrong: where it is said, what is left alone, and what becomes of it.

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api,
    api::{ApiResource, DeleteParams},
};
use serde_json::{Value, json};

use crate::{
    harness::Cluster,
    operator::{GROUP, Operator, Resources, condition, entry, install_crd, sample},
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

    let unreadable = ["--selector=shard in a"];
    let mut operator =
        Operator::new(cluster, &space, &[entry("Sample", &sample())], &unreadable).await.unwrap();
    let error = format!("{:#}", operator.run().await.unwrap_err());
    assert!(error.contains(r#"selector "shard in a" of Sample: unable to parse requirement"#), "{error}");

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

#[tokio::test]
async fn a_kind_that_keeps_no_status() {
    let cluster = Cluster::shared().await.unwrap();
    let space = cluster.namespace("errors-status").await.unwrap();
    let client = space.client();
    let crd = |kind: &str, version: Value| {
        let plural = format!("{}s", kind.to_lowercase());
        json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": format!("{plural}.{GROUP}")},
            "spec": {"group": GROUP, "scope": "Namespaced", "names": {"kind": kind, "plural": plural}, "versions": [version]}})
    };
    let open = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let version = |status: bool, subresource: bool| {
        let mut version = json!({"name": "v1", "served": true, "storage": true,
            "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": open}}}});
        if status {
            version["schema"]["openAPIV3Schema"]["properties"]["status"] = open.clone();
        }
        if subresource {
            version["subresources"] = json!({"status": {}});
        }
        version
    };
    let cases = [("Pruned", version(false, true)), ("Without", version(true, false))];
    for (kind, version) in &cases {
        install_crd(&client, &crd(kind, version.clone())).await.unwrap();
    }
    let entries = cases.clone().map(|(kind, _)| entry(kind, &crate::hooks::chart()));
    let operator = Operator::start(cluster, &space, &entries, &[]).await.unwrap();
    for (kind, _) in &cases {
        let gvk = kube::core::GroupVersionKind::gvk(GROUP, "v1", kind);
        let plural = format!("{}s", kind.to_lowercase());
        let resources = Resources::of(&space, ApiResource::from_gvk_with_plural(&gvk, &plural));
        let hooks = json!([crate::hooks::hook("Job", kind.to_lowercase().as_str(), "pre-install")]);
        resources.create("web", json!({"hooks": hooks})).await.unwrap();
        let note = resources.event(&operator, "web", "StatusFailed").await.unwrap();
        assert!(note.contains("keeps no status"), "{note}");
        install_crd(&client, &crd(kind, version(true, true))).await.unwrap();
        resources.ready(&operator, "web").await.unwrap();
        resources.api().delete("web", &DeleteParams::default()).await.unwrap();
    }
    // It was tried again later, and not at once for whatever the hooks did.
    let begun = operator.log().unwrap().matches(" begun ").count();
    assert!(begun <= 2 * cases.len(), "the hooks were begun {begun} times");
}
