//! The CRDs in crds/ are those that `pintle crd` makes of the charts in charts/.
#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use std::{env, fs, path::Path, process::Command};

/// Folder of the chart, the kind that it becomes, and its plural.
const KINDS: &[[&str; 3]] = &[
    ["web", "Web", "webs"],
    ["prometheus", "Prometheus", "prometheuses"],
    ["ledger", "Ledger", "ledgers"],
    ["echo", "Echo", "echoes"],
];
/// The group of all of them.
const GROUP: &str = "charts.pintle.dev";
/// Set to write them.
const UPDATE: &str = "PINTLE_UPDATE_CRDS";

#[test]
fn crds_are_not_stale() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut stale = Vec::new();
    for [chart, kind, plural] in KINDS {
        let output = Command::new(env!("CARGO_BIN_EXE_pintle"))
            .args(["crd", &format!("charts/{chart}"), "--group", GROUP, "--kind", kind, "--plural", plural])
            .current_dir(root)
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let path = root.join(format!("crds/{chart}.yaml"));
        if env::var_os(UPDATE).is_some() {
            fs::create_dir_all(root.join("crds")).unwrap();
            fs::write(&path, &output.stdout).unwrap();
        }
        if fs::read(&path).unwrap_or_default() != output.stdout {
            stale.push(format!("crds/{chart}.yaml"));
        }
    }
    assert!(stale.is_empty(), "stale: {}; {UPDATE}=1 cargo test --test crds writes them", stale.join(", "));
}
