//! What the templates of a render look up in the cluster.

use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value as Json;
use tokio::runtime::Handle;

use super::{
    super::{
        charts::from_json,
        events::Level,
        generated::{Generated, Made},
        lookups::{Read, Version, describe, is_for},
    },
    Work,
    status::Problem,
};
use crate::{
    api::Gvk,
    release::{
        cluster::Cluster,
        failure::Failure,
        inventory::ObjectKey,
        object::{Prepared, flat},
    },
    render::{Lookup, LookupRecord},
};

/// The cluster as templates read it.
pub(super) struct LiveLookup {
    cluster: Cluster,
    runtime: Handle,
    /// What is answered as if it were not there.
    hidden: Vec<LookupRecord>,
    read: Mutex<Answers>,
}

#[derive(Default)]
struct Answers {
    reads: Vec<Read>,
    failure: Option<String>,
}

impl LiveLookup {
    /// For a render that starts now, in a runtime.
    pub fn new(cluster: Cluster, hidden: &[LookupRecord]) -> Self {
        LiveLookup { cluster, runtime: Handle::current(), hidden: hidden.to_vec(), read: Mutex::default() }
    }
}

impl Lookup for LiveLookup {
    fn lookup(&self, query: &LookupRecord) -> Result<tera::Value, String> {
        let nothing = || tera::Value::from(tera::Map::new());
        if self.hidden.contains(query) {
            return Ok(nothing());
        }
        let gvk = Gvk::of(&query.api_version, &query.kind);
        let found = self.runtime.block_on(self.cluster.fetch(&gvk, &query.namespace, &query.name));
        let mut answers = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        match found {
            Ok(found) => {
                if !answers.reads.iter().any(|(known, _)| known == query) {
                    answers.reads.push((query.clone(), version(found.as_ref())));
                }
                Ok(found.as_ref().map_or_else(nothing, from_json))
            }
            Err(failure) => {
                let message = match &failure {
                    Failure::Forbidden(message) => {
                        format!("the operator may not read what the chart looks up: {message}")
                    }
                    other => format!("looking up {}: {other}", describe(query)),
                };
                answers.failure.get_or_insert(message);
                Err(failure.to_string())
            }
        }
    }
}

/// Which answer it is, by the resource versions in it.
fn version(found: Option<&Json>) -> Version {
    let mut version = Version::default();
    let mut add = |object: &Json| {
        let text = |field: &str| object["metadata"][field].as_str().unwrap_or_default();
        version.add(text("namespace"), text("name"), text("resourceVersion"));
    };
    match found {
        None => {}
        Some(list) if list["items"].is_array() && list["metadata"]["name"].is_null() => {
            list["items"].as_array().into_iter().flatten().for_each(add);
        }
        Some(object) => add(object),
    }
    version
}

impl Work<'_> {
    /// Watches what a render looked up, unless it was one in which something was hidden. Why it could not be read, if so.
    pub(super) fn watch_lookups(&self, live: &LiveLookup, whole: bool) -> Option<String> {
        let answers = std::mem::take(&mut *live.read.lock().unwrap_or_else(PoisonError::into_inner));
        if whole {
            self.operator.looked_up(self.id, answers.reads);
        }
        answers.failure
    }

    /// A chart that renders an object only while a look-up does not find it would have its own object deleted again, and
    /// made again, for ever. Members that a template looked up and that are rendered when they are hidden from it are
    /// desired as they are then. What that render generated; `generated` are then the values that it was made with.
    pub(super) async fn keep_looked_up(
        &self,
        prepared: &mut Prepared,
        revision: u32,
        namespace: &str,
        generated: &mut Arc<Generated>,
    ) -> Result<Vec<Made>, Problem> {
        let reads = self.operator.lookups.reads(self.id);
        if reads.is_empty() {
            return Ok(Vec::new());
        }
        let lost: Vec<Arc<ObjectKey>> = {
            let world = self.operator.world();
            let members = world.members(&self.set);
            members
                .filter(|(key, live)| {
                    !live.deleting
                        && reads.iter().any(|record| is_for(record, key))
                        && !prepared.desired.iter().any(|d| d.key == **key)
                })
                .map(|(key, _)| key.clone())
                .collect()
        };
        if lost.is_empty() {
            return Ok(Vec::new());
        }
        let hidden: Vec<LookupRecord> =
            reads.into_iter().filter(|record| lost.iter().any(|key| is_for(record, key))).collect();
        // Only this render may ask for what was generated.
        *generated = Arc::new(self.load_generated(namespace).await?);
        // A chart that cannot do without has no other render.
        let Ok(mut render) = self.render_once(revision, namespace, generated, &hidden).await else {
            return Ok(Vec::new());
        };
        let objects = flat(std::mem::take(&mut render.objects));
        let Ok(other) = self.prepare(objects, namespace) else { return Ok(Vec::new()) };
        let last = prepared.desired.last().map_or(0, |d| d.group);
        for mut d in other.desired {
            if lost.contains(&d.key) {
                tracing::debug!(key = %d.key, "kept: it is not rendered because it is there");
                d.group += last + 1;
                prepared.desired.push(d);
            }
        }
        Ok(render.generated)
    }

    /// Counts that from equal values the chart made something else: by what it looks up, if it does.
    pub(super) fn count_lookups(&self) {
        let reads = self.operator.lookups.reads(self.id);
        if reads.is_empty() {
            return;
        }
        let renders = self.operator.lookups.rendered_otherwise(self.id);
        if renders.is_fight() {
            let what: Vec<String> = reads.iter().take(5).map(describe).collect();
            let note = format!(
                "the chart renders otherwise each time that what it looks up changes, {} times lately: the next render \
                 waits; it looks up {}",
                renders.lately(),
                what.join(", ")
            );
            self.say(Level::Warning, "LookupLoop", "Render", None, &note);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn versions_of_objects_and_lists() {
        let object = json!({"metadata": {"name": "a", "namespace": "shop", "resourceVersion": "1"}});
        let list = json!({"metadata": {"resourceVersion": "9"}, "items": [object]});
        assert_eq!(version(Some(&object)), version(Some(&list)));
        assert_eq!(version(None), Version::default());
        assert_eq!(version(Some(&json!({"items": [], "metadata": {}}))), Version::default());
        let items = json!({"metadata": {"name": "a", "resourceVersion": "1"}, "items": []});
        assert_ne!(version(Some(&items)), Version::default());
    }
}
