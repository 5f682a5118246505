//! How the binary is linked.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let set = |name: &str| std::env::var(name).unwrap_or_default();
    // An optimised binary has a fixed address, as the ones that Go makes have: one without needs 40,000 relocations and half a
    // megabyte of memory before it can begin.
    if set("PROFILE") == "release"
        && set("CARGO_CFG_TARGET_OS") == "linux"
        && set("CARGO_CFG_TARGET_ENV") == "gnu"
    {
        println!("cargo:rustc-link-arg-bin=pintle=-no-pie");
    }
}
