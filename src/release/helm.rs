//! Helm's own record of a release: a Secret or ConfigMap for each revision.
//!
//! The field `release` is base64 of gzipped JSON; very old records are not gzipped. Helm 3 and Helm 4 write the same.

use std::{collections::BTreeMap, io::Read as _};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use flate2::read::GzDecoder;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::{
    Api, Client,
    api::{DeleteParams, ListParams, Patch, PatchParams},
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    failure::Failure,
    object::{Rendered, flat},
};
use crate::{manifest, yaml};

/// The largest record, in bytes, unzipped. A Secret holds a megabyte of it zipped.
const LARGEST: u64 = 256 << 20;
/// The label that Helm finds its records by, and its value.
const OWNER: (&str, &str) = ("owner", "helm");
/// Its value on records that Helm is not to find.
const HIDDEN: &str = "pintle";

/// Where records are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Driver {
    /// In Secrets, which is Helm's default.
    Secrets,
    /// In ConfigMaps.
    ConfigMaps,
}

/// A revision of a release.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Record {
    /// The release's name.
    pub name: String,
    /// The release's namespace.
    pub namespace: String,
    /// The revision.
    pub version: u32,
    /// How it went.
    pub info: Info,
    /// Of which chart.
    pub chart: Chart,
    /// The values given: not the chart's defaults.
    pub config: Option<Value>,
    /// The objects, as YAML documents.
    pub manifest: String,
    /// The hooks.
    pub hooks: Option<Vec<Hook>>,
}

/// A hook of a revision.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Hook {
    /// Its object, as a YAML document.
    pub manifest: String,
}

/// How a revision went.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Info {
    /// `deployed`, `superseded`, `failed`, `pending-upgrade`…
    pub status: String,
}

/// The chart of a revision.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Chart {
    /// From its Chart.yaml.
    pub metadata: Metadata,
}

/// What is read of a chart's metadata.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Metadata {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
}

impl Record {
    /// The objects of the manifest, lists expanded.
    ///
    /// # Errors
    /// When it is not YAML.
    pub fn objects(&self) -> Result<Vec<Value>, String> {
        read([&*self.manifest])
    }

    /// The objects of the hooks, lists expanded.
    ///
    /// # Errors
    /// When one is not YAML.
    pub fn hook_objects(&self) -> Result<Vec<Value>, String> {
        read(self.hooks.iter().flatten().map(|hook| &*hook.manifest))
    }
}

fn read<'t>(texts: impl IntoIterator<Item = &'t str>) -> Result<Vec<Value>, String> {
    let mut objects = Vec::new();
    for document in texts.into_iter().flat_map(manifest::split) {
        let object =
            yaml::parse_json(document).map_err(|error| format!("the release's manifest: {error}"))?;
        if !object.is_null() {
            objects.push(Rendered { source: String::new(), object });
        }
    }
    Ok(flat(objects).into_iter().map(|rendered| rendered.object).collect())
}

/// Reads the field `release` of a record.
///
/// # Errors
/// What is wrong with it, without any of its content.
pub fn decode(text: &[u8]) -> Result<Record, String> {
    let zipped = BASE64_STANDARD.decode(text.trim_ascii()).map_err(|_| "it is not base64".to_owned())?;
    let json = if zipped.starts_with(&[0x1f, 0x8b, 0x08]) {
        let mut json = Vec::new();
        GzDecoder::new(&*zipped)
            .take(LARGEST + 1)
            .read_to_end(&mut json)
            .map_err(|error| format!("it cannot be unzipped: {error}"))?;
        if json.len() as u64 > LARGEST {
            return Err("it is too large".into());
        }
        json
    } else {
        zipped
    };
    // serde_json's error may quote what it read.
    serde_json::from_slice(&json)
        .map_err(|error| format!("it is no release: line {}, column {}", error.line(), error.column()))
}

/// The records of a release, the newest last: names of the objects, and their content.
pub async fn records(
    client: &Client,
    driver: Driver,
    namespace: &str,
    name: &str,
) -> Result<Vec<(String, Result<Record, String>)>, Failure> {
    let of = ListParams::default().labels(&format!("{}={},name={name}", OWNER.0, OWNER.1));
    let mut found: Vec<(u32, String, Result<Record, String>)> = Vec::new();
    let version = |labels: Option<&BTreeMap<String, String>>| {
        labels.and_then(|labels| labels.get("version")?.parse().ok()).unwrap_or(0)
    };
    let missing = || Err("it has no field release".to_owned());
    match driver {
        Driver::Secrets => {
            let api: Api<Secret> = Api::namespaced(client.clone(), namespace);
            for secret in api.list(&of).await.map_err(Failure::of)?.items {
                let data = secret.data.unwrap_or_default();
                let record = data.get("release").map_or_else(missing, |data| decode(&data.0));
                found.push((
                    version(secret.metadata.labels.as_ref()),
                    secret.metadata.name.unwrap_or_default(),
                    record,
                ));
            }
        }
        Driver::ConfigMaps => {
            let api: Api<ConfigMap> = Api::namespaced(client.clone(), namespace);
            for map in api.list(&of).await.map_err(Failure::of)?.items {
                let data = map.data.unwrap_or_default();
                let record = data.get("release").map_or_else(missing, |data| decode(data.as_bytes()));
                found.push((
                    version(map.metadata.labels.as_ref()),
                    map.metadata.name.unwrap_or_default(),
                    record,
                ));
            }
        }
    }
    found.sort_by_key(|(version, ..)| *version);
    Ok(found.into_iter().map(|(_, name, record)| (name, record)).collect())
}

/// Takes a record out of Helm's sight, or away.
pub async fn retire(
    client: &Client,
    driver: Driver,
    namespace: &str,
    name: &str,
    delete: bool,
) -> Result<(), Failure> {
    let patch = Patch::Merge(json!({ "metadata": { "labels": { OWNER.0: HIDDEN } } }));
    let params = PatchParams::default();
    let result = match (driver, delete) {
        (Driver::Secrets, true) => {
            let api: Api<Secret> = Api::namespaced(client.clone(), namespace);
            api.delete(name, &DeleteParams::default()).await.map(|_| ())
        }
        (Driver::Secrets, false) => {
            let api: Api<Secret> = Api::namespaced(client.clone(), namespace);
            api.patch(name, &params, &patch).await.map(|_| ())
        }
        (Driver::ConfigMaps, true) => {
            let api: Api<ConfigMap> = Api::namespaced(client.clone(), namespace);
            api.delete(name, &DeleteParams::default()).await.map(|_| ())
        }
        (Driver::ConfigMaps, false) => {
            let api: Api<ConfigMap> = Api::namespaced(client.clone(), namespace);
            api.patch(name, &params, &patch).await.map(|_| ())
        }
    };
    match result.map_err(Failure::of) {
        Ok(()) | Err(Failure::NotFound(_)) => Ok(()),
        Err(failure) => Err(failure),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    fn zipped(json: &str) -> String {
        let mut zip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        zip.write_all(json.as_bytes()).unwrap();
        BASE64_STANDARD.encode(zip.finish().unwrap())
    }

    #[test]
    fn records_are_read() {
        let json = r#"{"name":"web","namespace":"shop","version":3,"info":{"status":"deployed","notes":"x"},
            "chart":{"metadata":{"name":"web","version":"1.2.3"},"templates":[]},"config":{"a":1},"manifest":"---\n"}"#;
        for text in [zipped(json), BASE64_STANDARD.encode(json), format!("{}\n", zipped(json))] {
            let record = decode(text.as_bytes()).unwrap();
            assert_eq!((&*record.name, record.version, &*record.info.status), ("web", 3, "deployed"));
            assert_eq!(record.config, Some(json!({"a": 1})));
        }
    }

    #[test]
    fn what_is_no_record_is_said_without_quoting_it() {
        let cases = [
            decode(b"%%%"),
            decode(zipped(r#"{"config":{"password":"hunter2"},"version":"hunter2"}"#).as_bytes()),
            decode(&zipped("{}").as_bytes()[..20]),
            decode(BASE64_STANDARD.encode("hunter2").as_bytes()),
        ];
        let said: Vec<String> = cases.into_iter().map(Result::unwrap_err).collect();
        insta::assert_snapshot!(said.join("\n"));
        assert!(!said.join("").contains("hunter2"));
    }
}
