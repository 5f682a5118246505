//! The renderer of a loaded chart: values, templates, manifests.

use std::{
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use tera::{Map, Value};

use super::{
    generated::{Generated, Life, Made},
    renderer::{Input, Render, RenderError, Renderer},
};
use crate::{
    api::{names, status},
    chart::{self, Chart},
    manifest::{self, Order},
    release::object::Rendered,
    render::{self, GeneratedKey, GeneratedValues, Inputs, Limits, Program, Release, generated},
    values, yaml,
};

/// So many sets of enabled subcharts of one chart stay compiled.
const PROGRAMS: usize = 8;

/// A chart, loaded once. Its templates are compiled once for each set of subcharts that values enable.
pub struct ChartRenderer {
    chart: Chart,
    about: status::Chart,
    crds: Vec<Rendered>,
    schemas: values::Schemas,
    programs: Mutex<Vec<(String, Program)>>,
}

impl ChartRenderer {
    /// Loads a chart from a folder or an archive, and compiles it as its default values enable it.
    pub fn load(path: &Path) -> anyhow::Result<Self> {
        Self::new(chart::load(path, &chart::Limits::default())?)
    }

    /// Compiles a chart as its default values enable it.
    pub fn new(chart: Chart) -> anyhow::Result<Self> {
        chart.check_installable()?;
        let m = &chart.metadata;
        let about = status::Chart {
            name: m.name.clone(),
            version: m.version.clone(),
            app_version: m.app_version.clone(),
            digest: format!("sha256:{}", chart.digest),
            label: format!("{}-{}", m.name, m.version),
        };
        let enabled = values::process_dependencies(&chart, &Value::from(Map::new()))?;
        let crds = crds(&enabled)?;
        let renderer = ChartRenderer {
            chart,
            about,
            crds,
            schemas: values::Schemas::default(),
            programs: Mutex::default(),
        };
        // An error in a template is better told at the start.
        renderer.program(&enabled)?;
        Ok(renderer)
    }

    /// Expands what operator-sdk allows in an override value beyond environment variables: template actions, with the
    /// functions of charts.
    pub fn expand(value: &str) -> Result<String, String> {
        if value.contains("{{") {
            return render::text("overrideValues", value).map_err(|error| error.message);
        }
        Ok(value.to_owned())
    }

    fn program(&self, enabled: &Chart) -> Result<Program, render::Error> {
        let mut which = String::new();
        subcharts(enabled, &mut which);
        let known = |programs: &Vec<(String, Program)>| {
            programs.iter().find(|(key, _)| *key == which).map(|(_, program)| program.clone())
        };
        if let Some(program) = known(&self.programs.lock().unwrap_or_else(PoisonError::into_inner)) {
            return Ok(program);
        }
        let program = Program::new(enabled)?;
        let mut programs = self.programs.lock().unwrap_or_else(PoisonError::into_inner);
        if programs.len() >= PROGRAMS {
            programs.remove(0);
        }
        programs.push((which, program.clone()));
        Ok(program)
    }
}

impl Renderer for ChartRenderer {
    fn chart(&self) -> &status::Chart {
        &self.about
    }

    fn crds(&self) -> &[Rendered] {
        &self.crds
    }

    fn render(&self, input: &Input<'_>) -> Result<Render, RenderError> {
        Release::check_name(input.name)
            .map_err(|e| RenderError::Values(format!("release name check failed: {e}")))?;
        let kube_version = &input.capabilities.kube_version;
        self.chart
            .check_kube_version(&kube_version.normalized, &kube_version.version)
            .map_err(|e| RenderError::Template(e.to_string()))?;
        let given = given(input)?;
        let enabled = values::process_dependencies(&self.chart, &given).map_err(|e| values_error(&e))?;
        let values = values::coalesce(&enabled, &given).map_err(|e| values_error(&e))?;
        self.schemas.validate(&enabled, &values).map_err(|e| values_error(&e))?;
        let program = self.program(&enabled).map_err(|e| RenderError::Template(e.message))?;
        let rendered = program
            .render(&Inputs {
                values,
                release: Release {
                    name: input.name.to_owned(),
                    namespace: input.namespace.to_owned(),
                    revision: i64::from(input.revision),
                    is_install: input.revision == 1,
                    is_upgrade: input.revision != 1,
                },
                capabilities: input.capabilities.clone(),
                lookup: input.lookup.clone(),
                generated: Arc::new(Kept { generated: input.generated.clone(), revision: input.revision }),
                limits: Limits::default(),
                resolve_names: false,
            })
            .map_err(|e| RenderError::Template(e.message))?;
        let notes_name = format!("{}/templates/NOTES.txt", self.chart.name());
        let mut notes = String::new();
        let mut files = Vec::with_capacity(rendered.files.len());
        for file in &rendered.files {
            if *file.name == *notes_name {
                notes = file.text().into_owned();
            } else if !file.is_notes() {
                files.push((&*file.name, &*file.data));
            }
        }
        let manifests = manifest::sort(files, Order::Install)
            .map_err(|e| RenderError::Manifest(located(&e, &rendered.secrets)))?;
        let mut objects = Vec::with_capacity(manifests.objects.len());
        for manifest in &manifests.objects {
            // Helm writes a line's end behind each document before it reads them all: a block of text that ends the document
            // has it.
            let object = yaml::parse_json(&format!("{}\n", manifest.text)).map_err(|e| {
                RenderError::Manifest(rendered.secrets.hide(&format!("{}: {e}", manifest.source)))
            })?;
            // A document of comments alone is none.
            if !object.is_null() {
                objects.push(Rendered { source: manifest.source.to_string(), object });
            }
        }
        Ok(Render {
            objects,
            hooks: manifests.hooks,
            notes,
            generated: rendered.generated.iter().map(made).collect(),
        })
    }
}

/// Why the output is no YAML, with the line of it, and nothing that came from Secrets.
fn located(error: &manifest::Error, secrets: &render::Secrets) -> String {
    let excerpt = error.excerpt();
    let text = if excerpt.is_empty() { error.to_string() } else { format!("{error}\n{excerpt}") };
    secrets.hide(text.trim_end())
}

/// The values given: the spec, and the definition's overrides over it.
fn given(input: &Input<'_>) -> Result<Value, RenderError> {
    let spec: serde_json::Value =
        serde_json::from_str(input.spec).map_err(|e| RenderError::Values(format!("spec: {e}")))?;
    let mut given = match from_json(&spec) {
        map if map.as_map().is_some() => map,
        none if none.is_none() => Value::from(Map::new()),
        _ => return Err(RenderError::Values("spec is not a mapping".into())),
    };
    for path in input.unset.split(',').map(str::trim).filter(|path| !path.is_empty()) {
        // A null removes the chart's default, as in Helm.
        given = values::set::parse_into(&format!("{path}=null"), values::set::Style::Typed, given)
            .map_err(|e| RenderError::Values(format!("{}: {path}: {e}", names::UNSET)))?;
    }
    for (key, value) in input.overrides {
        given = values::set::parse_into(&format!("{key}={value}"), values::set::Style::Text, given)
            .map_err(|e| RenderError::Values(format!("override of {key}: {e}")))?;
    }
    Ok(given)
}

fn values_error(error: &values::Error) -> RenderError {
    RenderError::Values(error.to_string())
}

/// The JSON of an API object as Go's decoder gives it to templates: integers int64 (here i128), other numbers float64.
pub fn from_json(json: &serde_json::Value) -> Value {
    use serde_json::Value as Json;
    match json {
        Json::Null => Value::none(),
        Json::Bool(b) => Value::from(*b),
        Json::Number(n) => match (n.as_i64(), n.as_f64()) {
            (Some(i), _) => Value::from(i128::from(i)),
            (None, Some(f)) => Value::from(f),
            (None, None) => Value::none(),
        },
        Json::String(s) => Value::from(s.as_str()),
        Json::Array(items) => Value::from(items.iter().map(from_json).collect::<Vec<_>>()),
        Json::Object(entries) => {
            let map: Map =
                entries.iter().map(|(key, value)| (key.clone().into(), from_json(value))).collect();
            Value::from(map)
        }
    }
}

/// Names the subcharts of a chart, all the way down.
fn subcharts(chart: &Chart, into: &mut String) {
    into.push('(');
    for sub in &chart.dependencies {
        into.push_str(sub.name());
        subcharts(sub, into);
    }
    into.push(')');
}

fn crds(chart: &Chart) -> anyhow::Result<Vec<Rendered>> {
    let mut found = Vec::new();
    for crd in chart.crds() {
        for document in manifest::split(&crd.file.text()) {
            let object = yaml::parse_json(document).map_err(|e| anyhow::anyhow!("{}: {e}", crd.path))?;
            if !object.is_null() {
                found.push(Rendered { source: crd.path.clone(), object });
            }
        }
    }
    Ok(found)
}

/// The values of earlier renders, as the renderer asks for them.
struct Kept {
    generated: Arc<Generated>,
    revision: u32,
}

impl GeneratedValues for Kept {
    fn kept(&self, key: &GeneratedKey) -> Option<Value> {
        let bytes = self.generated.get(&key.digest(), self.revision)?;
        generated::decode(&serde_json::from_slice(bytes).ok()?)
    }
}

fn made(made: &render::Generated) -> Made {
    Made {
        call: made.key.digest(),
        value: generated::encode(&made.value).to_string().into_bytes(),
        life: if made.per_revision { Life::Revision } else { Life::Instance },
        fresh: made.fresh,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::{Capabilities, NoCluster};

    fn input<'a>(
        spec: &'a str,
        overrides: &'a [(String, String)],
        capabilities: &'a Arc<Capabilities>,
        generated: &'a Arc<Generated>,
        lookup: &'a Arc<dyn render::Lookup>,
    ) -> Input<'a> {
        Input {
            spec,
            overrides,
            unset: "",
            name: "front",
            namespace: "shop",
            revision: 1,
            capabilities,
            generated,
            lookup,
        }
    }

    fn render(chart: &str, spec: &str, overrides: &[(String, String)]) -> Result<Render, RenderError> {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("charts").join(chart);
        let renderer = ChartRenderer::load(&path).unwrap();
        let lookup: Arc<dyn render::Lookup> = Arc::new(NoCluster);
        renderer.render(&input(spec, overrides, &Arc::default(), &Arc::default(), &lookup))
    }

    #[test]
    fn a_chart_renders_from_a_spec() {
        let out = render("web", r#"{"replicas": 3}"#, &[("image.tag".into(), "1.0".into())]).unwrap();
        let deployment = out.objects.iter().find(|o| o.object["kind"] == "Deployment").unwrap();
        assert_eq!(deployment.object["spec"]["replicas"], 3);
        let image = deployment.object["spec"]["template"]["spec"]["containers"][0]["image"].as_str().unwrap();
        assert!(image.ends_with(":1.0"), "{image}");
        assert!(!out.notes.is_empty());
    }

    #[test]
    fn a_block_of_text_ends_as_with_helm() {
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            std::fs::create_dir_all(dir.path().join("templates")).unwrap();
            std::fs::write(dir.path().join(name), text).unwrap();
        };
        write("Chart.yaml", "apiVersion: v2\nname: c\nversion: 0.1.0\n");
        let map = |hook: bool, block: &str| {
            let hook = if hook { "\n  annotations: {helm.sh/hook: pre-install}" } else { "" };
            format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a{hook}\ndata:\n  x: {block}")
        };
        // What Helm 4.3.1 has in the cluster after an install.
        for (hook, block, expected) in [
            (false, "|\n    one", "one\n"),
            (false, "|\n    one\n", "one\n"),
            (false, "|-\n    one", "one"),
            (false, "|+\n    one", "one\n"),
            (false, "|+\n    one\n", "one\n\n"),
            (false, "|+\n    one\n\n", "one\n\n\n"),
            (true, "|\n    one", "one\n"),
            (true, "|+\n    one\n", "one\n"),
        ] {
            write("templates/a.yaml", &map(hook, block));
            let renderer = ChartRenderer::load(dir.path()).unwrap();
            let lookup: Arc<dyn render::Lookup> = Arc::new(NoCluster);
            let out = renderer.render(&input("{}", &[], &Arc::default(), &Arc::default(), &lookup)).unwrap();
            let object = if hook { &out.hooks[0].manifest.object } else { &out.objects[0].object };
            assert_eq!(object["data"]["x"], expected, "{block:?}");
        }
    }

    #[test]
    fn override_values_may_have_template_actions() {
        let value = r#"{{ ("quay.io/mine/app:1.2" | split ":")._1 }}-x"#;
        assert_eq!(ChartRenderer::expand(value).unwrap(), "1.2-x");
        assert_eq!(ChartRenderer::expand("as it is").unwrap(), "as it is");
        assert!(ChartRenderer::expand("{{ nothing }}").unwrap_err().contains("nothing"));
    }

    #[test]
    fn what_a_chart_generates_is_told() {
        let out = render("ledger", "{}", &[]).unwrap();
        assert!(!out.generated.is_empty() && out.generated.iter().all(|m| m.fresh));
        assert!(out.hooks.iter().any(|h| h.events.contains(&manifest::Event::PreUpgrade)), "{:?}", out.hooks);
    }

    #[test]
    fn integers_of_a_spec_are_no_floats() {
        let out = render("../tests/integration/charts/sample", r#"{"message": 1000000}"#, &[]).unwrap();
        let map = out.objects.iter().find(|o| o.object["kind"] == "ConfigMap").unwrap();
        assert_eq!(map.object["data"]["message"], "1000000");
    }

    #[test]
    fn a_spec_must_be_a_mapping() {
        assert_eq!(
            render("web", "[]", &[]).unwrap_err(),
            RenderError::Values("spec is not a mapping".into())
        );
        assert!(render("web", "null", &[]).is_ok());
    }

    #[test]
    fn values_are_held_against_the_charts_schema() {
        let error = render("prometheus", r#"{"replicas": 0}"#, &[]).unwrap_err();
        assert_eq!(error.reason(), "InvalidValues");
        assert!(error.to_string().contains("/replicas"), "{error}");
    }
}
