//! The generated CRDs on a real API server.

use std::{fs, path::Path};

use kube::{
    Api,
    api::{ApiResource, DynamicObject, PostParams},
};
use serde_json::{Value, json};

use crate::{
    harness::{Cluster, wait},
    operator::install_crd,
};

const GROUP: &str = "charts.pintle.dev";

/// Installs the CRD of a chart from crds/.
async fn install(cluster: &Cluster, chart: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("crds/{chart}.yaml"));
    let crd: Value = serde_yaml::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    install_crd(&cluster.client().await.unwrap(), &crd).await.unwrap();
}

#[tokio::test]
async fn what_is_not_valid_is_refused_at_once() {
    let cluster = Cluster::shared().await.unwrap();
    let space = cluster.namespace("schema").await.unwrap();
    let mut said = Vec::new();
    for (chart, kind, plural, spec) in [
        ("prometheus", "Prometheus", "prometheuses", json!({"replicas": 0})),
        ("prometheus", "Prometheus", "prometheuses", json!({"version": "latest"})),
        ("prometheus", "Prometheus", "prometheuses", json!({"retention": 15})),
        ("prometheus", "Prometheus", "prometheuses", json!({"scrapeConfigs": [{"name": "no job_name"}]})),
        ("ledger", "Ledger", "ledgers", json!({"backup": {"schedule": "every day"}})),
        ("web", "Web", "webs", json!({"service": {"type": "Internet"}})),
    ] {
        install(cluster, chart).await;
        let resource = ApiResource {
            group: GROUP.into(),
            version: "v1alpha1".into(),
            api_version: format!("{GROUP}/v1alpha1"),
            kind: kind.into(),
            plural: plural.into(),
        };
        let api: Api<DynamicObject> = space.dynamic(&resource);
        let object = |spec: &Value| -> DynamicObject {
            serde_json::from_value(json!({"apiVersion": format!("{GROUP}/v1alpha1"), "kind": kind,
                "metadata": {"name": "probe"}, "spec": spec}))
            .unwrap()
        };
        let dry = PostParams { dry_run: true, ..PostParams::default() };
        api.create(&dry, &object(&json!({}))).await.unwrap();
        let error = api.create(&dry, &object(&spec)).await.unwrap_err();
        let kube::Error::Api(status) = error else { panic!("{error}") };
        said.push(format!("{spec}\n    {} {}", status.code, status.message));
    }
    insta::assert_snapshot!(said.join("\n"));
}

#[tokio::test]
async fn kubectl_explains_and_lists() {
    let cluster = Cluster::shared().await.unwrap();
    install(cluster, "prometheus").await;
    // The API server publishes the schema of a kind a moment after it has begun to serve it.
    wait::until("kubectl explains a field", wait::PATIENCE, || async {
        let told = cluster.admin().run("kubectl", &["explain", "prometheus.spec.retention"], "").await?;
        anyhow::ensure!(told.success, told.stderr);
        Ok(told.stdout.contains("How long samples are kept").then_some(()))
    })
    .await
    .unwrap();
    let space = cluster.namespace("columns").await.unwrap();
    let wide =
        cluster.admin().run("kubectl", &["get", "prometheuses", "-n", space.name()], "").await.unwrap();
    assert!(wide.success, "{}", wide.stderr);
}
