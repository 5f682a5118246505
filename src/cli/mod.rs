//! The command line: one file per subcommand.

mod crd;
mod run;
mod template;
mod values;

use std::{
    io::{self, Write as _},
    process::ExitCode,
};

use clap::{Parser, Subcommand};

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
    Run(run::Run),
    Template(Box<template::Template>),
}

/// Parses the process's arguments, runs the subcommand they name and gives the process's exit code.
pub fn main() -> ExitCode {
    let result = match Arguments::parse().command {
        Command::Crd(crd) => crd.run(),
        Command::Run(run) => run.run(),
        Command::Template(template) => template.run(),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Whoever closed standard error does not want to know.
            let _ = writeln!(io::stderr(), "Error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
