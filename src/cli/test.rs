//! `pintle test`: runs the tests of an instance's chart, as `helm test` does, and tells what came of them.

use std::{fmt::Write as _, time::Duration};

use anyhow::{Context as _, Result, bail};
use clap::Args;
use k8s_openapi::api::core::v1::Pod;
use kube::{
    Api,
    api::{DynamicObject, ListParams, LogParams, Patch, PatchParams},
    runtime::wait::await_condition,
};
use serde_json::{Value, json};

use super::{
    connect::{Connect, Connection, block_on},
    out::{self, Form},
    view::{self, kinds},
};
use crate::{
    api::{
        duration, names,
        status::{Hook, HookPhase, Status, conditions},
    },
    release::failure::Failure,
};

/// Run the tests of a resource's chart, and wait for what they come to
#[derive(Args)]
pub struct Test {
    /// The resource: KIND/NAME.
    #[arg(required = true, value_name = "KIND/NAME")]
    resource: Vec<String>,
    /// How long to wait.
    #[arg(long, value_name = "DURATION", default_value = "5m0s", value_parser = duration::parse)]
    timeout: Duration,
    /// Print the logs of the tests' Pods that are still there.
    #[arg(long)]
    logs: bool,
    /// How it is printed.
    #[arg(short, long, value_enum, default_value_t = Form::Text)]
    output: Form,
    #[command(flatten)]
    connect: Connect,
}

impl Test {
    /// Runs the tests and prints what came of them. An error when one has failed.
    pub fn run(self) -> Result<()> {
        block_on(self.ask())
    }

    async fn ask(self) -> Result<()> {
        let (kind, name) = kinds::one(&self.resource)?;
        let connection = self.connect.open().await?;
        let kind = kinds::named(&connection, &kind).await?;
        let namespace = if kind.namespaced { &*connection.namespace } else { "" };
        let (_, api) = view::api(&connection, &kind, namespace)?;
        let request = jiff::Timestamp::now().to_string();
        let patch = json!({ "metadata": { "annotations": { names::TEST: request } } });
        api.patch(&name, &PatchParams::default(), &Patch::Merge(patch))
            .await
            .with_context(|| format!("{}/{name}", kind.kind))?;
        let done = |object: Option<&DynamicObject>| {
            let test = object.and_then(|object| status(object).test);
            test.is_some_and(|test| test.request == request && !test.completed_at.is_empty())
        };
        let waited = tokio::time::timeout(self.timeout, await_condition(api.clone(), &name, done)).await;
        let Ok(object) = waited else {
            let why = match api.get(&name).await.ok().map(|object| status(&object)) {
                Some(status) => why_not(&status, &request),
                None => String::new(),
            };
            bail!("the tests of {}/{name} have not ended within {:?}{why}", kind.kind, self.timeout);
        };
        let object = object?.with_context(|| format!("{}/{name} is gone", kind.kind))?;
        let status = status(&object);
        let lines: Vec<&Hook> = status.hooks.iter().filter(|hook| hook.event == "test").collect();
        let Some(test) = &status.test else { bail!("the status says nothing of tests") };
        if self.output == Form::Text {
            let mut text = format!("NAME: {name}\n");
            if !namespace.is_empty() {
                writeln!(text, "NAMESPACE: {namespace}")?;
            }
            writeln!(text, "REVISION: {}\nSTATUS: {}", test.revision, word(test.phase))?;
            for line in &lines {
                write!(
                    text,
                    "TEST SUITE:     {}\nLast Started:   {}\nLast Completed: {}\nPhase:          {}\n",
                    line.name,
                    line.started_at,
                    line.completed_at,
                    word(line.phase)
                )?;
                if !line.message.is_empty() {
                    writeln!(text, "Message:        {}", line.message)?;
                }
            }
            if lines.is_empty() {
                writeln!(text, "{}", test.message)?;
            }
            out::write(text.as_bytes())?;
            if self.logs {
                logs(&connection, namespace, &lines).await?;
            }
        } else {
            let all: Value = json!({ "test": test, "hooks": lines });
            out::write(self.output.print(&all)?.as_bytes())?;
        }
        if test.phase != HookPhase::Succeeded {
            bail!("{}", test.message);
        }
        Ok(())
    }
}

fn status(object: &DynamicObject) -> Status {
    serde_json::from_value(object.data["status"].clone()).unwrap_or_default()
}

fn word(phase: HookPhase) -> &'static str {
    match phase {
        HookPhase::NotRun => "Not run",
        HookPhase::Running => "Running",
        HookPhase::Succeeded => "Succeeded",
        HookPhase::Failed => "Failed",
    }
}

/// What the operator is at instead.
fn why_not(status: &Status, request: &str) -> String {
    if status.test.as_ref().is_some_and(|test| test.request == request) {
        let runs = status.hooks.iter().find(|hook| hook.event == "test" && hook.phase == HookPhase::Running);
        return runs.map_or_else(String::new, |hook| format!(": {} {} runs", hook.kind, hook.name));
    }
    match status.condition(conditions::READY) {
        Some(ready) if ready.status != "True" => format!("; they have not begun: {}", ready.message),
        _ => "; they have not begun: does the operator run?".to_owned(),
    }
}

/// Prints what the Pods of tests have logged, of those that no policy has deleted.
async fn logs(connection: &Connection, namespace: &str, lines: &[&Hook]) -> Result<()> {
    for line in lines {
        let namespace = if line.namespace.is_empty() { namespace } else { &line.namespace };
        let pods: Api<Pod> = if namespace.is_empty() {
            Api::default_namespaced(connection.client())
        } else {
            Api::namespaced(connection.client(), namespace)
        };
        let found = match &*line.kind {
            "Pod" => pods.get_opt(&line.name).await?.into_iter().collect(),
            "Job.batch" => {
                let of_job = format!("batch.kubernetes.io/job-name={}", line.name);
                pods.list(&ListParams::default().labels(&of_job)).await?.items
            }
            _ => continue,
        };
        if found.is_empty() {
            out::complain(&format!("the Pod of {} is gone: its delete policy says so", line.name));
        }
        for pod in found {
            let name = pod.metadata.name.unwrap_or_default();
            for container in pod.spec.map(|spec| spec.containers).unwrap_or_default() {
                let params = LogParams { container: Some(container.name), ..LogParams::default() };
                match pods.logs(&name, &params).await {
                    Ok(text) => out::print(&format!("POD LOGS: {name}\n{text}\n")),
                    Err(error) => {
                        out::complain(&format!("the logs of {name} cannot be read: {}", Failure::of(error)));
                    }
                }
            }
        }
    }
    Ok(())
}
