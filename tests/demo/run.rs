//! `make demo`: the operator at work on a real control plane, as a person would watch it.
#![allow(clippy::print_stdout, reason = "it talks to the person who started it")]

#[path = "../harness/mod.rs"]
mod harness;
mod say;

use std::{
    env,
    path::PathBuf,
    pin::pin,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use futures::StreamExt as _;
use harness::{Cluster, Credentials, Options, Process, process, wait};
use kube::{
    Api,
    api::{ApiResource, DynamicObject, GroupVersionKind},
    runtime::watcher::{self, Event, watcher},
};
use serde_json::Value;
use tokio::signal::unix::{SignalKind, signal};

const NAMESPACE: &str = "demo";
const RESOURCE: &str = "\
apiVersion: charts.pintle.dev/v1alpha1
kind: Prometheus
metadata:
  name: main
  namespace: demo
spec:
  replicas: 2
  retention: 15d
  storage:
    size: 10Gi
    whenDeleted: Delete
";
/// Children of the Prometheus `main`.
const CHILD: &str = "main-prometheus";
/// What the cascade from a kind that was just defined may take: the garbage collector learns of new kinds by and by.
const CASCADE: Duration = Duration::from_secs(120);

#[tokio::main]
async fn main() -> Result<()> {
    let mut terminated = signal(SignalKind::terminate())?;
    tokio::select! {
        done = demo() => done,
        _ = tokio::signal::ctrl_c() => Ok(()),
        _ = terminated.recv() => Ok(()),
    }
}

async fn demo() -> Result<()> {
    say::title("A control plane: kube-apiserver, etcd, controller manager, scheduler, simulated nodes");
    let started = Instant::now();
    let stage = Stage { cluster: Cluster::start(Options::default()).await? };
    say::took("ready", started.elapsed());
    stage.install().await?;
    let operator = stage.operator()?;
    if let Err(error) = stage.play().await {
        println!("\nThe operator's log ends with:\n{}", process::tail(operator.log(), 20));
        return Err(error);
    }
    say::title("The operator stops");
    let status = operator.terminate().await?;
    println!("  {status}");
    Ok(())
}

struct Stage {
    cluster: Cluster,
}

impl Stage {
    async fn play(&self) -> Result<()> {
        self.create().await?;
        self.update().await?;
        self.break_and_watch().await?;
        self.delete().await
    }

    fn admin(&self) -> &Credentials {
        self.cluster.admin()
    }

    /// Runs kubectl, shows the command and what it prints.
    async fn kubectl(&self, args: &[&str], stdin: &str) -> Result<String> {
        say::command("kubectl", args);
        let output = self.admin().run("kubectl", args, stdin).await?;
        ensure!(output.success, "kubectl failed: {}", output.stderr);
        say::output(&output.stdout);
        Ok(output.stdout)
    }

    async fn api(&self, group: &str, version: &str, kind: &str) -> Result<Api<DynamicObject>> {
        let resource = ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, kind));
        Ok(Api::namespaced_with(self.cluster.client().await?, NAMESPACE, &resource))
    }

    async fn install(&self) -> Result<()> {
        say::title("The kinds: one CustomResourceDefinition per chart");
        let crds = root().join("crds").display().to_string();
        self.kubectl(&["apply", "-f", &crds], "").await?;
        let established = ["wait", "--for=condition=Established", "--timeout=30s", "crd", "--all"];
        ensure!(self.admin().run("kubectl", &established, "").await?.success, "the kinds are not served");
        self.kubectl(&["create", "namespace", NAMESPACE], "").await?;
        // The API server publishes the schema of a kind a moment after it serves the kind.
        let explain = ["explain", "prometheus.spec.retention"];
        wait::until("the kinds are explained", wait::PATIENCE, || async {
            let explained = self.admin().run("kubectl", &explain, "").await?.success;
            Ok(explained.then_some(()))
        })
        .await?;
        self.kubectl(&explain, "").await?;
        Ok(())
    }

    fn operator(&self) -> Result<Process> {
        say::title("The operator");
        let program = program()?;
        let watches = self.watches_file()?;
        let watches = watches.display().to_string();
        let args = [
            "run",
            "--watches-file",
            &watches,
            "--metrics-bind-address=0",
            "--health-probe-bind-address=0",
            "--reconcile-period=0s",
        ];
        say::command("pintle", &args[..3]);
        let kubeconfig = self.admin().kubeconfig().display().to_string();
        let operator = self.cluster.run(&program, &args, &[("KUBECONFIG", &kubeconfig)], "pintle")?;
        println!("  its log is in {}", operator.log().display());
        Ok(operator)
    }

    /// The watches file of the deployment with the charts of this repository, wherever the operator runs.
    fn watches_file(&self) -> Result<PathBuf> {
        let text = std::fs::read_to_string(root().join("deploy/watches.yaml"))?;
        let text = text.replace("chart: charts/", &format!("chart: {}/", root().join("charts").display()));
        let path = self.cluster.dir().join("watches.yaml");
        std::fs::write(&path, text)?;
        Ok(path)
    }

    async fn create(&self) -> Result<()> {
        say::title("A Prometheus with 2 replicas");
        say::output(RESOURCE);
        let started = Instant::now();
        self.kubectl(&["apply", "-f", "-"], RESOURCE).await?;
        self.settled(2).await?;
        say::took("applied, and its Pods are running", started.elapsed());
        self.tree().await
    }

    async fn update(&self) -> Result<()> {
        say::title("3 replicas, and samples kept for 30 days");
        let started = Instant::now();
        let patch = r#"{"spec": {"replicas": 3, "retention": "30d"}}"#;
        self.kubectl(&["-n", NAMESPACE, "patch", "prometheus", "main", "--type=merge", "-p", patch], "")
            .await?;
        self.settled(3).await?;
        say::took("rolled out", started.elapsed());
        self.tree().await?;
        say::title("What the API server refuses, by the chart's own schema");
        let patch = r#"{"spec": {"replicas": 0, "version": "latest"}}"#;
        let args = ["-n", NAMESPACE, "patch", "prometheus", "main", "--type=merge", "-p", patch];
        say::command("kubectl", &args);
        let refused = self.admin().run("kubectl", &args, "").await?;
        ensure!(!refused.success, "a Prometheus of 0 replicas was accepted");
        say::output(&refused.stderr);
        Ok(())
    }

    /// Breaks the Service and the StatefulSet by hand, and shows how long they stay broken.
    async fn break_and_watch(&self) -> Result<()> {
        say::title("Somebody breaks things by hand");
        let services = self.api("", "v1", "Service").await?;
        let sets = self.api("apps", "v1", "StatefulSet").await?;

        let selector =
            |o: &DynamicObject| o.data.pointer("/spec/selector/app.kubernetes.io~1instance").cloned();
        let patch = r#"{"spec": {"selector": {"app.kubernetes.io/instance": "broken"}}}"#;
        let broken = ["-n", NAMESPACE, "patch", "service", CHILD, "-p", patch];
        self.repaired(&services, "the Service selects its Pods again", &broken, move |o| {
            selector(o) == Some(Value::from("main"))
        })
        .await?;

        let replicas = |o: &DynamicObject| o.data.pointer("/spec/replicas").and_then(Value::as_i64);
        let scaled = ["-n", NAMESPACE, "scale", "statefulset", CHILD, "--replicas=1"];
        self.repaired(&sets, "the StatefulSet has its 3 replicas again", &scaled, move |o| {
            replicas(o) == Some(3)
        })
        .await?;

        let before = services.get(CHILD).await?.metadata.uid;
        let deleted = ["-n", NAMESPACE, "delete", "service", CHILD, "--wait=false"];
        self.repaired(&services, "the Service is back", &deleted, move |o| o.metadata.uid != before).await?;
        self.settled(3).await?;
        self.kubectl(
            &[
                "-n",
                NAMESPACE,
                "get",
                "events",
                "--field-selector=involvedObject.kind=Prometheus",
                "-o=custom-columns=REASON:.reason,MESSAGE:.message",
            ],
            "",
        )
        .await?;
        Ok(())
    }

    /// Runs the kubectl command that breaks something, and measures, as a watch sees it, from the change until the object is
    /// as `whole` wants it.
    async fn repaired(
        &self,
        api: &Api<DynamicObject>,
        what: &str,
        args: &[&str],
        whole: impl Fn(&DynamicObject) -> bool,
    ) -> Result<()> {
        let named = watcher::Config::default().fields(&format!("metadata.name={CHILD}"));
        let mut events = pin!(watcher(api.clone(), named));
        let mut next = async || {
            tokio::time::timeout(wait::PATIENCE, events.next())
                .await
                .with_context(|| format!("waited in vain until {what}"))?
                .context("the watch ended")?
                .map_err(anyhow::Error::from)
        };
        // The watch is open before the command runs.
        while !matches!(next().await?, Event::InitDone) {}
        self.kubectl(args, "").await?;
        let mut broken = None;
        loop {
            let repaired = match next().await? {
                Event::Apply(object) | Event::InitApply(object) => whole(&object),
                Event::Delete(_) | Event::Init | Event::InitDone => false,
            };
            match broken {
                None if !repaired => broken = Some(Instant::now()),
                Some(since) if repaired => {
                    say::took(what, Instant::now() - since);
                    return Ok(());
                }
                _ => {}
            }
        }
    }

    async fn delete(&self) -> Result<()> {
        say::title("The resource is deleted");
        let started = Instant::now();
        self.kubectl(&["-n", NAMESPACE, "delete", "prometheus", "main"], "").await?;
        let kinds = "statefulsets,services,configmaps,pods,persistentvolumeclaims,secrets";
        let left = ["-n", NAMESPACE, "get", kinds, "-o=name", "-l=app.kubernetes.io/instance=main"];
        println!("  waiting for the cluster's garbage collector, which learns of new kinds every 30 seconds");
        wait::until("nothing is left of it", CASCADE, || async {
            let output = self.admin().run("kubectl", &left, "").await?;
            ensure!(output.success, "kubectl failed: {}", output.stderr);
            Ok(output.stdout.trim().is_empty().then_some(()))
        })
        .await?;
        say::command("kubectl", &left);
        say::took("nothing is left", started.elapsed());
        Ok(())
    }

    /// Waits until the Prometheus is ready with that many Pods, at its newest generation.
    async fn settled(&self, replicas: i64) -> Result<()> {
        let ready = |object: Option<&DynamicObject>| {
            object.is_some_and(|o| {
                let status = |path| o.data.pointer(path);
                let conditions = status("/status/conditions").and_then(Value::as_array);
                status("/status/observedGeneration").and_then(Value::as_i64) == o.metadata.generation
                    && conditions
                        .is_some_and(|all| all.iter().any(|c| c["type"] == "Ready" && c["status"] == "True"))
            })
        };
        let kind = self.api("charts.pintle.dev", "v1alpha1", "Prometheus").await?;
        wait::object(&kind, "main", "it is ready", ready).await?;
        let running = move |object: Option<&DynamicObject>| {
            object.and_then(|o| o.data.pointer("/status/readyReplicas")?.as_i64()) == Some(replicas)
        };
        wait::object(&self.api("apps", "v1", "StatefulSet").await?, CHILD, "its Pods are ready", running)
            .await?;
        Ok(())
    }

    async fn tree(&self) -> Result<()> {
        self.kubectl(&["-n", NAMESPACE, "get", "prometheus"], "").await?;
        let kinds = "configmaps,services,statefulsets,pods,persistentvolumeclaims";
        let args = ["-n", NAMESPACE, "get", kinds, "-o=json", "-l=app.kubernetes.io/instance=main"];
        let output = self.admin().run("kubectl", &args, "").await?;
        ensure!(output.success, "kubectl failed: {}", output.stderr);
        let list: Value = serde_json::from_str(&output.stdout)?;
        let children = list["items"].as_array().context("kubectl printed no list")?;
        say::tree("Prometheus/main", children);
        Ok(())
    }
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The `pintle` that was built beside this program.
fn program() -> Result<PathBuf> {
    let examples = env::current_exe()?;
    let program = examples.parent().and_then(|dir| dir.parent()).context("no target folder")?.join("pintle");
    ensure!(program.exists(), "{} is not built: run `make demo`", program.display());
    Ok(program)
}
