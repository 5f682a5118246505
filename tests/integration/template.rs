//! `pintle template` prints what `helm template` prints, byte for byte.

use std::{env, fs, path::Path, process::Command};

use crate::harness::program;

/// What a program printed, and whether it went well.
fn printed(program: &Path, args: &[&str], dir: &Path) -> (bool, String, String) {
    let output = Command::new(program).args(args).current_dir(dir).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.success(), text(&output.stdout), text(&output.stderr))
}

/// Renders with both; each of `sets` is one more line of flags.
fn equal(chart: &str, dir: &Path, sets: &[&[&str]]) {
    let helm = program("helm").unwrap();
    for flags in sets {
        let args = [&["template", "rel", chart, "-n", "demo"], *flags].concat();
        let (well, expected, error) = printed(&helm, &args, dir);
        assert!(well, "helm {args:?}: {error}");
        let (well, got, error) = printed(Path::new(env!("CARGO_BIN_EXE_pintle")), &args, dir);
        assert!(well, "pintle {args:?}: {error}");
        same(&args, &expected, &got);
    }
}

/// Fails with the first line that differs.
fn same(args: &[&str], expected: &str, got: &str) {
    if expected == got {
        return;
    }
    let at = expected.lines().zip(got.lines()).take_while(|(a, b)| a == b).count();
    let line = |text: &str| text.lines().nth(at).map(str::to_owned);
    panic!("{args:?}: line {} is\n{:?}\nand should be\n{:?}", at + 1, line(got), line(expected));
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn the_chart_of_helm_create() {
    let dir = tempfile::tempdir().unwrap();
    let (well, _, error) = printed(&program("helm").unwrap(), &["create", "mychart"], dir.path());
    assert!(well, "{error}");
    equal(
        "./mychart",
        dir.path(),
        &[
            &[],
            &["--set", "ingress.enabled=true"],
            &["--set", "autoscaling.enabled=true"],
            &["--set", "httpRoute.enabled=true"],
            &["--set", "ingress.enabled=true,autoscaling.enabled=true,httpRoute.enabled=true,replicaCount=7"],
        ],
    );
}

#[test]
fn web() {
    equal(
        "charts/web",
        root(),
        &[
            &[],
            &["--set", "ingress.enabled=true,ingress.tls[0].secretName=s,ingress.tls[0].hosts={a,b}"],
            &["--set", "autoscaling.enabled=true,config.a=b,env.NAME=x y", "--set-string", "podLabels.n=1"],
            &["--show-only", "templates/deployment.yaml"],
            &["--no-hooks"],
        ],
    );
}

#[test]
fn prometheus() {
    equal(
        "charts/prometheus",
        root(),
        &[
            &[],
            &["--set", "replicas=3,version=2.55.1,storage.className=fast,externalLabels.cluster=a"],
            &["--set-json", r#"scrapeConfigs=[{"job_name":"x","static_configs":[{"targets":["a:1"]}]}]"#],
        ],
    );
}

/// Without a password the chart makes one at random, which no two renders share.
#[test]
fn ledger() {
    equal(
        "charts/ledger",
        root(),
        &[
            &["--set", "database.password=secret"],
            &["--set", "database.password=secret,cache.enabled=false,backup.enabled=false", "--is-upgrade"],
        ],
    );
}

/// The charts of this repository's own deployment.
#[test]
fn the_operators_own_chart() {
    equal(
        "deploy/chart",
        root(),
        &[
            &["--include-crds"],
            &[
                "--set",
                "watchNamespaces={a,b},selector=shard=a,priority.enabled=true,monitoring.serviceMonitor=true,monitoring.alerts=true,monitoring.dashboard=true,otlpEndpoint=http://c:4318",
            ],
        ],
    );
}

/// The plain manifests are what the chart renders; `PINTLE_UPDATE_MANIFESTS=1` writes them.
#[test]
fn the_plain_manifests_are_not_stale() {
    let args = ["template", "pintle", "deploy/chart", "-n", "pintle-system", "--include-crds"];
    let (well, rendered, error) = printed(Path::new(env!("CARGO_BIN_EXE_pintle")), &args, root());
    assert!(well, "{error}");
    let path = root().join("deploy/pintle.yaml");
    let text = fs::read_to_string(&path).unwrap();
    let comments: String =
        text.lines().take_while(|l| l.starts_with('#')).map(|l| format!("{l}\n")).collect();
    if env::var_os("PINTLE_UPDATE_MANIFESTS").is_some() {
        fs::write(&path, comments.clone() + &rendered).unwrap();
    }
    let text = fs::read_to_string(&path).unwrap();
    assert!(text == comments + &rendered, "deploy/pintle.yaml is stale; PINTLE_UPDATE_MANIFESTS=1 writes it");
}

/// Helm renders no Tera templates: this is what they should print.
#[test]
fn echo() {
    let args = ["template", "rel", "charts/echo", "-n", "demo", "--set", "headers.x-a=b"];
    let (well, got, error) = printed(Path::new(env!("CARGO_BIN_EXE_pintle")), &args, root());
    assert!(well, "{error}");
    insta::assert_snapshot!(got);
}

/// Writes files under a folder.
fn write(dir: &Path, files: &[(&str, &str)]) {
    for (name, text) in files {
        let path = dir.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

#[test]
fn what_is_noticed_on_the_way_is_said_in_helms_words() {
    let dir = tempfile::tempdir().unwrap();
    write(
        dir.path(),
        &[
            (
                "noted/Chart.yaml",
                "apiVersion: v2\nname: noted\nversion: 1.0.0\nicon: https://example.com/a.svg\ndeprecated: true\ndependencies:\n\
                 - {name: sub, version: 1.0.0, repository: 'file://sub', condition: 'sub.on,sub.off', tags: [odd], \
                 import-values: [none, {child: no.where, parent: here}]}\n",
            ),
            ("noted/charts/sub/requirements.yaml", "dependencies: []\n"),
            (
                "noted/values.yaml",
                "table: {a: 1}\nword: x y\nglobal: {table: {}, word: z}\nsub: {deep: {list: {}}}\n",
            ),
            (
                "noted/templates/a.yaml",
                "{{ if not .Values.quiet }}a: {{ required \"a \\\"name\\\"\" .Values.a }}\nb: {{ required \"b\" \"\" }}\nc: {{ fail \"c=1\" }}{{ end }}\n",
            ),
            (
                "noted/charts/sub/Chart.yaml",
                "apiVersion: v2\nname: sub\nversion: 1.0.0\nicon: https://example.com/a.svg\n",
            ),
            ("noted/charts/sub/values.yaml", "deep: {list: [1, {b: c}]}\nglobal: {table: a, word: {}}\n"),
            (
                "noted/charts/sub/templates/b.yaml",
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, annotations: {helm.sh/hook: 'crd-install, x'}}\n",
            ),
        ],
    );
    std::os::unix::fs::symlink("a.yaml", dir.path().join("noted/templates/link.yaml")).unwrap();
    let said = |program: &Path, args: &[&str]| {
        let (well, _, text) = printed(program, args, dir.path());
        // What Helm's maps lead to comes in no order; the notes are our own.
        let mut lines: Vec<_> = text.lines().filter(|line| !line.starts_with("note: ")).collect();
        let end = lines.iter().position(|line| !line.starts_with("level=")).unwrap_or(lines.len());
        lines[..end].sort_unstable();
        (well, lines.join("\n"))
    };
    let helm = program("helm").unwrap();
    let odd = ["--set", "tags.odd=x,sub.on=1,sub.deep.list.c=1,table=text,word.a=b"];
    let quiet = vec!["template", "rel", "noted", "--set", "quiet=true"];
    let commands =
        [quiet, vec!["lint", "noted"], vec!["template", "rel", "noted"], vec!["template", "No", "noted"]];
    for command in commands.into_iter().flat_map(|line| [[line.as_slice(), &odd].concat(), line]) {
        let (well, expected) = said(&helm, &command);
        let (fine, got) = said(Path::new(env!("CARGO_BIN_EXE_pintle")), &command);
        assert_eq!(well, fine, "{command:?}");
        assert!(got.starts_with(&expected), "{command:?}\n{got}\nand should be\n{expected}");
    }
    let (_, expected) = said(&helm, &["template", "rel", "noted", "--set", "sub=text"]);
    assert!(expected.contains("level=ERROR"), "{expected}");
    let (_, got) =
        said(Path::new(env!("CARGO_BIN_EXE_pintle")), &["template", "rel", "noted", "--set", "sub=text"]);
    assert_eq!(got, expected);
}
