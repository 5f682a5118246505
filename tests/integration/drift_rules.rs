//! What people and programs do to members with their own tools, and what the rules make of it.

use std::path::{Path, PathBuf};

use k8s_openapi::api::{
    admissionregistration::v1::{MutatingAdmissionPolicy, MutatingAdmissionPolicyBinding},
    apps::v1::Deployment,
    autoscaling::v2::HorizontalPodAutoscaler,
    core::v1::ConfigMap,
};
use kube::{
    Api,
    api::{DeleteParams, Patch, PatchParams, PostParams},
};
use serde_json::{Value, json};

use crate::{
    harness::{Cluster, Namespace, program, wait},
    operator::{self, Operator, Resources, condition, sample},
};

/// The chart that renders what its values hold.
pub fn raw() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/integration/charts/raw")
}

/// A ready resource `web` of the test chart, under a definition with this `pintle` key.
async fn ready(prefix: &str, pintle: Value) -> (Namespace, Operator, Resources) {
    let (space, operator, samples) = operator::start(prefix, &sample(), pintle).await.unwrap();
    samples.create("web", json!({})).await.unwrap();
    samples.ready(&operator, "web").await.unwrap();
    (space, operator, samples)
}

/// Runs kubectl in a namespace, with an editor that a script is.
async fn kubectl(space: &Namespace, args: &[&str], editor: &str) -> String {
    let cluster = Cluster::shared().await.unwrap();
    // It keeps what kinds a server has in the home folder.
    let home = tempfile::tempdir().unwrap();
    let output = tokio::process::Command::new(program("kubectl").unwrap())
        .env("HOME", home.path())
        .env_remove("KUBECACHEDIR")
        .env("KUBECONFIG", cluster.admin().kubeconfig())
        .env("KUBE_EDITOR", editor)
        .args(["-n", space.name()])
        .args(args)
        .output()
        .await
        .unwrap();
    assert!(output.status.success(), "kubectl {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn replicas(want: i32) -> impl Fn(Option<&Deployment>) -> bool + Clone {
    move |d| d.and_then(|d| d.spec.as_ref()).is_some_and(|s| s.replicas == Some(want))
}

async fn drifts(operator: &Operator) -> f64 {
    operator.metrics().await.unwrap().sum("pintle_drifts_total", &[])
}

#[tokio::test]
async fn kubectl_scale_is_put_back() {
    let (space, operator, samples) = ready("rules-scale", json!({})).await;
    kubectl(&space, &["scale", "deployment/web", "--replicas=3"], "").await;
    wait::object(&space.api::<Deployment>(), "web", "it has one replica", replicas(1)).await.unwrap();
    let note = samples.event(&operator, "web", "DriftCorrected").await.unwrap();
    assert!(note.contains("kubectl took .spec.replicas"), "{note}");
}

#[tokio::test]
async fn kubectl_scale_stays_where_a_rule_says_so() {
    let ignore =
        json!([{"kind": "Deployment", "group": "apps", "name": "web", "pointers": ["/spec/replicas"]}]);
    let (space, mut operator, samples) = ready("rules-ignore", json!({"drift": {"ignore": ignore}})).await;
    let deployments: Api<Deployment> = space.api();
    kubectl(&space, &["scale", "deployment/web", "--replicas=3"], "").await;
    let note = samples.event(&operator, "web", "DriftIgnored").await.unwrap();
    assert!(note.contains("/spec/replicas") && note.contains("kubectl"), "{note}");
    // Neither an upgrade nor a restart takes it back; what the rule does not name is kept.
    samples.change("web", json!({"image": "sample:2", "replicas": 2})).await.unwrap();
    samples.ready(&operator, "web").await.unwrap();
    operator.stop().await.unwrap();
    operator.run().await.unwrap();
    samples.annotate("web", "pintle.dev/reconcile", "now").await.unwrap();
    kubectl(&space, &["set", "image", "deployment/web", "main=evil:1"], "").await;
    let back = |d: Option<&Deployment>| {
        let pod = d.and_then(|d| d.spec.as_ref()).and_then(|s| s.template.spec.as_ref());
        pod.is_some_and(|p| p.containers[0].image.as_deref() == Some("sample:2"))
    };
    samples.event(&operator, "web", "DriftCorrected").await.unwrap();
    let web = wait::object(&deployments, "web", "its image is as rendered", back).await.unwrap().unwrap();
    assert_eq!(web.spec.unwrap().replicas, Some(3));
}

#[tokio::test]
async fn kubectl_edit_is_put_back_and_a_member_may_be_let_alone() {
    let (space, operator, samples) = ready("rules-edit", json!({})).await;
    let maps: Api<ConfigMap> = space.api();
    kubectl(&space, &["edit", "configmap/web-0"], "sed -i s/hello/edited/").await;
    let says = |text: &'static str| {
        move |m: Option<&ConfigMap>| m.and_then(|m| m.data.as_ref()).is_some_and(|d| d["message"] == text)
    };
    let note = samples.event(&operator, "web", "DriftCorrected").await.unwrap();
    assert!(note.contains("kubectl-edit took .data.message"), "{note}");
    wait::object(&maps, "web-0", "it is as rendered", says("hello")).await.unwrap();

    // Reported and left, by an annotation on the member itself.
    let repaired = drifts(&operator).await;
    kubectl(&space, &["annotate", "configmap/web-0", "pintle.dev/drift=Report"], "").await;
    kubectl(&space, &["edit", "configmap/web-0"], "sed -i s/hello/kept/").await;
    let web = samples.await_condition(&operator, "web", "Drifted", "True").await.unwrap();
    let message = condition(&web, "Drifted").unwrap()["message"].as_str().unwrap();
    assert!(message.contains("kubectl-edit took .data.message"), "{message}");
    let note = samples.event(&operator, "web", "DriftDetected").await.unwrap();
    assert!(note.contains("kubectl-edit") && note.contains("left so"), "{note}");
    // Without it, it is put back.
    assert!(says("kept")(Some(&maps.get("web-0").await.unwrap())));
    kubectl(&space, &["annotate", "configmap/web-0", "pintle.dev/drift-"], "").await;
    wait::object(&maps, "web-0", "it is as rendered again", says("hello")).await.unwrap();
    assert!(drifts(&operator).await > repaired);
    operator
        .until("nothing is said to have drifted", || async {
            Ok(condition(&samples.api().get("web").await?, "Drifted").is_none().then_some(()))
        })
        .await
        .unwrap();
}

#[tokio::test]
async fn kubectl_rollout_restart_is_left_alone() {
    let (space, operator, samples) = ready("rules-restart", json!({})).await;
    kubectl(&space, &["rollout", "restart", "deployment/web"], "").await;
    samples.change("web", json!({"replicas": 2})).await.unwrap();
    samples.ready(&operator, "web").await.unwrap();
    let web = space.api::<Deployment>().get("web").await.unwrap();
    let template = web.spec.unwrap().template.metadata.unwrap();
    assert!(template.annotations.unwrap().contains_key("kubectl.kubernetes.io/restartedAt"));
    assert!(drifts(&operator).await < 0.1);
}

#[tokio::test]
async fn an_instance_names_what_is_left_alone() {
    let (space, operator, samples) = ready("rules-instance", json!({})).await;
    let ignore = "ConfigMap/web-0:/data/message, Service:/metadata/labels";
    samples.annotate("web", "pintle.dev/drift-ignore", ignore).await.unwrap();
    operator
        .until("the annotation was acted on", || async {
            Ok(operator.log()?.contains(r#"trigger=metadata changed result="applied""#).then_some(()))
        })
        .await
        .unwrap();
    let maps: Api<ConfigMap> = space.api();
    let theirs = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "web-0", "labels": {"app": "x"}},
        "data": {"message": "theirs"}});
    maps.patch("web-0", &PatchParams::apply("argocd").force(), &Patch::Apply(&theirs)).await.unwrap();
    let label =
        |m: Option<&ConfigMap>| m.and_then(|m| m.metadata.labels.as_ref()).is_some_and(|l| l["app"] == "web");
    let map = wait::object(&maps, "web-0", "its label is back", label).await.unwrap().unwrap();
    assert_eq!(map.data.unwrap()["message"], "theirs");
    let note = samples.event(&operator, "web", "DriftCorrected").await.unwrap();
    assert!(note.contains("argocd took") && note.contains(".metadata.labels.app"), "{note}");

    // Without the rule it is the chart's again.
    samples.annotate("web", "pintle.dev/drift-ignore", "").await.unwrap();
    let ours =
        |m: Option<&ConfigMap>| m.and_then(|m| m.data.as_ref()).is_some_and(|d| d["message"] == "hello");
    wait::object(&maps, "web-0", "it is as rendered", ours).await.unwrap();

    samples.annotate("web", "pintle.dev/drift-ignore", "message").await.unwrap();
    let web = samples.await_condition(&operator, "web", "Stalled", "True").await.unwrap();
    let ready = condition(&web, "Ready").unwrap();
    assert_eq!(ready["reason"], "InvalidAnnotation");
    insta::assert_snapshot!(ready["message"].as_str().unwrap(), @r#"pintle.dev/drift-ignore: "message" is neither a JSON pointer nor <kind>.<group>/<name>:<pointer>"#);
}

#[tokio::test]
async fn replicas_that_an_autoscaler_took_are_its() {
    let (space, operator, samples) = ready("rules-hpa", json!({})).await;
    let deployments: Api<Deployment> = space.api();
    let autoscalers: Api<HorizontalPodAutoscaler> = space.api();
    // Below its minimum an autoscaler scales without any metrics.
    let autoscaler = json!({"metadata": {"name": "by-hand"}, "spec": {"minReplicas": 3, "maxReplicas": 5,
        "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}}});
    autoscalers.create(&PostParams::default(), &serde_json::from_value(autoscaler).unwrap()).await.unwrap();
    let note = samples.event(&operator, "web", "DriftIgnored").await.unwrap();
    assert!(note.contains("/spec/replicas") && note.contains("kube-controller-manager"), "{note}");
    samples.change("web", json!({"image": "sample:2"})).await.unwrap();
    samples.ready(&operator, "web").await.unwrap();
    assert!(replicas(3)(Some(&deployments.get("web").await.unwrap())));
    assert!(drifts(&operator).await < 0.1);
    // The count is the chart's again once no autoscaler wants it.
    autoscalers.delete("by-hand", &DeleteParams::default()).await.unwrap();
    samples.annotate("web", "pintle.dev/reconcile", "now").await.unwrap();
    wait::object(&deployments, "web", "it has one replica", replicas(1)).await.unwrap();
}

#[tokio::test]
async fn what_admission_changes_is_no_drift() {
    let cluster = Cluster::shared().await.unwrap();
    let space = cluster.namespace("rules-admission").await.unwrap();
    let client = space.client();
    let policies: Api<MutatingAdmissionPolicy> = Api::all(client.clone());
    let bindings: Api<MutatingAdmissionPolicyBinding> = Api::all(client);
    // Adds a field, and changes one that the chart renders, whoever writes it.
    let change = r#"Object{data: {"message": "by admission", "added": "by admission"}}"#;
    let policy = json!({"metadata": {"name": space.name()}, "spec": {
        "failurePolicy": "Fail", "reinvocationPolicy": "Never",
        "matchConstraints": {"resourceRules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE", "UPDATE"], "resources": ["configmaps"]}]},
        "mutations": [{"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": change}}]}});
    let binding = json!({"metadata": {"name": space.name()}, "spec": {"policyName": space.name(),
        "matchResources": {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": space.name()}}}}});
    policies.create(&PostParams::default(), &serde_json::from_value(policy).unwrap()).await.unwrap();
    bindings.create(&PostParams::default(), &serde_json::from_value(binding).unwrap()).await.unwrap();
    let maps: Api<ConfigMap> = space.api();
    wait::until("the policy is in force", wait::PATIENCE, || async {
        let probe = json!({"metadata": {"generateName": "probe-"}, "data": {"message": "x"}});
        let dry = PostParams { dry_run: true, field_manager: None };
        let map = maps.create(&dry, &serde_json::from_value(probe)?).await?;
        Ok((map.data.unwrap_or_default()["message"] == "by admission").then_some(()))
    })
    .await
    .unwrap();

    let operator = Operator::sample(cluster, &space).await.unwrap();
    let samples = Resources::new(&space, "Sample");
    samples.create("web", json!({"workload": false})).await.unwrap();
    samples.ready(&operator, "web").await.unwrap();
    samples.change("web", json!({"message": "again"})).await.unwrap();
    samples.ready(&operator, "web").await.unwrap();
    let map = maps.get("web-0").await.unwrap();
    assert_eq!(map.data.as_ref().unwrap()["message"], "by admission");
    assert_eq!(map.data.as_ref().unwrap()["added"], "by admission");
    // Nobody fights over it, and it is not written again and again.
    samples.look_again(&operator, "web", "now").await.unwrap();
    assert!(drifts(&operator).await < 0.1);
    let again = maps.get("web-0").await.unwrap();
    assert_eq!(again.metadata.resource_version, map.metadata.resource_version);
    policies.delete(space.name(), &DeleteParams::default()).await.unwrap();
    bindings.delete(space.name(), &DeleteParams::default()).await.unwrap();
}
