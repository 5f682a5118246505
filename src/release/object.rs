//! From rendered objects to what is sent: labels, owner, namespace, and nothing that a manifest must not say.

use std::{collections::HashMap, sync::Arc};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde_json::{Map, Value};

use super::{
    digest,
    inventory::{GroupKind, ObjectKey, Parent},
    rules::Rules,
};
use crate::api::{Gvk, names};

/// The version of what [`prepare`] makes of a rendered object. It is part of every digest, so that a version of Pintle that
/// makes something else applies it.
pub const BODY_FORMAT: u8 = 2;

/// A rendered object and the template that it came from.
#[derive(Debug, Clone)]
pub struct Rendered {
    /// The template, as Helm names it: `web/templates/service.yaml`.
    pub source: String,
    /// The object.
    pub object: Value,
}

/// A desired member, ready to be sent.
#[derive(Debug, Clone)]
pub struct Desired {
    /// Which object it is.
    pub key: Arc<ObjectKey>,
    /// The kind and version that it is written in.
    pub gvk: Gvk,
    /// The template that it came from.
    pub source: String,
    /// The body of the apply.
    pub body: Value,
    /// Digest of the body: of what was rendered, and of what was added to it.
    pub digest: u64,
    /// Digest of what was rendered alone.
    pub rendered: u64,
    /// `helm.sh/resource-policy: keep`: it outlives the instance, and nobody owns it.
    pub keep: bool,
    /// What is done about drift of it, and whether it may be made anew: see [`super::rules::attach`].
    pub rules: Rules,
    /// Objects of one group are applied at once, groups one after the other, in Helm's install order.
    pub group: usize,
}

impl Desired {
    /// Whether the cluster deletes it when it has done its work: a Job with `ttlSecondsAfterFinished`. To make it again would be
    /// to do the work again.
    pub fn goes_by_itself(&self) -> bool {
        (&*self.key.kind.group, &*self.key.kind.kind) == ("batch", "Job")
            && self.body["spec"]["ttlSecondsAfterFinished"].is_number()
    }
}

/// What the cluster knows of a kind.
#[derive(Debug, Clone)]
pub struct Served {
    /// The shared group and kind.
    pub kind: Arc<GroupKind>,
    /// Whether its objects live in namespaces.
    pub namespaced: bool,
}

/// Why a rendered object cannot be sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// It says no kind, or not as text.
    #[error("{source_name}: an object without apiVersion and kind")]
    NoKind {
        /// The template.
        source_name: String,
    },
    /// It has no name.
    #[error("{source_name}: {kind} without metadata.name")]
    NoName {
        /// The template.
        source_name: String,
        /// The kind.
        kind: String,
    },
    /// The same object twice.
    #[error("{key} is rendered twice: by {first} and by {second}")]
    Twice {
        /// The object.
        key: String,
        /// The first template.
        first: String,
        /// The second.
        second: String,
    },
    /// The resource that it is rendered for.
    #[error("{source_name}: {key} is the resource itself, which its own chart cannot make")]
    Itself {
        /// The template.
        source_name: String,
        /// The object.
        key: String,
    },
    /// Something that must be a mapping is none.
    #[error("{source_name}: {kind} {name}: {path} is not a mapping")]
    NotAMapping {
        /// The template.
        source_name: String,
        /// The kind.
        kind: String,
        /// The name.
        name: String,
        /// The path.
        path: String,
    },
}

/// What became of the rendered objects.
#[derive(Debug, Default)]
pub struct Prepared {
    /// To be sent, in order.
    pub desired: Vec<Desired>,
    /// Of kinds that the cluster does not serve (yet): the kind and the template.
    pub unserved: Vec<(Gvk, String)>,
}

/// Prepares rendered objects, which are in install order, lists expanded (see [`flat`]).
///
/// `namespace` is the release's, given to namespaced objects that name none. `served` answers for a kind and version, with
/// none when the cluster does not serve it.
pub fn prepare(
    objects: Vec<Rendered>,
    parent: &Parent,
    namespace: &str,
    mut served: impl FnMut(&Gvk) -> Option<Served>,
) -> Result<Prepared, Error> {
    let mut prepared = Prepared::default();
    let mut by_key: HashMap<Arc<ObjectKey>, usize> = HashMap::new();
    let mut alike: HashMap<(String, u64), u32> = HashMap::new();
    let mut group = 0;
    let mut last_kind: Option<Gvk> = None;
    for Rendered { source, object } in objects {
        let gvk = gvk(&object).ok_or_else(|| Error::NoKind { source_name: source.clone() })?;
        let Some(known) = served(&gvk) else {
            prepared.unserved.push((gvk, source));
            continue;
        };
        let rendered = digest::short(object.to_string().as_bytes());
        let mut name = object["metadata"]["name"].as_str().unwrap_or_default().to_owned();
        if name.is_empty() {
            let Some(prefix) = object["metadata"]["generateName"].as_str().filter(|p| !p.is_empty()) else {
                return Err(Error::NoName { source_name: source, kind: gvk.kind });
            };
            let times = alike.entry((prefix.to_owned(), rendered)).or_default();
            name = generated_name(prefix, &parent.uid, rendered, *times);
            *times += 1;
        }
        let own = object["metadata"]["namespace"].as_str().unwrap_or_default();
        let namespace = match (known.namespaced, own) {
            (false, _) => "",
            (true, "") => namespace,
            (true, own) => own,
        };
        let key = Arc::new(ObjectKey { kind: known.kind, namespace: namespace.into(), name: name.into() });
        if parent.is(&key) {
            return Err(Error::Itself { source_name: source, key: key.to_string() });
        }
        if let Some(first) = by_key.get(&key) {
            return Err(Error::Twice {
                key: key.to_string(),
                first: prepared.desired[*first].source.clone(),
                second: source,
            });
        }
        let (body, keep) = body(object, &key, parent).map_err(|path| Error::NotAMapping {
            source_name: source.clone(),
            kind: gvk.kind.clone(),
            name: key.name.to_string(),
            path: path.to_owned(),
        })?;
        if last_kind.as_ref().is_some_and(|last| (&last.group, &last.kind) != (&gvk.group, &gvk.kind)) {
            group += 1;
        }
        last_kind = Some(gvk.clone());
        by_key.insert(key.clone(), prepared.desired.len());
        let digest = {
            let mut hash = digest::Fnv::default();
            hash.write(&[BODY_FORMAT]);
            hash.write(&rendered.to_le_bytes());
            for part in [&parent.uid, &parent.definition, &parent.gvk.version, &*key.namespace] {
                hash.text(part);
            }
            hash.finish()
        };
        prepared.desired.push(Desired {
            key,
            gvk,
            source,
            body,
            digest,
            rendered,
            keep,
            rules: Rules::default(),
            group,
        });
    }
    Ok(prepared)
}

/// The name of an object that leaves it to the cluster. It is made from what was rendered, so that the same object has the
/// same name at each render and is made once, and another one is made when it is rendered otherwise. `times` counts equal
/// ones of one render.
fn generated_name(prefix: &str, owner: &str, rendered: u64, times: u32) -> String {
    // As long as the API server's own names of that kind, and in its alphabet, which spells no words.
    const LONGEST: usize = 63;
    const SUFFIX: usize = 8;
    const ALPHABET: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
    let mut hash = digest::short(format!("{owner} {rendered} {times}").as_bytes());
    let mut name: String = prefix.chars().take(LONGEST - SUFFIX).collect();
    for _ in 0..SUFFIX {
        let place = usize::try_from(hash % ALPHABET.len() as u64).unwrap_or_default();
        name.push(char::from(ALPHABET[place]));
        hash /= ALPHABET.len() as u64;
    }
    name
}

/// The kinds of rendered objects, as far as they say one.
pub fn kinds_of(objects: &[Rendered]) -> impl Iterator<Item = Gvk> {
    objects.iter().filter_map(|r| gvk(&r.object))
}

/// Expands `kind: List`, however deep, as every client of Kubernetes does.
pub fn flat(objects: Vec<Rendered>) -> Vec<Rendered> {
    let mut out = Vec::with_capacity(objects.len());
    let mut stack: Vec<Rendered> = objects.into_iter().rev().collect();
    while let Some(mut r) = stack.pop() {
        let is_list = r.object["apiVersion"] == "v1" && r.object["kind"] == "List";
        match r.object.get_mut("items") {
            Some(Value::Array(items)) if is_list => {
                let items = std::mem::take(items);
                stack.extend(
                    items.into_iter().rev().map(|object| Rendered { source: r.source.clone(), object }),
                );
            }
            _ if is_list => {}
            _ => out.push(r),
        }
    }
    out
}

pub(super) fn gvk(object: &Value) -> Option<Gvk> {
    let api_version = object["apiVersion"].as_str().filter(|s| !s.is_empty())?;
    let kind = object["kind"].as_str().filter(|s| !s.is_empty())?;
    Some(Gvk::of(api_version, kind))
}

/// The body of the apply, and whether the object is to be kept. The error is the path of what is no mapping.
fn body(mut object: Value, key: &ObjectKey, parent: &Parent) -> Result<(Value, bool), &'static str> {
    if key.kind.group.is_empty() && &*key.kind.kind == "Secret" {
        string_data(&mut object);
    }
    let metadata = clean(&mut object, &key.namespace)?;
    metadata.remove("generateName");
    metadata.insert("name".into(), key.name.to_string().into());
    let annotations = mapping(metadata, "annotations")?;
    let keep =
        annotations.get(names::RESOURCE_POLICY).and_then(Value::as_str).is_some_and(|p| p.trim() == "keep");
    if annotations.is_empty() {
        metadata.remove("annotations");
    }
    let labels = mapping(metadata, "labels")?;
    labels.insert(names::PART_OF.into(), parent.set().into());
    labels.insert(names::DEFINITION.into(), parent.definition.clone().into());
    if parent.can_own(key) && !keep {
        match metadata.entry("ownerReferences").or_insert_with(|| Value::Array(Vec::new())) {
            Value::Array(owners) => owners.push(parent.reference()),
            other => *other = Value::Array(vec![parent.reference()]),
        }
    }
    Ok((object, keep))
}

/// Writes the `stringData` of a Secret into its `data`, as the API server does. Only then are the fields owned that the cluster
/// has, so that a change of one is drift, and one that is no longer rendered goes. What is no text is left for the API server to
/// refuse.
pub fn string_data(secret: &mut Value) {
    let Some(root) = secret.as_object_mut() else { return };
    let texts = |value: &Value| value.as_object().is_some_and(|map| map.values().all(Value::is_string));
    let plain = |value: Option<&Value>| value.is_none_or(|v| v.is_null() || v.is_object());
    if !root.get("stringData").is_some_and(texts) || !plain(root.get("data")) {
        return;
    }
    let Some(Value::Object(strings)) = root.remove("stringData") else { return };
    let data = root.entry("data").or_insert(Value::Null);
    if data.is_null() {
        *data = Value::Object(Map::new());
    }
    if let Some(data) = data.as_object_mut() {
        data.extend(strings.into_iter().filter_map(|(key, text)| {
            let encoded = BASE64_STANDARD.encode(text.as_str()?);
            Some((key, encoded.into()))
        }));
    }
}

/// Takes out of a rendered object what a manifest must not say, and puts it in a namespace (none when empty). Its metadata.
pub(super) fn clean<'o>(
    object: &'o mut Value,
    namespace: &str,
) -> Result<&'o mut Map<String, Value>, &'static str> {
    null_timestamps(object);
    let root = object.as_object_mut().ok_or("the object")?;
    root.remove("status");
    let metadata = mapping(root, "metadata")?;
    // What only the API server writes. A manifest dumped from a cluster has them.
    for field in [
        "managedFields",
        "creationTimestamp",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
        "resourceVersion",
        "uid",
        "selfLink",
        "generation",
    ] {
        metadata.remove(field);
    }
    if namespace.is_empty() {
        metadata.remove("namespace");
    } else {
        metadata.insert("namespace".into(), namespace.into());
    }
    Ok(metadata)
}

/// The mapping under a key; a null or nothing becomes an empty one.
pub(super) fn mapping<'a>(
    map: &'a mut Map<String, Value>,
    key: &'static str,
) -> Result<&'a mut Map<String, Value>, &'static str> {
    let value = map.entry(key).or_insert(Value::Null);
    if value.is_null() {
        *value = Value::Object(Map::new());
    }
    value.as_object_mut().ok_or(match key {
        "metadata" => "metadata",
        "annotations" => "metadata.annotations",
        _ => "metadata.labels",
    })
}

/// Removes `creationTimestamp: null`, which Go programs print into Pod templates and volume claim templates, and empty
/// statuses there.
fn null_timestamps(value: &mut Value) {
    match value {
        Value::Object(map) => {
            if map.get("creationTimestamp").is_some_and(Value::is_null) {
                map.remove("creationTimestamp");
            }
            map.values_mut().for_each(null_timestamps);
        }
        Value::Array(list) => list.iter_mut().for_each(null_timestamps),
        _ => {}
    }
}

/// Digest of what was rendered, for status: whether a chart makes the same of the same.
pub fn manifest_digest(prepared: &Prepared) -> String {
    let mut lines: Vec<(String, u64)> =
        prepared.desired.iter().map(|d| (d.key.to_string(), d.rendered)).collect();
    lines.extend(prepared.unserved.iter().map(|(gvk, source)| (format!("{gvk} {source}"), 0)));
    lines.sort();
    let mut digest = digest::Long::default();
    for (key, of) in lines {
        digest.text(&key).number(of);
    }
    digest.finish()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use serde_json::json;

    pub fn parent() -> Parent {
        Parent {
            gvk: Gvk::of("pintle.dev/v1", "Web"),
            namespace: "shop".into(),
            name: "front".into(),
            uid: "6f1c".into(),
            definition: "web.pintle.dev".into(),
        }
    }

    pub fn served(gvk: &Gvk) -> Option<Served> {
        let namespaced = !matches!(&*gvk.kind, "ClusterRole" | "Namespace");
        let kind = Arc::new(GroupKind { group: gvk.group.clone().into(), kind: gvk.kind.clone().into() });
        (gvk.kind != "Unknown").then_some(Served { kind, namespaced })
    }

    #[test]
    fn string_data_becomes_data() {
        let made = |mut secret: Value| {
            string_data(&mut secret);
            secret
        };
        let both = json!({"data": {"a": "b25l", "b": "dHdv"}, "stringData": {"b": "three", "c": ""}});
        assert_eq!(made(both), json!({"data": {"a": "b25l", "b": "dGhyZWU=", "c": ""}}));
        assert_eq!(made(json!({"stringData": {"a": "x"}, "data": null})), json!({"data": {"a": "eA=="}}));
        for odd in [
            json!({"stringData": {"a": 1}}),
            json!({"stringData": {"a": "x"}, "data": "b"}),
            json!({"stringData": null}),
        ] {
            assert_eq!(made(odd.clone()), odd);
        }
    }

    pub fn rendered(objects: &[Value]) -> Vec<Rendered> {
        objects
            .iter()
            .enumerate()
            .map(|(i, o)| Rendered { source: format!("web/templates/{i}.yaml"), object: o.clone() })
            .collect()
    }

    #[test]
    fn bodies() {
        let objects = [
            json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "a", "creationTimestamp": null}}),
            json!({"apiVersion": "apps/v1", "kind": "Deployment",
                   "metadata": {"name": "a", "labels": {"app": "a"}, "resourceVersion": "1", "uid": "x", "managedFields": []},
                   "spec": {"template": {"metadata": {"creationTimestamp": null}}}, "status": {}}),
            json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "b", "namespace": "edge"}}),
            json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "r", "namespace": "x"}}),
            json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim",
                   "metadata": {"name": "data", "annotations": {"helm.sh/resource-policy": "keep"}}}),
        ];
        let prepared = prepare(rendered(&objects), &parent(), "shop", served).unwrap();
        insta::assert_json_snapshot!(
            prepared
                .desired
                .iter()
                .map(|d| json!({
                    "key": d.key.to_string(), "group": d.group, "keep": d.keep, "body": d.body,
                }))
                .collect::<Vec<_>>()
        );
    }

    #[test]
    fn lists_are_expanded_in_place() {
        let inner = json!({"apiVersion": "v1", "kind": "List", "items": [
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "b"}}]});
        let list = json!({"apiVersion": "v1", "kind": "List", "items": [
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}, inner]});
        let after = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}});
        let empty = json!({"apiVersion": "v1", "kind": "List", "items": null});
        let prepared = prepare(flat(rendered(&[list, after, empty])), &parent(), "shop", served).unwrap();
        let names: Vec<&str> = prepared.desired.iter().map(|d| &*d.key.name).collect();
        assert_eq!(names, ["a", "b", "c"]);
    }

    #[test]
    fn what_cannot_be_sent_is_named() {
        let map = |name: &str| json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}});
        let p = parent();
        let itself =
            json!({"apiVersion": p.gvk.api_version(), "kind": p.gvk.kind, "metadata": {"name": p.name}});
        let cases = [
            vec![json!({"kind": "ConfigMap"})],
            vec![json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"generateName": ""}})],
            vec![map("a"), map("b"), map("a")],
            vec![itself],
            vec![
                json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "labels": ["x"]}}),
            ],
        ];
        let said: Vec<String> = cases
            .iter()
            .map(|objects| prepare(rendered(objects), &parent(), "shop", served).unwrap_err().to_string())
            .collect();
        insta::assert_snapshot!(said.join("\n"));
        let unknown = json!({"apiVersion": "x/v1", "kind": "Unknown", "metadata": {"name": "a"}});
        let prepared = prepare(rendered(&[unknown]), &parent(), "shop", served).unwrap();
        assert_eq!(prepared.unserved[0].0.kind, "Unknown");
    }

    #[test]
    fn names_that_are_left_to_the_cluster_stay() {
        let job = |image: &str| json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"generateName": "seed-"}, "spec": {"image": image}});
        let names = |objects: &[Value]| -> Vec<String> {
            let prepared = prepare(rendered(objects), &parent(), "shop", served).unwrap();
            prepared.desired.iter().map(|d| d.body["metadata"]["name"].as_str().unwrap().to_owned()).collect()
        };
        let first = names(&[job("a"), job("a"), job("b")]);
        assert_eq!(first, names(&[job("a"), job("a"), job("b")]));
        assert!(first.iter().all(|n| n.starts_with("seed-") && n.len() == 13), "{first:?}");
        assert!(first[0] != first[1] && first[1] != first[2]);
        assert_eq!(names(&[job("b")]), first[2..]);
        let long =
            json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"generateName": "x".repeat(200)}});
        assert_eq!(names(&[long])[0].len(), 63);
    }

    #[test]
    fn the_manifest_digest_does_not_depend_on_order() {
        let map = |name: &str| json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}});
        let digest = |objects: &[Value]| {
            manifest_digest(&prepare(rendered(objects), &parent(), "shop", served).unwrap())
        };
        assert_eq!(digest(&[map("a"), map("b")]), digest(&[map("b"), map("a")]));
        assert_ne!(digest(&[map("a")]), digest(&[map("b")]));
    }
}
