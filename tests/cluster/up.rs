//! Starts a cluster and keeps it until Ctrl-C, for work by hand: `make cluster-up`.
#![allow(clippy::print_stdout, reason = "it talks to the person who started it")]

#[path = "../harness/mod.rs"]
mod harness;

use anyhow::Result;
use clap::Parser;
use harness::{ATTACH, Cluster, Options, program};
use tokio::signal::unix::{SignalKind, signal};

/// Start a control plane with simulated nodes and keep it until Ctrl-C.
#[derive(Parser)]
struct Arguments {
    /// How many nodes it has.
    #[arg(long, default_value_t = Options::default().nodes)]
    nodes: usize,
    /// A further flag of the API server; may be repeated.
    #[arg(long, value_name = "FLAG", allow_hyphen_values = true)]
    api_server_flag: Vec<String>,
}

#[tokio::main]
async fn main() -> Result<()> {
    let Arguments { nodes, api_server_flag } = Arguments::parse();
    let mut terminated = signal(SignalKind::terminate())?;
    let starting = Cluster::start(Options { nodes, api_server_flags: api_server_flag });
    let cluster = tokio::select! {
        cluster = starting => cluster?,
        _ = tokio::signal::ctrl_c() => return Ok(()),
        _ = terminated.recv() => return Ok(()),
    };
    println!("The cluster is ready. Logs are in {}. In another terminal:", cluster.dir().display());
    println!();
    println!("  export KUBECONFIG={}", cluster.admin().kubeconfig().display());
    println!("  alias kubectl={} helm={}", program("kubectl")?.display(), program("helm")?.display());
    println!(
        "  {ATTACH}={} cargo test --test integration    # tests on this cluster",
        cluster.dir().display()
    );
    println!();
    println!("Ctrl-C ends it.");
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        _ = terminated.recv() => {}
    }
    Ok(())
}
