//! `pintle run`: the operator.

use std::{env, net::SocketAddr, path::PathBuf, sync::Arc, time::Duration};

use anyhow::{Context as _, Result, anyhow, bail};
use clap::Args;
use kube::{
    Client, Config,
    config::{KubeConfigOptions, Kubeconfig},
};
use tokio::{
    net::TcpListener,
    signal::unix::{SignalKind, signal},
    sync::watch,
};

use super::{leader::Leader, logging::Logging, traces::Tracing, view::desired};
use crate::{
    api::{Definition, duration},
    controller::{
        Operator, Served,
        charts::ChartRenderer,
        http,
        leader::Leading,
        metrics::Metrics,
        secure::{Guard, Tls},
        settings::{Settings, namespaces},
    },
    release::{connection, mandate::Mandate},
    threads,
};

/// How many instances of a kind reconcile at once unless told otherwise. A reconcile waits for nothing but the answers of
/// the API server, so this bounds requests, not work.
const CONCURRENT: usize = 16;
/// So long what is still to be said at the end is waited for.
const LAST_WORDS: Duration = Duration::from_secs(2);
/// Kubernetes versions from this minor on stream the first list of a watch.
const STREAMS_LISTS: u32 = 34;

/// Run the operator
///
/// Flags, environment (WATCH_NAMESPACE) and the watches file are those of operator-sdk's Helm operator.
#[derive(Args)]
pub struct Run {
    /// The watches file.
    #[arg(long, default_value = "./watches.yaml")]
    watches_file: PathBuf,
    /// How often a resource is looked at when nothing happens, as in 30s or 5m; 0 for never.
    #[arg(long, default_value = "1m", value_parser = duration::parse)]
    reconcile_period: Duration,
    /// How many resources of a kind may reconcile at once.
    #[arg(long, default_value_t = CONCURRENT, value_parser = at_least_one)]
    max_concurrent_reconciles: usize,
    /// Where metrics are served; 0 for nowhere.
    #[arg(long, alias = "metrics-addr", default_value = ":8080")]
    metrics_bind_address: String,
    /// Serve metrics over TLS, with a certificate that is made at the start.
    #[arg(long)]
    metrics_secure: bool,
    /// Let only those read metrics whose token the API server knows, and who may get the path /metrics.
    #[arg(long)]
    metrics_require_rbac: bool,
    /// Offer HTTP/2 where metrics are served over TLS.
    #[arg(long)]
    enable_http2: bool,
    /// Where the probes /healthz and /readyz are served; 0 for nowhere.
    #[arg(long, default_value = ":8081")]
    health_probe_bind_address: String,
    /// Mask the override values in the Events that list them.
    #[arg(long)]
    suppress_override_values: bool,
    /// Kubeconfig; without it the environment decides: KUBECONFIG, the default file, or the Pod's service account.
    #[arg(long)]
    kubeconfig: Option<PathBuf>,
    /// Context of the kubeconfig.
    #[arg(long, requires = "kubeconfig")]
    context: Option<String>,
    /// Namespaces to watch, separated by commas; all when empty.
    #[arg(long, env = "WATCH_NAMESPACE", default_value = "")]
    namespace: String,
    /// Serve only the resources with these labels, as in shard=a or shard in (a,b): others are another process's.
    #[arg(long, value_name = "LABELS", default_value = "")]
    selector: String,
    #[command(flatten)]
    leader: Leader,
    #[command(flatten)]
    logging: Logging,
    #[command(flatten)]
    tracing: Tracing,
}

fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) => Err("at least 1".into()),
        Ok(n) => Ok(n),
        Err(_) => Err(format!("{text:?} is not a number")),
    }
}

impl Run {
    /// Runs until a signal ends it.
    pub fn run(self) -> Result<()> {
        if self.metrics_require_rbac && !self.metrics_secure {
            bail!("--metrics-secure flag is required when --metrics-require-rbac is present");
        }
        let (traces, exporter) = self.tracing.start()?.unzip();
        self.logging.start(traces)?;
        // Two threads carry thousands of instances: what there is to do is waiting, but for renders, which run on those for
        // what blocks. To start one for each render would cost as much as a small render.
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .max_blocking_threads(4)
            .thread_name("pintle")
            .thread_stack_size(threads::STACK)
            .on_thread_start(threads::has_large_stack)
            .enable_all()
            .build()?;
        runtime.block_on(async {
            let Some(exporter) = exporter else { return self.serve().await };
            let (end, sent) = (exporter.end(), tokio::spawn(exporter.run()));
            let result = self.serve().await;
            end.now().await;
            // What is sent last is still waited for, if the collector takes it.
            let _ = tokio::time::timeout(LAST_WORDS, sent).await;
            result
        })
    }

    async fn serve(self) -> Result<()> {
        let served = self.load()?;
        let metrics = listen(&self.metrics_bind_address, "--metrics-bind-address").await?;
        let probes = listen(&self.health_probe_bind_address, "--health-probe-bind-address").await?;
        let config = self.config().await?;
        // The Lease has connections of its own: its renewal must not wait for anything.
        let numbers = Arc::new(Metrics::default());
        let client = connection::client(config.clone(), &Mandate::unlimited(), numbers.counter())?;
        let election = self.leader.election(&self.selector, client.default_namespace())?;
        let mut terminate = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        let (stop, stopped) = watch::channel(false);
        tokio::spawn(async move {
            tokio::select! {
                _ = terminate.recv() => tracing::info!("SIGTERM"),
                _ = interrupt.recv() => tracing::info!("SIGINT"),
            }
            stop.send_replace(true);
        });
        let version = tokio::select! {
            version = server_version(&client) => version,
            () = until(stopped.clone()) => return Ok(()),
        };
        let settings = Settings {
            namespaces: namespaces(&self.namespace),
            selector: self.selector.clone(),
            reconcile_period: self.reconcile_period,
            max_concurrent: self.max_concurrent_reconciles,
            streaming_lists: streams_lists(&version),
            kube_version: version,
        };
        tracing::info!(
            version = env!("CARGO_PKG_VERSION"),
            kubernetes = settings.kube_version,
            namespaces = ?settings.namespaces,
            selector = settings.selector,
            "started"
        );
        let guard = self.metrics_require_rbac.then(|| Guard::new(client.clone()));
        let mandate = if election.is_some() { Mandate::none() } else { Mandate::unlimited() };
        let working = connection::client(config, &mandate, numbers.counter())?;
        let (operator, events) = Operator::new(working, served, settings, numbers);
        let events = tokio::spawn(events);
        if let Some(listener) = metrics {
            tracing::info!(address = %listener.local_addr()?, "serving /metrics");
            let router = http::metrics(operator.clone(), guard);
            let end = until(stopped.clone());
            if self.metrics_secure {
                tokio::spawn(http::serve(Tls::new(listener, self.enable_http2)?, router, end));
            } else {
                tokio::spawn(http::serve(listener, router, end));
            }
        }
        if let Some(listener) = probes {
            tracing::info!(address = %listener.local_addr()?, "serving /healthz and /readyz");
            tokio::spawn(http::serve(listener, http::probes(operator.clone()), until(stopped.clone())));
        }
        let result = match election {
            None => operator.run(until(stopped)).await.map_err(anyhow::Error::from),
            Some(election) => lead(operator, election.win(client, mandate), stopped).await,
        };
        if result.is_ok() {
            // What was said last is still written, if the API server takes it.
            let _ = tokio::time::timeout(LAST_WORDS, events).await;
        }
        result
    }

    /// The definitions of the watches file, with their charts.
    fn load(&self) -> Result<Vec<Served>> {
        let file = self.watches_file.display();
        let mut served = Vec::new();
        for definition in desired::definitions(&self.watches_file)? {
            let definition = Definition { quiet_overrides: self.suppress_override_values, ..definition };
            let renderer = ChartRenderer::load(&definition.chart).with_context(|| {
                format!("chart {} of {}", definition.chart.display(), definition.gvk.kind)
            })?;
            served.push(Served::new(definition, Arc::new(renderer)));
        }
        if served.is_empty() {
            tracing::warn!(%file, "there is nothing to watch in the watches file");
        }
        Ok(served)
    }

    async fn config(&self) -> Result<Config> {
        let mut config = match &self.kubeconfig {
            Some(path) => {
                let file =
                    Kubeconfig::read_from(path).with_context(|| format!("kubeconfig {}", path.display()))?;
                let options =
                    KubeConfigOptions { context: self.context.clone(), ..KubeConfigOptions::default() };
                Config::from_custom_kubeconfig(file, &options).await?
            }
            None => Config::infer().await?,
        };
        // Watches end by themselves long before.
        config.read_timeout = Some(Duration::from_secs(330));
        Ok(config)
    }
}

/// Runs the operator once an election is won, for as long as it leads.
async fn lead(
    operator: Arc<Operator>,
    won: impl Future<Output = Leading>,
    stopped: watch::Receiver<bool>,
) -> Result<()> {
    operator.stand_by();
    let mut leading = tokio::select! {
        leading = won => leading,
        () = until(stopped.clone()) => return Ok(()),
    };
    tokio::select! {
        result = operator.run(until(stopped)) => {
            leading.release().await;
            Ok(result?)
        }
        // What runs is given up in the middle: whoever leads next comes to the same end.
        () = leading.lost() => Err(anyhow!("the lease was lost")),
    }
}

/// Binds an address; none for one that is switched off.
async fn listen(address: &str, flag: &str) -> Result<Option<TcpListener>> {
    let address: Option<SocketAddr> = http::address(address).map_err(|e| anyhow!("{flag}: {e}"))?;
    match address {
        Some(address) => Ok(Some(
            TcpListener::bind(address).await.with_context(|| format!("{flag}: cannot bind {address}"))?,
        )),
        None => Ok(None),
    }
}

/// Comes to its end once it is to be stopped.
async fn until(mut stopped: watch::Receiver<bool>) {
    // The sender lives as long as the process does.
    let _ = stopped.wait_for(|stopped| *stopped).await;
}

/// The API server's version, asked for until it answers.
async fn server_version(client: &Client) -> String {
    let mut wait = Duration::from_millis(500);
    loop {
        match client.apiserver_version().await {
            Ok(info) => return info.git_version,
            Err(error) => tracing::warn!(%error, "the API server does not answer yet"),
        }
        tokio::time::sleep(wait).await;
        wait = (wait * 2).min(Duration::from_secs(10));
    }
}

/// Whether an API server of this version can stream the first list of a watch.
fn streams_lists(version: &str) -> bool {
    let mut numbers =
        version.trim_start_matches('v').split(['.', '-', '+']).map(|n| n.parse::<u32>().unwrap_or(0));
    let (major, minor) = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    (major, minor) >= (1, STREAMS_LISTS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_that_stream_lists() {
        assert!(streams_lists("v1.36.3"));
        assert!(streams_lists("v1.34.0-gke.1"));
        assert!(!streams_lists("v1.33.9+k3s1"));
        assert!(!streams_lists("?"));
    }
}
