//! What a person sees of an instance: `pintle status`, `tree` and `diff`; and `pintle adopt`.

use std::{path::Path, process::Stdio};

use k8s_openapi::api::{
    apps::v1::Deployment,
    core::v1::{ConfigMap, Secret, Service},
};
use kube::api::{DeleteParams, ListParams, Patch, PatchParams};
use serde_json::{Value, json};

use crate::{
    adoption::running,
    harness::{Cluster, Namespace, program},
    operator::{GROUP, Operator, Resources, entry, install_crd, sample},
};

/// What a command printed, and its exit code.
#[derive(Debug)]
struct Output {
    code: Option<i32>,
    out: String,
    error: String,
}

async fn run(program: &Path, cluster: &Cluster, args: &[&str], env: &[(&str, &str)]) -> Output {
    let home = tempfile::tempdir().unwrap();
    let output = tokio::process::Command::new(program)
        .args(args)
        .env("KUBECONFIG", cluster.admin().kubeconfig())
        .env("HOME", home.path())
        .env_remove("HELM_DRIVER")
        .envs(env.iter().copied())
        .stdin(Stdio::null())
        .output()
        .await
        .unwrap();
    Output {
        code: output.status.code(),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        error: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

async fn pintle(cluster: &Cluster, args: &[&str]) -> Output {
    run(Path::new(env!("CARGO_BIN_EXE_pintle")), cluster, args, &[]).await
}

fn watches(dir: &Path) -> String {
    let file = dir.join("watches.yaml");
    std::fs::write(&file, serde_yaml::to_string(&[entry("Sample", &sample())]).unwrap()).unwrap();
    file.display().to_string()
}

#[tokio::test]
async fn an_instance_as_a_person_looks_at_it() {
    let cluster = Cluster::shared().await.unwrap();
    let space = cluster.namespace("view").await.unwrap();
    let mut operator = Operator::sample(cluster, &space).await.unwrap();
    let samples = Resources::new(&space, "Sample");
    samples.create("web", json!({"password": true})).await.unwrap();
    samples.ready(&operator, "web").await.unwrap();
    let maps = space.api::<ConfigMap>();
    let edit = PatchParams { field_manager: Some("kubectl-edit".into()), ..PatchParams::default() };
    let patch = Patch::Merge(json!({"data": {"message": "theirs"}}));
    maps.patch("web-0", &edit, &patch).await.unwrap();
    samples.event(&operator, "web", "DriftCorrected").await.unwrap();
    let n = space.name();

    let status = pintle(cluster, &["status", "sample.test.pintle.dev/web", "-n", n]).await;
    assert_eq!(status.code, Some(0), "{}", status.error);
    for text in ["Sample:", "/web", "True (Ready): 4 objects ready", "sample-", "NOTES:\nweb says hello."] {
        assert!(status.out.contains(text), "{text} is not in\n{}", status.out);
    }
    let list = pintle(cluster, &["status", "samples.test.pintle.dev", "-n", n]).await;
    let lines: Vec<Vec<&str>> = list.out.lines().map(|l| l.split_whitespace().collect()).collect();
    assert_eq!(lines[0], ["NAME", "READY", "STATUS", "OBJECTS", "CHART", "REVISION", "AGE"]);
    assert_eq!(lines[1][..4], ["web", "True", "Ready", "4/4"]);
    let json = pintle(cluster, &["status", "sample.test.pintle.dev", "web", "-n", n, "-o", "json"]).await;
    let json: Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!(json["status"]["release"]["revision"], 1);
    let none = pintle(cluster, &["status", "sample.test.pintle.dev/none", "-n", n]).await;
    assert_eq!(none.error, "Error: samples.test.pintle.dev \"none\" not found\n");

    let tree = pintle(cluster, &["tree", "sample.test.pintle.dev/web", "-n", n]).await;
    assert_eq!((tree.code, &*tree.error), (Some(0), ""));
    let name = |line: &str| {
        let name = line.split("   ").find(|part| part.contains('/')).unwrap_or_default();
        let name = &line[..line.find(name).unwrap_or(0) + name.len()];
        // The Pod's and the ReplicaSet's own part of the name.
        let own = name.split_once("web-").filter(|_| name.contains("Pod") || name.contains("ReplicaSet"));
        own.map_or(name.to_owned(), |(stem, _)| format!("{stem}web-…"))
    };
    let names: Vec<String> = tree.out.lines().skip(1).map(name).collect();
    insta::assert_snapshot!(names.join("\n"));
    let drift = tree.out.lines().find(|l| l.contains("ConfigMap/web-0")).unwrap();
    let words: Vec<&str> = drift.split_whitespace().collect();
    assert_eq!(words[2..5], ["True", "Current", "pintle"], "{drift}");
    assert!(drift.ends_with("ago: kubectl-edit took .data.message"), "{drift}");
    let json = pintle(cluster, &["tree", "sample.test.pintle.dev/web", "-n", n, "-o", "json"]).await;
    let json: Value = serde_json::from_str(&json.out).unwrap();
    let find = |kind: &str| json["objects"].as_array().unwrap().iter().find(|o| o["kind"] == kind).unwrap();
    assert!(find("ConfigMap")["lastDrift"]["message"].as_str().unwrap().contains("kubectl-edit"));
    assert_eq!(find("Deployment")["objects"][0]["objects"][0]["kind"], "Pod");

    let scratch = tempfile::tempdir().unwrap();
    let file = watches(scratch.path());
    let diff = ["diff", "sample.test.pintle.dev/web", "-n", n, "--watches-file", &file];
    let same = pintle(cluster, &diff).await;
    assert_eq!((same.code, &*same.out), (Some(0), ""), "{}", same.error);

    operator.stop().await.unwrap();
    maps.patch("web-0", &edit, &patch).await.unwrap();
    let secret = Patch::Merge(json!({"stringData": {"password": "hunter2"}}));
    space.api::<Secret>().patch("web-password", &edit, &secret).await.unwrap();
    space.api::<Service>().delete("web", &DeleteParams::default()).await.unwrap();
    let differs = pintle(cluster, &diff).await;
    assert_eq!(differs.code, Some(1), "{}", differs.error);
    let id = |text: &str| {
        text.replace(n, "NS")
            .lines()
            .filter(|l| !l.contains("uid:") && !l.contains("applyset"))
            .collect::<Vec<_>>()
            .join("\n")
    };
    insta::assert_snapshot!(id(&differs.out));
    let json = pintle(cluster, &[&diff[..], &["-o", "json"]].concat()).await;
    let json: Value = serde_json::from_str(&json.out).unwrap();
    let actions: Vec<(&str, &str)> = json
        .as_array()
        .unwrap()
        .iter()
        .map(|c| (c["kind"].as_str().unwrap(), c["action"].as_str().unwrap()))
        .collect();
    assert_eq!(actions, [("Secret", "change"), ("ConfigMap", "change"), ("Service", "create")]);

    // A change of the spec that the operator has not seen.
    samples.change("web", json!({"maps": 0})).await.unwrap();
    let json = pintle(cluster, &[&diff[..], &["-o", "json"]].concat()).await;
    let json: Value = serde_json::from_str(&json.out).unwrap();
    let gone = json.as_array().unwrap().iter().find(|c| c["action"] == "delete").unwrap();
    assert_eq!(gone["name"], "web-0");
    let wrong =
        pintle(cluster, &["diff", "sample.test.pintle.dev/web", "-n", n, "--watches-file", "/nowhere"]).await;
    assert_eq!(wrong.code, Some(2), "{}", wrong.error);
}

async fn helm(cluster: &Cluster, args: &[&str], driver: &str) -> Output {
    run(&program("helm").unwrap(), cluster, args, &[("HELM_DRIVER", driver)]).await
}

async fn adopt_a_release(space: &Namespace, cluster: &Cluster, driver: &str, flags: &[&str]) {
    let n = space.name();
    let chart = sample().display().to_string();
    let install =
        ["install", "web", &chart, "-n", n, "--wait", "--set", "message=hi,revision=true,replicas=2"];
    let installed = helm(cluster, &[&install[..], flags].concat(), driver).await;
    assert_eq!(installed.code, Some(0), "{}", installed.error);
    let upgrade = ["upgrade", "web", &chart, "-n", n, "--wait", "--reuse-values"];
    let upgraded = helm(cluster, &[&upgrade[..], flags].concat(), driver).await;
    assert_eq!(upgraded.code, Some(0), "{}", upgraded.error);
    let before = running(space).await;
    let operator = Operator::sample(cluster, space).await.unwrap();
    let samples = Resources::new(space, "Sample");
    let scratch = tempfile::tempdir().unwrap();
    let file = watches(scratch.path());
    let adopt = ["adopt", "web", "-n", n, "--watches-file", &file];

    let tried = pintle(cluster, &[&adopt[..], &["--dry-run"]].concat()).await;
    assert_eq!(tried.code, Some(0), "{}", tried.error);
    assert!(
        tried.out.starts_with("# 3 objects would be taken over, and nothing that runs would change\n"),
        "{}",
        tried.out
    );
    assert!(tried.out.contains("pintle.dev/adopt-release: '2'"), "{}", tried.out);
    assert!(samples.api().get_opt("web").await.unwrap().is_none());

    let adopted = pintle(cluster, &adopt).await;
    assert_eq!(adopted.code, Some(0), "{}\n{}", adopted.error, operator.log().unwrap());
    assert!(
        adopted.error.contains("3 objects are taken over, each with the uid and generation it had"),
        "{}",
        adopted.error
    );
    let web = samples.ready(&operator, "web").await.unwrap();
    assert_eq!(running(space).await, before, "nothing that runs has changed");
    assert_eq!(web.data["spec"], json!({"message": "hi", "revision": true, "replicas": 2}));
    assert_eq!(web.data["status"]["release"]["revision"], 2);

    // Helm knows nothing of it any more.
    let uninstall = helm(cluster, &["uninstall", "web", "-n", n], driver).await;
    assert!(uninstall.code != Some(0) && uninstall.error.contains("not found"), "{}", uninstall.error);
    assert_eq!(running(space).await, before);

    samples.change("web", json!({"revision": null})).await.unwrap();
    samples.ready(&operator, "web").await.unwrap();
    let data = space.api::<ConfigMap>().get("web-0").await.unwrap().data.unwrap();
    assert!(!data.contains_key("revision"), "a field of Helm's that is no longer rendered goes: {data:?}");
    let again = pintle(cluster, &adopt).await;
    assert!(again.error.contains("not found") && again.code == Some(1), "{}", again.error);
}

#[tokio::test]
async fn a_release_in_secrets_becomes_an_instance() {
    let cluster = Cluster::shared().await.unwrap();
    let space = cluster.namespace("adopt-secret").await.unwrap();
    adopt_a_release(&space, cluster, "secret", &[]).await;
}

#[tokio::test]
async fn a_release_in_config_maps_becomes_an_instance() {
    let cluster = Cluster::shared().await.unwrap();
    let space = cluster.namespace("adopt-map").await.unwrap();
    adopt_a_release(&space, cluster, "configmap", &["--server-side=false"]).await;
}

#[tokio::test]
async fn a_release_that_would_change_is_not_taken_over() {
    let cluster = Cluster::shared().await.unwrap();
    let space = cluster.namespace("adopt-differs").await.unwrap();
    let n = space.name();
    crate::adoption::helm_install(cluster, &space, &[]).await;
    let operator = Operator::sample(cluster, &space).await.unwrap();
    let deployments = space.api::<Deployment>();
    let scaled = Patch::Merge(json!({"spec": {"replicas": 3}}));
    deployments.patch("web", &PatchParams::default(), &scaled).await.unwrap();
    let scratch = tempfile::tempdir().unwrap();
    let file = watches(scratch.path());
    let adopt = ["adopt", "web", "-n", n, "--watches-file", &file];
    let refused = pintle(cluster, &adopt).await;
    assert_eq!(refused.code, Some(1));
    insta::assert_snapshot!(refused.error);
    assert!(refused.out.contains("-  replicas: 3\n+  replicas: 1\n"), "{}", refused.out);
    let samples = Resources::new(&space, "Sample");
    assert!(samples.api().get_opt("web").await.unwrap().is_none());
    let nothing = pintle(cluster, &["adopt", "nothing", "-n", n, "--watches-file", &file]).await;
    assert!(nothing.error.contains("no record of nothing"), "{}", nothing.error);

    let flags = ["--allow-changes", "--release-record=delete"];
    let adopted = pintle(cluster, &[&adopt[..], &flags].concat()).await;
    assert_eq!(adopted.code, Some(0), "{}", adopted.error);
    samples.ready(&operator, "web").await.unwrap();
    assert_eq!(deployments.get("web").await.unwrap().spec.unwrap().replicas, Some(1));
    assert!(space.api::<Secret>().get_opt("sh.helm.release.v1.web.v1").await.unwrap().is_none());
}

#[tokio::test]
async fn what_is_left_to_others_is_no_difference() {
    let cluster = Cluster::shared().await.unwrap();
    let space = cluster.namespace("view-rules").await.unwrap();
    let mut definition = entry("Sample", &sample());
    let ignore = json!([{"kind": "Deployment", "pointers": ["/spec/replicas"]}]);
    definition["pintle"] = json!({"drift": {"mode": "Report", "ignore": ignore}});
    let operator = Operator::start(cluster, &space, &[definition.clone()], &[]).await.unwrap();
    let samples = Resources::new(&space, "Sample");
    samples.create("web", json!({})).await.unwrap();
    samples.ready(&operator, "web").await.unwrap();
    let edit = PatchParams { field_manager: Some("kubectl-edit".into()), ..PatchParams::default() };
    let scaled = Patch::Merge(json!({"spec": {"replicas": 3}}));
    space.api::<Deployment>().patch("web", &edit, &scaled).await.unwrap();
    let scratch = tempfile::tempdir().unwrap();
    let file = scratch.path().join("watches.yaml").display().to_string();
    std::fs::write(&file, serde_yaml::to_string(&[definition]).unwrap()).unwrap();
    let diff = ["diff", "sample.test.pintle.dev/web", "-n", space.name(), "--watches-file", &file];
    let same = pintle(cluster, &diff).await;
    assert_eq!((same.code, &*same.out), (Some(0), ""));
    let left = format!("Deployment.apps {}/web: left to others by a rule: /spec/replicas\n", space.name());
    assert_eq!(same.error, left);

    let changed = Patch::Merge(json!({"data": {"message": "theirs"}}));
    space.api::<ConfigMap>().patch("web-0", &edit, &changed).await.unwrap();
    let reported = pintle(cluster, &diff).await;
    assert_eq!(reported.code, Some(0), "{}", reported.error);
    assert!(reported.out.contains("+  message: hello\n"), "{}", reported.out);
    let left = format!("ConfigMap {}/web-0: left so: drift is only reported\n", space.name());
    assert!(reported.out.ends_with(&left), "{}", reported.out);
    // What is new is applied whatever the mode is.
    samples
        .api()
        .patch(
            "web",
            &PatchParams::default(),
            &Patch::Merge(json!({"metadata": {"annotations": {"pintle.dev/suspend": "true"}}})),
        )
        .await
        .unwrap();
    samples.change("web", json!({"message": "new"})).await.unwrap();
    let to_come = pintle(cluster, &diff).await;
    assert_eq!(to_come.code, Some(1), "{}", to_come.error);
    assert!(to_come.out.contains("+  message: new\n") && !to_come.out.contains("left so"), "{}", to_come.out);
}

/// A chart that generates at each render, and the same objects again from the release.
#[tokio::test]
async fn a_release_keeps_what_its_chart_generated() {
    let cluster = Cluster::shared().await.unwrap();
    let space = cluster.namespace("adopt-random").await.unwrap();
    let n = space.name();
    let scratch = tempfile::tempdir().unwrap();
    let chart = scratch.path().join("random");
    let write = |name: &str, text: &str| {
        let path = chart.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write("Chart.yaml", "apiVersion: v2\nname: random\nversion: 1.0.0\n");
    write("values.yaml", "gone: default\n");
    write(
        "templates/all.yaml",
        r#"{{- $password := randAlphaNum 24 }}
{{- $cert := genSelfSignedCert .Release.Name nil (list "web.local") 365 }}
{{- $ca := genCA "web-ca" 365 }}
{{- $signed := genSignedCert "web" nil (list "web") 365 $ca }}
apiVersion: v1
kind: Secret
metadata: {name: web}
data:
  password: {{ $password | b64enc }}
  url: {{ printf "pg://app:%s@db" $password | b64enc }}
  login: {{ htpasswd "app" $password | b64enc }}
  tls.crt: {{ $cert.Cert | b64enc }}
  tls.key: {{ $cert.Key | b64enc }}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: web}
data:
  id: {{ uuidv4 }}
  checksum: {{ sha256sum $password }}
  gone: {{ .Values.gone | default "nothing" | quote }}
  ca: {{ $ca.Cert | quote }}
---
apiVersion: v1
kind: Secret
metadata:
  name: web-tls
  annotations: {helm.sh/hook: "pre-install,pre-upgrade"}
stringData:
  ca.key: {{ $ca.Key | quote }}
  tls.crt: {{ $signed.Cert | quote }}
  tls.key: {{ $signed.Key | quote }}
"#,
    );
    let folder = chart.display().to_string();
    let installed =
        helm(cluster, &["install", "web", &folder, "-n", n, "--set", "gone=null"], "secret").await;
    assert_eq!(installed.code, Some(0), "{}", installed.error);
    let (secrets, maps) = (space.api::<Secret>(), space.api::<ConfigMap>());
    let data = || async {
        let (secret, map) = (secrets.get("web").await.unwrap(), maps.get("web").await.unwrap());
        (secret.data.unwrap(), map.data.unwrap())
    };
    let before = data().await;
    let file = scratch.path().join("watches.yaml").display().to_string();
    let definition = entry("Sample", &chart);
    std::fs::write(&file, serde_yaml::to_string(std::slice::from_ref(&definition)).unwrap()).unwrap();
    let mut operator = Operator::start(cluster, &space, &[definition], &[]).await.unwrap();
    let adopted = pintle(cluster, &["adopt", "web", "-n", n, "--watches-file", &file]).await;
    assert_eq!(adopted.code, Some(0), "{}\n{}", adopted.error, adopted.out);
    assert!(adopted.error.contains("nothing that runs would change"), "{}", adopted.error);
    assert!(adopted.error.contains("6 generated values are kept"), "{}", adopted.error);
    let samples = Resources::new(&space, "Sample");
    let web = samples.ready(&operator, "web").await.unwrap();
    assert!(!web.metadata.annotations.unwrap().contains_key("pintle.dev/suspend"));
    assert_eq!(data().await, before);
    // The values are the operator's own by now, and go with the resource.
    operator.stop().await.unwrap();
    operator.run().await.unwrap();
    samples.annotate("web", "pintle.dev/reconcile", "now").await.unwrap();
    samples.change("web", json!({"gone": "here"})).await.unwrap();
    samples.ready(&operator, "web").await.unwrap();
    let mut expected = before.clone();
    expected.1.insert("gone".into(), "nothing".into());
    assert_eq!(data().await, expected, "the annotation pintle.dev/unset goes before the spec");
    let all = secrets.list(&ListParams::default()).await.unwrap().items;
    let kept = all.iter().find(|s| s.type_.as_deref() == Some("pintle.dev/generated-values")).unwrap();
    assert_eq!(kept.metadata.owner_references.as_ref().unwrap()[0].name, "web");
}

/// When an upgrade fails, Helm leaves the revision before it deployed, and whatever it did of the new one.
#[tokio::test]
async fn a_release_whose_upgrade_failed_is_taken_over_as_it_is_deployed() {
    let cluster = Cluster::shared().await.unwrap();
    let space = cluster.namespace("adopt-failed").await.unwrap();
    let n = space.name();
    let scratch = tempfile::tempdir().unwrap();
    let chart = scratch.path().join("fails");
    std::fs::create_dir_all(chart.join("templates")).unwrap();
    std::fs::write(chart.join("Chart.yaml"), "apiVersion: v2\nname: fails\nversion: 1.0.0\n").unwrap();
    let template = r#"
apiVersion: v1
kind: ConfigMap
metadata: {name: web}
data:
  message: {{ .Values.message | default "one" }}
{{- if .Values.bad }}
  more: "1"
---
apiVersion: v1
kind: ConfigMap
metadata: {name: web-new}
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {ports: [{port: 99999}]}
{{- end }}
"#;
    std::fs::write(chart.join("templates/all.yaml"), template).unwrap();
    let folder = chart.display().to_string();
    let bad = ["--set", "message=two,bad=true"];
    let failed = helm(cluster, &[&["install", "web", &folder, "-n", n][..], &bad].concat(), "secret").await;
    assert_eq!(failed.code, Some(1), "{}", failed.out);
    let definition = entry("Sample", &chart);
    let file = scratch.path().join("watches.yaml").display().to_string();
    std::fs::write(&file, serde_yaml::to_string(std::slice::from_ref(&definition)).unwrap()).unwrap();
    let adopt = ["adopt", "web", "-n", n, "--watches-file", &file];
    let never = pintle(cluster, &adopt).await;
    insta::assert_snapshot!(never.error, @"Error: no revision of the release web is deployed: revision 1, the last, is failed. Bring it to deployed with Helm first");

    for (args, works) in [(&[][..], true), (&bad, false)] {
        let command =
            [&["upgrade", "--install", "web", &folder, "-n", n, "--reset-values"][..], args].concat();
        let upgraded = helm(cluster, &command, "secret").await;
        assert_eq!(upgraded.code, Some(i32::from(!works)), "{}", upgraded.error);
    }
    let maps = space.api::<ConfigMap>();
    assert_eq!(maps.get("web").await.unwrap().data.unwrap()["message"], "two");
    let operator = Operator::start(cluster, &space, &[definition], &[]).await.unwrap();
    let refused = pintle(cluster, &adopt).await;
    assert_eq!(refused.code, Some(1), "{}", refused.error);
    insta::assert_snapshot!(refused.error, @r"
    revision 3 of the release web is failed. Revision 2 is deployed and is taken over; what revision 3 did is a change
    Error: nothing was done: 1 of 1 object would change. Make values and chart such that nothing differs; or --allow-changes
    ");
    insta::assert_snapshot!(refused.out.replace(n, "NS"), @r"
    --- live/v1.ConfigMap.NS.web
    +++ desired/v1.ConfigMap.NS.web
    @@ -1,7 +1,6 @@
     apiVersion: v1
     data:
    -  message: two
    -  more: '1'
    +  message: one
     kind: ConfigMap
     metadata:
       labels:
    ConfigMap web-new is of the release and is not rendered: it stays, and belongs to nobody
    ");

    let adopted = pintle(cluster, &[&adopt[..], &["--allow-changes"]].concat()).await;
    assert_eq!(adopted.code, Some(0), "{}", adopted.error);
    let web = Resources::new(&space, "Sample").ready(&operator, "web").await.unwrap();
    assert_eq!(web.data["status"]["release"]["revision"], 2);
    let data = maps.get("web").await.unwrap().data.unwrap();
    assert_eq!(data, [("message".to_owned(), "one".to_owned())].into(), "as revision 2 has it");
    let secrets = space.api::<Secret>().list(&ListParams::default().labels("owner=helm")).await.unwrap();
    assert!(secrets.items.is_empty(), "Helm sees none of its records");
}

#[tokio::test]
async fn values_that_a_schema_drops_are_told_before_a_release_is_taken_over() {
    let cluster = Cluster::shared().await.unwrap();
    let space = cluster.namespace("adopt-strict").await.unwrap();
    let n = space.name();
    let spec = json!({"type": "object", "properties": {"message": {"type": "string"}, "workload": {"type": "boolean"}}});
    let schema = json!({"type": "object", "properties": {"spec": spec, "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}});
    let crd = json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": format!("stricts.{GROUP}")},
        "spec": {"group": GROUP, "scope": "Namespaced", "names": {"kind": "Strict", "plural": "stricts"}, "versions": [
            {"name": "v1", "served": true, "storage": true, "subresources": {"status": {}}, "schema": {"openAPIV3Schema": schema}}]}});
    install_crd(&space.client(), &crd).await.unwrap();
    let chart = sample().display().to_string();
    let values = "message=hi,workload=false,maps=2";
    let installed = helm(cluster, &["install", "web", &chart, "-n", n, "--set", values], "secret").await;
    assert_eq!(installed.code, Some(0), "{}", installed.error);
    let scratch = tempfile::tempdir().unwrap();
    let file = scratch.path().join("watches.yaml").display().to_string();
    std::fs::write(&file, serde_yaml::to_string(&[entry("Strict", &sample())]).unwrap()).unwrap();
    let tried = pintle(cluster, &["adopt", "web", "-n", n, "--watches-file", &file, "--dry-run"]).await;
    assert_eq!(tried.code, Some(0), "{}", tried.error);
    assert_eq!(tried.error, "the schema of Strict does not know these values: maps\n");
    assert!(tried.out.contains("ConfigMap web-1 is of the release and is not rendered"), "{}", tried.out);
}
