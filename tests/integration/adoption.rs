//! Objects that are there before the resource: nobody's, another's, Helm's.

use std::collections::BTreeMap;

use k8s_openapi::{
    NamespaceResourceScope,
    api::{
        apps::v1::Deployment,
        core::v1::{ConfigMap, Pod, Service},
    },
};
use kube::{
    Api, Resource,
    api::{DeleteParams, ListParams, Patch, PatchParams, PostParams},
};
use serde_json::json;

use crate::{
    harness::{Cluster, Namespace},
    operator::{Operator, Resources, condition, entry, sample},
};

/// The uid and generation of each object of a kind.
async fn identities<K>(space: &Namespace) -> BTreeMap<String, (String, Option<i64>)>
where
    K: Resource<Scope = NamespaceResourceScope, DynamicType = ()>
        + Clone
        + std::fmt::Debug
        + serde::de::DeserializeOwned,
{
    let list = space.api::<K>().list(&ListParams::default()).await.unwrap();
    let of = |object: K| {
        let meta = object.meta().clone();
        (meta.name.unwrap_or_default(), (meta.uid.unwrap_or_default(), meta.generation))
    };
    list.items.into_iter().map(of).collect()
}

/// What must not change when a release is taken over.
pub async fn running(space: &Namespace) -> [BTreeMap<String, (String, Option<i64>)>; 4] {
    [
        identities::<Deployment>(space).await,
        identities::<Service>(space).await,
        identities::<ConfigMap>(space).await,
        identities::<Pod>(space).await,
    ]
}

/// Installs the test chart as Helm does, and waits for its Pods.
pub async fn helm_install(cluster: &Cluster, space: &Namespace, flags: &[&str]) {
    let chart = sample().display().to_string();
    let mut args = vec!["install", "web", &*chart, "-n", space.name(), "--wait"];
    args.extend(flags);
    let installed = cluster.admin().run("helm", &args, "").await.unwrap();
    assert!(installed.success, "{}", installed.stderr);
}

#[tokio::test]
async fn what_is_nobodys_is_refused_even_where_it_agrees() {
    let cluster = Cluster::shared().await.unwrap();
    let space = cluster.namespace("adopt-nobodys").await.unwrap();
    let operator = Operator::sample(cluster, &space).await.unwrap();
    let maps: Api<ConfigMap> = space.api();
    let theirs: ConfigMap = serde_json::from_value(
        json!({"metadata": {"name": "web-0", "labels": {"app": "web"}}, "data": {"message": "hello"}}),
    )
    .unwrap();
    let params = PostParams { field_manager: Some("kubectl-create".into()), ..PostParams::default() };
    let before = maps.create(&params, &theirs).await.unwrap();
    let samples = Resources::new(&space, "Sample");
    samples.create("web", json!({"workload": false})).await.unwrap();
    let web = samples.await_condition(&operator, "web", "Ready", "False").await.unwrap();
    let message = condition(&web, "Ready").unwrap()["message"].as_str().unwrap().replace(space.name(), "NS");
    insta::assert_snapshot!(message, @"ConfigMap NS/web-0 exists and is not managed by Pintle: it was made by kubectl-create. Delete it; or, to take it over, annotate this Sample with pintle.dev/adoption: Adopt, or set adoption: Adopt in the definition");
    assert_eq!(maps.get("web-0").await.unwrap().metadata, before.metadata, "nothing is written");

    samples.annotate("web", "pintle.dev/adoption", "Adopt").await.unwrap();
    let web = samples.ready(&operator, "web").await.unwrap();
    let after = maps.get("web-0").await.unwrap();
    assert_eq!(after.metadata.uid, before.metadata.uid);
    assert_eq!(after.metadata.owner_references.unwrap()[0].uid, web.metadata.uid.unwrap());
    let note = samples.event(&operator, "web", "Adopted").await.unwrap();
    assert!(note.contains("it was made by kubectl-create"), "{note}");
}

#[tokio::test]
async fn what_is_being_deleted_is_waited_for() {
    let cluster = Cluster::shared().await.unwrap();
    let space = cluster.namespace("adopt-leaving").await.unwrap();
    let mut entry = entry("Sample", &sample());
    entry["pintle"] = json!({"adoption": "Adopt"});
    let operator = Operator::start(cluster, &space, &[entry], &[]).await.unwrap();
    let maps: Api<ConfigMap> = space.api();
    let theirs = json!({"metadata": {"name": "web-0", "finalizers": ["test.pintle.dev/held"]}});
    let old = maps.create(&PostParams::default(), &serde_json::from_value(theirs).unwrap()).await.unwrap();
    maps.delete("web-0", &DeleteParams::default()).await.unwrap();
    let samples = Resources::new(&space, "Sample");
    samples.create("web", json!({"workload": false})).await.unwrap();
    let web = samples.await_condition(&operator, "web", "Ready", "False").await.unwrap();
    assert_eq!(condition(&web, "Ready").unwrap()["reason"], "BeingDeleted");
    let release = Patch::Merge(json!({"metadata": {"finalizers": null}}));
    maps.patch("web-0", &PatchParams::default(), &release).await.unwrap();
    samples.ready(&operator, "web").await.unwrap();
    assert_ne!(maps.get("web-0").await.unwrap().metadata.uid, old.metadata.uid);
}

#[tokio::test]
async fn a_definition_may_adopt() {
    let cluster = Cluster::shared().await.unwrap();
    let space = cluster.namespace("adopt-all").await.unwrap();
    let mut entry = entry("Sample", &sample());
    entry["pintle"] = json!({"adoption": "Adopt"});
    let operator = Operator::start(cluster, &space, &[entry], &[]).await.unwrap();
    let maps: Api<ConfigMap> = space.api();
    let theirs = json!({"metadata": {"name": "web-0"}, "data": {"message": "theirs", "more": "kept"}});
    let uid = maps
        .create(&PostParams::default(), &serde_json::from_value(theirs).unwrap())
        .await
        .unwrap()
        .metadata
        .uid;
    let samples = Resources::new(&space, "Sample");
    samples.create("web", json!({"workload": false})).await.unwrap();
    samples.ready(&operator, "web").await.unwrap();
    let map = maps.get("web-0").await.unwrap();
    assert_eq!(map.metadata.uid, uid);
    let data = map.data.unwrap();
    assert_eq!((&*data["message"], &*data["more"]), ("hello", "kept"), "what others set stays");

    // An instance may be more careful than its definition.
    let theirs = json!({"metadata": {"name": "careful-0"}});
    maps.create(&PostParams::default(), &serde_json::from_value(theirs).unwrap()).await.unwrap();
    let careful = json!({ "apiVersion": "test.pintle.dev/v1", "kind": "Sample", "spec": {"workload": false},
        "metadata": { "name": "careful", "annotations": {"pintle.dev/adoption": "Refuse"} } });
    samples.api().create(&PostParams::default(), &serde_json::from_value(careful).unwrap()).await.unwrap();
    let careful = samples.await_condition(&operator, "careful", "Ready", "False").await.unwrap();
    assert_eq!(condition(&careful, "Ready").unwrap()["reason"], "NotOurs");
}

/// A release that Helm installed is refused, then taken over: nothing that runs changes, and what is removed from the
/// values later goes.
async fn a_helm_release(prefix: &str, flags: &[&str]) {
    let cluster = Cluster::shared().await.unwrap();
    let space = cluster.namespace(prefix).await.unwrap();
    helm_install(cluster, &space, &[flags, &["--set", "revision=true"]].concat()).await;
    let before = running(&space).await;
    let operator = Operator::sample(cluster, &space).await.unwrap();
    let samples = Resources::new(&space, "Sample");
    samples.create("web", json!({"revision": true})).await.unwrap();
    let web = samples.await_condition(&operator, "web", "Ready", "False").await.unwrap();
    let message = condition(&web, "Ready").unwrap()["message"].as_str().unwrap().to_owned();
    assert!(message.contains(&format!("pintle adopt web -n {}", space.name())), "{message}");

    samples.annotate("web", "pintle.dev/adopt-release", "1").await.unwrap();
    samples.ready(&operator, "web").await.unwrap();
    assert_eq!(running(&space).await, before);
    let maps: Api<ConfigMap> = space.api();
    let map = maps.get("web-0").await.unwrap();
    let managers: Vec<_> =
        map.metadata.managed_fields.unwrap().into_iter().filter_map(|e| e.manager).collect();
    assert_eq!(managers, ["pintle"]);
    let labels = map.metadata.labels.unwrap_or_default();
    assert!(!labels.contains_key("app.kubernetes.io/managed-by"), "{labels:?}");

    samples.change("web", json!({"revision": null})).await.unwrap();
    samples.ready(&operator, "web").await.unwrap();
    let data = maps.get("web-0").await.unwrap().data.unwrap();
    assert!(!data.contains_key("revision"), "what Helm applied and is no longer rendered goes: {data:?}");
}

#[tokio::test]
async fn a_release_that_helm_applied_server_side() {
    a_helm_release("adopt-helm4", &[]).await;
}

#[tokio::test]
async fn a_release_that_helm_applied_client_side() {
    a_helm_release("adopt-helm3", &["--server-side=false"]).await;
}
