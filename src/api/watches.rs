//! watches.yaml, operator-sdk's file for Helm operators, read as it is.
//!
//! Fields are those of operator-sdk 1.42 (`group`, `version`, `kind`, `chart`, `watchDependentResources`,
//! `overrideValues`, `selector`, `reconcilePeriod`, `dryRunOption`) and `maxConcurrentReconciles` of
//! helm-operator-plugins. What these have no word for stands under the entry's `pintle:` key. A field that nobody knows is
//! passed over, as operator-sdk does, and said in the log; under `pintle:` it is refused. Keys are read in any case, as
//! Go reads JSON.

use std::{collections::BTreeMap, path::PathBuf};

use serde::Deserialize;
use serde_yaml::{Mapping, Value};

use super::{Definition, Gvk, definition::Spec, duration};

/// Why a watches file is refused. Each names the entry, counted from 1.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file is not YAML of the right shape.
    #[error("watches file: {0}")]
    Parse(#[from] serde_yaml::Error),
    /// One entry is wrong.
    #[error("watches file, entry {entry}: {message}")]
    Entry {
        /// The entry's place in the file, from 1.
        entry: usize,
        /// What is wrong.
        message: String,
    },
}

/// The keys of an entry.
const KEYS: [&str; 10] = [
    "group",
    "version",
    "kind",
    "chart",
    "watchDependentResources",
    "overrideValues",
    "selector",
    "reconcilePeriod",
    "maxConcurrentReconciles",
    "dryRunOption",
];
/// Ours.
const OWN: &str = "pintle";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    #[serde(default)]
    group: String,
    #[serde(default)]
    version: String,
    #[serde(default)]
    kind: String,
    chart: PathBuf,
    watch_dependent_resources: Option<bool>,
    override_values: Option<BTreeMap<String, String>>,
    selector: Option<Selector>,
    reconcile_period: Option<String>,
    max_concurrent_reconciles: Option<usize>,
    dry_run_option: Option<String>,
    pintle: Option<Spec>,
}

/// `metav1.LabelSelector`.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Selector {
    match_labels: Option<BTreeMap<String, String>>,
    match_expressions: Option<Vec<Requirement>>,
}

#[derive(Deserialize)]
struct Requirement {
    key: String,
    operator: String,
    #[serde(default)]
    values: Option<Vec<String>>,
}

/// Reads a watches file.
///
/// `text` is the file's content. `expand` is given each override value and answers with environment variables (and the
/// template actions that operator-sdk allows there) expanded, or with why it cannot.
pub fn parse(
    text: &str,
    mut expand: impl FnMut(&str) -> Result<String, String>,
) -> Result<Vec<Definition>, Error> {
    let entries: Vec<Mapping> = serde_yaml::from_str::<Option<Vec<Mapping>>>(text)?.unwrap_or_default();
    let mut definitions: Vec<Definition> = Vec::with_capacity(entries.len());
    for (at, entry) in entries.into_iter().enumerate() {
        let fail = |message: String| Error::Entry { entry: at + 1, message };
        let entry: Entry = serde_yaml::from_value(known(entry, at + 1)).map_err(|e| fail(e.to_string()))?;
        let definition = definition(entry, &mut expand).map_err(fail)?;
        let gvk = &definition.gvk;
        let same_kind = |d: &&Definition| d.gvk.kind == gvk.kind && d.gvk.group == gvk.group;
        match definitions.iter().find(same_kind) {
            None => definitions.push(definition),
            // Every version shows the same resources: one entry is enough, if both say the same of them.
            Some(first)
                if first.gvk.version != gvk.version
                    && *first == (Definition { gvk: first.gvk.clone(), ..definition.clone() }) =>
            {
                tracing::warn!(entry = at + 1, kind = %gvk, "another version of a kind that an earlier entry serves: left out");
            }
            Some(_) => return Err(fail(format!("a second entry for the kind {}", gvk.group_kind()))),
        }
    }
    Ok(definitions)
}

/// An entry with its keys as they are spelt, without those that nobody knows.
fn known(entry: Mapping, number: usize) -> Value {
    let mut known = Mapping::new();
    for (key, value) in entry {
        let text = key.as_str().unwrap_or_default();
        let same = |name: &&&str| name.eq_ignore_ascii_case(text);
        match KEYS.iter().chain(&[OWN]).find(same) {
            Some(name) => {
                known.insert((*name).into(), value);
            }
            None => tracing::warn!(
                entry = number,
                field = text,
                "an unknown field of the watches file is passed over"
            ),
        }
    }
    Value::Mapping(known)
}

fn definition(
    entry: Entry,
    expand: &mut impl FnMut(&str) -> Result<String, String>,
) -> Result<Definition, String> {
    if entry.version.is_empty() {
        return Err("version must not be empty".into());
    }
    if entry.kind.is_empty() {
        return Err("kind must not be empty".into());
    }
    if entry.max_concurrent_reconciles == Some(0) {
        return Err("maxConcurrentReconciles must be at least 1".into());
    }
    // What operator-sdk's dry runs may ask of the cluster. There are no dry runs here: a render always sees the cluster,
    // which is what "server" asks for and at least what the others promise.
    if let Some(option) = &entry.dry_run_option
        && !["", "none", "client", "server", "true", "false"].contains(&option.as_str())
    {
        return Err(format!("dryRunOption {option:?} is not one of none, client, server"));
    }
    let reconcile_period = entry
        .reconcile_period
        .map(|p| duration::parse(&p))
        .transpose()
        .map_err(|e| format!("reconcilePeriod: {e}"))?;
    let spec = entry.pintle.unwrap_or_default();
    spec.check().map_err(|e| format!("pintle: {e}"))?;
    let mut overrides = Vec::new();
    for (key, value) in entry.override_values.unwrap_or_default() {
        let value = expand(&value).map_err(|e| format!("overrideValues, {key}: {e}"))?;
        overrides.push((key, value));
    }
    Ok(Definition {
        gvk: Gvk { group: entry.group, version: entry.version, kind: entry.kind },
        chart: entry.chart,
        watch_dependents: entry.watch_dependent_resources.unwrap_or(true),
        overrides,
        quiet_overrides: false,
        selector: selector(&entry.selector.unwrap_or_default())?,
        // operator-sdk takes a zero for "not set".
        reconcile_period: reconcile_period.filter(|p| !p.is_zero()),
        max_concurrent: entry.max_concurrent_reconciles,
        spec,
    })
}

/// A label selector in the syntax of the API's `labelSelector` parameter.
fn selector(selector: &Selector) -> Result<String, String> {
    let mut terms = Vec::new();
    for (key, value) in selector.match_labels.iter().flatten() {
        terms.push(format!("{key}={value}"));
    }
    for r in selector.match_expressions.iter().flatten() {
        let values = r.values.as_deref().unwrap_or_default();
        let list = values.join(",");
        let term = match (r.operator.as_str(), values.is_empty()) {
            ("In", false) => format!("{} in ({list})", r.key),
            ("NotIn", false) => format!("{} notin ({list})", r.key),
            ("Exists", true) => r.key.clone(),
            ("DoesNotExist", true) => format!("!{}", r.key),
            ("In" | "NotIn", true) => return Err(format!("selector: {} {} needs values", r.key, r.operator)),
            ("Exists" | "DoesNotExist", false) => {
                return Err(format!("selector: {} {} takes no values", r.key, r.operator));
            }
            (other, _) => {
                return Err(format!("selector: operator {other:?} is not In, NotIn, Exists or DoesNotExist"));
            }
        };
        terms.push(term);
    }
    Ok(terms.join(","))
}

/// Expands `$NAME` and `${NAME}` as Go's `os.ExpandEnv` does: a name that is not set becomes nothing, and so do the
/// special one-character names of shells.
pub fn expand_env(text: &str, get: impl Fn(&str) -> Option<String>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        out.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        if after.is_empty() {
            out.push('$');
            return out;
        }
        let (name, taken) = name_of(after);
        if !name.is_empty() {
            out.push_str(&get(name).unwrap_or_default());
        } else if taken == 0 {
            // A dollar that names nothing stays.
            out.push('$');
        }
        rest = &after[taken..];
    }
    out.push_str(rest);
    out
}

/// The variable's name that `text` (after a dollar) begins with, and how many bytes it takes. No name and some bytes:
/// bad syntax that Go swallows.
fn name_of(text: &str) -> (&str, usize) {
    let special = |c: char| c.is_ascii_digit() || "*#$@!?-".contains(c);
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let first = text.chars().next().unwrap_or(' ');
    if first == '{' {
        let inner = &text[1..];
        if let Some(c) = inner.chars().next()
            && special(c)
            && inner[1..].starts_with('}')
        {
            return (&inner[..1], 3);
        }
        return match inner.find('}') {
            Some(0) => ("", 2),
            Some(end) => (&inner[..end], end + 2),
            None => ("", 1),
        };
    }
    if special(first) {
        return (&text[..1], 1);
    }
    let end = text.find(|c| !word(c)).unwrap_or(text.len());
    (&text[..end], end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::definition::{DriftMode, GeneratedValues};
    use std::time::Duration;

    fn plain(text: &str) -> Result<Vec<Definition>, Error> {
        parse(text, |v| Ok(v.to_owned()))
    }

    #[test]
    fn every_field_of_operator_sdk() {
        let text = r#"
- group: apps.example.com
  version: v1alpha1
  kind: Nginx
  chart: helm-charts/nginx
  watchDependentResources: false
  overrideValues:
    image.tag: $TAG
  reconcilePeriod: 30s
  maxConcurrentReconciles: 4
  dryRunOption: server
  selector:
    matchLabels: {tier: web}
    matchExpressions:
    - {key: env, operator: In, values: [prod, test]}
    - {key: legacy, operator: DoesNotExist}
  pintle:
    generatedValues: PerRevision
    progressDeadline: 10m
    hookTimeout: 1h
    recreate: [Job]
    drift:
      mode: Report
      ignore:
      - {kind: Deployment, group: apps, name: web, pointers: [/spec/replicas]}
"#;
        let all = parse(text, |v| Ok(expand_env(v, |n| (n == "TAG").then(|| "1.27".to_owned())))).unwrap();
        let d = &all[0];
        assert_eq!(d.gvk, Gvk::of("apps.example.com/v1alpha1", "Nginx"));
        assert!(!d.watch_dependents);
        assert_eq!(d.overrides, [("image.tag".to_owned(), "1.27".to_owned())]);
        assert_eq!(d.reconcile_period, Some(Duration::from_secs(30)));
        assert_eq!(d.max_concurrent, Some(4));
        assert_eq!(d.selector, "tier=web,env in (prod,test),!legacy");
        assert_eq!(d.spec.generated_values, GeneratedValues::PerRevision);
        assert_eq!(d.spec.drift.mode, DriftMode::Report);
        assert_eq!(d.spec.drift.ignore[0].pointers, ["/spec/replicas"]);
        assert_eq!(d.spec.progress_deadline, Some(Duration::from_secs(600)));
        assert_eq!(d.spec.hook_limit(), Some(Duration::from_secs(3600)));
        let limit = |pintle: &str| {
            let entry = format!("- {{group: a, version: v1, kind: K, chart: c, pintle: {pintle}}}");
            plain(&entry).unwrap()[0].spec.hook_limit()
        };
        assert_eq!((limit("{}"), limit("{hookTimeout: '0'}")), (Some(Duration::from_secs(300)), None));
        assert_eq!(d.spec.recreate, ["Job"]);
        let written = serde_json::to_string(&d.spec).unwrap();
        assert_eq!(serde_json::from_str::<Spec>(&written).unwrap(), d.spec);
    }

    #[test]
    fn the_file_of_operator_sdk_init() {
        let all = plain("# Use the 'create api' subcommand to add watches to this file.\n- group: a.b\n  version: v1\n  kind: C\n  chart: helm-charts/c\n#+kubebuilder:scaffold:watch\n").unwrap();
        assert!(all[0].watch_dependents);
        assert_eq!(all[0].selector, "");
        assert!(plain("# nothing yet\n").unwrap().is_empty());
    }

    #[test]
    fn what_operator_sdk_takes_is_taken() {
        let all =
            plain("- {Group: a, version: v1, KIND: K, chart: c, watchDependentResource: true, vars: {}}")
                .unwrap();
        assert_eq!(all[0].gvk, Gvk::of("a/v1", "K"));
        let versions =
            "- {group: a, version: v1, kind: K, chart: c}\n- {group: a, version: v2, kind: K, chart: c}";
        assert_eq!(plain(versions).unwrap().len(), 1);
    }

    #[test]
    fn what_is_wrong_is_named() {
        let cases = [
            "- {version: v1, chart: c}",
            "- {group: a, kind: K, chart: c}",
            "- {group: a, version: v1, kind: K, chart: c, watchDependentResources: perhaps}",
            "- {group: a, version: v1, kind: K, chart: c, pintle: {drifts: {}}}",
            "- {group: a, version: v1, kind: K, chart: c, reconcilePeriod: 1 hour}",
            "- {group: a, version: v1, kind: K, chart: c, dryRunOption: maybe}",
            "- {group: a, version: v1, kind: K, chart: c, maxConcurrentReconciles: 0}",
            "- {group: a, version: v1, kind: K, chart: c, selector: {matchExpressions: [{key: a, operator: Is}]}}",
            "- {group: a, version: v1, kind: K, chart: c, pintle: {drift: {mode: Sometimes}}}",
            "- {group: a, version: v1, kind: K, chart: c}\n- {group: a, version: v2, kind: K, chart: d}",
            "- {group: a, version: v1, kind: K, chart: c}\n- {group: a, version: v1, kind: K, chart: c}",
            "- {group: a, version: v1, kind: K, chart: c, pintle: {drift: {ignore: [{kind: Deployment, pointers: [spec.replicas]}]}}}",
            "- {group: a, version: v1, kind: K, chart: c, pintle: {drift: {ignore: [{kind: '*', pointers: [/metadata/name]}]}}}",
            "- {group: a, version: v1, kind: K, chart: c, pintle: {progressDeadline: 10}}",
            "kind: K",
        ];
        let said: Vec<String> = cases.iter().map(|c| format!("{c}\n    {}", plain(c).unwrap_err())).collect();
        insta::assert_snapshot!(said.join("\n"));
    }

    #[test]
    fn environment_expands_as_in_go() {
        let get = |n: &str| match n {
            "A" => Some("x".to_owned()),
            "LONG_1" => Some("y".to_owned()),
            _ => None,
        };
        for (text, want) in [
            ("$A", "x"),
            ("a${A}b$LONG_1-", "axby-"),
            ("$NONE.", "."),
            ("cost: 5$", "cost: 5$"),
            ("$ A", "$ A"),
            ("${}x", "x"),
            ("${A", "A"),
            ("$$A", "A"),
            ("ü$Aü", "üxü"),
        ] {
            assert_eq!(expand_env(text, get), want, "{text}");
        }
    }
}
