//! What is measured: a chart, and the operator that serves it.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use anyhow::{Context as _, Result, anyhow};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{
    Api, Client,
    api::{ApiResource, DynamicObject, Patch, PatchParams},
    core::PartialObjectMeta,
    runtime::wait::conditions,
};
use pintle::{
    controller::{
        charts::ChartRenderer,
        renderer::{Input, Renderer},
    },
    render::{Capabilities, NoCluster},
};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::harness::{Cluster, Credentials, Grant, Metrics, Namespace, Process, process, rule, wait};

const GROUP: &str = "bench.pintle.dev";

/// All rights.
pub fn everything() -> Grant<'static> {
    Grant::Everywhere(vec![rule(&["*"], &["*"], &["*"])])
}

/// A chart on the disk.
pub struct Chart {
    path: PathBuf,
    renderer: ChartRenderer,
    _dir: Option<TempDir>,
}

impl Chart {
    /// The chart that `helm create` makes: a ServiceAccount, a Service and a Deployment.
    pub async fn of_helm_create(cluster: &Cluster) -> Result<Self> {
        let dir = tempfile::tempdir()?;
        let path = dir.path().join("bench");
        let made = cluster.admin().run("helm", &["create", &path.display().to_string()], "").await?;
        if !made.success {
            return Err(anyhow!("helm create: {}", made.stderr));
        }
        Ok(Chart { renderer: ChartRenderer::load(&path)?, path, _dir: Some(dir) })
    }

    /// The chart of the integration tests, which has as many ConfigMaps as it is told beside a Service and a Deployment.
    pub fn with_members() -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/integration/charts/sample");
        Chart { renderer: ChartRenderer::load(&path).expect("the test chart loads"), path, _dir: None }
    }

    /// The objects of a release.
    pub fn render(&self, name: &str, namespace: &str, spec: &Value) -> Result<Vec<Value>> {
        let lookup: Arc<dyn pintle::render::Lookup> = Arc::new(NoCluster);
        let capabilities = Arc::new(Capabilities::default());
        let render = self.renderer.render(&Input {
            spec: &spec.to_string(),
            overrides: &[],
            unset: "",
            name,
            namespace,
            revision: 1,
            capabilities: &capabilities,
            generated: &Arc::default(),
            lookup: &lookup,
        })?;
        Ok(render.objects.into_iter().map(|r| r.object).collect())
    }
}

/// The API of an object, by the plurals of what the charts make.
pub fn api_of(
    client: Client,
    object: &Value,
    namespace: &str,
) -> Result<Api<PartialObjectMeta<DynamicObject>>> {
    let text = |key: &str| object[key].as_str().context("an object");
    let (api_version, kind) = (text("apiVersion")?, text("kind")?);
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    let resource = ApiResource {
        group: group.into(),
        version: version.into(),
        api_version: api_version.into(),
        kind: kind.into(),
        plural: format!("{}s", kind.to_lowercase()),
    };
    Ok(Api::namespaced_with(client, namespace, &resource))
}

/// Whether a resource says that its release is deployed.
pub fn is_deployed(o: &DynamicObject) -> bool {
    o.data["status"]["conditions"]
        .as_array()
        .is_some_and(|c| c.iter().any(|c| c["type"] == "Deployed" && c["status"] == "True"))
}

/// The binary of the operator, optimised as it is shipped.
pub fn program() -> PathBuf {
    env!("CARGO_BIN_EXE_pintle").into()
}

/// An operator that runs.
pub struct Subject {
    program: PathBuf,
    process: Option<Process>,
    credentials: Credentials,
    scratch: TempDir,
    namespace: String,
    runs: usize,
}

impl Subject {
    /// Starts it for a chart in a namespace, and waits until it is ready.
    pub async fn start(cluster: &Cluster, space: &Namespace, chart: &Chart, program: &Path) -> Result<Self> {
        let open = json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true });
        let crd = json!({
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": { "name": format!("benches.{GROUP}") },
            "spec": { "group": GROUP, "scope": "Namespaced", "names": { "kind": "Bench", "plural": "benches" },
                "versions": [{ "name": "v1", "served": true, "storage": true, "subresources": { "status": {} },
                    "schema": { "openAPIV3Schema": { "type": "object", "properties": { "spec": open, "status": open } } } }] },
        });
        let crds: Api<CustomResourceDefinition> = Api::all(cluster.client().await?);
        let name = format!("benches.{GROUP}");
        crds.patch(&name, &PatchParams::apply("bench").force(), &Patch::Apply(&crd)).await?;
        wait::object(&crds, &name, "it is served", conditions::is_crd_established()).await?;
        // The API server holds back what is created of a kind in its first two seconds.
        let first = Self::object("first", &json!({}));
        let probe = Self::api(space);
        probe.create(&kube::api::PostParams::default(), &first).await?;
        probe.delete("first", &kube::api::DeleteParams::default()).await?;
        let scratch = tempfile::tempdir()?;
        let watches = json!([{ "group": GROUP, "version": "v1", "kind": "Bench", "chart": chart.path }]);
        fs::write(scratch.path().join("watches.yaml"), serde_yaml::to_string(&watches)?)?;
        let credentials = cluster.user("bench", &[everything()]).await?;
        let mut subject = Subject {
            program: program.to_owned(),
            process: None,
            credentials,
            scratch,
            namespace: space.name().into(),
            runs: 0,
        };
        subject.run().await?;
        Ok(subject)
    }

    /// Starts the process.
    pub async fn run(&mut self) -> Result<()> {
        self.runs += 1;
        let args =
            ["run", "--metrics-bind-address", "127.0.0.1:0", "--health-probe-bind-address", "127.0.0.1:0"];
        self.process = Some(Process::start(&process::Spec {
            program: self.program.clone(),
            args: args.map(str::to_owned).to_vec(),
            env: [
                ("KUBECONFIG", self.credentials.kubeconfig().display().to_string()),
                ("WATCH_NAMESPACE", self.namespace.clone()),
                // As in the image and the chart of deploy/.
                ("MALLOC_ARENA_MAX", "1".into()),
            ]
            .map(|(name, value)| (name.to_owned(), value))
            .to_vec(),
            dir: self.scratch.path().to_owned(),
            log: self.scratch.path().join(format!("run-{}.log", self.runs)),
        })?);
        wait::until("the operator is ready", wait::PATIENCE, || async {
            Ok((self.get("serving /healthz", "/readyz").await?.0 == 200).then_some(()))
        })
        .await
    }

    /// Ends the process.
    pub async fn stop(&mut self) -> Result<()> {
        if let Some(process) = self.process.take() {
            process.terminate().await?;
        }
        Ok(())
    }

    /// Waits until so many resources were looked at in this run.
    #[allow(clippy::cast_precision_loss, reason = "a count")]
    pub async fn looked_at_all(&self, n: usize) -> Result<()> {
        wait::until("all were looked at", Duration::from_secs(600), || async {
            let metrics = Metrics::parse(&self.get("serving /metrics", "/metrics").await?.1)?;
            let seen = metrics.sum("pintle_reconciles_total", &[("trigger", "start")]);
            Ok((seen >= n as f64).then_some(()))
        })
        .await
    }

    /// The API of the resources.
    pub fn resources(&self, space: &Namespace) -> Api<DynamicObject> {
        Self::api(space)
    }

    fn api(space: &Namespace) -> Api<DynamicObject> {
        space.dynamic(&ApiResource {
            group: GROUP.into(),
            version: "v1".into(),
            api_version: format!("{GROUP}/v1"),
            kind: "Bench".into(),
            plural: "benches".into(),
        })
    }

    /// A resource.
    pub fn resource(&self, name: &str, spec: &Value) -> DynamicObject {
        Self::object(name, spec)
    }

    fn object(name: &str, spec: &Value) -> DynamicObject {
        serde_json::from_value(json!({ "apiVersion": format!("{GROUP}/v1"), "kind": "Bench",
            "metadata": { "name": name }, "spec": spec }))
        .expect("it is an object")
    }

    /// Who it is to the API server.
    pub fn user(&self) -> &str {
        self.credentials.user()
    }

    fn proc(&self, file: &str) -> Result<String> {
        let pid = self.process.as_ref().context("the operator is not running")?.pid();
        Ok(fs::read_to_string(format!("/proc/{pid}/{file}"))?)
    }

    /// The CPU time that it has used.
    pub fn cpu(&self) -> Result<Duration> {
        let stat = self.proc("stat")?;
        // After the name in parentheses; in ticks of a hundredth of a second.
        let fields: Vec<&str> = stat.rsplit_once(')').context("stat")?.1.split_whitespace().collect();
        let ticks: u64 = fields[11].parse::<u64>()? + fields[12].parse::<u64>()?;
        Ok(Duration::from_millis(ticks * 10))
    }

    /// Its resident memory in bytes.
    pub fn memory(&self) -> Result<u64> {
        self.status("VmRSS:")
    }

    /// The most that it was.
    pub fn peak_memory(&self) -> Result<u64> {
        self.status("VmHWM:")
    }

    fn status(&self, field: &str) -> Result<u64> {
        let status = self.proc("status")?;
        let line = status.lines().find_map(|l| l.strip_prefix(field)).context("status")?;
        Ok(line.split_whitespace().next().context("kB")?.parse::<u64>()? * 1024)
    }

    async fn get(&self, server: &str, path: &str) -> Result<(u16, String)> {
        let process = self.process.as_ref().context("the operator is not running")?;
        process.check()?;
        let log = fs::read_to_string(process.log())?;
        let line = log.lines().find(|l| l.contains(server)).context("the server has not started")?;
        let address = line.rsplit_once("address=").context("an address")?.1.split_whitespace().next();
        let answer = reqwest::get(format!("http://{}{path}", address.context("an address")?)).await?;
        Ok((answer.status().as_u16(), answer.text().await?))
    }
}
