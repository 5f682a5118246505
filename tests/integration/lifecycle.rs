//! From a resource to its objects, and their changes and removals with it.

use k8s_openapi::api::{
    apps::v1::Deployment,
    core::v1::{ConfigMap, Service},
};
use kube::{
    Api,
    api::{DeleteParams, ListParams},
};
use serde_json::json;

use crate::{
    harness::Cluster,
    operator::{Operator, Resources, condition, entry, sample, set_of},
};

#[tokio::test]
async fn a_resource_becomes_its_objects() {
    let cluster = Cluster::shared().await.unwrap();
    let space = cluster.namespace("converge").await.unwrap();
    let operator = Operator::sample(cluster, &space).await.unwrap();
    let samples = Resources::new(&space, "Sample");
    samples.create("web", json!({"replicas": 2, "maps": 2})).await.unwrap();
    let web = samples.ready(&operator, "web").await.unwrap();

    let deployment = space.api::<Deployment>().get("web").await.unwrap();
    assert_eq!(deployment.spec.unwrap().replicas, Some(2));
    let labels = deployment.metadata.labels.unwrap();
    assert_eq!(labels["applyset.kubernetes.io/part-of"], set_of(&web));
    assert_eq!(labels["pintle.dev/definition"], "sample.test.pintle.dev");
    let owners = deployment.metadata.owner_references.unwrap();
    assert_eq!((owners[0].kind.as_str(), &owners[0].uid), ("Sample", web.metadata.uid.as_ref().unwrap()));

    let status = &web.data["status"];
    assert_eq!(status["release"]["revision"], 1);
    assert_eq!(status["release"]["chart"]["label"], "sample-0.1.0");
    assert_eq!(status["release"]["notes"], "web says hello.\n");
    assert_eq!(status["resources"], json!({"total": 4, "ready": 4}));
    for (r#type, reason) in [("Deployed", "InstallSuccessful"), ("Ready", "Ready")] {
        assert_eq!(condition(&web, r#type).unwrap()["reason"], reason);
    }
    assert!(condition(&web, "Reconciling").is_none() && condition(&web, "Stalled").is_none());
    let annotations = web.metadata.annotations.unwrap();
    assert_eq!(
        annotations["applyset.kubernetes.io/contains-group-kinds"],
        "ConfigMap,Deployment.apps,Service"
    );
    assert!(annotations["applyset.kubernetes.io/tooling"].starts_with("pintle/v"));
    assert_eq!(web.metadata.finalizers, None, "garbage collection reaches all of it");

    assert!(
        samples.event(&operator, "web", "Installed").await.unwrap().contains("revision 1 of sample-0.1.0")
    );
    let metrics = operator.metrics().await.unwrap();
    let kind = ("kind", "Sample.test.pintle.dev");
    assert!(metrics.sum("pintle_applies_total", &[kind, ("member", "Deployment.apps")]) >= 1.0);
    assert!(
        metrics.sum("pintle_reconciles_total", &[kind, ("trigger", "start"), ("result", "applied")]) >= 1.0
    );
    assert!((metrics.sum("pintle_instances", &[kind]) - 1.0).abs() < 0.1);
    assert!(metrics.sum("pintle_watches", &[]) >= 3.0);
    assert_eq!(operator.get("health-probe", "/healthz").await.unwrap(), (200, "ok".to_owned()));
}

#[tokio::test]
async fn an_update_is_a_revision_and_prunes_what_is_gone_from_it() {
    let cluster = Cluster::shared().await.unwrap();
    let space = cluster.namespace("update").await.unwrap();
    let operator = Operator::sample(cluster, &space).await.unwrap();
    let samples = Resources::new(&space, "Sample");
    samples.create("web", json!({"maps": 3})).await.unwrap();
    samples.ready(&operator, "web").await.unwrap();
    let maps: Api<ConfigMap> = space.api();
    let before = maps.get("web-0").await.unwrap();

    samples.change("web", json!({"maps": 1, "message": "changed", "workload": false})).await.unwrap();
    let web = samples.ready(&operator, "web").await.unwrap();
    assert_eq!(web.data["status"]["release"]["revision"], 2);
    assert_eq!(condition(&web, "Deployed").unwrap()["reason"], "UpgradeSuccessful");
    let after = maps.get("web-0").await.unwrap();
    assert_eq!(after.metadata.uid, before.metadata.uid);
    assert_eq!(after.data.unwrap()["message"], "changed");
    assert!(maps.get_opt("web-1").await.unwrap().is_none());
    assert!(maps.get_opt("web-2").await.unwrap().is_none());
    assert!(space.api::<Service>().get_opt("web").await.unwrap().is_none());
    // The parent says so once the last of a kind is gone.
    operator
        .until("the parent's annotation is of what is left", || async {
            let web = samples.api().get("web").await?;
            let kinds =
                web.metadata.annotations.unwrap_or_default()["applyset.kubernetes.io/contains-group-kinds"]
                    .clone();
            Ok((kinds == "ConfigMap").then_some(()))
        })
        .await
        .unwrap();
    let pruned = operator.metrics().await.unwrap().sum("pintle_prunes_total", &[("member", "ConfigMap")]);
    assert!((pruned - 2.0).abs() < 0.1, "{pruned}");
    // Two ConfigMaps, the Deployment and the Service: the watches of these end.
    operator
        .until("only ConfigMaps are watched", || async {
            let watches = operator.metrics().await?.sum("pintle_watches", &[]);
            Ok((watches < 1.5).then_some(()))
        })
        .await
        .unwrap();
}

#[tokio::test]
async fn a_chart_that_prints_its_revision_settles() {
    let cluster = Cluster::shared().await.unwrap();
    let space = cluster.namespace("revision").await.unwrap();
    let operator = Operator::sample(cluster, &space).await.unwrap();
    let samples = Resources::new(&space, "Sample");
    samples.create("web", json!({"revision": true, "workload": false})).await.unwrap();
    samples.ready(&operator, "web").await.unwrap();
    samples.change("web", json!({"message": "again"})).await.unwrap();
    let web = samples.ready(&operator, "web").await.unwrap();
    assert_eq!(web.data["status"]["release"]["revision"], 2);
    let map = space.api::<ConfigMap>().get("web-0").await.unwrap();
    assert_eq!(map.data.unwrap()["revision"], "2");
    // Another look, at everything, changes nothing.
    samples.look_again(&operator, "web", "now").await.unwrap();
    let again = space.api::<ConfigMap>().get("web-0").await.unwrap();
    assert_eq!(again.metadata.resource_version, map.metadata.resource_version);
    assert_eq!(samples.api().get("web").await.unwrap().data["status"]["release"]["revision"], 2);
}

#[tokio::test]
async fn two_kinds_with_resources_of_one_name() {
    let cluster = Cluster::shared().await.unwrap();
    let space = cluster.namespace("two-kinds").await.unwrap();
    let scratch = tempfile::tempdir().unwrap();
    let other = scratch.path().join("other");
    std::fs::create_dir_all(other.join("templates")).unwrap();
    std::fs::write(other.join("Chart.yaml"), "apiVersion: v2\nname: other\nversion: 1.0.0\n").unwrap();
    std::fs::write(
        other.join("templates/a.yaml"),
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: other-{{ .Release.Name }}\n",
    )
    .unwrap();
    let entries = [entry("Sample", &sample()), entry("Other", &other)];
    let operator = Operator::start(cluster, &space, &entries, &[]).await.unwrap();
    let (samples, others) = (Resources::new(&space, "Sample"), Resources::new(&space, "Other"));
    samples.create("web", json!({"workload": false})).await.unwrap();
    others.create("web", json!({})).await.unwrap();
    let sample = samples.ready(&operator, "web").await.unwrap();
    let other = others.ready(&operator, "web").await.unwrap();
    assert_ne!(set_of(&sample), set_of(&other));

    others.api().delete("web", &DeleteParams::default()).await.unwrap();
    let maps: Api<ConfigMap> = space.api();
    operator
        .until("the other's object is gone", || async {
            Ok(maps.get_opt("other-web").await?.is_none().then_some(()))
        })
        .await
        .unwrap();
    assert!(maps.get_opt("web-0").await.unwrap().is_some());
    let mine = ListParams::default().labels(&format!("applyset.kubernetes.io/part-of={}", set_of(&sample)));
    assert_eq!(maps.list(&mine).await.unwrap().items.len(), 1);
}

#[tokio::test]
async fn a_suspended_resource_rests() {
    let cluster = Cluster::shared().await.unwrap();
    let space = cluster.namespace("suspend").await.unwrap();
    let operator = Operator::sample(cluster, &space).await.unwrap();
    let samples = Resources::new(&space, "Sample");
    samples.create("web", json!({"workload": false})).await.unwrap();
    samples.ready(&operator, "web").await.unwrap();
    samples.annotate("web", "pintle.dev/suspend", "true").await.unwrap();
    samples.change("web", json!({"message": "later"})).await.unwrap();
    operator
        .until("the status says so", || async {
            let web = samples.api().get("web").await?;
            Ok(condition(&web, "Reconciling").is_some_and(|c| c["reason"] == "Suspended").then_some(()))
        })
        .await
        .unwrap();
    let message = || async {
        Ok::<_, kube::Error>(space.api::<ConfigMap>().get("web-0").await?.data.unwrap()["message"].clone())
    };
    assert_eq!(message().await.unwrap(), "hello");
    samples.annotate("web", "pintle.dev/suspend", "false").await.unwrap();
    samples.ready(&operator, "web").await.unwrap();
    assert_eq!(message().await.unwrap(), "later");
}
