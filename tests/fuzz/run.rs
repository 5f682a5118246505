//! Fuzzes without a nightly toolchain: `fuzz [--seconds N] [--seed N] [--input FILE] [TARGET…]`.
//!
//! Each target runs in a child with bounded memory, which says the number of each input before it tries it. So an input
//! that ends the child, or that takes too long, is known, and is kept in a file to be tried again with `--input`.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a tool of the tests")]

#[path = "inputs.rs"]
mod inputs;
#[path = "targets.rs"]
mod targets;

use std::{
    fs,
    io::{Read as _, Write as _},
    path::Path,
    process::{Command, ExitCode, Stdio},
    sync::mpsc,
    time::{Duration, Instant},
};

use inputs::Inputs;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use targets::TARGETS;

/// How much memory a child may have, the reserved stack of a render counted.
const MEMORY: u64 = 3 << 30;

/// How long one input may take, on a busy machine and in a debug build.
const HANG: Duration = Duration::from_secs(60);

fn main() -> ExitCode {
    let (mut seconds, mut seed, mut child, mut input) = (60, 1, false, None);
    let mut names: Vec<String> = Vec::new();
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut number = || args.next().and_then(|text| text.parse().ok()).expect("a number follows");
        match &*arg {
            "--seconds" => seconds = number(),
            "--seed" => seed = number(),
            "--input" => input = args.next(),
            "--child" => child = true,
            name => names.push(name.to_owned()),
        }
    }
    let chosen: Vec<_> = TARGETS
        .iter()
        .filter(|(name, _)| names.is_empty() || names.iter().any(|wanted| wanted == name))
        .collect();
    assert!(!chosen.is_empty(), "there is no target {names:?}");
    if let Some(input) = input {
        let data = fs::read(input).unwrap();
        chosen.iter().for_each(|(_, run)| run(&data));
        return ExitCode::SUCCESS;
    }
    if child {
        for (name, run) in chosen {
            fuzz(name, *run, seed, Duration::from_secs(seconds));
        }
        return ExitCode::SUCCESS;
    }
    let sound = chosen.iter().filter(|(name, _)| watch(name, seed, seconds)).count();
    if sound == chosen.len() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Tries one input after another, and says which before.
fn fuzz(name: &str, run: fn(&[u8]), seed: u64, time: Duration) {
    let limits = Rlimit { current: Some(MEMORY), maximum: getrlimit(Resource::As).maximum };
    setrlimit(Resource::As, limits).unwrap();
    let inputs = Inputs::of(name);
    let end = Instant::now() + time;
    let mut out = std::io::stdout();
    for number in 0_u64.. {
        if Instant::now() > end {
            return;
        }
        out.write_all(&number.to_le_bytes()).unwrap();
        out.flush().unwrap();
        run(&inputs.make(seed, number));
    }
}

/// Runs a target in a child; whether it found nothing.
fn watch(name: &str, seed: u64, seconds: u64) -> bool {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--child", "--seed", &seed.to_string(), "--seconds", &seconds.to_string(), name])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut pipe = child.stdout.take().unwrap();
    let (send, numbers) = mpsc::channel();
    let reader = std::thread::spawn(move || {
        let mut number = [0; 8];
        while pipe.read_exact(&mut number).is_ok() {
            if send.send(u64::from_le_bytes(number)).is_err() {
                return;
            }
        }
    });
    let mut last = 0;
    let hangs = loop {
        match numbers.recv_timeout(HANG) {
            Ok(number) => last = number,
            Err(mpsc::RecvTimeoutError::Disconnected) => break false,
            Err(mpsc::RecvTimeoutError::Timeout) => break true,
        }
    };
    if hangs {
        let _ = child.kill();
    }
    let status = child.wait().unwrap();
    let _ = reader.join();
    if status.success() && !hangs {
        println!("{name}: {} inputs, nothing found", last + 1);
        return true;
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/fuzz");
    fs::create_dir_all(&folder).unwrap();
    let file = folder.join(format!("{name}-{seed}-{last}"));
    fs::write(&file, Inputs::of(name).make(seed, last)).unwrap();
    let what = if hangs { "takes too long".to_owned() } else { format!("ended it: {status}") };
    println!("{name}: input {last} {what}; try `fuzz --input {} {name}`", file.display());
    false
}
