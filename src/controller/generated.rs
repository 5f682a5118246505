//! Generated values: the results of random, certificate and identifier functions, kept so that a render gives the same bytes
//! every time.
//!
//! They live in a Secret that the custom resource owns, one entry for each call of a template: keyed by template, function,
//! arguments and ordinal. What is new is written before anything that was rendered with it is applied, so a crash in between
//! loses nothing.

use std::collections::BTreeMap;

use data_encoding::{BASE64, HEXLOWER};
use k8s_openapi::api::core::v1::Secret;
use kube::{
    Api, Client,
    api::{Patch, PatchParams, PostParams},
};
use serde_json::json;
use sha2::{Digest, Sha256};

use crate::{
    api::names,
    release::{failure::Failure, inventory::Parent},
};

/// The type of the Secret.
pub const SECRET_TYPE: &str = "pintle.dev/generated-values";

/// The values of earlier renders of one instance: what the Secret holds.
#[derive(Default)]
pub struct Generated {
    kept: BTreeMap<String, Vec<u8>>,
    /// The Secret's resource version, if there is a Secret.
    version: Option<String>,
}

/// A value that a render used.
#[derive(Debug, Clone)]
pub struct Made {
    /// The call that made it, as one word.
    pub call: String,
    /// The value, as bytes that the renderer can read again.
    pub value: Vec<u8>,
    /// How long it lives.
    pub life: Life,
    /// Whether it was made by this render.
    pub fresh: bool,
}

/// How long a value lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Life {
    /// As long as the instance.
    Instance,
    /// As long as the revision.
    Revision,
}

impl Generated {
    /// The value kept for a call, for a render of this revision.
    pub fn get(&self, call: &str, revision: u32) -> Option<&[u8]> {
        let kept = |life| self.kept.get(&key(life, call, revision));
        kept(Life::Instance).or_else(|| kept(Life::Revision)).map(Vec::as_slice)
    }

    /// Whether nothing is kept.
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// Takes in values as if they had been kept, for renders of this revision.
    pub fn plant(&mut self, made: &[Made], revision: u32) {
        self.kept.extend(made.iter().map(|m| (key(m.life, &m.call, revision), m.value.clone())));
    }

    /// Reads the values of an instance.
    pub async fn load(client: &Client, parent: &Parent, namespace: &str) -> Result<Self, Failure> {
        let api: Api<Secret> = Api::namespaced(client.clone(), namespace);
        let Some(secret) = api.get_opt(&secret_name(parent)).await.map_err(Failure::of)? else {
            return Ok(Generated::default());
        };
        let kept = secret.data.unwrap_or_default().into_iter().map(|(k, v)| (k, v.0)).collect();
        Ok(Generated { kept, version: secret.metadata.resource_version })
    }

    /// Writes what a render of `revision` made, and drops what lived for revisions before it. Somebody who wrote in between
    /// is a [`Failure::Conflict`]: the render is then made anew with what they wrote.
    pub async fn save(
        &self,
        made: &[Made],
        client: &Client,
        parent: &Parent,
        namespace: &str,
        revision: u32,
    ) -> Result<(), Failure> {
        let data: BTreeMap<String, String> = {
            let kept = self.kept.iter().map(|(k, v)| (k.clone(), v));
            let fresh = made.iter().filter(|m| m.fresh).map(|m| (key(m.life, &m.call, revision), &m.value));
            let all = kept.chain(fresh);
            all.filter(|(key, _)| lives(key, revision)).map(|(k, v)| (k, BASE64.encode(v))).collect()
        };
        let mut secret = json!({
            "apiVersion": "v1",
            "kind": "Secret",
            "type": SECRET_TYPE,
            "metadata": {
                "name": secret_name(parent),
                "namespace": namespace,
                "labels": { names::GENERATED_FOR: parent.set() },
            },
            "data": data,
        });
        if parent.namespace.is_empty() || parent.namespace == namespace {
            secret["metadata"]["ownerReferences"] = json!([parent.reference()]);
        }
        let api: Api<Secret> = Api::namespaced(client.clone(), namespace);
        match &self.version {
            None => {
                let secret: Secret =
                    serde_json::from_value(secret).map_err(|e| Failure::Invalid(e.to_string()))?;
                let params = PostParams { field_manager: Some(names::FIELD_MANAGER.into()), dry_run: false };
                api.create(&params, &secret).await.map_err(Failure::of)?;
            }
            Some(version) => {
                // A merge patch leaves what is not named; so keys that no longer live are set to null.
                secret["metadata"]["resourceVersion"] = version.clone().into();
                for key in self.kept.keys().filter(|key| !lives(key, revision)) {
                    secret["data"][key] = serde_json::Value::Null;
                }
                let params = PatchParams {
                    field_manager: Some(names::FIELD_MANAGER.into()),
                    ..PatchParams::default()
                };
                api.patch(&secret_name(parent), &params, &Patch::Merge(&secret))
                    .await
                    .map_err(Failure::of)?;
            }
        }
        Ok(())
    }
}

/// The name of an instance's Secret: the resource's name, and a hash that tells its kind.
pub fn secret_name(parent: &Parent) -> String {
    let hash = HEXLOWER.encode(&Sha256::digest(parent.set())[..4]);
    let stem: String = parent.name.chars().take(230).collect();
    format!("{stem}-generated-{hash}")
}

fn key(life: Life, call: &str, revision: u32) -> String {
    match life {
        Life::Instance => format!("instance.{call}"),
        Life::Revision => format!("revision.{revision}.{call}"),
    }
}

/// Whether a key's value still lives in a revision.
fn lives(key: &str, revision: u32) -> bool {
    key.strip_prefix("revision.")
        .and_then(|rest| rest.split_once('.'))
        .and_then(|(n, _)| n.parse::<u32>().ok())
        .is_none_or(|n| n >= revision)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_for_as_long_as_they_live() {
        let kept = [
            (key(Life::Instance, "randAlphaNum.1", 1), b"password".to_vec()),
            (key(Life::Revision, "now.1", 2), b"noon".to_vec()),
        ];
        let generated = Generated { kept: kept.into(), version: None };
        assert_eq!(generated.get("randAlphaNum.1", 7), Some(&b"password"[..]));
        assert_eq!(generated.get("now.1", 2), Some(&b"noon"[..]));
        assert_eq!(generated.get("now.1", 3), None);
        assert!(lives("revision.3.now.1", 3) && !lives("revision.2.now.1", 3) && lives("instance.x", 9));
    }
}
