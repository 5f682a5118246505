//! The end of an instance: its hooks, what it waits for, what it leaves.

use k8s_openapi::{
    api::{
        batch::v1::Job,
        core::v1::{ConfigMap, Pod, Secret},
    },
    apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
};
use kube::{
    Api,
    api::{DeleteParams, Patch, PatchParams},
};
use serde_json::json;

use crate::{
    harness::{Cluster, wait},
    hooks::{finish, held, hook, phase, start, with},
    operator::{Operator, Resources, condition, entry},
};

#[tokio::test]
async fn hooks_before_and_after() {
    let cluster = Cluster::shared().await.unwrap();
    let space = cluster.namespace("delete-hooks").await.unwrap();
    let mut operator = start(cluster, &space).await;
    let samples = Resources::new(&space, "Sample");
    let hooks = json!([
        with(held("Job", "before", "pre-delete"), &json!({"policy": "before-hook-creation,hook-succeeded"})),
        held("Pod", "after", "post-delete"),
    ]);
    samples.create("web", json!({"hooks": hooks})).await.unwrap();
    let web = samples.ready(&operator, "web").await.unwrap();
    assert_eq!(web.metadata.finalizers.unwrap(), ["pintle.dev/uninstall"], "before anything was applied");
    let uid = web.metadata.uid.unwrap();
    let maps: Api<ConfigMap> = space.api();

    samples.api().delete("web", &DeleteParams::default()).await.unwrap();
    phase(&samples, &operator, "web", "web-before", "Running").await.unwrap();
    let web = samples.api().get("web").await.unwrap();
    assert_eq!(
        condition(&web, "Ready").unwrap()["message"],
        "waiting for hook Job.batch web-before (pre-delete)"
    );
    assert!(maps.get_opt("web").await.unwrap().is_some(), "nothing is deleted before");

    // A failure deletes nothing, and is run again when asked.
    finish(&space, "web-before", "Failed").await;
    let web = samples.await_condition(&operator, "web", "Stalled", "True").await.unwrap();
    let failed = condition(&web, "ReleaseFailed").unwrap();
    assert_eq!(failed["reason"], "UninstallError");
    let message = failed["message"].as_str().unwrap();
    assert!(message.contains("BackoffLimitExceeded") && message.contains("Nothing was deleted"), "{message}");
    assert!(maps.get_opt("web").await.unwrap().is_some());
    samples.annotate("web", "pintle.dev/reconcile", "again").await.unwrap();
    phase(&samples, &operator, "web", "web-before", "Running").await.unwrap();
    let jobs: Api<Job> = space.api();
    operator.kill().await.unwrap();
    operator.run().await.unwrap();
    finish(&space, "web-before", "Succeeded").await;

    phase(&samples, &operator, "web", "web-after", "Running").await.unwrap();
    assert!(maps.get_opt("web").await.unwrap().is_none());
    let gone = || async { Ok(jobs.get_opt("web-before").await?.is_none().then_some(())) };
    operator.until("it goes by its policy", gone).await.unwrap();
    // What runs after everything is gone holds nothing up when it fails.
    finish(&space, "web-after", "Failed").await;
    wait::gone(samples.api(), "web", &uid).await.unwrap();
    let note = samples.event(&operator, "web", "HookFailed").await.unwrap();
    assert!(note.contains("web-"), "{note}");
    assert!(space.api::<Pod>().get_opt("web-after").await.unwrap().is_some(), "as Helm leaves it");
}

#[tokio::test]
async fn hooks_that_cannot_run_hold_up_only_until_told() {
    let cluster = Cluster::shared().await.unwrap();
    let space = cluster.namespace("delete-broken").await.unwrap();
    let operator = start(cluster, &space).await;
    let samples = Resources::new(&space, "Sample");
    samples.create("web", json!({"hooks": [hook("ConfigMap", "x", "pre-delete")]})).await.unwrap();
    let web = samples.ready(&operator, "web").await.unwrap();
    // A change that does not render, and then the deletion.
    samples.change("web", json!({"hooks": [{"kind": 7, "name": []}]})).await.unwrap();
    samples.await_condition(&operator, "web", "Stalled", "True").await.unwrap();
    samples.api().delete("web", &DeleteParams::default()).await.unwrap();
    let web_uid = web.metadata.uid.unwrap();
    operator
        .until("the status says what to do", || async {
            let web = samples.api().get("web").await?;
            let message = condition(&web, "Ready").map(|c| c["message"].to_string()).unwrap_or_default();
            Ok(message.contains("pintle.dev/hooks: disabled to delete it without them").then_some(()))
        })
        .await
        .unwrap();
    samples.annotate("web", "pintle.dev/hooks", "disabled").await.unwrap();
    wait::gone(samples.api(), "web", &web_uid).await.unwrap();
    assert!(space.api::<ConfigMap>().get_opt("web").await.unwrap().is_none());
}

#[tokio::test]
async fn a_namespace_that_goes_takes_everything_with_it() {
    let cluster = Cluster::shared().await.unwrap();
    let space = cluster.namespace("delete-space").await.unwrap();
    let operator = start(cluster, &space).await;
    let samples = Resources::new(&space, "Sample");
    samples.create("web", json!({"hooks": [held("Job", "x", "pre-delete")]})).await.unwrap();
    let web = samples.ready(&operator, "web").await.unwrap();
    let name = space.name().to_owned();
    let spaces: Api<k8s_openapi::api::core::v1::Namespace> = Api::all(space.client());
    let uid = spaces.get(&name).await.unwrap().metadata.uid.unwrap();
    spaces.delete(&name, &DeleteParams::default()).await.unwrap();
    wait::gone(samples.api(), "web", &web.metadata.uid.unwrap()).await.unwrap();
    wait::gone(&spaces, &name, &uid).await.unwrap();
}

#[tokio::test]
async fn what_holds_an_object_is_explained() {
    let cluster = Cluster::shared().await.unwrap();
    let space = cluster.namespace("delete-held").await.unwrap();
    let operator = start(cluster, &space).await;
    let samples = Resources::new(&space, "Sample");
    samples.create("web", json!({"hooks": [hook("ConfigMap", "x", "pre-delete")]})).await.unwrap();
    let web = samples.ready(&operator, "web").await.unwrap();
    let maps: Api<ConfigMap> = space.api();
    let finalizers = |list: serde_json::Value| Patch::Merge(json!({"metadata": {"finalizers": list}}));
    maps.patch("web", &PatchParams::default(), &finalizers(json!(["example.com/hold"]))).await.unwrap();
    samples.api().delete("web", &DeleteParams::default()).await.unwrap();
    let what =
        "held by the finalizer example.com/hold: whoever set it must remove it: does its controller run?";
    let message = format!("waiting for 1 object to be gone: ConfigMap {}/web ({what})", space.name());
    operator
        .until("the status names the finalizer", || async {
            let web = samples.api().get("web").await?;
            let said = condition(&web, "Ready").is_some_and(|c| c["message"] == message);
            Ok((said && web.data["status"]["resources"]["notReady"][0]["message"] == what).then_some(()))
        })
        .await
        .unwrap();
    maps.patch("web", &PatchParams::default(), &finalizers(json!(null))).await.unwrap();
    wait::gone(samples.api(), "web", &web.metadata.uid.unwrap()).await.unwrap();
}

#[tokio::test]
async fn what_is_to_be_kept_or_orphaned_stays_whatever_the_chart_says() {
    let cluster = Cluster::shared().await.unwrap();
    let space = cluster.namespace("delete-keep").await.unwrap();
    let operator = Operator::sample(cluster, &space).await.unwrap();
    let samples = Resources::new(&space, "Sample");
    let maps: Api<ConfigMap> = space.api();
    let finalizer = |name: &'static str| {
        let api = samples.api().clone();
        async move { Ok(api.get(name).await?.metadata.finalizers.map(|_| ())) }
    };
    // Said of the live object, by a person.
    samples.create("a", json!({"workload": false, "maps": 2})).await.unwrap();
    let a = samples.ready(&operator, "a").await.unwrap();
    assert_eq!(a.metadata.finalizers, None);
    let keep = Patch::Merge(json!({"metadata": {"annotations": {"helm.sh/resource-policy": "keep"}}}));
    maps.patch("a-1", &PatchParams::default(), &keep).await.unwrap();
    operator.until("a has the finalizer", || finalizer("a")).await.unwrap();
    samples.api().delete("a", &DeleteParams::default()).await.unwrap();
    wait::gone(samples.api(), "a", &a.metadata.uid.unwrap()).await.unwrap();
    assert!(maps.get_opt("a-0").await.unwrap().is_none());
    let kept = maps.get("a-1").await.unwrap();
    assert!(kept.metadata.owner_references.unwrap_or_default().is_empty());
    assert!(!kept.metadata.labels.unwrap_or_default().contains_key("applyset.kubernetes.io/part-of"));

    // Orphans of an instance that had no finalizer; the passwords stay too.
    samples.create("b", json!({"workload": false, "password": true})).await.unwrap();
    let b = samples.ready(&operator, "b").await.unwrap();
    samples.annotate("b", "pintle.dev/orphan", "true").await.unwrap();
    operator.until("b has the finalizer", || finalizer("b")).await.unwrap();
    samples.api().delete("b", &DeleteParams::default()).await.unwrap();
    wait::gone(samples.api(), "b", &b.metadata.uid.unwrap()).await.unwrap();
    assert!(maps.get("b-0").await.unwrap().metadata.owner_references.unwrap_or_default().is_empty());
    let secrets: Api<Secret> = space.api();
    let all = secrets.list(&Default::default()).await.unwrap().items;
    assert_eq!(all.len(), 2, "the chart's and that of the generated values");
    assert!(all.iter().all(|s| s.metadata.owner_references.as_ref().is_none_or(Vec::is_empty)));
}

#[tokio::test]
async fn a_kind_that_is_gone_holds_nothing_up() {
    let cluster = Cluster::shared().await.unwrap();
    let space = cluster.namespace("delete-kind").await.unwrap();
    let chart = crate::crds::chart("gone", "templates");
    let operator = Operator::start(cluster, &space, &[entry("Sample", chart.path())], &[]).await.unwrap();
    let samples = Resources::new(&space, "Sample");
    samples.create("web", json!({})).await.unwrap();
    let web = samples.ready(&operator, "web").await.unwrap();
    assert_eq!(web.metadata.finalizers.unwrap(), ["pintle.dev/uninstall"], "a CRD among the members");
    let crds: Api<CustomResourceDefinition> = Api::all(space.client());
    samples.annotate("web", "pintle.dev/suspend", "true").await.unwrap();
    let uid = crds.get("gones.crds.pintle.dev").await.unwrap().metadata.uid.unwrap();
    crds.delete("gones.crds.pintle.dev", &DeleteParams::default()).await.unwrap();
    wait::gone(&crds, "gones.crds.pintle.dev", &uid).await.unwrap();
    samples.api().delete("web", &DeleteParams::default()).await.unwrap();
    wait::gone(samples.api(), "web", &web.metadata.uid.unwrap()).await.unwrap();
}
