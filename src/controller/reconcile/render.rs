//! Step 3 and 4: from a spec to prepared objects.

use std::sync::{Arc, atomic::Ordering::Relaxed};

use super::{
    super::{
        charts::from_json,
        generated::{Generated, Life, Made},
        renderer::{Input, Render, RenderError},
    },
    Work,
    status::Problem,
};
use crate::{
    api::{Gvk, definition::GeneratedValues},
    release::{
        cluster::Cluster,
        digest::Long,
        hooks::{self, Hook},
        object::{self, Prepared, Rendered, flat, kinds_of, manifest_digest, prepare},
    },
    render::{Lookup, LookupRecord},
};

/// A render, and what is said of it in status.
pub(super) struct Rendering {
    /// The objects.
    pub prepared: Prepared,
    /// The revision that it is.
    pub revision: u32,
    /// Digest of what begins a new revision.
    pub input_digest: String,
    /// Digest of the values given.
    pub values_digest: String,
    /// Digest of what was rendered.
    pub manifest_digest: String,
    /// The hooks, in the order in which those of one event run.
    pub hooks: Vec<Hook>,
    /// The notes.
    pub notes: String,
    /// The random values that were kept before.
    pub generated: Arc<Generated>,
    /// The ones that the render used.
    pub made: Vec<Made>,
    /// The namespace of the release.
    pub namespace: String,
}

impl Work<'_> {
    /// Renders the chart. The revision is a new one when its inputs are new; and when, from equal inputs, the chart makes
    /// something else (it looked something up, or asked what the cluster serves).
    pub(super) async fn render(&self) -> Result<Rendering, Problem> {
        let namespace = self.release_namespace()?;
        let values_digest = {
            let mut digest = Long::default();
            digest.text(&self.cr.spec);
            for (key, value) in &self.served.definition.overrides {
                digest.text(key).text(value);
            }
            digest.finish()
        };
        let input_digest = {
            let mut digest = Long::default();
            digest.text(&self.served.renderer.chart().digest).text(&values_digest);
            digest.text(&self.parent.name).text(&namespace);
            digest.finish()
        };
        let release = self.cr.status.release.as_ref();
        let revision = match release {
            None => self.first_revision(&namespace).await,
            Some(r) if r.input_digest == input_digest => r.revision,
            Some(r) => r.revision.saturating_add(1),
        };
        let rendering = |(render, prepared, generated): (Render, Prepared, Arc<Generated>), revision| {
            Ok(Rendering {
                manifest_digest: manifest_digest(&prepared),
                prepared,
                revision,
                input_digest: input_digest.clone(),
                values_digest: values_digest.clone(),
                hooks: hooks::prepare(&render.hooks).map_err(|e| invalid(&e))?,
                notes: render.notes,
                made: render.generated,
                generated,
                namespace: namespace.clone(),
            })
        };
        let first = rendering(self.render_as(revision, &namespace).await?, revision)?;
        match release {
            Some(r)
                if r.input_digest == input_digest
                    && r.manifest_digest != first.manifest_digest
                    && !r.manifest_digest.is_empty() =>
            {
                let revision = revision.saturating_add(1);
                rendering(self.render_as(revision, &namespace).await?, revision)
            }
            _ => Ok(first),
        }
    }

    /// The namespace of the release: the instance's own, or the one that the definition gives to cluster-scoped ones.
    pub(super) fn release_namespace(&self) -> Result<String, Problem> {
        if !self.parent.namespace.is_empty() {
            return Ok(self.parent.namespace.clone());
        }
        self.served.definition.spec.release_namespace.clone().ok_or_else(|| Problem {
            reason: "NoNamespace",
            message: format!(
                "{} is cluster-scoped, and its definition names no releaseNamespace for its objects",
                self.parent.gvk.kind
            ),
            passing: false,
        })
    }

    async fn render_as(
        &self,
        revision: u32,
        namespace: &str,
    ) -> Result<(Render, Prepared, Arc<Generated>), Problem> {
        let cluster = self.cluster();
        // Charts that generate values are learnt as they are rendered; only they cost the reading of a Secret.
        let loaded = self.served.generates.load(Relaxed);
        let mut generated =
            Arc::new(if loaded { self.load_generated(namespace).await? } else { Generated::default() });
        let mut render = self.render_once(revision, namespace, &generated).await?;
        if !render.generated.is_empty() && !loaded {
            self.served.generates.store(true, Relaxed);
            generated = Arc::new(self.load_generated(namespace).await?);
            if !generated.is_empty() {
                render = self.render_once(revision, namespace, &generated).await?;
            }
        }
        if self.served.definition.spec.generated_values == GeneratedValues::PerRevision {
            render.generated.iter_mut().for_each(|made| made.life = Life::Revision);
        }
        let objects = flat(std::mem::take(&mut render.objects));
        if kinds_of(&objects).any(|gvk| cluster.served(&gvk).is_none()) {
            // Perhaps it is served by now.
            cluster
                .rediscover(cluster.epoch())
                .await
                .map_err(|f| Problem::of_failure("DiscoveryFailed", &f))?;
        }
        let prepared = self.prepare(objects, namespace)?;
        Ok((render, prepared, generated))
    }

    /// The hooks alone, of a revision that is deployed.
    pub(super) async fn render_hooks(&self, revision: u32, namespace: &str) -> Result<Vec<Hook>, Problem> {
        let (render, _, _) = self.render_as(revision, namespace).await?;
        hooks::prepare(&render.hooks).map_err(|e| invalid(&e))
    }

    fn prepare(&self, objects: Vec<Rendered>, namespace: &str) -> Result<Prepared, Problem> {
        prepare(objects, &self.parent, namespace, |gvk| self.cluster().served(gvk)).map_err(|e| invalid(&e))
    }

    async fn load_generated(&self, namespace: &str) -> Result<Generated, Problem> {
        Generated::load(self.cluster().client(), &self.parent, namespace)
            .await
            .map_err(|f| Problem::of_failure("GeneratedValuesFailed", &f))
    }

    /// One render, on a thread where it may take its time and look things up.
    async fn render_once(
        &self,
        revision: u32,
        namespace: &str,
        generated: &Arc<Generated>,
    ) -> Result<Render, Problem> {
        let renderer = self.served.renderer.clone();
        let overrides = self.served.definition.overrides.clone();
        let cr = self.cr.clone();
        let (name, namespace) = (self.parent.name.clone(), namespace.to_owned());
        let capabilities = self.operator.capabilities();
        let generated = generated.clone();
        let lookup: Arc<dyn Lookup> = Arc::new(LiveLookup {
            cluster: self.cluster().clone(),
            runtime: tokio::runtime::Handle::current(),
        });
        let result = tokio::task::spawn_blocking(move || {
            let input = Input {
                spec: &cr.spec,
                overrides: &overrides,
                name: &name,
                namespace: &namespace,
                revision,
                capabilities: &capabilities,
                generated: &generated,
                lookup: &lookup,
            };
            renderer.render(&input)
        })
        .await
        .map_err(|e| Problem {
            reason: "RenderFailed",
            message: format!("the renderer failed: {e}"),
            passing: false,
        })?;
        match result {
            Ok(render) => Ok(render),
            Err(error) => {
                let kind = self.parent.gvk.group_kind();
                self.operator
                    .metrics
                    .render_failures
                    .get_or_create(&super::super::metrics::OfKind { kind })
                    .inc();
                Err(of_render(&error))
            }
        }
    }

    /// Step 7, its second half: writes the values that the render generated, before anything that was made with them.
    pub(super) async fn keep_generated(&self, rendering: &Rendering) -> Result<(), Problem> {
        if !rendering.made.iter().any(|m| m.fresh) {
            return Ok(());
        }
        rendering
            .generated
            .save(
                &rendering.made,
                self.cluster().client(),
                &self.parent,
                &rendering.namespace,
                rendering.revision,
            )
            .await
            .map_err(|f| Problem::of_failure("GeneratedValuesFailed", &f))
    }
}

fn invalid(error: &object::Error) -> Problem {
    Problem { reason: "InvalidManifest", message: error.to_string(), passing: false }
}

fn of_render(error: &RenderError) -> Problem {
    Problem { reason: error.reason(), message: error.to_string(), passing: error.is_passing() }
}

/// The cluster as templates read it.
struct LiveLookup {
    cluster: Cluster,
    runtime: tokio::runtime::Handle,
}

impl Lookup for LiveLookup {
    fn lookup(&self, query: &LookupRecord) -> Result<tera::Value, String> {
        let gvk = Gvk::of(&query.api_version, &query.kind);
        let found = self.cluster.fetch(&gvk, &query.namespace, &query.name);
        match self.runtime.block_on(found).map_err(|f| f.to_string())? {
            Some(object) => Ok(from_json(&object)),
            None => Ok(tera::Value::from(tera::Map::new())),
        }
    }
}
