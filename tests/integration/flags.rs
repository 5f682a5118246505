//! Every flag of `helm template` and `helm lint` is known, and wrong ones are refused in Helm's words.

use std::{env, path::Path, process::Command};

use crate::harness::program;

/// The exit code, and what was complained of.
fn complaint(program: &Path, args: &[&str]) -> (Option<i32>, String) {
    let output = Command::new(program)
        .args(args)
        .env("KUBECONFIG", "/nonexistent")
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

fn pintle() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_pintle"))
}

/// The flags in a help text of Helm's, each with a value that it takes.
fn flags(help: &str) -> Vec<String> {
    help.lines()
        .filter_map(|line| {
            let flag = line.trim_start();
            let flag = flag
                .split_once(", ")
                .map_or(flag, |(short, long)| if short.len() == 2 { long } else { flag });
            let (name, rest) = flag.strip_prefix("--")?.split_once("  ")?;
            let (name, kind) = name.split_once(' ').unwrap_or((name, ""));
            let name = name.split('[').next()?;
            let value = match (name, kind) {
                ("help", _) => return None,
                ("color" | "colour", _) => "=never",
                ("dry-run", _) => "=client",
                ("wait", _) => "=watcher",
                (_, "int" | "float32") => "=1",
                (_, "duration") => "=1s",
                (_, "stringToString") => "=a=b",
                _ if !kind.is_empty() => "=x",
                _ if rest.is_empty() => return None,
                _ => "",
            };
            Some(format!("--{name}{value}"))
        })
        .collect()
}

#[test]
fn every_flag_of_helm_is_known() {
    let helm = program("helm").unwrap();
    for command in ["template", "lint"] {
        let help = Command::new(&helm).args([command, "--help"]).output().unwrap();
        let flags = flags(&String::from_utf8_lossy(&help.stdout));
        assert!(flags.len() > 20, "{flags:?}");
        for flag in flags {
            let (_, text) = complaint(pintle(), &[command, "/nonexistent", &flag]);
            for unknown in ["unknown flag", "unexpected", "invalid argument", "Usage"] {
                assert!(!text.contains(unknown), "{command} {flag}: {text}");
            }
        }
    }
}

#[test]
fn wrong_flags_are_refused_in_helms_words() {
    let helm = program("helm").unwrap();
    let sets: &[&[&str]] = &[
        &["--dry-run=none"],
        &["--dry-run=x"],
        &["--dry-run=false"],
        &["--wait=x"],
        &["--kube-version", "x"],
        &["--timeout", "x"],
        &["--labels", "x"],
        &["--labels", "name=x"],
        &["--qps", "x"],
        &["--burst-limit", "x"],
        &["--server-side=x"],
        &["--create-namespace=x"],
        &["--no-such"],
        &["-z"],
        &["--verify"],
        &["--set", "a"],
    ];
    for flags in sets {
        let args = [&["template", "rel", "charts/web"], *flags].concat();
        let (code, helm) = complaint(&helm, &args);
        let (ours, text) = complaint(pintle(), &args);
        let first = |text: &str| {
            text.lines().find(|line| line.starts_with("Error: ")).unwrap_or_default().trim_end().to_owned()
        };
        assert_eq!(first(&text), first(&helm), "{flags:?}: {text}");
        assert_eq!(ours, code, "{flags:?}");
    }
}

/// What would change what is printed, and is not done, is refused in one line.
#[test]
fn what_is_not_done_is_said() {
    for (flag, text) in [
        ("--repo=http://127.0.0.1", "Error: --repo is not supported: give a folder or an archive\n"),
        (
            "--post-renderer=x",
            "Error: --post-renderer is not supported: pipe the output through a program instead\n",
        ),
    ] {
        assert_eq!(complaint(pintle(), &["template", "charts/web", flag]), (Some(1), text.to_owned()));
    }
    let (code, text) = complaint(pintle(), &["template", "oci://127.0.0.1/charts/web"]);
    assert_eq!(code, Some(1));
    assert!(text.starts_with("Error: oci://127.0.0.1/charts/web is not on this machine"), "{text}");
}
