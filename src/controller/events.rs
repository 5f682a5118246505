//! Events: what a person who looks at an instance would want to know.
//!
//! They are written one after the other, behind the work they tell of: a reconcile never waits for one, they give way to
//! reconciles for a while, and a storm drops some (see [`super::backlog`]). The same event again within a few minutes becomes a count on the first, as Kubernetes has it.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use k8s_openapi::{
    api::{
        core::v1::{self as core, ObjectReference},
        events::v1::{Event, EventSeries},
    },
    apimachinery::pkg::apis::meta::v1::{MicroTime, ObjectMeta, Time},
    jiff::Timestamp,
};
use kube::{
    Api, Client,
    api::{Patch, PatchParams, PostParams},
};
use serde_json::json;

use super::{
    backlog::{self, Backlog, Taker},
    metrics::Metrics,
};
use crate::{
    api::status::cut,
    release::{
        digest::Fnv,
        inventory::{ObjectKey, Parent},
    },
};

/// The longest note that the API takes, in bytes.
const NOTE_LIMIT: usize = 1024;
/// So long an event gives way to reconciles.
const PATIENCE: Duration = Duration::from_secs(2);
/// How often it is looked whether it may go.
const LOOK: Duration = Duration::from_millis(20);
/// For so long the same event is counted rather than written anew.
const SAME: Duration = Duration::from_secs(360);
/// So many events are remembered to be counted.
const REMEMBERED: usize = 512;

/// How urgent an event is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// Good to know.
    Normal,
    /// Worth a look.
    Warning,
}

/// An event about an instance.
#[derive(Debug, Clone)]
pub struct Said {
    /// The instance.
    pub about: ObjectReference,
    /// The member that it is about, if any.
    pub related: Option<ObjectReference>,
    /// How urgent.
    pub level: Level,
    /// Why, in one word.
    pub reason: &'static str,
    /// What was done, in one word.
    pub action: &'static str,
    /// For a person.
    pub note: String,
}

/// Where events are handed in.
pub struct Events {
    backlog: Backlog,
    metrics: Arc<Metrics>,
}

impl Events {
    /// A place to hand in events, and the task that writes them. `busy` says whether reconciles run.
    pub fn new(
        client: Client,
        metrics: Arc<Metrics>,
        busy: Arc<AtomicBool>,
    ) -> (Self, impl Future<Output = ()> + Send) {
        let (backlog, taker) = backlog::new();
        (Events { backlog, metrics: metrics.clone() }, write(client, taker, busy, metrics))
    }

    /// Hands in an event. When too many wait, it is dropped, or one that is less important.
    pub fn say(&self, said: Said) {
        if !self.backlog.add(said) {
            self.metrics.events_dropped.inc();
        }
    }

    /// Lets the writer end once it has written what waits.
    pub fn end(&self) {
        self.backlog.end();
    }
}

/// The reference to an instance.
pub fn about(parent: &Parent) -> ObjectReference {
    ObjectReference {
        api_version: Some(parent.gvk.api_version()),
        kind: Some(parent.gvk.kind.clone()),
        namespace: (!parent.namespace.is_empty()).then(|| parent.namespace.clone()),
        name: Some(parent.name.clone()),
        uid: Some(parent.uid.clone()),
        ..ObjectReference::default()
    }
}

/// The reference to a member.
pub fn related(key: &ObjectKey, api_version: &str) -> ObjectReference {
    ObjectReference {
        api_version: Some(api_version.to_owned()),
        kind: Some(key.kind.kind.to_string()),
        namespace: (!key.namespace.is_empty()).then(|| key.namespace.to_string()),
        name: Some(key.name.to_string()),
        ..ObjectReference::default()
    }
}

struct Written {
    name: String,
    count: i32,
    at: Instant,
}

async fn write(client: Client, mut waiting: Taker, busy: Arc<AtomicBool>, metrics: Arc<Metrics>) {
    let mut written: HashMap<u64, Written> = HashMap::new();
    // The name of the Pod, when it is told.
    let instance =
        std::env::var("POD_NAME").or_else(|_| std::env::var("HOSTNAME")).unwrap_or_else(|_| "pintle".into());
    let mut gave_way = Instant::now();
    let mut old_api = false;
    let mut told = false;
    while let Some(said) = waiting.next().await {
        while busy.load(Relaxed) && gave_way.elapsed() < PATIENCE {
            tokio::time::sleep(LOOK).await;
        }
        gave_way = Instant::now();
        let now = Instant::now();
        if written.len() >= REMEMBERED {
            written.retain(|_, w| now.duration_since(w.at) < SAME);
            if written.len() >= REMEMBERED {
                written.clear();
            }
        }
        // Events about cluster-scoped objects live in the namespace default.
        let namespace = said.about.namespace.clone().unwrap_or_else(|| "default".into());
        let api: Api<Event> = Api::namespaced(client.clone(), &namespace);
        let key = identity(&said);
        let known = written.get_mut(&key).filter(|w| now.duration_since(w.at) < SAME);
        let result = match known {
            // What may create in the old API may not always patch: the first tells it.
            Some(known) if old_api => {
                known.at = now;
                Ok(())
            }
            Some(known) => {
                known.count += 1;
                known.at = now;
                let series =
                    EventSeries { count: known.count, last_observed_time: MicroTime(Timestamp::now()) };
                let patch = Patch::Merge(json!({ "series": series }));
                api.patch(&known.name, &PatchParams::default(), &patch).await.map(|_| ())
            }
            None => {
                let event = event(said, &namespace, &instance);
                let name = event.metadata.name.clone().unwrap_or_default();
                written.insert(key, Written { name, count: 1, at: now });
                if old_api {
                    create_old(&client, &namespace, event).await
                } else {
                    match api.create(&PostParams::default(), &event).await {
                        // Roles that operator-sdk scaffolds know the old API alone.
                        Err(kube::Error::Api(status)) if status.code == 403 => {
                            let result = create_old(&client, &namespace, event).await;
                            old_api = result.is_ok();
                            result
                        }
                        result => result.map(|_| ()),
                    }
                }
            }
        };
        if let Err(error) = result {
            written.remove(&key);
            metrics.events_dropped.inc();
            // One that may not be written tells of all the others.
            let refused = matches!(&error, kube::Error::Api(status) if status.code == 403);
            if refused && !std::mem::replace(&mut told, true) {
                tracing::warn!(%error, "Events cannot be written");
            } else {
                tracing::debug!(%error, "an Event was not written");
            }
        }
    }
}

/// Writes an Event through the API of the core group, which has them too.
async fn create_old(client: &Client, namespace: &str, event: Event) -> Result<(), kube::Error> {
    let time = event.event_time.as_ref().map(|time| Time(time.0));
    let event = core::Event {
        metadata: event.metadata,
        action: event.action,
        reason: event.reason,
        message: event.note,
        type_: event.type_,
        event_time: event.event_time,
        first_timestamp: time.clone(),
        last_timestamp: time,
        count: Some(1),
        involved_object: event.regarding.unwrap_or_default(),
        related: event.related,
        reporting_component: event.reporting_controller,
        reporting_instance: event.reporting_instance,
        ..core::Event::default()
    };
    Api::namespaced(client.clone(), namespace)
        .create(&PostParams::default(), &event)
        .await
        .map(|_: core::Event| ())
}

fn identity(said: &Said) -> u64 {
    let mut hash = Fnv::default();
    for part in [said.about.uid.as_deref().unwrap_or_default(), said.reason, &said.note] {
        hash.text(part);
    }
    hash.finish()
}

fn event(said: Said, namespace: &str, instance: &str) -> Event {
    let now = Timestamp::now();
    // As client-go names them: the object, and a number that is never the same twice.
    let stem: String = said.about.name.as_deref().unwrap_or("pintle").chars().take(200).collect();
    Event {
        metadata: ObjectMeta {
            name: Some(format!("{stem}.{:x}", now.as_nanosecond())),
            namespace: Some(namespace.to_owned()),
            ..ObjectMeta::default()
        },
        action: Some(said.action.to_owned()),
        reason: Some(said.reason.to_owned()),
        note: Some(cut(&said.note, NOTE_LIMIT)),
        type_: Some(match said.level {
            Level::Normal => "Normal".into(),
            Level::Warning => "Warning".into(),
        }),
        event_time: Some(MicroTime(now)),
        regarding: Some(said.about),
        related: said.related,
        reporting_controller: Some("pintle.dev/operator".into()),
        reporting_instance: Some(instance.to_owned()),
        ..Event::default()
    }
}
