//! What applying would change: the live object beside what the API server would make of the apply, for a person.

use anyhow::{Result, bail};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ManagedFieldsEntry;
use kube::{
    Api,
    api::{DynamicObject, Patch, PatchParams, ValidationDirective},
};
use serde_json::{Map, Value, json};
use similar::TextDiff;

use super::Member;
use crate::{
    api::{Gvk, definition::DriftMode, names},
    cli::connect::Connection,
    release::{
        cluster::dynamic, failure::Failure, inventory::ObjectKey, mend, object::Desired, rules::Rules,
        takeover, yielding,
    },
};

/// What stands for a value of a Secret.
const MASKED: &str = "***";

/// What would become of an object.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// Which object.
    pub key: ObjectKey,
    /// The kind and version that it is written in.
    pub gvk: Gvk,
    /// As it is; none when it is not there.
    pub live: Option<Value>,
    /// As it would be; none when it would be deleted.
    pub after: Option<Value>,
    /// Why the API server would refuse it.
    pub refused: Option<String>,
    /// JSON pointers to fields that are left to others, and are as they are in `after`.
    pub yielded: Vec<String>,
    /// Why the operator leaves it as it is, if it does.
    pub left: Option<&'static str>,
}

impl Change {
    /// Whether there is anything to tell.
    pub fn is_any(&self) -> bool {
        self.live != self.after || self.refused.is_some()
    }

    /// Whether the operator would do something about it.
    pub fn is_to_come(&self) -> bool {
        self.is_any() && self.left.is_none()
    }

    /// What is left to others, for a person.
    pub fn yields(&self) -> Option<String> {
        let fields = self.yielded.join(", ");
        (!fields.is_empty()).then(|| format!("{}: left to others by a rule: {fields}", self.key))
    }

    /// Whether something but labels and annotations changes.
    pub fn is_material(&self) -> bool {
        let bare = |value: &Option<Value>| {
            let mut value = value.clone()?;
            if let Some(metadata) = value["metadata"].as_object_mut() {
                metadata.remove("labels");
                metadata.remove("annotations");
            }
            Some(value)
        };
        self.refused.is_some() || bare(&self.live) != bare(&self.after)
    }

    fn action(&self) -> &'static str {
        match (&self.live, &self.after) {
            _ if self.refused.is_some() => "refused",
            _ if self.left.is_some() => "leave",
            (None, _) => "create",
            (Some(_), None) => "delete",
            (Some(_), Some(_)) => "change",
        }
    }

    /// As `diff -u` prints it, values of Secrets masked.
    pub fn text(&self) -> String {
        let (live, after) = masked(self.live.as_ref(), self.after.as_ref());
        let yaml = |value: &Option<Value>| match value {
            None => String::new(),
            Some(value) => serde_yaml::to_string(value).unwrap_or_default(),
        };
        let (live, after) = (yaml(&live), yaml(&after));
        let mut name = format!("{}.{}", self.gvk.api_version().replace('/', "."), self.key.kind.kind);
        for part in [&self.key.namespace, &self.key.name] {
            if !part.is_empty() {
                name.push('.');
                name.push_str(part);
            }
        }
        let mut out = TextDiff::from_lines(&live, &after)
            .unified_diff()
            .context_radius(3)
            .header(&format!("live/{name}"), &format!("desired/{name}"))
            .to_string();
        if let Some(refused) = &self.refused {
            out.push_str(&format!("{}: the API server refuses this: {refused}\n", self.key));
        }
        if let Some(left) = self.left {
            out.push_str(&format!("{}: left so: {left}\n", self.key));
        }
        out
    }

    /// For machines: the object, what would be done, and each field as it is and would be, values of Secrets masked.
    pub fn json(&self) -> Value {
        let (live, after) = masked(self.live.as_ref(), self.after.as_ref());
        let mut fields = Vec::new();
        if let (Some(live), Some(after)) = (&live, &after) {
            differences(live, after, &mut String::new(), &mut fields);
        }
        let mut out = json!({
            "apiVersion": self.gvk.api_version(), "kind": self.gvk.kind, "name": &*self.key.name,
            "action": self.action(), "fields": fields,
        });
        if !self.key.namespace.is_empty() {
            out["namespace"] = (*self.key.namespace).into();
        }
        if let Some(why) = self.refused.as_deref().or(self.left) {
            out["message"] = why.into();
        }
        if !self.yielded.is_empty() {
            out["leftToOthers"] = json!(self.yielded);
        }
        out
    }
}

/// Of whom the objects are that are compared.
pub struct Whose<'a> {
    /// The id of the instance's set.
    pub set: &'a str,
    /// What its definition says about drift.
    pub mode: DriftMode,
    /// Whether what is desired was applied in full before, so that whatever differs is drift.
    pub deployed: bool,
}

/// Asks the API server what it would make of each desired object, and says which members are not desired. What agrees, and
/// leaves nothing to others, is left out.
pub async fn compare(
    connection: &Connection,
    whose: &Whose<'_>,
    desired: &[Desired],
    members: &[Member],
) -> Result<Vec<Change>> {
    let mut changes = Vec::new();
    for d in desired {
        let change = of(connection, whose, d).await?;
        if change.is_any() || !change.yielded.is_empty() {
            changes.push(change);
        }
    }
    for member in members {
        let wanted = desired.iter().any(|d| *d.key == *member.key);
        let annotation =
            |name: &str| member.object["metadata"]["annotations"][name].as_str().unwrap_or_default();
        let kept = annotation(names::RESOURCE_POLICY) == "keep" || annotation(names::PRUNE) == "disabled";
        let managed: Vec<ManagedFieldsEntry> =
            serde_json::from_value(member.object["metadata"]["managedFields"].clone()).unwrap_or_default();
        // What the operator never applied it does not delete.
        if !wanted && !kept && managed.iter().any(takeover::is_ours) {
            let text = |at: &str| member.object[at].as_str().unwrap_or_default();
            changes.push(Change {
                key: (*member.key).clone(),
                gvk: Gvk::of(text("apiVersion"), text("kind")),
                live: Some(tidy(member.object.clone())),
                after: None,
                refused: None,
                yielded: Vec::new(),
                left: None,
            });
        }
    }
    Ok(changes)
}

/// What would become of one desired object.
pub async fn of(connection: &Connection, whose: &Whose<'_>, desired: &Desired) -> Result<Change> {
    let key = &desired.key;
    let live = connection.cluster.fetch(&desired.gvk, &key.namespace, &key.name).await?;
    let mut body = desired.body.clone();
    let mut yielded = Vec::new();
    let mut own = None;
    if let Some(live) = &live {
        let annotation =
            |name: &str| live["metadata"]["annotations"][name].as_str().unwrap_or_default().to_owned();
        let (rules, _) = Rules::read(
            &annotation(names::DRIFT),
            &annotation(names::DRIFT_IGNORE),
            &annotation(names::RECREATE),
        );
        let managed: Vec<ManagedFieldsEntry> =
            serde_json::from_value(live["metadata"]["managedFields"].clone()).unwrap_or_default();
        let client = connection.client();
        let pointers = yielding::pointers(&client, whose.set, desired, Some(&rules), &managed).await?;
        yielded = yielding::leave(&mut body, &managed, &pointers);
        own = rules.mode;
    }
    let left = match own.or(desired.rules.mode).unwrap_or(whose.mode) {
        _ if !whose.deployed => None,
        _ if live.is_none() && desired.goes_by_itself() => Some("it was to go when it had done its work"),
        DriftMode::Correct => None,
        DriftMode::Report => Some("drift is only reported"),
        DriftMode::Off => Some("drift is not looked at"),
    };
    let (after, refused) = match dry_run(connection, desired, body).await {
        Ok(after) => (after, None),
        // What is made together with its namespace cannot be tried.
        Err(Failure::NotFound(_)) if live.is_none() => (desired.body.clone(), None),
        Err(failure @ (Failure::Invalid(_) | Failure::Untyped(_) | Failure::Conflict(_))) => {
            (desired.body.clone(), Some(failure.about(key)))
        }
        Err(Failure::Forbidden(message)) => {
            bail!("a dry run of the apply tells what would change, and needs the right to patch: {message}")
        }
        Err(failure) => bail!("{key}: {}", failure.about(key)),
    };
    Ok(Change {
        key: (**key).clone(),
        gvk: desired.gvk.clone(),
        live: live.map(tidy),
        after: Some(tidy(after)),
        refused,
        yielded,
        left,
    })
}

/// What an apply would make, as the operator makes it: with what an ordinary write tolerates.
async fn dry_run(connection: &Connection, desired: &Desired, mut body: Value) -> Result<Value, Failure> {
    let (resource, _) = connection
        .cluster
        .resource_in(&desired.gvk)
        .ok_or_else(|| Failure::NotServed(desired.gvk.to_string()))?;
    let api: Api<DynamicObject> = dynamic(connection.client(), &resource, &desired.key.namespace);
    let params = PatchParams {
        dry_run: true,
        force: true,
        field_manager: Some(names::FIELD_MANAGER.to_owned()),
        field_validation: Some(ValidationDirective::Ignore),
    };
    for _ in 0..=mend::ROUNDS {
        match api.patch(&desired.key.name, &params, &Patch::Apply(&body)).await.map_err(Failure::of) {
            Ok(after) => return serde_json::to_value(after).map_err(|e| Failure::Unavailable(e.to_string())),
            Err(Failure::Untyped(message)) => {
                if mend::mend(&mut body, &message).is_none() {
                    return Err(Failure::Untyped(message));
                }
            }
            Err(failure) => return Err(failure),
        }
    }
    Err(Failure::Untyped("it cannot be read as an object of its kind".into()))
}

/// An object without what only the API server writes.
pub fn tidy(mut object: Value) -> Value {
    if let Some(root) = object.as_object_mut() {
        root.remove("status");
    }
    if let Some(metadata) = object["metadata"].as_object_mut() {
        for field in
            ["managedFields", "resourceVersion", "generation", "uid", "creationTimestamp", "selfLink"]
        {
            metadata.remove(field);
        }
    }
    object
}

/// Both sides with the values of a Secret masked: the same where they are, and told apart where they are not.
fn masked(live: Option<&Value>, after: Option<&Value>) -> (Option<Value>, Option<Value>) {
    let is_secret = |value: &Value| value["kind"] == "Secret" && value["apiVersion"] == "v1";
    let (mut a, mut b) = (live.cloned(), after.cloned());
    if live.or(after).is_some_and(is_secret) {
        for part in ["data", "stringData"] {
            let (before, then) = (values(live, part), values(after, part));
            for (side, own, other, word) in
                [(&mut a, &before, &then, "before"), (&mut b, &then, &before, "after")]
            {
                let Some(map) = side.as_mut().and_then(|s| s.get_mut(part)).and_then(Value::as_object_mut)
                else {
                    continue;
                };
                for (key, value) in map {
                    let differs = other.get(key).is_some_and(|other| Some(other) != own.get(key));
                    *value = if differs { format!("{MASKED} ({word})") } else { MASKED.to_owned() }.into();
                }
            }
        }
        for side in [&mut a, &mut b].into_iter().flatten() {
            if let Some(annotations) = side["metadata"].get_mut("annotations").and_then(Value::as_object_mut)
                && let Some(last) = annotations.get_mut("kubectl.kubernetes.io/last-applied-configuration")
            {
                *last = MASKED.into();
            }
        }
    }
    (a, b)
}

fn values(side: Option<&Value>, part: &str) -> Map<String, Value> {
    side.and_then(|s| s.get(part)).and_then(Value::as_object).cloned().unwrap_or_default()
}

/// The fields in which two objects differ, each with its path and both values.
fn differences(live: &Value, after: &Value, at: &mut String, into: &mut Vec<Value>) {
    if live == after {
        return;
    }
    let length = at.len();
    match (live, after) {
        (Value::Object(a), Value::Object(b)) => {
            let mut keys: Vec<&String> = a.keys().chain(b.keys()).collect();
            keys.sort_unstable();
            keys.dedup();
            for key in keys {
                if key.contains(['.', '/', '[']) {
                    at.push_str(&format!("[{}]", Value::from(key.as_str())));
                } else {
                    at.push_str(&format!(".{key}"));
                }
                differences(a.get(key).unwrap_or(&Value::Null), b.get(key).unwrap_or(&Value::Null), at, into);
                at.truncate(length);
            }
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            for (number, (a, b)) in a.iter().zip(b).enumerate() {
                at.push_str(&format!("[{number}]"));
                differences(a, b, at, into);
                at.truncate(length);
            }
        }
        _ => into.push(json!({ "path": at.as_str(), "live": live, "desired": after })),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::release::inventory::GroupKind;

    fn change(live: Option<Value>, after: Option<Value>) -> Change {
        let kind = live.as_ref().or(after.as_ref()).unwrap()["kind"].as_str().unwrap().to_owned();
        Change {
            key: ObjectKey {
                kind: std::sync::Arc::new(GroupKind::parse(&kind)),
                namespace: "shop".into(),
                name: "a".into(),
            },
            gvk: Gvk::of("v1", &kind),
            live,
            after,
            refused: None,
            yielded: Vec::new(),
            left: None,
        }
    }

    #[test]
    fn secrets_are_masked() {
        let secret = |data: Value| json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}, "data": data});
        let change = change(
            Some(secret(json!({"same": "c2FtZQ==", "new": "b2xk", "gone": "Z29uZQ=="}))),
            Some(secret(json!({"same": "c2FtZQ==", "new": "bmV3", "more": "bW9yZQ=="}))),
        );
        let text = change.text();
        insta::assert_snapshot!(text);
        insta::assert_json_snapshot!(change.json());
        let only = Change { live: None, ..change };
        assert!(!only.text().contains("bmV3") && only.text().contains("***"));
    }

    #[test]
    fn fields_have_paths() {
        let map = |data: Value| json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"labels": data}, "data": {"list": [1, {"a": 2}]}});
        let live = map(json!({"a": "1", "b/c": "2"}));
        let mut after = map(json!({"a": "1", "b/c": "3"}));
        after["data"]["list"] = json!([1, {"a": 3}]);
        let change = change(Some(live), Some(after));
        insta::assert_json_snapshot!(change.json()["fields"]);
        assert!(change.is_material());
    }
}
