//! Step 3 and 4: from a spec to prepared objects.

use std::sync::{Arc, atomic::Ordering::Relaxed};

use super::{
    super::{
        generated::{Generated, Life, Made},
        renderer::{Input, Render, RenderError},
    },
    Work,
    looked_up::LiveLookup,
    status::Problem,
};
use crate::{
    api::{definition::GeneratedValues, names},
    release::{
        digest::Long,
        hooks::{self, Hook},
        object::{self, Prepared, Rendered, flat, kinds_of, manifest_digest, prepare},
        own_kind, rules,
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
            if !self.cr.marks.unset().is_empty() {
                digest.text(names::UNSET).text(self.cr.marks.unset());
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
                self.count_lookups();
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

    /// Renders the chart as a revision, and prepares its objects.
    pub(super) async fn render_as(
        &self,
        revision: u32,
        namespace: &str,
    ) -> Result<(Render, Prepared, Arc<Generated>), Problem> {
        let cluster = self.cluster();
        // Charts that generate values are learnt as they are rendered; only they cost the reading of a Secret.
        let loaded = self.served.generates.load(Relaxed);
        let mut generated =
            Arc::new(if loaded { self.load_generated(namespace).await? } else { Generated::default() });
        let mut render = self.render_once(revision, namespace, &generated, &[]).await?;
        if !render.generated.is_empty() && !loaded {
            self.served.generates.store(true, Relaxed);
            generated = Arc::new(self.load_generated(namespace).await?);
            if !generated.is_empty() {
                render = self.render_once(revision, namespace, &generated, &[]).await?;
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
        let mut prepared = self.prepare(objects, namespace)?;
        let more = self.keep_looked_up(&mut prepared, revision, namespace, &mut generated).await?;
        render.generated.extend(more);
        Ok((render, prepared, generated))
    }

    /// The hooks alone, of a revision that is deployed.
    pub(super) async fn render_hooks(&self, revision: u32, namespace: &str) -> Result<Vec<Hook>, Problem> {
        let (render, _, _) = self.render_as(revision, namespace).await?;
        hooks::prepare(&render.hooks).map_err(|e| invalid(&e))
    }

    pub(super) fn prepare(&self, objects: Vec<Rendered>, namespace: &str) -> Result<Prepared, Problem> {
        let wrong = |reason, message| Problem { reason, message, passing: false };
        let instance = self.cr.marks.rules().map_err(|e| wrong("InvalidAnnotation", e))?;
        let mut prepared = prepare(objects, &self.parent, namespace, |gvk| self.cluster().served(gvk))
            .map_err(|e| invalid(&e))?;
        let errors = rules::attach(&mut prepared.desired, &self.served.definition.spec, &instance);
        if errors.is_empty() { Ok(prepared) } else { Err(wrong("InvalidManifest", errors.join("; "))) }
    }

    pub(super) async fn load_generated(&self, namespace: &str) -> Result<Generated, Problem> {
        Generated::load(self.cluster().client(), &self.parent, namespace)
            .await
            .map_err(|f| Problem::of_failure("GeneratedValuesFailed", &f))
    }

    /// One render, on a thread where it may take its time and look things up. What is `hidden` is not there for it.
    pub(super) async fn render_once(
        &self,
        revision: u32,
        namespace: &str,
        generated: &Arc<Generated>,
        hidden: &[LookupRecord],
    ) -> Result<Render, Problem> {
        let renderer = self.served.renderer.clone();
        let overrides = self.served.definition.overrides.clone();
        let cr = self.cr.clone();
        let (name, namespace) = (self.parent.name.clone(), namespace.to_owned());
        let capabilities = self.operator.capabilities();
        let generated = generated.clone();
        let live = Arc::new(LiveLookup::new(self.cluster().clone(), hidden));
        let lookup: Arc<dyn Lookup> = live.clone();
        let result = tokio::task::spawn_blocking(move || {
            let input = Input {
                spec: &cr.spec,
                overrides: &overrides,
                unset: cr.marks.unset(),
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
        // What made a render fail is watched as well: it may be there later.
        let failure = self.watch_lookups(&live, hidden.is_empty());
        match result {
            Ok(mut render) => {
                let left_out = own_kind::leave_out(&mut render.objects, &mut render.hooks, &self.parent.gvk);
                if let Some(name) = left_out {
                    self.own_crd.get_or_init(|| name);
                }
                Ok(render)
            }
            Err(_) if failure.is_some() => Err(of_render(&RenderError::Lookup(failure.unwrap_or_default()))),
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
