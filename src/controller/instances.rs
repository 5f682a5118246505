//! The watches of custom resources: one for each definition (and namespace, where not all are watched).

use std::sync::Arc;

use futures::{StreamExt as _, TryStreamExt as _, pin_mut};
use kube::{
    core::ApiResource,
    runtime::{WatchStreamExt as _, watcher::Event},
};
use tokio::sync::watch;

use super::{
    Operator,
    cr::Cr,
    metrics::OfKind,
    queue::InstanceKey,
    watches::{failure_of, watched},
};
use crate::release::cluster::dynamic;

impl Operator {
    /// Watches the instances of a definition in a namespace, or in all. `listed` is set once all are known.
    pub(super) async fn watch_instances(
        self: Arc<Self>,
        definition: usize,
        resource: ApiResource,
        namespace: String,
        listed: watch::Sender<bool>,
    ) {
        let kind = self.served(definition).definition.gvk.group_kind();
        let api = dynamic::<Cr>(self.cluster.client().clone(), &resource, &namespace);
        let mut config = self.settings.watch_config();
        let selector = self.settings.instances_of(&self.served(definition).definition.selector);
        if !selector.is_empty() {
            config = config.labels(&selector);
        }
        let events = watched(api, config)
            .inspect_err(|error| {
                tracing::warn!(%kind, error = %failure_of(error), "a watch failed and will be tried again");
                self.metrics.watch_failures.get_or_create(&OfKind { kind: kind.clone() }).inc();
            })
            .default_backoff();
        pin_mut!(events);
        let mut epoch = 0;
        while let Some(event) = events.next().await {
            match event {
                Err(_) => {}
                Ok(Event::Init) => epoch = self.world().begin_list(),
                Ok(Event::InitApply(cr) | Event::Apply(cr)) => self.saw_instance(definition, cr),
                Ok(Event::InitDone) => {
                    let vanished = self.world().instances_not_since(definition, &namespace, epoch);
                    for id in vanished {
                        self.instance_gone(&id);
                    }
                    listed.send_replace(true);
                    tracing::info!(%kind, namespace, instances = self.world().count(definition), "listed");
                }
                Ok(Event::Delete(cr)) => {
                    let key =
                        InstanceKey { definition, namespace: cr.namespace().into(), name: cr.name().into() };
                    self.instance_gone(&key);
                }
            }
            let count = self.world().count(definition);
            self.metrics
                .instances
                .get_or_create(&OfKind { kind: kind.clone() })
                .set(i64::try_from(count).unwrap_or(i64::MAX));
        }
    }

    /// Takes in a resource that was seen, and asks for a reconcile if there is reason to.
    pub(super) fn saw_instance(&self, definition: usize, cr: Cr) {
        let gvk = &self.served(definition).definition.gvk;
        let wanted = self.world().saw_instance(definition, &gvk.kind, &gvk.group, cr);
        self.ask(wanted);
    }

    fn instance_gone(&self, key: &InstanceKey) {
        let gone = self.world().instance_gone(key);
        if let Some((id, unused)) = gone {
            self.queue.forget(&id);
            self.unwatch(&unused);
            self.pods.release(&id, &[]);
            self.lookups.forget(&id);
            tracing::info!(instance = %id, "gone");
        }
    }
}
