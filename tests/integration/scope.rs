//! Which namespaces are watched and written to: cluster-scoped instances, members elsewhere, what a definition allows.

use k8s_openapi::api::{core::v1::ConfigMap, rbac::v1::ClusterRole};
use kube::{
    Api,
    api::{ApiResource, DeleteParams},
};
use serde_json::{Value, json};

use crate::{
    harness::{Cluster, wait},
    hooks::{chart as hooks_chart, hook, with},
    operator::{Operator, Resources, condition, entry, install_crd, sample},
};

const GROUP: &str = "scope.pintle.dev";

/// A kind of this file's own: an operator that watches everything must not take other tests' instances.
async fn kind(cluster: &Cluster, name: &str, scope: &str) -> ApiResource {
    let plural = format!("{}s", name.to_lowercase());
    let open = json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true });
    let crd = json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": { "name": format!("{plural}.{GROUP}") },
        "spec": {
            "group": GROUP, "scope": scope, "names": { "kind": name, "plural": plural },
            "versions": [{ "name": "v1", "served": true, "storage": true, "subresources": { "status": {} },
                "schema": { "openAPIV3Schema": { "type": "object", "properties": { "spec": open, "status": open } } } }],
        },
    });
    install_crd(&cluster.client().await.unwrap(), &crd).await.unwrap();
    ApiResource {
        group: GROUP.into(),
        version: "v1".into(),
        api_version: format!("{GROUP}/v1"),
        kind: name.into(),
        plural,
    }
}

fn of_scope(kind: &str) -> Value {
    json!({ "group": GROUP, "version": "v1", "kind": kind, "chart": sample() })
}

#[tokio::test]
async fn cluster_scoped_instances() {
    let cluster = Cluster::shared().await.unwrap();
    let (home, other) =
        (cluster.namespace("scope-home").await.unwrap(), cluster.namespace("scope-other").await.unwrap());
    let resource = kind(cluster, "Site", "Cluster").await;
    let mut site = of_scope("Site");
    let sites = Resources::everywhere(&cluster.client().await.unwrap(), resource);
    {
        // Where its objects go must be said.
        let operator = Operator::start(cluster, &home, &[site.clone()], &[]).await.unwrap();
        sites.create("shop", json!({"workload": false, "password": true})).await.unwrap();
        let shop = sites.await_condition(&operator, "shop", "Stalled", "True").await.unwrap();
        assert_eq!(condition(&shop, "Ready").unwrap()["reason"], "NoNamespace");
    }
    site["pintle"] = json!({"releaseNamespace": home.name()});
    let operator = Operator::start(cluster, &home, &[site], &[]).await.unwrap();
    let shop = sites.ready(&operator, "shop").await.unwrap();
    let maps: Api<ConfigMap> = home.api();
    let map = maps.get("shop-0").await.unwrap();
    let owner = &map.metadata.owner_references.as_ref().unwrap()[0];
    assert_eq!((&*owner.kind, &*owner.name), ("Site", "shop"));
    assert_eq!(shop.metadata.finalizers, None, "garbage collection reaches all of it");
    // It may own what is anywhere, and what is cluster-scoped.
    sites.change("shop", json!({"otherNamespace": other.name(), "clusterRole": true})).await.unwrap();
    let shop = sites.ready(&operator, "shop").await.unwrap();
    let name = format!("{}-shop", home.name());
    let roles: Api<ClusterRole> = Api::all(home.client());
    assert!(roles.get(&name).await.unwrap().metadata.owner_references.is_some());
    assert!(other.api::<ConfigMap>().get(&name).await.unwrap().metadata.owner_references.is_some());
    maps.delete("shop-0", &DeleteParams::default()).await.unwrap();
    wait::object(&maps, "shop-0", "it is back", |m: Option<&ConfigMap>| m.is_some()).await.unwrap();
    assert!(sites.event(&operator, "shop", "DriftCorrected").await.unwrap().contains("shop-0"));
    sites.api().delete("shop", &DeleteParams::default()).await.unwrap();
    wait::gone(sites.api(), "shop", &shop.metadata.uid.unwrap()).await.unwrap();
    wait::until("its objects are collected", wait::PATIENCE, || async {
        let gone = maps.get_opt("shop-0").await?.is_none()
            && roles.get_opt(&name).await?.is_none()
            && other.api::<ConfigMap>().get_opt(&name).await?.is_none();
        Ok(gone.then_some(()))
    })
    .await
    .unwrap();
}

#[tokio::test]
async fn only_what_the_definition_allows() {
    let cluster = Cluster::shared().await.unwrap();
    let space = cluster.namespace("scope-allow").await.unwrap();
    let other = cluster.namespace("scope-edge").await.unwrap();
    let mut bounded = entry("Sample", &sample());
    bounded["pintle"] = json!({"allow": {}});
    let mut hooked = entry("Other", &hooks_chart());
    hooked["pintle"] = json!({"allow": {"namespaces": [other.name()], "kinds": ["ConfigMap"]}});
    let operator = Operator::start(cluster, &space, &[bounded, hooked], &[]).await.unwrap();
    let samples = Resources::new(&space, "Sample");
    samples.create("web", json!({"otherNamespace": other.name(), "clusterRole": true})).await.unwrap();
    let web = samples.await_condition(&operator, "web", "Stalled", "True").await.unwrap();
    let ready = condition(&web, "Ready").unwrap();
    assert_eq!(ready["reason"], "NotAllowed");
    let name = format!("{}-web", space.name());
    let message = ready["message"].as_str().unwrap();
    for part in [
        format!(
            "sample/templates/elsewhere.yaml: ClusterRole.rbac.authorization.k8s.io {name} is cluster-scoped"
        ),
        format!("ConfigMap {}/{name} is outside of the namespace {}", other.name(), space.name()),
    ] {
        assert!(message.contains(&part), "{part} is not in {message}");
    }
    let maps: Api<ConfigMap> = space.api();
    assert!(maps.get_opt("web-0").await.unwrap().is_none(), "nothing was begun");
    assert_eq!(web.metadata.finalizers, None);
    samples.change("web", json!({"otherNamespace": "", "clusterRole": false})).await.unwrap();
    samples.ready(&operator, "web").await.unwrap();

    // Hooks are bound by it too.
    let others = Resources::new(&space, "Other");
    let elsewhere = with(hook("ConfigMap", "x", "pre-install"), &json!({"namespace": other.name()}));
    others.create("good", json!({"hooks": [elsewhere]})).await.unwrap();
    others.ready(&operator, "good").await.unwrap();
    assert!(other.api::<ConfigMap>().get_opt("good-x").await.unwrap().is_some());
    others.create("bad", json!({"hooks": [hook("Job", "x", "pre-install")]})).await.unwrap();
    let bad = others.await_condition(&operator, "bad", "Stalled", "True").await.unwrap();
    let message = condition(&bad, "Ready").unwrap()["message"].as_str().unwrap().to_owned();
    assert!(message.contains("the definition allows no Job.batch, as is the hook Job.batch"), "{message}");
}

#[tokio::test]
async fn one_namespace_several_and_all() {
    let cluster = Cluster::shared().await.unwrap();
    let spaces = [
        cluster.namespace("watch-a").await.unwrap(),
        cluster.namespace("watch-b").await.unwrap(),
        cluster.namespace("watch-c").await.unwrap(),
    ];
    let resource = kind(cluster, "Spread", "Namespaced").await;
    let all: Vec<Resources> = spaces.iter().map(|space| Resources::of(space, resource.clone())).collect();
    for resources in &all {
        resources.create("web", json!({"workload": false})).await.unwrap();
    }
    let names: Vec<&str> = spaces.iter().map(|space| space.name()).collect();
    for (watched, expected) in
        [(names[0].to_owned(), 1), (format!("{} , {}", names[0], names[1]), 2), (String::new(), 3)]
    {
        let operator = Operator::new(cluster, &spaces[0], &[of_scope("Spread")], &[]).await.unwrap();
        let mut operator = operator.watching(&watched);
        operator.run().await.unwrap();
        for resources in &all[..expected] {
            resources.ready(&operator, "web").await.unwrap();
        }
        for resources in &all[expected..] {
            let web = resources.api().get("web").await.unwrap();
            assert_eq!(web.data["status"], Value::Null, "with WATCH_NAMESPACE={watched:?}");
        }
        // Drift is seen where instances are.
        let maps: Api<ConfigMap> = spaces[expected - 1].api();
        maps.delete("web-0", &DeleteParams::default()).await.unwrap();
        wait::object(&maps, "web-0", "it is back", |m: Option<&ConfigMap>| m.is_some()).await.unwrap();
        operator.stop().await.unwrap();
    }
}
