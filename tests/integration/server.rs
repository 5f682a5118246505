//! `pintle template --dry-run=server`: what Helm renders with a cluster at hand, and what it refuses.

use std::{env, fs, path::Path, process::Command};

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{Api, api::PostParams};

use crate::harness::{Cluster, Namespace};

const CHART: &str = "apiVersion: v2\nname: c\nversion: 1.0.0\n";

const LOOKED_UP: &str = r#"apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}-looked-up
data:
  version: {{ .Capabilities.KubeVersion }}
  minor: {{ .Capabilities.KubeVersion.Minor | quote }}
  apps: {{ .Capabilities.APIVersions.Has "apps/v1/Deployment" | quote }}
  none: {{ .Capabilities.APIVersions.Has "example.com/v1" | quote }}
  data: {{ (lookup "v1" "ConfigMap" .Release.Namespace "there").data | toJson | quote }}
  number: {{ (lookup "v1" "ConfigMap" .Release.Namespace "there").metadata.name }}
  list: {{ len (lookup "v1" "ConfigMap" .Release.Namespace "").items }}
  missing: {{ lookup "v1" "ConfigMap" .Release.Namespace "nope" | toJson }}
  unknown: {{ lookup "apps/v1" "Nope" "" "nope" | toJson }}
  finalizers: {{ (lookup "v1" "Namespace" "" .Release.Namespace).spec.finalizers | toJson }}
"#;

fn chart(template: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("templates")).unwrap();
    fs::write(dir.path().join("Chart.yaml"), CHART).unwrap();
    fs::write(dir.path().join("templates/x.yaml"), template).unwrap();
    dir
}

/// What both print of a chart, and complain of: the lines of the error.
async fn same(cluster: &Cluster, space: &Namespace, template: &str) -> (String, String) {
    let dir = chart(template);
    let path = dir.path().display().to_string();
    let args = ["template", "rel", &path, "-n", space.name(), "--dry-run=server"];
    let helm = cluster.admin().run("helm", &args, "").await.unwrap();
    let ours = Command::new(Path::new(env!("CARGO_BIN_EXE_pintle")))
        .args(args)
        .arg("--kubeconfig")
        .arg(cluster.admin().kubeconfig())
        .output()
        .unwrap();
    let error = |text: &str| {
        text.lines().skip_while(|line| !line.starts_with("Error: ")).collect::<Vec<_>>().join("\n")
    };
    let (printed, complained) = (
        String::from_utf8_lossy(&ours.stdout).into_owned(),
        String::from_utf8_lossy(&ours.stderr).into_owned(),
    );
    assert_eq!(printed, helm.stdout, "{complained}{}", helm.stderr);
    // Ours goes on with the line of the template.
    let (complained, helms) = (error(&complained), error(&helm.stderr));
    assert!(
        complained.starts_with(&helms) && helms.is_empty() == complained.is_empty(),
        "{complained}\n{helms}"
    );
    assert_eq!(ours.status.success(), helm.success);
    (printed, complained)
}

#[tokio::test]
async fn charts_see_the_cluster_as_with_helm() {
    let cluster = Cluster::shared().await.unwrap();
    let space = cluster.namespace("dry-run-server").await.unwrap();
    let maps: Api<ConfigMap> = space.api();
    let there = serde_json::json!({"metadata": {"name": "there"}, "data": {"a": "b"}});
    maps.create(&PostParams::default(), &serde_json::from_value(there).unwrap()).await.unwrap();
    let (printed, _) = same(cluster, &space, LOOKED_UP).await;
    assert!(printed.contains(r#"data: "{\"a\":\"b\"}""#), "{printed}");

    let (_, error) = same(cluster, &space, "{{ lookup \"example.com/v1\" \"Nope\" \"\" \"\" }}").await;
    assert!(error.contains("unable to get apiresource from unstructured"), "{error}");

    let foreign = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: there}\n";
    let (_, error) = same(cluster, &space, foreign).await;
    assert!(error.contains("cannot be imported into the current release"), "{error}");

    let unknown = "apiVersion: example.com/v1\nkind: Nope\nmetadata: {name: x}\n";
    let (_, error) = same(cluster, &space, unknown).await;
    assert!(error.contains("no matches for kind \"Nope\""), "{error}");
    let two = format!("{unknown}---\n{}", unknown.replace("name: x", "name: other, namespace: z"));
    same(cluster, &space, &two).await;
    let odd = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: odd}\nnone: 1\ndata: [5]\n";
    let (printed, _) = same(cluster, &space, odd).await;
    assert!(printed.contains("data: [5]"), "fields are left to the API server");
    for unsaid in
        ["kind: ConfigMap\nmetadata: {name: x}\n", "apiVersion: v1\nmetadata: {name: x}\n", "a: 1\n"]
    {
        let (_, error) = same(cluster, &space, unsaid).await;
        assert!(error.contains("error validating data: "), "{error}");
        same(cluster, &space, &format!("{unknown}---\n{unsaid}---\n{unknown}")).await;
    }
    same(cluster, &space, "# only a comment\n").await;
    // The same error is told once, a list is its items, and what has no name is refused.
    same(cluster, &space, &format!("{unknown}---\n{unknown}")).await;
    let list = |items: &str| format!("apiVersion: v1\nkind: List\nitems:\n{items}");
    let item = "- {apiVersion: v1, kind: ConfigMap, metadata: {name: listed}}\n";
    same(cluster, &space, &list(item)).await;
    same(cluster, &space, &list("- {apiVersion: v1, kind: ConfigMap, metadata: {name: there}}\n")).await;
    for items in [
        "- {kind: ConfigMap}\n",
        "- {apiVersion: v1, kind: Nope, metadata: {name: x}}\n",
        "- 5\n",
        "  a: 1\n",
    ] {
        same(cluster, &space, &list(items)).await;
    }
    same(cluster, &space, "apiVersion: v1\nkind: ConfigMapList\nitems:\n- metadata: {name: listed}\n").await;
    let (_, error) = same(cluster, &space, "apiVersion: v1\nkind: ConfigMap\n").await;
    assert!(error.contains("resource name may not be empty"), "{error}");
    same(cluster, &space, "apiVersion: 5\nkind: ConfigMap\n").await;
    same(cluster, &space, &format!("kind: ''\napiVersion: v1\n---\n{unknown}")).await;
    assert!(maps.get_opt("rel-looked-up").await.unwrap().is_none());
}

#[test]
fn a_cluster_that_is_not_there_is_told() {
    let dir = chart("");
    let output = Command::new(env!("CARGO_BIN_EXE_pintle"))
        .args(["template", "rel", &dir.path().display().to_string(), "--dry-run=server"])
        .args(["--kube-apiserver", "http://127.0.0.1:1"])
        .env("KUBECONFIG", "/nonexistent")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(
        text.starts_with("Error: cluster reachability check failed: kubernetes cluster unreachable: "),
        "{text}"
    );
    assert_eq!(output.status.code(), Some(1));
}
