//! The command line: one file per subcommand.

use std::process::ExitCode;

/// Parses the process's arguments, runs the subcommand they name and gives the process's exit code.
pub fn main() -> ExitCode {
    ExitCode::SUCCESS
}
