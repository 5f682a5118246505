//! Fields that are left to whoever takes them: out of an apply's body goes what somebody else holds, or has removed.
//!
//! A field that nobody has taken is applied like any other. Leaving it out as soon as a rule names it would have
//! server-side apply remove it, since then nobody holds it.

use k8s_openapi::{
    api::autoscaling::v2::HorizontalPodAutoscaler, apimachinery::pkg::apis::meta::v1::ManagedFieldsEntry,
};
use kube::{Api, Client, api::ListParams};
use serde_json::{Map, Value};

use super::{
    drift::{is_autoscaled, is_key_of, is_ours},
    failure::Failure,
    inventory::ObjectKey,
    object::Desired,
    rules::Rules,
};
use crate::api::names;

/// Where a replica count stands.
const REPLICAS: &str = "/spec/replicas";

/// What one manager holds at some place.
#[derive(Clone, Copy)]
enum Holds<'a> {
    /// Nothing there.
    Nothing,
    /// What the tree has; when it is empty, all of the place.
    Tree(&'a Map<String, Value>),
    /// All of it, since it holds something that it is in.
    All,
}

impl<'a> Holds<'a> {
    fn root(tree: &'a Map<String, Value>) -> Self {
        if tree.is_empty() { Holds::Nothing } else { Holds::Tree(tree) }
    }

    fn at(self, key: &str) -> Self {
        match self {
            Holds::Nothing => Holds::Nothing,
            Holds::All => Holds::All,
            Holds::Tree(tree) if tree.is_empty() => Holds::All,
            Holds::Tree(tree) => match tree.get(key).and_then(Value::as_object) {
                Some(below) => Holds::Tree(below),
                None => Holds::Nothing,
            },
        }
    }

    /// What it holds of an item of a list.
    fn item(self, item: &Value) -> Self {
        match self {
            Holds::Tree(tree) if !tree.is_empty() => tree
                .iter()
                .find(|(key, _)| is_key_of(key, item))
                .and_then(|(_, below)| below.as_object())
                .map_or(Holds::Nothing, Holds::Tree),
            other => other.at(""),
        }
    }

    fn any(self) -> bool {
        !matches!(self, Holds::Nothing)
    }

    /// Whether a list's items are held one by one here.
    fn by_item(self) -> bool {
        matches!(self, Holds::Tree(tree) if tree.keys().any(|k| k.starts_with("k:") || k.starts_with("v:")))
    }
}

/// One step into a value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Field(String),
    Item(usize),
}

/// The fields of a desired object that are left to whoever takes them: by its rules and by those that the live one says for
/// itself, and a replica count that a HorizontalPodAutoscaler holds. `set` is the instance's, `managed` are the live object's
/// `managedFields`.
pub async fn pointers(
    client: &Client,
    set: &str,
    desired: &Desired,
    live: Option<&Rules>,
    managed: &[ManagedFieldsEntry],
) -> Result<Vec<String>, Failure> {
    let mut pointers = desired.rules.ignore.clone();
    pointers.extend(live.into_iter().flat_map(|rules| rules.ignore.iter().cloned()));
    if !pointers.iter().any(|p| p == REPLICAS)
        && desired.body.pointer(REPLICAS).is_some()
        && is_autoscaled(managed)
        && has_autoscaler(client, set, &desired.key).await?
    {
        pointers.push(REPLICAS.into());
    }
    Ok(pointers)
}

/// Whether an autoscaler that stays targets an object. Who may not look believes what the field manager says.
async fn has_autoscaler(client: &Client, set: &str, key: &ObjectKey) -> Result<bool, Failure> {
    let api: Api<HorizontalPodAutoscaler> = Api::namespaced(client.clone(), &key.namespace);
    let all = match api.list(&ListParams::default()).await.map_err(Failure::of) {
        Ok(all) => all,
        Err(Failure::Forbidden(_)) => return Ok(true),
        Err(failure) => return Err(failure),
    };
    Ok(all.items.iter().any(|autoscaler| {
        // One of ours that is still rendered has given its target a rule. This one is on its way out.
        let labels = autoscaler.metadata.labels.as_ref();
        let ours = labels.and_then(|l| l.get(names::PART_OF)).is_some_and(|of| of == set);
        let target = &autoscaler.spec.scale_target_ref;
        let api_version = target.api_version.as_deref().unwrap_or_default();
        let group = api_version.split_once('/').map_or("", |(group, _)| group);
        !ours && *target.kind == *key.kind.kind && *target.name == *key.name && *group == *key.kind.group
    }))
}

/// Takes from `body` what `pointers` name and somebody other than us holds, or nobody any more. `managed` are the live
/// object's `managedFields`. What was left out, as JSON pointers.
pub fn leave(body: &mut Value, managed: &[ManagedFieldsEntry], pointers: &[String]) -> Vec<String> {
    let mut out = Vec::new();
    {
        let tree = |e: &'_ ManagedFieldsEntry| e.fields_v1.as_ref().and_then(|f| f.0.as_object().cloned());
        let ours = managed.iter().find(|e| is_ours(e)).map(|e| tree(e).unwrap_or_default());
        let others: Vec<_> = managed.iter().filter(|e| !is_ours(e)).filter_map(tree).collect();
        // Before our first apply nothing can have been taken from us: only what others hold counts.
        let ours = ours.as_ref().map_or(Holds::All, Holds::root);
        let others: Vec<Holds<'_>> = others.iter().map(Holds::root).collect();
        for pointer in pointers {
            descend(body, &tokens(pointer), ours, &others, &mut Vec::new(), &mut out);
        }
    }
    // Without them the object would not be known again.
    out.retain(|path| !is_own(path));
    out.sort();
    out.dedup();
    // From the back, so that the places of items stay true.
    for path in out.iter().rev() {
        remove(body, path);
    }
    out.iter().map(|path| text(path)).collect()
}

/// Whether a path is that of a label by which a member is known, or of its owners.
fn is_own(path: &[Step]) -> bool {
    let field = |at: usize| match path.get(at) {
        Some(Step::Field(name)) => name.as_str(),
        _ => "",
    };
    field(0) == "metadata"
        && (field(1) == "ownerReferences"
            || field(1) == "labels" && [names::PART_OF, names::DEFINITION].contains(&field(2)))
}

/// Follows a pointer.
fn descend(
    value: &Value,
    tokens: &[String],
    ours: Holds<'_>,
    others: &[Holds<'_>],
    path: &mut Vec<Step>,
    out: &mut Vec<Vec<Step>>,
) {
    let Some((token, rest)) = tokens.split_first() else {
        return leaves(value, ours, others, path, out);
    };
    match value {
        Value::Object(map) => {
            let Some(below) = map.get(token) else { return };
            let key = format!("f:{token}");
            let others: Vec<_> = others.iter().map(|o| o.at(&key)).collect();
            path.push(Step::Field(token.clone()));
            descend(below, rest, ours.at(&key), &others, path, out);
            path.pop();
        }
        Value::Array(items) => {
            let by_item = ours.by_item() || others.iter().any(|o| o.by_item());
            let places: Vec<usize> = match token.parse() {
                Ok(at) => vec![at],
                Err(_) if token == "*" => (0..items.len()).collect(),
                Err(_) => return,
            };
            for at in places {
                let Some(item) = items.get(at) else { continue };
                // An item of a list that is one value cannot be left alone: the whole is.
                if !by_item {
                    return leaves(value, ours, others, path, out);
                }
                let others: Vec<_> = others.iter().map(|o| o.item(item)).collect();
                path.push(Step::Item(at));
                descend(item, rest, ours.item(item), &others, path, out);
                path.pop();
            }
        }
        _ => {}
    }
}

/// Collects what of a value is somebody else's.
fn leaves(
    value: &Value,
    ours: Holds<'_>,
    others: &[Holds<'_>],
    path: &mut Vec<Step>,
    out: &mut Vec<Vec<Step>>,
) {
    match value {
        Value::Object(map) if !map.is_empty() => {
            for (name, below) in map {
                let key = format!("f:{name}");
                let others: Vec<_> = others.iter().map(|o| o.at(&key)).collect();
                path.push(Step::Field(name.clone()));
                leaves(below, ours.at(&key), &others, path, out);
                path.pop();
            }
        }
        Value::Array(items) if ours.by_item() || others.iter().any(|o| o.by_item()) => {
            for (at, item) in items.iter().enumerate() {
                let theirs: Vec<_> = others.iter().map(|o| o.item(item)).collect();
                let mine = ours.item(item);
                path.push(Step::Item(at));
                if !mine.any() || !item.is_object() {
                    // Removed by somebody, or taken over whole.
                    if !mine.any() || theirs.iter().any(|o| o.any()) {
                        out.push(path.clone());
                    }
                } else if let Some(item) = item.as_object() {
                    // What the item is known by stays with it.
                    let keys = keys_of(ours, &Value::Object(item.clone()));
                    let rest: Map<String, Value> = item
                        .iter()
                        .filter(|(name, _)| !keys.contains(name))
                        .map(|(n, v)| (n.clone(), v.clone()))
                        .collect();
                    if !rest.is_empty() {
                        leaves(&Value::Object(rest), mine, &theirs, path, out);
                    }
                }
                path.pop();
            }
        }
        _ => {
            if !ours.any() || others.iter().any(|o| o.any()) {
                out.push(path.clone());
            }
        }
    }
}

/// The fields that an item of a list is known by.
fn keys_of(holds: Holds<'_>, item: &Value) -> Vec<String> {
    let Holds::Tree(tree) = holds else { return Vec::new() };
    let key = tree.keys().find(|key| is_key_of(key, item));
    let keys = key.and_then(|key| key.strip_prefix("k:"));
    let keys: Map<String, Value> = keys.and_then(|k| serde_json::from_str(k).ok()).unwrap_or_default();
    keys.into_iter().map(|(name, _)| name).collect()
}

/// Removes what is at a path, and the mappings that are empty without it.
fn remove(value: &mut Value, path: &[Step]) -> bool {
    let Some((step, rest)) = path.split_first() else { return true };
    match (step, value) {
        (Step::Field(name), Value::Object(map)) => {
            if map.get_mut(name).is_some_and(|below| remove(below, rest)) {
                map.remove(name);
            }
            map.is_empty()
        }
        (Step::Item(at), Value::Array(items)) => {
            if *at < items.len() && remove(&mut items[*at], rest) {
                items.remove(*at);
            }
            items.is_empty()
        }
        _ => false,
    }
}

fn tokens(pointer: &str) -> Vec<String> {
    pointer.split('/').skip(1).map(|t| t.replace("~1", "/").replace("~0", "~")).collect()
}

fn text(path: &[Step]) -> String {
    let mut out = String::new();
    for step in path {
        out.push('/');
        match step {
            Step::Field(name) => out.push_str(&name.replace('~', "~0").replace('/', "~1")),
            Step::Item(at) => out.push_str(&at.to_string()),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn deployment() -> Value {
        json!({"metadata": {"name": "web", "labels": {"app": "web", "tier": "front"}},
            "spec": {"replicas": 2, "template": {"spec": {"containers": [
                {"name": "main", "image": "a:1", "args": ["x"]}, {"name": "side", "image": "b:1"}]}}}})
    }

    fn ours() -> Value {
        let container = json!({".": {}, "f:name": {}, "f:image": {}, "f:args": {}});
        json!({"f:metadata": {"f:labels": {"f:app": {}, "f:tier": {}}}, "f:spec": {"f:replicas": {}, "f:template": {"f:spec":
            {"f:containers": {"k:{\"name\":\"main\"}": container, "k:{\"name\":\"side\"}": container}}}}})
    }

    /// What is left out when we hold `ours` and somebody else `theirs`, and what is left of the body.
    fn left(ours: Option<Value>, theirs: &Value, pointers: &[&str]) -> (Vec<String>, Value) {
        let mut entries = vec![
            json!({"manager": "kubectl", "operation": "Update", "subresource": "scale", "fieldsV1": theirs}),
        ];
        entries.extend(ours.map(|o| json!({"manager": "pintle", "operation": "Apply", "fieldsV1": o})));
        let managed: Vec<ManagedFieldsEntry> = serde_json::from_value(entries.into()).unwrap();
        let mut body = deployment();
        let pointers: Vec<String> = pointers.iter().map(ToString::to_string).collect();
        let out = leave(&mut body, &managed, &pointers);
        (out, body)
    }

    #[test]
    fn what_nobody_took_is_applied() {
        let (out, body) = left(Some(ours()), &json!({}), &["/spec", "/metadata/labels/app"]);
        assert_eq!((out, body), (vec![], deployment()));
        let (out, _) = left(None, &json!({"f:status": {}}), &["/spec"]);
        assert_eq!(out, [] as [&str; 0], "nothing is taken before the first apply");
    }

    #[test]
    fn what_another_holds_is_theirs() {
        let replicas = json!({"f:spec": {"f:replicas": {}}});
        let (out, body) = left(Some(ours()), &replicas, &["/spec/replicas", "/metadata/labels"]);
        assert_eq!(out, ["/spec/replicas"]);
        assert!(body["spec"].get("replicas").is_none());
        let (out, _) = left(None, &replicas, &["/spec/replicas"]);
        assert_eq!(out, ["/spec/replicas"]);
    }

    #[test]
    fn what_was_removed_stays_removed() {
        let mut mine = ours();
        mine["f:metadata"] = json!({"f:labels": {"f:app": {}}});
        let (out, body) = left(Some(mine), &json!({}), &["/metadata/labels"]);
        assert_eq!(out, ["/metadata/labels/tier"]);
        assert_eq!(body["metadata"]["labels"], json!({"app": "web"}));
        let mut mine = ours();
        mine["f:metadata"] = json!({});
        let (_, body) = left(Some(mine), &json!({}), &["/metadata/labels/app", "/metadata/labels/tier"]);
        assert_eq!(
            body["metadata"],
            json!({"name": "web", "labels": {"app": "web", "tier": "front"}}),
            "all of metadata is ours"
        );
    }

    #[test]
    fn what_a_member_is_known_by_is_nobody_elses() {
        let mut body = deployment();
        body["metadata"]["labels"][names::PART_OF] = "set".into();
        body["metadata"]["labels"][names::DEFINITION] = "web".into();
        let managed: Vec<ManagedFieldsEntry> = serde_json::from_value(json!([
            {"manager": "pintle", "operation": "Apply", "fieldsV1": {"f:metadata": {"f:labels": {"f:app": {}}}, "f:spec": {}}}]))
        .unwrap();
        assert_eq!(leave(&mut body, &managed, &["/metadata/labels".into()]), ["/metadata/labels/tier"]);
        assert_eq!(
            body["metadata"]["labels"],
            json!({"app": "web", names::PART_OF: "set", names::DEFINITION: "web"})
        );
    }

    #[test]
    fn items_of_lists() {
        let image = json!({"f:spec": {"f:template": {"f:spec": {"f:containers": {"k:{\"name\":\"main\"}": {"f:image": {}}}}}}});
        for pointers in [
            ["/spec/template/spec/containers"],
            ["/spec/template/spec/containers/0/image"],
            ["/spec/template/spec/containers/*/image"],
        ] {
            let (out, body) = left(Some(ours()), &image, &pointers);
            assert_eq!(out, ["/spec/template/spec/containers/0/image"]);
            assert_eq!(
                body["spec"]["template"]["spec"]["containers"][0],
                json!({"name": "main", "args": ["x"]})
            );
        }
        let mut mine = ours();
        mine["f:spec"]["f:template"]["f:spec"]["f:containers"]
            .as_object_mut()
            .unwrap()
            .remove("k:{\"name\":\"side\"}");
        let (out, body) = left(Some(mine), &json!({}), &["/spec/template/spec/containers"]);
        assert_eq!(out, ["/spec/template/spec/containers/1"]);
        assert_eq!(body["spec"]["template"]["spec"]["containers"].as_array().unwrap().len(), 1);
    }

    #[test]
    fn pointers_that_lead_nowhere() {
        for pointer in [
            "/spec/nothing",
            "/spec/replicas/0",
            "/spec/template/spec/containers/x",
            "/spec/template/spec/containers/9",
            "//",
        ] {
            let (out, body) = left(Some(ours()), &json!({"f:spec": {"f:replicas": {}}}), &[pointer]);
            assert_eq!((out.len(), body), (0, deployment()), "{pointer}");
        }
    }
}
