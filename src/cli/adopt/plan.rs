//! What taking a release over would change.

use std::{collections::BTreeMap, fmt::Write as _};

use anyhow::{Result, anyhow, bail};
use serde_json::{Map, Value};

use super::{
    super::{
        connect::Connection,
        view::{
            changes::{self, Change, Whose},
            desired::{Loaded, Source},
        },
    },
    seed,
};
use crate::{
    api::{Gvk, definition::DriftMode, names},
    controller::generated::Made,
    release::{
        helm::Record,
        inventory::{ObjectKey, Parent},
        object::{Desired, Prepared, string_data},
        rules::{self, OfInstance},
    },
};

/// So often values are looked for: some are made from others.
const ROUNDS: usize = 6;

/// An object's uid and generation.
type Identity = (String, Option<i64>);

/// What taking over would change.
pub struct Plan {
    /// Generated values that the release has: the operator is to go on with them.
    pub seeds: Vec<Made>,
    desired: Vec<Desired>,
    changes: Vec<Change>,
    /// Objects of the release that are not rendered any more.
    left: Vec<String>,
    unserved: Vec<String>,
    /// Functions that made certificates of which the release has no private key.
    keyless: Vec<String>,
}

impl Plan {
    /// Renders the spec of the resource, without the defaults at the paths of `unset`, with the chart of the definition, and
    /// asks what the API server would make of it. `later` are revisions after the one that is taken over, which Helm did not
    /// bring to an end.
    pub async fn make(
        connection: &Connection,
        loaded: &Loaded,
        (record, later): (&Record, &[Record]),
        spec: &Value,
        unset: &str,
    ) -> Result<Self> {
        let gvk = &loaded.definition.gvk;
        let parent = Parent {
            gvk: gvk.clone(),
            namespace: connection.namespace.clone(),
            name: record.name.clone(),
            // Nobody's: the resource is not there yet.
            uid: "00000000-0000-0000-0000-000000000000".into(),
            definition: names::definition_label(&gvk.kind, &gvk.group),
        };
        let spec = spec.to_string();
        let released = objects(record)?;
        let released_hooks = record.hook_objects().map_err(|error| anyhow!(error))?;
        let mut tried = Vec::new();
        for record in later {
            tried.extend(objects(record)?);
        }
        let mut keyless = Vec::new();
        let mut seeds: Vec<Made> = Vec::new();
        let mut prepared = Prepared::default();
        for round in 1..=ROUNDS {
            let source = Source {
                parent: &parent,
                spec: spec.clone(),
                unset: unset.to_owned(),
                revision: record.version.max(1),
                seeds: &seeds,
            };
            let rendering = loaded.render(connection, &source, &[]).await?;
            prepared = rendering.prepared;
            let hooks = rendering.hooks.iter().filter_map(|hook| {
                let same = |object: &&Value| names_the_same(object, hook);
                Some((hook, released_hooks.iter().find(same)?))
            });
            let members = prepared.desired.iter();
            let pairs: Vec<(&Value, &Value)> = members
                .filter_map(|d| Some((&d.body, released.iter().find(|object| is(object, d))?)))
                .chain(hooks)
                .collect();
            // What was made from others that are other ones since is nobody's any more.
            seeds.retain(|seed| rendering.made.iter().any(|made| made.call == seed.call));
            let found = seed::recover(&rendering.made, &pairs);
            keyless = found.keyless;
            let found = found.values;
            // What is made from something that cannot be kept is found in each round, and is another in the next.
            if found.is_empty() || round == ROUNDS {
                break;
            }
            seeds.extend(found);
        }
        let wrong = rules::attach(&mut prepared.desired, &loaded.definition.spec, &OfInstance::default());
        if !wrong.is_empty() {
            bail!("{}", wrong.join("; "));
        }
        let mut changes = Vec::new();
        let mut desired = prepared.desired;
        let whose = Whose { set: &parent.set(), mode: DriftMode::Correct, deployed: false };
        for d in &mut desired {
            // What only says whose it is differs anyhow, and an owner must be there.
            strip(&mut d.body);
            let mut change = changes::of(connection, &whose, d).await?;
            for before in released.iter().chain(&tried).filter(|object| is(object, d)) {
                if let Some(after) = &mut change.after {
                    without(after, before, &d.body);
                }
            }
            [&mut change.live, &mut change.after].into_iter().flatten().for_each(strip_helms);
            if change.is_any() {
                changes.push(change);
            }
        }
        let is_left = |object: &&Value| !desired.iter().any(|d| is(object, d));
        let mut left: Vec<String> = released.iter().filter(is_left).map(name_of).collect();
        // What was to be made later may never have been.
        for object in tried.iter().filter(is_left) {
            let name = name_of(object);
            if !left.contains(&name) && is_there(connection, object, &connection.namespace).await? {
                left.push(name);
            }
        }
        let unserved = prepared.unserved.iter().map(|(gvk, _)| gvk.to_string()).collect();
        Ok(Plan { seeds, desired, changes, left, unserved, keyless })
    }

    /// Whether something that runs would change.
    pub fn is_change(&self) -> bool {
        !self.unserved.is_empty() || self.changes.iter().any(Change::is_material)
    }

    /// Each change, and what is left over.
    pub fn text(&self) -> String {
        let mut text: String = self.changes.iter().map(Change::text).collect();
        for left in &self.left {
            let _ = writeln!(
                text,
                "{left} is of the release and is not rendered: it stays, and belongs to nobody"
            );
        }
        for kind in &self.unserved {
            let _ = writeln!(text, "the cluster does not serve {kind}");
        }
        for function in &self.keyless {
            let _ = writeln!(
                text,
                "the release has a certificate of {function} without its private key, so it cannot be kept: it and what it \
                 signs are made anew. Where the chart takes certificates as values, give it the present ones; or see \"Certificates\" \
                 in docs/commands.md before --allow-changes"
            );
        }
        text
    }

    /// How much would change, in a sentence.
    pub fn summary(&self) -> String {
        let material = self.changes.iter().filter(|c| c.is_material()).count();
        let slight = self.changes.len() - material;
        let mut text = match material {
            0 => format!(
                "{} would be taken over, and nothing that runs would change",
                count(self.desired.len())
            ),
            n => format!("{} of {} would change", n, count(self.desired.len())),
        };
        if slight > 0 {
            let _ = write!(text, " ({} in labels or annotations only)", count(slight));
        }
        match self.seeds.len() {
            0 => {}
            1 => text.push_str("; 1 generated value is kept"),
            n => {
                let _ = write!(text, "; {n} generated values are kept");
            }
        }
        text
    }

    /// The uid and generation of each object that is there.
    pub async fn identities(&self, connection: &Connection) -> Result<BTreeMap<String, Identity>> {
        let mut all = BTreeMap::new();
        for d in &self.desired {
            if let Some(live) = connection.cluster.metadata(&d.key).await? {
                let identity = (live.metadata.uid.unwrap_or_default(), live.metadata.generation);
                all.insert(d.key.to_string(), identity);
            }
        }
        Ok(all)
    }
}

/// So many objects.
pub fn count(n: usize) -> String {
    if n == 1 { "1 object".to_owned() } else { format!("{n} objects") }
}

/// The objects of a revision, Secrets as the operator writes them.
fn objects(record: &Record) -> Result<Vec<Value>> {
    let mut objects = record.objects().map_err(|error| anyhow!(error))?;
    let secrets =
        objects.iter_mut().filter(|object| object["kind"] == "Secret" && object["apiVersion"] == "v1");
    secrets.for_each(string_data);
    Ok(objects)
}

/// The text at a place of an object; empty where there is none.
fn text<'o>(object: &'o Value, at: &str) -> &'o str {
    object.pointer(at).and_then(Value::as_str).unwrap_or_default()
}

/// Kind and name of an object.
fn name_of(object: &Value) -> String {
    format!("{} {}", text(object, "/kind"), text(object, "/metadata/name"))
}

/// Whether two manifests are of one object.
fn names_the_same(a: &Value, b: &Value) -> bool {
    ["/apiVersion", "/kind", "/metadata/namespace", "/metadata/name"]
        .iter()
        .all(|at| text(a, at) == text(b, at))
}

/// Whether an object of a manifest is in the cluster.
async fn is_there(connection: &Connection, object: &Value, namespace: &str) -> Result<bool> {
    let text = |at| text(object, at);
    let Some(served) = connection.cluster.served(&Gvk::of(text("/apiVersion"), text("/kind"))) else {
        return Ok(false);
    };
    let own = text("/metadata/namespace");
    let namespace = match (served.namespaced, own) {
        (false, _) => "",
        (true, "") => namespace,
        (true, own) => own,
    };
    let name = text("/metadata/name").into();
    let key = ObjectKey { kind: served.kind, namespace: namespace.into(), name };
    Ok(connection.cluster.metadata(&key).await?.is_some())
}

/// Whether an object of the manifest is the desired one.
fn is(object: &Value, desired: &Desired) -> bool {
    let text = |at| text(object, at);
    let group = text("/apiVersion").split_once('/').map_or("", |(group, _)| group);
    let namespace = text("/metadata/namespace");
    *desired.key.kind.kind == *text("/kind")
        && *desired.key.kind.group == *group
        && *desired.key.name == *text("/metadata/name")
        && (namespace.is_empty() || *desired.key.namespace == *namespace)
}

/// Takes our labels and owner from a body.
fn strip(body: &mut Value) {
    let Some(metadata) = body["metadata"].as_object_mut() else { return };
    metadata.remove("ownerReferences");
    remove_from(metadata, "labels", &[names::PART_OF, names::DEFINITION]);
}

/// Takes from an object what Helm puts on it: nothing of that runs.
fn strip_helms(object: &mut Value) {
    let Some(metadata) = object["metadata"].as_object_mut() else { return };
    metadata.remove("ownerReferences");
    remove_from(metadata, "labels", &[names::PART_OF, names::DEFINITION]);
    remove_from(metadata, "annotations", &["meta.helm.sh/release-name", "meta.helm.sh/release-namespace"]);
}

fn remove_from(metadata: &mut Map<String, Value>, part: &str, keys: &[&str]) {
    let Some(map) = metadata.get_mut(part).and_then(Value::as_object_mut) else { return };
    keys.iter().for_each(|key| {
        map.remove(*key);
    });
    if map.is_empty() {
        metadata.remove(part);
    }
}

/// Takes from what an apply would make what Helm applied and the body does not say: Helm's fields become ours, and what we do
/// not say goes.
fn without(after: &mut Value, released: &Value, body: &Value) {
    match (after, released) {
        (Value::Object(after), Value::Object(released)) => {
            for (key, before) in released {
                if before.is_null() || ["apiVersion", "kind", "status"].contains(&key.as_str()) {
                    continue;
                }
                match (after.get_mut(key), body.get(key)) {
                    (Some(_), None) => {
                        after.remove(key);
                    }
                    (Some(after), Some(body)) => without(after, before, body),
                    (None, _) => {}
                }
            }
        }
        (Value::Array(after), Value::Array(released)) => {
            let Value::Array(body) = body else { return };
            let name = |item: &Value| item.get("name").and_then(Value::as_str).map(str::to_owned);
            for before in released {
                let Some(key) = name(before) else { continue };
                let named = |item: &&Value| name(item).as_deref() == Some(&key);
                match body.iter().find(named) {
                    None => after.retain(|item| name(item).as_deref() != Some(&key)),
                    Some(body) => {
                        let item = after.iter_mut().find(|item| name(item).as_deref() == Some(&key));
                        if let Some(item) = item {
                            without(item, before, body);
                        }
                    }
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_helm_applied_and_is_not_rendered_goes() {
        let released = json!({"metadata": {"labels": {"a": "1", "b": "2"}}, "spec": {"replicas": 2, "containers": [
            {"name": "main", "image": "i", "args": ["x"]}, {"name": "old"}]}});
        let body = json!({"metadata": {"labels": {"a": "1"}}, "spec": {"containers": [{"name": "main", "image": "i"}]}});
        let mut after = json!({"metadata": {"labels": {"a": "1", "b": "2", "c": "theirs"}}, "spec": {"replicas": 2, "paused": true,
            "containers": [{"name": "main", "image": "i", "args": ["x"], "stdin": true}, {"name": "old"}, {"name": "injected"}]}});
        without(&mut after, &released, &body);
        assert_eq!(
            after,
            json!({"metadata": {"labels": {"a": "1", "c": "theirs"}}, "spec": {"paused": true,
                "containers": [{"name": "main", "image": "i", "stdin": true}, {"name": "injected"}]}})
        );
    }
}
