//! Rules for what templates render.

use serde_json::Value as Json;
use tera::Value;

use super::deprecated;
use super::names::complaints;
use super::stream::heads;
use super::{Linter, Severity};
use crate::chart::Decoder;
use crate::value::quote::quote;
use crate::yaml::{self, Shape};

/// What Kubernetes 1 the linter assumes unless told: that of Helm 4.3.1.
const DEFAULT_VERSION: (u32, u32) = (1, 37);

/// The fields that the linter reads of an object.
#[derive(Default)]
pub(super) struct Head {
    pub(super) api_version: String,
    pub(super) kind: String,
    pub(super) name: String,
    namespace: String,
}

const METADATA_FIELDS: &[(&str, Shape)] = &[("Namespace", Shape::Text), ("Name", Shape::Text)];
static METADATA: Shape = Shape::Struct(METADATA_FIELDS);
static HEAD: Shape = Shape::Struct(&[
    ("apiVersion", Shape::Text),
    ("Kind", Shape::Text),
    ("Metadata", Shape::Struct(METADATA_FIELDS)),
]);

/// The head of a document of YAML, none of an empty one.
pub(super) fn yaml_head(document: &[u8]) -> Result<Option<Head>, String> {
    head(&yaml::parse_shaped(document, &HEAD, false).map_err(|e| e.to_string())?)
}

/// The head of a value of JSON.
pub(super) fn json_head(value: &Value) -> Result<Option<Head>, String> {
    let object = serde_json::to_value(value).map_err(|e| e.to_string())?;
    let within = "error unmarshaling JSON: while decoding JSON: ";
    head(&object).map_err(|text| text.strip_prefix(within).map_or_else(|| text.clone(), str::to_owned))
}

fn head(object: &Json) -> Result<Option<Head>, String> {
    if object.is_null() {
        return Ok(None);
    }
    let mut head = Head::default();
    Decoder::read(object, |decoder, object| {
        decoder.fields(object, "rules.k8sYamlStruct", &HEAD, |d, field, value| match field {
            "apiVersion" => d.string(value, &mut head.api_version),
            "Kind" => d.string(value, &mut head.kind),
            _ => d.fields(value, "rules.k8sYamlMetadata", &METADATA, |d, field, value| match field {
                "Name" => d.string(value, &mut head.name),
                _ => d.string(value, &mut head.namespace),
            }),
        });
    })?;
    Ok(Some(head))
}

/// Checks the output of one template; whether the linter goes on to the next.
pub(super) fn check(linter: &mut Linter<'_>, place: &str, bytes: &[u8]) -> bool {
    let text = &*String::from_utf8_lossy(bytes);
    linter.rule(Severity::Warning, place, top_indent(text));
    for head in heads(bytes) {
        let head = head.map_err(|e| format!("unable to parse YAML: {e}"));
        let Some(head) = linter.rule(Severity::Error, place, head) else { return false };
        let Some(head) = head else { continue };
        linter.rule(Severity::Warning, place, name(&head));
        let version = linter.kube_version.map_or(Some(DEFAULT_VERSION), |version| {
            Some((version.major.parse().ok()?, version.minor.parse().ok()?))
        });
        let old = version.and_then(|version| deprecated::warning(&head.api_version, &head.kind, version));
        linter.rule(Severity::Warning, place, old.map_or(Ok(()), Err));
        linter.rule(Severity::Error, place, selector(&head, text));
        linter.rule(Severity::Error, place, list_annotations(&head, text));
    }
    true
}

type Found = Result<(), String>;

fn top_indent(text: &str) -> Found {
    for line in text.split('\n') {
        if line.len() >= 64 * 1024 {
            return Err("bufio.Scanner: token too long".into());
        }
        let line = line.strip_suffix('\r').unwrap_or(line);
        if line.trim().is_empty() {
            continue;
        }
        if line.starts_with([' ', '\t']) {
            return Err(format!(
                "document starts with an illegal indent: {}, which may cause parsing problems",
                quote(line.as_bytes())
            ));
        }
        return Ok(());
    }
    Ok(())
}

fn name(head: &Head) -> Found {
    let name = quote(head.name.as_bytes());
    let found = complaints(&head.kind, &head.name);
    let mut found: Vec<_> =
        found.into_iter().map(|why| format!("metadata.name: Invalid value: {name}: {why}")).collect();
    let all = match found.len() {
        0 => return Ok(()),
        1 => found.remove(0),
        _ => format!("[{}]", found.join(", ")),
    };
    Err(format!("object name does not conform to Kubernetes naming requirements: {name}: {all}"))
}

fn selector(head: &Head, text: &str) -> Found {
    let selects = matches!(head.kind.as_str(), "Deployment" | "ReplicaSet" | "DaemonSet" | "StatefulSet");
    if !selects || text.contains("matchLabels") || text.contains("matchExpressions") {
        return Ok(());
    }
    let name = quote(head.name.as_bytes());
    Err(format!("a {} must contain matchLabels or matchExpressions, and {name} does not", head.kind))
}

fn list_annotations(head: &Head, text: &str) -> Found {
    if head.kind != "List" {
        return Ok(());
    }
    let list = yaml::parse_json(text).map_err(|e| format!("unable to parse YAML: {e}"))?;
    let entry = |object: &Json, key: &str| {
        let map = object.as_object()?;
        map.iter().find(|(name, _)| name.eq_ignore_ascii_case(key)).map(|(_, value)| value.clone())
    };
    for item in entry(&list, "items").iter().filter_map(Json::as_array).flatten() {
        let annotations = entry(item, "metadata").and_then(|metadata| entry(&metadata, "annotations"));
        if annotations.is_some_and(|map| map.get("helm.sh/resource-policy").is_some()) {
            return Err("annotation 'helm.sh/resource-policy' within List objects are ignored".into());
        }
    }
    Ok(())
}
