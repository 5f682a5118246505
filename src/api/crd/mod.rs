//! CustomResourceDefinitions for charts: the schema of the spec is that of the chart's values.

mod comments;
mod infer;
mod status;
mod structural;

use serde_json::{Map, Value, json};

use super::{Gvk, names};
use crate::chart::Chart;

/// How a chart's kind is to be called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Names {
    /// Group, version and kind.
    pub gvk: Gvk,
    /// The plural, as in `kubectl get webs`; made from the kind when empty.
    pub plural: String,
    /// The singular; the kind in lower case when empty.
    pub singular: String,
    /// Short names.
    pub short: Vec<String>,
    /// Whether its objects are cluster-scoped.
    pub cluster_scoped: bool,
}

impl Names {
    /// The usual names of a kind in namespaces.
    pub fn of(gvk: Gvk) -> Self {
        Names {
            gvk,
            plural: String::new(),
            singular: String::new(),
            short: Vec::new(),
            cluster_scoped: false,
        }
    }
}

/// Why there is no schema for a chart.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// values.schema.json is not JSON.
    #[error("{chart}: values.schema.json: {error}")]
    Schema {
        /// The chart.
        chart: String,
        /// What is wrong with it.
        error: serde_json::Error,
    },
    /// A name that Kubernetes does not take.
    #[error("{what} {name:?} is not one that Kubernetes takes: {why}")]
    Name {
        /// Which name.
        what: &'static str,
        /// The name.
        name: String,
        /// Why not.
        why: &'static str,
    },
}

/// The CRD of a chart.
pub fn crd(chart: &Chart, names: &Names) -> Result<Value, Error> {
    let gvk = &names.gvk;
    check(names)?;
    let singular = if names.singular.is_empty() { gvk.kind.to_lowercase() } else { names.singular.clone() };
    let plural = if names.plural.is_empty() { plural(&singular) } else { names.plural.clone() };
    let mut spec_names = json!({
        "kind": gvk.kind,
        "listKind": format!("{}List", gvk.kind),
        "plural": plural,
        "singular": singular,
    });
    if !names.short.is_empty() {
        spec_names["shortNames"] = json!(names.short);
    }
    let mut spec = values_schema(chart)?;
    if spec.get("description").is_none() {
        spec["description"] = "Values of the chart, laid over its own.".into();
    }
    let description = match chart.metadata.description.trim() {
        "" => format!("{} is the chart {}.", gvk.kind, chart.name()),
        text => format!("{} is the chart {}: {}", gvk.kind, chart.name(), sentence(text)),
    };
    Ok(json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {
            "name": format!("{plural}.{}", gvk.group),
            "labels": { names::APPLYSET_PARENT_TYPE: "true" },
        },
        "spec": {
            "group": gvk.group,
            "names": spec_names,
            "scope": if names.cluster_scoped { "Cluster" } else { "Namespaced" },
            "versions": [{
                "name": gvk.version,
                "served": true,
                "storage": true,
                "subresources": { "status": {} },
                "additionalPrinterColumns": columns(),
                "schema": { "openAPIV3Schema": {
                    "type": "object",
                    "description": description,
                    "properties": {
                        "apiVersion": { "type": "string" },
                        "kind": { "type": "string" },
                        "metadata": { "type": "object" },
                        "spec": spec,
                        "status": status::schema(),
                    },
                }},
            }],
        },
    }))
}

fn columns() -> Value {
    let condition = |field: &str| format!(".status.conditions[?(@.type==\"Ready\")].{field}");
    json!([
        { "name": "Ready", "type": "string", "jsonPath": condition("status"), "description": "Whether every object is ready." },
        { "name": "Status", "type": "string", "jsonPath": condition("reason"), "description": "Why, in a word." },
        { "name": "Chart", "type": "string", "jsonPath": ".status.release.chart.label", "description": "The deployed chart and its version." },
        { "name": "Revision", "type": "integer", "jsonPath": ".status.release.revision", "description": "The revision of the release." },
        { "name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp" },
    ])
}

/// The structural schema of a chart's values: from values.schema.json where there is one, or else inferred from
/// values.yaml. Subcharts have their own under their names, unless the chart's schema speaks of them.
fn values_schema(chart: &Chart) -> Result<Value, Error> {
    let values = serde_json::to_value(&chart.values).unwrap_or_default();
    let text = chart.values_yaml.as_ref().map(|f| f.text().into_owned()).unwrap_or_default();
    let comments = comments::of(&text);
    let mut schema = match &chart.schema {
        Some(bytes) => {
            let schema: Value = serde_json::from_slice(bytes)
                .map_err(|error| Error::Schema { chart: chart.name().to_owned(), error })?;
            structural::structural(&schema, &values, &comments)
        }
        None => infer::infer(&values, &comments),
    };
    let dependencies = chart.metadata.dependencies();
    for sub in &chart.dependencies {
        let alias = dependencies
            .iter()
            .find(|d| d.name == sub.name() && !d.alias.is_empty())
            .map_or_else(|| sub.name(), |d| &d.alias);
        let mut own = values_schema(sub)?;
        let Some(properties) = schema
            .as_object_mut()
            .map(|s| s.entry("properties").or_insert_with(|| Value::Object(Map::new())))
            .and_then(Value::as_object_mut)
        else {
            continue;
        };
        match properties.get(alias) {
            // What the parent only says about some of the subchart's values leaves the others to the subchart.
            Some(parents) if parents.get("properties").is_none() => {
                if let (Some(text), Some(own)) = (parents.get("description"), own.as_object_mut()) {
                    own.insert("description".into(), text.clone());
                }
            }
            Some(_) => continue,
            None => {}
        }
        if let Some(own) = own.as_object_mut() {
            own.entry("description")
                .or_insert_with(|| format!("Values of the subchart {}.", sub.name()).into());
        }
        properties.insert(alias.to_owned(), own);
    }
    Ok(schema)
}

/// The plural of a word, by English spelling as Kubernetes' own tools guess it.
pub fn plural(word: &str) -> String {
    let ends = |endings: &[&str]| endings.iter().any(|e| word.ends_with(e));
    if ends(&["s", "x", "z", "ch", "sh"]) {
        return format!("{word}es");
    }
    match word.strip_suffix('y') {
        Some(stem) if !stem.ends_with(['a', 'e', 'i', 'o', 'u']) => format!("{stem}ies"),
        _ => format!("{word}s"),
    }
}

fn sentence(text: &str) -> String {
    if text.ends_with(['.', '!', '?']) { text.to_owned() } else { format!("{text}.") }
}

fn check(names: &Names) -> Result<(), Error> {
    let error = |what, name: &str, why| Error::Name { what, name: name.to_owned(), why };
    let label = |s: &str| {
        !s.is_empty()
            && s.len() <= 63
            && s.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
            && !s.starts_with('-')
            && !s.ends_with('-')
    };
    let gvk = &names.gvk;
    if !gvk.group.contains('.') || !gvk.group.split('.').all(label) {
        return Err(error(
            "group",
            &gvk.group,
            "it is a domain name in lower case, such as apps.example.com",
        ));
    }
    if !label(&gvk.version) || !gvk.version.starts_with('v') {
        return Err(error("version", &gvk.version, "it is like v1 or v1alpha1"));
    }
    let camel = gvk.kind.chars().next().is_some_and(|c| c.is_ascii_uppercase());
    if !camel || !gvk.kind.bytes().all(|b| b.is_ascii_alphanumeric()) || gvk.kind.len() > 63 {
        return Err(error("kind", &gvk.kind, "it is in CamelCase"));
    }
    for (what, name) in [("plural", &names.plural), ("singular", &names.singular)] {
        if !name.is_empty() && !label(name) {
            return Err(error(what, name, "it is a word in lower case"));
        }
    }
    match names.short.iter().find(|name| !label(name)) {
        Some(name) => Err(error("short name", name, "it is a word in lower case")),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plurals() {
        for (word, want) in [
            ("web", "webs"),
            ("prometheus", "prometheuses"),
            ("proxy", "proxies"),
            ("gateway", "gateways"),
            ("batch", "batches"),
        ] {
            assert_eq!(plural(word), want);
        }
    }

    #[test]
    fn names_that_kubernetes_would_refuse() {
        let gvk = |group: &str, version: &str, kind: &str| Gvk {
            group: group.into(),
            version: version.into(),
            kind: kind.into(),
        };
        assert!(check(&Names::of(gvk("apps.example.com", "v1alpha1", "Web"))).is_ok());
        for bad in [
            gvk("example", "v1", "Web"),
            gvk("a.b", "1", "Web"),
            gvk("a.b", "v1", "web"),
            gvk("A.b", "v1", "Web"),
        ] {
            assert!(check(&Names::of(bad)).is_err());
        }
    }
}
