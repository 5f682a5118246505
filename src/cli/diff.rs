//! `pintle diff`: what should be against what is.

use std::{io::IsTerminal as _, path::PathBuf, process::ExitCode};

use anyhow::Result;
use clap::Args;

use super::{
    connect::{Connect, block_on},
    out::{self, Form},
    view::{Instance, changes, desired, kinds},
};

/// The exit code after an error.
pub const TROUBLE: u8 = 2;

/// Show what the operator would change about a resource's objects
///
/// The chart is rendered as the operator would, and the API server is asked, without anything being changed, what it would make
/// of each object. Fields that drift rules leave to others are shown too. Values of Secrets are masked. The exit code is that of kubectl diff: 0 when nothing differs, 1 when
/// something does, 2 after an error.
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
                out::complain(&format!("Error: {error:#}"));
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
        let prepared = loaded.of_instance(&connection, &instance).await?;
        let (members, unread) = instance.members(&connection).await?;
        let changes = changes::compare(&connection, &prepared.desired, &members).await?;
        for (gvk, source) in &prepared.unserved {
            out::complain(&format!("the cluster does not serve {gvk} ({source})"));
        }
        for unread in unread {
            out::complain(&format!("not read: {unread}"));
        }
        match self.output {
            Form::Text => {
                let text: String = changes.iter().map(changes::Change::text).collect();
                out::write(coloured(&text).as_bytes())?;
            }
            form => {
                let all: Vec<_> = changes.iter().map(changes::Change::json).collect();
                out::write(form.print(&serde_json::json!(all))?.as_bytes())?;
            }
        }
        Ok(!changes.is_empty())
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
