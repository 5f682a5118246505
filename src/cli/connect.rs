//! Which cluster a command talks to, by kubectl's flags.

use std::path::PathBuf;

use anyhow::{Context as _, Result};
use clap::Args;
use kube::{
    Client, Config,
    config::{KubeConfigOptions, Kubeconfig},
};

use crate::release::{cluster::Cluster, connection, mandate::Mandate};

/// The cluster
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Cluster")]
pub struct Connect {
    /// Namespace; that of the context unless given
    #[arg(short, long, value_name = "NAMESPACE")]
    namespace: Option<String>,
    /// Kubeconfig; without it the environment decides: KUBECONFIG, or the default file
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
    /// Context of the kubeconfig
    #[arg(long, value_name = "NAME")]
    context: Option<String>,
}

/// A cluster, and where in it.
pub struct Connection {
    /// The cluster; what it serves is known.
    pub cluster: Cluster,
    /// The namespace that was given, or that of the context.
    pub namespace: String,
}

impl Connection {
    /// The client itself.
    pub fn client(&self) -> Client {
        self.cluster.client().clone()
    }
}

impl Connect {
    /// Connects, and asks what is served.
    pub async fn open(&self) -> Result<Connection> {
        let config = match (&self.kubeconfig, &self.context) {
            (None, None) => Config::infer().await?,
            (path, context) => {
                let file = match path {
                    Some(path) => Kubeconfig::read_from(path)
                        .with_context(|| format!("kubeconfig {}", path.display()))?,
                    None => Kubeconfig::read()?,
                };
                let options = KubeConfigOptions { context: context.clone(), ..KubeConfigOptions::default() };
                Config::from_custom_kubeconfig(file, &options).await?
            }
        };
        let client = connection::client(config, &Mandate::unlimited(), connection::nobody())?;
        let given = self.namespace.clone().filter(|namespace| !namespace.is_empty());
        let namespace = given.unwrap_or_else(|| client.default_namespace().to_owned());
        let cluster = Cluster::new(client);
        cluster.discover().await.context("the cluster cannot be reached")?;
        Ok(Connection { cluster, namespace })
    }
}

/// Runs a command that talks to a cluster.
pub fn block_on<T>(command: impl Future<Output = Result<T>>) -> Result<T> {
    tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?.block_on(command)
}
