//! Objects that are there before the instance has them, and releases that others kept before: Helm, and operator-sdk.

use std::time::Duration;

use k8s_openapi::{
    api::core::v1::Secret,
    apimachinery::pkg::apis::meta::v1::{ManagedFieldsEntry, ObjectMeta},
};
use kube::{
    Api,
    api::{ListParams, Patch, PatchParams},
};
use serde_json::{Value, json};

use super::{super::events::Level, Work, status::Problem};
use crate::{
    api::{Gvk, definition::Adoption, names},
    manifest::Order,
    release::{
        claim::{Whose, whose},
        failure::Failure,
        helm::{self, Driver},
        inventory::ObjectKey,
        object::Desired,
        takeover,
    },
};

/// The reason of what belongs to somebody else.
const NOT_OURS: &str = "NotOurs";
/// The reason of what is on its way out.
const LEAVING: &str = "BeingDeleted";
/// The longest wait before it is tried again to have something that was somebody else's.
const LONGEST_WAIT: Duration = Duration::from_secs(30);
/// A resource version that no object has. An apply with it creates, and is a conflict where something is there: the API
/// server looks at the version only of what exists.
const NEVER: &str = "1";

/// The longest wait before the next attempt after a problem, if it is one of this file: objects of others are not watched, so
/// whether they are gone is found by trying.
pub(super) fn longest_wait(problem: &Problem) -> Option<Duration> {
    [NOT_OURS, LEAVING].contains(&problem.reason).then_some(LONGEST_WAIT)
}

/// The body of an apply that must not change anything that is there.
pub(super) fn only_new(body: &Value) -> Value {
    let mut body = body.clone();
    body["metadata"]["resourceVersion"] = NEVER.into();
    body
}

/// Takes back [`only_new`].
pub(super) fn or_old(body: &mut Value) {
    if let Some(metadata) = body["metadata"].as_object_mut() {
        metadata.remove("resourceVersion");
    }
}

impl Work<'_> {
    /// An object that is there becomes a member with the apply that follows, or the problem says why not. `was_ours`:
    /// whether the instance is known to have applied it before.
    pub(super) async fn take(
        &self,
        desired: &Desired,
        live: &ObjectMeta,
        was_ours: bool,
    ) -> Result<(), Problem> {
        let key = &desired.key;
        if live.deletion_timestamp.is_some() {
            let message = format!("{key} is there and is being deleted: it is made anew once it is gone");
            return Err(Problem { reason: LEAVING, message, passing: true });
        }
        let whose = match whose(live, &self.parent, was_ours) {
            Whose::Another(sentence) => Whose::Another(self.instance_of(live).unwrap_or(sentence)),
            other => other,
        };
        self.allowed(key, &whose)?;
        if live.managed_fields.iter().flatten().any(takeover::is_ours) && whose == Whose::Ours {
            return Ok(());
        }
        let kept = self.cluster().take_over(key, live, &self.parent.uid).await;
        kept.map_err(|failure| Problem {
            // Somebody wrote in between: the next attempt looks again.
            passing: failure.is_passing() || matches!(failure, Failure::Conflict(_)),
            ..self.problem("AdoptionFailed", key, &failure)
        })?;
        tracing::info!(instance = %self.id, %key, "taken over");
        let note = match &whose {
            Whose::Ours => format!("{key} was taken over from {}", keepers(live)),
            Whose::Helm(name, namespace) => {
                format!("{key} was taken over from the Helm release {name} in {namespace}")
            }
            Whose::Nobody(sentence) | Whose::Another(sentence) | Whose::Controlled(sentence) => {
                format!("{key} was there already and was taken over: {sentence}")
            }
        };
        self.say(Level::Normal, "Adopted", "Apply", Some(desired), &note);
        Ok(())
    }

    /// Whose member an object is, in a sentence, where this operator knows the instance.
    fn instance_of(&self, live: &ObjectMeta) -> Option<String> {
        let set = live.labels.as_ref()?.get(names::PART_OF)?;
        let id = self.operator.world().of_set(set)?.clone();
        let kind = &self.operator.served(id.definition).definition.gvk.kind;
        Some(format!("it belongs to {kind} {id}"))
    }

    /// Whether an object may be taken.
    fn allowed(&self, key: &ObjectKey, whose: &Whose) -> Result<(), Problem> {
        let (name, namespace) = (&self.parent.name, self.release_namespace()?);
        let adopts =
            self.cr.marks.adoption().unwrap_or(self.served.definition.spec.adoption) == Adoption::Adopt;
        let how = format!(
            "annotate this {} with {}: Adopt, or set adoption: Adopt in the definition",
            self.parent.gvk.kind,
            names::ADOPTION
        );
        let message = match whose {
            Whose::Ours => return Ok(()),
            Whose::Another(sentence) => format!(
                "{key} is a member of another instance: {sentence}. An object has one instance: rename one of them, or \
                 delete the other"
            ),
            Whose::Controlled(sentence) => {
                format!(
                    "{key} exists and is not managed by Pintle: {sentence}. What has a controller is never taken from it"
                )
            }
            Whose::Helm(..) | Whose::Nobody(_) if adopts => return Ok(()),
            Whose::Helm(of, at)
                if of == name && *at == namespace && self.cr.marks.adopts_release().is_some() =>
            {
                return Ok(());
            }
            Whose::Helm(of, at) if of == name && *at == namespace => format!(
                "{key} exists and belongs to the Helm release {of} in {at}: to take the release over, run \
                 `pintle adopt {of} -n {at}`"
            ),
            Whose::Helm(of, at) => {
                format!("{key} exists and belongs to the Helm release {of} in {at}: to take it over, {how}")
            }
            Whose::Nobody(sentence) => {
                format!(
                    "{key} exists and is not managed by Pintle: {sentence}. Delete it; or, to take it over, {how}"
                )
            }
        };
        Err(Problem { reason: NOT_OURS, message, passing: true })
    }

    /// The revision of an instance that was not deployed by us before: 1, or that of the Helm release that it takes over. A
    /// chart then sees that it is no install, as it did before.
    pub(super) async fn first_revision(&self, namespace: &str) -> u32 {
        if let Some(revision) = self.cr.marks.adopts_release() {
            return revision;
        }
        if !self.follows_sdk() {
            return 1;
        }
        let secrets: Api<Secret> = Api::namespaced(self.cluster().client().clone(), namespace);
        let deployed =
            ListParams::default().labels(&format!("owner=helm,status=deployed,name={}", self.parent.name));
        let list = match secrets.list_metadata(&deployed).await {
            Ok(list) => list,
            Err(error) => {
                tracing::warn!(instance = %self.id, %error, "the release of operator-sdk cannot be read: this is revision 1");
                return 1;
            }
        };
        let version =
            |labels: &std::collections::BTreeMap<String, String>| labels.get("version")?.parse().ok();
        list.items.iter().filter_map(|s| version(s.metadata.labels.as_ref()?)).max().unwrap_or(1)
    }

    /// Whether operator-sdk has deployed the instance and we have not yet.
    pub(super) fn follows_sdk(&self) -> bool {
        self.cr.status.release.is_none() && self.cr.status.deployed_release.is_some()
    }

    /// Deletes what operator-sdk made for a resource that we have never kept, as it would have: by the release's manifest, in
    /// Helm's order. Whether some of it is still there.
    pub(super) async fn clear_sdk(&self) -> Result<bool, Problem> {
        if !self.cr.sdk_finalizers || self.cr.marks.is_parent_of(&self.set) || self.cr.leaves_members() {
            return Ok(false);
        }
        let client = self.cluster().client();
        let fail = |failure: Failure| Problem::of_failure("UninstallFailed", &failure);
        let namespace = self.release_namespace()?;
        let mut records =
            helm::records(client, Driver::Secrets, &namespace, &self.parent.name).await.map_err(fail)?;
        // Without a record there is nothing that says what there was; what the resource owns goes after it.
        let Some((name, record)) = records.pop() else { return Ok(false) };
        let objects = record.and_then(|record| record.objects()).map_err(|error| Problem {
            reason: "UninstallFailed",
            message: format!("Secret {name}: {error}"),
            passing: false,
        })?;
        let mut keys: Vec<ObjectKey> =
            objects.iter().filter_map(|o| self.key_of_released(o, &namespace)).collect();
        keys.sort_by(|a, b| Order::Uninstall.compare(&a.kind.kind, &b.kind.kind));
        let mut left = false;
        for key in keys {
            let fail = |failure: Failure| self.problem("UninstallFailed", &key, &failure);
            let Some(live) = self.cluster().metadata(&key).await.map_err(fail)? else { continue };
            let meta = &live.metadata;
            if whose(meta, &self.parent, false) != Whose::Ours {
                continue;
            }
            left = true;
            if meta.deletion_timestamp.is_none() {
                let uid = meta.uid.as_deref().unwrap_or_default();
                self.cluster().delete(&key, uid).await.map_err(fail)?;
            }
        }
        Ok(left)
    }

    /// Which object one of a release's manifest is, unless it is to be kept or its kind is gone.
    fn key_of_released(&self, object: &Value, namespace: &str) -> Option<ObjectKey> {
        let text = |at: &str| object.pointer(at).and_then(Value::as_str).unwrap_or_default();
        let policy = object["metadata"]["annotations"][names::RESOURCE_POLICY].as_str().unwrap_or_default();
        let served = self.cluster().served(&Gvk::of(text("/apiVersion"), text("/kind")))?;
        let namespace = match (served.namespaced, text("/metadata/namespace")) {
            (false, _) => "",
            (true, "") => namespace,
            (true, own) => own,
        };
        let key =
            ObjectKey { kind: served.kind, namespace: namespace.into(), name: text("/metadata/name").into() };
        (policy.trim() != "keep" && !self.must_outlive(&key)).then_some(key)
    }

    /// Removes the manifest that operator-sdk left in status: it has Secrets in it.
    pub(super) async fn drop_manifest(&self) -> Result<(), Problem> {
        if !self.cr.status.deployed_release.as_ref().is_some_and(|release| release.manifest.0) {
            return Ok(());
        }
        let patch = json!({ "status": { "deployedRelease": { "manifest": null } } });
        let params =
            PatchParams { field_manager: Some(names::FIELD_MANAGER.into()), ..PatchParams::default() };
        let result = self.own_api()?.patch_status(&self.parent.name, &params, &Patch::Merge(&patch)).await;
        match result.map_err(Failure::of) {
            Ok(_) | Err(Failure::NotFound(_)) => Ok(()),
            Err(failure) => Err(Problem::of_failure("StatusFailed", &failure)),
        }
    }
}

/// Who has written an object, for a person.
fn keepers(live: &ObjectMeta) -> String {
    let managers =
        live.managed_fields.iter().flatten().filter_map(|e: &ManagedFieldsEntry| e.manager.as_deref());
    let mut managers: Vec<&str> = managers.filter(|m| *m != names::FIELD_MANAGER).collect();
    managers.sort_unstable();
    managers.dedup();
    if managers.is_empty() { "nobody that is known".into() } else { managers.join(", ") }
}
