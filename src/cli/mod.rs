//! The command line: one file per subcommand.

mod accepted;
mod adopt;
mod connect;
mod convert;
mod crd;
mod diff;
mod global;
mod leader;
mod lint;
mod logging;
mod out;
mod run;
mod server;
mod status;
mod template;
mod test;
mod traces;
mod tree;
mod usage;
mod values;
mod view;
mod warnings;

use std::process::ExitCode;

use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand, error::ErrorKind};

/// Wraps Helm charts as Kubernetes APIs
#[derive(Parser)]
#[command(name = "pintle", version, about)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Adopt(adopt::Adopt),
    Convert(convert::Convert),
    Crd(crd::Crd),
    Diff(diff::Diff),
    Lint(Box<lint::Lint>),
    Run(Box<run::Run>),
    Status(status::Status),
    Template(Box<template::Template>),
    Test(test::Test),
    Tree(tree::Tree),
    /// Print the version
    Version,
}

/// Parses the process's arguments, runs the subcommand they name and gives the process's exit code.
pub fn main() -> ExitCode {
    let command = Arguments::command()
        .mut_subcommand("lint", usage::lenient)
        // An image's entry point gives flags, and a Pod's arguments give them again: the last one holds.
        .mut_subcommand("run", |run| usage::lenient(run).args_override_self(true))
        .mut_subcommand("template", usage::lenient);
    let parsed = command.try_get_matches().and_then(|matches| Arguments::from_arg_matches(&matches));
    let arguments = match parsed {
        Ok(arguments) => arguments,
        Err(error) if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            out::print(&error.render().to_string());
            return ExitCode::SUCCESS;
        }
        // A diff that ends with 1 has found differences.
        Err(error) if error.use_stderr() && std::env::args().nth(1).as_deref() == Some("diff") => {
            usage::report(&error);
            return ExitCode::from(diff::TROUBLE);
        }
        Err(error) => return usage::report(&error),
    };
    let result = match arguments.command {
        Command::Adopt(adopt) => adopt.run(),
        Command::Convert(convert) => convert.run(),
        Command::Crd(crd) => crd.run(),
        Command::Diff(diff) => return diff.run(),
        Command::Lint(lint) => lint.run(),
        Command::Run(run) => run.run(),
        Command::Status(status) => status.run(),
        Command::Template(template) => template.run(),
        Command::Test(test) => test.run(),
        Command::Tree(tree) => tree.run(),
        Command::Version => {
            out::write(concat!("pintle version v", env!("CARGO_PKG_VERSION"), "\n").as_bytes())
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            out::fail(&error);
            ExitCode::FAILURE
        }
    }
}
