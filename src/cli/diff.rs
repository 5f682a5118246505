//! `pintle diff`: what should be against what is.

use std::{io::IsTerminal as _, path::PathBuf, process::ExitCode};

use anyhow::Result;
use clap::Args;

use super::{
    connect::{Connect, block_on},
    out::{self, Form},
    view::{
        Instance,
        changes::{self, Change, Whose},
        desired, kinds,
    },
};
use crate::release::object::manifest_digest;

/// The exit code after an error.
pub const TROUBLE: u8 = 2;

/// Show what the operator would change about a resource's objects
///
/// The chart is rendered as the operator would, and the API server is asked, without anything being changed, what it would make
/// of each object. What drift rules and autoscalers leave to others is no difference; drift that the definition only has reported
/// is shown as left so. Values of Secrets are masked. The exit code is that of kubectl diff: 0 when nothing would be changed, 1 when
/// something would, 2 after an error.
#[derive(Args)]
pub struct Diff {
    /// The resource: KIND/NAME.
    #[arg(required = true, value_name = "KIND/NAME")]
    resource: Vec<String>,
    /// The operator's watches file.
    #[arg(long, default_value = "./watches.yaml", value_name = "FILE")]
    watches_file: PathBuf,
    /// How it is printed.
    #[arg(short, long, value_enum, default_value_t = Form::Text)]
    output: Form,
    #[command(flatten)]
    connect: Connect,
}

impl Diff {
    /// Prints the differences.
    pub fn run(self) -> ExitCode {
        match block_on(self.show()) {
            Ok(false) => ExitCode::SUCCESS,
            Ok(true) => ExitCode::from(1),
            Err(error) => {
                out::fail(&error);
                ExitCode::from(TROUBLE)
            }
        }
    }

    /// Whether anything differs.
    async fn show(self) -> Result<bool> {
        let (kind, name) = kinds::one(&self.resource)?;
        let connection = self.connect.open().await?;
        let kind = kinds::named(&connection, &kind).await?;
        let instance = Instance::get(&connection, &kind, &connection.namespace, &name).await?;
        let loaded = desired::of_kind(&instance.gvk, &self.watches_file)?;
        let (members, unread) = instance.members(&connection).await?;
        let prepared = loaded.of_instance(&connection, &instance, &members).await?;
        let release = instance.cr.status.release.as_ref();
        let whose = Whose {
            set: &instance.parent().set(),
            mode: loaded.definition.spec.drift.mode,
            deployed: release.is_some_and(|r| r.manifest_digest == manifest_digest(&prepared)),
        };
        let mut changes = changes::compare(&connection, &whose, &prepared.desired, &members).await?;
        for yields in changes.iter().filter_map(Change::yields) {
            out::complain(&yields);
        }
        changes.retain(Change::is_any);
        for (gvk, source) in &prepared.unserved {
            out::complain(&format!("the cluster does not serve {gvk} ({source})"));
        }
        for unread in unread {
            out::complain(&format!("not read: {unread}"));
        }
        match self.output {
            Form::Text => {
                let text: String = changes.iter().map(Change::text).collect();
                out::write(coloured(&text).as_bytes())?;
            }
            form => {
                let all: Vec<_> = changes.iter().map(Change::json).collect();
                out::write(form.print(&serde_json::json!(all))?.as_bytes())?;
            }
        }
        Ok(changes.iter().any(Change::is_to_come) || !prepared.unserved.is_empty())
    }
}

/// A diff with colours, where somebody looks.
pub fn coloured(text: &str) -> String {
    if !std::io::stdout().is_terminal() || std::env::var_os("NO_COLOR").is_some() {
        return text.to_owned();
    }
    let line = |line: &str| {
        let code = match line.as_bytes().first() {
            Some(b'+') => "32",
            Some(b'-') => "31",
            Some(b'@') => "36",
            _ => return format!("{line}\n"),
        };
        format!("\u{1b}[{code}m{line}\u{1b}[0m\n")
    };
    text.lines().map(line).collect()
}
