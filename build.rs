//! How the binary is linked.

use std::{env, ffi::OsString, fs, path::PathBuf, process::Command};

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let set = |name: &str| env::var(name).unwrap_or_default();
    // An optimised binary has a fixed address, as the ones that Go makes have: one without needs 40,000 relocations and half a
    // megabyte of memory before it can begin.
    if set("PROFILE") == "release"
        && set("CARGO_CFG_TARGET_OS") == "linux"
        && set("CARGO_CFG_TARGET_ENV") == "gnu"
    {
        println!("cargo:rustc-link-arg-bin=pintle=-no-pie");
        // Functions that are alike, byte for byte, are there once: nearly all of an idle operator's memory is code.
        let fold = "-Wl,--icf=all";
        if links_with(fold) {
            println!("cargo:rustc-link-arg-bin=pintle={fold}");
        }
    }
}

/// Whether the linker knows an argument: LLD, which rustc uses on x86-64, knows more than others do.
fn links_with(argument: &str) -> bool {
    let var = |name: &str| env::var_os(name).unwrap_or_default();
    let dir = PathBuf::from(var("OUT_DIR"));
    let source = dir.join("probe.rs");
    if fs::write(&source, "fn main() {}").is_err() {
        return false;
    }
    let mut compiler = Command::new(var("RUSTC"));
    compiler.arg("--target").arg(var("TARGET")).arg("--out-dir").arg(&dir).arg(source);
    compiler.arg("-C").arg(format!("link-arg={argument}"));
    let linker = var("RUSTC_LINKER");
    if !linker.is_empty() {
        let mut option = OsString::from("linker=");
        option.push(linker);
        compiler.arg("-C").arg(option);
    }
    compiler.args(set_flags()).output().is_ok_and(|done| done.status.success())
}

/// The flags that all crates are compiled with.
fn set_flags() -> Vec<String> {
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    flags.split('\u{1f}').filter(|flag| !flag.is_empty()).map(str::to_owned).collect()
}
