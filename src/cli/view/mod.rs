//! Instances as a person looks at them: the resource, its members, what they should be. It only reads.

pub mod changes;
pub mod desired;
pub mod kinds;
pub mod table;

use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use kube::{
    Api,
    api::{DynamicObject, ListParams},
    core::ApiResource,
};
use serde_json::Value;

use self::kinds::Kind;
use super::connect::Connection;
use crate::{
    api::{Gvk, names},
    controller::cr::Cr,
    release::{
        cluster::dynamic,
        failure::Failure,
        health::Health,
        inventory::{GroupKind, ObjectKey, Parent},
        seen::{Full, Seen},
    },
};

/// A custom resource.
pub struct Instance {
    /// Its kind.
    pub gvk: Gvk,
    /// All of it.
    pub object: Value,
    /// What the operator reads of it.
    pub cr: Cr,
}

/// An object of an instance.
pub struct Member {
    /// Which it is.
    pub key: Arc<ObjectKey>,
    /// All of it.
    pub object: Value,
    /// How it does.
    pub health: Health,
}

impl Instance {
    fn new(gvk: Gvk, object: DynamicObject) -> Result<Self> {
        let mut object = serde_json::to_value(object)?;
        object["apiVersion"] = gvk.api_version().into();
        object["kind"] = gvk.kind.clone().into();
        let cr = serde_json::from_str(&object.to_string()).context("the resource cannot be read")?;
        Ok(Instance { gvk, object, cr })
    }

    /// One instance. `namespace` is not looked at where the kind has none.
    pub async fn get(connection: &Connection, kind: &Kind, namespace: &str, name: &str) -> Result<Self> {
        let (gvk, api) = api(connection, kind, namespace)?;
        match api.get_opt(name).await.with_context(|| format!("{}/{name}", kind.kind))? {
            Some(object) => Self::new(gvk, object),
            None => bail!("{} \"{name}\" not found", kind.full()),
        }
    }

    /// All instances of a kind; in all namespaces when `namespace` is empty.
    pub async fn list(connection: &Connection, kind: &Kind, namespace: &str) -> Result<Vec<Self>> {
        let (gvk, api) = api(connection, kind, namespace)?;
        let list = api.list(&ListParams::default()).await.with_context(|| kind.full())?;
        list.items.into_iter().map(|object| Self::new(gvk.clone(), object)).collect()
    }

    /// As the parent of its set.
    pub fn parent(&self) -> Parent {
        Parent {
            gvk: self.gvk.clone(),
            namespace: self.cr.namespace().to_owned(),
            name: self.cr.name().to_owned(),
            uid: self.cr.uid().to_owned(),
            definition: names::definition_label(&self.gvk.kind, &self.gvk.group),
        }
    }

    /// The members of its set, as the annotations of the resource and the labels of the objects say; and the kinds that
    /// could not be read.
    pub async fn members(&self, connection: &Connection) -> Result<(Vec<Member>, Vec<String>)> {
        let parent = self.parent();
        let labelled = ListParams::default().labels(&format!("{}={}", names::PART_OF, parent.set()));
        let extent = self.cr.marks.extent();
        let mut namespaces: Vec<&str> = extent.namespaces.iter().map(String::as_str).collect();
        if !parent.namespace.is_empty() {
            namespaces.insert(0, &parent.namespace);
        }
        let (mut members, mut unread) = (Vec::new(), Vec::new());
        for kind in &extent.kinds {
            // What is not served any more has no objects.
            let Some((group_kind, resource, namespaced)) =
                connection.cluster.resource(&GroupKind::parse(kind))
            else {
                continue;
            };
            let scopes = if namespaced { namespaces.clone() } else { vec![""] };
            for scope in scopes {
                match list(connection, &resource, scope, &labelled).await {
                    Ok(objects) => {
                        members.extend(objects.into_iter().map(|object| member(&group_kind, object)));
                    }
                    Err(error) => unread.push(format!("{kind}: {error}")),
                }
            }
        }
        members.sort_by(|a, b| a.key.cmp(&b.key));
        Ok((members, unread))
    }
}

/// The API of a kind's instances. `namespace` is not looked at where the kind has none; empty stands for all.
pub fn api(connection: &Connection, kind: &Kind, namespace: &str) -> Result<(Gvk, Api<DynamicObject>)> {
    let gvk = Gvk { group: kind.group.clone(), version: kind.version.clone(), kind: kind.kind.clone() };
    let (resource, _) = connection.cluster.resource_in(&gvk).context("the kind is not served any more")?;
    let namespace = if kind.namespaced { namespace } else { "" };
    Ok((gvk, dynamic(connection.client(), &resource, namespace)))
}

/// The objects of a kind, each with its kind in it.
pub async fn list(
    connection: &Connection,
    resource: &ApiResource,
    namespace: &str,
    params: &ListParams,
) -> Result<Vec<Value>, Failure> {
    let api: Api<DynamicObject> = dynamic(connection.client(), resource, namespace);
    let list = api.list(params).await.map_err(Failure::of)?;
    let value = |object: DynamicObject| {
        let mut object = serde_json::to_value(object).unwrap_or_default();
        object["apiVersion"] = resource.api_version.clone().into();
        object["kind"] = resource.kind.clone().into();
        object
    };
    Ok(list.items.into_iter().map(value).collect())
}

/// An object as a member.
pub fn member(kind: &Arc<GroupKind>, object: Value) -> Member {
    let text = |at: &str| object.pointer(at).and_then(Value::as_str).unwrap_or_default().into();
    let key = ObjectKey {
        kind: kind.clone(),
        namespace: text("/metadata/namespace"),
        name: text("/metadata/name"),
    };
    let health = serde_json::from_str::<Seen<Full>>(&object.to_string())
        .map_or_else(|_| Health::current(), |seen| seen.health(&kind.group, &kind.kind));
    Member { key: Arc::new(key), object, health }
}
