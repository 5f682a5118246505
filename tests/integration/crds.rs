//! CRDs that come with a chart, and resources of their kinds in the same chart.

use std::fs;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{
    Api,
    api::{ApiResource, DeleteParams, DynamicObject, Patch, PatchParams, PostParams},
};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    harness::{Cluster, wait},
    operator::{Operator, Resources, condition, entry, install_crd, set_of},
};

const GROUP: &str = "crds.pintle.dev";

fn crd(kind: &str, about: &str) -> Value {
    let singular = kind.to_lowercase();
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{singular}s.{GROUP}")},
        "spec": {
            "group": GROUP, "scope": "Namespaced",
            "names": {"kind": kind, "plural": format!("{singular}s"), "singular": singular},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
                "type": "object", "description": about, "x-kubernetes-preserve-unknown-fields": true}}}],
        },
    })
}

fn title(singular: &str) -> String {
    let mut chars = singular.chars();
    chars.next().map(|c| c.to_uppercase().to_string() + chars.as_str()).unwrap_or_default()
}

/// A chart with a kind, whose CRD is in `folder` (`crds` or `templates`), and a resource of it.
pub fn chart(singular: &str, folder: &str) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    let kind = title(singular);
    let write = |path: &str, text: &str| {
        let path = dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write("Chart.yaml", "apiVersion: v2\nname: kinds\nversion: 1.0.0\n");
    write(&format!("{folder}/crd.yaml"), &serde_yaml::to_string(&crd(&kind, "of the chart")).unwrap());
    write(
        "templates/resource.yaml",
        &format!(
            "apiVersion: {GROUP}/v1\nkind: {kind}\nmetadata:\n  name: {{{{ .Release.Name }}}}\nspec:\n  served: {{{{ .Capabilities.APIVersions.Has \"{GROUP}/v1/{kind}\" }}}}\n  revision: {{{{ .Release.Revision }}}}\n"
        ),
    );
    dir
}

fn resource(singular: &str) -> ApiResource {
    ApiResource {
        group: GROUP.into(),
        version: "v1".into(),
        api_version: format!("{GROUP}/v1"),
        kind: title(singular),
        plural: format!("{singular}s"),
    }
}

#[tokio::test]
async fn those_of_crds_come_first() {
    let cluster = Cluster::shared().await.unwrap();
    let space = cluster.namespace("crds-first").await.unwrap();
    let chart = chart("first", "crds");
    let operator = Operator::start(cluster, &space, &[entry("Sample", chart.path())], &[]).await.unwrap();
    let samples = Resources::new(&space, "Sample");
    samples.create("web", json!({})).await.unwrap();
    let web = samples.ready(&operator, "web").await.unwrap();
    assert_eq!(
        web.data["status"]["release"]["revision"], 1,
        "what the cluster serves was known before the render"
    );
    let firsts: Api<DynamicObject> = space.dynamic(&resource("first"));
    assert_eq!(firsts.get("web").await.unwrap().data["spec"], json!({"served": true, "revision": 1}));
    let crds: Api<CustomResourceDefinition> = Api::all(space.client());
    let crd = crds.get("firsts.crds.pintle.dev").await.unwrap();
    assert!(!crd.metadata.labels.unwrap_or_default().contains_key("applyset.kubernetes.io/part-of"));
    // It is nobody's, and outlives everybody.
    samples.api().delete("web", &DeleteParams::default()).await.unwrap();
    wait::gone(samples.api(), "web", &web.metadata.uid.unwrap()).await.unwrap();
    assert_eq!(crds.get("firsts.crds.pintle.dev").await.unwrap().metadata.deletion_timestamp, None);
}

#[tokio::test]
async fn a_kind_made_by_a_template_is_used_once_it_is_served() {
    let cluster = Cluster::shared().await.unwrap();
    let space = cluster.namespace("crds-template").await.unwrap();
    let chart = chart("later", "templates");
    let operator = Operator::start(cluster, &space, &[entry("Sample", chart.path())], &[]).await.unwrap();
    let samples = Resources::new(&space, "Sample");
    samples.create("web", json!({})).await.unwrap();
    let web = samples.ready(&operator, "web").await.unwrap();
    assert_eq!(web.data["status"]["resources"]["total"], 2);
    let laters: Api<DynamicObject> = space.dynamic(&resource("later"));
    assert!(laters.get_opt("web").await.unwrap().is_some());
    // A member as any other: it goes with the release.
    samples.api().delete("web", &DeleteParams::default()).await.unwrap();
    wait::gone(samples.api(), "web", &web.metadata.uid.unwrap()).await.unwrap();
    let crds: Api<CustomResourceDefinition> = Api::all(space.client());
    assert!(crds.get_opt("laters.crds.pintle.dev").await.unwrap().is_none());
}

#[tokio::test]
async fn somebody_elses_kind_is_waited_for_without_asking() {
    let cluster = Cluster::shared().await.unwrap();
    let space = cluster.namespace("crds-wait").await.unwrap();
    let chart = chart("other", "crds");
    let mut entry = entry("Sample", chart.path());
    entry["pintle"] = json!({"crds": "Skip"});
    let operator = Operator::start(cluster, &space, &[entry], &[]).await.unwrap();
    let samples = Resources::new(&space, "Sample");
    samples.create("web", json!({})).await.unwrap();
    let web = samples.await_condition(&operator, "web", "Reconciling", "True").await.unwrap();
    let message = condition(&web, "Ready").unwrap()["message"].as_str().unwrap();
    assert!(message.contains("the cluster does not serve crds.pintle.dev/v1, Kind=Other"), "{message}");
    let crds: Api<CustomResourceDefinition> = Api::all(space.client());
    assert!(crds.get_opt("others.crds.pintle.dev").await.unwrap().is_none(), "Skip");
    crds.create(&PostParams::default(), &serde_json::from_value(crd("Other", "of somebody")).unwrap())
        .await
        .unwrap();
    samples.ready(&operator, "web").await.unwrap();
    crds.delete("others.crds.pintle.dev", &DeleteParams::default()).await.unwrap();
}

#[tokio::test]
async fn what_is_there_is_left_or_replaced() {
    let cluster = Cluster::shared().await.unwrap();
    let space = cluster.namespace("crds-policy").await.unwrap();
    let chart = chart("policy", "crds");
    let crds: Api<CustomResourceDefinition> = Api::all(space.client());
    let about = async || {
        let crd = crds.get("policys.crds.pintle.dev").await.unwrap();
        let schema = crd.spec.versions[0].schema.clone().and_then(|s| s.open_api_v3_schema);
        schema.and_then(|s| s.description).unwrap_or_default()
    };
    let old = serde_json::from_value(crd("Policy", "of somebody")).unwrap();
    crds.create(&PostParams::default(), &old).await.unwrap();
    for (policy, expected) in [("Create", "of somebody"), ("CreateReplace", "of the chart")] {
        let mut entry = entry("Sample", chart.path());
        entry["pintle"] = json!({"crds": policy});
        let mut operator = Operator::start(cluster, &space, &[entry], &[]).await.unwrap();
        let samples = Resources::new(&space, "Sample");
        let name = policy.to_lowercase();
        samples.create(&name, json!({})).await.unwrap();
        samples.ready(&operator, &name).await.unwrap();
        assert_eq!(about().await, expected, "{policy}");
        operator.stop().await.unwrap();
    }
}

#[tokio::test]
async fn a_crd_that_is_never_established_says_why() {
    let cluster = Cluster::shared().await.unwrap();
    let space = cluster.namespace("crds-never").await.unwrap();
    let crds: Api<CustomResourceDefinition> = Api::all(space.client());
    // The same kind in the same group, under another plural.
    let mut taken = crd("Never", "of somebody");
    taken["metadata"]["name"] = "nevermore.crds.pintle.dev".into();
    taken["spec"]["names"] = json!({"kind": "Never", "plural": "nevermore", "singular": "nevermore"});
    crds.create(&PostParams::default(), &serde_json::from_value(taken).unwrap()).await.unwrap();
    wait::object(
        &crds,
        "nevermore.crds.pintle.dev",
        "it is served",
        kube::runtime::wait::conditions::is_crd_established(),
    )
    .await
    .unwrap();
    let mut chart_crd = crd("Never", "of the chart");
    chart_crd["spec"]["versions"][0]["name"] = "v2".into();
    let chart = chart("never", "crds");
    fs::write(chart.path().join("crds/crd.yaml"), serde_yaml::to_string(&chart_crd).unwrap()).unwrap();
    let operator = Operator::start(cluster, &space, &[entry("Sample", chart.path())], &[]).await.unwrap();
    let samples = Resources::new(&space, "Sample");
    samples.create("web", json!({})).await.unwrap();
    operator
        .until("the status says why", || async {
            let web = samples.api().get("web").await?;
            let message = condition(&web, "Ready").map(|c| c["message"].to_string()).unwrap_or_default();
            Ok((message.contains("nevers.crds.pintle.dev is not established")
                && message.contains("already in use"))
            .then_some(()))
        })
        .await
        .unwrap();
    for name in ["nevers.crds.pintle.dev", "nevermore.crds.pintle.dev"] {
        crds.delete(name, &DeleteParams::default()).await.unwrap();
    }
}

#[tokio::test]
async fn a_kind_that_somebody_deletes_comes_back() {
    let cluster = Cluster::shared().await.unwrap();
    let space = cluster.namespace("crds-gone").await.unwrap();
    let charts = [chart("lost", "crds"), chart("mislaid", "templates")];
    let entries = [entry("Sample", charts[0].path()), entry("Other", charts[1].path())];
    let operator = Operator::start(cluster, &space, &entries, &[]).await.unwrap();
    let crds: Api<CustomResourceDefinition> = Api::all(space.client());
    for (kind, singular) in [("Sample", "lost"), ("Other", "mislaid")] {
        let instances = Resources::new(&space, kind);
        instances.create("web", json!({})).await.unwrap();
        instances.ready(&operator, "web").await.unwrap();
        let name = format!("{singular}s.{GROUP}");
        let first = crds.delete(&name, &DeleteParams::default()).await.unwrap().left().unwrap().metadata.uid;
        let anew = |crd: Option<&CustomResourceDefinition>| crd.is_some_and(|crd| crd.metadata.uid != first);
        wait::object(&crds, &name, "it is another", anew).await.unwrap();
        let objects: Api<DynamicObject> = space.dynamic(&resource(singular));
        operator
            .until("its resource is there again", || async {
                Ok(objects.get_opt("web").await.unwrap_or(None).map(|_| ()))
            })
            .await
            .unwrap();
        let web = instances.ready(&operator, "web").await.unwrap();
        // The kind of the template goes with the resource; the next one has to make it again.
        let end = async |web: DynamicObject| {
            instances.api().delete("web", &DeleteParams::default()).await.unwrap();
            wait::gone(instances.api(), "web", &web.metadata.uid.unwrap()).await.unwrap();
        };
        end(web).await;
        instances.create("web", json!({})).await.unwrap();
        end(instances.ready(&operator, "web").await.unwrap()).await;
    }
}

/// A chart with the CRD of the very kind that it is for.
#[tokio::test]
async fn the_kind_of_the_resource_itself_is_left_as_it_is() {
    let cluster = Cluster::shared().await.unwrap();
    let space = cluster.namespace("crds-own").await.unwrap();
    let client = space.client();
    let crds: Api<CustomResourceDefinition> = Api::all(client.clone());
    let own = |about: &str| {
        let mut crd = crd("Own", about);
        crd["spec"]["versions"][0]["subresources"] = json!({"status": {}});
        crd
    };
    install_crd(&client, &own("of somebody")).await.unwrap();
    let name = "owns.crds.pintle.dev";
    let before = crds.get(name).await.unwrap();
    let chart = chart("own", "templates");
    let write = |path: &str, text: &str| fs::write(chart.path().join(path), text).unwrap();
    write("templates/crd.yaml", &serde_yaml::to_string(&own("of the chart")).unwrap());
    let mut hook = own("of the hook");
    hook["metadata"]["annotations"] = json!({"helm.sh/hook": "pre-install,pre-upgrade,pre-delete"});
    write("templates/hook.yaml", &serde_yaml::to_string(&hook).unwrap());
    write(
        "templates/resource.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: \"{{ .Release.Name }}\"}\n",
    );
    let definition = json!({"group": GROUP, "version": "v1", "kind": "Own", "chart": chart.path()});
    let mut operator =
        Operator::start(cluster, &space, std::slice::from_ref(&definition), &[]).await.unwrap();
    let owns = Resources::of(&space, resource("own"));
    for name in ["web", "other"] {
        owns.create(name, json!({})).await.unwrap();
        let own = owns.ready(&operator, name).await.unwrap();
        assert_eq!(own.data["status"]["resources"]["total"], 1, "the ConfigMap");
    }
    let note = owns.event(&operator, "web", "ManifestMended").await.unwrap();
    assert_eq!(
        note,
        format!(
            "CustomResourceDefinition {name}: left as it is, since it defines the kind of this resource and must outlive it"
        )
    );
    operator.quiet(cluster).await.unwrap();

    // Even one that was a member before goes with none.
    let web = owns.api().get("web").await.unwrap();
    let labels = json!({"applyset.kubernetes.io/part-of": set_of(&web), "pintle.dev/definition": "own.crds.pintle.dev"});
    let labels = Patch::Merge(json!({"metadata": {"labels": labels}}));
    crds.patch(name, &PatchParams::default(), &labels).await.unwrap();
    let kinds = "ConfigMap,CustomResourceDefinition.apiextensions.k8s.io";
    owns.annotate("web", "applyset.kubernetes.io/contains-group-kinds", kinds).await.unwrap();
    let is_free = |crd: Option<&CustomResourceDefinition>| {
        let labels = crd.and_then(|crd| crd.metadata.labels.as_ref());
        crd.is_some() && labels.is_none_or(|labels| !labels.contains_key("applyset.kubernetes.io/part-of"))
    };
    wait::object(&crds, name, "it is let go", is_free).await.unwrap();
    let member = json!({"metadata": {"finalizers": ["pintle.dev/uninstall"], "annotations": {
        "pintle.dev/suspend": "true", "applyset.kubernetes.io/contains-group-kinds": kinds}}});
    owns.api().patch("web", &PatchParams::default(), &Patch::Merge(member)).await.unwrap();
    crds.patch(name, &PatchParams::default(), &labels).await.unwrap();

    let delete = async |name: &str| {
        let own = owns.api().get(name).await.unwrap();
        owns.api().delete(name, &DeleteParams::default()).await.unwrap();
        wait::gone(owns.api(), name, &own.metadata.uid.unwrap()).await.unwrap();
    };
    delete("web").await;
    owns.ready(&operator, "other").await.unwrap();
    let after = crds.get(name).await.unwrap();
    assert_eq!((&after.metadata.uid, &after.spec), (&before.metadata.uid, &before.spec));
    assert_eq!(after.metadata.deletion_timestamp, None);

    // In crds/ it is the policy's.
    operator.stop().await.unwrap();
    fs::create_dir(chart.path().join("crds")).unwrap();
    fs::rename(chart.path().join("templates/crd.yaml"), chart.path().join("crds/crd.yaml")).unwrap();
    let mut definition = definition;
    definition["pintle"] = json!({"crds": "CreateReplace"});
    let operator = Operator::start(cluster, &space, &[definition], &[]).await.unwrap();
    owns.create("third", json!({})).await.unwrap();
    owns.ready(&operator, "third").await.unwrap();
    let crd = crds.get(name).await.unwrap();
    let schema = crd.spec.versions[0].schema.clone().and_then(|s| s.open_api_v3_schema).unwrap();
    assert_eq!(
        (crd.metadata.uid, schema.description.as_deref()),
        (before.metadata.uid, Some("of the chart"))
    );
    delete("third").await;
    delete("other").await;
    assert_eq!(crds.get(name).await.unwrap().metadata.deletion_timestamp, None);
    crds.delete(name, &DeleteParams::default()).await.unwrap();
}
