//! What runs is kept while what is to come cannot be applied yet, and what takes too long is said.

use k8s_openapi::api::{
    batch::v1::Job,
    core::v1::{ConfigMap, Pod},
    events::v1::Event,
};
use kube::{
    Api, ResourceExt as _,
    api::{DeleteParams, ListParams, Patch, PatchParams},
};
use serde_json::{Value, json};

use crate::{
    harness::{Cluster, Namespace, wait},
    hooks::{chart, finish, held, phase},
    operator::{self, Operator, Resources, condition},
};

async fn start(prefix: &str, pintle: Value) -> (Namespace, Operator, Resources) {
    operator::start(prefix, &chart(), pintle).await.unwrap()
}

/// Changes the message of the ConfigMap `web`, and waits until it is as it was.
async fn puts_back(space: &Namespace, message: &str) {
    let maps: Api<ConfigMap> = space.api();
    let patch = Patch::Merge(json!({"data": {"message": "theirs"}}));
    let edit = PatchParams { field_manager: Some("kubectl-edit".into()), ..PatchParams::default() };
    maps.patch("web", &edit, &patch).await.unwrap();
    let ours =
        |m: Option<&ConfigMap>| m.and_then(|m| m.data.as_ref()).is_some_and(|d| d["message"] == message);
    wait::object(&maps, "web", "it is as deployed", ours).await.unwrap();
}

#[tokio::test]
async fn drift_is_put_back_while_an_upgrade_waits_or_has_failed() {
    let (space, operator, samples) = start("deployed-drift", json!({})).await;
    samples.create("web", json!({"message": "one"})).await.unwrap();
    samples.ready(&operator, "web").await.unwrap();
    let hooks = json!([held("Job", "migrate", "pre-upgrade")]);
    samples.change("web", json!({"message": "two", "hooks": hooks})).await.unwrap();
    phase(&samples, &operator, "web", "web-migrate", "Running").await.unwrap();
    puts_back(&space, "one").await;
    finish(&space, "web-migrate", "Failed").await;
    samples.await_condition(&operator, "web", "ReleaseFailed", "True").await.unwrap();
    puts_back(&space, "one").await;
    let web = samples.api().get("web").await.unwrap();
    assert_eq!(condition(&web, "Ready").unwrap()["reason"], "HookFailed");

    // A spec that does not render, and at last one that does.
    samples.change("web", json!({"message": "three", "hooks": "none"})).await.unwrap();
    samples.await_condition(&operator, "web", "Stalled", "True").await.unwrap();
    puts_back(&space, "one").await;
    samples.change("web", json!({"message": "four", "hooks": null})).await.unwrap();
    samples.ready(&operator, "web").await.unwrap();
    puts_back(&space, "four").await;
}

/// The operator has never seen the values of what is deployed.
#[tokio::test]
async fn drift_is_put_back_after_a_restart_in_the_middle_of_an_upgrade() {
    let (space, mut operator, samples) = start("deployed-restart", json!({})).await;
    let cluster = Cluster::shared().await.unwrap();
    samples.create("web", json!({"message": "one"})).await.unwrap();
    samples.ready(&operator, "web").await.unwrap();
    operator.stop().await.unwrap();
    let hooks = json!([held("Job", "migrate", "pre-upgrade")]);
    samples.change("web", json!({"message": "two", "hooks": hooks})).await.unwrap();
    let mark = cluster.audit_mark().unwrap();
    operator.run().await.unwrap();
    phase(&samples, &operator, "web", "web-migrate", "Running").await.unwrap();
    operator
        .until("the members are read", || async {
            let requests = cluster.requests_since(mark)?;
            let tries = requests.iter().any(|r| r.resource == "configmaps" && r.uri.contains("dryRun=All"));
            Ok(tries.then_some(()))
        })
        .await
        .unwrap();
    operator.quiet(cluster).await.unwrap();
    puts_back(&space, "one").await;
    let maps: Api<ConfigMap> = space.api();
    let before = maps.get("web").await.unwrap();
    maps.delete("web", &DeleteParams::default()).await.unwrap();
    let anew = |map: Option<&ConfigMap>| map.is_some_and(|map| map.metadata.uid != before.metadata.uid);
    wait::object(&maps, "web", "it is there again", anew).await.unwrap();
    let after = maps.get("web").await.unwrap();
    assert_eq!((after.data, after.metadata.labels), (before.data, before.metadata.labels));
    assert_eq!(after.metadata.owner_references, before.metadata.owner_references);

    // All that was put back is known to the next process as what it should be; what others do meanwhile is not.
    operator.quiet(cluster).await.unwrap();
    operator.stop().await.unwrap();
    operator.run().await.unwrap();
    operator.quiet(cluster).await.unwrap();
    let events: Api<Event> = space.api();
    let told = async || {
        let all = events.list(&ListParams::default()).await.unwrap().items;
        all.iter().filter(|e| e.reason.as_deref() == Some("DriftDetected")).count()
    };
    assert_eq!(told().await, 0);
    operator.stop().await.unwrap();
    let theirs = Patch::Merge(json!({"data": {"message": "theirs"}}));
    maps.patch("web", &PatchParams::default(), &theirs).await.unwrap();
    operator.run().await.unwrap();
    samples.event(&operator, "web", "DriftDetected").await.unwrap();
    finish(&space, "web-migrate", "Succeeded").await;
    samples.ready(&operator, "web").await.unwrap();
    puts_back(&space, "two").await;
}

#[tokio::test]
async fn a_hook_that_takes_too_long_is_told_and_waited_for() {
    let (space, mut operator, samples) = start("deployed-late", json!({"hookTimeout": "2s"})).await;
    samples.create("web", json!({"hooks": [held("Job", "migrate", "pre-install")]})).await.unwrap();
    let web = samples.await_condition(&operator, "web", "Stalled", "True").await.unwrap();
    let ready = condition(&web, "Ready").unwrap();
    assert_eq!((&ready["status"], &ready["reason"]), (&json!("False"), &json!("HookTimeout")));
    let message = ready["message"].as_str().unwrap().to_owned();
    assert!(
        message.starts_with("hook Job.batch web-migrate (pre-install): it has not ended within 2 s"),
        "{message}"
    );
    assert!(condition(&web, "Reconciling").is_none());
    samples.event(&operator, "web", "HookTimeout").await.unwrap();
    let jobs: Api<Job> = space.api();
    let first = jobs.get("web-migrate").await.unwrap().uid();

    // Begun anew when somebody asks, after a restart too.
    operator.kill().await.unwrap();
    operator.run().await.unwrap();
    samples.annotate("web", "pintle.dev/reconcile", "again").await.unwrap();
    let anew = |job: Option<&Job>| job.is_some_and(|job| job.uid() != first);
    wait::object(&jobs, "web-migrate", "it is another", anew).await.unwrap();
    samples.await_condition(&operator, "web", "Stalled", "True").await.unwrap();

    // It is not given up.
    finish(&space, "web-migrate", "Succeeded").await;
    let web = samples.ready(&operator, "web").await.unwrap();
    assert!(condition(&web, "Stalled").is_none());
    assert_eq!(web.data["status"]["release"]["revision"], 1);

    // On a test nothing hangs.
    samples.change("web", json!({"hooks": [held("Pod", "check", "test")]})).await.unwrap();
    samples.ready(&operator, "web").await.unwrap();
    samples.annotate("web", "pintle.dev/test", "1").await.unwrap();
    let note = samples.event(&operator, "web", "TestsFailed").await.unwrap();
    assert!(note.contains("web-check (test) failed: it has not ended within 2 s"), "{note}");
}

#[tokio::test]
async fn a_hook_says_what_its_pods_wait_for() {
    let (space, operator, samples) = start("deployed-pods", json!({})).await;
    samples.create("web", json!({"hooks": [held("Job", "migrate", "pre-install")]})).await.unwrap();
    phase(&samples, &operator, "web", "web-migrate", "Running").await.unwrap();
    let pods: Api<Pod> = space.api();
    let pod = operator
        .until("the Job has a Pod", || async {
            Ok(pods.list(&ListParams::default()).await?.items.first().map(kube::ResourceExt::name_any))
        })
        .await
        .unwrap();
    let waiting = json!({"status": {"phase": "Pending", "containerStatuses": [{"name": "main", "image": "hook:1", "imageID": "",
        "ready": false, "restartCount": 0, "state": {"waiting": {"reason": "ErrImagePull", "message": "hook:1: not found"}}}]}});
    pods.patch_status(&pod, &PatchParams::default(), &Patch::Merge(waiting)).await.unwrap();
    operator
        .until("the condition says why", || async {
            let web = samples.api().get("web").await?;
            let ready = condition(&web, "Ready").cloned().unwrap_or_default();
            let said =
                ready["message"].as_str().is_some_and(|m| m.contains("ErrImagePull: hook:1: not found"));
            Ok((said && ready["reason"] == "HookRunning").then_some(()))
        })
        .await
        .unwrap();
    finish(&space, "web-migrate", "Succeeded").await;
    samples.ready(&operator, "web").await.unwrap();
    let cluster = Cluster::shared().await.unwrap();
    operator.quiet(cluster).await.unwrap();
}

#[tokio::test]
async fn a_hook_that_is_not_deleted_is_made_what_each_revision_wants() {
    let (space, operator, samples) = start("deployed-hook", json!({})).await;
    let hooks = json!([{"kind": "ConfigMap", "name": "seed", "events": "pre-install,pre-upgrade", "policy": "hook-failed"}]);
    samples.create("web", json!({"message": "one", "hooks": hooks})).await.unwrap();
    samples.ready(&operator, "web").await.unwrap();
    let maps: Api<ConfigMap> = space.api();
    let first = maps.get("web-seed").await.unwrap();
    samples.change("web", json!({"message": "two"})).await.unwrap();
    samples.ready(&operator, "web").await.unwrap();
    let second = maps.get("web-seed").await.unwrap();
    assert_eq!((second.uid(), &*second.data.unwrap()["message"]), (first.uid(), "two"));
}
