//! How the demo prints.

use std::{
    io::{IsTerminal, stdout},
    time::Duration,
};

use serde_json::Value;

/// Wraps text in an ANSI style where a terminal shows it.
fn styled(code: &str, text: &str) -> String {
    if stdout().is_terminal() { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
}

/// A heading.
pub fn title(text: &str) {
    println!("\n{}", styled("1;36", &format!("== {text}")));
}

/// A command as it would be typed.
pub fn command(program: &str, args: &[&str]) {
    let quoted: Vec<String> = args
        .iter()
        .map(|arg| if arg.contains([' ', '"', '{']) { format!("'{arg}'") } else { (*arg).to_owned() })
        .collect();
    println!("{}", styled("2", &format!("  $ {program} {}", quoted.join(" "))));
}

/// What a command printed.
pub fn output(text: &str) {
    for line in text.trim_end().lines() {
        println!("    {line}");
    }
}

/// Something came true, and how long it took.
pub fn took(what: &str, time: Duration) {
    let time = if time < Duration::from_secs(1) {
        format!("{:.1} ms", time.as_secs_f64() * 1e3)
    } else {
        format!("{:.1} s", time.as_secs_f64())
    };
    println!("  {} {what}: {}", styled("32", "ok"), styled("1", &time));
}

/// Objects under their owners, which are found by uid; what has no owner among them stands under `root`.
pub fn tree(root: &str, objects: &[Value]) {
    println!("    {root}");
    let uid = |o: &Value| o["metadata"]["uid"].as_str().map(str::to_owned);
    let owner = |o: &Value| o["metadata"]["ownerReferences"][0]["uid"].as_str().map(str::to_owned);
    let known: Vec<String> = objects.iter().filter_map(uid).collect();
    let tops: Vec<&Value> =
        objects.iter().filter(|o| owner(o).is_none_or(|owner| !known.contains(&owner))).collect();
    branch(&tops, objects, "    ");
}

fn branch(children: &[&Value], objects: &[Value], indent: &str) {
    for (at, child) in children.iter().enumerate() {
        let last = at + 1 == children.len();
        let (fork, below) = if last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
        let (kind, name) =
            (child["kind"].as_str().unwrap_or("?"), child["metadata"]["name"].as_str().unwrap_or("?"));
        println!("{indent}{fork}{kind}/{name}{}", state(child));
        let uid = &child["metadata"]["uid"];
        let owned: Vec<&Value> =
            objects.iter().filter(|o| o["metadata"]["ownerReferences"][0]["uid"] == *uid).collect();
        branch(&owned, objects, &format!("{indent}{below}"));
    }
}

/// What a person wants to know of an object, in a few words.
fn state(object: &Value) -> String {
    let text = match object["kind"].as_str() {
        Some("StatefulSet") => {
            let ready = object["status"]["readyReplicas"].as_i64().unwrap_or(0);
            let retention = object["spec"]["template"]["spec"]["containers"][0]["args"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .find_map(|arg| arg.strip_prefix("--storage.tsdb.retention.time="));
            format!(
                "{ready} of {} ready, samples kept for {}",
                object["spec"]["replicas"],
                retention.unwrap_or("?")
            )
        }
        Some("Pod" | "PersistentVolumeClaim") => object["status"]["phase"].as_str().unwrap_or("?").to_owned(),
        _ => return String::new(),
    };
    format!("  {text}")
}
