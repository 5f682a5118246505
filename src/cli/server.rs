//! `--dry-run=server`: what a cluster is asked while a chart is rendered, as `helm template` asks it. Nothing is written.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use anyhow::{Result, anyhow, bail};
use kube::Client;
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
        let mut wrong = Vec::new();
        for object in objects.iter().filter(|object| !object.object.is_null()) {
            if let Some(unsaid) = unsaid(object) {
                // Helm reads no further.
                wrong.push(format!("error validating \"\": error validating data: {unsaid}"));
                break;
            }
            wrong.extend(self.unknown(object));
        }
        if !wrong.is_empty() {
            bail!("unable to build kubernetes objects from release manifest: {}", listed(&wrong));
        }
        if take_over {
            return Ok(());
        }
        self.runtime.block_on(async {
            for object in objects {
                self.not_of_others(object, release, namespace)
                    .await
                    .map_err(|error| anyhow!("unable to continue with install: {error}"))?;
            }
            Ok(())
        })
    }

    fn unknown(&self, object: &Manifest) -> Option<String> {
        let gvk = Gvk::of(&object.head.api_version, &object.head.kind);
        if self.cluster.served(&gvk).is_some() {
            return None;
        }
        let quoted = |text: &str| quote(text.as_bytes());
        Some(format!(
            "resource mapping not found for name: {} namespace: {} from \"\": no matches for kind {} in version {}\n\
             ensure CRDs are installed first",
            quoted(&object.head.name),
            quoted(&namespace_of(object)),
            quoted(&object.head.kind),
            quoted(&object.head.api_version),
        ))
    }

    async fn not_of_others(&self, object: &Manifest, release: &str, namespace: &str) -> Result<()> {
        let gvk = Gvk::of(&object.head.api_version, &object.head.kind);
        let Some(served) = self.cluster.served(&gvk).filter(|_| !object.head.name.is_empty()) else {
            return Ok(());
        };
        let own = namespace_of(object);
        let at = match (served.namespaced, own.is_empty()) {
            (false, _) => String::new(),
            (true, true) => namespace.to_owned(),
            (true, false) => own,
        };
        let kind = Arc::new(GroupKind { group: gvk.group.as_str().into(), kind: gvk.kind.as_str().into() });
        let key = ObjectKey { kind, namespace: at.as_str().into(), name: object.head.name.as_str().into() };
        let shown =
            format!("{} {} in namespace {}", gvk.kind, quote(key.name.as_bytes()), quote(at.as_bytes()));
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

/// The fields that an object must have to say what it is, and has not.
fn unsaid(object: &Manifest) -> Option<String> {
    let fields = [("apiVersion", &object.head.api_version), ("kind", &object.head.kind)];
    let unsaid: Vec<String> = fields
        .into_iter()
        .filter(|(_, value)| value.is_empty())
        .map(|(name, _)| format!("{name} not set"))
        .collect();
    (!unsaid.is_empty()).then(|| listed(&unsaid))
}

/// Several errors as one, as Kubernetes' aggregate writes them.
fn listed(errors: &[String]) -> String {
    let listed = errors.join(", ");
    if errors.len() > 1 { format!("[{listed}]") } else { listed }
}

fn namespace_of(object: &Manifest) -> String {
    object.object["metadata"]["namespace"].as_str().unwrap_or_default().to_owned()
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
        Ok(found.map_or_else(|| Value::from(tera::Map::new()), |object| from_json(&object)))
    }
}
