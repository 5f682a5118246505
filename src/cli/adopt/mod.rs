//! `pintle adopt`: a Helm release becomes an instance, and nothing that runs changes.

mod plan;
mod seed;

use std::{
    path::PathBuf,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, bail};
use clap::{Args, ValueEnum};
use kube::{
    Api,
    api::{DynamicObject, Patch, PatchParams, PostParams},
};
use serde_json::{Map, Value, json};

use self::plan::Plan;
use super::{
    connect::{Connect, Connection, block_on},
    diff::coloured,
    out,
    status::verdict,
    view::{
        Instance, changes,
        desired::{self, Loaded},
        kinds::{self, Kind},
    },
};
use crate::{
    api::{Definition, duration, names, status::conditions},
    controller::{
        generated::{Generated, Made},
        renderer::Renderer as _,
    },
    release::{
        cluster::dynamic,
        failure::Failure,
        helm::{self, Driver, Record},
    },
};

/// How often it is looked whether the operator has taken over.
const LOOK: Duration = Duration::from_millis(300);

/// Take over a Helm release as a resource, without a change to what runs
///
/// Reads the release, renders its values with the chart of the definition, and shows what would change about each object. If
/// nothing would, it makes the custom resource with the release's own values; the operator then takes the objects over, and
/// their fields from Helm. When it has, Helm's record of the release is put out of Helm's sight, so that helm uninstall and
/// helm upgrade do not touch what is Pintle's now.
#[derive(Args)]
pub struct Adopt {
    /// The release.
    release: String,
    /// The operator's watches file: it has the kind and its chart.
    #[arg(long, default_value = "./watches.yaml", value_name = "FILE")]
    watches_file: PathBuf,
    /// The kind that the release becomes; that whose chart has the name of the release's, unless given.
    #[arg(long, value_name = "KIND[.GROUP]")]
    kind: Option<String>,
    /// Where Helm keeps its records; looked for in both unless given.
    #[arg(long, env = "HELM_DRIVER", value_name = "secret|configmap", value_parser = driver)]
    driver: Option<Driver>,
    /// Show what would be done, and do nothing.
    #[arg(long)]
    dry_run: bool,
    /// Go on although something that runs would change.
    #[arg(long)]
    allow_changes: bool,
    /// What becomes of Helm's record of the release.
    #[arg(long, value_enum, default_value_t = AfterCare::Hide)]
    release_record: AfterCare,
    /// How long the operator is waited for.
    #[arg(long, default_value = "2m", value_name = "DURATION", value_parser = duration::parse)]
    timeout: Duration,
    #[command(flatten)]
    connect: Connect,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum AfterCare {
    /// It stays, and Helm does not find it: its label owner is pintle.
    Hide,
    /// It is deleted, all revisions.
    Delete,
    /// It is left, and helm uninstall would delete the objects.
    Keep,
}

fn driver(text: &str) -> Result<Driver, String> {
    match text {
        "secret" | "secrets" | "" => Ok(Driver::Secrets),
        "configmap" | "configmaps" => Ok(Driver::ConfigMaps),
        other => Err(format!("{other:?} is not secret or configmap")),
    }
}

/// A release as it is found.
struct Found {
    driver: Driver,
    /// The names of all its records.
    records: Vec<String>,
    /// The revision that is deployed.
    record: Record,
    /// Those after it, which Helm did not bring to an end.
    later: Vec<Record>,
}

impl Adopt {
    /// Takes the release over.
    pub fn run(self) -> Result<()> {
        block_on(self.adopt())
    }

    async fn adopt(self) -> Result<()> {
        let connection = self.connect.open().await?;
        let found = self.find(&connection).await?;
        let loaded = self.definition(&found.record)?;
        let kinds = kinds::served(&connection.client()).await?;
        let gvk = &loaded.definition.gvk;
        let kind = kinds
            .iter()
            .find(|kind| kind.kind == gvk.kind && kind.group == gvk.group)
            .with_context(|| format!("the cluster does not serve {gvk}: is its CRD installed?"))?;
        if !kind.namespaced {
            bail!(
                "{} is cluster-scoped: a release, which is in a namespace, becomes a namespaced resource",
                gvk.kind
            );
        }
        let resource = self.resource(&connection, kind, &loaded.definition, &found.record).await?;
        let plan =
            Plan::make(&connection, &loaded, (&found.record, &found.later), &resource.spec, &resource.unset)
                .await?;
        out::write(coloured(&plan.text()).as_bytes())?;
        if self.dry_run {
            let text = serde_yaml::to_string(&resource.object)?;
            let verb = if resource.exists { "is there" } else { "would be made" };
            return out::write(format!("# {}\n# This resource {verb}:\n{text}", plan.summary()).as_bytes());
        }
        if plan.is_change() && !self.allow_changes {
            bail!(
                "nothing was done: {}. Make values and chart such that nothing differs; or --allow-changes",
                plan.summary()
            );
        }
        out::complain(&plan.summary());
        let before = plan.identities(&connection).await?;
        let api = dynamic::<DynamicObject>(
            connection.client(),
            &connection.cluster.resource_in(gvk).context("the kind is not served any more")?.0,
            &connection.namespace,
        );
        let mut object = resource.object;
        if !plan.seeds.is_empty() {
            // The operator must not generate values before it has those of the release.
            object["metadata"]["annotations"][names::SUSPEND] = "true".into();
        }
        if !resource.exists {
            self.create(&api, &object, false).await?;
            out::complain(&format!("{}/{} created", gvk.kind, self.release));
        }
        self.keep_generated(&connection, kind, &api, &plan.seeds, &found.record)
            .await
            .with_context(|| format!("{}/{} is there, and is suspended", gvk.kind, self.release))?;
        self.wait(&connection, kind).await?;
        let after = plan.identities(&connection).await?;
        let changed: Vec<&String> =
            before.iter().filter(|(key, id)| after.get(*key) != Some(id)).map(|(k, _)| k).collect();
        if changed.is_empty() {
            let verb = if after.len() == 1 { "is" } else { "are" };
            out::complain(&format!(
                "{} {verb} taken over, each with the uid and generation it had",
                plan::count(after.len())
            ));
        } else {
            let names: Vec<&str> = changed.iter().map(|key| key.as_str()).collect();
            out::complain(&format!("taken over; changed by it: {}", names.join(", ")));
        }
        self.retire(&connection, &found).await
    }

    /// Reads the release's records.
    async fn find(&self, connection: &Connection) -> Result<Found> {
        let (client, namespace) = (connection.client(), &connection.namespace);
        let drivers =
            self.driver.map_or_else(|| vec![Driver::Secrets, Driver::ConfigMaps], |driver| vec![driver]);
        for driver in drivers {
            let records = match helm::records(&client, driver, namespace, &self.release).await {
                Ok(records) => records,
                // Helm's other place, which may well be nobody's business.
                Err(Failure::Forbidden(_)) if self.driver.is_none() && driver == Driver::ConfigMaps => {
                    continue;
                }
                Err(failure) => {
                    bail!("the records of the release {} cannot be read: {failure}", self.release)
                }
            };
            let names: Vec<String> = records.iter().map(|(name, _)| name.clone()).collect();
            if records.is_empty() {
                continue;
            }
            let (record, later) = self.deployed(records)?;
            return Ok(Found { driver, records: names, record, later });
        }
        bail!("release: not found: no record of {} in {namespace}", self.release)
    }

    /// The revision that is deployed, and those after it: when an upgrade fails, Helm leaves the revision before it deployed.
    fn deployed(&self, records: Vec<(String, Result<Record, String>)>) -> Result<(Record, Vec<Record>)> {
        let mut later = Vec::new();
        for (name, record) in records.into_iter().rev() {
            let record = match record {
                Ok(record) => record,
                Err(error) => bail!("{name}: {error}"),
            };
            if record.info.status != "deployed" {
                later.push(record);
                continue;
            }
            for Record { version, info, .. } in later.iter().rev() {
                let how = match info.status.strip_prefix("pending-") {
                    Some(_) => format!("is {}: Helm was interrupted in it, or is still at it", info.status),
                    None => format!("is {}", info.status),
                };
                out::complain(&format!(
                    "revision {version} of the release {} {how}. Revision {} is deployed and is taken over; what \
                     revision {version} did is a change",
                    self.release, record.version
                ));
            }
            return Ok((record, later));
        }
        let last = later.first().map_or_else(String::new, |record| {
            format!(": revision {}, the last, is {}", record.version, record.info.status)
        });
        bail!(
            "no revision of the release {} is deployed{last}. Bring it to deployed with Helm first",
            self.release
        )
    }

    /// The definition that the release becomes an instance of.
    fn definition(&self, record: &Record) -> Result<Loaded> {
        let file = &self.watches_file;
        let all = desired::definitions(file)?;
        let chart = &record.chart.metadata;
        let named = |d: &Definition| match &self.kind {
            None => true,
            Some(word) => {
                d.gvk.kind.eq_ignore_ascii_case(word) || d.gvk.group_kind().eq_ignore_ascii_case(word)
            }
        };
        let mut fitting = Vec::new();
        let mut known = Vec::new();
        for definition in all.into_iter().filter(named) {
            let loaded = desired::load(definition, file)?;
            let about = loaded.renderer.chart();
            known.push(format!("{} (chart {})", loaded.definition.gvk.group_kind(), about.name));
            if self.kind.is_some() || about.name == chart.name {
                fitting.push(loaded);
            }
        }
        let fits = fitting.len();
        match (fitting.pop(), fits) {
            (Some(one), 1) => {
                let about = one.renderer.chart();
                if about.name != chart.name || about.version != chart.version {
                    out::complain(&format!(
                        "the release is of the chart {}-{}, and {} is of {}",
                        chart.name, chart.version, one.definition.gvk.kind, about.label
                    ));
                }
                Ok(one)
            }
            _ => bail!(
                "{} kinds of {} are of the chart {}: {}. Choose with --kind",
                if fits == 0 { "no".to_owned() } else { fits.to_string() },
                file.display(),
                chart.name,
                if known.is_empty() { "it has none".to_owned() } else { known.join(", ") }
            ),
        }
    }

    /// The custom resource with the release's values; or what is there, if an earlier run made it.
    async fn resource(
        &self,
        connection: &Connection,
        kind: &Kind,
        definition: &Definition,
        record: &Record,
    ) -> Result<Resource> {
        let gvk = &definition.gvk;
        let spec = record.config.clone().filter(|config| !config.is_null()).unwrap_or_else(|| json!({}));
        let mut annotations = json!({ names::ADOPT_RELEASE: record.version.to_string() });
        let mut nulls = Vec::new();
        null_paths(&spec, &mut String::new(), &mut nulls);
        if !nulls.is_empty() {
            // The API server drops a null where the schema does not ask for it, and with it the removal of a default.
            annotations[names::UNSET] = nulls.join(",").into();
        }
        let mut object = json!({
            "apiVersion": gvk.api_version(),
            "kind": gvk.kind,
            "metadata": { "name": self.release, "namespace": connection.namespace, "annotations": annotations },
            "spec": spec,
        });
        let labels = labels_of(&definition.selector);
        if !labels.is_empty() {
            object["metadata"]["labels"] = Value::Object(labels);
        }
        let (address, _) = connection
            .cluster
            .resource_in(gvk)
            .with_context(|| format!("the cluster does not serve {gvk}"))?;
        let api = dynamic::<DynamicObject>(connection.client(), &address, &connection.namespace);
        if api.get_opt(&self.release).await?.is_some() {
            let there = Instance::get(connection, kind, &connection.namespace, &self.release).await?;
            if there.cr.marks.adopts_release() != Some(record.version) {
                bail!(
                    "{}/{} is there already. To let it take the release over, annotate it with {}: \"{}\" and run this again",
                    gvk.kind,
                    self.release,
                    names::ADOPT_RELEASE,
                    record.version
                );
            }
            let unset = there.cr.marks.unset().to_owned();
            let spec = there.object.get("spec").cloned().unwrap_or_else(|| json!({}));
            let object = changes::tidy(there.object);
            return Ok(Resource { object, spec, unset, exists: true });
        }
        // The API server may drop what the schema does not know, and add what it has defaults for.
        let made = self.create(&api, &object, true).await?;
        let made = made.data.get("spec").cloned().unwrap_or_else(|| json!({}));
        let mut dropped = Vec::new();
        lost(&object["spec"], &made, &mut String::new(), &mut dropped);
        if !dropped.is_empty() {
            out::complain(&format!(
                "the schema of {} does not know these values: {}",
                gvk.kind,
                dropped.join(", ")
            ));
        }
        Ok(Resource { object, spec: made, unset: nulls.join(","), exists: false })
    }

    /// Keeps generated values of the release for the operator, and lets it go on.
    async fn keep_generated(
        &self,
        connection: &Connection,
        kind: &Kind,
        api: &Api<DynamicObject>,
        seeds: &[Made],
        record: &Record,
    ) -> Result<()> {
        let (client, namespace) = (connection.client(), &connection.namespace);
        let instance = Instance::get(connection, kind, namespace, &self.release).await?;
        if !seeds.is_empty() {
            let parent = instance.parent();
            let kept = Generated::load(&client, &parent, namespace).await?;
            kept.save(seeds, &client, &parent, namespace, record.version.max(1)).await?;
        }
        // By this run, or by one that ended before it had written them.
        if instance.cr.marks.suspended() && instance.cr.status.release.is_none() {
            let patch = json!({ "metadata": { "annotations": { names::SUSPEND: null } } });
            api.patch(&self.release, &PatchParams::default(), &Patch::Merge(patch)).await?;
        }
        Ok(())
    }

    async fn create(&self, api: &Api<DynamicObject>, object: &Value, dry_run: bool) -> Result<DynamicObject> {
        let params = PostParams { dry_run, field_manager: Some("pintle-adopt".into()) };
        let body: DynamicObject = serde_json::from_value(object.clone())?;
        api.create(&params, &body).await.context("the resource with the release's values is refused")
    }

    /// Waits until the operator has taken the release over.
    async fn wait(&self, connection: &Connection, kind: &Kind) -> Result<()> {
        let until = Instant::now() + self.timeout;
        let mut told = String::new();
        loop {
            let instance = Instance::get(connection, kind, &connection.namespace, &self.release).await?;
            let said = &instance.cr.status;
            if said.release.is_some() && said.is(conditions::DEPLOYED) {
                return Ok(());
            }
            let verdict = verdict(said);
            if said.condition(conditions::READY).is_some() && verdict != told {
                out::complain(&verdict);
                told.clone_from(&verdict);
            }
            if Instant::now() > until {
                bail!(
                    "the operator has not taken the release over within {:?} ({verdict}). Helm's record is left as it is; run \
                     this again once the operator has",
                    self.timeout
                );
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    /// What becomes of Helm's records.
    async fn retire(&self, connection: &Connection, found: &Found) -> Result<()> {
        let (name, namespace) = (&self.release, &connection.namespace);
        if self.release_record == AfterCare::Keep {
            out::complain(&format!(
                "Helm's record is kept: `helm uninstall {name}` would delete what {name} has, and the operator would make it anew"
            ));
            return Ok(());
        }
        let delete = self.release_record == AfterCare::Delete;
        for record in &found.records {
            helm::retire(&connection.client(), found.driver, namespace, record, delete)
                .await
                .with_context(|| format!("Helm's record {record}"))?;
        }
        if !delete {
            let kind = if found.driver == Driver::Secrets { "secret" } else { "configmap" };
            out::complain(&format!(
                "Helm does not see the release any more. To give it back: delete the resource with the annotation \
                 {}: \"true\", then kubectl label {kind} -n {namespace} -l owner=pintle,name={name} owner=helm --overwrite",
                names::ORPHAN
            ));
        }
        Ok(())
    }
}

struct Resource {
    /// What is made, or there.
    object: Value,
    /// Its spec as the cluster has it.
    spec: Value,
    /// What its annotation says of defaults.
    unset: String,
    exists: bool,
}

/// Paths of values that one has and the other has not, as `--set` writes them. Nulls do not count.
fn lost(value: &Value, kept: &Value, at: &mut String, into: &mut Vec<String>) {
    let Value::Object(map) = value else { return };
    for (key, value) in map {
        let length = at.len();
        if !at.is_empty() {
            at.push('.');
        }
        at.push_str(&key.replace('.', "\\."));
        match kept.get(key) {
            None if !value.is_null() => into.push(at.clone()),
            Some(kept) => lost(value, kept, at, into),
            None => {}
        }
        at.truncate(length);
    }
}

/// The labels that a selector asks for by name and value: without them the operator does not see the resource.
fn labels_of(selector: &str) -> Map<String, Value> {
    let pair = |term: &str| {
        let (key, value) = term.split_once('=')?;
        let plain = |text: &str| !text.is_empty() && !text.contains(['!', '=', ' ', '(', ')']);
        (plain(key) && plain(value)).then(|| (key.to_owned(), Value::from(value)))
    };
    selector.split(',').filter_map(pair).collect()
}

/// Paths of nulls in values, as `--set` writes them.
fn null_paths(value: &Value, at: &mut String, into: &mut Vec<String>) {
    match value {
        Value::Null => into.push(at.clone()),
        Value::Object(map) => {
            for (key, value) in map {
                let length = at.len();
                if !at.is_empty() {
                    at.push('.');
                }
                at.push_str(&key.replace('.', "\\."));
                null_paths(value, at, into);
                at.truncate(length);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_that_a_selector_asks_for() {
        let labels = labels_of("tier=web,env in (prod,test),!legacy,size!=big,x.y/z=1");
        assert_eq!(Value::Object(labels), json!({"tier": "web", "x.y/z": "1"}));
    }

    #[test]
    fn what_a_schema_drops_has_paths() {
        let mut paths = Vec::new();
        let sent = json!({"a": 1, "b": {"c.d": {}, "e": null, "f": [{"g": 1}]}});
        lost(&sent, &json!({"b": {"f": [], "more": 1}}), &mut String::new(), &mut paths);
        assert_eq!(paths, ["a", "b.c\\.d"]);
    }

    #[test]
    fn nulls_have_paths() {
        let mut paths = Vec::new();
        null_paths(
            &json!({"a": null, "b": {"c.d": null, "e": 1, "f": [null]}}),
            &mut String::new(),
            &mut paths,
        );
        assert_eq!(paths, ["a", "b.c\\.d"]);
    }
}
