//! Archives, sound and hostile.

use std::cell::RefCell;
use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use pintle::chart::{self, Limits};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::json;
use tar::{Builder, EntryType, Header};

use crate::judge::{Judge, cases};
use crate::load::same;

/// A tar archive of entries whose names are not looked at.
fn tarred(entries: &[(&str, EntryType, &[u8])]) -> Vec<u8> {
    let mut archive = Builder::new(Vec::new());
    for (name, kind, data) in entries {
        let mut header = Header::new_gnu();
        header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
        header.set_entry_type(*kind);
        header.set_mode(0o644);
        let data: &[u8] = if *kind == EntryType::Regular { data } else { &[] };
        header.set_size(data.len() as u64);
        if *kind == EntryType::Symlink || *kind == EntryType::Link {
            header.set_link_name("/etc/passwd").unwrap();
        }
        header.set_cksum();
        archive.append(&header, data).unwrap();
    }
    archive.into_inner().unwrap()
}

fn gzipped(data: &[u8]) -> Vec<u8> {
    let mut out = GzEncoder::new(Vec::new(), Compression::fast());
    out.write_all(data).unwrap();
    out.finish().unwrap()
}

const CHART: &[u8] = b"name: top\nversion: 1.2.3\n";

/// Helm's loader of archives does not say more than that it cannot load it, ours does.
fn load(data: &[u8]) -> Result<chart::Chart, chart::Error> {
    chart::load_archive(data, &Limits::default())
}

#[test]
fn entries_stay_inside_of_the_chart() {
    let judge = RefCell::new(Judge::start());
    let name = prop_oneof![
        3 => prop::sample::select(vec![
            "top/Chart.yaml", "top/values.yaml", "top/templates/a.yaml", "top/charts/sub/Chart.yaml", "other/README.md", "top/", "top/x/",
        ]),
        2 => prop::sample::select(vec![
            "Chart.yaml", "top", "/top/x", "top//x", "top/../x", "../x", "top/a/../../x", "top/..x", "top/./x", "top/.", "top/..", "a\\b\\c",
            "top\\..\\x", "top/c:/x", "top/c:x", "\\x", "top/a//b", "pax_global_header",
        ]),
    ];
    let kind = prop::sample::select(vec![
        EntryType::Regular,
        EntryType::Regular,
        EntryType::Regular,
        EntryType::Symlink,
        EntryType::Link,
        EntryType::Directory,
        EntryType::XGlobalHeader,
        EntryType::Fifo,
    ]);
    let data = prop::sample::select(vec![
        &b""[..],
        CHART,
        b"\xef\xbb\xbfname: sub\nversion: 1.0.0\n",
        b"a: 1\n",
        b"\xff\xfe",
    ]);
    let entries = prop::collection::vec((name, kind, data), 0..5);
    TestRunner::new(cases(300))
        .run(&(prop::bool::weighted(0.8), entries), |(sound, mut entries)| {
            if sound {
                entries.insert(0, ("top/Chart.yaml", EntryType::Regular, CHART));
            }
            // The tar library takes a global header apart, which is no hostile chart.
            entries.retain(|(_, kind, _)| *kind != EntryType::XGlobalHeader);
            let data = gzipped(&tarred(&entries));
            let theirs = judge
                .borrow_mut()
                .ask(&json!({"op": "chart.archive", "data": data_encoding::BASE64.encode(&data)}));
            let ours = load(&data).map_err(|e| e.to_string());
            let start = "unable to load chart archive: ";
            match (ours, theirs) {
                (Err(ours), Err(theirs)) => {
                    let none = ours == "unable to detect chart version, no Chart.yaml found";
                    // Helm looks for Chart.yaml before it asks the loader of the judge, which reads values first.
                    let values = theirs.starts_with("cannot load values.yaml: ");
                    let missing = values || theirs == "Chart.yaml file is missing";
                    prop_assert!(
                        (none && missing) || ours.strip_prefix(start).unwrap_or(&ours) == theirs,
                        "{ours}\n{theirs}"
                    );
                }
                (_, theirs) => same(load(&data), theirs)?,
            }
            Ok(())
        })
        .unwrap();
}

fn refusal(data: &[u8], limits: &Limits) -> String {
    chart::load_archive(data, limits).unwrap_err().to_string()
}

#[test]
fn what_is_no_archive_is_refused() {
    let limits = Limits::default();
    let sound = gzipped(&tarred(&[("top/Chart.yaml", EntryType::Regular, CHART)]));
    assert!(load(&sound).is_ok());
    insta::assert_snapshot!(
        [
            refusal(b"", &limits),
            refusal(b"\x1f\x8b", &limits),
            refusal(b"no archive at all", &limits),
            refusal(&sound[..20], &limits),
            refusal(&gzipped(b"x".repeat(2000).as_slice()), &limits),
            refusal(&gzipped(b""), &limits),
            refusal(&gzipped(&tarred(&[("top/README.md", EntryType::Regular, b"")])), &limits),
        ]
        .join("\n")
    );
}

/// An archive of zeros packs a thousand to one.
#[test]
fn bombs_are_refused_within_the_limits() {
    let zeros = vec![0; 8 << 20];
    let limits = Limits { chart_bytes: 4 << 20, ..Limits::default() };
    let bomb = gzipped(&tarred(&[
        ("top/Chart.yaml", EntryType::Regular, CHART),
        ("top/x", EntryType::Regular, &zeros),
    ]));
    assert!(bomb.len() < 100_000);
    assert_eq!(
        refusal(&bomb, &limits),
        "unable to load chart archive: decompressed chart is larger than the maximum size 4194304"
    );

    // A header that promises more than there is takes no memory.
    let mut lie =
        tarred(&[("top/Chart.yaml", EntryType::Regular, CHART), ("top/x", EntryType::Regular, b"x")]);
    let mut header = Header::from_byte_slice(&lie[1024..1536]).clone();
    header.set_size(60 << 20);
    header.set_cksum();
    lie.splice(1024..1536, header.as_bytes().iter().copied());
    assert_eq!(refusal(&gzipped(&lie), &Limits::default()), "unable to load chart archive: unexpected EOF");

    let many: Vec<_> = (0..1_000).map(|_| ("top/x", EntryType::Regular, &b""[..])).collect();
    assert_eq!(
        refusal(&gzipped(&tarred(&many)), &Limits { entries: 500, ..Limits::default() }),
        "unable to load chart archive: chart archives have more than the maximum of 500 entries"
    );

    // Charts in charts in charts.
    let mut nested = gzipped(&tarred(&[("top/Chart.yaml", EntryType::Regular, CHART)]));
    for _ in 0..20 {
        nested = gzipped(&tarred(&[
            ("top/Chart.yaml", EntryType::Regular, CHART),
            ("top/charts/top.tgz", EntryType::Regular, &nested),
        ]));
    }
    assert!(load(&nested).is_ok());
    assert!(
        refusal(&nested, &Limits { depth: 10, ..Limits::default() })
            .ends_with("charts are nested deeper than the maximum of 10")
    );
    let total = Limits { total_bytes: 20_000, ..Limits::default() };
    assert!(
        refusal(&nested, &total).contains("larger than the maximum size"),
        "{}",
        refusal(&nested, &total)
    );
}
