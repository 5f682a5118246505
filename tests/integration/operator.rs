//! `pintle run` for tests: one operator for one namespace, with a watches file of its own.

use std::{
    fs,
    path::{Path, PathBuf},
    process::ExitStatus,
    sync::atomic::{AtomicUsize, Ordering},
};

use anyhow::{Context as _, Result, anyhow};
use k8s_openapi::{
    api::events::v1::Event, apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
};
use kube::{
    Api, Client,
    api::{ApiResource, DynamicObject, ListParams, Patch, PatchParams, PostParams},
    runtime::wait::conditions,
};
use rustix::process::Signal;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::harness::{
    Between, Cluster, Credentials, Grant, Metrics, Namespace, Process, process, rule, wait,
};

/// The kinds of the test chart. An operator of another namespace may have another chart for them.
pub const GROUP: &str = "test.pintle.dev";
/// The kinds that [`install_kinds`] makes.
const KINDS: [(&str, &str); 2] = [("Sample", "samples"), ("Other", "others")];

/// A running operator, and what it was started with.
pub struct Operator {
    process: Option<Process>,
    scratch: TempDir,
    credentials: Credentials,
    namespace: String,
    arguments: Vec<String>,
    runs: AtomicUsize,
}

/// The test chart.
pub fn sample() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/integration/charts/sample")
}

/// An entry of a watches file.
pub fn entry(kind: &str, chart: &Path) -> Value {
    json!({ "group": GROUP, "version": "v1", "kind": kind, "chart": chart })
}

/// A namespace with an operator for the kind Sample, of this chart, whose definition has this `pintle` key.
pub async fn start(prefix: &str, chart: &Path, pintle: Value) -> Result<(Namespace, Operator, Resources)> {
    let cluster = Cluster::shared().await?;
    let space = cluster.namespace(prefix).await?;
    let mut definition = entry("Sample", chart);
    definition["pintle"] = pintle;
    let operator = Operator::start(cluster, &space, &[definition], &[]).await?;
    let samples = Resources::new(&space, "Sample");
    Ok((space, operator, samples))
}

/// The API of a kind of [`GROUP`].
pub fn kind(kind: &str) -> ApiResource {
    let plural = KINDS.iter().find(|(k, _)| *k == kind).map_or("", |(_, plural)| plural);
    ApiResource {
        group: GROUP.into(),
        version: "v1".into(),
        api_version: format!("{GROUP}/v1"),
        kind: kind.into(),
        plural: plural.into(),
    }
}

/// Makes the kinds of [`GROUP`], whose specs are open.
pub async fn install_kinds(client: &Client) -> Result<()> {
    let open = json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true });
    for (kind, plural) in KINDS {
        let crd = json!({
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": { "name": format!("{plural}.{GROUP}") },
            "spec": {
                "group": GROUP,
                "scope": "Namespaced",
                "names": { "kind": kind, "plural": plural },
                "versions": [{ "name": "v1", "served": true, "storage": true, "subresources": { "status": {} },
                    "schema": { "openAPIV3Schema": { "type": "object", "properties": { "spec": open, "status": open } } } }],
            },
        });
        install_crd(client, &crd).await?;
    }
    Ok(())
}

/// Makes a kind, and waits until it is served.
pub async fn install_crd(client: &Client, crd: &Value) -> Result<()> {
    let crds: Api<CustomResourceDefinition> = Api::all(client.clone());
    let name = crd["metadata"]["name"].as_str().context("a name")?;
    crds.patch(name, &PatchParams::apply("test").force(), &Patch::Apply(crd)).await?;
    wait::object(&crds, name, "it is served", conditions::is_crd_established()).await?;
    Ok(())
}

impl Operator {
    /// Starts an operator for the test chart as `Sample` in a namespace, which it can do anything in, and waits until it is
    /// ready.
    pub async fn sample(cluster: &Cluster, space: &Namespace) -> Result<Self> {
        Self::start(cluster, space, &[entry("Sample", &sample())], &[]).await
    }

    /// Starts an operator with these entries in its watches file and these further flags.
    pub async fn start(
        cluster: &Cluster,
        space: &Namespace,
        entries: &[Value],
        flags: &[&str],
    ) -> Result<Self> {
        let mut operator = Self::new(cluster, space, entries, flags).await?;
        operator.run().await?;
        Ok(operator)
    }

    /// An operator that is not running yet.
    pub async fn new(
        cluster: &Cluster,
        space: &Namespace,
        entries: &[Value],
        flags: &[&str],
    ) -> Result<Self> {
        install_kinds(&cluster.client().await?).await?;
        let all = rule(&["*"], &["*"], &["*"]);
        let credentials = cluster.user(space.name(), &[Grant::Everywhere(vec![all])]).await?;
        let scratch = tempfile::tempdir()?;
        fs::write(scratch.path().join("watches.yaml"), serde_yaml::to_string(entries)?)?;
        let mut arguments: Vec<String> =
            ["run", "--metrics-bind-address", "127.0.0.1:0"].map(Into::into).to_vec();
        arguments.extend(["--health-probe-bind-address", "127.0.0.1:0"].map(Into::into));
        arguments.extend(flags.iter().map(ToString::to_string));
        Ok(Operator {
            process: None,
            scratch,
            credentials,
            namespace: space.name().into(),
            arguments,
            runs: AtomicUsize::new(0),
        })
    }

    /// Lets it watch other namespaces, as `WATCH_NAMESPACE` names them.
    pub fn watching(self, namespaces: &str) -> Self {
        Operator { namespace: namespaces.into(), ..self }
    }

    /// Has the operator be somebody else at its next start.
    pub fn act_as(&mut self, credentials: Credentials) {
        self.credentials = credentials;
    }

    /// Starts the operator, again perhaps, and waits until it is ready.
    pub async fn run(&mut self) -> Result<()> {
        let run = self.runs.fetch_add(1, Ordering::Relaxed);
        self.process = Some(Process::start(&process::Spec {
            program: env!("CARGO_BIN_EXE_pintle").into(),
            args: self.arguments.clone(),
            env: [
                ("KUBECONFIG", self.credentials.kubeconfig().display().to_string()),
                ("WATCH_NAMESPACE", self.namespace.clone()),
                ("PINTLE_LOG", "pintle=debug,warn".to_owned()),
            ]
            .map(|(name, value)| (name.to_owned(), value))
            .to_vec(),
            dir: self.scratch.path().to_owned(),
            log: self.scratch.path().join(format!("run-{run}.log")),
        })?);
        self.until("the operator is ready", || async {
            Ok((self.get("health-probe", "/readyz").await?.0 == 200).then_some(()))
        })
        .await
    }

    fn process(&self) -> Result<&Process> {
        self.process.as_ref().context("the operator is not running")
    }

    /// Waits until an attempt gives something. When it does not, the error shows the end of the log.
    pub async fn until<T, F>(&self, what: &str, attempt: impl FnMut() -> F) -> Result<T>
    where
        F: Future<Output = Result<Option<T>>>,
    {
        let process = self.process()?;
        let ended = async {
            process.wait().await?;
            process.check()?;
            Err(anyhow!("the operator ended"))
        };
        let waited = wait::until(what, wait::PATIENCE, attempt);
        tokio::select! {
            result = waited => result.map_err(|error| {
                error.context(format!("the operator's log ends:\n{}", process::tail(process.log(), 40)))
            }),
            ended = ended => ended,
        }
    }

    /// What the operator has logged in this run.
    pub fn log(&self) -> Result<String> {
        Ok(fs::read_to_string(self.process()?.log())?)
    }

    /// Lets the next run reach the API server by another address.
    pub fn go_through(&self, address: &str) -> Result<()> {
        let path = self.credentials.kubeconfig();
        let mut config: Value = serde_yaml::from_str(&fs::read_to_string(path)?)?;
        config["clusters"][0]["cluster"]["server"] = address.into();
        Ok(fs::write(path, serde_yaml::to_string(&config)?)?)
    }

    /// Lets the next run reach the API server by a way of the test's.
    pub async fn go_between(&self) -> Result<Between> {
        let between = Between::of(&self.credentials).await?;
        self.go_through(between.address())?;
        Ok(between)
    }

    /// Waits until it has asked for nothing for a while: Events are written behind the work.
    pub async fn quiet(&self, cluster: &Cluster) -> Result<()> {
        self.until("the operator is quiet", || async {
            let mark = cluster.audit_mark()?;
            tokio::time::sleep(std::time::Duration::from_secs(4)).await;
            let busy = cluster.requests_since(mark)?.iter().any(|r| r.user == self.user());
            Ok((!busy).then_some(()))
        })
        .await
    }

    /// The file that it logs to in this run.
    pub fn log_file(&self) -> Result<PathBuf> {
        Ok(self.process()?.log().to_owned())
    }

    /// Sends a signal.
    pub fn signal(&self, signal: Signal) -> Result<()> {
        self.process()?.signal(signal)
    }

    /// Waits until it has ended by itself.
    pub async fn ended(&self) -> Result<ExitStatus> {
        self.process()?.wait().await
    }

    /// Sends SIGKILL and waits for the end.
    pub async fn kill(&mut self) -> Result<()> {
        if let Some(process) = self.process.take() {
            process.kill().await?;
        }
        Ok(())
    }

    /// Sends SIGTERM, waits for the end, and sees that it was a good one.
    pub async fn stop(&mut self) -> Result<()> {
        if let Some(process) = self.process.take() {
            let status = process.terminate().await?;
            if !status.success() {
                return Err(anyhow!("{status}:\n{}", process::tail(process.log(), 30)));
            }
        }
        Ok(())
    }

    /// Who the operator is to the API server.
    pub fn user(&self) -> &str {
        self.credentials.user()
    }

    /// The number of its process.
    pub fn pid(&self) -> Result<u32> {
        Ok(self.process()?.pid())
    }

    /// Its resident memory in bytes, without the pages of the binary, which an unoptimised build has many of. The benchmark
    /// counts those of the optimised one as well.
    pub fn memory(&self) -> Result<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.pid()?))?;
        let size = |field: &str| -> Result<u64> {
            let line =
                status.lines().find_map(|l| l.strip_prefix(field)).with_context(|| field.to_owned())?;
            Ok(line.split_whitespace().next().context("kB")?.parse::<u64>()? * 1024)
        };
        Ok(size("RssAnon:")? + size("RssShmem:")?)
    }

    /// Its metrics.
    pub async fn metrics(&self) -> Result<Metrics> {
        Metrics::parse(&self.get("metrics", "/metrics").await?.1)
    }

    /// Answer of one of its servers: the code and the text. `server` is as in the flag: `metrics`, `health-probe`.
    pub async fn get(&self, server: &str, path: &str) -> Result<(u16, String)> {
        let what = if server == "metrics" { "serving /metrics" } else { "serving /healthz" };
        let log = self.log()?;
        let line = log.lines().find(|l| l.contains(what)).context("the server has not started")?;
        let address = line.rsplit_once("address=").context("an address")?.1.split_whitespace().next();
        let answer = reqwest::get(format!("http://{}{path}", address.context("an address")?)).await?;
        Ok((answer.status().as_u16(), answer.text().await?))
    }
}

/// Custom resources of a kind in a namespace.
pub struct Resources {
    api: Api<DynamicObject>,
    resource: ApiResource,
    events: Api<Event>,
}

impl Resources {
    /// Those of a kind of [`GROUP`].
    pub fn new(space: &Namespace, name: &str) -> Self {
        Self::of(space, kind(name))
    }

    /// Those of any kind.
    pub fn of(space: &Namespace, resource: ApiResource) -> Self {
        Resources { api: space.dynamic(&resource), resource, events: space.api() }
    }

    /// Those of any cluster-scoped kind; their Events are in the namespace default.
    pub fn everywhere(client: &Client, resource: ApiResource) -> Self {
        let api = Api::all_with(client.clone(), &resource);
        Resources { api, resource, events: Api::namespaced(client.clone(), "default") }
    }

    /// The API.
    pub fn api(&self) -> &Api<DynamicObject> {
        &self.api
    }

    /// Creates one.
    pub async fn create(&self, name: &str, spec: Value) -> Result<DynamicObject> {
        let object = json!({ "apiVersion": self.resource.api_version, "kind": self.resource.kind,
            "metadata": { "name": name }, "spec": spec });
        Ok(self.api.create(&PostParams::default(), &serde_json::from_value(object)?).await?)
    }

    /// Merges into the spec of one.
    pub async fn change(&self, name: &str, spec: Value) -> Result<DynamicObject> {
        Ok(self.api.patch(name, &PatchParams::default(), &Patch::Merge(json!({ "spec": spec }))).await?)
    }

    /// Asks, by the annotation, for everything to be applied again, and waits until a reconcile that a change of metadata
    /// triggered has come after it.
    pub async fn look_again(&self, operator: &Operator, name: &str, value: &str) -> Result<()> {
        let looks = || Ok::<_, anyhow::Error>(operator.log()?.matches("metadata changed").count());
        let before = looks()?;
        self.annotate(name, "pintle.dev/reconcile", value).await?;
        operator
            .until("the annotation was acted on", || async { Ok((looks()? > before).then_some(())) })
            .await
    }

    /// Sets an annotation.
    pub async fn annotate(&self, name: &str, key: &str, value: &str) -> Result<()> {
        let patch = json!({ "metadata": { "annotations": { key: value } } });
        self.api.patch(name, &PatchParams::default(), &Patch::Merge(patch)).await?;
        Ok(())
    }

    /// Waits until a condition of the current generation has a status, and gives the object.
    pub async fn await_condition(
        &self,
        operator: &Operator,
        name: &str,
        r#type: &str,
        status: &str,
    ) -> Result<DynamicObject> {
        let result = operator
            .until(&format!("{name} is {type}={status}"), || async {
                let object = self.api.get(name).await?;
                let current =
                    object.data["status"]["observedGeneration"].as_i64() == object.metadata.generation;
                let holds = condition(&object, r#type).is_some_and(|c| c["status"] == status);
                Ok((current && holds).then_some(object))
            })
            .await;
        match result {
            Ok(object) => Ok(object),
            Err(error) => {
                let object = self.api.get(name).await?;
                Err(error.context(format!("{name} has the status {}", object.data["status"])))
            }
        }
    }

    /// Waits until one is ready in its current generation.
    pub async fn ready(&self, operator: &Operator, name: &str) -> Result<DynamicObject> {
        self.await_condition(operator, name, "Ready", "True").await
    }

    /// Waits until an Event with this reason is there about one, and gives its note.
    pub async fn event(&self, operator: &Operator, name: &str, reason: &str) -> Result<String> {
        operator
            .until(&format!("an Event {reason} about {name}"), || async {
                let events = self.events.list(&ListParams::default()).await?;
                Ok(events.items.into_iter().find_map(|e| {
                    let about = e.regarding.as_ref().and_then(|r| r.name.as_deref()) == Some(name);
                    (about && e.reason.as_deref() == Some(reason)).then_some(e.note.unwrap_or_default())
                }))
            })
            .await
    }
}

/// A condition of an object.
pub fn condition<'a>(object: &'a DynamicObject, r#type: &str) -> Option<&'a Value> {
    object.data["status"]["conditions"].as_array()?.iter().find(|c| c["type"] == r#type)
}

/// The id of an object's set.
pub fn set_of(object: &DynamicObject) -> String {
    object
        .metadata
        .labels
        .as_ref()
        .and_then(|l| l.get("applyset.kubernetes.io/id"))
        .cloned()
        .unwrap_or_default()
}
