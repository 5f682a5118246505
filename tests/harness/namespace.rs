//! A namespace for one test.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    time::{SystemTime, UNIX_EPOCH},
};

use anyhow::Result;
use k8s_openapi::{NamespaceResourceScope, api::core::v1};
use kube::{
    Api, Client, Resource,
    api::{ApiResource, DeleteParams, DynamicObject, ObjectMeta, PostParams},
    runtime::wait::conditions,
};
use tokio::runtime::Handle;

use super::{Cluster, Credentials, wait};

/// A namespace that is deleted, with everything in it, when this is dropped.
pub struct Namespace {
    name: String,
    client: Client,
    admin: Credentials,
    /// The deletion outlives the test's own runtime.
    background: Handle,
}

static NAMESPACES: AtomicUsize = AtomicUsize::new(0);

impl Cluster {
    /// A fresh namespace whose name begins with `prefix`, with its default service account in place.
    pub async fn namespace(&self, prefix: &str) -> Result<Namespace> {
        let client = self.client().await?;
        // The process's number is not enough: a cluster of another process may outlive many of this one's kind.
        let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis() % 100_000_000;
        let name = format!("{prefix}-{now}-{}", NAMESPACES.fetch_add(1, Ordering::Relaxed));
        let namespace = v1::Namespace {
            metadata: ObjectMeta { name: Some(name.clone()), ..ObjectMeta::default() },
            ..v1::Namespace::default()
        };
        Api::all(client.clone()).create(&PostParams::default(), &namespace).await?;
        let namespace =
            Namespace { name, client, admin: self.admin().clone(), background: self.background() };
        let accounts = namespace.api::<v1::ServiceAccount>();
        wait::object(&accounts, "default", "it exists", conditions::is_created()).await?;
        Ok(namespace)
    }
}

impl Namespace {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A client that may do everything.
    pub fn client(&self) -> Client {
        self.client.clone()
    }

    /// The objects of a kind in this namespace.
    pub fn api<K>(&self) -> Api<K>
    where
        K: Resource<Scope = NamespaceResourceScope, DynamicType: Default>,
    {
        Api::namespaced(self.client.clone(), &self.name)
    }

    /// The objects of a custom kind in this namespace.
    pub fn dynamic(&self, kind: &ApiResource) -> Api<DynamicObject> {
        Api::namespaced_with(self.client.clone(), &self.name, kind)
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        let (admin, name) = (self.admin.clone(), self.name.clone());
        // Nobody waits for it: no other test uses the name.
        self.background.spawn(async move {
            if let Ok(client) = admin.client().await {
                let _ = Api::<v1::Namespace>::all(client).delete(&name, &DeleteParams::default()).await;
            }
        });
    }
}
