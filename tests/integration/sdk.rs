//! A project of operator-sdk on Pintle: its files, its roles, its flags, and the objects that it has made.

use std::{fs, os::unix::fs::symlink, path::Path, process::Stdio};

use k8s_openapi::api::{
    apps::v1::Deployment,
    core::v1::{ConfigMap, Pod, Secret, Service, ServiceAccount},
    rbac::v1::{ClusterRole, ClusterRoleBinding, PolicyRule},
};
use kube::{
    Api,
    api::{ApiResource, DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams},
    config::Kubeconfig,
    core::GroupVersionKind,
};
use serde_json::{Value, json};

use crate::{
    adoption::running,
    harness::{Cluster, Credentials, Grant, Namespace, Process, process, program, rule, wait},
    operator::{Resources, condition, install_crd, sample},
};

const GROUP: &str = "cache.example.com";
const FINALIZER: &str = "helm.sdk.operatorframework.io/uninstall-release";

/// `watches.yaml` as `operator-sdk init --plugins helm` and `create api` leave it.
const WATCHES: &str = "\
# Use the 'create api' subcommand to add watches to this file.
- group: cache.example.com
  version: v1alpha1
  kind: Memcached
  chart: helm-charts/memcached
# +kubebuilder:scaffold:watch
";

/// The CRD that it makes.
fn crd() -> Value {
    let open = json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true });
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": { "name": format!("memcacheds.{GROUP}") },
        "spec": {
            "group": GROUP,
            "names": { "kind": "Memcached", "listKind": "MemcachedList", "plural": "memcacheds", "singular": "memcached" },
            "scope": "Namespaced",
            "versions": [{ "name": "v1alpha1", "served": true, "storage": true, "subresources": { "status": {} },
                "schema": { "openAPIV3Schema": { "type": "object", "properties": {
                    "apiVersion": { "type": "string" }, "kind": { "type": "string" }, "metadata": { "type": "object" },
                    "spec": open, "status": open } } } }],
        },
    })
}

/// The rules of its manager role, and the one that the chart of this test needs beside them.
fn roles() -> Vec<PolicyRule> {
    let all = ["create", "delete", "get", "list", "patch", "update", "watch"];
    vec![
        rule(&[""], &["namespaces"], &["get"]),
        rule(&[""], &["secrets"], &["*"]),
        rule(&[""], &["events"], &["create"]),
        rule(&[GROUP], &["memcacheds", "memcacheds/status", "memcacheds/finalizers"], &all),
        rule(
            &[""],
            &["pods", "services", "services/finalizers", "endpoints", "persistentvolumeclaims"],
            &all,
        ),
        rule(&[""], &["events", "configmaps", "secrets", "serviceaccounts"], &all),
        rule(&["apps"], &["deployments", "daemonsets", "replicasets", "statefulsets"], &all),
        rule(&["rbac.authorization.k8s.io"], &["clusterroles"], &all),
        rule(&["coordination.k8s.io"], &["leases"], &all),
        rule(&["authentication.k8s.io"], &["tokenreviews"], &["create"]),
        rule(&["authorization.k8s.io"], &["subjectaccessreviews"], &["create"]),
    ]
}

fn memcacheds() -> ApiResource {
    let gvk = GroupVersionKind::gvk(GROUP, "v1alpha1", "Memcached");
    ApiResource::from_gvk_with_plural(&gvk, "memcacheds")
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// What operator-sdk does with a resource: a Helm release by the library in a program called helm-operator, with owners and
/// labels on its objects, and a status.
async fn deploy_as_sdk(cluster: &Cluster, space: &Namespace, project: &Path, cr: &DynamicObject) {
    // Helm takes the name of the program for its field manager.
    let helm = project.join("bin/helm-operator");
    fs::create_dir_all(project.join("bin")).unwrap();
    symlink(program("helm").unwrap(), &helm).unwrap();
    let chart = project.join("helm-charts/memcached").display().to_string();
    let args = ["install", "web", &chart, "-n", space.name(), "--server-side=false", "--wait"];
    let installed = tokio::process::Command::new(helm)
        .args(args)
        .args(["--set", "clusterRole=true,message=hi"])
        .env("KUBECONFIG", cluster.admin().kubeconfig())
        .env("HOME", project)
        .stdin(Stdio::null())
        .output()
        .await
        .unwrap();
    assert!(installed.status.success(), "{}", String::from_utf8_lossy(&installed.stderr));

    let labels = json!({ "helm.sdk.operatorframework.io/chart": "sample" });
    let owner = json!([{ "apiVersion": format!("{GROUP}/v1alpha1"), "kind": "Memcached", "name": "web",
        "uid": cr.metadata.uid, "controller": true, "blockOwnerDeletion": true }]);
    let owned = json!({ "metadata": { "labels": labels, "ownerReferences": owner } });
    let params = PatchParams { field_manager: Some("helm-operator".into()), ..PatchParams::default() };
    let patch = Patch::Merge(&owned);
    space.api::<Deployment>().patch("web", &params, &patch).await.unwrap();
    space.api::<Service>().patch("web", &params, &patch).await.unwrap();
    space.api::<ConfigMap>().patch("web-0", &params, &patch).await.unwrap();
    let record = json!({ "metadata": { "ownerReferences": owner } });
    space.api::<Secret>().patch("sh.helm.release.v1.web.v1", &params, &Patch::Merge(&record)).await.unwrap();
    let annotated = json!({ "metadata": { "labels": labels, "annotations": {
        "operator-sdk/primary-resource": format!("{}/web", space.name()),
        "operator-sdk/primary-resource-type": format!("Memcached.{GROUP}") } } });
    let role = format!("{}-web", space.name());
    let cluster_roles: Api<ClusterRole> = Api::all(space.client());
    cluster_roles.patch(&role, &params, &Patch::Merge(&annotated)).await.unwrap();

    let resources = space.dynamic(&memcacheds());
    let finalizer = json!({ "metadata": { "finalizers": [FINALIZER] } });
    resources.patch("web", &params, &Patch::Merge(&finalizer)).await.unwrap();
    let status = json!({ "status": {
        "conditions": [
            { "type": "Initialized", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z" },
            { "type": "Deployed", "status": "True", "reason": "InstallSuccessful", "lastTransitionTime": "2026-01-01T00:00:00Z" },
        ],
        "deployedRelease": { "name": "web", "manifest": "---\nkind: Secret\nstringData: {a: hunter2}\n" },
    } });
    resources.patch_status("web", &params, &Patch::Merge(&status)).await.unwrap();
}

/// Starts Pintle in a project's folder by the name, the arguments and the environment of its Deployment.
fn start(project: &Path, space: &Namespace, credentials: &Credentials, flags: &[&str]) -> Process {
    let operator = project.join("helm-operator");
    symlink(env!("CARGO_BIN_EXE_pintle"), &operator).unwrap();
    // What the image's entry point has, and what the Deployment adds.
    let args = [
        "run",
        "--watches-file=./watches.yaml",
        "--metrics-bind-address=127.0.0.1:0",
        "--health-probe-bind-address=127.0.0.1:0",
        "--zap-log-level=debug",
        "--zap-encoder=console",
        "--zap-time-encoding=rfc3339nano",
    ];
    let env = [
        ("KUBECONFIG", credentials.kubeconfig().display().to_string()),
        ("WATCH_NAMESPACE", space.name().to_owned()),
        ("POD_NAME", "memcached-operator-controller-manager-0".to_owned()),
        ("OPERATOR_NAME", "memcached-operator".to_owned()),
    ];
    Process::start(&process::Spec {
        program: operator,
        args: args.iter().chain(flags).map(ToString::to_string).collect(),
        env: env.map(|(name, value)| (name.to_owned(), value)).to_vec(),
        dir: project.to_owned(),
        log: project.join("log"),
    })
    .unwrap()
}

fn project() -> tempfile::TempDir {
    let project = tempfile::tempdir().unwrap();
    fs::write(project.path().join("watches.yaml"), WATCHES).unwrap();
    copy(&sample(), &project.path().join("helm-charts/memcached"));
    project
}

async fn until<T, F>(operator: &Process, what: &str, attempt: impl FnMut() -> F) -> T
where
    F: Future<Output = anyhow::Result<Option<T>>>,
{
    let result = wait::until(what, wait::PATIENCE, attempt).await;
    result.unwrap_or_else(|error| panic!("{error:#}\n{}", process::tail(operator.log(), 40)))
}

#[tokio::test]
async fn a_project_goes_on_with_what_it_has_deployed() {
    let cluster = Cluster::shared().await.unwrap();
    let space = cluster.namespace("sdk").await.unwrap();
    install_crd(&space.client(), &crd()).await.unwrap();
    let project = project();
    let resources = Resources::of(&space, memcacheds());
    let cr = resources.create("web", json!({"clusterRole": true, "message": "hi"})).await.unwrap();
    deploy_as_sdk(cluster, &space, project.path(), &cr).await;
    let before = running(&space).await;
    let credentials = cluster.user("sdk", &[Grant::Everywhere(roles())]).await.unwrap();
    let mark = cluster.audit_mark().unwrap();

    let namespace = format!("--leader-election-namespace={}", space.name());
    let flags = ["--leader-elect", "--leader-election-id=memcached-operator", &namespace];
    let operator = start(project.path(), &space, &credentials, &flags);
    let web = until(&operator, "web is ready", || async {
        let web = resources.api().get("web").await?;
        Ok(condition(&web, "Ready").is_some_and(|c| c["status"] == "True").then_some(web))
    })
    .await;
    assert_eq!(running(&space).await, before, "nothing that runs has changed");
    assert_eq!(web.data["status"]["deployedRelease"], json!({"name": "web"}), "no manifest is left");
    assert_eq!(web.data["status"]["release"]["revision"], 1);
    let deployed = condition(&web, "Deployed").unwrap();
    assert_eq!(
        (&deployed["reason"], &deployed["message"]),
        (&json!("InstallSuccessful"), &json!("web says hi.\n"))
    );
    let map = space.api::<ConfigMap>().get("web-0").await.unwrap();
    let managers: Vec<_> =
        map.metadata.managed_fields.unwrap().into_iter().filter_map(|e| e.manager).collect();
    assert_eq!(managers, ["pintle"]);

    // An Event came through the API that the role has.
    let events: Api<k8s_openapi::api::core::v1::Event> = space.api();
    until(&operator, "an Event", || async {
        let all = events.list(&ListParams::default()).await?.items;
        Ok(all.iter().any(|e| e.reason.as_deref() == Some("Adopted")).then_some(()))
    })
    .await;

    // The annotations and the spec go on to work.
    resources.annotate("web", "helm.sdk.operatorframework.io/uninstall-wait", "true").await.unwrap();
    resources.change("web", json!({"message": "ho"})).await.unwrap();
    until(&operator, "the change is applied", || async {
        let map = space.api::<ConfigMap>().get("web-0").await?;
        Ok((map.data.unwrap_or_default()["message"] == "ho").then_some(()))
    })
    .await;

    resources.api().delete("web", &DeleteParams::default()).await.unwrap();
    wait::gone(resources.api(), "web", cr.metadata.uid.as_ref().unwrap()).await.unwrap();
    let roles: Api<ClusterRole> = Api::all(space.client());
    assert!(roles.get_opt(&format!("{}-web", space.name())).await.unwrap().is_none());
    assert!(space.api::<Deployment>().get_opt("web").await.unwrap().is_none());
    let refused: Vec<String> = cluster
        .requests_since(mark)
        .unwrap()
        .into_iter()
        .filter(|r| r.user == credentials.user() && r.code == 403 && !r.uri.contains("events.k8s.io"))
        .map(|r| format!("{} {}", r.verb, r.uri))
        .collect();
    assert_eq!(refused, [] as [&str; 0]);
    let pods: Api<Pod> = space.api();
    until(&operator, "no Pod is left", || async {
        Ok(pods.list(&ListParams::default()).await?.items.is_empty().then_some(()))
    })
    .await;
}

#[tokio::test]
async fn a_resource_deleted_before_the_change_of_operators() {
    let cluster = Cluster::shared().await.unwrap();
    let space = cluster.namespace("sdk-deleted").await.unwrap();
    install_crd(&space.client(), &crd()).await.unwrap();
    let project = project();
    let resources = Resources::of(&space, memcacheds());
    let cr = resources.create("web", json!({"clusterRole": true})).await.unwrap();
    deploy_as_sdk(cluster, &space, project.path(), &cr).await;
    resources.api().delete("web", &DeleteParams::default()).await.unwrap();
    let credentials = cluster.user("sdk-deleted", &[Grant::Everywhere(roles())]).await.unwrap();
    let operator = start(project.path(), &space, &credentials, &[]);
    let uid = cr.metadata.uid.as_ref();
    until(&operator, "the resource is gone", || async {
        let now = resources.api().get_opt("web").await?;
        Ok((now.and_then(|web| web.metadata.uid).as_ref() != uid).then_some(()))
    })
    .await;
    let cluster_roles: Api<ClusterRole> = Api::all(space.client());
    assert!(cluster_roles.get_opt(&format!("{}-web", space.name())).await.unwrap().is_none());
    assert!(space.api::<Deployment>().get_opt("web").await.unwrap().is_none());
}

/// The token of a service account with these rights.
async fn token(cluster: &Cluster, space: &Namespace, name: &str, rules: &[PolicyRule]) -> String {
    let account: ServiceAccount = serde_json::from_value(json!({ "metadata": { "name": name } })).unwrap();
    space.api().create(&PostParams::default(), &account).await.unwrap();
    if !rules.is_empty() {
        let full = format!("{}-{name}", space.name());
        let role: ClusterRole =
            serde_json::from_value(json!({ "metadata": { "name": full }, "rules": rules })).unwrap();
        Api::<ClusterRole>::all(space.client()).create(&PostParams::default(), &role).await.unwrap();
        let binding: ClusterRoleBinding = serde_json::from_value(json!({ "metadata": { "name": full },
            "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": full },
            "subjects": [{ "kind": "ServiceAccount", "name": name, "namespace": space.name() }] }))
        .unwrap();
        Api::<ClusterRoleBinding>::all(space.client())
            .create(&PostParams::default(), &binding)
            .await
            .unwrap();
    }
    let credentials = cluster.service_account(space.name(), name).await.unwrap();
    let config = Kubeconfig::read_from(credentials.kubeconfig()).unwrap();
    let user = serde_json::to_value(&config.auth_infos[0]).unwrap();
    user["user"]["token"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn metrics_behind_tls_and_rights() {
    let cluster = Cluster::shared().await.unwrap();
    let space = cluster.namespace("sdk-metrics").await.unwrap();
    install_crd(&space.client(), &crd()).await.unwrap();
    let project = project();
    let credentials = cluster.user("sdk-metrics", &[Grant::Everywhere(roles())]).await.unwrap();
    let operator =
        start(project.path(), &space, &credentials, &["--metrics-secure", "--metrics-require-rbac=true"]);
    let reader = json!([{ "nonResourceURLs": ["/metrics"], "verbs": ["get"] }]);
    let reader: Vec<PolicyRule> = serde_json::from_value(reader).unwrap();
    let reader = token(cluster, &space, "reader", &reader).await;
    let nobody = token(cluster, &space, "nobody", &[]).await;
    let address = until(&operator, "metrics are served", || async {
        let log = fs::read_to_string(operator.log())?;
        let line = log.lines().find(|l| l.contains("serving /metrics")).map(str::to_owned);
        Ok(line.and_then(|l| Some(l.split("address=").nth(1)?.split_whitespace().next()?.to_owned())))
    })
    .await;
    let client = reqwest::Client::builder().tls_danger_accept_invalid_certs(true).build().unwrap();
    let url = format!("https://{address}/metrics");
    let ask = async |token: &str| {
        let request = client.get(&url);
        let request = if token.is_empty() { request } else { request.bearer_auth(token) };
        let answer = request.send().await.unwrap();
        (answer.status().as_u16(), answer.text().await.unwrap())
    };
    assert_eq!(ask("").await.0, 401);
    assert_eq!(ask("made-up").await.0, 401);
    assert_eq!(ask(&nobody).await.0, 403);
    // Rights take effect when the API server's own watch has seen them; a refusal is remembered for a while.
    let text = until(&operator, "the reader may", || async {
        let (code, text) = ask(&reader).await;
        Ok((code == 200).then_some(text))
    })
    .await;
    assert!(text.contains("pintle_"), "{text}");
    assert_eq!(ask(&nobody).await.0, 403);
    assert!(
        reqwest::get(format!("http://{address}/metrics")).await.is_err(),
        "nothing is served in the clear"
    );
}

#[test]
fn flags_that_need_each_other() {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_pintle"))
        .args(["run", "--metrics-require-rbac"])
        .output()
        .unwrap();
    assert!(!output.status.success());
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        "Error: --metrics-secure flag is required when --metrics-require-rbac is present\n"
    );
}
