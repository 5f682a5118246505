//! One cluster, from its start to its end.

use std::{
    env,
    fs::{self, Permissions},
    net::{Ipv4Addr, SocketAddr},
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result, bail};
use k8s_openapi::api::core::v1::{Node, ServiceAccount};
use kube::{Api, Client, api::PostParams, runtime::wait::conditions};
use serde_json::json;
use tokio::{
    net::TcpSocket,
    runtime::{Handle, Runtime},
    sync::{Mutex, OnceCell},
};

use super::{
    access::{Credentials, Proof},
    certificates::{self, Authority},
    process::{self, Janitor, Process, Spec},
    programs::{self, Layout},
    storage, wait,
};

/// The variable that names the folder of a running cluster (`make cluster-up` prints it), for [`Cluster::shared`].
pub const ATTACH: &str = "PINTLE_TEST_CLUSTER";
/// The variable that, when set, keeps the folder of a cluster after its end, for a look at the logs.
const KEEP: &str = "PINTLE_KEEP_CLUSTER";

/// What kind of cluster to start.
#[derive(Debug, Clone)]
pub struct Options {
    /// How many nodes it has, each with room for 250 Pods; node `node-0` is the first.
    pub nodes: usize,
    /// More flags of the API server; they come after the harness's own.
    pub api_server_flags: Vec<String>,
}

impl Default for Options {
    fn default() -> Self {
        Self { nodes: 2, api_server_flags: Vec::new() }
    }
}

/// A running cluster. Dropping it ends it.
pub struct Cluster {
    layout: Layout,
    authority: Authority,
    admin: Credentials,
    own: Option<Own>,
    background: Option<Runtime>,
}

/// What only the process that started the cluster has. Fields are dropped in this order: the janitor last.
struct Own {
    options: Options,
    others: Vec<Process>,
    api_server: Mutex<Option<Process>>,
    etcd: Process,
    /// Holds the port, so that no other process gets it while the API server is down.
    _port: TcpSocket,
    _janitor: Janitor,
}

static SHARED: OnceCell<Cluster> = OnceCell::const_new();

impl Cluster {
    /// The cluster of this process, started by the first caller. If the variable [`ATTACH`] names a folder, it is
    /// the one that already runs there.
    pub async fn shared() -> Result<&'static Self> {
        SHARED
            .get_or_try_init(|| async {
                match env::var_os(ATTACH).filter(|dir| !dir.is_empty()) {
                    Some(dir) => Self::attach(Path::new(&dir)),
                    None => Self::start(Options::default()).await,
                }
            })
            .await
    }

    /// Starts a cluster and waits until Pods can run in its namespace `default`.
    pub async fn start(options: Options) -> Result<Self> {
        let programs = programs::folder()?;
        let private = Permissions::from_mode(0o700);
        let dir = tempfile::Builder::new().prefix("pintle-").permissions(private).tempdir()?;
        let janitor = Janitor::start(dir.path(), env::var_os(KEEP).is_some())?;
        let dir = dir.keep().canonicalize()?;
        let (socket, port) = reserve_port()?;
        let layout = Layout { programs, dir, port };

        let (authority, admin) = write_credentials(&layout)?;
        let etcd = Process::start(&layout.etcd())?;
        let api_server = Process::start(&layout.api_server(&options.api_server_flags)?)?;
        let own = Own {
            options,
            others: Vec::new(),
            api_server: Mutex::new(Some(api_server)),
            etcd,
            _port: socket,
            _janitor: janitor,
        };
        let background = new_background()?;
        let mut cluster = Self { layout, authority, admin, own: Some(own), background: Some(background) };
        cluster.start_others().await?;
        Ok(cluster)
    }

    /// Uses the cluster that another process has started in `dir`. It cannot be stopped or restarted from here.
    pub fn attach(dir: &Path) -> Result<Self> {
        let port = fs::read_to_string(dir.join("port"))
            .with_context(|| format!("no cluster runs in {} (variable {ATTACH})", dir.display()))?;
        Ok(Self {
            layout: Layout { programs: programs::folder()?, dir: dir.to_owned(), port: port.parse()? },
            authority: Authority::open(dir)?,
            admin: Credentials::open(dir, "admin", "admin"),
            own: None,
            background: Some(new_background()?),
        })
    }

    async fn start_others(&mut self) -> Result<()> {
        self.ready().await?;
        let layout = self.layout.clone();
        let own = self.own.as_mut().context("the cluster is another process's")?;
        for spec in [layout.controller_manager(), layout.scheduler(), layout.kwok()] {
            own.others.push(Process::start(&spec)?);
        }
        let nodes = own.options.nodes;

        let client = self.client().await?;
        self.background().spawn(storage::provision(self.provisioner()?));
        for number in 0..nodes {
            Api::all(client.clone()).create(&PostParams::default(), &node(number)?).await?;
        }
        for number in 0..nodes {
            let ready = |node: Option<&Node>| {
                let conditions = node.and_then(|node| node.status.as_ref()?.conditions.as_ref());
                let tainted = node.and_then(|node| node.spec.as_ref()?.taints.as_ref()).is_some();
                !tainted
                    && conditions
                        .is_some_and(|all| all.iter().any(|c| c.type_ == "Ready" && c.status == "True"))
            };
            let waited =
                wait::object(&Api::all(client.clone()), &format!("node-{number}"), "it is ready", ready)
                    .await;
            waited.map_err(|error| self.explain(error))?;
        }
        let accounts: Api<ServiceAccount> = Api::namespaced(client, "default");
        let waited = wait::object(&accounts, "default", "it exists", conditions::is_created()).await;
        waited.map_err(|error| self.explain(error))?;
        // Last, so that who finds it finds a cluster that is ready.
        fs::write(self.layout.dir.join("port"), self.layout.port.to_string())?;
        Ok(())
    }

    /// The folder of the cluster's files.
    pub fn dir(&self) -> &Path {
        &self.layout.dir
    }

    /// The API server's address.
    pub fn server(&self) -> String {
        self.layout.server()
    }

    /// The cluster's certificate authority.
    pub(super) fn authority(&self) -> &Authority {
        &self.authority
    }

    /// A user who may do everything.
    pub fn admin(&self) -> &Credentials {
        &self.admin
    }

    /// A new client that may do everything, for the runtime of the caller.
    pub async fn client(&self) -> Result<Client> {
        self.admin.client().await
    }

    /// Starts a program that ends when this process ends; `pintle`, say. Its output goes to `LOG.log` in the cluster's
    /// folder.
    pub fn run(&self, program: &Path, args: &[&str], env: &[(&str, &str)], log: &str) -> Result<Process> {
        Process::start(&Spec {
            program: program.to_owned(),
            args: args.iter().map(ToString::to_string).collect(),
            env: env.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect(),
            dir: self.layout.dir.clone(),
            log: self.layout.dir.join(format!("{log}.log")),
        })
    }

    /// The processes of the cluster, for a test of their end.
    pub fn processes(&self) -> Vec<u32> {
        process::working_in(&self.layout.dir)
    }

    /// Waits until the API server is ready.
    pub async fn ready(&self) -> Result<()> {
        let client = self.client().await?;
        let own = self.own.as_ref();
        wait::until("the API server is ready", wait::PATIENCE, || async {
            if let Some(own) = own {
                // These end the waiting: they do not get better.
                let ended = own.etcd.check().and_then(|()| match own.api_server.try_lock() {
                    Ok(server) => server.as_ref().map_or(Ok(()), Process::check),
                    Err(_) => Ok(()),
                });
                if let Err(error) = ended {
                    return Ok(Some(Err(error)));
                }
            }
            let request = http::Request::get("/readyz").body(Vec::new())?;
            client.request_text(request).await?;
            Ok(Some(Ok(())))
        })
        .await
        .map_err(|error| self.explain(error))?
    }

    /// Stops the API server as an upgrade does: SIGTERM, on which it ends its watches and closes its connections.
    pub async fn stop_api_server(&self) -> Result<()> {
        if let Some(server) = self.own()?.api_server.lock().await.take() {
            server.terminate().await?;
        }
        Ok(())
    }

    /// Kills the API server: connections break off.
    pub async fn kill_api_server(&self) -> Result<()> {
        if let Some(server) = self.own()?.api_server.lock().await.take() {
            server.kill().await?;
        }
        Ok(())
    }

    /// Starts the API server again, on the same port, and waits until it is ready.
    pub async fn start_api_server(&self) -> Result<()> {
        let own = self.own()?;
        {
            let mut server = own.api_server.lock().await;
            if server.is_none() {
                *server = Some(Process::start(&self.layout.api_server(&own.options.api_server_flags)?)?);
            }
        }
        self.ready().await
    }

    fn own(&self) -> Result<&Own> {
        let own = self.own.as_ref();
        own.with_context(|| {
            format!("the cluster of {ATTACH} is shared; start one with Cluster::start for this test")
        })
    }

    /// Runs tasks that outlive the test that started them, until the cluster ends.
    pub(super) fn background(&self) -> Handle {
        self.background.as_ref().expect("it is there until the drop").handle().clone()
    }

    fn provisioner(&self) -> Result<Credentials> {
        identify(&self.layout, &self.authority, "storage", "storage", Some(MASTERS))
    }

    /// Adds the ends of the logs to an error of the start.
    fn explain(&self, error: anyhow::Error) -> anyhow::Error {
        let logs =
            ["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok"].map(|program| {
                let tail = process::tail(&self.layout.dir.join(format!("{program}.log")), 5);
                format!("--- {program}\n{tail}")
            });
        error.context(format!("the ends of the logs:\n{}", logs.join("\n")))
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // A runtime must not wait for its tasks where tasks run.
        if let Some(background) = self.background.take() {
            background.shutdown_background();
        }
    }
}

fn new_background() -> Result<Runtime> {
    Ok(tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .thread_name("cluster")
        .enable_all()
        .build()?)
}

const MASTERS: &str = "system:masters";

/// Makes all certificates, keys and kubeconfigs.
fn write_credentials(layout: &Layout) -> Result<(Authority, Credentials)> {
    let dir = &layout.dir;
    let authority = Authority::create(dir)?;
    let hosts =
        ["127.0.0.1", "10.0.0.1", "localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"];
    authority.server("kube-apiserver", &hosts)?.write(dir, "server")?;
    certificates::write_service_account_key(dir)?;
    identify(layout, &authority, "controller-manager", "system:kube-controller-manager", None)?;
    identify(layout, &authority, "scheduler", "system:kube-scheduler", None)?;
    identify(layout, &authority, "kwok", "kwok", Some(MASTERS))?;
    let admin = identify(layout, &authority, "admin", "admin", Some(MASTERS))?;
    Ok((authority, admin))
}

fn identify(
    layout: &Layout,
    authority: &Authority,
    file: &str,
    user: &str,
    group: Option<&str>,
) -> Result<Credentials> {
    let identity = authority.client(user, group)?;
    let server = layout.server();
    let cluster = (server.as_str(), authority.certificate());
    Credentials::write(&layout.dir, file, user, cluster, &Proof::Certificate(&identity), "default")
}

/// A free port, and the socket that holds it together with the API server's (`SO_REUSEPORT`). The socket does not
/// listen, so it gets no connection.
fn reserve_port() -> Result<(TcpSocket, u16)> {
    let socket = TcpSocket::new_v4()?;
    socket.set_reuseport(true)?;
    socket.bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))?;
    let port = socket.local_addr()?.port();
    Ok((socket, port))
}

fn node(number: usize) -> Result<Node> {
    let name = format!("node-{number}");
    let room = json!({"cpu": "64", "memory": "256Gi", "pods": "250", "ephemeral-storage": "1Ti"});
    Ok(serde_json::from_value(json!({
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "annotations": {"kwok.x-k8s.io/node": "fake"},
            "labels": {
                "kubernetes.io/hostname": name,
                "kubernetes.io/os": "linux",
                "kubernetes.io/arch": "amd64",
                "topology.kubernetes.io/zone": format!("zone-{number}"),
            },
        },
        "spec": {"podCIDR": format!("10.{}.0.0/24", 128 + number % 100)},
        "status": {"allocatable": room, "capacity": room},
    }))?)
}
