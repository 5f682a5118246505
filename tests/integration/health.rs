//! What an instance says of objects that are not ready, and why they are not.

use k8s_openapi::api::core::v1::{Event, Pod};
use kube::{
    Api,
    api::{DynamicObject, ListParams, Patch, PatchParams, PostParams},
};
use serde_json::{Value, json};

use crate::{
    drift_rules::raw,
    harness::{Cluster, Namespace},
    operator::{Operator, Resources, condition, install_crd},
};

async fn start(prefix: &str, pintle: Value) -> (Namespace, Operator, Resources) {
    crate::operator::start(prefix, &raw(), pintle).await.unwrap()
}

/// A Pod template that no node takes, so that what its Pods say is the test's to choose.
fn nowhere() -> Value {
    json!({"metadata": {"labels": {"app": "web"}}, "spec": {"restartPolicy": "Always", "nodeSelector": {"nowhere": "true"},
        "containers": [{"name": "main", "image": "a:1"}]}})
}

fn deployment() -> Value {
    json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
        "spec": {"selector": {"matchLabels": {"app": "web"}}, "template": nowhere()}})
}

/// Waits until the condition Ready is false and says all of these.
async fn says(operator: &Operator, samples: &Resources, name: &str, words: &[&str]) -> DynamicObject {
    let result = operator
        .until(&format!("{name} says {words:?}"), || async {
            let object = samples.api().get(name).await?;
            let message = condition(&object, "Ready")
                .filter(|c| c["status"] == "False")
                .and_then(|c| c["message"].as_str())
                .unwrap_or_default();
            Ok(words.iter().all(|word| message.contains(word)).then_some(object))
        })
        .await;
    match result {
        Ok(object) => object,
        Err(error) => panic!("{error:#}\n{}", samples.api().get(name).await.unwrap().data["status"]),
    }
}

async fn set_status(pods: &Api<Pod>, status: &Value) {
    let name =
        pods.list(&ListParams::default().labels("app=web")).await.unwrap().items[0].metadata.name.clone();
    let patch = Patch::Merge(json!({ "status": status }));
    pods.patch_status(&name.unwrap(), &PatchParams::default(), &patch).await.unwrap();
}

#[tokio::test]
async fn why_a_workload_is_not_ready() {
    let (space, operator, samples) = start("health-why", json!({})).await;
    samples.create("web", json!({"objects": [deployment()]})).await.unwrap();
    let web = says(&operator, &samples, "web", &["Deployment.apps", "Pod web-", "Unschedulable"]).await;
    assert_eq!(condition(&web, "Ready").unwrap()["reason"], "Progressing");
    assert_eq!(condition(&web, "Reconciling").unwrap()["status"], "True");
    assert!(
        web.data["status"]["resources"]["notReady"][0]["message"].as_str().unwrap().contains("Unschedulable")
    );

    let pods: Api<Pod> = space.api();
    let waiting = |reason: &str, message: &str| {
        json!({"phase": "Pending", "containerStatuses": [{"name": "main", "image": "a:1", "imageID": "", "ready": false, "restartCount": 0,
            "state": {"waiting": {"reason": reason, "message": message}}}]})
    };
    set_status(&pods, &waiting("ErrImagePull", "a:1: not found")).await;
    says(&operator, &samples, "web", &["container main: ErrImagePull: a:1: not found"]).await;
    let mut crash = waiting("CrashLoopBackOff", "back-off 10s restarting failed container");
    crash["phase"] = "Running".into();
    crash["containerStatuses"][0]["restartCount"] = 2.into();
    crash["containerStatuses"][0]["lastState"] =
        json!({"terminated": {"exitCode": 3, "reason": "Error", "startedAt": null, "finishedAt": null}});
    set_status(&pods, &crash).await;
    says(&operator, &samples, "web", &["container main: CrashLoopBackOff: exit code 3 (Error)"]).await;
    // A Pod that is mended is no reason any more.
    set_status(&pods, &json!({"containerStatuses": [{"name": "main", "image": "a:1", "imageID": "x", "ready": true, "restartCount": 2,
        "state": {"running": {"startedAt": null}}, "lastState": null}], "conditions": [
            {"type": "PodScheduled", "status": "True"}, {"type": "Ready", "status": "True"}]}))
    .await;
    samples.ready(&operator, "web").await.unwrap();
    assert!(samples.api().get("web").await.unwrap().data["status"]["resources"].get("notReady").is_none());
}

#[tokio::test]
async fn what_only_events_tell_of_a_pod() {
    let (space, operator, samples) = start("health-mount", json!({})).await;
    samples.create("web", json!({"objects": [deployment()]})).await.unwrap();
    says(&operator, &samples, "web", &["Unschedulable"]).await;
    let pods: Api<Pod> = space.api();
    let all = pods.list(&ListParams::default()).await.unwrap().items;
    let pod = all[0].metadata.clone();
    let (name, uid) = (pod.name.unwrap(), pod.uid.unwrap());
    let event = json!({"metadata": {"generateName": "mount-"}, "type": "Warning", "reason": "FailedMount",
        "message": "MountVolume.SetUp failed for volume \"config\": configmap \"web\" not found",
        "involvedObject": {"apiVersion": "v1", "kind": "Pod", "namespace": space.name(), "name": name, "uid": uid}});
    let events: Api<Event> = space.api();
    events.create(&PostParams::default(), &serde_json::from_value(event).unwrap()).await.unwrap();
    set_status(&pods, &json!({"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "True"}],
        "containerStatuses": [{"name": "main", "image": "a:1", "imageID": "", "ready": false, "restartCount": 0,
            "state": {"waiting": {"reason": "ContainerCreating"}}}]}))
    .await;
    says(&operator, &samples, "web", &["FailedMount", "configmap \"web\" not found"]).await;
    set_status(&pods, &json!({"phase": "Running", "containerStatuses": [{"name": "main", "image": "a:1", "imageID": "x", "ready": true,
        "restartCount": 0, "state": {"waiting": null, "running": {"startedAt": null}}}],
        "conditions": [{"type": "PodScheduled", "status": "True"}, {"type": "Ready", "status": "True"}]}))
    .await;
    samples.ready(&operator, "web").await.unwrap();
    let note = samples.event(&operator, "web", "Ready").await.unwrap();
    assert_eq!(note, "1 object ready");
}

#[tokio::test]
async fn jobs_claims_and_pods_that_fail() {
    let (space, operator, samples) = start("health-fail", json!({})).await;
    let mut template = nowhere();
    template["spec"]["restartPolicy"] = "Never".into();
    let job = json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "seed"},
        "spec": {"backoffLimit": 0, "template": template}});
    samples.create("job", json!({"objects": [job]})).await.unwrap();
    samples.await_condition(&operator, "job", "Deployed", "True").await.unwrap();
    let pods: Api<Pod> = space.api();
    operator
        .until("the Job has a Pod", || async {
            Ok((!pods.list(&ListParams::default().labels("app=web")).await?.items.is_empty()).then_some(()))
        })
        .await
        .unwrap();
    set_status(&pods, &json!({"phase": "Failed"})).await;
    let failed = samples.await_condition(&operator, "job", "Stalled", "True").await.unwrap();
    let message = condition(&failed, "Ready").unwrap()["message"].as_str().unwrap();
    assert!(message.contains("Job.batch") && message.contains("BackoffLimitExceeded"), "{message}");
    let note = samples.event(&operator, "job", "MemberFailed").await.unwrap();
    assert!(note.contains("BackoffLimitExceeded"), "{note}");

    let claim = json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data"}, "spec": {
        "accessModes": ["ReadWriteOnce"], "volumeName": "nowhere", "storageClassName": "", "resources": {"requests": {"storage": "1Gi"}}}});
    samples.create("claim", json!({"objects": [claim]})).await.unwrap();
    says(&operator, &samples, "claim", &["PersistentVolumeClaim", "data: not yet bound"]).await;
}

#[tokio::test]
async fn kubectl_wait_and_the_progress_deadline() {
    let cluster = Cluster::shared().await.unwrap();
    let (space, operator, samples) = start("health-deadline", json!({"progressDeadline": "2s"})).await;
    samples.create("web", json!({"objects": [deployment()]})).await.unwrap();
    let web = samples.await_condition(&operator, "web", "Stalled", "True").await.unwrap();
    let stalled = condition(&web, "Stalled").unwrap();
    assert_eq!(stalled["reason"], "ProgressDeadlineExceeded");
    assert!(
        stalled["message"].as_str().unwrap().contains("not ready within 2 s: Deployment.apps"),
        "{stalled}"
    );
    assert!(condition(&web, "Reconciling").is_none());
    // It is not given up: what makes it ready makes the instance ready.
    let mut anywhere = deployment();
    anywhere["spec"]["template"]["spec"].as_object_mut().unwrap().remove("nodeSelector");
    samples.change("web", json!({"objects": [anywhere]})).await.unwrap();
    let args =
        ["wait", "--for=condition=Ready", "sample.test.pintle.dev/web", "--timeout=120s", "-n", space.name()];
    let waited = cluster.admin().run("kubectl", &args, "").await.unwrap();
    assert!(waited.success, "{}", waited.stderr);
    let web = samples.ready(&operator, "web").await.unwrap();
    assert!(condition(&web, "Stalled").is_none());
}

#[tokio::test]
async fn a_kind_with_conditions_of_its_own() {
    let (space, operator, samples) = start("health-custom", json!({})).await;
    let open = json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true });
    let crd = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "databases.health.test.pintle.dev"},
        "spec": {"group": "health.test.pintle.dev", "scope": "Namespaced", "names": {"kind": "Database", "plural": "databases"},
            "versions": [{"name": "v1", "served": true, "storage": true, "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": open, "status": open}}}}]}});
    install_crd(&space.client(), &crd).await.unwrap();
    let database = json!({"apiVersion": "health.test.pintle.dev/v1", "kind": "Database", "metadata": {"name": "db"}, "spec": {"size": 1}});
    samples.create("web", json!({"objects": [database]})).await.unwrap();
    samples.ready(&operator, "web").await.unwrap();
    let gvk = kube::core::GroupVersionKind::gvk("health.test.pintle.dev", "v1", "Database");
    let databases: Api<DynamicObject> =
        space.dynamic(&kube::api::ApiResource::from_gvk_with_plural(&gvk, "databases"));
    let status = |value: Value| {
        let databases = databases.clone();
        async move {
            let patch = Patch::Merge(json!({ "status": value }));
            databases.patch_status("db", &PatchParams::default(), &patch).await.unwrap();
        }
    };
    let ready = |status: &str| json!([{"type": "Ready", "status": status, "reason": "Restoring", "message": "from the backup"}]);
    status(json!({"observedGeneration": 1, "conditions": ready("False")})).await;
    says(&operator, &samples, "web", &["Database.health.test.pintle.dev", "Restoring: from the backup"])
        .await;
    status(json!({"observedGeneration": 0, "conditions": ready("True")})).await;
    says(&operator, &samples, "web", &["generation 1 is not yet observed"]).await;
    status(json!({"observedGeneration": 1, "conditions": [{"type": "Stalled", "status": "True", "reason": "NoDisk", "message": ""}]})).await;
    let web = samples.await_condition(&operator, "web", "Stalled", "True").await.unwrap();
    assert!(condition(&web, "Ready").unwrap()["message"].as_str().unwrap().contains("NoDisk"));
    status(json!({"observedGeneration": 1, "conditions": ready("True")})).await;
    samples.ready(&operator, "web").await.unwrap();
}
