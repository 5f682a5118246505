//! Flags of Helm that change nothing of what is printed, and those that ask for more than is done here.

use std::path::Path;

use anyhow::{Result, bail};
use clap::Args;

use super::{out, usage};
use crate::values::DEBUG;

/// The labels of a release's record that are Helm's own.
const SYSTEM_LABELS: [&str; 6] = ["name", "owner", "status", "version", "createdAt", "modifiedAt"];

/// Flags that scripts written for Helm pass.
#[derive(Args, Clone, Debug, Default)]
#[command(
    next_help_heading = "Taken as Helm takes them, for scripts: they change nothing of what is printed"
)]
pub struct Accepted {
    /// Wait until resources are ready: watcher, hookOnly or legacy
    #[arg(long, value_name = "STRATEGY", num_args = 0..=1, require_equals = true, default_missing_value = "watcher")]
    wait: Option<String>,
    /// Wait for Jobs too
    #[arg(long)]
    wait_for_jobs: bool,
    /// How long to wait for any one operation
    #[arg(long, value_name = "DURATION", value_parser = usage::duration)]
    timeout: Option<String>,
    /// Create the release's namespace
    #[arg(long)]
    create_namespace: bool,
    /// Replace resources to update them
    #[arg(long, alias = "force")]
    force_replace: bool,
    /// Override conflicts of server-side apply
    #[arg(long)]
    force_conflicts: bool,
    /// Update on the server
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", value_parser = usage::truth)]
    server_side: Option<bool>,
    /// Reuse the name of a deleted release
    #[arg(long)]
    replace: bool,
    /// Undo a failed installation
    #[arg(long, alias = "atomic")]
    rollback_on_failure: bool,
    /// A description of the release
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    /// Labels of the release's record
    #[arg(short, long, value_name = "KEY=VALUE")]
    labels: Vec<String>,
    /// Leave out the validation of fields, which is the API server's: nothing is sent to it here
    #[arg(long)]
    disable_openapi_validation: bool,
    /// Which version of a chart to take from a repository; a folder or an archive has one only
    #[arg(long, value_name = "CONSTRAINT")]
    version: Option<String>,
    /// Versions under development too
    #[arg(long)]
    devel: bool,
    /// Leave out the notes, which are not printed here in any case
    #[arg(long, hide = true)]
    hide_notes: bool,
    /// The notes of subcharts too
    #[arg(long, hide = true)]
    render_subchart_notes: bool,
    #[command(flatten)]
    fetching: Fetching,
    #[command(flatten)]
    refused: Refused,
}

/// How Helm reaches repositories, which nothing here does.
#[derive(Args, Clone, Debug, Default)]
struct Fetching {
    /// The certificates to trust a repository by
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    ca_file: Option<String>,
    /// The certificate to show to a repository
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    cert_file: Option<String>,
    /// The key of that certificate
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    key_file: Option<String>,
    /// The keys to verify charts by
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    keyring: Option<String>,
    /// Trust a repository whatever its certificate
    #[arg(long, hide_short_help = true)]
    insecure_skip_tls_verify: bool,
    /// Reach a registry without TLS
    #[arg(long, hide_short_help = true)]
    plain_http: bool,
    /// Give the credentials to all hosts
    #[arg(long, hide_short_help = true)]
    pass_credentials: bool,
    /// The user at a repository
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    username: Option<String>,
    /// The user's password
    #[arg(long, value_name = "PASSWORD", hide_short_help = true)]
    password: Option<String>,
}

/// Flags that are known, and refused in words.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Not supported: refused where they would change something")]
struct Refused {
    /// Check the chart's signature
    #[arg(long, hide_short_help = true)]
    verify: bool,
    /// Take the chart from this repository
    #[arg(long, value_name = "URL", hide_short_help = true)]
    repo: Option<String>,
    /// Let a plugin change what is rendered
    #[arg(long, value_name = "PLUGIN", hide_short_help = true)]
    post_renderer: Option<String>,
    /// The plugin's arguments, which are nothing without one
    #[arg(long, value_name = "ARGUMENT", hide_short_help = true, allow_hyphen_values = true)]
    post_renderer_args: Vec<String>,
    /// Fetch missing dependencies: refused where some are missing
    #[arg(long)]
    dependency_update: bool,
}

impl Accepted {
    /// Refuses what is not done.
    ///
    /// # Errors
    /// For each flag that would have to change something, and for values that Helm's flags do not take.
    pub fn check(&self, chart: Option<&str>) -> Result<()> {
        match self.wait.as_deref() {
            None | Some("watcher" | "hookOnly" | "legacy" | "true" | "false") => {}
            Some(other) => bail!(
                "invalid argument {other:?} for \"--wait\" flag: invalid wait input {other:?}. Valid inputs are watcher, \
                 hookOnly, and legacy"
            ),
        }
        for label in self.labels.iter().flat_map(|labels| labels.split(',')) {
            match label.split_once('=') {
                None => bail!(
                    "invalid argument {:?} for \"-l, --labels\" flag: {label} must be formatted as key=value",
                    self.labels.join(",")
                ),
                Some((key, _)) if SYSTEM_LABELS.contains(&key) => bail!(
                    "user supplied labels contains system reserved label name. System labels: [{}]",
                    SYSTEM_LABELS.join(" ")
                ),
                Some(_) => {}
            }
        }
        let flags = [("hide-notes", self.hide_notes), ("render-subchart-notes", self.render_subchart_notes)];
        for (flag, _) in flags.into_iter().filter(|(_, given)| *given) {
            out::complain(&format!(
                "Flag --{flag} has been deprecated, this flag has no effect for 'pintle template' and will be removed in Helm 5"
            ));
        }
        let refused = &self.refused;
        if refused.verify && Path::new(chart.unwrap_or_default()).is_dir() {
            bail!("unpacked charts cannot be verified");
        }
        let given = [
            (refused.verify, "--verify is not supported: provenance files are not read"),
            (refused.repo.is_some(), "--repo is not supported: give a folder or an archive"),
            (
                refused.post_renderer.is_some(),
                "--post-renderer is not supported: pipe the output through a program instead",
            ),
        ];
        match given.into_iter().find(|(given, _)| *given) {
            Some((_, text)) => bail!(text),
            None => Ok(()),
        }
    }

    /// Logs which version of the chart is asked for.
    pub fn log_version(&self) {
        let version = self.version.as_deref().unwrap_or_default();
        tracing::debug!(target: DEBUG, version, "Original chart version");
        if version.is_empty() && self.devel {
            tracing::debug!(target: DEBUG, "setting version to >0.0.0-0");
        }
    }

    /// Whether missing dependencies should be fetched.
    pub fn dependency_update(&self) -> bool {
        self.refused.dependency_update
    }
}

/// Where a dry run runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DryRun {
    /// Without a cluster.
    Client,
    /// Asking the cluster.
    Server,
}

impl DryRun {
    /// Reads the flag, and the older one.
    ///
    /// # Errors
    /// In Helm's words, for what it does not know.
    pub fn of(given: Option<&str>, validate: bool) -> Result<Self> {
        match given {
            Some(_) if validate => bail!(
                "if any flags in the group [validate dry-run] are set none of the others can be; [dry-run validate] were all \
                 set"
            ),
            None if validate => {
                tracing::warn!("--validate is deprecated: use '--dry-run=server' instead");
                Ok(Self::Server)
            }
            None | Some("client") => Ok(Self::Client),
            Some("server") => Ok(Self::Server),
            Some("unset") => {
                tracing::warn!("--dry-run is deprecated and should be replaced with '--dry-run=client'");
                Ok(Self::Client)
            }
            Some(value @ ("1" | "t" | "T" | "TRUE" | "true" | "True")) => {
                let truth = if value == "true" { value } else { "true" };
                tracing::warn!(
                    "boolean '--dry-run={truth}' flag is deprecated and must be replaced with '--dry-run=client'"
                );
                Ok(Self::Client)
            }
            Some(value @ ("none" | "0" | "f" | "F" | "FALSE" | "false" | "False")) => {
                bail!("invalid dry-run value ({value:?}). Must be \"server\" or \"client\"")
            }
            Some(value) => {
                bail!("invalid dry-run value ({value:?}). Must be \"none\", \"server\", or \"client\"")
            }
        }
    }
}
