//! The command line: one file per subcommand.

mod accepted;
mod crd;
mod leader;
mod lint;
mod logging;
mod out;
mod run;
mod template;
mod usage;
mod values;

use std::process::ExitCode;

use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

/// Wraps Helm charts as Kubernetes APIs
#[derive(Parser)]
#[command(name = "pintle", version, about)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Crd(crd::Crd),
    Lint(lint::Lint),
    Run(run::Run),
    Template(Box<template::Template>),
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
        Err(error) => return usage::report(&error),
    };
    let result = match arguments.command {
        Command::Crd(crd) => crd.run(),
        Command::Lint(lint) => lint.run(),
        Command::Run(run) => run.run(),
        Command::Template(template) => template.run(),
        Command::Version => {
            out::write(concat!("pintle version v", env!("CARGO_PKG_VERSION"), "\n").as_bytes())
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            out::complain(&format!("Error: {error:#}"));
            ExitCode::FAILURE
        }
    }
}
