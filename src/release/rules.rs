//! What the definition, the instance and a member itself say about drift of the member, and about making it anew.

use serde_json::Value;

use super::{digest::Fnv, inventory::ObjectKey, object::Desired};
use crate::api::{
    definition::{DriftIgnore, DriftMode, Spec, check_pointer},
    names,
};

/// Kinds that hold data, or that others hang on: they are never deleted to be made anew.
const NEVER_ANEW: [(&str, &str); 4] = [
    ("", "PersistentVolumeClaim"),
    ("", "PersistentVolume"),
    ("", "Namespace"),
    ("apiextensions.k8s.io", "CustomResourceDefinition"),
];

/// What is said about one member.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rules {
    /// What is done about drift; none: what the next in line says.
    pub mode: Option<DriftMode>,
    /// JSON pointers to fields that are left to whoever takes them.
    pub ignore: Vec<String>,
    /// Whether it may be deleted and made anew when a field has to change that cannot be changed.
    pub recreate: bool,
}

impl Rules {
    /// What the annotations [`names::DRIFT`], [`names::DRIFT_IGNORE`] and [`names::RECREATE`] of a member say. What is no
    /// mode or no pointer is passed over, and told: the second half.
    pub fn read(drift: &str, ignore: &str, recreate: &str) -> (Self, Vec<String>) {
        let mut wrong = Vec::new();
        let mode = match mode(drift) {
            Ok(mode) => mode,
            Err(error) => {
                wrong.push(error);
                None
            }
        };
        let mut pointers = Vec::new();
        for pointer in list(ignore) {
            match check_pointer(pointer) {
                Ok(()) => pointers.push(pointer.to_owned()),
                Err(error) => wrong.push(format!("{}: {error}", names::DRIFT_IGNORE)),
            }
        }
        (Rules { mode, ignore: pointers, recreate: recreate.trim() == "true" }, wrong)
    }

    /// Whether nothing is said.
    pub fn is_empty(&self) -> bool {
        *self == Rules::default()
    }

    /// A hash of what bears on the body of an apply; 0 when nothing does.
    pub fn hash(&self) -> u64 {
        if self.ignore.is_empty() {
            return 0;
        }
        let mut hash = Fnv::default();
        for pointer in &self.ignore {
            hash.text(pointer);
        }
        hash.finish()
    }
}

/// What an instance's annotations say about its members.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OfInstance {
    mode: Option<DriftMode>,
    ignore: Vec<DriftIgnore>,
    recreate: bool,
}

impl OfInstance {
    /// Reads the annotations [`names::DRIFT`] and [`names::DRIFT_IGNORE`]. The error says what is wrong with them.
    pub fn read(drift: &str, ignore: &str, recreate: bool) -> Result<Self, String> {
        let mut rules = Vec::new();
        for entry in list(ignore) {
            let (members, pointer) = match entry.split_once(":/") {
                _ if entry.starts_with('/') => ("*", entry.to_owned()),
                Some((members, rest)) => (members, format!("/{rest}")),
                None => {
                    return Err(format!(
                        "{}: {entry:?} is neither a JSON pointer nor <kind>.<group>/<name>:<pointer>",
                        names::DRIFT_IGNORE
                    ));
                }
            };
            check_pointer(&pointer).map_err(|e| format!("{}: {e}", names::DRIFT_IGNORE))?;
            let (kind, name) = match members.split_once('/') {
                Some((kind, name)) => (kind, Some(name.to_owned())),
                None => (members, None),
            };
            let (kind, group) = match kind.split_once('.') {
                Some((kind, group)) => (kind, Some(group.to_owned())),
                None => (kind, None),
            };
            rules.push(DriftIgnore {
                kind: kind.to_owned(),
                group,
                name,
                namespace: None,
                pointers: vec![pointer],
            });
        }
        Ok(OfInstance { mode: mode(drift)?, ignore: rules, recreate })
    }
}

/// Gives every desired object its rules: its own annotations', the instance's and the definition's. They become part of its
/// digest, so that a changed rule is applied. The texts say which annotations of members are wrong.
pub fn attach(desired: &mut [Desired], spec: &Spec, instance: &OfInstance) -> Vec<String> {
    let scaled: Vec<ObjectKey> = desired.iter().filter_map(scaled_by).collect();
    let mut wrong = Vec::new();
    for d in desired {
        let annotation = |name: &str| d.body["metadata"]["annotations"][name].as_str().unwrap_or_default();
        let (mut rules, errors) = Rules::read(
            annotation(names::DRIFT),
            annotation(names::DRIFT_IGNORE),
            annotation(names::RECREATE),
        );
        wrong.extend(errors.into_iter().map(|e| format!("{}: {e}", d.key)));
        rules.mode = rules.mode.or(instance.mode);
        for rule in spec.drift.ignore.iter().chain(&instance.ignore) {
            if is_about(rule, &d.key) {
                rules.ignore.extend(rule.pointers.iter().cloned());
            }
        }
        if scaled.contains(&d.key) {
            rules.ignore.push("/spec/replicas".into());
        }
        rules.ignore.sort();
        rules.ignore.dedup();
        let listed =
            spec.recreate.iter().any(|kind| **kind == *d.key.kind.kind || *kind == d.key.kind.to_string());
        rules.recreate = (rules.recreate || listed || instance.recreate) && !never_anew(&d.key);
        d.digest ^= rules.hash();
        d.rules = rules;
    }
    wrong
}

/// Whether objects of a kind are never deleted to be made anew.
pub fn never_anew(key: &ObjectKey) -> bool {
    NEVER_ANEW.contains(&(&*key.kind.group, &*key.kind.kind))
}

/// One number for the rules of all: it changes with any of them.
pub fn hash(desired: &[Desired]) -> u64 {
    desired.iter().filter(|d| !d.rules.ignore.is_empty()).fold(0, |sum, d| {
        let mut hash = Fnv::default();
        hash.text(&d.key.to_string());
        hash.write(&d.rules.hash().to_le_bytes());
        sum ^ hash.finish()
    })
}

/// What a HorizontalPodAutoscaler scales: that its count is the autoscaler's is what both are rendered for.
fn scaled_by(d: &Desired) -> Option<ObjectKey> {
    if (&*d.key.kind.group, &*d.key.kind.kind) != ("autoscaling", "HorizontalPodAutoscaler") {
        return None;
    }
    let target = &d.body["spec"]["scaleTargetRef"];
    let api_version = target["apiVersion"].as_str().unwrap_or_default();
    let group = api_version.split_once('/').map_or("", |(group, _)| group);
    Some(ObjectKey {
        kind: std::sync::Arc::new(super::inventory::GroupKind {
            group: group.into(),
            kind: target["kind"].as_str()?.into(),
        }),
        namespace: d.key.namespace.clone(),
        name: target["name"].as_str()?.into(),
    })
}

fn is_about(rule: &DriftIgnore, key: &ObjectKey) -> bool {
    let is = |wanted: &Option<String>, own: &str| wanted.as_ref().is_none_or(|w| w == own);
    (rule.kind == "*" || *rule.kind == *key.kind.kind)
        && is(&rule.group, &key.kind.group)
        && is(&rule.name, &key.name)
        && is(&rule.namespace, &key.namespace)
}

fn mode(text: &str) -> Result<Option<DriftMode>, String> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(None);
    }
    serde_json::from_value(Value::from(text))
        .map(Some)
        .map_err(|_| format!("{}: {text:?} is not Correct, Report or Off", names::DRIFT))
}

fn list(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim).filter(|p| !p.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        api::definition::Drift,
        release::object::{
            prepare,
            tests::{parent, rendered, served},
        },
    };
    use serde_json::json;

    fn objects() -> Vec<Value> {
        let target = json!({"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "db"});
        vec![
            json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web",
                "annotations": {names::DRIFT: "Off", names::DRIFT_IGNORE: "/spec/paused, oops", names::RECREATE: "true"}}}),
            json!({"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "db"}}),
            json!({"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": {"name": "db"},
                "spec": {"scaleTargetRef": target}}),
            json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data"}}),
        ]
    }

    #[test]
    fn each_member_has_its_own() {
        let spec = Spec {
            drift: Drift {
                mode: DriftMode::Correct,
                ignore: vec![DriftIgnore {
                    kind: "Deployment".into(),
                    group: Some("apps".into()),
                    pointers: vec!["/spec/replicas".into()],
                    ..DriftIgnore::default()
                }],
            },
            recreate: vec!["StatefulSet.apps".into(), "PersistentVolumeClaim".into()],
            ..Spec::default()
        };
        let instance =
            OfInstance::read("Report", "/metadata/labels/x, StatefulSet.apps/db:/spec/template", false)
                .unwrap();
        let mut desired = prepare(rendered(&objects()), &parent(), "shop", served).unwrap().desired;
        let before: Vec<u64> = desired.iter().map(|d| d.digest).collect();
        let wrong = attach(&mut desired, &spec, &instance);
        let said: Vec<String> = desired
            .iter()
            .map(|d| format!("{}: {:?} {:?} {}", d.key, d.rules.mode, d.rules.ignore, d.rules.recreate))
            .collect();
        insta::assert_snapshot!(said.join("\n"), @r#"
        Deployment.apps shop/web: Some(Off) ["/metadata/labels/x", "/spec/paused", "/spec/replicas"] true
        StatefulSet.apps shop/db: Some(Report) ["/metadata/labels/x", "/spec/replicas", "/spec/template"] true
        HorizontalPodAutoscaler.autoscaling shop/db: Some(Report) ["/metadata/labels/x"] false
        PersistentVolumeClaim shop/data: Some(Report) ["/metadata/labels/x"] false
        "#);
        insta::assert_snapshot!(wrong.join("\n"), @r#"Deployment.apps shop/web: pintle.dev/drift-ignore: "oops" is not a JSON pointer to a field, such as /spec/replicas"#);
        assert!(desired.iter().zip(before).all(|(d, before)| d.digest != before));
        assert_ne!(hash(&desired), 0);
    }

    #[test]
    fn what_is_wrong_with_an_instances_annotations() {
        for (drift, ignore) in
            [("Sometimes", ""), ("", "Deployment"), ("", "Deployment:/kind"), ("", "spec.replicas")]
        {
            assert!(OfInstance::read(drift, ignore, false).is_err(), "{drift} {ignore}");
        }
        assert_eq!(OfInstance::read("", " , ", false), Ok(OfInstance::default()));
    }
}
