//! What others do to members, and what becomes of it.

use k8s_openapi::api::{
    apps::v1::Deployment,
    batch::v1::Job,
    core::v1::{ConfigMap, Service},
};
use kube::{
    Api,
    api::{DeleteParams, Patch, PatchParams},
};
use serde_json::{Value, json};

use crate::{
    drift_rules::raw,
    harness::{Cluster, Namespace, wait},
    operator::{Operator, Resources, condition, entry, sample, set_of},
};

/// A ready resource `web` of the test chart.
async fn ready(cluster: &Cluster, prefix: &str) -> (Namespace, Operator, Resources) {
    let space = cluster.namespace(prefix).await.unwrap();
    let operator = Operator::sample(cluster, &space).await.unwrap();
    let samples = Resources::new(&space, "Sample");
    samples.create("web", json!({})).await.unwrap();
    samples.ready(&operator, "web").await.unwrap();
    (space, operator, samples)
}

fn by(manager: &str) -> PatchParams {
    PatchParams { field_manager: Some(manager.into()), ..PatchParams::default() }
}

#[tokio::test]
async fn a_changed_field_is_put_back_and_the_manager_named() {
    let (space, operator, samples) = ready(Cluster::shared().await.unwrap(), "drift-field").await;
    let deployments: Api<Deployment> = space.api();
    let patch = json!({"spec": {"replicas": 3, "template": {"spec": {"containers": [{"name": "main", "image": "evil:1"}]}}}});
    deployments.patch("web", &by("kubectl-edit"), &Patch::Strategic(patch)).await.unwrap();
    let back = |d: Option<&Deployment>| {
        let spec = d.and_then(|d| d.spec.as_ref());
        spec.is_some_and(|s| {
            s.replicas == Some(1)
                && s.template
                    .spec
                    .as_ref()
                    .is_some_and(|p| p.containers[0].image.as_deref() == Some("sample:1"))
        })
    };
    wait::object(&deployments, "web", "it is as rendered", back).await.unwrap();
    let note = samples.event(&operator, "web", "DriftCorrected").await.unwrap();
    assert!(note.contains("Deployment.apps") && note.contains("kubectl-edit took"), "{note}");
    assert!(note.contains(".spec.replicas") && note.contains(r#"containers[name="main"].image"#), "{note}");
    let web = samples.ready(&operator, "web").await.unwrap();
    assert_eq!(web.data["status"]["release"]["revision"], 1, "drift is no revision");
    let drifts =
        operator.metrics().await.unwrap().sum("pintle_drifts_total", &[("member", "Deployment.apps")]);
    assert!(drifts >= 1.0, "{drifts}");
}

#[tokio::test]
async fn another_applier_that_forces_is_put_back() {
    let (space, operator, samples) = ready(Cluster::shared().await.unwrap(), "drift-apply").await;
    let maps: Api<ConfigMap> = space.api();
    let theirs = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "web-0"},
        "data": {"message": "theirs", "more": "theirs too"}});
    maps.patch("web-0", &PatchParams::apply("argocd").force(), &Patch::Apply(&theirs)).await.unwrap();
    let back =
        |m: Option<&ConfigMap>| m.and_then(|m| m.data.as_ref()).is_some_and(|d| d["message"] == "hello");
    let map = wait::object(&maps, "web-0", "its message is as rendered", back).await.unwrap().unwrap();
    assert_eq!(map.data.unwrap()["more"], "theirs too", "what the chart does not render is left alone");
    assert!(
        samples
            .event(&operator, "web", "DriftCorrected")
            .await
            .unwrap()
            .contains("argocd took .data.message")
    );
}

#[tokio::test]
async fn fields_that_the_chart_does_not_render_are_left_alone() {
    let (space, operator, samples) = ready(Cluster::shared().await.unwrap(), "drift-foreign").await;
    let deployments: Api<Deployment> = space.api();
    let patch = json!({
        "metadata": {"annotations": {"team": "blue"}, "labels": {"cost": "7"}},
        "spec": {"template": {"metadata": {"annotations": {"kubectl.kubernetes.io/restartedAt": "now"}}}},
    });
    deployments.patch("web", &by("kubectl-rollout"), &Patch::Merge(patch)).await.unwrap();
    // A later change of ours, which is made after the operator has seen theirs, leaves them too.
    samples.change("web", json!({"replicas": 2})).await.unwrap();
    samples.ready(&operator, "web").await.unwrap();
    let deployment = deployments.get("web").await.unwrap();
    assert_eq!(deployment.spec.as_ref().unwrap().replicas, Some(2));
    assert_eq!(deployment.metadata.annotations.unwrap()["team"], "blue");
    assert_eq!(deployment.metadata.labels.unwrap()["cost"], "7");
    let template = deployment.spec.unwrap().template.metadata.unwrap();
    assert_eq!(template.annotations.unwrap()["kubectl.kubernetes.io/restartedAt"], "now");
    let drifts = operator.metrics().await.unwrap().sum("pintle_drifts_total", &[]);
    assert!(drifts < 0.1, "{drifts}");
}

#[tokio::test]
async fn a_deleted_member_returns() {
    let (space, operator, samples) = ready(Cluster::shared().await.unwrap(), "drift-delete").await;
    let services: Api<Service> = space.api();
    let before = services.get("web").await.unwrap();
    services.delete("web", &DeleteParams::default()).await.unwrap();
    let back = |s: Option<&Service>| s.is_some_and(|s| s.metadata.uid != before.metadata.uid);
    wait::object(&services, "web", "it is back", back).await.unwrap();
    let note = samples.event(&operator, "web", "DriftCorrected").await.unwrap();
    assert!(note.contains("Service") && note.contains("it was deleted"), "{note}");
}

#[tokio::test]
async fn labels_that_membership_hangs_on_are_put_back() {
    let (space, operator, samples) = ready(Cluster::shared().await.unwrap(), "drift-labels").await;
    let set = set_of(&samples.api().get("web").await.unwrap());
    let maps: Api<ConfigMap> = space.api();
    let before = maps.get("web-0").await.unwrap();
    let labelled = |m: Option<&ConfigMap>| {
        let labels = m.and_then(|m| m.metadata.labels.as_ref());
        labels.is_some_and(|l| {
            l.get("applyset.kubernetes.io/part-of") == Some(&set)
                && l.get("pintle.dev/definition").is_some_and(|d| d == "sample.test.pintle.dev")
                && l.get("app").is_some_and(|a| a == "web")
        })
    };
    for labels in [
        json!({"app": null}),
        json!({"pintle.dev/definition": null}),
        json!({"applyset.kubernetes.io/part-of": null}),
        json!({"applyset.kubernetes.io/part-of": "mine"}),
        json!({"applyset.kubernetes.io/part-of": null, "pintle.dev/definition": null, "app": null}),
    ] {
        maps.patch("web-0", &by("kubectl-label"), &Patch::Merge(json!({"metadata": {"labels": labels}})))
            .await
            .unwrap();
        wait::object(&maps, "web-0", &format!("its labels are back after {labels}"), labelled).await.unwrap();
    }
    assert_eq!(maps.get("web-0").await.unwrap().metadata.uid, before.metadata.uid);
    samples.ready(&operator, "web").await.unwrap();
}

#[tokio::test]
async fn a_member_too_many_is_pruned() {
    let (space, operator, samples) = ready(Cluster::shared().await.unwrap(), "drift-extra").await;
    let set = set_of(&samples.api().get("web").await.unwrap());
    let maps: Api<ConfigMap> = space.api();
    // As a process has applied it that ended before it could prune it.
    let extra = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "extra",
        "labels": {"applyset.kubernetes.io/part-of": set, "pintle.dev/definition": "sample.test.pintle.dev"}}});
    let applied = maps.patch("extra", &PatchParams::apply("pintle"), &Patch::Apply(&extra)).await.unwrap();
    let uid = applied.metadata.uid.unwrap();
    wait::gone(&maps, "extra", &uid).await.unwrap();
    samples.ready(&operator, "web").await.unwrap();
}

#[tokio::test]
async fn a_fight_is_held_back() {
    let (space, operator, samples) = ready(Cluster::shared().await.unwrap(), "drift-fight").await;
    let maps: Api<ConfigMap> = space.api();
    let theirs = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "web-0"}, "data": {"message": "theirs"}});
    let message = |m: &ConfigMap| m.data.as_ref().map(|d| d["message"].clone()).unwrap_or_default();
    let mut rounds = 0;
    // The other controller answers each correction; the operator gives way after a few.
    let waiting = loop {
        maps.patch("web-0", &PatchParams::apply("stubborn").force(), &Patch::Apply(&theirs)).await.unwrap();
        rounds += 1;
        let settled = operator
            .until("it is put back, or that waits", || async {
                let web = samples.api().get("web").await?;
                if condition(&web, "Ready").is_some_and(|c| c["reason"] == "Waiting") {
                    return Ok(Some(Some(web)));
                }
                Ok((message(&maps.get("web-0").await?) == "hello").then_some(None))
            })
            .await
            .unwrap();
        if let Some(web) = settled {
            break web;
        }
        assert!(rounds < 20, "never held back");
    };
    let said = condition(&waiting, "Ready").unwrap()["message"].as_str().unwrap();
    assert!(said.contains("again and again"), "{said}");
    assert!(said.contains("pintle and stubborn both set .data.message"), "{said}");
    // When the other gives up, it is put back in the end.
    let back = |m: Option<&ConfigMap>| m.is_some_and(|m| message(m) == "hello");
    wait::object(&maps, "web-0", "it is put back at last", back).await.unwrap();
    samples.ready(&operator, "web").await.unwrap();
}

#[tokio::test]
async fn drift_that_is_only_reported() {
    let cluster = Cluster::shared().await.unwrap();
    let space = cluster.namespace("drift-report").await.unwrap();
    let mut report: Value = entry("Sample", &sample());
    report["pintle"] = json!({"drift": {"mode": "Report"}});
    let operator = Operator::start(cluster, &space, &[report], &[]).await.unwrap();
    let samples = Resources::new(&space, "Sample");
    samples.create("web", json!({"workload": false})).await.unwrap();
    samples.ready(&operator, "web").await.unwrap();
    let maps: Api<ConfigMap> = space.api();
    maps.patch("web-0", &by("kubectl-edit"), &Patch::Merge(json!({"data": {"message": "theirs"}})))
        .await
        .unwrap();
    let web = samples.await_condition(&operator, "web", "Drifted", "True").await.unwrap();
    assert!(condition(&web, "Drifted").unwrap()["message"].as_str().unwrap().contains("web-0"));
    assert_eq!(maps.get("web-0").await.unwrap().data.unwrap()["message"], "theirs");
    // A new spec is applied all the same.
    samples.change("web", json!({"message": "new"})).await.unwrap();
    samples.ready(&operator, "web").await.unwrap();
    assert_eq!(maps.get("web-0").await.unwrap().data.unwrap()["message"], "new");
}

/// Server-side apply would have both ports, of which the API server wants neither.
#[tokio::test]
async fn the_port_of_a_service_is_put_back() {
    let cluster = Cluster::shared().await.unwrap();
    let space = cluster.namespace("drift-port").await.unwrap();
    let operator = Operator::start(cluster, &space, &[entry("Sample", &raw())], &[]).await.unwrap();
    let samples = Resources::new(&space, "Sample");
    let ports = json!([{"name": "http", "port": 80, "targetPort": 8080}, {"name": "tls", "port": 443}]);
    let service =
        json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"}, "spec": {"ports": ports}});
    samples.create("web", json!({"objects": [service]})).await.unwrap();
    samples.ready(&operator, "web").await.unwrap();
    let services: Api<Service> = space.api();
    let edit = json!([{"op": "replace", "path": "/spec/ports/0/port", "value": 81}]);
    let edit: Patch<()> = Patch::Json(serde_json::from_value(edit).unwrap());
    services.patch("web", &by("kubectl-edit"), &edit).await.unwrap();
    let back = |service: Option<&Service>| {
        let spec = service.and_then(|service| service.spec.as_ref());
        let mut ports: Vec<i32> =
            spec.iter().flat_map(|s| s.ports.iter().flatten()).map(|p| p.port).collect();
        ports.sort_unstable();
        ports == [80, 443]
    };
    wait::object(&services, "web", "its ports are as rendered", back).await.unwrap();
    let note = samples.event(&operator, "web", "DriftCorrected").await.unwrap();
    assert!(note.contains("Service") && note.contains(r#".spec.ports[name="http"].port"#), "{note}");
    let web = samples.ready(&operator, "web").await.unwrap();
    assert!(condition(&web, "Irreconcilable").is_none());
    operator.quiet(cluster).await.unwrap();
    let managed = services.get("web").await.unwrap().metadata.managed_fields.unwrap();
    let ours: Vec<_> = managed.iter().filter(|e| e.manager.as_deref() == Some("pintle")).collect();
    assert_eq!(ours.len(), 1, "nothing is left that no apply would take back: {managed:?}");
}

/// To make it again would be to do its work again.
#[tokio::test]
async fn a_job_that_had_its_time_is_not_made_again() {
    let cluster = Cluster::shared().await.unwrap();
    let space = cluster.namespace("drift-ttl").await.unwrap();
    let mut operator = Operator::start(cluster, &space, &[entry("Sample", &raw())], &[]).await.unwrap();
    let samples = Resources::new(&space, "Sample");
    let objects = |seconds: u32| {
        let pod = json!({"restartPolicy": "Never", "containers": [{"name": "main", "image": "seed:1"}]});
        json!({"objects": [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "web"}},
            {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "seed"},
             "spec": {"ttlSecondsAfterFinished": seconds, "template": {"spec": pod}}}]})
    };
    samples.create("web", objects(1)).await.unwrap();
    let total = async |count: u32| {
        operator
            .until("all that is to be there is ready", || async {
                let web = samples.api().get("web").await?;
                let ready = condition(&web, "Ready").is_some_and(|c| c["status"] == "True");
                Ok((ready && web.data["status"]["resources"]["total"] == count).then_some(()))
            })
            .await
            .unwrap();
    };
    total(1).await;
    let jobs: Api<Job> = space.api();
    operator.quiet(cluster).await.unwrap();
    assert!(jobs.get_opt("seed").await.unwrap().is_none());
    let first = samples.ready(&operator, "web").await.unwrap();
    operator.stop().await.unwrap();
    let mark = cluster.audit_mark().unwrap();
    operator.run().await.unwrap();
    operator.quiet(cluster).await.unwrap();
    let requests = cluster.requests_since(mark).unwrap();
    let made = requests
        .iter()
        .filter(|r| r.user == operator.user() && ["jobs", "configmaps"].contains(&&*r.resource));
    assert!(made.clone().all(|r| r.verb == "watch"), "{:#?}", made.collect::<Vec<_>>());
    // A revision of which it is another part has it again.
    samples.change("web", objects(600)).await.unwrap();
    wait::object(&jobs, "seed", "it is there again", kube::runtime::conditions::is_created()).await.unwrap();
    let second = samples.ready(&operator, "web").await.unwrap();
    assert_eq!(first.data["status"]["release"]["revision"], 1);
    assert_eq!(second.data["status"]["release"]["revision"], 2);
}
