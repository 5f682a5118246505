//! Volumes for the claims of StatefulSets.
//!
//! The cluster has no storage, and the scheduler leaves a Pod pending until its claims are bound. This gives each claim
//! a volume that exists by name only, which is all that a simulated kubelet asks for.

use std::time::Duration;

use futures::StreamExt as _;
use k8s_openapi::api::{
    core::v1::{
        HostPathVolumeSource, ObjectReference, PersistentVolume, PersistentVolumeClaim, PersistentVolumeSpec,
    },
    storage::v1::StorageClass,
};
use kube::{
    Api, Client, Resource as _, ResourceExt as _,
    api::{DeleteParams, ObjectMeta, PostParams},
    runtime::{WatchStreamExt as _, watcher},
};

use super::Credentials;

/// The provisioner's name, and its class's.
const SIMULATED: &str = "simulated";

/// Makes the default storage class and serves it, for ever.
pub async fn provision(credentials: Credentials) {
    let Ok(client) = credentials.client().await else { return };
    let class = StorageClass {
        metadata: ObjectMeta {
            name: Some(SIMULATED.into()),
            annotations: Some([("storageclass.kubernetes.io/is-default-class".into(), "true".into())].into()),
            ..ObjectMeta::default()
        },
        provisioner: SIMULATED.into(),
        ..StorageClass::default()
    };
    let classes: Api<StorageClass> = Api::all(client.clone());
    while let Err(error) = classes.create(&PostParams::default(), &class).await {
        if matches!(&error, kube::Error::Api(status) if status.code == 409) {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    tokio::join!(bind_claims(client.clone()), delete_released(client));
}

async fn bind_claims(client: Client) {
    let claims: Api<PersistentVolumeClaim> = Api::all(client.clone());
    let volumes: Api<PersistentVolume> = Api::all(client);
    let mut seen =
        std::pin::pin!(watcher(claims, watcher::Config::default()).default_backoff().applied_objects());
    while let Some(claim) = seen.next().await {
        if let Ok(claim) = claim
            && let Some(volume) = volume_for(&claim)
        {
            // A second event of the claim finds the volume there.
            let _ = volumes.create(&PostParams::default(), &volume).await;
        }
    }
}

fn volume_for(claim: &PersistentVolumeClaim) -> Option<PersistentVolume> {
    let spec = claim.spec.as_ref()?;
    if spec.storage_class_name.as_deref() != Some(SIMULATED) || spec.volume_name.is_some() {
        return None;
    }
    let name = format!("pvc-{}", claim.uid()?);
    Some(PersistentVolume {
        metadata: ObjectMeta {
            name: Some(name.clone()),
            // Tells the controller manager that deleting the volume is not its business.
            annotations: Some([("pv.kubernetes.io/provisioned-by".into(), SIMULATED.into())].into()),
            ..ObjectMeta::default()
        },
        spec: Some(PersistentVolumeSpec {
            access_modes: spec.access_modes.clone(),
            capacity: spec.resources.as_ref()?.requests.clone(),
            claim_ref: Some(ObjectReference {
                api_version: Some("v1".into()),
                kind: Some("PersistentVolumeClaim".into()),
                ..claim.object_ref(&())
            }),
            host_path: Some(HostPathVolumeSource { path: format!("/simulated/{name}"), type_: None }),
            persistent_volume_reclaim_policy: Some("Delete".into()),
            storage_class_name: Some(SIMULATED.into()),
            volume_mode: spec.volume_mode.clone(),
            ..PersistentVolumeSpec::default()
        }),
        status: None,
    })
}

async fn delete_released(client: Client) {
    let volumes: Api<PersistentVolume> = Api::all(client);
    let mut seen = std::pin::pin!(
        watcher(volumes.clone(), watcher::Config::default()).default_backoff().applied_objects()
    );
    while let Some(volume) = seen.next().await {
        let Ok(volume) = volume else { continue };
        let ours =
            volume.spec.as_ref().is_some_and(|spec| spec.storage_class_name.as_deref() == Some(SIMULATED));
        let released =
            volume.status.as_ref().is_some_and(|status| status.phase.as_deref() == Some("Released"));
        if ours && released {
            let _ = volumes.delete(&volume.name_any(), &DeleteParams::default()).await;
        }
    }
}
