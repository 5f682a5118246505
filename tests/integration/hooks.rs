//! Hooks: when they run, what becomes of them, and what a crash, a failure and a change do about it.

use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow};
use k8s_openapi::api::{
    batch::v1::Job,
    core::v1::{ConfigMap, Pod},
};
use kube::{
    Api,
    api::{DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams},
};
use serde_json::{Value, json};

use crate::{
    harness::{Cluster, Namespace, wait},
    operator::{Operator, Resources, condition, entry},
};

/// The chart whose hooks are its values.
pub fn chart() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/integration/charts/hooks")
}

pub async fn start(cluster: &Cluster, space: &Namespace) -> Operator {
    Operator::start(cluster, space, &[entry("Sample", &chart())], &[]).await.unwrap()
}

pub fn hook(kind: &str, name: &str, events: &str) -> Value {
    json!({ "kind": kind, "name": name, "events": events })
}

/// A hook that runs until [`finish`] ends it.
pub fn held(kind: &str, name: &str, events: &str) -> Value {
    json!({ "kind": kind, "name": name, "events": events, "held": true })
}

/// The value with some entries more.
pub fn with(mut value: Value, more: &Value) -> Value {
    value.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    value
}

/// Ends a Pod, or that of a Job and so the Job. The simulated kubelet ends Jobs by itself, if they get a node.
pub async fn finish(space: &Namespace, name: &str, phase: &str) {
    let pods: Api<Pod> = space.api();
    let pod = wait::until(&format!("{name} has a Pod"), wait::PATIENCE, || async {
        let all = pods.list(&ListParams::default()).await?.items;
        Ok(all.into_iter().find_map(|pod| {
            let live = pod.status.as_ref().and_then(|s| s.phase.as_deref());
            let live = matches!(live, Some("Pending" | "Running"));
            let own = pod.metadata.name.clone()?;
            let job = pod.metadata.labels.as_ref().and_then(|l| l.get("batch.kubernetes.io/job-name"));
            (live && (own == name || job.is_some_and(|job| job == name))).then_some(own)
        }))
    })
    .await
    .unwrap();
    let code = i32::from(phase == "Failed");
    let ended = json!({"status": {"phase": phase, "containerStatuses": [{
        "name": "main", "image": "hook:1", "imageID": "", "ready": false, "restartCount": 0,
        "state": {"terminated": {"exitCode": code, "reason": "Error", "message": "no such table"}}}]}});
    pods.patch_status(&pod, &PatchParams::default(), &Patch::Merge(ended)).await.unwrap();
}

/// Waits until a hook of an instance is in a phase, and gives its line of the status.
pub async fn phase(
    samples: &Resources,
    operator: &Operator,
    instance: &str,
    hook: &str,
    phase: &str,
) -> Result<Value> {
    let what = format!("{hook} is {phase}");
    let waited = operator.until(&what, || async {
        let object = samples.api().get(instance).await?;
        Ok(line(&object, hook).filter(|line| line["phase"] == phase))
    });
    match waited.await {
        Ok(line) => Ok(line),
        Err(error) => {
            let object = samples.api().get(instance).await?;
            Err(error.context(format!("the status is {:#}", object.data["status"])))
        }
    }
}

/// What the status of an instance says of a hook.
fn line(object: &DynamicObject, hook: &str) -> Option<Value> {
    let lines = object.data["status"]["hooks"].as_array()?;
    lines.iter().find(|line| line["name"].as_str().is_some_and(|name| name.starts_with(hook))).cloned()
}

async fn uid<K>(api: &Api<K>, name: &str) -> Result<String>
where
    K: kube::Resource + Clone + std::fmt::Debug + serde::de::DeserializeOwned,
{
    api.get(name).await?.meta().uid.clone().ok_or_else(|| anyhow!("no uid"))
}

#[tokio::test]
async fn before_and_after_an_install() {
    let cluster = Cluster::shared().await.unwrap();
    let space = cluster.namespace("hooks-install").await.unwrap();
    let operator = start(cluster, &space).await;
    let samples = Resources::new(&space, "Sample");
    let hooks = json!([
        with(hook("Job", "second", "pre-install"), &json!({"weight": "2"})),
        with(held("Job", "first", "pre-install"), &json!({"weight": "-5", "policy": "hook-succeeded"})),
        with(hook("ConfigMap", "config", "pre-install"), &json!({"weight": "-10"})),
        with(held("Pod", "after", "post-install"), &json!({"policy": "before-hook-creation,hook-succeeded"})),
        hook("Job", "upgrade", "pre-upgrade"),
    ]);
    samples.create("web", json!({"hooks": hooks})).await.unwrap();
    let line = phase(&samples, &operator, "web", "web-first", "Running").await.unwrap();
    assert_eq!((&line["event"], &line["events"]), (&json!("pre-install"), &json!(["pre-install"])));
    let web = samples.await_condition(&operator, "web", "Reconciling", "True").await.unwrap();
    let ready = condition(&web, "Ready").unwrap();
    assert_eq!(ready["reason"], "HookRunning");
    assert_eq!(ready["message"], "waiting for hook Job.batch web-first (pre-install)");
    let (maps, jobs, pods): (Api<ConfigMap>, Api<Job>, Api<Pod>) = (space.api(), space.api(), space.api());
    assert!(maps.get_opt("web-config").await.unwrap().is_some(), "what is no Job is done when it is made");
    assert!(jobs.get_opt("web-second").await.unwrap().is_none(), "one after the other");
    assert!(maps.get_opt("web").await.unwrap().is_none(), "nothing is applied before they have succeeded");

    finish(&space, "web-first", "Succeeded").await;
    phase(&samples, &operator, "web", "web-after", "Running").await.unwrap();
    assert!(maps.get_opt("web").await.unwrap().is_some());
    let web = samples.await_condition(&operator, "web", "Ready", "False").await.unwrap();
    assert_eq!(web.data["status"]["release"]["revision"], 1);
    finish(&space, "web-after", "Succeeded").await;
    let web = samples.ready(&operator, "web").await.unwrap();
    assert_eq!(web.data["status"]["pending"], Value::Null);
    let phases: Vec<(String, String)> = web.data["status"]["hooks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|h| (h["name"].as_str().unwrap().to_owned(), h["phase"].as_str().unwrap().to_owned()))
        .collect();
    let expected = ["config", "first", "after", "upgrade", "second"].map(|name| {
        (format!("web-{name}"), if name == "upgrade" { "NotRun" } else { "Succeeded" }.to_owned())
    });
    assert_eq!(phases, expected);
    // Policies: what says hook-succeeded is deleted, the rest stays.
    let gone = |name: &'static str| {
        let pods = pods.clone();
        let jobs = jobs.clone();
        async move {
            Ok((pods.get_opt(name).await?.is_none() && jobs.get_opt(name).await?.is_none()).then_some(()))
        }
    };
    operator.until("the Pod is gone", || gone("web-after")).await.unwrap();
    operator.until("the Job is gone", || gone("web-first")).await.unwrap();
    assert!(jobs.get_opt("web-second").await.unwrap().is_some());
    // They are no members: the garbage collector has the Job, and nobody the ConfigMap.
    let config = maps.get("web-config").await.unwrap();
    let labels = config.metadata.labels.unwrap();
    assert!(
        !labels.contains_key("applyset.kubernetes.io/part-of") && labels.contains_key("pintle.dev/hook-of")
    );
    assert_eq!(config.metadata.owner_references, None);
    assert_eq!(web.data["status"]["resources"]["total"], 1);
    assert_eq!(web.metadata.annotations.unwrap()["applyset.kubernetes.io/contains-group-kinds"], "ConfigMap");
}

#[tokio::test]
async fn once_for_each_revision() {
    let cluster = Cluster::shared().await.unwrap();
    let space = cluster.namespace("hooks-once").await.unwrap();
    let mut operator = start(cluster, &space).await;
    let samples = Resources::new(&space, "Sample");
    let hooks = json!([
        hook("Job", "migrate", "pre-install,pre-upgrade"),
        hook("Job", "notify", "post-install, post-upgrade"),
    ]);
    samples.create("web", json!({"hooks": hooks})).await.unwrap();
    samples.ready(&operator, "web").await.unwrap();
    let jobs: Api<Job> = space.api();
    let first = (uid(&jobs, "web-migrate").await.unwrap(), uid(&jobs, "web-notify").await.unwrap());

    // Drift, a request to apply everything, and a restart run nothing.
    let maps: Api<ConfigMap> = space.api();
    let edit =
        |m: Option<&ConfigMap>| m.and_then(|m| m.data.as_ref()).is_some_and(|d| d["message"] == "hello");
    maps.patch("web", &PatchParams::default(), &Patch::Merge(json!({"data": {"message": "theirs"}})))
        .await
        .unwrap();
    wait::object(&maps, "web", "it is put back", edit).await.unwrap();
    let mark = cluster.audit_mark().unwrap();
    samples.annotate("web", "pintle.dev/reconcile", "now").await.unwrap();
    operator
        .until("everything is applied again", || async {
            Ok(cluster
                .requests_since(mark)?
                .iter()
                .any(|r| r.user == operator.user() && r.verb == "patch" && r.resource == "configmaps")
                .then_some(()))
        })
        .await
        .unwrap();
    operator.stop().await.unwrap();
    operator.run().await.unwrap();
    maps.delete("web", &DeleteParams::default()).await.unwrap();
    wait::object(&maps, "web", "it is back", edit).await.unwrap();
    samples.ready(&operator, "web").await.unwrap();
    let second = (uid(&jobs, "web-migrate").await.unwrap(), uid(&jobs, "web-notify").await.unwrap());
    assert_eq!(first, second);

    // A new revision does: the Jobs of before give way.
    samples.change("web", json!({"message": "two"})).await.unwrap();
    let web = samples.ready(&operator, "web").await.unwrap();
    assert_eq!(web.data["status"]["release"]["revision"], 2);
    assert_eq!(line(&web, "web-migrate").unwrap()["event"], "pre-upgrade");
    let third = (uid(&jobs, "web-migrate").await.unwrap(), uid(&jobs, "web-notify").await.unwrap());
    assert!(first.0 != third.0 && first.1 != third.1);
    let annotations = jobs.get("web-migrate").await.unwrap().metadata.annotations.unwrap();
    assert_eq!(annotations["pintle.dev/hook-revision"], "2");
    assert_eq!(annotations["pintle.dev/hook-event"], "pre-upgrade");
}

#[tokio::test]
async fn a_failure_stops_the_revision_until_somebody_asks() {
    let cluster = Cluster::shared().await.unwrap();
    let space = cluster.namespace("hooks-fail").await.unwrap();
    let mut operator = start(cluster, &space).await;
    let samples = Resources::new(&space, "Sample");
    let hooks = json!([
        with(
            hook("ConfigMap", "config", "pre-install"),
            &json!({"weight": "-1", "policy": "hook-succeeded"})
        ),
        held("Job", "migrate", "pre-install"),
        held("Pod", "check", "post-install"),
    ]);
    samples.create("web", json!({"hooks": hooks})).await.unwrap();
    phase(&samples, &operator, "web", "web-migrate", "Running").await.unwrap();
    finish(&space, "web-migrate", "Failed").await;
    let web = samples.await_condition(&operator, "web", "Stalled", "True").await.unwrap();
    let message = "hook Job.batch web-migrate (pre-install) failed: \
                   BackoffLimitExceeded: Job has reached the specified backoff limit";
    for r#type in ["Ready", "Stalled", "ReleaseFailed"] {
        assert_eq!(condition(&web, r#type).unwrap()["message"], message);
    }
    assert_eq!(condition(&web, "ReleaseFailed").unwrap()["reason"], "InstallError");
    assert_eq!(condition(&web, "Ready").unwrap()["reason"], "HookFailed");
    assert!(samples.event(&operator, "web", "HookFailed").await.unwrap().contains("web-migrate"));
    let maps: Api<ConfigMap> = space.api();
    assert!(maps.get_opt("web").await.unwrap().is_none());
    let gone = || async { Ok(maps.get_opt("web-config").await?.is_none().then_some(())) };
    operator.until("the hook before it goes by its policy", gone).await.unwrap();

    // Nothing runs again by itself, not even after a restart.
    let jobs: Api<Job> = space.api();
    let first = uid(&jobs, "web-migrate").await.unwrap();
    operator.stop().await.unwrap();
    operator.run().await.unwrap();
    operator
        .until("it was looked at", || async {
            Ok((operator.metrics().await?.sum("pintle_reconciles_total", &[]) > 0.5).then_some(()))
        })
        .await
        .unwrap();
    assert_eq!(first, uid(&jobs, "web-migrate").await.unwrap());
    let again = samples.api().get("web").await.unwrap();
    assert_eq!(condition(&again, "Ready"), condition(&web, "Ready"), "the restart has changed nothing");

    // Asked, the hooks of the event run anew.
    samples.annotate("web", "pintle.dev/reconcile", "again").await.unwrap();
    phase(&samples, &operator, "web", "web-migrate", "Running").await.unwrap();
    operator
        .until("it is another Job", || async {
            Ok((uid(&jobs, "web-migrate").await? != first).then_some(()))
        })
        .await
        .unwrap();
    finish(&space, "web-migrate", "Succeeded").await;

    // A hook after the release fails: its objects stay, and are kept.
    phase(&samples, &operator, "web", "web-check", "Running").await.unwrap();
    finish(&space, "web-check", "Failed").await;
    let web = samples.await_condition(&operator, "web", "Stalled", "True").await.unwrap();
    assert_eq!(
        condition(&web, "Ready").unwrap()["message"],
        "hook Pod web-check (post-install) failed: container main ended with exit code 1 (Error): no such table"
    );
    assert_eq!(web.data["status"]["release"]["revision"], 1);
    maps.delete("web", &DeleteParams::default()).await.unwrap();
    wait::object(&maps, "web", "it is back", |m: Option<&ConfigMap>| m.is_some()).await.unwrap();

    // A new revision goes on from there.
    samples.change("web", json!({"message": "two"})).await.unwrap();
    let web = samples.ready(&operator, "web").await.unwrap();
    assert_eq!(web.data["status"]["release"]["revision"], 2);
    assert_eq!(condition(&web, "ReleaseFailed"), None);
}

#[tokio::test]
async fn killed_while_a_hook_runs() {
    let cluster = Cluster::shared().await.unwrap();
    let space = cluster.namespace("hooks-killed").await.unwrap();
    let mut operator = start(cluster, &space).await;
    let samples = Resources::new(&space, "Sample");
    let hooks = json!([
        held("Job", "one", "pre-install"),
        with(
            held("Job", "two", "pre-install"),
            &json!({"generate": true, "weight": "1", "policy": "hook-succeeded"}),
        ),
    ]);
    samples.create("web", json!({"hooks": hooks})).await.unwrap();
    phase(&samples, &operator, "web", "web-one", "Running").await.unwrap();
    operator.kill().await.unwrap();
    let jobs: Api<Job> = space.api();
    let first = uid(&jobs, "web-one").await.unwrap();
    finish(&space, "web-one", "Succeeded").await;
    let complete = |job: Option<&Job>| {
        let conditions = job.and_then(|job| job.status.as_ref()?.conditions.as_ref());
        conditions.is_some_and(|all| all.iter().any(|c| c.type_ == "Complete"))
    };
    wait::object(&jobs, "web-one", "it is complete", complete).await.unwrap();
    operator.run().await.unwrap();
    let two = phase(&samples, &operator, "web", "web-two-", "Running").await.unwrap();
    assert_eq!(two["generateName"], "web-two-");
    let web = samples.api().get("web").await.unwrap();
    assert_eq!(
        condition(&web, "Ready").unwrap()["message"],
        format!("waiting for hook Job.batch {} (pre-install)", two["name"].as_str().unwrap())
    );
    assert_eq!(first, uid(&jobs, "web-one").await.unwrap(), "it was not run again");

    // A crash after the object was made and before the status said so.
    operator.kill().await.unwrap();
    let name = two["name"].as_str().unwrap();
    let web = samples.api().get("web").await.unwrap();
    let mut status = web.data["status"].clone();
    let lines = status["hooks"].as_array_mut().unwrap();
    lines[1] = json!({"kind": "Job.batch", "name": "", "generateName": "web-two-", "events": ["pre-install"], "phase": "NotRun"});
    let patch = Patch::Merge(json!({"status": status}));
    samples.api().patch_status("web", &PatchParams::default(), &patch).await.unwrap();
    operator.run().await.unwrap();
    finish(&space, name, "Succeeded").await;
    let web = samples.ready(&operator, "web").await.unwrap();
    assert_eq!(line(&web, "web-two-").unwrap()["name"], name, "its object was known again");
    operator
        .until("the Job is gone", || async { Ok(jobs.get_opt(name).await?.is_none().then_some(())) })
        .await
        .unwrap();
    assert_eq!(jobs.list(&ListParams::default()).await.unwrap().items.len(), 1);
}

#[tokio::test]
async fn a_hook_blocks_nobody_else() {
    let cluster = Cluster::shared().await.unwrap();
    let space = cluster.namespace("hooks-others").await.unwrap();
    let entries = [entry("Sample", &chart())];
    let flags = ["--max-concurrent-reconciles", "1"];
    let operator = Operator::start(cluster, &space, &entries, &flags).await.unwrap();
    let samples = Resources::new(&space, "Sample");
    samples.create("slow", json!({"hooks": [held("Job", "wait", "pre-install")]})).await.unwrap();
    phase(&samples, &operator, "slow", "slow-wait", "Running").await.unwrap();
    samples.create("quick", json!({})).await.unwrap();
    samples.ready(&operator, "quick").await.unwrap();
    // Nor is anything asked for while it waits, once what its Pod waits for is said.
    operator.quiet(cluster).await.unwrap();
    let mark = cluster.audit_mark().unwrap();
    samples.create("other", json!({})).await.unwrap();
    samples.ready(&operator, "other").await.unwrap();
    let about = |r: &&crate::harness::Request| r.user == operator.user() && r.name.starts_with("slow");
    assert_eq!(cluster.requests_since(mark).unwrap().iter().filter(about).count(), 0);
    finish(&space, "slow-wait", "Succeeded").await;
    samples.ready(&operator, "slow").await.unwrap();
}

#[tokio::test]
async fn a_change_while_a_hook_runs_begins_again() {
    let cluster = Cluster::shared().await.unwrap();
    let space = cluster.namespace("hooks-change").await.unwrap();
    let operator = start(cluster, &space).await;
    let samples = Resources::new(&space, "Sample");
    samples.create("web", json!({"hooks": [held("Job", "migrate", "pre-install")]})).await.unwrap();
    phase(&samples, &operator, "web", "web-migrate", "Running").await.unwrap();
    let jobs: Api<Job> = space.api();
    let first = uid(&jobs, "web-migrate").await.unwrap();
    // Say, because its image is wrong.
    samples.change("web", json!({"hooks": [hook("Job", "migrate", "pre-install")]})).await.unwrap();
    let web = samples.ready(&operator, "web").await.unwrap();
    assert_eq!(web.data["status"]["release"]["revision"], 1);
    assert_ne!(first, uid(&jobs, "web-migrate").await.unwrap());
}

#[tokio::test]
async fn going_back_is_a_rollback_where_the_chart_knows_of_any() {
    let cluster = Cluster::shared().await.unwrap();
    let space = cluster.namespace("hooks-rollback").await.unwrap();
    let operator = start(cluster, &space).await;
    let samples = Resources::new(&space, "Sample");
    let hooks = json!([
        hook("ConfigMap", "up", "pre-upgrade"),
        hook("ConfigMap", "back", "pre-rollback"),
        hook("ConfigMap", "after", "post-rollback"),
    ]);
    let phases = |object: &DynamicObject| {
        ["web-up", "web-back", "web-after"].map(|h| line(object, h).unwrap()["phase"] == "Succeeded")
    };
    samples.create("web", json!({"hooks": hooks})).await.unwrap();
    samples.ready(&operator, "web").await.unwrap();
    samples.change("web", json!({"message": "two"})).await.unwrap();
    let web = samples.ready(&operator, "web").await.unwrap();
    assert_eq!(phases(&web), [true, false, false]);
    samples.change("web", json!({"message": null})).await.unwrap();
    let web = samples.ready(&operator, "web").await.unwrap();
    assert_eq!(phases(&web), [false, true, true]);
    assert_eq!(web.data["status"]["release"]["revision"], 3);
}

#[tokio::test]
async fn what_is_in_the_way_of_a_hook() {
    let cluster = Cluster::shared().await.unwrap();
    let space = cluster.namespace("hooks-way").await.unwrap();
    let operator = start(cluster, &space).await;
    let samples = Resources::new(&space, "Sample");
    let jobs: Api<Job> = space.api();
    let theirs = |name: &str, finalizers: Value| -> Job {
        let pod = json!({"spec": {"restartPolicy": "Never", "nodeSelector": {"test": "nowhere"},
            "containers": [{"name": "main", "image": "x:1"}]}});
        serde_json::from_value(
            json!({"metadata": {"name": name, "finalizers": finalizers}, "spec": {"template": pod}}),
        )
        .unwrap()
    };
    // Without the policy that lets it be deleted it stays, and the hook fails.
    jobs.create(&PostParams::default(), &theirs("a-migrate", json!([]))).await.unwrap();
    let keeps = with(hook("Job", "migrate", "pre-install"), &json!({"policy": "hook-succeeded"}));
    samples.create("a", json!({"hooks": [keeps]})).await.unwrap();
    let a = samples.await_condition(&operator, "a", "Stalled", "True").await.unwrap();
    assert_eq!(
        condition(&a, "Ready").unwrap()["message"],
        "hook Job.batch a-migrate (pre-install) failed: an object of its name is there, and its delete policy has no before-hook-creation"
    );
    // With it, it goes, whoever made it, as with Helm; while it cannot, the hook waits.
    jobs.create(&PostParams::default(), &theirs("b-migrate", json!(["test.pintle.dev/hold"]))).await.unwrap();
    samples.create("b", json!({"hooks": [hook("Job", "migrate", "pre-install")]})).await.unwrap();
    let b = samples.await_condition(&operator, "b", "Ready", "False").await.unwrap();
    assert_eq!(
        condition(&b, "Ready").unwrap()["message"],
        format!(
            "hook Job.batch b-migrate (pre-install) waits for the Job.batch {}/b-migrate before it to be gone (finalizers test.pintle.dev/hold)",
            space.name()
        )
    );
    let release = Patch::Merge(json!({"metadata": {"finalizers": null}}));
    jobs.patch("b-migrate", &PatchParams::default(), &release).await.unwrap();
    samples.ready(&operator, "b").await.unwrap();
    // Another instance's is left alone.
    samples.create("c", json!({"hooks": [held("Job", "x", "post-install")]})).await.unwrap();
    phase(&samples, &operator, "c", "c-x", "Running").await.unwrap();
    let label = Patch::Merge(json!({"metadata": {"labels": {"pintle.dev/hook-of": "applyset-other-v1"}}}));
    jobs.patch("c-x", &PatchParams::default(), &label).await.unwrap();
    samples.change("c", json!({"hooks": [hook("Job", "x", "post-upgrade")]})).await.unwrap();
    let c = samples.await_condition(&operator, "c", "ReleaseFailed", "True").await.unwrap();
    assert_eq!(condition(&c, "Ready").unwrap()["reason"], "NotOurs");
}

#[tokio::test]
async fn hooks_can_be_switched_off() {
    let cluster = Cluster::shared().await.unwrap();
    let space = cluster.namespace("hooks-off").await.unwrap();
    let operator = start(cluster, &space).await;
    let samples = Resources::new(&space, "Sample");
    samples.create("web", json!({"hooks": [held("Job", "wait", "pre-install")]})).await.unwrap();
    phase(&samples, &operator, "web", "web-wait", "Running").await.unwrap();
    samples.annotate("web", "pintle.dev/hooks", "disabled").await.unwrap();
    let web = samples.ready(&operator, "web").await.unwrap();
    assert_eq!(line(&web, "web-wait").unwrap()["phase"], "NotRun");
}

/// Runs `pintle test`, and gives its exit code, what it printed and what it complained of.
pub async fn pintle_test(cluster: &Cluster, args: &[&str]) -> (Option<i32>, String, String) {
    let output = tokio::process::Command::new(env!("CARGO_BIN_EXE_pintle"))
        .arg("test")
        .args(args)
        .env("KUBECONFIG", cluster.admin().kubeconfig())
        .output()
        .await
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

#[tokio::test]
async fn tests_run_when_asked() {
    let cluster = Cluster::shared().await.unwrap();
    let space = cluster.namespace("hooks-test").await.unwrap();
    let mut operator = start(cluster, &space).await;
    let samples = Resources::new(&space, "Sample");
    let hooks = json!([
        with(hook("Job", "quick", "test"), &json!({"weight": "1"})),
        with(held("Pod", "slow", "test-success"), &json!({"weight": "2", "policy": "before-hook-creation"})),
    ]);
    samples.create("web", json!({"hooks": hooks})).await.unwrap();
    let web = samples.ready(&operator, "web").await.unwrap();
    assert_eq!(line(&web, "web-quick").unwrap()["phase"], "NotRun");
    assert_eq!(web.data["status"]["test"], Value::Null);

    // By the annotation, over a restart, and once.
    samples.annotate("web", "pintle.dev/test", "one").await.unwrap();
    phase(&samples, &operator, "web", "web-slow", "Running").await.unwrap();
    let web = samples.ready(&operator, "web").await.unwrap();
    assert_eq!(web.data["status"]["test"]["phase"], "Running");
    operator.kill().await.unwrap();
    operator.run().await.unwrap();
    let pods: Api<Pod> = space.api();
    let first = uid(&pods, "web-slow").await.unwrap();
    finish(&space, "web-slow", "Succeeded").await;
    phase(&samples, &operator, "web", "web-slow", "Succeeded").await.unwrap();
    let note = samples.event(&operator, "web", "TestsSucceeded").await.unwrap();
    assert_eq!(note, "2 tests have succeeded");
    assert_eq!(uid(&pods, "web-slow").await.unwrap(), first);

    // By the command, which fails with what fails.
    let resource = "sample.test.pintle.dev/web";
    let args = [resource, "-n", space.name()];
    let fail = async {
        wait::until("the Pod is another", wait::PATIENCE, || async {
            Ok((uid(&pods, "web-slow").await? != first).then_some(()))
        })
        .await
        .unwrap();
        finish(&space, "web-slow", "Failed").await;
    };
    let ((code, printed, complaint), ()) = futures::join!(pintle_test(cluster, &args), fail);
    assert_eq!(code, Some(1), "{complaint}");
    for text in
        ["NAME: web\n", "STATUS: Failed\n", "TEST SUITE:     web-quick\n", "Phase:          Succeeded\n"]
    {
        assert!(printed.contains(text), "{text} is not in\n{printed}");
    }
    assert_eq!(
        complaint,
        "Error: hook Pod web-slow (test) failed: container main ended with exit code 1 (Error): no such table\n"
    );
    let web = samples.ready(&operator, "web").await.unwrap();
    assert_eq!(web.data["status"]["test"]["phase"], "Failed", "and the instance is as ready as before");

    // For machines; and a chart without tests.
    samples.change("web", json!({"hooks": []})).await.unwrap();
    let (code, printed, complaint) = pintle_test(cluster, &[&args[..], &["-o", "json"]].concat()).await;
    assert_eq!(code, Some(0), "{complaint}");
    let json: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(json["test"]["message"], "the chart has no tests");
    // Nobody answers.
    operator.stop().await.unwrap();
    let (code, _, complaint) = pintle_test(cluster, &[&args[..], &["--timeout", "1s"]].concat()).await;
    assert_eq!(code, Some(1));
    assert!(complaint.contains("they have not begun: does the operator run?"), "{complaint}");
}
