//! The `pintle` binary: process set-up and exit code; everything else is in the library.

fn main() -> std::process::ExitCode {
    pintle::cli::main()
}
