//! `--dry-run=server`: what a cluster is asked while a chart is rendered, as `helm template` asks it. Nothing is written.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use anyhow::{Result, anyhow, bail};
use kube::Client;
use serde_json::Value as Json;
use tera::Value;
use tokio::runtime::Runtime;

use super::global::Reach;
use crate::{
    api::Gvk,
    controller::charts::from_json,
    manifest::Manifest,
    release::{
        cluster::Cluster,
        inventory::{GroupKind, ObjectKey},
    },
    render::{Capabilities, KubeVersion, Lookup, LookupRecord},
    value::quote::quote,
    values::DEBUG,
    yaml,
};

/// A cluster that answers.
pub struct Server {
    runtime: Runtime,
    cluster: Cluster,
    version: KubeVersion,
}

impl Server {
    /// Connects, and asks the API server for its version and for what it serves.
    ///
    /// # Errors
    /// When there is no API server, or it does not let us ask.
    pub fn connect(reach: &Reach) -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        let reached = runtime.block_on(async {
            let mut config = reach.config().await?;
            config.connect_timeout = Some(Duration::from_secs(10));
            let client = Client::try_from(config)?;
            let version = client.apiserver_version().await?.git_version;
            let version = KubeVersion::parse(&version)?;
            let cluster = Cluster::new(client);
            cluster.discover().await.map_err(|failure| anyhow!("{failure}"))?;
            anyhow::Ok((cluster, version))
        });
        let (cluster, version) = reached.map_err(|error| {
            anyhow!("cluster reachability check failed: kubernetes cluster unreachable: {error:#}")
        })?;
        Ok(Self { runtime, cluster, version })
    }

    /// The cluster's version and APIs.
    pub fn capabilities(&self) -> Capabilities {
        Capabilities {
            kube_version: self.version.clone(),
            api_versions: self.cluster.api_versions().to_vec(),
            ..Capabilities::default()
        }
    }

    /// The cluster's objects.
    pub fn lookup(&self) -> Arc<dyn Lookup> {
        Arc::new(Live { cluster: self.cluster.clone(), runtime: self.runtime.handle().clone() })
    }

    /// Checks that each object says what it is, that the cluster serves the kind of each, and that none is there that is not
    /// the release's. Fields are left to the API server, as Helm leaves them to one that validates them, which a dry run sends
    /// nothing.
    ///
    /// # Errors
    /// In Helm's words: kinds that are not served, all of them up to an object that has none; the first object of somebody
    /// else.
    pub fn check(&self, objects: &[Manifest], release: &str, namespace: &str, take_over: bool) -> Result<()> {
        let mut asked = Vec::new();
        let mut wrong = Vec::new();
        for object in objects {
            let object = yaml::parse_json(&object.text)?;
            if object.is_null() {
                continue;
            }
            match Asked::of(&object) {
                Ok(found) => {
                    wrong.extend(found.iter().filter_map(|object| self.unknown(object)));
                    asked.extend(found);
                }
                Err(Unsaid::Here(text)) => wrong.push(text),
                Err(Unsaid::Last(text)) => {
                    // Helm reads no further.
                    wrong.push(format!("error validating \"\": error validating data: {text}"));
                    break;
                }
            }
        }
        if !wrong.is_empty() {
            bail!("unable to build kubernetes objects from release manifest: {}", listed(wrong));
        }
        if take_over {
            return Ok(());
        }
        self.runtime.block_on(async {
            for object in &asked {
                self.not_of_others(object, release, namespace)
                    .await
                    .map_err(|error| anyhow!("unable to continue with install: {error}"))?;
            }
            Ok(())
        })
    }

    fn unknown(&self, object: &Asked) -> Option<String> {
        if self.cluster.served(&object.gvk()).is_some() {
            return None;
        }
        let Asked { api_version, kind, name, namespace, in_list } = object;
        let none = format!("no matches for kind {} in version {}", quoted(kind), quoted(api_version));
        if *in_list {
            return Some(format!("unable to recognize {none}"));
        }
        Some(format!(
            "resource mapping not found for name: {} namespace: {} from \"\": {none}\nensure CRDs are installed first",
            quoted(name),
            quoted(namespace),
        ))
    }

    async fn not_of_others(&self, object: &Asked, release: &str, namespace: &str) -> Result<()> {
        let gvk = object.gvk();
        let Some(served) = self.cluster.served(&gvk) else { return Ok(()) };
        let own = object.namespace.clone();
        let at = match (served.namespaced, own.is_empty()) {
            (false, _) => String::new(),
            (true, true) => namespace.to_owned(),
            (true, false) => own,
        };
        let kind = Arc::new(GroupKind { group: gvk.group.as_str().into(), kind: gvk.kind.as_str().into() });
        let key = ObjectKey { kind, namespace: at.as_str().into(), name: object.name.as_str().into() };
        let shown =
            format!("{} {} in namespace {}", gvk.kind, quote(key.name.as_bytes()), quote(at.as_bytes()));
        if key.name.is_empty() {
            bail!("could not get information about the resource {shown}: resource name may not be empty");
        }
        let live = self.cluster.metadata(&key).await;
        let live =
            live.map_err(|error| anyhow!("could not get information about the resource {shown}: {error}"))?;
        let Some(live) = live else { return Ok(()) };
        let found = |map: Option<BTreeMap<String, String>>, key: &str, wanted: &str| {
            let map = map.unwrap_or_default();
            match map.get(key) {
                Some(value) if value == wanted => None,
                Some(value) => Some(format!(
                    "key {} must equal {}: current value is {}",
                    quote(key.as_bytes()),
                    quote(wanted.as_bytes()),
                    quote(value.as_bytes())
                )),
                None => Some(format!(
                    "missing key {}: must be set to {}",
                    quote(key.as_bytes()),
                    quote(wanted.as_bytes())
                )),
            }
        };
        let (labels, annotations) = (live.metadata.labels, live.metadata.annotations);
        let wrong: Vec<String> = [
            ("label", found(labels, "app.kubernetes.io/managed-by", "Helm")),
            ("annotation", found(annotations.clone(), "meta.helm.sh/release-name", release)),
            ("annotation", found(annotations, "meta.helm.sh/release-namespace", namespace)),
        ]
        .into_iter()
        .filter_map(|(what, wrong)| Some(format!("{what} validation error: {}", wrong?)))
        .collect();
        if wrong.is_empty() {
            return Ok(());
        }
        let wrong = wrong.join("; ");
        bail!(
            "{shown} exists and cannot be imported into the current release: invalid ownership metadata; {wrong}"
        )
    }
}

/// What Helm asks the API server about an object.
struct Asked {
    api_version: String,
    kind: String,
    name: String,
    namespace: String,
    /// Whether it is an item of a list.
    in_list: bool,
}

/// Why an object does not say what it is.
enum Unsaid {
    /// Those that follow are read all the same.
    Here(String),
    /// Nothing that follows is read.
    Last(String),
}

impl Asked {
    /// The object, or the items of a list.
    fn of(object: &Json) -> Result<Vec<Self>, Unsaid> {
        kind_is_said(object).map_err(Unsaid::Last)?;
        let one = Self::one(object, false);
        if one.kind.is_empty() {
            return Err(Unsaid::Here(format!(
                "unable to decode \"\": Object 'Kind' is missing in '{object}'"
            )));
        }
        let items = object["items"].as_array();
        if (&*one.api_version, &*one.kind) == ("v1", "List") {
            let invalid = || Unsaid::Last("invalid object to validate".to_owned());
            let wrong: Vec<String> =
                items.ok_or_else(invalid)?.iter().filter_map(|item| kind_is_said(item).err()).collect();
            if !wrong.is_empty() {
                return Err(Unsaid::Last(listed(wrong)));
            }
        }
        let Some(items) = items else { return Ok(vec![one]) };
        let items = items.iter().map(|item| {
            let mut item = Self::one(item, true);
            if item.kind.is_empty() {
                one.kind.strip_suffix("List").unwrap_or_default().clone_into(&mut item.kind);
                item.api_version.clone_from(&one.api_version);
            }
            item
        });
        Ok(items.collect())
    }

    fn one(object: &Json, in_list: bool) -> Self {
        let text = |value: &Json| value.as_str().unwrap_or_default().to_owned();
        let metadata = &object["metadata"];
        Self {
            api_version: text(&object["apiVersion"]),
            kind: text(&object["kind"]),
            name: text(&metadata["name"]),
            namespace: text(&metadata["namespace"]),
            in_list,
        }
    }

    fn gvk(&self) -> Gvk {
        Gvk::of(&self.api_version, &self.kind)
    }
}

/// Whether an object has the fields that say what it is (kubectl's `getObjectKind`).
fn kind_is_said(object: &Json) -> Result<(), String> {
    if !object.is_object() {
        return Err("invalid object to validate".to_owned());
    }
    let wrong = |name: &str| match &object[name] {
        Json::Null => Some(format!("{name} not set")),
        Json::String(_) => None,
        _ => Some(format!("{name} isn't string type")),
    };
    let wrong: Vec<String> = ["apiVersion", "kind"].into_iter().filter_map(wrong).collect();
    if wrong.is_empty() { Ok(()) } else { Err(listed(wrong)) }
}

/// Several errors as one, as Kubernetes' aggregate writes them: each text once.
fn listed(errors: Vec<String>) -> String {
    let mut once: Vec<String> = Vec::new();
    for error in errors {
        if !once.contains(&error) {
            once.push(error);
        }
    }
    let listed = once.join(", ");
    if once.len() > 1 { format!("[{listed}]") } else { listed }
}

fn quoted(text: &str) -> String {
    quote(text.as_bytes())
}

struct Live {
    cluster: Cluster,
    runtime: tokio::runtime::Handle,
}

impl Lookup for Live {
    fn lookup(&self, query: &LookupRecord) -> Result<Value, String> {
        let gvk = Gvk::of(&query.api_version, &query.kind);
        // Helm asks for what a version of a group has, and passes on that there is none.
        if !self.cluster.api_versions().contains(&query.api_version) {
            return Err(format!(
                "unable to get apiresource from unstructured: {}, Kind={}: the server could not find the requested resource",
                query.api_version, query.kind
            ));
        }
        let found = self.cluster.fetch(&gvk, &query.namespace, &query.name);
        let found = self.runtime.block_on(found).map_err(|failure| failure.to_string())?;
        if found.is_none() {
            let LookupRecord { api_version, kind, namespace, name, .. } = query;
            if name.is_empty() {
                tracing::debug!(target: DEBUG, apiVersion = api_version, kind, namespace, "lookup: resource list not found");
            } else {
                tracing::debug!(target: DEBUG, apiVersion = api_version, kind, namespace, name, "lookup: resource not found");
            }
        }
        Ok(found.map_or_else(|| Value::from(tera::Map::new()), |object| from_json(&object)))
    }
}
