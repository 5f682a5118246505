//! The operator as `deploy/` installs it: with the rights of its own service account and no others.

use std::{collections::BTreeMap, fs, path::Path};

use k8s_openapi::api::core::v1::Pod;
use kube::{
    Api,
    api::{ApiResource, DeleteParams},
    core::GroupVersionKind,
    runtime::wait::conditions,
};
use serde_json::{Value, json};

use crate::{
    harness::{Cluster, Namespace, Process, process, wait},
    hooks::finish,
    operator::{Resources, condition},
};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every kind with values that bring out every object of its chart.
fn whole() -> [(&'static str, &'static str, Value); 4] {
    [
        (
            "Web",
            "webs",
            json!({"ingress": {"enabled": true}, "autoscaling": {"enabled": true}, "config": {"a": "b"}}),
        ),
        ("Prometheus", "prometheuses", json!({"replicas": 1, "storage": {"whenDeleted": "Delete"}})),
        ("Ledger", "ledgers", json!({"replicas": 1})),
        ("Echo", "echoes", json!({"greeting": "Hi"})),
    ]
}

/// Creates a resource, waits until its objects are applied, and gives its uid.
async fn deployed(
    space: &Namespace,
    operator: &Process,
    kind: &str,
    plural: &str,
    name: &str,
    spec: Value,
) -> String {
    let gvk = GroupVersionKind::gvk("charts.pintle.dev", "v1alpha1", kind);
    let resources = Resources::of(space, ApiResource::from_gvk_with_plural(&gvk, plural));
    let object = resources.create(name, spec).await.unwrap();
    wait::until(&format!("{kind} is deployed"), wait::PATIENCE, || async {
        operator.check()?;
        let object = resources.api().get(name).await?;
        Ok(condition(&object, "Deployed").is_some_and(|c| c["status"] == "True").then_some(()))
    })
    .await
    .unwrap_or_else(|error| panic!("{error:#}\n{}", process::tail(operator.log(), 30)));
    object.metadata.uid.unwrap()
}

#[tokio::test]
async fn the_service_account_of_the_chart_has_the_rights_that_the_operator_needs() {
    let cluster = Cluster::shared().await.unwrap();
    let space = cluster.namespace("deploy").await.unwrap();
    let chart = root().join("deploy/chart").display().to_string();
    let args = ["install", "pintle", &chart, "-n", space.name(), "--set", "priority.enabled=true"];
    let installed = cluster.admin().run("helm", &args, "").await.unwrap();
    assert!(installed.success, "{}", installed.stderr);
    let account = cluster.service_account(space.name(), "pintle").await.unwrap();

    let scratch = tempfile::tempdir().unwrap();
    let watches = fs::read_to_string(root().join("deploy/watches.yaml")).unwrap();
    let charts = format!("chart: {}/", root().join("charts").display());
    fs::write(scratch.path().join("watches.yaml"), watches.replace("chart: charts/", &charts)).unwrap();
    let operator = Process::start(&process::Spec {
        program: env!("CARGO_BIN_EXE_pintle").into(),
        args: [
            "run",
            "--metrics-bind-address=0",
            "--health-probe-bind-address=0",
            "--leader-elect",
            "--leader-election-id=pintle",
        ]
        .map(Into::into)
        .to_vec(),
        env: vec![("KUBECONFIG".into(), account.kubeconfig().display().to_string())],
        dir: scratch.path().to_owned(),
        log: scratch.path().join("log"),
    })
    .unwrap();

    // Admission takes a while to learn of kinds that were just defined, and refuses to own by them until then.
    deployed(&space, &operator, "Web", "webs", "first", json!({})).await;
    let mark = cluster.audit_mark().unwrap();
    let mut uids = BTreeMap::new();
    for (kind, plural, spec) in whole() {
        uids.insert(kind, deployed(&space, &operator, kind, plural, "all", spec).await);
    }
    let resources = |kind: &str, plural: &str| {
        let gvk = GroupVersionKind::gvk("charts.pintle.dev", "v1alpha1", kind);
        Resources::of(&space, ApiResource::from_gvk_with_plural(&gvk, plural))
    };
    // A hook of an upgrade, and a test.
    let ledgers = resources("Ledger", "ledgers");
    ledgers.change("all", json!({"replicas": 2})).await.unwrap();
    let webs = resources("Web", "webs");
    webs.annotate("all", "pintle.dev/test", "1").await.unwrap();
    // The simulated kubelet would write over what is written before it has made the Pod run.
    let (pods, test) = (space.api::<Pod>(), "all-web-test-connection");
    wait::object(&pods, test, "it runs", conditions::is_pod_running()).await.unwrap();
    finish(&space, test, "Succeeded").await;
    wait::until("the hook and the test have run", wait::PATIENCE, || async {
        operator.check()?;
        let (ledger, web) = (ledgers.api().get("all").await?, webs.api().get("all").await?);
        let done = ledger.data["status"]["release"]["revision"] == 2
            && web.data["status"]["test"]["phase"] == "Succeeded";
        Ok(done.then_some(()))
    })
    .await
    .unwrap_or_else(|error| panic!("{error:#}\n{}", process::tail(operator.log(), 30)));
    for (kind, plural, _) in whole() {
        let resources = resources(kind, plural);
        resources.api().delete("all", &DeleteParams::default()).await.unwrap();
        wait::gone(resources.api(), "all", &uids[kind]).await.unwrap();
    }
    let role = format!("{}-all-ledger", space.name());
    let roles: Api<k8s_openapi::api::rbac::v1::ClusterRole> = Api::all(space.client());
    assert!(roles.get_opt(&role).await.unwrap().is_none(), "the ClusterRole {role} is left");

    let refused: Vec<String> = cluster
        .requests_since(mark)
        .unwrap()
        .into_iter()
        .filter(|r| r.user == account.user() && r.code == 403)
        .map(|r| format!("{} {}", r.verb, r.uri))
        .collect();
    assert_eq!(refused, [] as [&str; 0], "{}", process::tail(operator.log(), 60));
    // Helm leaves CRDs; the next test that installs them finds them as they are.
    let args = ["uninstall", "pintle", "-n", space.name()];
    assert!(cluster.admin().run("helm", &args, "").await.unwrap().success);
}
