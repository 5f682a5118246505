//! The flags that all of Helm's commands have: which cluster is meant, and some that change nothing here.

use std::path::PathBuf;

use anyhow::{Context as _, Result, anyhow, bail};
use clap::Args;
use kube::{
    Config,
    config::{KubeConfigOptions, Kubeconfig},
};

use super::usage;

/// How to reach a cluster. Without these flags, KUBECONFIG, the default file or the Pod's service account decide.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Connection")]
pub struct Reach {
    /// The kubeconfig file
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
    /// The context of the kubeconfig
    #[arg(long, value_name = "CONTEXT", env = "HELM_KUBECONTEXT", hide_env = true, alias = "context")]
    kube_context: Option<String>,
    /// The API server's address
    #[arg(long, value_name = "URL", env = "HELM_KUBEAPISERVER", hide_env = true)]
    kube_apiserver: Option<String>,
    /// The certificates to trust the API server by
    #[arg(long, value_name = "FILE", env = "HELM_KUBECAFILE", hide_env = true)]
    kube_ca_file: Option<PathBuf>,
    /// Trust the API server whatever its certificate
    #[arg(long)]
    kube_insecure_skip_tls_verify: bool,
    /// The name that the API server's certificate must have
    #[arg(long, value_name = "NAME", env = "HELM_KUBETLS_SERVER_NAME", hide_env = true)]
    kube_tls_server_name: Option<String>,
    /// The token to authenticate by
    #[arg(long, value_name = "TOKEN", env = "HELM_KUBETOKEN", hide_env = true, hide_env_values = true)]
    kube_token: Option<String>,
    /// The user to act as
    #[arg(long, value_name = "NAME", env = "HELM_KUBEASUSER", hide_env = true)]
    kube_as_user: Option<String>,
    /// The groups to act as a member of. May be repeated
    #[arg(long, value_name = "NAME", env = "HELM_KUBEASGROUPS", hide_env = true, value_delimiter = ',')]
    kube_as_group: Vec<String>,
}

impl Reach {
    fn file(&self) -> Result<Kubeconfig> {
        Ok(match &self.kubeconfig {
            Some(path) => {
                Kubeconfig::read_from(path).with_context(|| format!("kubeconfig {}", path.display()))?
            }
            None => Kubeconfig::read()?,
        })
    }

    /// The namespace that is asked for, else that of the kubeconfig's context, else `default`.
    pub fn namespace(&self, given: Option<&str>) -> String {
        let of_context = || {
            let config = self.file().ok()?;
            let current = self.kube_context.clone().or(config.current_context)?;
            let context = config.contexts.into_iter().find(|context| context.name == current)?;
            context.context?.namespace.filter(|namespace| !namespace.is_empty())
        };
        let given = given.filter(|name| !name.is_empty()).map(str::to_owned);
        given.or_else(of_context).unwrap_or_else(|| "default".into())
    }

    /// What a client needs to know.
    ///
    /// # Errors
    /// When there is no such file, context or address.
    pub async fn config(&self) -> Result<Config> {
        let mut config = if self.kubeconfig.is_some() || self.kube_context.is_some() {
            let options =
                KubeConfigOptions { context: self.kube_context.clone(), ..KubeConfigOptions::default() };
            Config::from_custom_kubeconfig(self.file()?, &options).await?
        } else {
            match (Config::infer().await, &self.kube_apiserver) {
                (Ok(config), _) => config,
                (Err(_), Some(url)) => Config::new(url.parse().map_err(|e| anyhow!("{url}: {e}"))?),
                (Err(error), None) => return Err(error.into()),
            }
        };
        if let Some(url) = &self.kube_apiserver {
            config.cluster_url = url.parse().map_err(|error| anyhow!("{url}: {error}"))?;
        }
        if let Some(path) = &self.kube_ca_file {
            std::fs::metadata(path).with_context(|| path.display().to_string())?;
            config.root_cert_file = Some(path.clone());
        }
        config.accept_invalid_certs |= self.kube_insecure_skip_tls_verify;
        if let Some(name) = &self.kube_tls_server_name {
            config.tls_server_name = Some(name.clone());
        }
        if let Some(token) = &self.kube_token {
            config.auth_info.token = Some(token.clone().into());
        }
        if let Some(user) = &self.kube_as_user {
            config.auth_info.impersonate = Some(user.clone());
        }
        if !self.kube_as_group.is_empty() {
            config.auth_info.impersonate_groups = Some(self.kube_as_group.clone());
        }
        Ok(config)
    }
}

/// Flags of all of Helm's commands.
#[derive(Args, Clone, Debug, Default)]
#[command(
    next_help_heading = "Taken as Helm takes them, for scripts: they change nothing of what is printed"
)]
pub struct Global {
    /// Which cluster is meant.
    #[command(flatten)]
    pub reach: Reach,
    /// How many requests may be made at once
    #[arg(
        long,
        value_name = "NUMBER",
        hide_short_help = true,
        value_parser = usage::integer
    )]
    burst_limit: Option<i64>,
    /// How many requests may be made in a second
    #[arg(
        long,
        value_name = "NUMBER",
        hide_short_help = true,
        value_parser = usage::number
    )]
    qps: Option<f64>,
    /// Whether to use colours: never, auto or always
    #[arg(long, value_name = "WHEN", alias = "colour", hide_short_help = true)]
    color: Option<String>,
    /// Where Helm keeps charts
    #[arg(long, value_name = "DIR", hide_short_help = true)]
    content_cache: Option<String>,
    /// Helm's credentials for registries
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    registry_config: Option<String>,
    /// Helm's copies of indexes
    #[arg(long, value_name = "DIR", hide_short_help = true)]
    repository_cache: Option<String>,
    /// Helm's list of repositories
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    repository_config: Option<String>,
}

impl Global {
    /// # Errors
    /// For colours that Helm does not know.
    pub fn check(&self) -> Result<()> {
        match self.color.as_deref() {
            None | Some("never" | "auto" | "always" | "") => Ok(()),
            Some(mode) => bail!("invalid color mode {mode:?}: must be one of: never, auto, always"),
        }
    }
}
