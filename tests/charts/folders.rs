//! Folders: what is left out, what is followed, what is refused.

use std::cell::RefCell;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use pintle::chart::{self, Limits};
use serde_json::json;

use crate::judge::Judge;
use crate::load::same;

fn write(dir: &Path, name: &str, text: &[u8]) {
    let path = dir.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn minimal(dir: &Path) {
    write(dir, "Chart.yaml", b"\xef\xbb\xbfapiVersion: v2\r\nname: top\r\nversion: 1.2.3\r\n");
}

fn check(judge: &RefCell<Judge>, dir: &Path) {
    let theirs = judge.borrow_mut().ask(&json!({"op": "chart.folder", "path": dir.to_str().unwrap()}));
    same(chart::load(dir, &Limits::default()), theirs).unwrap();
}

#[test]
fn folders_are_read_as_by_helm() {
    let judge = RefCell::new(Judge::start());
    let dir = tempfile::tempdir().unwrap();
    let outside = dir.path().join("outside");
    write(&outside, "shared.yaml", b"shared: true\n");
    write(&outside, "tree/a.yaml", b"a\n");
    type Make = fn(&Path, &Path);
    let charts: &[(&str, Make)] = &[
        ("plain", |dir, _| {
            write(dir, "values.yaml", b"\xef\xbb\xbfa: 1\r\nb: |\r\n  x\r\n");
            write(dir, "templates/b.yaml", b"");
            write(dir, "templates/a/c.yaml", b"");
            write(dir, "templates/.hidden", b"");
            write(dir, ".hidden", b"");
            write(dir, "binary", b"\xff\xfe\0");
            write(dir, "charts/sub/Chart.yaml", b"name: sub\nversion: 1.0.0\n");
            write(dir, "charts/_off/Chart.yaml", b"nonsense");
            fs::create_dir_all(dir.join("charts/empty")).unwrap();
            fs::create_dir_all(dir.join("templates/empty")).unwrap();
        }),
        ("ignored", |dir, _| {
            write(
                dir,
                ".helmignore",
                b"# not these\r\n*.md\r\n/secret/\ntemplates/x?.yaml\n.git/\nchartsx\n",
            );
            write(dir, "README.md", b"");
            write(dir, "docs/x.md", b"");
            write(dir, "docs/x.txt", b"");
            write(dir, "secret/key", b"");
            write(dir, "sub/secret/key", b"");
            write(dir, "templates/x1.yaml", b"");
            write(dir, "templates/x11.yaml", b"");
            write(dir, ".git/config", b"");
        }),
        ("bad-ignore", |dir, _| write(dir, ".helmignore", b"a/**/b\n")),
        ("long-ignore", |dir, _| write(dir, ".helmignore", "x".repeat(70_000).as_bytes())),
        ("links", |dir, outside| {
            write(dir, "values.yaml", b"a: 1\n");
            fs::create_dir_all(dir.join("templates")).unwrap();
            symlink(outside.join("shared.yaml"), dir.join("templates/shared.yaml")).unwrap();
            symlink(outside.join("tree"), dir.join("tree")).unwrap();
            symlink("values.yaml", dir.join("copy.yaml")).unwrap();
            symlink("copy.yaml", dir.join("copy-of-copy.yaml")).unwrap();
        }),
        ("dangling", |dir, _| symlink("nowhere", dir.join("x")).unwrap()),
        ("loop", |dir, _| {
            symlink("b", dir.join("a")).unwrap();
            symlink("a", dir.join("b")).unwrap();
        }),
        ("nothing", |dir, _| fs::remove_file(dir.join("Chart.yaml")).unwrap()),
        ("version-3", |dir, _| write(dir, "Chart.yaml", b"apiVersion: v9\nname: x\nversion: 1.0.0\n")),
        ("folder-for-file", |dir, _| {
            fs::remove_file(dir.join("Chart.yaml")).unwrap();
            fs::create_dir(dir.join("Chart.yaml")).unwrap();
        }),
        ("bad-yaml", |dir, _| write(dir, "Chart.yaml", b"a: b: c\n")),
        ("bad-subchart", |dir, _| write(dir, "charts/sub.tgz", b"nonsense that is long enough")),
    ];
    for (name, make) in charts {
        let chart = dir.path().join(name);
        minimal(&chart);
        make(&chart, &outside);
        check(&judge, &chart);
    }
    // The folder itself may be a link.
    let link = dir.path().join("link");
    symlink(dir.path().join("plain"), &link).unwrap();
    check(&judge, &link);
}

#[test]
fn a_socket_is_no_file() {
    let judge = RefCell::new(Judge::start());
    let dir = tempfile::tempdir().unwrap();
    minimal(dir.path());
    let _socket = std::os::unix::net::UnixListener::bind(dir.path().join("socket")).unwrap();
    check(&judge, dir.path());
}

#[test]
fn links_that_never_end_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    minimal(dir.path());
    symlink(".", dir.path().join("a")).unwrap();
    symlink(".", dir.path().join("b")).unwrap();
    let error = chart::load(dir.path(), &Limits { entries: 5_000, ..Limits::default() }).unwrap_err();
    assert!(
        error.to_string().starts_with("chart has more than the maximum of 5000 files and folders")
            || error.to_string().contains("too many levels of symbolic links"),
        "{error}"
    );
}

#[test]
fn limits_hold_for_folders() {
    let dir = tempfile::tempdir().unwrap();
    minimal(dir.path());
    write(dir.path(), "big", &[0; 2000]);
    let refused = |limits: Limits| chart::load(dir.path(), &limits).unwrap_err().to_string();
    assert_eq!(
        refused(Limits { chart_bytes: 1000, ..Limits::default() }),
        "error reading big: chart exceeds maximum decompressed size of 1000 bytes"
    );
    symlink("/etc/hostname", dir.path().join("link")).unwrap();
    assert_eq!(
        refused(Limits { links_outside: false, ..Limits::default() }),
        "symbolic link link leads out of the chart"
    );
}

/// A chart is the same chart in a folder and in an archive, and another one when anything in it differs.
#[test]
fn the_digest_is_of_what_a_chart_holds() {
    let dir = tempfile::tempdir().unwrap();
    minimal(dir.path());
    write(dir.path(), "templates/a.yaml", b"a");
    write(dir.path(), "charts/sub/Chart.yaml", b"name: sub\nversion: 1.0.0\n");
    let digest = || chart::load(dir.path(), &Limits::default()).unwrap().digest;
    let first = digest();
    assert_eq!(first.len(), 64);
    write(dir.path(), "charts/sub/values.yaml", b"a: 1");
    let second = digest();
    write(dir.path(), "templates/a.yaml", b"b");
    let third = digest();
    assert!(first != second && second != third && first != third);

    let chart = chart::load(dir.path(), &Limits::default()).unwrap();
    let mut archive =
        tar::Builder::new(flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast()));
    archive.append_dir_all("whatever", dir.path()).unwrap();
    let data = archive.into_inner().unwrap().finish().unwrap();
    assert_eq!(chart::load_archive(&data[..], &Limits::default()).unwrap().digest, chart.digest);
}
