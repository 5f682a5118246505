//! Manifests as charts render them, on a real API server.

use k8s_openapi::api::{
    batch::v1::Job,
    core::v1::{ConfigMap, Secret},
};
use kube::{
    Api,
    api::{ListParams, Patch, PatchParams},
};
use serde_json::json;

use crate::{
    drift_rules::raw,
    harness::{Cluster, Namespace, wait},
    operator::{Operator, Resources, condition, entry, set_of},
};

async fn start(prefix: &str) -> (Namespace, Operator, Resources) {
    let cluster = Cluster::shared().await.unwrap();
    let space = cluster.namespace(prefix).await.unwrap();
    let operator = Operator::start(cluster, &space, &[entry("Sample", &raw())], &[]).await.unwrap();
    let samples = Resources::new(&space, "Sample");
    (space, operator, samples)
}

#[tokio::test]
async fn lists_are_their_items() {
    let (space, operator, samples) = start("manifest-list").await;
    let text = "apiVersion: v1\nkind: List\nmetadata: {}\nitems:\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n- apiVersion: v1\n  kind: List\n  items:\n  - {apiVersion: v1, kind: Secret, metadata: {name: b}}\n---\napiVersion: v1\nkind: List\nitems: []\n";
    samples.create("web", json!({"text": text})).await.unwrap();
    let web = samples.ready(&operator, "web").await.unwrap();
    assert_eq!(web.data["status"]["resources"]["total"], 2);
    let ours = ListParams::default().labels(&format!("applyset.kubernetes.io/part-of={}", set_of(&web)));
    assert_eq!(space.api::<ConfigMap>().list(&ours).await.unwrap().items.len(), 1);
    assert_eq!(space.api::<Secret>().list(&ours).await.unwrap().items.len(), 1);
}

#[tokio::test]
async fn an_object_without_a_name_is_made_once() {
    let (space, mut operator, samples) = start("manifest-names").await;
    let text = "apiVersion: batch/v1\nkind: Job\nmetadata: {generateName: seed-}\nspec:\n  template:\n    spec:\n      restartPolicy: Never\n      containers: [{name: main, image: \"IMAGE\"}]\n";
    samples.create("web", json!({"text": text.replace("IMAGE", "seed:1")})).await.unwrap();
    let web = samples.ready(&operator, "web").await.unwrap();
    let jobs: Api<Job> = space.api();
    let ours = ListParams::default().labels(&format!("applyset.kubernetes.io/part-of={}", set_of(&web)));
    let only = || async {
        let all = jobs.list(&ListParams::default()).await.unwrap().items;
        assert_eq!(all.len(), 1);
        assert_eq!(jobs.list(&ours).await.unwrap().items.len(), 1);
        let meta = &all[0].metadata;
        assert!(meta.name.as_ref().unwrap().starts_with("seed-"));
        (meta.name.clone().unwrap(), meta.uid.clone().unwrap())
    };
    let first = only().await;
    // Looked at again, and by another process.
    samples.annotate("web", "pintle.dev/reconcile", "1").await.unwrap();
    operator.kill().await.unwrap();
    operator.run().await.unwrap();
    samples.look_again(&operator, "web", "2").await.unwrap();
    assert_eq!(only().await, first);
    // Rendered otherwise it is another object, and the one before goes.
    samples.change("web", json!({"text": text.replace("IMAGE", "seed:2")})).await.unwrap();
    samples.ready(&operator, "web").await.unwrap();
    operator
        .until("the one before is gone", || async {
            let all = jobs.list(&ListParams::default()).await?.items;
            Ok((all.len() == 1 && all[0].metadata.name.as_ref() != Some(&first.0)).then_some(()))
        })
        .await
        .unwrap();
}

#[tokio::test]
async fn an_object_that_is_rendered_twice_names_both_templates() {
    let (_space, operator, samples) = start("manifest-twice").await;
    let map = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: twice\n";
    samples.create("web", json!({"text": format!("{map}---\n{map}")})).await.unwrap();
    let web = samples.await_condition(&operator, "web", "Stalled", "True").await.unwrap();
    let ready = condition(&web, "Ready").unwrap();
    assert_eq!(ready["reason"], "InvalidManifest");
    insta::assert_snapshot!(
        ready["message"].as_str().unwrap().replace(_space.name(), "NS"),
        @"ConfigMap NS/twice is rendered twice: by raw/templates/all.yaml and by raw/templates/all.yaml"
    );
}

#[tokio::test]
async fn what_only_the_cluster_writes_is_passed_over() {
    let (space, operator, samples) = start("manifest-dumped").await;
    let text = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n  creationTimestamp: null\n  generation: 7\n  resourceVersion: \"12\"\n  uid: 0a0a\n  selfLink: /x\n  managedFields: [{manager: kubectl, operation: Update}]\n  annotations: {}\n  labels:\nspec:\n  replicas: 1\n  strategy: {}\n  selector: {matchLabels: {app: dumped}}\n  template:\n    metadata: {creationTimestamp: null, labels: {app: dumped}}\n    spec:\n      containers: [{name: main, image: \"a:1\", resources: {}}]\nstatus: {replicas: 5}\n";
    samples.create("web", json!({"text": text})).await.unwrap();
    samples.ready(&operator, "web").await.unwrap();
    let web = space.api::<k8s_openapi::api::apps::v1::Deployment>().get("web").await.unwrap();
    assert!(web.metadata.generation.unwrap() <= 2 && web.metadata.creation_timestamp.is_some());
    // A second look writes nothing.
    let before = web.metadata.resource_version;
    samples.look_again(&operator, "web", "1").await.unwrap();
    let again = space.api::<k8s_openapi::api::apps::v1::Deployment>().get("web").await.unwrap();
    assert_eq!(again.metadata.resource_version, before);
}

/// The API server writes it into data, and knows nothing of whose that is.
#[tokio::test]
async fn string_data_is_kept_as_data() {
    let (space, operator, samples) = start("manifest-strings").await;
    let secret = |strings: serde_json::Value| {
        json!({"objects": [{"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "web"},
            "data": {"a": "b25l", "b": "dHdv"}, "stringData": strings}]})
    };
    samples.create("web", secret(json!({"b": "three", "c": "four"}))).await.unwrap();
    samples.ready(&operator, "web").await.unwrap();
    let secrets: Api<Secret> = space.api();
    let data = |secret: &Secret| {
        let text = |value: &k8s_openapi::ByteString| String::from_utf8_lossy(&value.0).into_owned();
        secret
            .data
            .iter()
            .flatten()
            .map(|(key, value)| format!("{key}={}", text(value)))
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert_eq!(data(&secrets.get("web").await.unwrap()), "a=one b=three c=four");

    let theirs = Patch::Merge(json!({"data": {"b": "aGFja2Vk", "theirs": "eA=="}}));
    secrets.patch("web", &PatchParams::default(), &theirs).await.unwrap();
    let back = |secret: Option<&Secret>| secret.is_some_and(|s| data(s) == "a=one b=three c=four theirs=x");
    wait::object(&secrets, "web", "it is put back", back).await.unwrap();

    samples.change("web", secret(json!({"b": "five"}))).await.unwrap();
    samples.ready(&operator, "web").await.unwrap();
    let after = data(&secrets.get("web").await.unwrap());
    assert_eq!(after, "a=one b=five theirs=x", "what is no longer rendered goes");
}
