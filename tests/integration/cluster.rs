//! The test cluster itself.

use std::{env, fs, path::PathBuf};

use k8s_openapi::api::{
    apps::v1::{Deployment, StatefulSet},
    core::v1::{ConfigMap, PersistentVolumeClaim, Pod, ServiceAccount},
};
use kube::{
    Api,
    api::{DeleteParams, ListParams, Patch, PatchParams, PostParams},
    runtime::conditions,
};
use rustix::process::Signal;
use serde_json::json;

use crate::harness::{ATTACH, Cluster, Grant, Metrics, Options, Process, process, rule, wait};

/// Set in a [`helper`]: the file to which it tells its folder, and how it is to end.
const HELPER: &str = "PINTLE_TEST_HELPER";
const ENDING: &str = "PINTLE_TEST_ENDING";

fn template() -> serde_json::Value {
    json!({
        "metadata": {"labels": {"app": "probe"}},
        "spec": {"containers": [{"name": "main", "image": "probe:1"}]},
    })
}

#[tokio::test]
async fn pods_of_a_deployment_run_and_end() {
    let cluster = Cluster::shared().await.unwrap();
    let space = cluster.namespace("cluster-run").await.unwrap();
    let deployments: Api<Deployment> = space.api();
    let deployment = serde_json::from_value(json!({
        "metadata": {"name": "probe"},
        "spec": {"replicas": 2, "selector": {"matchLabels": {"app": "probe"}}, "template": template()},
    }))
    .unwrap();
    deployments.create(&PostParams::default(), &deployment).await.unwrap();
    let available = |deployment: Option<&Deployment>| {
        let status = deployment.and_then(|deployment| deployment.status.as_ref());
        status.is_some_and(|status| status.available_replicas == Some(2))
    };
    wait::object(&deployments, "probe", "two Pods are available", available).await.unwrap();

    let pods: Api<Pod> = space.api();
    let running = pods.list(&ListParams::default()).await.unwrap().items;
    let phases: Vec<_> = running.iter().filter_map(|pod| pod.status.as_ref()?.phase.as_deref()).collect();
    assert_eq!(phases, ["Running", "Running"]);

    // The garbage collector and the simulated kubelet take part in the end.
    deployments.delete("probe", &DeleteParams::background()).await.unwrap();
    for pod in running {
        wait::gone(&pods, pod.metadata.name.as_ref().unwrap(), pod.metadata.uid.as_ref().unwrap())
            .await
            .unwrap();
    }
}

#[tokio::test]
async fn claims_of_a_stateful_set_are_bound() {
    let cluster = Cluster::shared().await.unwrap();
    let space = cluster.namespace("cluster-storage").await.unwrap();
    let sets: Api<StatefulSet> = space.api();
    let set = serde_json::from_value(json!({
        "metadata": {"name": "probe"},
        "spec": {
            "replicas": 2, "serviceName": "probe", "selector": {"matchLabels": {"app": "probe"}},
            "template": template(),
            "volumeClaimTemplates": [{
                "metadata": {"name": "data"},
                "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
            }],
        },
    }))
    .unwrap();
    sets.create(&PostParams::default(), &set).await.unwrap();
    let ready = |set: Option<&StatefulSet>| {
        set.and_then(|set| set.status.as_ref()).is_some_and(|status| status.ready_replicas == Some(2))
    };
    wait::object(&sets, "probe", "two Pods are ready", ready).await.unwrap();
    let claims: Api<PersistentVolumeClaim> = space.api();
    let claim = claims.get("data-probe-1").await.unwrap();
    assert_eq!(claim.status.unwrap().phase.as_deref(), Some("Bound"));
}

#[tokio::test]
async fn a_user_has_the_rights_given_and_no_others() {
    let cluster = Cluster::shared().await.unwrap();
    let space = cluster.namespace("cluster-rights").await.unwrap();
    let denied = |answer: Result<_, kube::Error>| match answer {
        Ok(_) => panic!("allowed"),
        Err(kube::Error::Api(status)) => assert_eq!(status.code, 403, "{status:?}"),
        Err(error) => panic!("{error}"),
    };

    // Somebody else makes it in every namespace, some time.
    wait::object(&space.api::<ConfigMap>(), "kube-root-ca.crt", "it exists", conditions::is_created())
        .await
        .unwrap();

    let nobody = cluster.user("nobody", &[]).await.unwrap().client().await.unwrap();
    denied(Api::<Pod>::namespaced(nobody, space.name()).list(&ListParams::default()).await.map(drop));

    let grant = Grant::In(space.name(), vec![rule(&[""], &["configmaps"], &["get", "list"])]);
    let reader = cluster.user("reader", &[grant]).await.unwrap().client().await.unwrap();
    let theirs: Api<ConfigMap> = Api::namespaced(reader.clone(), space.name());
    let found = theirs.list(&ListParams::default()).await.unwrap();
    assert!(found.items.iter().any(|map| map.metadata.name.as_deref() == Some("kube-root-ca.crt")));
    denied(theirs.delete("kube-root-ca.crt", &DeleteParams::default()).await.map(drop));
    denied(Api::<ConfigMap>::namespaced(reader, "default").list(&ListParams::default()).await.map(drop));

    let account = serde_json::from_value(json!({"metadata": {"name": "worker"}})).unwrap();
    space.api::<ServiceAccount>().create(&PostParams::default(), &account).await.unwrap();
    let worker = cluster.service_account(space.name(), "worker").await.unwrap();
    let error = Api::<Pod>::namespaced(worker.client().await.unwrap(), space.name())
        .list(&ListParams::default())
        .await
        .unwrap_err();
    assert!(error.to_string().contains(&format!("User \"{}\" cannot list", worker.user())), "{error}");
}

#[tokio::test]
async fn requests_are_counted_by_user_and_by_kind() {
    let cluster = Cluster::shared().await.unwrap();
    let space = cluster.namespace("cluster-count").await.unwrap();
    let grant = Grant::In(space.name(), vec![rule(&[""], &["configmaps"], &["*"])]);
    let user = cluster.user("counted", &[grant]).await.unwrap();
    let maps: Api<ConfigMap> = Api::namespaced(user.client().await.unwrap(), space.name());

    let (mark, before) = (cluster.audit_mark().unwrap(), cluster.metrics().await.unwrap());
    let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "counted"}});
    maps.patch("counted", &PatchParams::apply("probe"), &Patch::Apply(&map)).await.unwrap();
    maps.get("counted").await.unwrap();
    let after = cluster.metrics().await.unwrap();

    // The log has a request once its answer is sent, so maybe a moment later.
    let seen = wait::until("the audit log has both requests", wait::PATIENCE, || async {
        let mut requests = cluster.requests_since(mark)?;
        requests.retain(|request| request.user == user.user());
        Ok((requests.len() >= 2).then_some(requests))
    })
    .await
    .unwrap();
    let seen: Vec<_> =
        seen.iter().map(|r| (r.verb.as_str(), r.resource.as_str(), r.name.as_str(), r.code)).collect();
    assert_eq!(seen, [("patch", "configmaps", "counted", 201), ("get", "configmaps", "counted", 200)]);

    let key = ("APPLY".to_owned(), "configmaps".to_owned());
    let count = |metrics: &Metrics| metrics.requests().get(&key).copied().unwrap_or(0);
    assert!(count(&after) > count(&before));
}

#[tokio::test]
async fn the_api_server_can_be_stopped_and_killed() {
    let cluster = Cluster::start(Options { nodes: 0, ..Options::default() }).await.unwrap();
    let client = cluster.client().await.unwrap();
    let maps: Api<ConfigMap> = Api::default_namespaced(client);
    let map = serde_json::from_value(json!({"metadata": {"name": "lasting"}})).unwrap();
    maps.create(&PostParams::default(), &map).await.unwrap();

    cluster.kill_api_server().await.unwrap();
    assert!(maps.get("lasting").await.is_err());
    cluster.start_api_server().await.unwrap();
    maps.get("lasting").await.unwrap();

    cluster.stop_api_server().await.unwrap();
    assert!(maps.get("lasting").await.is_err());
    cluster.start_api_server().await.unwrap();
    maps.get("lasting").await.unwrap();

    let dir = cluster.dir().to_owned();
    assert!(cluster.processes().len() >= 5);
    drop(cluster);
    assert_eq!(process::working_in(&dir), [] as [u32; 0]);
    assert!(!dir.exists());
}

#[tokio::test]
async fn kubectl_and_helm_talk_to_the_cluster() {
    let cluster = Cluster::shared().await.unwrap();
    let space = cluster.namespace("cluster-tools").await.unwrap();
    let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "given"}}).to_string();
    let output =
        cluster.admin().run("kubectl", &["apply", "-n", space.name(), "-f", "-"], &map).await.unwrap();
    assert_eq!(
        (output.stdout.as_str(), output.success),
        ("configmap/given created\n", true),
        "{}",
        output.stderr
    );

    let output = cluster.admin().run("kubectl", &["version", "-o", "json"], "").await.unwrap();
    let versions: serde_json::Value = serde_json::from_str(&output.stdout).unwrap();
    for side in ["clientVersion", "serverVersion"] {
        assert_eq!(versions[side]["gitVersion"], "v1.36.3");
        assert_eq!(versions[side]["minor"], "36");
    }
    let output = cluster.admin().run("helm", &["version", "--template={{.Version}}"], "").await.unwrap();
    assert_eq!(output.stdout, "v4.3.1");

    let output =
        cluster.user("nobody", &[]).await.unwrap().run("kubectl", &["get", "pods"], "").await.unwrap();
    assert!(!output.success && output.stderr.contains("(Forbidden)"), "{output:?}");
}

#[test]
fn metrics_are_read_with_their_labels() {
    let metrics = Metrics::parse(
        "# HELP a b\na{x=\"1\",y=\"q\\\"\\n\"} 2\na{x=\"1\",y=\"\"} 3e+00\na{x=\"2\"} 4\nb 5\n",
    )
    .unwrap();
    assert_eq!(metrics.sum("a", &[("x", "1")]), 5.0);
    assert_eq!(metrics.sum("a", &[("y", "q\"\n")]), 2.0);
    assert_eq!(metrics.sum("b", &[]), 5.0);
    assert!(Metrics::parse("a{x=\"1} 2").is_err());
}

/// Not a test: a program that starts children as the harness does and then is killed, or panics.
#[tokio::test]
#[ignore = "a helper that other tests start"]
async fn helper() {
    let Ok(told) = env::var(HELPER) else { return };
    match env::var(ENDING).unwrap().as_str() {
        "with a cluster" => {
            let cluster = Cluster::shared().await.unwrap();
            fs::write(told, cluster.dir().display().to_string()).unwrap();
            std::future::pending::<()>().await;
        }
        ending => {
            let dir = tempfile::tempdir().unwrap().keep();
            let janitor = process::Janitor::start(&dir, false).unwrap();
            let child = Process::start(&process::Spec {
                program: "sleep".into(),
                args: vec!["600".into()],
                env: Vec::new(),
                dir: dir.clone(),
                log: dir.join("log"),
            });
            // A static is not dropped at the end, and the shared cluster is one.
            std::mem::forget((janitor, child.unwrap()));
            fs::write(told, dir.display().to_string()).unwrap();
            match ending {
                "by a panic" => panic!("as asked"),
                _ => std::future::pending::<()>().await,
            }
        }
    }
}

/// Starts [`helper`], waits until it has children, ends it with a signal or lets it end, and sees that nothing is left.
async fn end_a_helper(ending: &str, signal: Option<Signal>) {
    let scratch = tempfile::tempdir().unwrap();
    let told = scratch.path().join("dir");
    let set = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let helper = Process::start(&process::Spec {
        program: env::current_exe().unwrap(),
        args: ["--exact", "cluster::helper", "--ignored"].map(str::to_owned).to_vec(),
        env: vec![set(HELPER, told.to_str().unwrap()), set(ENDING, ending), set(ATTACH, "")],
        dir: scratch.path().to_owned(),
        log: scratch.path().join("log"),
    })
    .unwrap();
    let dir = wait::until("the helper has children", wait::PATIENCE, || async {
        let dir = fs::read_to_string(&told).ok().filter(|dir| !dir.is_empty()).map(PathBuf::from);
        if dir.is_none() {
            helper.check()?;
        }
        Ok(dir)
    })
    .await
    .unwrap();
    if let Some(signal) = signal {
        let count = process::working_in(&dir).len();
        assert!(count >= if ending == "with a cluster" { 5 } else { 1 }, "{count}");
        helper.signal(signal).unwrap();
    }
    let ended = tokio::time::timeout(wait::PATIENCE, helper.wait()).await;
    assert!(!ended.expect("the helper ends").unwrap().success());
    wait::until("the helper's children and files are gone", wait::PATIENCE, || async {
        Ok((process::working_in(&dir).is_empty() && !dir.exists()).then_some(()))
    })
    .await
    .unwrap();
}

#[tokio::test]
async fn a_killed_program_leaves_no_cluster() {
    end_a_helper("with a cluster", Some(Signal::KILL)).await;
}

#[tokio::test]
async fn no_end_leaves_a_process() {
    end_a_helper("by SIGKILL", Some(Signal::KILL)).await;
    end_a_helper("by SIGTERM", Some(Signal::TERM)).await;
    end_a_helper("by Ctrl-C", Some(Signal::INT)).await;
    end_a_helper("by a panic", None).await;
}
