//! Fields that cannot be changed: what is said, and what becomes of the object where it may be made anew.

use k8s_openapi::api::{
    apps::v1::StatefulSet,
    core::v1::{ConfigMap, PersistentVolumeClaim, Pod, Service},
};
use kube::{
    Api,
    api::{DynamicObject, ListParams, Patch, PatchParams},
};
use serde_json::{Value, json};

use crate::{
    drift_rules::raw,
    harness::{Namespace, wait},
    operator::{Operator, Resources, condition},
};

async fn start(prefix: &str, pintle: Value) -> (Namespace, Operator, Resources) {
    crate::operator::start(prefix, &raw(), pintle).await.unwrap()
}

fn pod(image: &str) -> Value {
    json!({"metadata": {"labels": {"app": "db"}}, "spec": {"containers": [{"name": "main", "image": image}]}})
}

fn job(image: &str) -> Value {
    let mut template = pod(image);
    template["spec"]["restartPolicy"] = "Never".into();
    json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "job"}, "spec": {"template": template}})
}

fn stateful_set(size: &str) -> Value {
    json!({"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "db"}, "spec": {
        "serviceName": "db", "selector": {"matchLabels": {"app": "db"}}, "template": pod("db:1"),
        "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": size}}}}]}})
}

fn deployment(app: &str) -> Value {
    let template = json!({"metadata": {"labels": {"app": app}}, "spec": {"containers": [{"name": "main", "image": "a:1"}]}});
    json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
        "spec": {"selector": {"matchLabels": {"app": app}}, "template": template}})
}

fn claim(size: &str, class: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data"}, "spec": {
        "accessModes": ["ReadWriteOnce"], "storageClassName": class, "resources": {"requests": {"storage": size}}}})
}

fn map(message: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "map"}, "immutable": true, "data": {"message": message}})
}

fn secret(value: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "secret"}, "immutable": true, "stringData": {"password": value}})
}

fn headless(yes: bool) -> Value {
    let mut service = json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "svc"},
        "spec": {"selector": {"app": "db"}, "ports": [{"port": 80}]}});
    if yes {
        service["spec"]["clusterIP"] = "None".into();
    }
    service
}

#[tokio::test]
async fn what_cannot_be_changed_is_named() {
    let (_space, operator, samples) = start("immutable", json!({})).await;
    let cases = [
        ("job", job("a:1"), job("a:2")),
        ("set", stateful_set("1Gi"), stateful_set("2Gi")),
        ("deployment", deployment("a"), deployment("b")),
        ("map", map("one"), map("two")),
        ("secret", secret("hunter2"), secret("hunter3")),
        ("claim", claim("2Gi", "standard"), claim("2Gi", "other")),
        ("service", headless(false), headless(true)),
    ];
    for (name, first, _) in &cases {
        samples.create(name, json!({"objects": [first]})).await.unwrap();
    }
    for (name, ..) in &cases {
        samples.await_condition(&operator, name, "Deployed", "True").await.unwrap();
    }
    let mut said = Vec::new();
    for (name, _, second) in &cases {
        samples.change(name, json!({"objects": [second]})).await.unwrap();
        let object = samples.await_condition(&operator, name, "Stalled", "True").await.unwrap();
        let ready = condition(&object, "Ready").unwrap();
        assert_eq!(ready["reason"], "ImmutableField", "{ready}");
        let message = ready["message"].as_str().unwrap().replace(_space.name(), "NS");
        assert!(!message.contains("hunter"), "{message}");
        said.push(message);
    }
    insta::assert_snapshot!(said.join("\n"));
    // Back to what it was.
    samples.change("deployment", json!({"objects": [deployment("a")]})).await.unwrap();
    let object = samples.await_condition(&operator, "deployment", "Deployed", "True").await.unwrap();
    assert!(condition(&object, "Stalled").is_none());
}

#[tokio::test]
async fn what_is_wrong_with_one_object_lets_nobody_change_another() {
    let (space, operator, samples) = start("immutable-drift", json!({})).await;
    let plain = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "plain"}, "data": {"message": "ours"}});
    samples.create("web", json!({"objects": [secret("one"), plain]})).await.unwrap();
    samples.ready(&operator, "web").await.unwrap();
    samples.change("web", json!({"objects": [secret("two"), plain]})).await.unwrap();
    samples.await_condition(&operator, "web", "Stalled", "True").await.unwrap();
    let maps: Api<ConfigMap> = space.api();
    let theirs = Patch::Merge(json!({"data": {"message": "theirs"}}));
    maps.patch("plain", &PatchParams::default(), &theirs).await.unwrap();
    let ours =
        |m: Option<&ConfigMap>| m.and_then(|m| m.data.as_ref()).is_some_and(|d| d["message"] == "ours");
    wait::object(&maps, "plain", "it is as rendered", ours).await.unwrap();
    let web = samples.api().get("web").await.unwrap();
    assert_eq!(condition(&web, "Ready").unwrap()["reason"], "ImmutableField");
}

#[tokio::test]
async fn what_may_be_is_made_anew() {
    let (space, operator, samples) = start("anew", json!({"recreate": ["Deployment"]})).await;
    let annotated = |mut object: Value| {
        object["metadata"]["annotations"] = json!({"pintle.dev/recreate": "true"});
        object
    };
    samples
        .create("web", json!({"objects": [deployment("a"), annotated(job("a:1")), map("one")]}))
        .await
        .unwrap();
    samples.ready(&operator, "web").await.unwrap();
    let uids = || async {
        let mut uids = Vec::new();
        for (api_version, kind, plural, name) in [
            ("apps/v1", "Deployment", "deployments", "web"),
            ("batch/v1", "Job", "jobs", "job"),
            ("v1", "ConfigMap", "configmaps", "map"),
        ] {
            let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
            let gvk = kube::core::GroupVersionKind::gvk(group, version, kind);
            let api: Api<DynamicObject> =
                space.dynamic(&kube::api::ApiResource::from_gvk_with_plural(&gvk, plural));
            uids.push(api.get(name).await.unwrap().metadata.uid.unwrap());
        }
        uids
    };
    let before = uids().await;
    samples
        .change("web", json!({"objects": [deployment("b"), annotated(job("a:2")), map("one")]}))
        .await
        .unwrap();
    samples.ready(&operator, "web").await.unwrap();
    let after = uids().await;
    assert!(before[0] != after[0] && before[1] != after[1] && before[2] == after[2]);
    let note = samples.event(&operator, "web", "Recreated").await.unwrap();
    assert!(note.contains("cannot be changed"), "{note}");
    // The instance's annotation allows it for all.
    samples
        .change("web", json!({"objects": [deployment("b"), annotated(job("a:2")), map("two")]}))
        .await
        .unwrap();
    samples.await_condition(&operator, "web", "Stalled", "True").await.unwrap();
    samples.annotate("web", "pintle.dev/recreate", "true").await.unwrap();
    samples.ready(&operator, "web").await.unwrap();
    assert_ne!(uids().await[2], after[2]);
}

#[tokio::test]
async fn a_stateful_set_that_is_made_anew_keeps_its_pods_and_claims() {
    let (space, operator, samples) =
        start("anew-set", json!({"recreate": ["StatefulSet", "PersistentVolumeClaim"]})).await;
    samples.create("db", json!({"objects": [stateful_set("1Gi")]})).await.unwrap();
    samples.ready(&operator, "db").await.unwrap();
    let (sets, pods, claims): (Api<StatefulSet>, Api<Pod>, Api<PersistentVolumeClaim>) =
        (space.api(), space.api(), space.api());
    let set = sets.get("db").await.unwrap().metadata.uid;
    let pod = pods.get("db-0").await.unwrap().metadata.uid;
    let claim_uid = claims.get("data-db-0").await.unwrap().metadata.uid;
    samples.change("db", json!({"objects": [stateful_set("2Gi")]})).await.unwrap();
    samples.ready(&operator, "db").await.unwrap();
    assert_ne!(sets.get("db").await.unwrap().metadata.uid, set);
    assert_eq!(pods.get("db-0").await.unwrap().metadata.uid, pod);
    assert_eq!(claims.get("data-db-0").await.unwrap().metadata.uid, claim_uid);
    let note = samples.event(&operator, "db", "Recreated").await.unwrap();
    assert!(note.contains("its Pods and claims stay"), "{note}");
    assert_eq!(claims.list(&ListParams::default()).await.unwrap().items.len(), 1);

    // A claim is never deleted, whatever the rules say; what it holds stays.
    samples.create("claim", json!({"objects": [claim("2Gi", "standard")]})).await.unwrap();
    samples.await_condition(&operator, "claim", "Deployed", "True").await.unwrap();
    let uid = claims.get("data").await.unwrap().metadata.uid;
    samples.change("claim", json!({"objects": [claim("1Gi", "standard")]})).await.unwrap();
    let object = samples.await_condition(&operator, "claim", "Stalled", "True").await.unwrap();
    let message = condition(&object, "Ready").unwrap()["message"].as_str().unwrap();
    assert!(message.contains("spec.resources.requests.storage") || message.contains(".spec"), "{message}");
    assert!(message.contains("never deleted"), "{message}");
    assert_eq!(claims.get("data").await.unwrap().metadata.uid, uid);
}

#[tokio::test]
async fn a_service_changes_its_type_where_the_cluster_allows_it() {
    let (space, operator, samples) = start("service-type", json!({})).await;
    let service = |spec: Value| json!({"objects": [{"apiVersion": "v1", "kind": "Service", "metadata": {"name": "svc"}, "spec": spec}]});
    let ports = json!([{"name": "http", "port": 80}]);
    samples.create("web", service(json!({"type": "NodePort", "ports": ports}))).await.unwrap();
    samples.ready(&operator, "web").await.unwrap();
    let services: Api<Service> = space.api();
    let uid = services.get("svc").await.unwrap().metadata.uid;
    for spec in [
        json!({"type": "ClusterIP", "ports": ports}),
        json!({"type": "ExternalName", "externalName": "elsewhere.example.com", "ports": null}),
        json!({"type": "ClusterIP", "externalName": null, "ports": ports}),
    ] {
        samples.change("web", service(spec.clone())).await.unwrap();
        samples.ready(&operator, "web").await.unwrap();
        let now = services.get("svc").await.unwrap();
        assert_eq!(now.spec.unwrap().type_.as_deref(), spec["type"].as_str());
        assert_eq!(now.metadata.uid, uid);
    }
}
