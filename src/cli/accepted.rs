//! Flags of `helm template` that change nothing of what it prints, and those that ask for more than is done here.

use anyhow::{Result, bail};
use clap::Args;

/// Flags that scripts written for Helm pass.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Taken as Helm takes them, for scripts: they change nothing")]
pub struct Accepted {
    /// Wait until resources are ready
    #[arg(long, value_name = "STRATEGY", num_args = 0..=1, require_equals = true, default_missing_value = "watcher")]
    wait: Option<String>,
    /// Wait for Jobs too
    #[arg(long)]
    wait_for_jobs: bool,
    /// How long to wait for any one operation
    #[arg(long, value_name = "DURATION")]
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
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    server_side: Option<bool>,
    /// Reuse the name of a deleted release
    #[arg(long)]
    replace: bool,
    /// Take over existing resources
    #[arg(long)]
    take_ownership: bool,
    /// Undo a failed installation
    #[arg(long, alias = "atomic")]
    rollback_on_failure: bool,
    /// A description of the release
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    /// Labels of the release's record
    #[arg(short, long, value_name = "KEY=VALUE")]
    labels: Vec<String>,
    /// Leave out the validation by the cluster's schema
    #[arg(long)]
    disable_openapi_validation: bool,
    /// Which version of a chart to take from a repository; a folder or an archive has one only
    #[arg(long, value_name = "CONSTRAINT")]
    version: Option<String>,
    /// Versions under development too
    #[arg(long)]
    devel: bool,
    #[arg(long, hide = true)]
    hide_notes: bool,
    #[arg(long, hide = true)]
    render_subchart_notes: bool,
    #[command(flatten)]
    refused: Refused,
}

/// Flags that are known, and refused in words.
#[derive(Args, Clone, Debug, Default)]
struct Refused {
    /// client, which is all there is
    #[arg(long, value_name = "WHERE", num_args = 0..=1, require_equals = true, default_missing_value = "client", help_heading = "Cluster")]
    dry_run: Option<String>,
    #[arg(long, hide = true)]
    validate: bool,
    #[arg(long, hide = true)]
    enable_dns: bool,
    #[arg(long, hide = true)]
    verify: bool,
    #[arg(long, hide = true)]
    repo: Option<String>,
    #[arg(long, hide = true)]
    post_renderer: Option<String>,
    #[arg(long, hide = true)]
    post_renderer_args: Vec<String>,
    /// Fetch missing dependencies: refused where some are missing
    #[arg(long)]
    dependency_update: bool,
}

impl Accepted {
    /// Refuses what is not done.
    ///
    /// # Errors
    /// For each flag that would have to change something.
    pub fn check(&self) -> Result<()> {
        let refused = &self.refused;
        match refused.dry_run.as_deref() {
            None | Some("client" | "none" | "unset" | "true" | "false") => {}
            Some("server") => bail!("--dry-run=server is not supported: nothing is asked of a cluster"),
            Some(other) => {
                bail!("invalid dry-run value ({other:?}). Must be \"none\", \"server\", or \"client\"")
            }
        }
        let given = [
            (refused.validate, "--validate is not supported: nothing is asked of a cluster"),
            (refused.enable_dns, "--enable-dns is not supported: templates look up no names"),
            (refused.verify, "--verify is not supported: provenance files are not read"),
            (refused.repo.is_some(), "--repo is not supported: give a folder or an archive"),
            (
                refused.post_renderer.is_some() || !refused.post_renderer_args.is_empty(),
                "--post-renderer is not supported: pipe the output through a program instead",
            ),
        ];
        match given.into_iter().find(|(given, _)| *given) {
            Some((_, text)) => bail!(text),
            None => Ok(()),
        }
    }

    /// Whether missing dependencies should be fetched.
    pub fn dependency_update(&self) -> bool {
        self.refused.dependency_update
    }
}
