//! `pintle crd`: the CustomResourceDefinition of a chart.

use std::{
    io::{self, Write as _},
    path::PathBuf,
};

use anyhow::{Context as _, Result};
use clap::{Args, ValueEnum};

use crate::{
    api::{
        Gvk,
        crd::{Names, crd},
    },
    chart,
};

/// Print the CustomResourceDefinition of a chart
///
/// The schema of the spec is the chart's values.schema.json, made structural; without one it is inferred from values.yaml
/// and its comments.
#[derive(Args)]
pub struct Crd {
    /// The chart: a folder or an archive.
    chart: PathBuf,
    /// API group of the kind, such as apps.example.com.
    #[arg(long)]
    group: String,
    /// Version of the API.
    #[arg(long, default_value = "v1alpha1")]
    version: String,
    /// The kind that the chart becomes, in CamelCase.
    #[arg(long)]
    kind: String,
    /// Plural of the kind; guessed from the singular when not given.
    #[arg(long, default_value = "")]
    plural: String,
    /// Singular of the kind; the kind in lower case when not given.
    #[arg(long, default_value = "")]
    singular: String,
    /// Short name of the kind, as for kubectl get; may be repeated.
    #[arg(long = "short-name", value_name = "NAME")]
    short_names: Vec<String>,
    /// Where objects of the kind live.
    #[arg(long, value_enum, default_value_t = Scope::Namespaced)]
    scope: Scope,
    /// How it is printed.
    #[arg(short, long, value_enum, default_value_t = Output::Yaml)]
    output: Output,
}

#[derive(Clone, Copy, ValueEnum)]
enum Scope {
    /// In namespaces.
    #[value(name = "Namespaced", alias = "namespaced")]
    Namespaced,
    /// In none.
    #[value(name = "Cluster", alias = "cluster")]
    Cluster,
}

#[derive(Clone, Copy, ValueEnum)]
enum Output {
    Yaml,
    Json,
}

impl Crd {
    /// Prints the CRD.
    pub fn run(self) -> Result<()> {
        let chart = chart::load(&self.chart, &chart::Limits::default())
            .with_context(|| format!("chart {}", self.chart.display()))?;
        let names = Names {
            gvk: Gvk { group: self.group, version: self.version, kind: self.kind },
            plural: self.plural,
            singular: self.singular,
            short: self.short_names,
            cluster_scoped: matches!(self.scope, Scope::Cluster),
        };
        let crd = crd(&chart, &names)?;
        let text = match self.output {
            Output::Yaml => serde_yaml::to_string(&crd)?,
            Output::Json => serde_json::to_string_pretty(&crd)? + "\n",
        };
        io::stdout().lock().write_all(text.as_bytes())?;
        Ok(())
    }
}
