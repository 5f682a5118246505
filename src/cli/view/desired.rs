//! What an instance's objects should be: its chart rendered as the operator would, from the operator's own files.

use std::{
    env, fs,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use anyhow::{Context as _, Result, anyhow, bail};
use serde_json::Value;

use super::{Instance, Member};
use crate::{
    api::{Definition, Gvk, definition::GeneratedValues, watches},
    cli::connect::Connection,
    controller::{
        charts::{ChartRenderer, from_json},
        generated::{Generated, Life, Made},
        lookups::is_for,
        renderer::{Input, Renderer as _},
    },
    manifest,
    release::{
        cluster::Cluster,
        inventory::{ObjectKey, Parent},
        object::{Prepared, Rendered, flat, prepare},
        own_kind, rules,
    },
    render::{Capabilities, KubeVersion, Lookup, LookupRecord},
};

/// A definition and its chart.
pub struct Loaded {
    /// The definition.
    pub definition: Definition,
    /// The chart.
    pub renderer: Arc<ChartRenderer>,
}

/// The definitions of a watches file.
pub fn definitions(file: &Path) -> Result<Vec<Definition>> {
    let name = file.display();
    let text = fs::read_to_string(file).with_context(|| format!("watches file {name}"))?;
    let expand = |value: &str| {
        let value = watches::expand_env(value, |name| env::var(name).ok());
        ChartRenderer::expand(&value)
    };
    watches::parse(&text, expand).with_context(|| name.to_string())
}

/// Loads the chart of a definition. A relative path is looked for from here, as the operator does, and beside the file.
pub fn load(definition: Definition, file: &Path) -> Result<Loaded> {
    let beside: Option<PathBuf> = file.parent().map(|folder| folder.join(&definition.chart));
    let path = match beside {
        Some(beside) if !definition.chart.exists() && beside.exists() => beside,
        _ => definition.chart.clone(),
    };
    let renderer = ChartRenderer::load(&path)
        .with_context(|| format!("chart {} of {}", path.display(), definition.gvk.kind))?;
    Ok(Loaded { definition, renderer: Arc::new(renderer) })
}

/// The definition of a kind, with its chart.
pub fn of_kind(gvk: &Gvk, file: &Path) -> Result<Loaded> {
    let found = definitions(file)?.into_iter().find(|d| d.gvk.kind == gvk.kind && d.gvk.group == gvk.group);
    match found {
        Some(definition) => load(definition, file),
        None => bail!("{} has no entry for the kind {}", file.display(), gvk.group_kind()),
    }
}

/// What an instance is rendered from.
pub struct Source<'a> {
    /// The instance as the parent of its objects.
    pub parent: &'a Parent,
    /// Its spec, as JSON.
    pub spec: String,
    /// The paths of values whose defaults are removed, as its annotation has them.
    pub unset: String,
    /// The revision that it is.
    pub revision: u32,
    /// Generated values besides those that are kept.
    pub seeds: &'a [Made],
}

/// What an instance is rendered to.
pub struct Rendering {
    /// The objects.
    pub prepared: Prepared,
    /// What was looked up.
    pub reads: Vec<LookupRecord>,
    /// The generated values in it.
    pub made: Vec<Made>,
    /// The objects of its hooks.
    pub hooks: Vec<Value>,
}

impl Loaded {
    /// The namespace of an instance's release.
    pub fn namespace(&self, parent: &Parent) -> Result<String> {
        if !parent.namespace.is_empty() {
            return Ok(parent.namespace.clone());
        }
        let given = self.definition.spec.release_namespace.clone();
        given.with_context(|| {
            format!("{} is cluster-scoped, and its definition names no releaseNamespace", parent.gvk.kind)
        })
    }

    /// The desired objects of an instance that is there, with its `members`, each with its rules about drift.
    pub async fn of_instance(
        &self,
        connection: &Connection,
        instance: &Instance,
        members: &[Member],
    ) -> Result<Prepared> {
        let release = instance.cr.status.release.as_ref();
        // A change that the operator has not seen yet, or another chart, begins a new revision.
        let same = instance.cr.status.observed_generation == Some(instance.cr.generation())
            && release.is_some_and(|r| r.chart.digest == self.renderer.chart().digest);
        let revision = match release {
            None => instance.cr.marks.adopts_release().unwrap_or(1),
            Some(r) if same => r.revision,
            Some(r) => r.revision.saturating_add(1),
        };
        let parent = instance.parent();
        let unset = instance.cr.marks.unset().to_owned();
        let spec = instance.cr.spec.to_string();
        let source = Source { parent: &parent, spec, unset, revision, seeds: &[] };
        let Rendering { mut prepared, reads, .. } = self.render(connection, &source, &[]).await?;
        // As the operator does: what is left out only because it is there stays.
        let lost: Vec<&ObjectKey> = members
            .iter()
            .map(|m| &*m.key)
            .filter(|key| !prepared.desired.iter().any(|d| *d.key == **key))
            .filter(|key| reads.iter().any(|read| is_for(read, key)))
            .collect();
        if !lost.is_empty() {
            let hidden: Vec<LookupRecord> =
                reads.into_iter().filter(|read| lost.iter().any(|key| is_for(read, key))).collect();
            // A chart that cannot do without has no other render.
            if let Ok(other) = self.render(connection, &source, &hidden).await {
                let kept = other.prepared.desired.into_iter().filter(|d| lost.contains(&&*d.key));
                prepared.desired.extend(kept);
            }
        }
        let rules = instance.cr.marks.rules().map_err(|error| anyhow!(error))?;
        let wrong = rules::attach(&mut prepared.desired, &self.definition.spec, &rules);
        if !wrong.is_empty() {
            bail!("{}", wrong.join("; "));
        }
        Ok(prepared)
    }

    /// Renders an instance. Look-ups that are `hidden` find nothing.
    pub async fn render(
        &self,
        connection: &Connection,
        source: &Source<'_>,
        hidden: &[LookupRecord],
    ) -> Result<Rendering> {
        let Source { parent, spec, unset, revision, seeds } = source;
        let revision = *revision;
        let namespace = self.namespace(parent)?;
        let version = connection.client().apiserver_version().await.context("the API server's version")?;
        let default = Capabilities::default();
        let capabilities = Arc::new(Capabilities {
            kube_version: KubeVersion::parse(&version.git_version).unwrap_or(default.kube_version.clone()),
            api_versions: connection.cluster.api_versions().to_vec(),
            ..default
        });
        let live = Arc::new(Live {
            cluster: connection.cluster.clone(),
            runtime: tokio::runtime::Handle::current(),
            hidden: hidden.to_vec(),
            reads: Mutex::default(),
        });
        let run = async |generated: Generated| {
            let lookup: Arc<dyn Lookup> = live.clone();
            let (renderer, overrides) = (self.renderer.clone(), self.definition.overrides.clone());
            let (name, release_namespace) = (parent.name.clone(), namespace.clone());
            let (spec, unset) = (spec.clone(), unset.clone());
            let capabilities = capabilities.clone();
            let render = tokio::task::spawn_blocking(move || {
                renderer.render(&Input {
                    spec: &spec,
                    overrides: &overrides,
                    unset: &unset,
                    name: &name,
                    namespace: &release_namespace,
                    revision,
                    capabilities: &capabilities,
                    generated: &Arc::new(generated),
                    lookup: &lookup,
                })
            });
            render.await?.map_err(|error| anyhow!("{error}"))
        };
        let mut kept = Generated::default();
        kept.plant(seeds, revision);
        let mut render = run(kept).await?;
        // Most charts generate nothing, and nobody need read Secrets for them.
        if !render.generated.is_empty() {
            let mut kept = Generated::load(&connection.client(), parent, &namespace).await?;
            if !kept.is_empty() {
                kept.plant(seeds, revision);
                render = run(kept).await?;
            }
        }
        own_kind::leave_out(&mut render.objects, &mut render.hooks, &parent.gvk);
        let prepared =
            prepare(flat(render.objects), parent, &namespace, |gvk| connection.cluster.served(gvk))?;
        let reads = std::mem::take(&mut *live.reads.lock().unwrap_or_else(PoisonError::into_inner));
        if self.definition.spec.generated_values == GeneratedValues::PerRevision {
            render.generated.iter_mut().for_each(|made| made.life = Life::Revision);
        }
        let hook = |hook: manifest::Hook| Rendered {
            source: hook.manifest.source.to_string(),
            object: hook.manifest.object,
        };
        let hooks = flat(render.hooks.into_iter().map(hook).collect());
        let hooks = hooks.into_iter().map(|rendered| rendered.object).collect();
        Ok(Rendering { prepared, reads, made: render.generated, hooks })
    }
}

/// The cluster as templates read it.
struct Live {
    cluster: Cluster,
    runtime: tokio::runtime::Handle,
    hidden: Vec<LookupRecord>,
    reads: Mutex<Vec<LookupRecord>>,
}

impl Lookup for Live {
    fn lookup(&self, query: &LookupRecord) -> Result<tera::Value, String> {
        if self.hidden.contains(query) {
            return Ok(tera::Value::from(tera::Map::new()));
        }
        self.reads.lock().unwrap_or_else(PoisonError::into_inner).push(query.clone());
        let gvk = Gvk::of(&query.api_version, &query.kind);
        let found = self.cluster.fetch(&gvk, &query.namespace, &query.name);
        match self.runtime.block_on(found).map_err(|failure| failure.to_string())? {
            Some(object) => Ok(from_json(&object)),
            None => Ok(tera::Value::from(tera::Map::new())),
        }
    }
}
