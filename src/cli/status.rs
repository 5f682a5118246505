//! `pintle status`: how an instance, or all of a kind, does.

use std::fmt::Write as _;

use anyhow::Result;
use clap::Args;
use serde_json::{Value, json};

use super::{
    connect::{Connect, Connection, block_on},
    out::{self, Form},
    view::{
        Instance,
        kinds::{self, Kind},
        table::{Table, ago},
    },
};
use crate::api::status::{Status as Said, conditions};

/// Show how a resource does, or all resources of a kind
#[derive(Args)]
pub struct Status {
    /// The resource: KIND/NAME; or a KIND for all of it.
    #[arg(required = true, value_name = "KIND[/NAME]")]
    resource: Vec<String>,
    /// In all namespaces.
    #[arg(short = 'A', long)]
    all_namespaces: bool,
    /// How it is printed.
    #[arg(short, long, value_enum, default_value_t = Form::Text)]
    output: Form,
    #[command(flatten)]
    connect: Connect,
}

impl Status {
    /// Prints it.
    pub fn run(self) -> Result<()> {
        block_on(self.show())
    }

    async fn show(self) -> Result<()> {
        let (kind, name) = kinds::target(&self.resource)?;
        let connection = self.connect.open().await?;
        let kind = kinds::named(&connection, &kind).await?;
        let text = match name {
            Some(name) => {
                let instance = Instance::get(&connection, &kind, &connection.namespace, &name).await?;
                match self.output {
                    Form::Text => one(&instance),
                    form => form.print(&machine(&instance))?,
                }
            }
            None => self.list(&connection, &kind).await?,
        };
        out::write(text.as_bytes())
    }

    async fn list(&self, connection: &Connection, kind: &Kind) -> Result<String> {
        let namespace = if self.all_namespaces { "" } else { &connection.namespace };
        let instances = Instance::list(connection, kind, namespace).await?;
        if self.output != Form::Text {
            return self.output.print(&json!(instances.iter().map(machine).collect::<Vec<_>>()));
        }
        let wide = self.all_namespaces && kind.namespaced;
        let mut headings = vec!["NAME", "READY", "STATUS", "OBJECTS", "CHART", "REVISION", "AGE"];
        if wide {
            headings.insert(0, "NAMESPACE");
        }
        let mut table = Table::new(&headings);
        for instance in &instances {
            let said = &instance.cr.status;
            let ready = said.condition(conditions::READY);
            let release = said.release.as_ref();
            let mut row = vec![
                instance.cr.name().to_owned(),
                ready.map_or("Unknown", |c| &*c.status).to_owned(),
                ready.map_or("", |c| &*c.reason).to_owned(),
                said.resources.as_ref().map_or_else(String::new, |r| format!("{}/{}", r.ready, r.total)),
                release.map_or("", |r| &*r.chart.label).to_owned(),
                release.map_or_else(String::new, |r| r.revision.to_string()),
                ago(created(&instance.object)),
            ];
            if wide {
                row.insert(0, instance.cr.namespace().to_owned());
            }
            table.row(row);
        }
        if table.is_empty() {
            let place =
                if namespace.is_empty() { String::new() } else { format!(" in {namespace} namespace") };
            out::complain(&format!("No resources found{place}."));
            return Ok(String::new());
        }
        Ok(table.print())
    }
}

/// When an object was made.
pub fn created(object: &Value) -> &str {
    object["metadata"]["creationTimestamp"].as_str().unwrap_or_default()
}

/// An instance for machines: what identifies it, and its status.
fn machine(instance: &Instance) -> Value {
    let metadata = &instance.object["metadata"];
    let mut out = json!({
        "apiVersion": instance.gvk.api_version(), "kind": instance.gvk.kind,
        "metadata": { "name": metadata["name"], "uid": metadata["uid"], "generation": metadata["generation"] },
        "status": instance.object.get("status").cloned().unwrap_or_else(|| json!({})),
    });
    if !instance.cr.namespace().is_empty() {
        out["metadata"]["namespace"] = instance.cr.namespace().into();
    }
    // operator-sdk left whole manifests there.
    if let Some(release) = out["status"].get_mut("deployedRelease").and_then(Value::as_object_mut) {
        release.remove("manifest");
    }
    out
}

/// An instance for a person.
fn one(instance: &Instance) -> String {
    let said = &instance.cr.status;
    let mut out = String::new();
    let place = [instance.cr.namespace(), instance.cr.name()];
    let place: Vec<&str> = place.into_iter().filter(|part| !part.is_empty()).collect();
    let mut line = |name: &str, text: &str| {
        // What a cluster says must not make lines.
        let _ = writeln!(out, "{name:<12}{}", text.replace(char::is_control, " "));
    };
    line(&format!("{}:", instance.gvk.kind), &place.join("/"));
    line("Ready:", &verdict(said));
    if instance.cr.deleting {
        line("Deleting:", "yes");
    }
    if instance.cr.marks.suspended() {
        line("Suspended:", "yes");
    }
    if said.observed_generation.is_some() && said.observed_generation != Some(instance.cr.generation()) {
        line("Changed:", "the operator has not seen the last change yet");
    }
    if let Some(release) = &said.release {
        let app = &release.chart.app_version;
        let app = if app.is_empty() { String::new() } else { format!(" (app {app})") };
        line("Chart:", &format!("{}{app}", release.chart.label));
        let first = ago(&release.first_deployed);
        line(
            "Revision:",
            &format!("{}, {} old; installed {first} ago", release.revision, ago(&release.last_deployed)),
        );
    }
    if let Some(resources) = &said.resources {
        line("Objects:", &format!("{} of {} ready", resources.ready, resources.total));
    }
    if let Some(test) = &said.test {
        let phase = instance.object["status"]["test"]["phase"].as_str().unwrap_or_default();
        let began = ago(&test.started_at);
        line("Tests:", format!("{phase}, begun {began} ago. {}", test.message).trim_end());
    }
    let mut table = Table::new(&["CONDITION", "STATUS", "REASON", "SINCE", "MESSAGE"]);
    for c in &said.conditions {
        // What a chart has to say is printed below.
        let notes = said.release.as_ref().map_or("", |r| r.notes.as_str());
        let message = if c.r#type == conditions::DEPLOYED && !notes.is_empty() { "" } else { &c.message };
        table.row(vec![
            c.r#type.clone(),
            c.status.clone(),
            c.reason.clone(),
            ago(&c.last_transition_time),
            message.to_owned(),
        ]);
    }
    section(&mut out, "", &table);
    let mut table = Table::new(&["NOT READY", "STATUS", "MESSAGE"]);
    for m in said.resources.iter().flat_map(|r| &r.not_ready) {
        let place = if m.namespace.is_empty() { String::new() } else { format!("{}/", m.namespace) };
        table.row(vec![format!("{} {place}{}", m.kind, m.name), m.status.clone(), m.message.clone()]);
    }
    section(&mut out, "", &table);
    let mut table = Table::new(&["HOOK", "EVENT", "PHASE", "MESSAGE"]);
    let hooks = instance.object["status"]["hooks"].as_array().cloned().unwrap_or_default();
    for hook in &hooks {
        let text = |key: &str| hook[key].as_str().unwrap_or_default().to_owned();
        let events: Vec<&str> =
            hook["events"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        // The one that it ran at, or those that it waits for.
        let event = hook["event"].as_str().filter(|event| !event.is_empty());
        table.row(vec![
            format!("{} {}", text("kind"), text("name")),
            event.map_or_else(|| events.join(","), str::to_owned),
            text("phase"),
            text("message"),
        ]);
    }
    section(&mut out, "", &table);
    if let Some(release) = said.release.as_ref().filter(|r| !r.notes.is_empty()) {
        let clean: String =
            release.notes.chars().filter(|c| !c.is_control() || "\n\t".contains(*c)).collect();
        let _ = write!(out, "\nNOTES:\n{}\n", clean.trim_end());
    }
    out
}

/// The condition Ready in a line.
pub fn verdict(said: &Said) -> String {
    match said.condition(conditions::READY) {
        None => "Unknown: the operator has not seen it".to_owned(),
        Some(c) if c.message.is_empty() => format!("{} ({})", c.status, c.reason),
        Some(c) => format!("{} ({}): {}", c.status, c.reason, c.message),
    }
}

fn section(out: &mut String, title: &str, table: &Table) {
    if !table.is_empty() {
        let _ = write!(out, "\n{title}{}", table.print());
    }
}
