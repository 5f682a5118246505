//! Random values that stay.

use k8s_openapi::api::core::v1::Secret;
use kube::{
    Api,
    api::{DeleteParams, ListParams},
};
use serde_json::json;
use std::{collections::BTreeMap, fs, path::Path};

use crate::{
    harness::{Cluster, wait},
    operator::{Operator, Resources, entry},
};

#[tokio::test]
async fn a_password_outlives_restarts_and_upgrades() {
    let cluster = Cluster::shared().await.unwrap();
    let space = cluster.namespace("password").await.unwrap();
    let mut operator = Operator::sample(cluster, &space).await.unwrap();
    let samples = Resources::new(&space, "Sample");
    samples.create("web", json!({"password": true, "workload": false})).await.unwrap();
    let web = samples.ready(&operator, "web").await.unwrap();
    let secrets: Api<Secret> = space.api();
    let read = || async {
        let data = secrets.get("web-password").await.unwrap().data.unwrap();
        ["password", "id", "made"].map(|key| String::from_utf8(data[key].0.clone()).unwrap())
    };
    let first = read().await;
    assert_eq!(first[0].len(), 16);

    samples.annotate("web", "pintle.dev/reconcile", "1").await.unwrap();
    samples.change("web", json!({"message": "second"})).await.unwrap();
    let web2 = samples.ready(&operator, "web").await.unwrap();
    assert_eq!(web2.data["status"]["release"]["revision"], 2);
    let second = read().await;
    assert_eq!(second[..2], first[..2]);
    assert_ne!(second[2], first[2], "the clock is read once for each revision");

    operator.kill().await.unwrap();
    operator.run().await.unwrap();
    samples.change("web", json!({"message": "third"})).await.unwrap();
    samples.ready(&operator, "web").await.unwrap();
    assert_eq!(read().await[..2], first[..2]);

    // A deleted Secret comes back with the same password.
    secrets.delete("web-password", &DeleteParams::default()).await.unwrap();
    wait::object(&secrets, "web-password", "it is back", |s: Option<&Secret>| s.is_some()).await.unwrap();
    assert_eq!(read().await[..2], first[..2]);

    let kept = secrets.list(&ListParams::default().labels("pintle.dev/generated-for")).await.unwrap().items;
    assert_eq!(kept.len(), 1);
    assert_eq!(kept[0].metadata.owner_references.as_ref().unwrap()[0].uid, web.metadata.uid.unwrap());
    let log = operator.log().unwrap();
    assert!(!log.contains(&first[0]), "a password in the log");
    assert!(!serde_json::to_string(&samples.api().get("web").await.unwrap()).unwrap().contains(&first[0]));
}

/// Writes a chart in which everything that is generated is generated. `note` is what a later version of it changes.
fn write_chart(at: &Path, version: &str, note: &str) {
    fs::create_dir_all(at.join("templates")).unwrap();
    let about = format!("apiVersion: v2\nname: keys\nversion: {version}\n");
    fs::write(at.join("Chart.yaml"), about).unwrap();
    fs::write(at.join("values.yaml"), "note: none\n").unwrap();
    let secret = r#"{{- $ca := genCA "test" 365 }}
{{- $own := genSignedCert "web" nil (list "web.example.com") 365 $ca }}
{{- $self := genSelfSignedCert "self" nil nil 365 }}
apiVersion: v1
kind: Secret
metadata:
  name: {{ .Release.Name }}-keys
  annotations: {note: NOTE}
stringData:
  alpha: {{ randAlphaNum 24 | quote }}
  second: {{ randAlphaNum 24 | quote }}
  numeric: {{ randNumeric 8 | quote }}
  ascii: {{ randAscii 12 | b64enc }}
  bytes: {{ randBytes 16 | quote }}
  int: {{ randInt 0 1000000000 | quote }}
  uuid: {{ uuidv4 }}
  htpasswd: {{ htpasswd "admin" "secret" | quote }}
  bcrypt: {{ bcrypt "secret" | quote }}
  key: {{ genPrivateKey "ecdsa" | quote }}
  ca: {{ $ca.Cert | quote }}
  cert: {{ $own.Cert | quote }}
  certKey: {{ $own.Key | quote }}
  self: {{ $self.Cert | quote }}
  made: {{ now | date "2006-01-02T15:04:05.000000000" | quote }}
"#;
    fs::write(at.join("templates/secret.yaml"), secret.replace("NOTE", note)).unwrap();
    let map = format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {{{{ .Release.Name }}}}-{note}}}\ndata: {{note: {{{{ .Values.note | quote }}}}}}\n"
    );
    fs::write(at.join("templates/map.yaml"), map).unwrap();
}

#[tokio::test]
async fn everything_generated_outlives_restart_upgrade_and_chart_version() {
    let cluster = Cluster::shared().await.unwrap();
    let space = cluster.namespace("keys").await.unwrap();
    let scratch = tempfile::tempdir().unwrap();
    write_chart(scratch.path(), "1.0.0", "first");
    let mut operator =
        Operator::start(cluster, &space, &[entry("Sample", scratch.path())], &[]).await.unwrap();
    let samples = Resources::new(&space, "Sample");
    samples.create("web", json!({})).await.unwrap();
    samples.ready(&operator, "web").await.unwrap();
    let secrets: Api<Secret> = space.api();
    let read = || async {
        let data = secrets.get("web-keys").await.unwrap().data.unwrap();
        data.into_iter().map(|(k, v)| (k, v.0)).collect::<BTreeMap<_, _>>()
    };
    let first = read().await;
    assert_ne!(first["alpha"], first["second"], "equal calls have values of their own");
    assert!(String::from_utf8_lossy(&first["cert"]).starts_with("-----BEGIN CERTIFICATE-----"));

    // The same revision has the same clock too: nothing is written.
    operator.kill().await.unwrap();
    operator.run().await.unwrap();
    samples.look_again(&operator, "web", "1").await.unwrap();
    assert_eq!(read().await, first);

    let same_but_for_the_clock = |other: &BTreeMap<String, Vec<u8>>| {
        for (name, value) in &first {
            assert_eq!(name != "made", other[name] == *value, "{name}");
        }
    };
    samples.change("web", json!({"note": "an upgrade"})).await.unwrap();
    let web = samples.ready(&operator, "web").await.unwrap();
    assert_eq!(web.data["status"]["release"]["revision"], 2);
    same_but_for_the_clock(&read().await);

    // Another version of the chart, with another template beside.
    operator.stop().await.unwrap();
    write_chart(scratch.path(), "2.0.0", "second");
    operator.run().await.unwrap();
    let upgraded = |s: Option<&Secret>| {
        s.and_then(|s| s.metadata.annotations.as_ref()).is_some_and(|a| a["note"] == "second")
    };
    wait::object(&secrets, "web-keys", "it is of the new chart", upgraded).await.unwrap();
    same_but_for_the_clock(&read().await);
    let web = operator
        .until("the status is of the new chart", || async {
            let web = samples.api().get("web").await?;
            Ok((web.data["status"]["release"]["chart"]["version"] == "2.0.0").then_some(web))
        })
        .await
        .unwrap();
    assert_eq!(web.data["status"]["release"]["revision"], 3);
    let shown = serde_json::to_string(&web).unwrap() + &operator.log().unwrap();
    for name in ["alpha", "numeric", "uuid", "htpasswd"] {
        assert!(!shown.contains(&*String::from_utf8_lossy(&first[name])), "{name} is shown");
    }
}
