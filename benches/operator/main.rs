//! What the operator costs, on a real control plane: `make bench`, or `cargo bench --bench operator -- [SUITE]…`.
//!
//! Suites: `fifty` (50 resources of the chart of `helm create`, the default), `many` (1,000 resources with 8 objects each),
//! or `many=N`; `many-create=N` is the same with the chart of `helm create`; `converge=N` and `members=N` repeat the first
//! parts of the two, for a ratio that can be trusted where the machine is busy. After `turns=N` they do so N times, and after
//! `against=FILE` in turn with another binary of the operator. Times are of what an onlooker of the API server sees; CPU and
//! memory are the operator process's own. The bare client makes the same applies in the same run, with nothing else to do.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "it prints its figures, and stops at the first surprise"
)]

#[path = "../../tests/harness/mod.rs"]
mod harness;
mod subject;

use std::{
    collections::{BTreeMap, HashSet},
    path::PathBuf,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result};
use futures::{StreamExt as _, TryStreamExt as _, stream};
use harness::{Cluster, Namespace, Options, wait};
use k8s_openapi::api::{apps::v1::Deployment, core::v1::Service};
use kube::{
    Api, Client,
    api::{DeleteParams, DynamicObject, Patch, PatchParams, PostParams, WatchEvent, WatchParams},
};
use serde_json::{Value, json};
use subject::{Chart, Subject};

/// So many requests of the bare client are under way at once, as the operator's reconciles are.
const AT_ONCE: usize = 16;
/// So often convergence is measured, unless told otherwise.
const TURNS: usize = 5;
/// So often each latency is measured.
const ROUNDS: usize = 15;
/// What takes longer will not come to an end.
const PATIENCE: Duration = Duration::from_secs(3600);

// A release whose name holds the chart's (bench) has objects of that very name: resources are bench-0, bench-1…

#[tokio::main]
async fn main() -> Result<()> {
    let mut suites: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with("--")).collect();
    let mut programs = vec![subject::program()];
    let mut turns = TURNS;
    suites.retain(|argument| match argument.split_once('=') {
        Some(("against", file)) => {
            programs.push(file.into());
            false
        }
        Some(("turns", n)) => {
            turns = n.parse().expect("turns=N");
            false
        }
        _ => true,
    });
    if suites.is_empty() {
        suites.push("fifty".into());
    }
    for suite in suites {
        match suite.split_once('=') {
            None if suite == "fifty" => fifty().await?,
            Some(("converge", n)) => converges(n.parse()?, Kind::Create, turns, &programs).await?,
            Some(("members", n)) => converges(n.parse()?, Kind::Members, turns, &programs).await?,
            None if suite == "many" => many(1000, Kind::Members).await?,
            Some(("many", n)) => many(n.parse()?, Kind::Members).await?,
            Some(("many-create", n)) => many(n.parse()?, Kind::Create).await?,
            _ => anyhow::bail!(
                "no suite {suite:?}: fifty, many, many=N, many-create=N, [turns=N] [against=FILE] converge=N, members=N"
            ),
        }
    }
    Ok(())
}

/// What the resources are.
#[derive(Clone, Copy)]
enum Kind {
    /// Of the chart of `helm create`: a ServiceAccount, a Service and a Deployment with one Pod.
    Create,
    /// Six ConfigMaps, a Service, and a Deployment without Pods.
    Members,
}

impl Kind {
    async fn chart(self, cluster: &Cluster) -> Result<Chart> {
        match self {
            Kind::Create => Chart::of_helm_create(cluster).await,
            Kind::Members => Ok(Chart::with_members()),
        }
    }

    fn spec(self) -> Value {
        match self {
            Kind::Create => json!({}),
            Kind::Members => json!({"maps": 6, "replicas": 0}),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Kind::Create => "resources of the chart of helm create",
            Kind::Members => "resources with 8 objects each",
        }
    }

    /// So many nodes have room for the Pods of `n` of them.
    fn nodes(self, n: usize) -> usize {
        match self {
            Kind::Create => (n / 200 + 1).max(4),
            Kind::Members => 1,
        }
    }
}

fn say(what: &str, figure: &str) {
    println!("  {what:<44} {figure}");
}

fn seconds(d: Duration) -> String {
    format!("{:.3} s", d.as_secs_f64())
}

async fn fifty() -> Result<()> {
    let cluster = Cluster::start(Options { nodes: 4, ..Options::default() }).await?;
    let chart = Chart::of_helm_create(&cluster).await?;
    println!("\n50 resources of the chart of helm create");
    let bare = bare(&cluster, &chart, 50, &json!({})).await?;
    say("bare client, 150 applies", &seconds(bare));

    let space = cluster.namespace("bench").await?;
    let subject = Subject::start(&cluster, &space, &chart, &subject::program()).await?;
    let (took, cpu) = converge(&space, &subject, 50, &json!({})).await?;
    say(
        "converged",
        &format!("{} ({:.2} of the bare client)", seconds(took), took.as_secs_f64() / bare.as_secs_f64()),
    );
    say("CPU to converge", &seconds(cpu));
    settle(&cluster, &subject).await?;
    let watching = Watching::new(&space).await?;
    say("update, median", &watching.update(&space, &subject).await?);
    say("drift repair, median", &watching.repair().await?);
    say("return of a deleted object, median", &watching.bring_back().await?);
    settle(&cluster, &subject).await?;
    idle(&cluster, &subject).await
}

/// Bare client and operator, or several, in turn.
async fn converges(n: usize, kind: Kind, turns: usize, programs: &[PathBuf]) -> Result<()> {
    let cluster = Cluster::start(Options { nodes: kind.nodes(n), ..Options::default() }).await?;
    let (chart, spec) = (kind.chart(&cluster).await?, kind.spec());
    println!("\n{n} {}, {turns} times", kind.name());
    let mut ratios = vec![Vec::new(); programs.len()];
    for _ in 0..turns {
        let bare = bare(&cluster, &chart, n, &spec).await?;
        for (program, ratios) in programs.iter().zip(&mut ratios) {
            if programs.len() > 1 {
                println!("  {}", program.display());
            }
            let space = cluster.namespace("bench").await?;
            let mut subject = Subject::start(&cluster, &space, &chart, program).await?;
            let mark = cluster.audit_mark()?;
            let (took, cpu) = converge(&space, &subject, n, &spec).await?;
            let requests = cluster.requests_since(mark)?;
            let ratio = took.as_secs_f64() / bare.as_secs_f64();
            say("bare client, converged", &format!("{}, {} ({ratio:.2})", seconds(bare), seconds(took)));
            say("CPU to converge", &seconds(cpu));
            let mut kinds = BTreeMap::<String, usize>::new();
            for request in requests.iter().filter(|r| r.user == subject.user()) {
                *kinds.entry(format!("{} {}", request.verb, request.resource)).or_default() += 1;
            }
            let kinds: Vec<String> = kinds.iter().map(|(kind, n)| format!("{n} {kind}")).collect();
            say("requests", &kinds.join(", "));
            ratios.push(ratio);
            settle(&cluster, &subject).await?;
            say("memory", &memory(&subject)?);
            subject.stop().await?;
            vanish(&cluster, space).await?;
        }
    }
    for (program, ratios) in programs.iter().zip(&mut ratios) {
        ratios.sort_by(f64::total_cmp);
        let all: Vec<String> = ratios.iter().map(|r| format!("{r:.2}")).collect();
        let of = if programs.len() > 1 { format!(" of {}", program.display()) } else { String::new() };
        say("ratio, median", &format!("{:.2} ({}){of}", ratios[ratios.len() / 2], all.join(", ")));
    }
    Ok(())
}

async fn many(n: usize, kind: Kind) -> Result<()> {
    let cluster = Cluster::start(Options { nodes: kind.nodes(n), ..Options::default() }).await?;
    let (chart, spec) = (kind.chart(&cluster).await?, kind.spec());
    println!("\n{n} {}", kind.name());
    let bare = bare(&cluster, &chart, n, &spec).await?;
    say("bare client", &seconds(bare));
    let space = cluster.namespace("bench").await?;
    let mut subject = Subject::start(&cluster, &space, &chart, &subject::program()).await?;
    let (took, cpu) = converge(&space, &subject, n, &spec).await?;
    say(
        "converged",
        &format!("{} ({:.2} of the bare client)", seconds(took), took.as_secs_f64() / bare.as_secs_f64()),
    );
    say("CPU to converge", &seconds(cpu));
    settle(&cluster, &subject).await?;
    idle(&cluster, &subject).await?;

    subject.stop().await?;
    let mark = cluster.audit_mark()?;
    let started = Instant::now();
    subject.run().await?;
    subject.looked_at_all(n).await?;
    say("restart, until all is known to be in sync", &seconds(started.elapsed()));
    say("CPU of the restart", &seconds(subject.cpu()?));
    let requests = cluster.requests_since(mark)?;
    let ours = || requests.iter().filter(|r| r.user == subject.user());
    let writes = ours().filter(|r| !["get", "list", "watch"].contains(&r.verb.as_str())).count();
    say("requests of the restart", &format!("{}, of which {writes} write", ours().count()));
    say("peak memory of the restart", &format!("{:.1} MiB", mib(subject.peak_memory()?)));
    Ok(())
}

/// How long a bare client takes for the same applies.
async fn bare(cluster: &Cluster, chart: &Chart, n: usize, spec: &Value) -> Result<Duration> {
    let space = cluster.namespace("bare").await?;
    let client = cluster.user("bare", &[subject::everything()]).await?.client().await?;
    let sets: Vec<Vec<Value>> =
        (0..n).map(|i| chart.render(&format!("bench-{i}"), space.name(), spec)).collect::<Result<_>>()?;
    // Connections are opened before, as the operator's are.
    warm(&client).await?;
    let started = Instant::now();
    stream::iter(sets.into_iter().map(|set| {
        let client = client.clone();
        let namespace = space.name();
        async move {
            for object in set {
                let api = subject::api_of(client.clone(), &object, namespace)?;
                let name = object["metadata"]["name"].as_str().context("a name")?;
                api.patch(name, &PatchParams::apply("bare").force(), &Patch::Apply(&object)).await?;
            }
            anyhow::Ok(())
        }
    }))
    .buffer_unordered(AT_ONCE)
    .try_collect::<Vec<()>>()
    .await?;
    let took = started.elapsed();
    vanish(cluster, space).await?;
    Ok(took)
}

/// Deletes a namespace and waits until it is gone: what is in it must not be in the way of what comes after.
async fn vanish(cluster: &Cluster, space: Namespace) -> Result<()> {
    let name = space.name().to_owned();
    let namespaces: Api<k8s_openapi::api::core::v1::Namespace> = Api::all(cluster.client().await?);
    let uid = namespaces.get(&name).await?.metadata.uid.unwrap_or_default();
    drop(space);
    wait::until("the namespace is gone", PATIENCE, || async {
        let live = namespaces.get_metadata_opt(&name).await?;
        Ok(live.is_none_or(|n| n.metadata.uid.as_deref() != Some(&uid)).then_some(()))
    })
    .await
}

async fn warm(client: &Client) -> Result<()> {
    let version = || async { client.apiserver_version().await.map(drop) };
    futures::future::try_join_all((0..AT_ONCE).map(|_| version())).await?;
    Ok(())
}

/// Creates the resources, and waits until all are deployed: how long it took, and what CPU time.
async fn converge(
    space: &Namespace,
    subject: &Subject,
    n: usize,
    spec: &Value,
) -> Result<(Duration, Duration)> {
    let api = subject.resources(space);
    let client = space.client();
    warm(&client).await?;
    let version =
        api.list(&kube::api::ListParams::default()).await?.metadata.resource_version.unwrap_or_default();
    let mut events = api.watch(&WatchParams::default(), &version).await?.boxed();
    let mut version = version;
    let before = subject.cpu()?;
    let started = Instant::now();
    let create = async {
        stream::iter(0..n)
            .map(|i| {
                let object = subject.resource(&format!("bench-{i}"), spec);
                let api = &api;
                async move { api.create(&PostParams::default(), &object).await.map(drop) }
            })
            .buffer_unordered(AT_ONCE)
            .try_collect::<Vec<()>>()
            .await
    };
    let deployed = async {
        let mut left: HashSet<String> = (0..n).map(|i| format!("bench-{i}")).collect();
        loop {
            while let Some(event) = events.try_next().await? {
                let (WatchEvent::Added(o) | WatchEvent::Modified(o)) = event else { continue };
                version = o.metadata.resource_version.clone().unwrap_or_default();
                if subject::is_deployed(&o) {
                    left.remove(o.metadata.name.as_deref().unwrap_or_default());
                    if left.is_empty() {
                        return anyhow::Ok(started.elapsed());
                    }
                }
            }
            // Its time was over.
            events = api.watch(&WatchParams::default(), &version).await?.boxed();
        }
    };
    let (created, took) = tokio::join!(create, deployed);
    created?;
    Ok((took?, subject.cpu()? - before))
}

/// Waits until the operator has made no request for a while: health is reported, Events are written.
async fn settle(cluster: &Cluster, subject: &Subject) -> Result<()> {
    wait::until("the operator is quiet", PATIENCE, || async {
        let mark = cluster.audit_mark()?;
        tokio::time::sleep(Duration::from_secs(3)).await;
        let busy =
            cluster.requests_since(mark)?.iter().any(|r| r.user == subject.user() && r.verb != "watch");
        Ok((!busy).then_some(()))
    })
    .await
}

async fn idle(cluster: &Cluster, subject: &Subject) -> Result<()> {
    let (mark, before) = (cluster.audit_mark()?, subject.cpu()?);
    tokio::time::sleep(Duration::from_secs(60)).await;
    let cpu = subject.cpu()? - before;
    let requests = cluster.requests_since(mark)?;
    let ours: Vec<_> = requests.iter().filter(|r| r.user == subject.user()).collect();
    let watches = ours.iter().filter(|r| r.verb == "watch").count();
    say("idle minute, CPU", &seconds(cpu));
    say("idle minute, requests", &format!("{} and {watches} watches renewed", ours.len() - watches));
    say("memory", &memory(subject)?);
    Ok(())
}

fn memory(subject: &Subject) -> Result<String> {
    Ok(format!("{:.1} MiB (peak {:.1})", mib(subject.memory()?), mib(subject.peak_memory()?)))
}

#[allow(clippy::cast_precision_loss, reason = "a figure to read")]
fn mib(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}

/// An onlooker's watches.
struct Watching {
    deployments: Api<Deployment>,
    services: Api<Service>,
}

impl Watching {
    async fn new(space: &Namespace) -> Result<Self> {
        warm(&space.client()).await?;
        Ok(Watching { deployments: space.api(), services: space.api() })
    }

    /// From a changed spec to a changed Deployment.
    async fn update(&self, space: &Namespace, subject: &Subject) -> Result<String> {
        let resources: Api<DynamicObject> = subject.resources(space);
        let mut times = Vec::new();
        for round in 0..ROUNDS {
            let (name, tag) = (format!("bench-{round}"), format!("round-{round}"));
            let patch = Patch::Merge(json!({ "spec": { "image": { "tag": tag } } }));
            let act = async { resources.patch(&name, &PatchParams::default(), &patch).await.map(drop) };
            times.push(
                measure(&self.deployments, &name, act, |d| image(d).is_some_and(|i| i.ends_with(&tag)))
                    .await?,
            );
        }
        Ok(median(times))
    }

    /// From a foreign change of a Deployment to its correction.
    async fn repair(&self) -> Result<String> {
        let mut times = Vec::new();
        for round in ROUNDS..2 * ROUNDS {
            let name = format!("bench-{round}");
            let wanted = image(&self.deployments.get(&name).await?).unwrap_or_default();
            let container = &self
                .deployments
                .get(&name)
                .await?
                .spec
                .context("a spec")?
                .template
                .spec
                .context("a Pod")?
                .containers[0]
                .name;
            let patch = json!({"spec": {"template": {"spec": {"containers": [{"name": container, "image": "evil:1"}]}}}});
            let theirs = PatchParams { field_manager: Some("kubectl-edit".into()), ..PatchParams::default() };
            let patch = Patch::Strategic(patch);
            let act = async { self.deployments.patch(&name, &theirs, &patch).await.map(drop) };
            let mut evil = false;
            let back = |d: &Deployment| {
                let image = image(d).unwrap_or_default();
                evil |= image == "evil:1";
                evil && image == wanted
            };
            times.push(measure(&self.deployments, &name, act, back).await?);
        }
        Ok(median(times))
    }

    /// From a deleted Service to a new one.
    async fn bring_back(&self) -> Result<String> {
        let mut times = Vec::new();
        for round in 0..ROUNDS {
            let name = format!("bench-{round}");
            let uid = self.services.get(&name).await?.metadata.uid;
            let act = async { self.services.delete(&name, &DeleteParams::default()).await.map(drop) };
            times.push(measure(&self.services, &name, act, |s| s.metadata.uid != uid).await?);
        }
        Ok(median(times))
    }
}

fn image(d: &Deployment) -> Option<String> {
    d.spec.as_ref()?.template.spec.as_ref()?.containers[0].image.clone()
}

/// The time from the end of an action to the first watch event that shows its effect.
async fn measure<K>(
    api: &Api<K>,
    name: &str,
    act: impl Future<Output = kube::Result<()>>,
    mut shows: impl FnMut(&K) -> bool,
) -> Result<Duration>
where
    K: kube::Resource + Clone + serde::de::DeserializeOwned + std::fmt::Debug + Send + 'static,
{
    let version = api.list(&kube::api::ListParams::default().limit(1)).await?.metadata.resource_version;
    let params = WatchParams::default().fields(&format!("metadata.name={name}"));
    let mut events = api.watch(&params, &version.unwrap_or_default()).await?.boxed();
    act.await?;
    let started = Instant::now();
    while let Some(event) = events.try_next().await? {
        if let WatchEvent::Added(o) | WatchEvent::Modified(o) = event
            && shows(&o)
        {
            return Ok(started.elapsed());
        }
    }
    anyhow::bail!("the watch ended")
}

fn median(mut times: Vec<Duration>) -> String {
    times.sort();
    let (low, mid, high) = (times[0], times[times.len() / 2], times[times.len() - 1]);
    let ms = |d: Duration| d.as_secs_f64() * 1e3;
    format!("{:.1} ms ({:.1} to {:.1})", ms(mid), ms(low), ms(high))
}
