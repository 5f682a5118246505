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
        // Those that run are side by side.
        if let Some(script) = layout() {
            let script = format!("-Wl,-T,{}", script.display());
            if links_with(&script) {
                println!("cargo:rustc-link-arg-bin=pintle={script}");
            }
        }
    }
}

/// The modules whose other functions come next, for those that came to run since `src/layout.txt` was written.
const NEXT: &[&str] = &["chart", "gotemplate", "manifest", "render", "value", "values", "yaml"];

/// A linker script that puts the functions of `src/layout.txt` side by side. The kernel maps 64 KiB around each place that is reached: with
/// what runs scattered over the program, that is half of it. With `PINTLE_LAYOUT=off` there is none, for callgrind, which knows no
/// function outside of the section `.text`.
fn layout() -> Option<PathBuf> {
    println!("cargo:rerun-if-changed=src/layout.txt");
    println!("cargo:rerun-if-env-changed=PINTLE_LAYOUT");
    if env::var_os("PINTLE_LAYOUT").is_some_and(|layout| layout == "off") {
        return None;
    }
    let functions = fs::read_to_string("src/layout.txt").ok()?;
    let mut script = String::from("SECTIONS {\n  .text.run : {\n");
    for name in functions.lines().filter(|line| !line.starts_with('#')) {
        // A name stands for all functions that differ in what the compiler adds to it.
        let rest = match name.get(..2) {
            Some("_Z") => "17h*",
            Some("_R") => "*",
            _ => "",
        };
        script.push_str(&format!("    *(.text.{name}{rest} .text.unlikely.{name}{rest})\n"));
    }
    for module in NEXT {
        script.push_str(&format!(
            "    *(.text._ZN6pintle{}{module}* .text._ZN*pintle..{module}*)\n",
            module.len()
        ));
    }
    script.push_str("    *(.text._ZN4tera* .text._ZN*tera..*)\n  }\n} INSERT BEFORE .text;\n");
    let path = PathBuf::from(env::var_os("OUT_DIR")?).join("layout.ld");
    fs::write(&path, script).ok()?;
    Some(path)
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
