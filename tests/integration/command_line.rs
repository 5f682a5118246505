//! Command lines and charts that once went otherwise than with helm: the same output, the same exit code, and an error that
//! begins with Helm's.
//!
//! A case of `command_line.txt` is a line `=== name`, then sections that begin with `--- path`: the files of the folder in
//! which both programs run, `\xNN` in them standing for a byte; `args`, a line an argument; and `env`, a line a variable.

use std::{fs, path::Path, process::Command};

use crate::harness::program;

/// What a program made of a case.
#[derive(Debug, PartialEq)]
struct Outcome {
    code: Option<i32>,
    out: String,
    err: String,
}

fn run(program: &Path, case: &str) -> Outcome {
    let dir = tempfile::tempdir().unwrap();
    let mut command = Command::new(program);
    command.current_dir(dir.path()).env("HOME", dir.path()).env_remove("KUBECONFIG");
    for section in case.split("\n--- ").skip(1) {
        let (title, body) = section.split_once('\n').unwrap_or((section, ""));
        match title {
            "args" => {
                command.args(body.lines());
            }
            "env" => {
                command.envs(body.lines().filter_map(|line| line.split_once('=')));
            }
            path => {
                let path = dir.path().join(path);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, bytes(body)).unwrap();
            }
        }
    }
    let output = command.output().unwrap();
    let here = dir.path().to_str().unwrap();
    let text = |bytes: &[u8]| bytes.escape_ascii().to_string().replace("\\n", "\n").replace(here, "HERE");
    Outcome { code: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) }
}

fn bytes(text: &str) -> Vec<u8> {
    let mut parts = text.split("\\x");
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        bytes.push(u8::from_str_radix(&part[..2], 16).unwrap());
        bytes.extend_from_slice(&part.as_bytes()[2..]);
    }
    bytes
}

/// What Helm says, without its log.
fn said(text: &str) -> String {
    let lines = text.lines().filter(|line| !line.starts_with("level=") && !line.starts_with("time="));
    lines.collect::<Vec<_>>().join("\n").trim().replace("helm ", "pintle ")
}

/// What Helm logs for who looks for mistakes.
fn debugged(text: &str) -> Vec<&str> {
    text.lines().filter(|line| line.starts_with("level=DEBUG")).collect()
}

#[test]
fn command_lines_do_what_helm_does() {
    let helm = program("helm").unwrap();
    let mut wrong = Vec::new();
    let cases: Vec<_> =
        include_str!("command_line.txt").split("\n=== ").filter(|case| !case.starts_with('#')).collect();
    assert!(cases.len() > 5);
    for case in cases {
        let expected = run(&helm, case);
        let got = run(Path::new(env!("CARGO_BIN_EXE_pintle")), case);
        let same = (expected.code, &expected.out) == (got.code, &got.out);
        let same = same && debugged(&expected.err) == debugged(&got.err);
        if !same || !said(&got.err).starts_with(&said(&expected.err)) {
            let name = case.lines().next().unwrap_or_default();
            wrong.push(format!("{name}\n  helm: {expected:?}\n  ours: {got:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
