//! Definitions to controllers; one instance's reconcile, status, events, metrics.
//!
//! An [`Operator`] watches the custom resources of its definitions and the members of their instances. What it sees goes
//! into the [`world`]; what asks for a reconcile goes into the [`queue`]; what runs is [`reconcile`].

mod backlog;
pub mod charts;
pub mod cr;
pub mod events;
pub mod generated;
pub mod http;
mod instances;
mod kinds;
pub mod leader;
pub mod lookups;
pub mod metrics;
mod pods;
pub mod queue;
mod reconcile;
pub mod renderer;
pub mod secure;
pub mod settings;
pub mod traces;
pub mod trigger;
mod watches;
pub mod world;

use std::{
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use kube::{Client, api::ListParams};
use tokio::{sync::watch, task::JoinSet};

use self::{
    cr::Cr,
    events::Events,
    kinds::KindsWatch,
    lookups::Lookups,
    metrics::Metrics,
    pods::Pods,
    queue::{InstanceId, Queue},
    renderer::Renderer,
    settings::Settings,
    trigger::Trigger,
    watches::Watches,
    world::{Wanted, World},
};
use crate::{
    api::{Definition, names},
    release::{
        cluster::{Cluster, dynamic},
        digest,
        failure::Failure,
        inventory::{GroupKind, Parent},
    },
    render::{Capabilities, KubeVersion},
};

/// Changes of health come in bursts (a rollout is many); so long they are gathered.
const HEALTH_DELAY: Duration = Duration::from_millis(100);
/// So long while reconciles run: what changes objects goes first, and more is gathered meanwhile.
const HEALTH_DELAY_BUSY: Duration = Duration::from_millis(800);
/// So many reconciles may run at once, of all definitions together.
const RUNNING: usize = 64;
/// How often it is looked again for a kind that is not served yet.
const SERVED_AGAIN: Duration = Duration::from_secs(5);

/// A definition and its loaded chart.
pub struct Served {
    /// The definition.
    pub definition: Definition,
    /// The chart.
    pub renderer: Arc<dyn Renderer>,
    /// The value of the label `pintle.dev/definition` on members.
    label: String,
    /// The chart's digest, hashed.
    chart: u64,
    /// Whether a render of it has asked for generated values.
    generates: AtomicBool,
    /// Whether the CRDs of its `crds/` were applied.
    crds: AtomicBool,
    /// Whether the last status could not be kept, by the kind's own CRD.
    statusless: AtomicBool,
}

impl Served {
    /// A definition with its chart.
    pub fn new(definition: Definition, renderer: Arc<dyn Renderer>) -> Self {
        let label = names::definition_label(&definition.gvk.kind, &definition.gvk.group);
        let chart = digest::short(renderer.chart().digest.as_bytes());
        Served {
            definition,
            renderer,
            label,
            chart,
            generates: AtomicBool::default(),
            crds: AtomicBool::default(),
            statusless: AtomicBool::default(),
        }
    }
}

/// The operator.
pub struct Operator {
    cluster: Cluster,
    served: Vec<Served>,
    settings: Settings,
    world: Mutex<World>,
    queue: Queue,
    watches: Watches,
    kinds: KindsWatch,
    pods: Pods,
    lookups: Lookups,
    events: Events,
    metrics: Arc<Metrics>,
    /// Whether reconciles run: what is not urgent gives way.
    busy: Arc<AtomicBool>,
    /// Whether another process leads, and this one waits for its turn.
    standby: AtomicBool,
    listed: OnceLock<Vec<(String, watch::Receiver<bool>)>>,
    /// The cluster's version and APIs as charts see them, and the epoch of discovery that they are of.
    capabilities: Mutex<(u64, Arc<Capabilities>)>,
}

impl Operator {
    /// An operator for some definitions, and the task that writes its Events, which ends after the operator.
    pub fn new(
        client: Client,
        served: Vec<Served>,
        settings: Settings,
        metrics: Arc<Metrics>,
    ) -> (Arc<Self>, impl Future<Output = ()> + Send + 'static) {
        let busy = Arc::new(AtomicBool::default());
        let (events, writer) = Events::new(client.clone(), metrics.clone(), busy.clone());
        let limits: Vec<usize> = served
            .iter()
            .map(|s| s.definition.max_concurrent.unwrap_or(settings.max_concurrent).max(1))
            .collect();
        let kinds: Vec<GroupKind> =
            served.iter().map(|s| GroupKind::parse(&s.definition.gvk.group_kind())).collect();
        let operator = Operator {
            cluster: Cluster::new(client),
            served,
            settings,
            world: Mutex::new(World::new(kinds)),
            queue: Queue::new(limits),
            watches: Watches::default(),
            kinds: KindsWatch::default(),
            pods: Pods::default(),
            lookups: Lookups::default(),
            events,
            metrics,
            busy,
            standby: AtomicBool::default(),
            listed: OnceLock::new(),
            // Epochs of what was discovered begin with 1.
            capabilities: Mutex::default(),
        };
        (Arc::new(operator), writer)
    }

    /// Says that the operator waits for its turn to lead, for which it is as ready as it need be.
    pub fn stand_by(&self) {
        self.standby.store(true, Relaxed);
    }

    /// Runs until `until`, then lets what runs come to its end.
    pub async fn run(self: Arc<Self>, until: impl Future<Output = ()>) -> Result<(), Failure> {
        self.standby.store(false, Relaxed);
        self.metrics.leader.set(1);
        let mut watches = JoinSet::new();
        tokio::pin!(until);
        tokio::select! {
            () = &mut until => return Ok(()),
            result = self.start(&mut watches) => result?,
        }
        let mut running = JoinSet::new();
        loop {
            self.busy.store(!running.is_empty(), Relaxed);
            self.metrics.running.set(i64::try_from(running.len()).unwrap_or(i64::MAX));
            tokio::select! {
                () = &mut until => break,
                next = self.queue.next(), if running.len() < RUNNING => {
                    let Some((id, triggers)) = next else { break };
                    let operator = self.clone();
                    running.spawn(async move {
                        let turn = Turn { operator: &operator, id: &id };
                        operator.run_one(&id, &triggers).await;
                        drop(turn);
                    });
                }
                Some(ended) = running.join_next() => log_panic(ended),
                Some(ended) = watches.join_next() => log_panic(ended),
            }
        }
        tracing::info!(running = running.len(), "stopping: what runs comes to its end");
        self.queue.close();
        self.busy.store(false, Relaxed);
        watches.abort_all();
        while let Some(ended) = running.join_next().await {
            log_panic(ended);
        }
        self.watches.stop();
        self.kinds.stop();
        self.pods.stop();
        self.lookups.stop();
        self.events.end();
        Ok(())
    }

    /// Learns what is served and starts the watches of all instances.
    async fn start(self: &Arc<Self>, watches: &mut JoinSet<()>) -> Result<(), Failure> {
        let mut wait = Duration::from_millis(500);
        while let Err(failure) = self.cluster.discover().await {
            if !failure.is_passing() {
                return Err(failure);
            }
            tracing::warn!(error = %failure, "the API server does not answer yet");
            tokio::time::sleep(wait).await;
            wait = (wait * 2).min(Duration::from_secs(10));
        }
        self.check_selectors().await?;
        let mut all_listed = Vec::new();
        for (definition, served) in self.served.iter().enumerate() {
            let (sender, listed) = watch::channel(false);
            all_listed.push((served.definition.gvk.group_kind(), listed));
            watches.spawn(self.clone().serve(definition, sender));
        }
        // Nobody else sets it.
        let _ = self.listed.set(all_listed);
        Ok(())
    }

    /// Sees that the API server can read the selectors: with one that it cannot, nothing would ever be listed.
    async fn check_selectors(&self) -> Result<(), Failure> {
        for Served { definition, .. } in &self.served {
            let selector = self.settings.instances_of(&definition.selector);
            let Some((resource, namespaced)) =
                self.cluster.resource_in(&definition.gvk).filter(|_| !selector.is_empty())
            else {
                continue;
            };
            let namespace =
                self.settings.namespaces.first().filter(|_| namespaced).map_or("", String::as_str);
            let api = dynamic::<Cr>(self.cluster.client().clone(), &resource, namespace);
            let one = ListParams::default().labels(&selector).limit(1);
            if let Err(Failure::Invalid(message)) = api.list_metadata(&one).await.map_err(Failure::of) {
                let kind = &definition.gvk.kind;
                return Err(Failure::Invalid(format!("selector {selector:?} of {kind}: {message}")));
            }
        }
        Ok(())
    }

    /// Watches the instances of a definition, once its kind is served: its CRD may come after the operator.
    async fn serve(self: Arc<Self>, definition: usize, listed: watch::Sender<bool>) {
        let gvk = &self.served[definition].definition.gvk;
        let mut told = false;
        let (resource, namespaced) = loop {
            if let Some(found) = self.cluster.resource_in(gvk) {
                break found;
            }
            if !told {
                tracing::warn!(kind = %gvk, "the cluster does not serve this kind yet: is its CRD installed?");
                told = true;
            }
            tokio::time::sleep(SERVED_AGAIN).await;
            if let Err(failure) = self.cluster.rediscover(self.cluster.epoch()).await {
                tracing::warn!(error = %failure, "discovery failed");
            }
        };
        let scopes = match &self.settings.namespaces[..] {
            some @ [_, ..] if namespaced => some.to_vec(),
            _ => vec![String::new()],
        };
        let mut watches = Vec::new();
        let mut parts = Vec::new();
        for namespace in scopes {
            let (part, all) = watch::channel(false);
            parts.push(all);
            watches.push(self.clone().watch_instances(definition, resource.clone(), namespace, part));
        }
        let all_listed = async {
            for mut part in parts {
                // It ends only with the whole.
                let _ = part.wait_for(|listed| *listed).await;
            }
            listed.send_replace(true);
        };
        futures::future::join(futures::future::join_all(watches), all_listed).await;
    }

    fn served(&self, definition: usize) -> &Served {
        &self.served[definition]
    }

    fn world(&self) -> MutexGuard<'_, World> {
        // Nothing that holds it panics in the middle of a change.
        self.world.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks for the reconciles that came of something seen.
    fn ask(&self, wanted: impl IntoIterator<Item = Wanted>) {
        for (id, trigger) in wanted {
            match trigger {
                Trigger::Health(_) => {
                    let busy = self.busy.load(Relaxed);
                    let delay = if busy { HEALTH_DELAY_BUSY } else { HEALTH_DELAY };
                    self.queue.add_at(&id, trigger, Instant::now() + delay);
                }
                Trigger::LookedUp(_) => self.ask_for_lookup(&id, trigger),
                Trigger::Member(_) | Trigger::Gone(_)
                    if !self.served(id.definition).definition.watch_dependents => {}
                _ => self.queue.add(&id, trigger),
            }
        }
    }

    /// The cluster's version and APIs, as charts see them.
    fn capabilities(&self) -> Arc<Capabilities> {
        let mut known = self.capabilities.lock().unwrap_or_else(PoisonError::into_inner);
        let epoch = self.cluster.epoch();
        if known.0 != epoch {
            let api_versions = self.cluster.api_versions().to_vec();
            // What is no version stays Helm's own default.
            let default = Capabilities::default();
            let kube_version =
                KubeVersion::parse(&self.settings.kube_version).unwrap_or(default.kube_version);
            *known =
                (epoch, Arc::new(Capabilities { kube_version, api_versions, ..Capabilities::default() }));
        }
        known.1.clone()
    }

    /// An instance as the parent of its set.
    fn parent(&self, id: &InstanceId, uid: &str) -> Parent {
        let served = self.served(id.definition);
        Parent {
            gvk: served.definition.gvk.clone(),
            namespace: id.namespace.to_string(),
            name: id.name.to_string(),
            uid: uid.to_owned(),
            definition: served.label.clone(),
        }
    }

    /// What `/metrics` shows.
    fn metrics_text(&self) -> String {
        self.metrics.queued.set(i64::try_from(self.queue.depth()).unwrap_or(i64::MAX));
        self.metrics.watches.set(i64::try_from(self.watches.count()).unwrap_or(i64::MAX));
        let mut states = std::collections::BTreeMap::<(usize, &'static str), i64>::new();
        for definition in 0..self.served.len() {
            // A state that nothing is in any more is 0, not what it was.
            states.extend(cr::STATES.map(|state| ((definition, state), 0)));
        }
        for (id, cr) in self.world().instances() {
            *states.entry((id.definition, cr.state())).or_default() += 1;
        }
        for ((definition, state), count) in states {
            let kind = self.served(definition).definition.gvk.group_kind();
            self.metrics.states.get_or_create(&metrics::InState { kind, state }).set(count);
        }
        self.metrics.text()
    }

    /// Why the operator is not ready, if it is not.
    fn not_ready(&self) -> Option<String> {
        if self.standby.load(Relaxed) {
            return None;
        }
        let Some(listed) = self.listed.get() else {
            return Some("the API server does not answer yet".into());
        };
        let (kind, _) = listed.iter().find(|(_, listed)| !*listed.borrow())?;
        Some(format!("the instances of {kind} are not listed yet"))
    }
}

/// A time, a tenth more or less, so that what failed together does not come back together.
fn jittered(time: Duration) -> Duration {
    time.mul_f64(rand::random_range(0.9..1.1))
}

/// An instance's turn. Its end is told to the queue even if the reconcile panics.
struct Turn<'a> {
    operator: &'a Operator,
    id: &'a InstanceId,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.operator.queue.done(self.id);
    }
}

fn log_panic(ended: Result<(), tokio::task::JoinError>) {
    if let Err(error) = ended
        && error.is_panic()
    {
        tracing::error!(%error, "a task panicked");
    }
}
