//! Flags, mistakes and exit codes of `pintle template` and `pintle lint`, against helm's.

use std::{
    fs,
    io::Write as _,
    path::Path,
    process::{Command, Stdio},
};

use crate::harness::program;

fn write(dir: &Path, name: &str, text: &str) {
    let path = dir.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// A small chart with what flags choose from.
fn chart(dir: &Path) {
    let files = [
        (
            "c/Chart.yaml",
            "apiVersion: v2\nname: c\nversion: 1.2.3\nappVersion: 1.10\nkubeVersion: \">=1.20.0-0\"\ndependencies:\n- {name: sub, version: \"*\", condition: sub.enabled}\n",
        ),
        ("c/values.yaml", "replicas: 1\nname: x\nsub:\n  enabled: true\n"),
        (
            "c/values.schema.json",
            r#"{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","required":["name"],"properties":{"replicas":{"type":"integer","minimum":1},"name":{"type":"string"},"mode":{"enum":["a","b"]}}}"#,
        ),
        (
            "c/templates/cm.yaml",
            r#"apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}-{{ .Values.name }}
data:
  r: {{ .Values.replicas | quote }}
  v: {{ .Capabilities.KubeVersion.Version }}
  up: "{{ .Release.IsUpgrade }} {{ .Release.IsInstall }} {{ .Release.Revision }} {{ .Release.Namespace }}"
  has: "{{ .Capabilities.APIVersions.Has "my.io/v1" }}"
  values: {{ .Values | toJson | quote }}
  bad: {{ .Values.bad }}
"#,
        ),
        (
            "c/templates/many.yaml",
            "kind: Service\nmetadata: {name: b}\n---\n# only a comment\n---\nkind: Namespace\nmetadata: {name: a}\n",
        ),
        (
            "c/templates/hook.yaml",
            "kind: Job\nmetadata:\n  name: h\n  annotations: {\"helm.sh/hook\": pre-install}\n",
        ),
        (
            "c/templates/tests/t.yaml",
            "kind: Pod\nmetadata:\n  name: t\n  annotations: {\"helm.sh/hook\": test}\n",
        ),
        ("c/templates/NOTES.txt", "hello {{ .Release.Name }}\n"),
        ("c/templates/_h.tpl", "{{ define \"x\" }}{{ end }}\n"),
        ("c/crds/one.yaml", "kind: CustomResourceDefinition\nmetadata: {name: crd1}\n"),
        ("c/crds/README.md", "hi\n"),
        ("c/charts/sub/Chart.yaml", "apiVersion: v2\nname: sub\nversion: 0.1.0\n"),
        ("c/charts/sub/values.yaml", "k: v\n"),
        (
            "c/charts/sub/templates/s.yaml",
            "kind: Secret\nmetadata: {name: {{ .Values.k | default \"none\" }}}\n",
        ),
        ("c/charts/sub/crds/two.yaml", "kind: CustomResourceDefinition\nmetadata: {name: crd2}\n"),
        ("lib/Chart.yaml", "apiVersion: v2\nname: lib\nversion: 1.0.0\ntype: library\n"),
    ];
    files.iter().for_each(|(name, text)| write(dir, name, text));
    let helm = program("helm").unwrap();
    assert!(Command::new(helm).args(["package", "c"]).current_dir(dir).output().unwrap().status.success());
}

/// What a command did: exit code, standard output, standard error without log lines, and the files that it wrote.
#[derive(Debug, PartialEq)]
struct Outcome {
    code: Option<i32>,
    out: String,
    error: String,
    files: Vec<(String, String)>,
}

fn run(program: &Path, args: &[String], input: &str, dir: &Path) -> Outcome {
    let out = dir.join("out");
    let _ = fs::remove_dir_all(&out);
    let mut child = Command::new(program)
        .args(args)
        .current_dir(dir)
        .env_remove("HELM_NAMESPACE")
        .env("KUBECONFIG", dir.join("no-kubeconfig"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    // Helm logs there, which we do elsewhere; and we add notes.
    let logged = |line: &&str| {
        !(line.starts_with("level=")
            || line.starts_with("note: ")
            || line.starts_with(|c: char| c.is_ascii_digit()))
    };
    let error: Vec<_> = error.lines().filter(logged).collect();
    Outcome {
        code: output.status.code(),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        error: error.join("\n").replace("helm", "pintle"),
        files: files(&out),
    }
}

fn files(dir: &Path) -> Vec<(String, String)> {
    let Ok(entries) = fs::read_dir(dir) else { return Vec::new() };
    let mut found = Vec::new();
    for entry in entries.map(Result::unwrap) {
        if entry.path().is_dir() {
            found.extend(files(&entry.path()));
        } else {
            let text = fs::read_to_string(entry.path()).unwrap();
            found.push((entry.path().display().to_string(), text));
        }
    }
    found.sort();
    found
}

/// Runs lines of arguments with both; what Helm says on standard error must be how ours begins.
fn equal(dir: &Path, lines: &str) {
    let helm = program("helm").unwrap();
    let ours = Path::new(env!("CARGO_BIN_EXE_pintle"));
    let mut wrong = Vec::new();
    for line in lines.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (line, input) = line.split_once(" < ").unwrap_or((line, ""));
        let args: Vec<String> = words(line);
        let input = input.replace("\\n", "\n");
        let expected = run(&helm, &args, &input, dir);
        let mut got = run(ours, &args, &input, dir);
        if got.error.starts_with(&expected.error) {
            got.error.clone_from(&expected.error);
        }
        if got != expected {
            wrong.push(format!("{line}\n  helm: {expected:#?}\n  ours: {got:#?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// Splits at spaces outside of single quotes.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for c in line.chars() {
        match c {
            '\'' => quoted = !quoted,
            ' ' if !quoted => words.push(String::new()),
            c => words.last_mut().unwrap().push(c),
        }
    }
    words
}

#[test]
fn template_takes_the_flags_of_helm() {
    let dir = tempfile::tempdir().unwrap();
    chart(dir.path());
    equal(
        dir.path(),
        "template c
        template rel c
        template rel c -n ns1
        template rel c -n=ns2
        template rel c --set replicas=3,name=y
        template rel c --set replicas=0
        template rel c --set mode=c
        template rel c --set replicas=0 --skip-schema-validation
        template rel c --set sub=1
        template rel c --set sub.enabled=false
        template rel c --set sub.k=null
        template rel c --set-string replicas=3
        template rel c --set-json replicas=3.5
        template rel c --set-json '{\"replicas\": 3, \"name\": \"q\"}'
        template rel c --set-json '{\"replicas\": 3'
        template rel c --set-json a
        template rel c --set a
        template rel c --set a[0
        template rel c --set-file name=c/crds/README.md
        template rel c --set-file name=nofile
        template rel c --set-literal 'name=a,b=\\c'
        template rel c -f - < name: stdin\\nreplicas: 5\\n
        template rel c -f nofile.yaml
        template rel c -f c
        template rel c -f c/values.yaml,c/charts/sub/values.yaml
        template rel c -f c/templates/NOTES.txt
        template rel c -f c/templates/many.yaml
        template rel c --show-only templates/cm.yaml
        template rel c -s 'templates/*.yaml'
        template rel c -s templates/many.yaml -s templates/cm.yaml
        template rel c -s charts/sub/templates/s.yaml
        template rel c -s 'charts/*/templates/*.yaml'
        template rel c -s templates/no.yaml
        template rel c -s templates/NOTES.txt
        template rel c -s crds/one.yaml
        template rel c -s crds/one.yaml --include-crds
        template rel c -s templates/hook.yaml
        template rel c -s templates/hook.yaml --no-hooks
        template rel c -s 'templates/['
        template rel c --output-dir out
        template rel c --output-dir out --include-crds
        template rel c --output-dir out --release-name --include-crds
        template rel c --output-dir out --no-hooks
        template rel c --output-dir out --skip-tests
        template rel c --output-dir out -s templates/cm.yaml
        template rel c --include-crds
        template rel c --no-hooks
        template rel c --no-hooks=false --include-crds=true
        template rel c --no-hooks=maybe
        template rel c --skip-tests
        template rel c --skip-crds
        template rel c --skip-crds --include-crds
        template rel c --is-upgrade
        template rel c --api-versions my.io/v1
        template rel c -a a,my.io/v1
        template rel c --kube-version 1.22
        template rel c --kube-version v1.22.3-gke.1
        template rel c --kube-version 1.10
        template rel c --kube-version x
        template c --name-template foo
        template c --name-template '{{ \"Foo\" | lower }}-x'
        template c --name-template '{{ bad'
        template c --name-template '{{ fail \"no\" }}'
        template rel c --name-template foo
        template c --generate-name
        template rel c --generate-name
        template -n ns3 rel c -g=false
        template rel c extra
        template
        template nope
        template rel nope
        template rel repo/c
        template rel /nope
        template rel ./nope
        template Rel c
        template rel_x c
        template rel lib
        template rel c-1.2.3.tgz
        template rel c/values.yaml
        template rel c/Chart.yaml
        template rel c/templates/NOTES.txt
        template rel c --set 'bad=: : x'
        template rel c --wait --timeout 5m --create-namespace
        template rel c --wait=legacy --wait-for-jobs --rollback-on-failure
        template rel c --description x --replace --take-ownership
        template rel c --dry-run
        template rel c --dry-run=client
        template rel c --disable-openapi-validation --labels a=b --devel --version 1.x --dependency-update
        template rel c --nosuch
        template rel c -x
        template rel ./c/
        template rel c/../c",
    );
}

#[test]
fn lint_says_what_helm_lint_says() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    chart(dir);
    let make = |name: &str, more: &str| {
        write(
            dir,
            &format!("{name}/Chart.yaml"),
            &format!("apiVersion: v2\nname: {name}\nversion: 0.1.0\n{more}"),
        );
        write(dir, &format!("{name}/values.yaml"), "a: 1\n");
        fs::create_dir_all(dir.join(name).join("templates")).unwrap();
    };
    make("icon", "icon: https://x.y/z.png\n");
    make("mistakes", "versoin: 1\nmaintainers:\n- name: a\n  email: nope\n");
    write(
        dir,
        "mistakes/templates/d.yaml",
        "kind: Deployment\napiVersion: extensions/v1beta1\nmetadata: {name: X}\n---\nkind: Service\nmetadata: {name: 1a}\n",
    );
    write(dir, "mistakes/templates/bad.ext", "x");
    write(dir, "mistakes/templates/indent.yaml", "  kind: Pod\n  metadata: {name: x}\n");
    make("refusing", "appVersion: 1.0\ntype: library\n");
    write(dir, "refusing/templates/f.yaml", "{{ fail \"no\" }}{{ required \"x\" .Values.nope }}\n");
    fs::remove_file(dir.join("refusing/values.yaml")).unwrap();
    make("dependent", "dependencies:\n- name: sub\n  version: 1\n");
    write(dir, "dependent/charts/other/Chart.yaml", "name: other\nversion: 1.0.0\n");
    write(
        dir,
        "dependent/crds/a.yaml",
        "kind: X\n---\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n",
    );
    write(dir, "dependent/templates/x.yaml", "a: : b\n");
    make("failing", "");
    write(dir, "failing/templates/x.yaml", "{{ .Values.a.b.c }}\n");
    make("schema", "");
    write(dir, "schema/values.schema.json", r#"{"properties":{"a":{"type":"string"}}}"#);
    make("bare", "name: twice\n");
    fs::remove_dir(dir.join("bare/templates")).unwrap();
    write(dir, "bare/values.yaml", "- a\n");
    make("list", "");
    write(
        dir,
        "list/templates/l.yaml",
        "kind: List\nitems:\n- metadata: {annotations: {helm.sh/resource-policy: keep}, name: x}\nmetadata: {name: l}\n",
    );
    write(dir, "list/templates/m.yaml", "kind: [a]\n");
    write(dir, "broken/Chart.yaml", "a: : b\n");
    make("old", "");
    write(
        dir,
        "old/Chart.yaml",
        "apiVersion: v1\nname: old\nversion: 1\ntype: application\nsources: [x]\nicon: y\ndependencies: [{name: z, version: 1}]\n",
    );
    equal(
        dir,
        "lint c
        lint c --strict
        lint c --quiet
        lint icon
        lint icon mistakes
        lint mistakes --quiet
        lint mistakes --strict
        lint mistakes --kube-version 1.10
        lint mistakes --kube-version x
        lint refusing
        lint dependent
        lint dependent --with-subcharts
        lint c --with-subcharts
        lint failing
        lint schema
        lint schema --set a=x
        lint schema --skip-schema-validation
        lint bare
        lint list
        lint broken
        lint old
        lint nope
        lint
        lint c-1.2.3.tgz
        lint c/values.yaml
        lint c --set replicas=0
        lint c -f nofile
        lint lib
        lint c failing schema
        lint c icon --quiet",
    );
}

/// What would surprise in a cluster is said on standard error, and changes no exit code.
#[test]
fn lint_remarks_on_what_would_surprise() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "c/Chart.yaml", "apiVersion: v2\nname: c\nversion: 0.1.0\nicon: https://x.y/z.png\n");
    write(dir.path(), "c/values.yaml", "");
    write(
        dir.path(),
        "c/templates/x.yaml",
        "apiVersion: apps/v1
kind: Deployment
metadata: {name: d, namespace: other}
spec:
  replicas: 2
  selector: {matchLabels: {app: x, helm.sh/chart: c-0.1.0}}
  template:
    spec:
      containers:
      - name: a
        env: [{name: A, value: '1'}, {name: A, value: '2'}]
        ports: [{containerPort: 80}, {containerPort: 80}]
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: h}
spec: {scaleTargetRef: {kind: Deployment, name: d}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: c}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: c}
data: {p: '{{ randAlphaNum 5 }}' }
---
kind: Job
metadata: {name: j, annotations: {helm.sh/hook: crd-install}}
",
    );
    let output = Command::new(env!("CARGO_BIN_EXE_pintle"))
        .args(["lint", "c"])
        .current_dir(dir.path())
        .output()
        .unwrap();
    assert!(output.status.success());
    insta::assert_snapshot!(String::from_utf8_lossy(&output.stderr));
}
