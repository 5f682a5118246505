//! `pintle tree`: an instance's objects, and what they made in turn.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use anyhow::Result;
use clap::Args;
use k8s_openapi::api::core::v1::Event;
use kube::{Api, api::ListParams};
use serde_json::{Value, json};

use super::{
    connect::{Connect, Connection, block_on},
    out::{self, Form},
    status::created,
    view::{
        Instance, Member, kinds, list, member,
        table::{Table, ago},
    },
};
use crate::{
    api::names,
    release::{failure::Failure, health::State, inventory::GroupKind},
};

/// What members may have made, and what those made.
const MADE: [&str; 5] =
    ["ReplicaSet.apps", "Job.batch", "Pod", "PersistentVolumeClaim", "ControllerRevision.apps"];
/// How deep the tree is.
const DEPTH: usize = 8;

/// Show a resource's objects as a tree: how each does, who writes it, and when it drifted last
#[derive(Args)]
pub struct Tree {
    /// The resource: KIND/NAME.
    #[arg(required = true, value_name = "KIND/NAME")]
    resource: Vec<String>,
    /// How it is printed.
    #[arg(short, long, value_enum, default_value_t = Form::Text)]
    output: Form,
    #[command(flatten)]
    connect: Connect,
}

/// The last time that somebody changed a member.
struct Drift {
    time: String,
    what: String,
}

/// An object and what it made.
struct Node {
    member: Member,
    children: Vec<Node>,
}

impl Tree {
    /// Prints it.
    pub fn run(self) -> Result<()> {
        block_on(self.show())
    }

    async fn show(self) -> Result<()> {
        let (kind, name) = kinds::one(&self.resource)?;
        let connection = self.connect.open().await?;
        let kind = kinds::named(&connection, &kind).await?;
        let instance = Instance::get(&connection, &kind, &connection.namespace, &name).await?;
        let (members, mut unread) = instance.members(&connection).await?;
        let mut made = made(&connection, &members, &mut unread).await;
        let drifts = drifts(&connection, &instance, &mut unread).await;
        let nodes: Vec<Node> = members.into_iter().map(|member| node(member, &mut made, DEPTH)).collect();
        let text = match self.output {
            Form::Text => text(&instance, &nodes, &drifts),
            form => form.print(&machine(&instance, &nodes, &drifts))?,
        };
        out::write(text.as_bytes())?;
        for unread in unread {
            out::complain(&format!("not read: {unread}"));
        }
        Ok(())
    }
}

/// Objects of the kinds that members make, by the uid of their controller, in the members' namespaces.
async fn made(
    connection: &Connection,
    members: &[Member],
    unread: &mut Vec<String>,
) -> HashMap<String, Vec<Member>> {
    let namespaces: BTreeSet<&str> =
        members.iter().map(|m| &*m.key.namespace).filter(|namespace| !namespace.is_empty()).collect();
    let mut made: HashMap<String, Vec<Member>> = HashMap::new();
    for kind in MADE {
        let Some((group_kind, resource, _)) = connection.cluster.resource(&GroupKind::parse(kind)) else {
            continue;
        };
        for namespace in &namespaces {
            let objects = match list(connection, &resource, namespace, &ListParams::default()).await {
                Ok(objects) => objects,
                Err(error) => {
                    unread.push(format!("{kind} in {namespace}: {error}"));
                    continue;
                }
            };
            for object in objects {
                // What a rollout has left behind is many, and says nothing.
                let idle = kind == "ReplicaSet.apps"
                    && object["spec"]["replicas"] == 0
                    && object["status"]["replicas"].as_i64().unwrap_or(0) == 0;
                let owners = object["metadata"]["ownerReferences"].as_array();
                let owner = owners.into_iter().flatten().find(|owner| owner["controller"] == true);
                let Some(uid) = owner.and_then(|owner| owner["uid"].as_str()).filter(|_| !idle) else {
                    continue;
                };
                made.entry(uid.to_owned()).or_default().push(member(&group_kind, object));
            }
        }
    }
    made
}

fn node(member: Member, made: &mut HashMap<String, Vec<Member>>, depth: usize) -> Node {
    let uid = member.object["metadata"]["uid"].as_str().unwrap_or_default();
    let mut own = if depth == 0 { Vec::new() } else { made.remove(uid).unwrap_or_default() };
    own.sort_by(|a, b| a.key.cmp(&b.key));
    let children = own.into_iter().map(|child| node(child, made, depth - 1)).collect();
    Node { member, children }
}

/// The last drift of each member, by its key, from the Events about the instance.
async fn drifts(
    connection: &Connection,
    instance: &Instance,
    unread: &mut Vec<String>,
) -> BTreeMap<String, Drift> {
    let namespace = instance.cr.namespace();
    let api: Api<Event> =
        Api::namespaced(connection.client(), if namespace.is_empty() { "default" } else { namespace });
    let about = ListParams::default().fields(&format!("involvedObject.uid={}", instance.cr.uid()));
    let mut found: BTreeMap<String, Drift> = BTreeMap::new();
    let events = match api.list(&about).await {
        Ok(events) => events.items,
        Err(error) => {
            unread.push(format!("events: {}", Failure::of(error)));
            return found;
        }
    };
    for event in events {
        let reason = event.reason.as_deref().unwrap_or_default();
        let Some(related) = event.related.filter(|_| reason.starts_with("Drift")) else { continue };
        let api_version = related.api_version.unwrap_or_default();
        let gvk = crate::api::Gvk::of(&api_version, &related.kind.unwrap_or_default());
        let key =
            key(&gvk.group_kind(), &related.namespace.unwrap_or_default(), &related.name.unwrap_or_default());
        let last = event.series.and_then(|series| series.last_observed_time).or(event.event_time);
        let time = last.map(|time| time.0.to_string());
        let time = time.or(event.last_timestamp.map(|time| time.0.to_string())).unwrap_or_default();
        let message = event.message.unwrap_or_default();
        let what = message.split_once(": ").map_or(&*message, |(_, what)| what).to_owned();
        match found.get(&key) {
            Some(known) if known.time >= time => {}
            _ => {
                found.insert(key, Drift { time, what });
            }
        }
    }
    found
}

fn key(kind: &str, namespace: &str, name: &str) -> String {
    format!("{kind} {namespace}/{name}")
}

fn key_of(member: &Member) -> String {
    key(&member.key.kind.to_string(), &member.key.namespace, &member.key.name)
}

/// Who writes an object: the field managers of everything but its status.
fn writers(object: &Value) -> Vec<String> {
    let entries = object["metadata"]["managedFields"].as_array();
    let whole = entries.into_iter().flatten().filter(|e| e["subresource"] != "status");
    let mut names: Vec<String> = whole.filter_map(|e| e["manager"].as_str()).map(str::to_owned).collect();
    names.sort_by_key(|name| (name != names::FIELD_MANAGER, name.clone()));
    names.dedup();
    names
}

fn text(instance: &Instance, nodes: &[Node], drifts: &BTreeMap<String, Drift>) -> String {
    let mut table = Table::new(&["NAME", "READY", "STATUS", "OWNER", "AGE", "LAST DRIFT"]);
    let said = &instance.cr.status;
    let ready = said.condition(crate::api::status::conditions::READY);
    let reason = ready.map_or("", |c| &*c.reason);
    let mut drifted: Vec<&Drift> = drifts.values().collect();
    drifted.sort_by(|a, b| b.time.cmp(&a.time));
    table.row(vec![
        format!("{}/{}", instance.gvk.kind, instance.cr.name()),
        ready.map_or("Unknown", |c| &*c.status).to_owned(),
        reason.to_owned(),
        String::new(),
        ago(created(&instance.object)),
        drifted.first().map_or_else(String::new, |drift| format!("{} ago", ago(&drift.time))),
    ]);
    let home = instance.cr.namespace();
    for (at, node) in nodes.iter().enumerate() {
        rows(node, "", at + 1 == nodes.len(), home, drifts, &mut table);
    }
    table.print()
}

fn rows(
    node: &Node,
    indent: &str,
    last: bool,
    home: &str,
    drifts: &BTreeMap<String, Drift>,
    table: &mut Table,
) {
    let member = &node.member;
    let place = match &*member.key.namespace {
        namespace if namespace == home || namespace.is_empty() => String::new(),
        namespace => format!("{namespace}/"),
    };
    let (branch, below) = if last { ("└── ", "    ") } else { ("├── ", "│   ") };
    let health = &member.health;
    let status = match &*health.message {
        "" => health.state.word().to_owned(),
        message => format!("{}: {message}", health.state.word()),
    };
    let drift = drifts.get(&key_of(member));
    table.row(vec![
        format!("{indent}{branch}{}/{place}{}", member.key.kind.kind, member.key.name),
        if health.state == State::Current { "True" } else { "False" }.to_owned(),
        crate::api::status::cut(&status, 80),
        writers(&member.object).join(","),
        ago(created(&member.object)),
        drift.map_or_else(String::new, |drift| format!("{} ago: {}", ago(&drift.time), drift.what)),
    ]);
    for (at, child) in node.children.iter().enumerate() {
        rows(child, &format!("{indent}{below}"), at + 1 == node.children.len(), home, drifts, table);
    }
}

fn machine(instance: &Instance, nodes: &[Node], drifts: &BTreeMap<String, Drift>) -> Value {
    let ready = instance.cr.status.condition(crate::api::status::conditions::READY);
    json!({
        "apiVersion": instance.gvk.api_version(),
        "kind": instance.gvk.kind,
        "namespace": instance.cr.namespace(),
        "name": instance.cr.name(),
        "ready": ready.map_or("Unknown", |c| &*c.status),
        "message": ready.map_or("", |c| &*c.message),
        "objects": nodes.iter().map(|node| object(node, drifts)).collect::<Vec<_>>(),
    })
}

fn object(node: &Node, drifts: &BTreeMap<String, Drift>) -> Value {
    let member = &node.member;
    let mut out = json!({
        "apiVersion": member.object["apiVersion"],
        "kind": &*member.key.kind.kind,
        "namespace": &*member.key.namespace,
        "name": &*member.key.name,
        "status": member.health.state.word(),
        "message": &*member.health.message,
        "owners": writers(&member.object),
        "created": created(&member.object),
    });
    if let Some(drift) = drifts.get(&key_of(member)) {
        out["lastDrift"] = json!({ "time": drift.time, "message": drift.what });
    }
    if !node.children.is_empty() {
        out["objects"] = node.children.iter().map(|child| object(child, drifts)).collect();
    }
    out
}
