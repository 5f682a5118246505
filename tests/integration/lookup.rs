//! `lookup`: reading the cluster, seeing it change, and not running in circles.

use k8s_openapi::api::{
    core::v1::{ConfigMap, Secret},
    rbac::v1::{Role, RoleBinding},
};
use kube::{
    Api,
    api::{DeleteParams, Patch, PatchParams, PostParams},
};
use serde_json::json;

use crate::{
    drift_rules::raw,
    harness::{Cluster, Grant, Namespace, rule, wait},
    operator::{Operator, Resources, condition, entry},
};

async fn start(prefix: &str) -> (Namespace, Operator, Resources) {
    let cluster = Cluster::shared().await.unwrap();
    let space = cluster.namespace(prefix).await.unwrap();
    let operator = Operator::start(cluster, &space, &[entry("Sample", &raw())], &[]).await.unwrap();
    let samples = Resources::new(&space, "Sample");
    (space, operator, samples)
}

fn config_map(name: &str, value: &str) -> ConfigMap {
    serde_json::from_value(
        json!({"metadata": {"name": name, "labels": {"listed": "true"}}, "data": {"key": value}}),
    )
    .unwrap()
}

fn data(want: &'static str) -> impl Fn(Option<&ConfigMap>) -> bool + Clone {
    move |m| m.and_then(|m| m.data.as_ref()).is_some_and(|d| d["found"] == want)
}

#[tokio::test]
async fn what_is_looked_up_is_watched() {
    let (space, mut operator, samples) = start("lookup-watch").await;
    let maps: Api<ConfigMap> = space.api();
    let text = r#"apiVersion: v1
kind: ConfigMap
metadata: {name: out}
data:
  found: {{ (lookup "v1" "ConfigMap" .Release.Namespace "outside").data | default (dict "key" "nothing") | dig "key" "" | quote }}
"#;
    samples.create("web", json!({"text": text})).await.unwrap();
    samples.ready(&operator, "web").await.unwrap();
    wait::object(&maps, "out", "nothing is found", data("nothing")).await.unwrap();
    maps.create(&PostParams::default(), &config_map("outside", "first")).await.unwrap();
    wait::object(&maps, "out", "it is found", data("first")).await.unwrap();
    maps.patch("outside", &PatchParams::default(), &Patch::Merge(json!({"data": {"key": "second"}})))
        .await
        .unwrap();
    wait::object(&maps, "out", "its change is seen", data("second")).await.unwrap();
    // Also after a restart.
    operator.stop().await.unwrap();
    operator.run().await.unwrap();
    maps.delete("outside", &DeleteParams::default()).await.unwrap();
    wait::object(&maps, "out", "nothing is found again", data("nothing")).await.unwrap();
    samples.ready(&operator, "web").await.unwrap();
    operator
        .until("the log tells why it was rendered", || async {
            Ok(operator.log()?.contains("/outside, which was looked up, changed").then_some(()))
        })
        .await
        .unwrap();
}

#[tokio::test]
async fn lists_are_watched() {
    let (space, operator, samples) = start("lookup-list").await;
    let maps: Api<ConfigMap> = space.api();
    let text = r#"{{- $names := list }}
{{- range (lookup "v1" "ConfigMap" .Release.Namespace "").items }}
{{- if hasKey (.metadata.labels | default dict) "listed" }}{{ $names = append $names .metadata.name }}{{ end }}
{{- end }}
apiVersion: v1
kind: ConfigMap
metadata: {name: out}
data:
  found: {{ join "," $names | quote }}
"#;
    maps.create(&PostParams::default(), &config_map("a", "x")).await.unwrap();
    samples.create("web", json!({"text": text})).await.unwrap();
    wait::object(&maps, "out", "one is listed", data("a")).await.unwrap();
    maps.create(&PostParams::default(), &config_map("b", "x")).await.unwrap();
    wait::object(&maps, "out", "both are listed", data("a,b")).await.unwrap();
    maps.delete("a", &DeleteParams::default()).await.unwrap();
    wait::object(&maps, "out", "one is listed again", data("b")).await.unwrap();
    samples.ready(&operator, "web").await.unwrap();
}

#[tokio::test]
async fn more_watches_than_a_connection_carries_hold_nothing_up() {
    let (space, operator, samples) = start("lookup-many").await;
    let maps: Api<ConfigMap> = space.api();
    // An API server takes 100 requests at once on a connection, and watches do not end.
    let text = r#"{{- $found := list }}
{{- range $i := until 130 }}
{{- if lookup "v1" "ConfigMap" $.Release.Namespace (printf "outside-%d" $i) }}{{ $found = append $found $i }}{{ end }}
{{- end }}
apiVersion: v1
kind: ConfigMap
metadata: {name: out}
data:
  found: {{ join "," $found | quote }}
"#;
    samples.create("web", json!({"text": text})).await.unwrap();
    samples.ready(&operator, "web").await.unwrap();
    for (name, found) in [("outside-0", "0"), ("outside-129", "0,129")] {
        maps.create(&PostParams::default(), &config_map(name, "x")).await.unwrap();
        wait::object(&maps, "out", "it is found", data(found)).await.unwrap();
    }
    let one = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "one"}});
    samples.create("other", json!({"objects": [one]})).await.unwrap();
    samples.ready(&operator, "other").await.unwrap();
}

#[tokio::test]
async fn a_chart_that_looks_up_what_it_makes_settles() {
    let (space, mut operator, samples) = start("lookup-own").await;
    let secrets: Api<Secret> = space.api();
    // The two ways in which charts keep a password.
    let text = r#"{{- if not (lookup "v1" "Secret" .Release.Namespace "once") }}
apiVersion: v1
kind: Secret
metadata: {name: once}
stringData: {password: {{ randAlphaNum 12 | quote }}}
{{- end }}
---
{{- $old := lookup "v1" "Secret" .Release.Namespace "again" }}
apiVersion: v1
kind: Secret
metadata: {name: again}
data: {password: {{ if $old }}{{ $old.data.password }}{{ else }}{{ randAlphaNum 12 | b64enc }}{{ end }}}
"#;
    samples.create("web", json!({"text": text})).await.unwrap();
    samples.ready(&operator, "web").await.unwrap();
    let read = || async {
        let mut all = Vec::new();
        for name in ["once", "again"] {
            let secret = secrets.get(name).await.unwrap();
            all.push((secret.metadata.uid.unwrap(), secret.data.unwrap()["password"].0.clone()));
        }
        all
    };
    let first = read().await;
    // What was made has been looked at by now, or is with the next look.
    for n in ["1", "2"] {
        samples.look_again(&operator, "web", n).await.unwrap();
        assert_eq!(read().await, first);
        operator.stop().await.unwrap();
        operator.run().await.unwrap();
    }
    samples.change("web", json!({"other": 1})).await.unwrap();
    let web = samples.ready(&operator, "web").await.unwrap();
    assert_eq!(read().await, first);
    assert_eq!(web.data["status"]["resources"]["total"], 2);
    // A deleted one comes back as it was.
    secrets.delete("once", &DeleteParams::default()).await.unwrap();
    let back = |s: Option<&Secret>| s.is_some_and(|s| s.metadata.uid.as_ref() != Some(&first[0].0));
    wait::object(&secrets, "once", "it is back", back).await.unwrap();
    assert_eq!(read().await[0].1, first[0].1);
    let applies = operator.metrics().await.unwrap().sum("pintle_applies_total", &[]);
    assert!(applies < 12.0, "{applies} applies");
}

#[tokio::test]
async fn a_chart_that_chases_its_own_tail_is_slowed() {
    let (space, operator, samples) = start("lookup-loop").await;
    // Every apply changes what the next render finds.
    let text = r#"{{- $own := lookup "v1" "ConfigMap" .Release.Namespace "out" }}
apiVersion: v1
kind: ConfigMap
metadata: {name: out}
data: {found: {{ dig "metadata" "resourceVersion" "0" $own | quote }}}
"#;
    samples.create("web", json!({"text": text})).await.unwrap();
    let note = samples.event(&operator, "web", "LookupLoop").await.unwrap();
    assert!(note.contains("ConfigMap") && note.contains("/out"), "{note}");
    let applies = operator.metrics().await.unwrap().sum("pintle_applies_total", &[]);
    assert!(applies < 20.0, "{applies} applies");
    drop(space);
}

#[tokio::test]
async fn what_may_not_be_read_is_said() {
    let cluster = Cluster::shared().await.unwrap();
    let space = cluster.namespace("lookup-rights").await.unwrap();
    let mut operator = Operator::new(cluster, &space, &[entry("Sample", &raw())], &[]).await.unwrap();
    let ours = |verbs: &[&str]| rule(&["test.pintle.dev"], &["*"], verbs);
    let rights = vec![
        ours(&["*"]),
        rule(&[""], &["configmaps"], &["*"]),
        rule(&["events.k8s.io", ""], &["events"], &["*"]),
    ];
    let user = cluster.user("lookup-least", &[Grant::In(space.name(), rights)]).await.unwrap();
    operator.act_as(user);
    operator.run().await.unwrap();
    let samples = Resources::new(&space, "Sample");
    let secrets: Api<Secret> = space.api();
    let secret = json!({"metadata": {"name": "key"}, "stringData": {"value": "hunter2"}});
    secrets.create(&PostParams::default(), &serde_json::from_value(secret).unwrap()).await.unwrap();
    let text = r#"apiVersion: v1
kind: ConfigMap
metadata: {name: out}
data: {found: {{ (lookup "v1" "Secret" .Release.Namespace "key").data.value | sha256sum | trunc 8 | quote }}}
"#;
    samples.create("web", json!({"text": text})).await.unwrap();
    let web = samples.await_condition(&operator, "web", "Ready", "False").await.unwrap();
    let ready = condition(&web, "Ready").unwrap();
    assert_eq!(ready["reason"], "LookupFailed");
    let message = ready["message"].as_str().unwrap();
    assert!(
        message.contains("may not read what the chart looks up")
            && message.contains(r#"cannot get resource "secrets""#),
        "{message}"
    );
    // The right to this one Secret is enough.
    let role = json!({"metadata": {"name": "one"}, "rules": [
        {"apiGroups": [""], "resources": ["secrets"], "resourceNames": ["key"], "verbs": ["get"]}]});
    let binding = json!({"metadata": {"name": "one"}, "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "one"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": operator.user()}]});
    let roles: Api<Role> = space.api();
    let bindings: Api<RoleBinding> = space.api();
    roles.create(&PostParams::default(), &serde_json::from_value(role).unwrap()).await.unwrap();
    bindings.create(&PostParams::default(), &serde_json::from_value(binding).unwrap()).await.unwrap();
    samples.ready(&operator, "web").await.unwrap();
    // It is said that its changes are not seen.
    let note = samples.event(&operator, "web", "LookupNotWatched").await.unwrap();
    assert!(note.contains("Secret") && note.contains("/key"), "{note}");
    let status = samples.api().get("web").await.unwrap().data["status"].to_string();
    assert!(!status.contains("hunter2") && !operator.log().unwrap().contains("hunter2"));
}
