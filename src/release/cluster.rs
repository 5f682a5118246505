//! The cluster, as a release uses it: which kinds it serves, and the few requests that are made of it.

use std::{
    collections::{HashMap, HashSet},
    sync::{
        Arc, PoisonError, RwLock,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::{
    Api, Client,
    api::{DeleteParams, ListParams, Patch, PatchParams, PostParams, Preconditions, ValidationDirective},
    core::{ApiResource, DynamicObject, DynamicResourceScope, PartialObjectMeta, Request},
};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use super::{
    failure::Failure,
    inventory::{GroupKind, ObjectKey},
    object::{Desired, Served},
    relist,
    seen::{Full, Meta, Seen},
    takeover,
};
use crate::api::{Gvk, names};

/// What the API server answers about an object that it made.
pub type Made = Seen<Full>;

/// Discovery is not asked for again within this time.
const ASKED_LATELY: Duration = Duration::from_secs(1);

/// So many applies are under way at once, of all instances together. More make no API server faster, and one that is busy
/// would refuse some of them (its priority levels have room for some tens of requests of one user, and queues for hundreds).
const APPLIES: usize = 32;

/// A connection to a cluster, cheap to clone.
#[derive(Clone)]
pub struct Cluster {
    client: Client,
    kinds: Arc<RwLock<Kinds>>,
    // Held while discovery runs, so that many who miss a kind ask once: when somebody last did.
    asking: Arc<tokio::sync::Mutex<Option<Instant>>>,
    /// Room for so many applies at once.
    applies: Arc<Semaphore>,
    /// Whether some answer said that a kind is not served which is thought to be.
    doubt: Arc<AtomicBool>,
}

/// What the API server serves.
#[derive(Default)]
struct Kinds {
    by_kind: HashMap<Arc<GroupKind>, Kind>,
    /// `apps/v1`, `apps/v1/Deployment`: what `.Capabilities.APIVersions` holds.
    api_versions: Arc<Vec<String>>,
    /// Counts the times that what is served was found to differ.
    epoch: u64,
}

struct Kind {
    plural: String,
    namespaced: bool,
    /// Preferred first.
    versions: Vec<String>,
}

impl Cluster {
    /// A cluster whose kinds are not yet known: see [`Cluster::discover`].
    pub fn new(client: Client) -> Self {
        Cluster {
            client,
            kinds: Arc::default(),
            asking: Arc::default(),
            applies: Arc::new(Semaphore::new(APPLIES)),
            doubt: Arc::default(),
        }
    }

    /// The client itself.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Asks the API server what it serves, in the two requests of aggregated discovery (Kubernetes 1.30 and later).
    pub async fn discover(&self) -> Result<(), Failure> {
        let core = self.client.list_core_api_versions_aggregated().await.map_err(Failure::of)?;
        let groups = self.client.list_api_groups_aggregated().await.map_err(Failure::of)?;
        let mut by_kind: HashMap<Arc<GroupKind>, Kind> = HashMap::new();
        let mut api_versions = Vec::new();
        for group in core.items.into_iter().chain(groups.items) {
            let name = group.metadata.and_then(|m| m.name).unwrap_or_default();
            for version in group.versions {
                let version_name = version.version.unwrap_or_default();
                let api_version =
                    if name.is_empty() { version_name.clone() } else { format!("{name}/{version_name}") };
                api_versions.push(api_version.clone());
                for resource in version.resources {
                    let Some(kind) = resource.response_kind else { continue };
                    let Some(kind_name) = kind.kind else { continue };
                    api_versions.push(format!("{api_version}/{kind_name}"));
                    let key = GroupKind { group: name.as_str().into(), kind: kind_name.into() };
                    let entry = by_kind.entry(Arc::new(key)).or_insert_with(|| Kind {
                        plural: resource.resource.unwrap_or_default(),
                        namespaced: resource.scope.as_deref() == Some("Namespaced"),
                        versions: Vec::new(),
                    });
                    entry.versions.push(version_name.clone());
                }
            }
        }
        api_versions.sort();
        api_versions.dedup();
        let mut kinds = self.kinds.write().unwrap_or_else(PoisonError::into_inner);
        if *kinds.api_versions != api_versions {
            kinds.epoch += 1;
            kinds.api_versions = Arc::new(api_versions);
        }
        // The Arcs of kinds that are still served stay the same, so that keys share them.
        for (key, kind) in by_kind {
            match kinds.by_kind.get_mut(&key) {
                Some(known) => *known = kind,
                None => {
                    kinds.by_kind.insert(key, kind);
                }
            }
        }
        let served: HashSet<String> = kinds.api_versions.iter().cloned().collect();
        kinds.by_kind.retain(|key, kind| {
            kind.versions.iter().any(|v| {
                let gvk =
                    Gvk { group: key.group.to_string(), version: v.clone(), kind: key.kind.to_string() };
                served.contains(&format!("{}/{}", gvk.api_version(), gvk.kind))
            })
        });
        Ok(())
    }

    /// Asks again what is served, unless somebody has since `epoch` was read, or a moment ago. Gives the epoch that holds
    /// then.
    pub async fn rediscover(&self, epoch: u64) -> Result<u64, Failure> {
        let mut last = self.asking.lock().await;
        if self.epoch() == epoch && last.is_none_or(|last| last.elapsed() > ASKED_LATELY) {
            self.discover().await?;
            *last = Some(Instant::now());
        }
        Ok(self.epoch())
    }

    /// Takes in a failure: one that says that a kind is not served makes what is known doubtful.
    pub fn doubt(&self, failure: &Failure) {
        if failure.says_no_kind() {
            self.doubt.store(true, Relaxed);
        }
    }

    /// Asks again what is served if that is doubtful.
    pub async fn rediscover_in_doubt(&self) -> Result<(), Failure> {
        if !self.doubt.load(Relaxed) {
            return Ok(());
        }
        let mut last = self.asking.lock().await;
        if self.doubt.load(Relaxed) && last.is_none_or(|last| last.elapsed() > ASKED_LATELY) {
            self.discover().await?;
            self.doubt.store(false, Relaxed);
            *last = Some(Instant::now());
        }
        Ok(())
    }

    fn failed(&self, error: kube::Error) -> Failure {
        let failure = Failure::of(error);
        self.doubt(&failure);
        failure
    }

    /// A number that changes when what is served changes.
    pub fn epoch(&self) -> u64 {
        self.kinds.read().unwrap_or_else(PoisonError::into_inner).epoch
    }

    /// What `.Capabilities.APIVersions` holds.
    pub fn api_versions(&self) -> Arc<Vec<String>> {
        self.kinds.read().unwrap_or_else(PoisonError::into_inner).api_versions.clone()
    }

    /// What is known of a kind in this very version.
    pub fn served(&self, gvk: &Gvk) -> Option<Served> {
        let kinds = self.kinds.read().unwrap_or_else(PoisonError::into_inner);
        let key = GroupKind { group: gvk.group.as_str().into(), kind: gvk.kind.as_str().into() };
        let (kind, known) = kinds.by_kind.get_key_value(&key)?;
        known
            .versions
            .contains(&gvk.version)
            .then(|| Served { kind: kind.clone(), namespaced: known.namespaced })
    }

    /// The resource behind a kind, in its preferred version: its own Arc of the kind, how it is addressed, and whether its
    /// objects live in namespaces.
    pub fn resource(&self, kind: &GroupKind) -> Option<(Arc<GroupKind>, ApiResource, bool)> {
        let kinds = self.kinds.read().unwrap_or_else(PoisonError::into_inner);
        let (key, known) = kinds.by_kind.get_key_value(kind)?;
        let version = known.versions.first()?;
        Some((key.clone(), address(kind, version, &known.plural), known.namespaced))
    }

    /// The resource behind a kind in a given version.
    pub fn resource_in(&self, gvk: &Gvk) -> Option<(ApiResource, bool)> {
        let kinds = self.kinds.read().unwrap_or_else(PoisonError::into_inner);
        let key = GroupKind { group: gvk.group.as_str().into(), kind: gvk.kind.as_str().into() };
        let known = kinds.by_kind.get(&key)?;
        known
            .versions
            .contains(&gvk.version)
            .then(|| (address(&key, &gvk.version, &known.plural), known.namespaced))
    }

    fn at<K>(&self, resource: &ApiResource, namespace: &str) -> Api<K>
    where
        K: kube::Resource<DynamicType = ApiResource, Scope = DynamicResourceScope>,
    {
        dynamic(self.client.clone(), resource, namespace)
    }

    fn of_kind(&self, key: &ObjectKey) -> Result<ApiResource, Failure> {
        self.resource(&key.kind).map(|(_, r, _)| r).ok_or_else(|| Failure::NotServed(key.kind.to_string()))
    }

    /// Applies a desired object. Without `force`, a field that another manager holds with another value is a
    /// [`Failure::Conflict`]. The body is given apart, since it may have been mended.
    pub async fn apply(&self, desired: &Desired, body: &Value, force: bool) -> Result<Seen<Meta>, Failure> {
        let (resource, _) =
            self.resource_in(&desired.gvk).ok_or_else(|| Failure::NotServed(desired.gvk.to_string()))?;
        let api: Api<Seen<Meta>> = self.at(&resource, &desired.key.namespace);
        // It is never closed.
        let _turn = self.applies.acquire().await;
        api.patch(&desired.key.name, &applying(force), &Patch::Apply(body)).await.map_err(|e| self.failed(e))
    }

    /// What an apply would make of an object, without making it.
    pub async fn would_apply(&self, desired: &Desired) -> Result<Seen<Meta>, Failure> {
        let (resource, _) =
            self.resource_in(&desired.gvk).ok_or_else(|| Failure::NotServed(desired.gvk.to_string()))?;
        let api: Api<Seen<Meta>> = self.at(&resource, &desired.key.namespace);
        let params = PatchParams { dry_run: true, ..applying(true) };
        api.patch(&desired.key.name, &params, &Patch::Apply(&desired.body)).await.map_err(|e| self.failed(e))
    }

    /// Makes an object that belongs to nobody exactly as given; with `force`, whatever others want of it.
    pub async fn apply_shared(&self, key: &ObjectKey, object: &Value, force: bool) -> Result<(), Failure> {
        let api: Api<Seen<Meta>> = self.at(&self.of_kind(key)?, &key.namespace);
        api.patch(&key.name, &applying(force), &Patch::Apply(object)).await.map_err(|e| self.failed(e))?;
        Ok(())
    }

    /// The whole of a live object.
    pub async fn object(&self, key: &ObjectKey) -> Result<Option<Value>, Failure> {
        let api: Api<DynamicObject> = self.at(&self.of_kind(key)?, &key.namespace);
        let object = api.get_opt(&key.name).await.map_err(|e| self.failed(e))?;
        object.map(serde_json::to_value).transpose().map_err(|e| Failure::Unavailable(e.to_string()))
    }

    /// Creates an object that must not be there. One that is there is a [`Failure::Conflict`].
    pub async fn create(&self, gvk: &Gvk, namespace: &str, object: &Value) -> Result<Made, Failure> {
        let (resource, _) = self.resource_in(gvk).ok_or_else(|| Failure::NotServed(gvk.to_string()))?;
        let api: Api<Made> = self.at(&resource, namespace);
        let params =
            PostParams { field_manager: Some(names::FIELD_MANAGER.to_owned()), ..PostParams::default() };
        let request = Request::new(api.resource_url())
            .create(&params, object.to_string().into_bytes())
            .map_err(|e| Failure::Invalid(e.to_string()))?;
        self.client.request(request).await.map_err(|e| self.failed(e))
    }

    /// Makes an object that is there what a hook wants it to be; without `force`, but for the fields that others hold, which is
    /// a [`Failure::Conflict`].
    pub async fn apply_hook(
        &self,
        gvk: &Gvk,
        key: &ObjectKey,
        object: &Value,
        force: bool,
    ) -> Result<Made, Failure> {
        let (resource, _) = self.resource_in(gvk).ok_or_else(|| Failure::NotServed(gvk.to_string()))?;
        let api: Api<Made> = self.at(&resource, &key.namespace);
        api.patch(&key.name, &applying(force), &Patch::Apply(object)).await.map_err(|e| self.failed(e))
    }

    /// The whole metadata of a live object, `managedFields` included.
    pub async fn metadata(
        &self,
        key: &ObjectKey,
    ) -> Result<Option<PartialObjectMeta<DynamicObject>>, Failure> {
        let api: Api<DynamicObject> = self.at(&self.of_kind(key)?, &key.namespace);
        api.get_metadata_opt(&key.name).await.map_err(|e| self.failed(e))
    }

    /// A live object, or a list of all of its kind (in the namespace) when `name` is empty; none when it is not there or its
    /// kind is not served.
    pub async fn fetch(&self, gvk: &Gvk, namespace: &str, name: &str) -> Result<Option<Value>, Failure> {
        let Some((resource, namespaced)) = self.resource_in(gvk) else { return Ok(None) };
        let api: Api<DynamicObject> = self.at(&resource, if namespaced { namespace } else { "" });
        if name.is_empty() {
            let list = api.list(&ListParams::default()).await.map_err(|e| self.failed(e))?;
            let mut list = serde_json::to_value(list).map_err(|e| Failure::Unavailable(e.to_string()))?;
            list["apiVersion"] = gvk.api_version().into();
            list["kind"] = format!("{}List", gvk.kind).into();
            return Ok(Some(list));
        }
        let object = api.get_opt(name).await.map_err(|e| self.failed(e))?;
        object.map(serde_json::to_value).transpose().map_err(|e| Failure::Unavailable(e.to_string()))
    }

    /// Changes an object's finalizers: takes away those that `drop` picks. False when the object is gone or has none of
    /// them.
    pub async fn drop_finalizers(
        &self,
        key: &ObjectKey,
        uid: &str,
        drop: impl Fn(&str) -> bool,
    ) -> Result<bool, Failure> {
        let Some(live) = self.metadata(key).await? else { return Ok(false) };
        if live.metadata.uid.as_deref() != Some(uid) {
            return Ok(false);
        }
        let before = live.metadata.finalizers.unwrap_or_default();
        let after: Vec<&String> = before.iter().filter(|f| !drop(f)).collect();
        if after.len() == before.len() {
            return Ok(false);
        }
        let patch = json!({ "metadata": {
            "resourceVersion": live.metadata.resource_version,
            "finalizers": after,
        }});
        match self.merge(key, &patch).await {
            Ok(()) => Ok(true),
            Err(Failure::NotFound(_)) => Ok(false),
            Err(failure) => Err(failure),
        }
    }

    /// Deletes an object if it still is the one with this uid; what depends on it goes in the background. False when it was
    /// gone already, or another of its name is there.
    pub async fn delete(&self, key: &ObjectKey, uid: &str) -> Result<bool, Failure> {
        self.delete_with(key, uid, DeleteParams::background()).await
    }

    /// Deletes an object as [`Cluster::delete`] does, and leaves what depends on it.
    pub async fn delete_alone(&self, key: &ObjectKey, uid: &str) -> Result<bool, Failure> {
        self.delete_with(key, uid, DeleteParams::orphan()).await
    }

    async fn delete_with(&self, key: &ObjectKey, uid: &str, params: DeleteParams) -> Result<bool, Failure> {
        let api: Api<Seen<Meta>> = self.at(&self.of_kind(key)?, &key.namespace);
        let params = DeleteParams {
            preconditions: Some(Preconditions { uid: Some(uid.to_owned()), resource_version: None }),
            ..params
        };
        match api.delete(&key.name, &params).await.map_err(|e| self.failed(e)) {
            Ok(_) => Ok(true),
            Err(Failure::NotFound(_) | Failure::Conflict(_)) => Ok(false),
            Err(failure) => Err(failure),
        }
    }

    /// Merges the entries of those who kept an object before us into our entry of its `managedFields` (see
    /// [`takeover::merged`]). False when there is nothing to merge. Somebody who wrote in between is a
    /// [`Failure::Conflict`].
    pub async fn take_over(&self, key: &ObjectKey, live: &ObjectMeta, owner: &str) -> Result<bool, Failure> {
        let Some(managed) = takeover::merged(live, owner) else { return Ok(false) };
        let patch =
            json!({ "metadata": { "resourceVersion": live.resource_version, "managedFields": managed } });
        self.merge(key, &patch).await?;
        Ok(true)
    }

    /// Makes lists of which somebody has made an item of ours another one what they were (see [`relist`]). False where there is
    /// none.
    pub async fn relist(&self, key: &ObjectKey, body: &Value) -> Result<bool, Failure> {
        let Some(live) = self.object(key).await? else { return Ok(false) };
        // Paths are those of a version.
        if live["apiVersion"] != body["apiVersion"] {
            return Ok(false);
        }
        let Some(patch) = relist::replaced(body, &live) else { return Ok(false) };
        self.merge(key, &patch).await?;
        let Some(live) = self.metadata(key).await? else { return Ok(false) };
        let managed = relist::forgotten(live.metadata.managed_fields.as_deref().unwrap_or_default());
        let version = live.metadata.resource_version;
        self.merge(key, &json!({ "metadata": { "resourceVersion": version, "managedFields": managed } }))
            .await?;
        Ok(true)
    }

    /// Merges a patch into an object, in the name of our field manager.
    async fn merge(&self, key: &ObjectKey, patch: &Value) -> Result<(), Failure> {
        let api: Api<Seen<Meta>> = self.at(&self.of_kind(key)?, &key.namespace);
        let params =
            PatchParams { field_manager: Some(names::FIELD_MANAGER.to_owned()), ..PatchParams::default() };
        api.patch(&key.name, &params, &Patch::Merge(patch)).await.map_err(|e| self.failed(e))?;
        Ok(())
    }

    /// Takes our labels and the owner with `owner` as uid from an object, and leaves it. False when it is gone.
    pub async fn release(&self, key: &ObjectKey, owner: &str) -> Result<bool, Failure> {
        let Some(live) = self.metadata(key).await? else { return Ok(false) };
        let owners: Vec<Value> = live
            .metadata
            .owner_references
            .unwrap_or_default()
            .into_iter()
            .filter(|o| o.uid != owner)
            .map(|o| json!(o))
            .collect();
        let patch = json!({ "metadata": {
            "resourceVersion": live.metadata.resource_version,
            "labels": { names::PART_OF: null, names::DEFINITION: null },
            "ownerReferences": owners,
        }});
        match self.merge(key, &patch).await {
            Ok(()) => Ok(true),
            Err(Failure::NotFound(_)) => Ok(false),
            Err(failure) => Err(failure),
        }
    }
}

/// How we apply: with `force`, whatever others want of our fields.
fn applying(force: bool) -> PatchParams {
    PatchParams {
        force,
        field_manager: Some(names::FIELD_MANAGER.to_owned()),
        // Undeclared fields are refused by server-side apply itself, and mended; nobody reads the warnings.
        field_validation: Some(ValidationDirective::Ignore),
        ..PatchParams::default()
    }
}

/// An `Api` for a resource; an empty namespace addresses cluster-scoped objects, or all namespaces.
pub fn dynamic<K>(client: Client, resource: &ApiResource, namespace: &str) -> Api<K>
where
    K: kube::Resource<DynamicType = ApiResource, Scope = DynamicResourceScope>,
{
    if namespace.is_empty() {
        Api::all_with(client, resource)
    } else {
        Api::namespaced_with(client, namespace, resource)
    }
}

fn address(kind: &GroupKind, version: &str, plural: &str) -> ApiResource {
    let gvk = Gvk { group: kind.group.to_string(), version: version.to_owned(), kind: kind.kind.to_string() };
    ApiResource {
        api_version: gvk.api_version(),
        group: gvk.group,
        version: gvk.version,
        kind: gvk.kind,
        plural: plural.to_owned(),
    }
}
