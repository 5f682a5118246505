//! `pintle template`: what a chart renders to, as `helm template` prints it.

use std::{
    collections::BTreeSet,
    fmt::Write as _,
    fs,
    io::{self, Write as _},
    mem::ManuallyDrop,
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::{Error, Result, anyhow, bail};
use clap::Args;

use crate::{
    chart::{self, Chart},
    manifest::{self, Manifests, Order, Section, Show},
    render::{self, Inputs, KubeVersion, Program, Release, Rendered},
    threads,
    value::quote::quote,
    values::{self, DEBUG, Schemas, coalesce, process_dependencies},
};

use super::accepted::{Accepted, DryRun};
use super::global::Global;
use super::out;
use super::server::Server;
use super::usage::{self, Items};
use super::values::{ValueFlags, reason};
use super::warnings;

/// What Helm ends errors with that come after the templates were rendered.
const HINT: &str = "Use --debug flag to render out invalid YAML";

/// The name of a release that is given none.
const DEFAULT_NAME: &str = "release-name";

/// Render a chart and print the manifests
///
/// Prints what helm template prints. What would be looked up in the cluster is not there, unless with --dry-run=server.
#[derive(Args)]
pub struct Template {
    /// The release's name, if two arguments are given, and the chart: a folder or an archive
    #[arg(value_name = "[NAME] CHART", num_args = 0..)]
    arguments: Vec<String>,
    /// The release's namespace; without it that of the kubeconfig's context
    #[arg(short, long, env = "HELM_NAMESPACE")]
    namespace: Option<String>,
    #[command(flatten)]
    values: ValueFlags,
    /// The version of Kubernetes that templates see
    #[arg(long, value_name = "VERSION", help_heading = "Cluster")]
    kube_version: Option<String>,
    /// API versions that templates see, beside those of Helm's default. May be repeated
    #[arg(short, long, value_name = "VERSION", value_parser = usage::items, help_heading = "Cluster")]
    api_versions: Vec<Items>,
    /// Where to render: client, without a cluster, or server, with the version, APIs and objects of the cluster
    #[arg(long, value_name = "WHERE", num_args = 0..=1, require_equals = true, default_missing_value = "unset", help_heading = "Cluster")]
    dry_run: Option<String>,
    #[arg(long, hide = true)]
    validate: bool,
    /// Take over resources of others; with --dry-run=server, that there are such is no error
    #[arg(long, help_heading = "Cluster")]
    take_ownership: bool,
    /// Let getHostByName ask the resolver; without it, it answers nothing
    #[arg(long)]
    enable_dns: bool,
    /// Render as for an upgrade: .Release.IsUpgrade and not .Release.IsInstall
    #[arg(long, help_heading = "Cluster")]
    is_upgrade: bool,
    /// A template for the release's name
    #[arg(long, value_name = "TEMPLATE")]
    name_template: Option<String>,
    /// Make up the release's name
    #[arg(short, long)]
    generate_name: bool,
    /// Print only what these templates render to; patterns are allowed. May be repeated
    #[arg(short, long, value_name = "TEMPLATE", help_heading = "Output")]
    show_only: Vec<String>,
    /// Write into files under this folder instead of printing
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    output_dir: Option<String>,
    /// Put the release's name into the path under --output-dir
    #[arg(long, help_heading = "Output")]
    release_name: bool,
    /// Print the CRDs of the folder crds too
    #[arg(long, help_heading = "Output")]
    include_crds: bool,
    /// Leave out hooks
    #[arg(long, help_heading = "Output")]
    no_hooks: bool,
    /// Leave out tests
    #[arg(long, help_heading = "Output")]
    skip_tests: bool,
    /// Install no CRDs; as in Helm, this changes nothing of what is printed
    #[arg(long, help_heading = "Output")]
    skip_crds: bool,
    /// Do not hold the values against values.schema.json
    #[arg(long)]
    skip_schema_validation: bool,
    /// Print what was rendered even if it is not valid YAML, and log as Helm does
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", value_parser = usage::truth)]
    debug: Option<bool>,
    #[command(flatten)]
    accepted: Accepted,
    #[command(flatten)]
    global: Global,
}

/// What went wrong, what the templates wrote if they did, and what must not be told of it.
struct Failure {
    error: Error,
    written: Option<String>,
    secrets: render::Secrets,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self { error, written: None, secrets: render::Secrets::default() }
    }
}

impl Template {
    /// Renders and prints, all on the one thread whose stack carries a render: what another thread has allocated is slower
    /// to reach.
    pub fn run(&self) -> Result<()> {
        self.accepted.check(self.arguments.last().map(String::as_str))?;
        self.global.check()?;
        warnings::start(&[], self.debug());
        threads::on_large_stack(|| {
            threads::keep_memory();
            self.run_here()
        })?
    }

    /// Whether the flag is given, or the environment says so.
    fn debug(&self) -> bool {
        self.debug.unwrap_or_else(|| usage::switched_on("HELM_DEBUG"))
    }

    fn run_here(&self) -> Result<()> {
        let kube_version = usage::kube_version(self.kube_version.as_deref())?;
        self.accepted.log_version();
        let place = DryRun::of(self.dry_run.as_deref(), self.validate)?;
        let (name, path) = self.name_and_chart()?;
        match self.render(&name, &path, kube_version, place) {
            Ok(made) => {
                // The process is about to end, which frees everything at once.
                let (chart, manifests) = &*ManuallyDrop::new(made);
                self.print(&name, chart, manifests)
            }
            Err(Failure { error, written: None, .. }) => Err(error),
            Err(Failure { error, written: Some(written), secrets }) => {
                if self.debug() {
                    let text = format!("{}\n", written.trim());
                    let text = if self.show_only.is_empty() {
                        text
                    } else {
                        manifest::only(&text, &self.show_only).unwrap_or_default()
                    };
                    out::write(text.as_bytes())?;
                    return Err(anyhow!(secrets.hide(&error.to_string())));
                }
                let excerpt = (error.downcast_ref::<render::Error>().map(render::Error::excerpt))
                    .or_else(|| error.downcast_ref::<manifest::Error>().map(manifest::Error::excerpt));
                let excerpt = excerpt.filter(|excerpt| !excerpt.is_empty());
                let excerpt =
                    excerpt.map_or_else(String::new, |excerpt| format!("\n\n{}", excerpt.trim_end()));
                Err(anyhow!(secrets.hide(&format!("{error}\n\n{HINT}{excerpt}"))))
            }
        }
    }

    fn name_template(&self) -> Option<&str> {
        self.name_template.as_deref().filter(|template| !template.is_empty())
    }

    fn name_and_chart(&self) -> Result<(String, String)> {
        match self.arguments.as_slice() {
            [] => bail!(
                "\"pintle template\" requires at least 1 argument\n\nUsage:  pintle template [NAME] [CHART] [flags]"
            ),
            [chart] => match self.name_template() {
                Some(template) => Ok((
                    render::text("name-template", template).map_err(|error| anyhow!("{error}"))?,
                    chart.clone(),
                )),
                // Helm has a default here, so that --generate-name makes nothing up.
                None => Ok((DEFAULT_NAME.to_owned(), chart.clone())),
            },
            [_, _] if self.generate_name => bail!("cannot set --generate-name and also specify a name"),
            [_, _] if self.name_template().is_some() => {
                bail!("cannot set --name-template and also specify a name")
            }
            [name, chart] => Ok((name.clone(), chart.clone())),
            more => {
                let rest = more.get(2..).unwrap_or_default().join(", ");
                bail!("expected at most two arguments, unexpected arguments: {rest}")
            }
        }
    }

    fn render(
        &self,
        name: &str,
        path: &str,
        kube_version: Option<KubeVersion>,
        place: DryRun,
    ) -> Result<(Chart, Manifests), Failure> {
        let path = located(path.trim())?;
        tracing::debug!(target: DEBUG, path = %path.display(), "Chart path");
        let user = self.values.merge().map_err(Error::new)?;
        let load = if self.include_crds { chart::load } else { chart::load_lazily };
        let loaded = load(&path, &chart::Limits::default()).map_err(Error::new)?;
        loaded.check_installable().map_err(|error| {
            let fetch = self.accepted.dependency_update();
            let hint = if fetch { "\n--dependency-update fetches nothing here" } else { "" };
            anyhow!("{error}{hint}")
        })?;
        if loaded.metadata.deprecated {
            tracing::warn!("this chart is deprecated");
        }
        let server = (place == DryRun::Server).then(|| Server::connect(&self.global.reach)).transpose()?;
        Release::check_name(name).map_err(|error| logged("release name check failed", error))?;
        let mut chart = process_dependencies(&loaded, &user)
            .map_err(|error| logged("chart dependencies processing failed", error))?;
        drop(loaded);
        let capabilities = match &server {
            // As in Helm, what is given counts for nothing beside a cluster.
            Some(server) => server.capabilities(),
            None => usage::capabilities(kube_version, &self.api_versions),
        };
        let settle = || {
            let values = coalesce(&chart, &user)?;
            if !self.skip_schema_validation {
                Schemas::default().validate(&chart, &values)?;
            }
            Ok::<_, values::Error>(values)
        };
        let (values, program) = if chart.has_schema() || Program::is_large(&chart) {
            threads::both(settle, || Program::for_one_render(&chart))
        } else {
            (settle(), Program::for_one_render(&chart))
        };
        let values = values.map_err(Error::new)?;
        let namespace = self.global.reach.namespace(self.namespace.as_deref());
        let release = Release {
            is_install: !self.is_upgrade,
            is_upgrade: self.is_upgrade,
            ..Release::install(name, namespace.clone())
        };

        let failed = |error: Error| Failure { written: Some(String::new()), ..error.into() };
        let given = &capabilities.kube_version;
        chart.check_kube_version(&given.normalized, &given.version).map_err(|error| failed(error.into()))?;
        let program = program.map_err(|error| failed(error.into()))?;
        // Like the chart, what it is rendered with is left for the end of the process to free.
        let program = ManuallyDrop::new(program);
        let mut inputs = Inputs {
            capabilities: Arc::new(capabilities),
            resolve_names: self.enable_dns,
            ..Inputs::offline(values, release)
        };
        if let Some(server) = &server {
            inputs.lookup = server.lookup();
        }
        let inputs = ManuallyDrop::new(inputs);
        let rendered = program.render_on_two_threads(&inputs).map_err(|error| failed(error.into()))?;
        // There is room now for what was rendered to be sorted.
        chart.drop_templates();
        ManuallyDrop::into_inner(program).leave();
        let manifests = sort(&rendered)?;
        if let Some(server) = &server {
            let take_over = self.take_ownership || self.is_upgrade;
            let checked = server.check(&manifests.objects, name, &namespace, take_over);
            checked.map_err(|error| anyhow!(rendered.secrets.hide(&format!("{error:#}"))))?;
        }
        Ok((chart, manifests))
    }

    fn print(&self, name: &str, chart: &Chart, manifests: &Manifests) -> Result<()> {
        let crds = if self.include_crds { chart.crds() } else { Vec::new() };
        let show = Show { hooks: !self.no_hooks, tests: !self.skip_tests };
        let sections = manifest::sections(&crds, manifests, show);
        let Some(dir) = self.output_dir.as_deref().filter(|dir| !dir.is_empty()).map(Path::new) else {
            if self.show_only.is_empty() {
                return out::write_all(manifest::parts(&sections).map(str::as_bytes));
            }
            let text = manifest::only(&manifest::print(&sections), &self.show_only).map_err(Error::msg)?;
            return out::write(text.as_bytes());
        };
        let named = if self.release_name { dir.join(name) } else { dir.to_owned() };
        let mut written = BTreeSet::new();
        for section in &sections {
            // Helm puts CRDs beside the release's folder.
            let path = usage::joined(if section.crd { dir } else { &named }, section.source);
            write_file(&path, section, !written.insert(path.clone()))
                .map_err(|error| if self.debug() { error } else { anyhow!("{error}\n\n{HINT}") })?;
        }
        // Nothing is left to print but the line break that always ends it.
        let text = if self.show_only.is_empty() {
            "\n".to_owned()
        } else {
            manifest::only("", &self.show_only).map_err(Error::msg)?
        };
        out::write(text.as_bytes())
    }
}

/// The chart that an argument names, which must be on this machine.
pub fn located(argument: &str) -> Result<PathBuf> {
    let path = Path::new(argument);
    if path.exists() {
        return Ok(chart::absolute(path));
    }
    if path.is_absolute() || argument.starts_with('.') {
        bail!("path {} not found", quote(argument.as_bytes()));
    }
    match argument.split_once('/') {
        _ if argument.contains("://") => {
            bail!(
                "{argument} is not on this machine; charts are not fetched here: give a folder or an archive"
            )
        }
        Some((repository, _)) => bail!("repo {repository} not found"),
        None => bail!("non-absolute URLs should be in form of repo_name/path_to_chart, got: {argument}"),
    }
}

/// An error that Helm logs before it ends with it.
fn logged(stage: &str, error: impl std::fmt::Display) -> Error {
    tracing::error!(%error, "{stage}");
    anyhow!("{stage}: {error}")
}

/// Splits and sorts what templates wrote.
fn sort(rendered: &Rendered) -> Result<Manifests, Failure> {
    manifest::sort_heads(rendered.manifests(), Order::Install).map_err(|error| {
        let mut written = String::new();
        for (name, text) in rendered.manifests() {
            let text = String::from_utf8_lossy(text);
            if !text.trim().is_empty() {
                let _ = write!(written, "---\n# Source: {name}\n{text}\n");
            }
        }
        Failure { error: error.into(), written: Some(written), secrets: rendered.secrets.clone() }
    })
}

fn write_file(path: &Path, section: &Section<'_>, append: bool) -> Result<()> {
    let failed = |error: io::Error| anyhow!("open {}: {}", path.display(), reason(&error));
    if let Some(parent) = path.parent() {
        let wrong =
            |doing: &str, error: &io::Error| anyhow!("{doing} {}: {}", parent.display(), reason(error));
        match fs::metadata(parent) {
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                fs::create_dir_all(parent).map_err(|error| wrong("mkdir", &error))?;
            }
            Err(error) => return Err(wrong("stat", &error)),
        }
    }
    let mut file = if append {
        fs::OpenOptions::new().append(true).open(path).map_err(failed)?
    } else {
        fs::File::create(path).map_err(failed)?
    };
    file.write_all(section.print().as_bytes()).map_err(failed)?;
    out::write(format!("wrote {}\n", path.display()).as_bytes())
}
