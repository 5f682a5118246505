//! Chart.yaml: its fields, its rules, and how templates see it.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use tera::{Map, Value};

use super::decode;
use super::error::Error;
use super::semver::Version;
use super::text::{quote, sanitize};
use crate::value::typed::{self, Type};

/// The fields of Chart.yaml. A field that is not there is empty.
#[derive(Clone, Debug, Default)]
pub struct Metadata {
    /// The chart's name, or its alias once dependencies are processed.
    pub name: String,
    /// The project's home page.
    pub home: String,
    /// Where its sources are.
    pub sources: Vec<String>,
    /// The chart's version, a semantic version.
    pub version: String,
    /// One sentence.
    pub description: String,
    /// Words to find it by.
    pub keywords: Vec<String>,
    /// Who maintains it.
    pub maintainers: Vec<Maintainer>,
    /// URL of an icon.
    pub icon: String,
    /// `v1` or `v2`.
    pub api_version: String,
    /// A field of old that nothing reads.
    pub condition: String,
    /// A field of old that nothing reads.
    pub tags: String,
    /// The version of the application.
    pub app_version: String,
    /// Whether the chart should no longer be used.
    pub deprecated: bool,
    /// Annotations, or none where Chart.yaml has no such field.
    pub annotations: Option<BTreeMap<String, String>>,
    /// The constraint on the cluster's version.
    pub kube_version: String,
    /// The charts that this one needs. Helm tells an absent list from an empty one: only the latter makes it look
    /// at the dependencies of the charts in charts/.
    pub dependencies: Option<Vec<Dependency>>,
    /// `application`, `library`, or nothing.
    pub chart_type: String,
}

/// Someone who maintains a chart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Maintainer {
    /// Name.
    pub name: String,
    /// Address.
    pub email: String,
    /// Home page.
    pub url: String,
}

/// A chart that another one needs.
#[derive(Clone, Debug, Default)]
pub struct Dependency {
    /// The chart's name.
    pub name: String,
    /// The constraint on its version.
    pub version: String,
    /// Where it comes from.
    pub repository: String,
    /// Paths in the values, with commas between; the first that is a boolean switches the chart on or off.
    pub condition: String,
    /// Keys under `tags` in the values that switch the chart on or off.
    pub tags: Vec<String>,
    /// Whether the chart takes part: decided while dependencies are processed.
    pub enabled: bool,
    /// What is taken from its values into those of the parent: strings, or maps with `child` and `parent`.
    pub import_values: Vec<Value>,
    /// The name by which it goes in the parent.
    pub alias: String,
}

/// Chart.lock: what a chart's dependencies were resolved to.
#[derive(Clone, Debug, Default)]
pub struct Lock {
    /// When, as it was written.
    pub generated: String,
    /// A digest of the dependencies in Chart.yaml.
    pub digest: String,
    /// The dependencies, each with one version.
    pub dependencies: Vec<Dependency>,
}

/// Chart.yaml as it was decoded, held against no rule yet; null entries and all.
#[derive(Clone, Debug, Default)]
#[allow(missing_docs, reason = "the fields are those of `Metadata`")]
pub struct RawMetadata {
    pub name: String,
    pub home: String,
    pub sources: Option<Vec<String>>,
    pub version: String,
    pub description: String,
    pub keywords: Option<Vec<String>>,
    pub maintainers: Option<Vec<Option<Maintainer>>>,
    pub icon: String,
    pub api_version: String,
    pub condition: String,
    pub tags: String,
    pub app_version: String,
    pub deprecated: bool,
    pub annotations: Option<BTreeMap<String, String>>,
    pub kube_version: String,
    pub dependencies: Option<Vec<Option<Dependency>>>,
    pub chart_type: String,
}

fn invalid(text: impl std::fmt::Display) -> Error {
    Error::new(format!("validation: {text}"))
}

impl RawMetadata {
    /// Decodes the text of a Chart.yaml.
    ///
    /// # Errors
    /// What Helm's YAML library says.
    pub fn read(chart_yaml: &[u8]) -> Result<Self, String> {
        let mut raw = Self::default();
        decode::metadata(chart_yaml, &mut raw)?;
        Ok(raw)
    }

    /// Whether the text has only fields that there are, none of them twice.
    ///
    /// # Errors
    /// What Helm's YAML library says when it is strict.
    pub fn check_strictly(chart_yaml: &[u8]) -> Result<(), String> {
        decode::metadata_with(chart_yaml, &mut Self::default(), true)
    }

    /// Cleans the fields and holds them against Helm's rules, in Helm's order.
    pub(super) fn validate(mut self) -> Result<Metadata, Error> {
        for field in [
            &mut self.name,
            &mut self.description,
            &mut self.home,
            &mut self.icon,
            &mut self.condition,
            &mut self.tags,
            &mut self.app_version,
            &mut self.kube_version,
        ] {
            sanitize(field);
        }
        let mut sources = self.sources.unwrap_or_default();
        let mut keywords = self.keywords.unwrap_or_default();
        sources.iter_mut().chain(&mut keywords).for_each(sanitize);

        if self.api_version.is_empty() {
            return Err(invalid("chart.metadata.apiVersion is required"));
        }
        if self.name.is_empty() {
            return Err(invalid("chart.metadata.name is required"));
        }
        if self.name == "." || self.name == ".." {
            return Err(invalid(format_args!("chart.metadata.name {} is not allowed", quote(&self.name))));
        }
        if self.name.contains('/') && self.name != "/" {
            return Err(invalid(format_args!("chart.metadata.name {} is invalid", quote(&self.name))));
        }
        if self.version.is_empty() {
            return Err(invalid("chart.metadata.version is required"));
        }
        if Version::parse(&self.version).is_err() {
            return Err(invalid(format_args!("chart.metadata.version {} is invalid", quote(&self.version))));
        }
        if !matches!(self.chart_type.as_str(), "" | "application" | "library") {
            return Err(invalid("chart.metadata.type must be application or library"));
        }

        let mut maintainers = Vec::new();
        for maintainer in self.maintainers.unwrap_or_default() {
            let mut maintainer =
                maintainer.ok_or_else(|| invalid("maintainers must not contain empty or null nodes"))?;
            for field in [&mut maintainer.name, &mut maintainer.email, &mut maintainer.url] {
                sanitize(field);
            }
            maintainers.push(maintainer);
        }

        let dependencies = self.dependencies.map(validate_dependencies).transpose()?;
        Ok(Metadata {
            name: self.name,
            home: self.home,
            sources,
            version: self.version,
            description: self.description,
            keywords,
            maintainers,
            icon: self.icon,
            api_version: self.api_version,
            condition: self.condition,
            tags: self.tags,
            app_version: self.app_version,
            deprecated: self.deprecated,
            annotations: self.annotations,
            kube_version: self.kube_version,
            dependencies,
            chart_type: self.chart_type,
        })
    }
}

fn validate_dependencies(raw: Vec<Option<Dependency>>) -> Result<Vec<Dependency>, Error> {
    let mut seen = BTreeSet::new();
    let mut dependencies = Vec::new();
    for dependency in raw {
        let mut dependency =
            dependency.ok_or_else(|| invalid("dependencies must not contain empty or null nodes"))?;
        let Dependency { name, version, repository, condition, tags, .. } = &mut dependency;
        for field in [name, version, repository, condition].into_iter().chain(tags) {
            sanitize(field);
        }
        let alias = &dependency.alias;
        if !alias.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-') {
            return Err(invalid(format_args!(
                "dependency {} has disallowed characters in the alias",
                quote(&dependency.name)
            )));
        }
        let key = if alias.is_empty() { &dependency.name } else { alias };
        if !seen.insert(key.clone()) {
            return Err(invalid(format_args!("more than one dependency with name or alias {}", quote(key))));
        }
        dependencies.push(dependency);
    }
    Ok(dependencies)
}

impl Metadata {
    /// The dependencies, whether or not Chart.yaml has the field.
    pub fn dependencies(&self) -> &[Dependency] {
        self.dependencies.as_deref().unwrap_or_default()
    }

    /// `.Chart` as templates see it: the field names of Helm's own Go type, all of them present.
    pub fn to_value(&self) -> Value {
        let strings = |list: &[String]| Value::from(list.iter().map(|s| text(s)).collect::<Vec<_>>());
        let annotations = self.annotations.iter().flatten();
        map([
            ("Name", text(&self.name)),
            ("Home", text(&self.home)),
            ("Sources", strings(&self.sources)),
            ("Version", text(&self.version)),
            ("Description", text(&self.description)),
            ("Keywords", strings(&self.keywords)),
            (
                "Maintainers",
                Value::from(
                    self.maintainers
                        .iter()
                        .map(|m| {
                            map([("Name", text(&m.name)), ("Email", text(&m.email)), ("URL", text(&m.url))])
                        })
                        .collect::<Vec<_>>(),
                ),
            ),
            ("Icon", text(&self.icon)),
            ("APIVersion", text(&self.api_version)),
            ("Condition", text(&self.condition)),
            ("Tags", text(&self.tags)),
            ("AppVersion", text(&self.app_version)),
            ("Deprecated", Value::from(self.deprecated)),
            ("Annotations", typed::make(Type::StringMap, annotations.map(|(k, v)| (k.clone(), text(v))))),
            ("KubeVersion", text(&self.kube_version)),
            (
                "Dependencies",
                Value::from(
                    self.dependencies()
                        .iter()
                        .map(|d| {
                            map([
                                ("Name", text(&d.name)),
                                ("Version", text(&d.version)),
                                ("Repository", text(&d.repository)),
                                ("Condition", text(&d.condition)),
                                ("Tags", strings(&d.tags)),
                                ("Enabled", Value::from(d.enabled)),
                                ("ImportValues", Value::from(d.import_values.clone())),
                                ("Alias", text(&d.alias)),
                            ])
                        })
                        .collect::<Vec<_>>(),
                ),
            ),
            ("Type", text(&self.chart_type)),
        ])
    }
}

fn text(s: &str) -> Value {
    Value::normal_string(s)
}

fn map<const N: usize>(entries: [(&'static str, Value); N]) -> Value {
    Value::from(entries.into_iter().map(|(k, v)| (k.into(), v)).collect::<Map>())
}
