//! The command lines of the cluster's programs.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, Result, bail};

use super::process::Spec;

/// The folder of the programs that `tests/cluster/build` has built. Nothing is built here: a test that compiles
/// Kubernetes for minutes would look like one that hangs.
pub fn folder() -> Result<PathBuf> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cluster/build");
    let output =
        Command::new(&script).arg("--path").output().with_context(|| format!("run {}", script.display()))?;
    if !output.status.success() {
        bail!("{}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(PathBuf::from(String::from_utf8(output.stdout)?.trim_end()))
}

/// One of those programs: `helm`, `kubectl`, `kube-apiserver`…
pub fn program(name: &str) -> Result<PathBuf> {
    Ok(folder()?.join(name))
}

/// Where the cluster's programs and files are, and the port it serves on.
#[derive(Debug, Clone)]
pub struct Layout {
    /// The folder of the programs.
    pub programs: PathBuf,
    /// The folder of the cluster's files: certificates, kubeconfigs, logs, data.
    pub dir: PathBuf,
    /// The API server's port on 127.0.0.1.
    pub port: u16,
}

/// What the audit log leaves out: the cluster's own programs, which never rest.
const AUDIT_POLICY: &str = "\
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
  - level: None
    users: [system:apiserver, system:kube-controller-manager, system:kube-scheduler, kwok, storage]
  - level: None
    userGroups: ['system:serviceaccounts:kube-system']
  - level: None
    nonResourceURLs: ['/readyz*', '/livez*', '/metrics']
  - level: Metadata
";

/// etcd's sockets. etcd wants a host and a port where others have a path, and takes both together as the name of a file
/// in its working directory; the API server works in the same one.
const ETCD: &str = "unix://etcd.sock:0";
const ETCD_PEERS: &str = "unix://etcd-peers.sock:0";

impl Layout {
    /// The API server's address.
    pub fn server(&self) -> String {
        format!("https://127.0.0.1:{}", self.port)
    }

    /// A file of the cluster, as an argument.
    fn file(&self, name: &str) -> String {
        self.dir.join(name).display().to_string()
    }

    fn spec(&self, program: &str, args: Vec<String>) -> Spec {
        Spec {
            program: self.programs.join(program),
            args,
            env: Vec::new(),
            dir: self.dir.clone(),
            log: self.dir.join(format!("{program}.log")),
        }
    }

    /// etcd, reached through a socket in the cluster's folder, which only its owner may enter.
    pub fn etcd(&self) -> Spec {
        self.spec(
            "etcd",
            vec![
                format!("--data-dir={}", self.file("etcd")),
                format!("--listen-client-urls={ETCD}"),
                format!("--advertise-client-urls={ETCD}"),
                format!("--listen-peer-urls={ETCD_PEERS}"),
                format!("--initial-advertise-peer-urls={ETCD_PEERS}"),
                format!("--initial-cluster=default={ETCD_PEERS}"),
                // The data die with the cluster.
                "--unsafe-no-fsync".into(),
                "--log-level=warn".into(),
            ],
        )
    }

    /// The API server, with `more` flags after its own.
    pub fn api_server(&self, more: &[String]) -> Result<Spec> {
        let policy = self.dir.join("audit-policy.yaml");
        fs::write(&policy, AUDIT_POLICY).with_context(|| format!("write {}", policy.display()))?;
        let mut args = vec![
            format!("--etcd-servers={ETCD}"),
            "--bind-address=127.0.0.1".into(),
            "--advertise-address=127.0.0.1".into(),
            // A loopback address is not allowed in the endpoints of the service `kubernetes`.
            "--endpoint-reconciler-type=none".into(),
            format!("--secure-port={}", self.port),
            // The harness holds the port too, so that it stays ours over a restart.
            "--permit-port-sharing".into(),
            "--service-cluster-ip-range=10.0.0.0/16".into(),
            "--authorization-mode=RBAC".into(),
            // As on OpenShift: who sets an owner reference that blocks deletion needs rights on the owner's finalizers.
            "--enable-admission-plugins=OwnerReferencesPermissionEnforcement".into(),
            format!("--client-ca-file={}", self.file("ca.crt")),
            format!("--tls-cert-file={}", self.file("server.crt")),
            format!("--tls-private-key-file={}", self.file("server.key")),
            "--service-account-issuer=https://kubernetes.default.svc".into(),
            format!("--service-account-key-file={}", self.file("service-accounts.pub")),
            format!("--service-account-signing-key-file={}", self.file("service-accounts.key")),
            format!("--audit-policy-file={}", policy.display()),
            format!("--audit-log-path={}", self.file("audit.log")),
            // Without it a stop waits a minute for watches to end by themselves.
            "--shutdown-watch-termination-grace-period=5s".into(),
            "--profiling=false".into(),
        ];
        args.extend_from_slice(more);
        Ok(self.spec("kube-apiserver", args))
    }

    /// The controller manager.
    pub fn controller_manager(&self) -> Spec {
        self.spec(
            "kube-controller-manager",
            vec![
                format!("--kubeconfig={}", self.file("controller-manager.kubeconfig")),
                format!("--service-account-private-key-file={}", self.file("service-accounts.key")),
                format!("--root-ca-file={}", self.file("ca.crt")),
                "--use-service-account-credentials".into(),
                "--leader-elect=false".into(),
                "--secure-port=0".into(),
                // Many tests at once would wait for the default of 20 requests a second.
                "--kube-api-qps=500".into(),
                "--kube-api-burst=1000".into(),
            ],
        )
    }

    /// The scheduler.
    pub fn scheduler(&self) -> Spec {
        self.spec(
            "kube-scheduler",
            vec![
                format!("--kubeconfig={}", self.file("scheduler.kubeconfig")),
                "--leader-elect=false".into(),
                "--secure-port=0".into(),
                "--kube-api-qps=500".into(),
                "--kube-api-burst=1000".into(),
            ],
        )
    }

    /// kwok, which plays the kubelet of every node: Pods run, Jobs complete, and nothing is executed.
    pub fn kwok(&self) -> Spec {
        self.spec(
            "kwok",
            vec![
                format!("--kubeconfig={}", self.file("kwok.kubeconfig")),
                "--manage-all-nodes=true".into(),
                "--cidr=10.128.0.0/16".into(),
                "--node-ip=127.0.0.1".into(),
                "--node-lease-duration-seconds=40".into(),
            ],
        )
    }
}
