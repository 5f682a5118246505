//! Removing what a chart's values hold by default.

use k8s_openapi::api::core::v1::ConfigMap;
use kube::Api;
use serde_json::{Value, json};
use std::{fs, path::Path};

use crate::{
    harness::{Cluster, wait},
    operator::{Operator, Resources, condition, entry},
};

fn write_chart(at: &Path) {
    fs::create_dir_all(at.join("templates")).unwrap();
    fs::write(at.join("Chart.yaml"), "apiVersion: v2\nname: defaults\nversion: 1.0.0\n").unwrap();
    fs::write(
        at.join("values.yaml"),
        "probe:\n  httpGet: {path: /, port: 80}\n  period: 5\nlist: [a]\nother: kept\nwith.dot: dotted\n",
    )
    .unwrap();
    let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: out}\ndata:\n  values: {{ .Values | toJson | quote }}\n";
    fs::write(at.join("templates/map.yaml"), map).unwrap();
}

#[tokio::test]
async fn nulls_and_the_annotation_remove_defaults() {
    let cluster = Cluster::shared().await.unwrap();
    let space = cluster.namespace("unset").await.unwrap();
    let scratch = tempfile::tempdir().unwrap();
    write_chart(scratch.path());
    let operator = Operator::start(cluster, &space, &[entry("Sample", scratch.path())], &[]).await.unwrap();
    let samples = Resources::new(&space, "Sample");
    let maps: Api<ConfigMap> = space.api();
    let values = |want: Value| {
        move |m: Option<&ConfigMap>| {
            let text = m.and_then(|m| m.data.as_ref()).map(|d| d["values"].clone()).unwrap_or_default();
            serde_json::from_str::<Value>(&text).is_ok_and(|found| found == want)
        }
    };
    // The kinds of these tests keep nulls, since their specs are open.
    samples.create("web", json!({"probe": {"httpGet": null, "exec": "true"}})).await.unwrap();
    samples.ready(&operator, "web").await.unwrap();
    let probe = json!({"exec": "true", "period": 5});
    let want = json!({"probe": probe, "list": ["a"], "other": "kept", "with.dot": "dotted"});
    wait::object(&maps, "out", "a null has removed a default", values(want)).await.unwrap();

    samples.annotate("web", "pintle.dev/unset", r"list, probe.period,with\.dot").await.unwrap();
    let want = json!({"probe": {"exec": "true"}, "other": "kept"});
    wait::object(&maps, "out", "the annotation has removed defaults", values(want)).await.unwrap();
    operator
        .until("other values are another revision", || async {
            let web = samples.api().get("web").await?;
            Ok((web.data["status"]["release"]["revision"] == 2).then_some(()))
        })
        .await
        .unwrap();

    // What the spec sets is removed as well: the annotation says what there shall not be.
    samples.change("web", json!({"list": ["mine"]})).await.unwrap();
    let web = samples.ready(&operator, "web").await.unwrap();
    assert_eq!(web.data["status"]["release"]["revision"], 3);
    let map = maps.get("out").await.unwrap().data.unwrap();
    assert!(!map["values"].contains("mine"), "{}", map["values"]);

    samples.annotate("web", "pintle.dev/unset", "list[x]").await.unwrap();
    let web = samples.await_condition(&operator, "web", "Stalled", "True").await.unwrap();
    let ready = condition(&web, "Ready").unwrap();
    assert_eq!(ready["reason"], "InvalidValues");
    assert!(ready["message"].as_str().unwrap().contains("pintle.dev/unset: list[x]"), "{ready}");
}
