//! Whose objects are whose, and what goes with a resource.

use k8s_openapi::api::{
    apps::v1::Deployment,
    core::v1::{ConfigMap, Namespace, Pod},
    rbac::v1::ClusterRole,
};
use kube::{
    Api,
    api::{DeleteParams, ListParams, PostParams},
};
use serde_json::json;

use crate::{
    drift_rules::raw,
    harness::{Cluster, wait},
    operator::{Operator, Resources, condition, entry, sample},
};

#[tokio::test]
async fn what_a_resource_owns_goes_with_it() {
    let cluster = Cluster::shared().await.unwrap();
    let space = cluster.namespace("cascade").await.unwrap();
    let operator = Operator::sample(cluster, &space).await.unwrap();
    let samples = Resources::new(&space, "Sample");
    samples.create("web", json!({"replicas": 2})).await.unwrap();
    samples.ready(&operator, "web").await.unwrap();
    let deployments: Api<Deployment> = space.api();
    let uid = deployments.get("web").await.unwrap().metadata.uid.unwrap();
    samples.api().delete("web", &DeleteParams::default()).await.unwrap();
    wait::gone(&deployments, "web", &uid).await.unwrap();
    let pods: Api<Pod> = space.api();
    operator
        .until("nothing is left", || async {
            let ours = ListParams::default().labels("applyset.kubernetes.io/part-of");
            let maps = space.api::<ConfigMap>().list(&ours).await?.items.len();
            Ok((pods.list(&ListParams::default()).await?.items.len() + maps == 0).then_some(()))
        })
        .await
        .unwrap();
    operator
        .until("nothing is watched", || async {
            Ok((operator.metrics().await?.sum("pintle_watches", &[]) < 0.5).then_some(()))
        })
        .await
        .unwrap();
}

#[tokio::test]
async fn what_garbage_collection_does_not_reach_goes_by_the_finalizer() {
    let cluster = Cluster::shared().await.unwrap();
    let space = cluster.namespace("finalizer").await.unwrap();
    let other = cluster.namespace("finalizer-other").await.unwrap();
    // Members in another namespace are seen by an operator that watches all.
    let operator = Operator::start(cluster, &space, &[entry("Sample", &sample())], &[]).await.unwrap();
    let samples = Resources::new(&space, "Sample");
    samples.create("web", json!({"workload": false})).await.unwrap();
    let web = samples.ready(&operator, "web").await.unwrap();
    assert_eq!(web.metadata.finalizers, None);

    samples
        .change("web", json!({"clusterRole": true, "otherNamespace": other.name(), "keep": true}))
        .await
        .unwrap();
    let web = samples.ready(&operator, "web").await.unwrap();
    assert_eq!(web.metadata.finalizers.unwrap(), ["pintle.dev/uninstall"]);
    assert_eq!(
        web.metadata.annotations.unwrap()["applyset.kubernetes.io/additional-namespaces"],
        other.name()
    );
    let name = format!("{}-web", space.name());
    let roles: Api<ClusterRole> = Api::all(space.client());
    assert_eq!(roles.get(&name).await.unwrap().metadata.owner_references, None);
    assert!(other.api::<ConfigMap>().get_opt(&name).await.unwrap().is_some());

    let uid = web.metadata.uid.unwrap();
    samples.api().delete("web", &DeleteParams::default()).await.unwrap();
    wait::gone(samples.api(), "web", &uid).await.unwrap();
    assert!(roles.get_opt(&name).await.unwrap().is_none());
    assert!(other.api::<ConfigMap>().get_opt(&name).await.unwrap().is_none());
    assert!(space.api::<ConfigMap>().get_opt("web-0").await.unwrap().is_none());
    let kept = space.api::<ConfigMap>().get("web-kept").await.unwrap();
    assert_eq!(kept.metadata.labels.unwrap_or_default().get("applyset.kubernetes.io/part-of"), None);
    assert!(kept.metadata.owner_references.unwrap_or_default().is_empty());
}

#[tokio::test]
async fn a_resource_deleted_while_the_operator_is_down() {
    let cluster = Cluster::shared().await.unwrap();
    let space = cluster.namespace("down").await.unwrap();
    let mut operator = Operator::sample(cluster, &space).await.unwrap();
    let samples = Resources::new(&space, "Sample");
    samples.create("web", json!({"clusterRole": true})).await.unwrap();
    let web = samples.ready(&operator, "web").await.unwrap();
    operator.stop().await.unwrap();
    samples.api().delete("web", &DeleteParams::default()).await.unwrap();
    assert!(samples.api().get_opt("web").await.unwrap().is_some(), "the finalizer holds it");
    operator.run().await.unwrap();
    wait::gone(samples.api(), "web", web.metadata.uid.as_ref().unwrap()).await.unwrap();
    let roles: Api<ClusterRole> = Api::all(space.client());
    assert!(roles.get_opt(&format!("{}-web", space.name())).await.unwrap().is_none());
    assert!(space.api::<Deployment>().get_opt("web").await.unwrap().is_none());
}

#[tokio::test]
async fn a_resource_deleted_and_made_again_at_once() {
    let cluster = Cluster::shared().await.unwrap();
    let space = cluster.namespace("again").await.unwrap();
    let operator = Operator::sample(cluster, &space).await.unwrap();
    let samples = Resources::new(&space, "Sample");
    samples.create("web", json!({"maps": 3})).await.unwrap();
    let first = samples.ready(&operator, "web").await.unwrap();
    samples.api().delete("web", &DeleteParams::default()).await.unwrap();
    let second = samples.create("web", json!({"maps": 3})).await.unwrap();
    assert_ne!(first.metadata.uid, second.metadata.uid);
    // Garbage collection may still take what the first had; it comes back.
    operator
        .until("all belongs to the second and is ready", || async {
            let maps = space.api::<ConfigMap>().list(&ListParams::default().labels("app=web")).await?.items;
            let ours = maps.iter().filter(|m| {
                let owners = m.metadata.owner_references.as_deref().unwrap_or_default();
                m.metadata.deletion_timestamp.is_none()
                    && owners.iter().all(|o| Some(&o.uid) == second.metadata.uid.as_ref())
            });
            let ready = samples.api().get("web").await?;
            let is_ready = condition(&ready, "Ready").is_some_and(|c| c["status"] == "True");
            Ok((ours.count() == 3 && is_ready).then_some(()))
        })
        .await
        .unwrap();
}

#[tokio::test]
async fn an_orphaning_deletion_leaves_everything() {
    let cluster = Cluster::shared().await.unwrap();
    let space = cluster.namespace("orphan").await.unwrap();
    let operator = Operator::sample(cluster, &space).await.unwrap();
    let samples = Resources::new(&space, "Sample");
    // By the annotation, and by `kubectl delete --cascade=orphan`.
    for (name, how) in [("web", DeleteParams::default()), ("shop", DeleteParams::orphan())] {
        samples.create(name, json!({"clusterRole": true})).await.unwrap();
        let web = samples.ready(&operator, name).await.unwrap();
        if how.propagation_policy.is_none() {
            samples.annotate(name, "pintle.dev/orphan", "true").await.unwrap();
        }
        samples.api().delete(name, &how).await.unwrap();
        wait::gone(samples.api(), name, web.metadata.uid.as_ref().unwrap()).await.unwrap();
        let deployment = space.api::<Deployment>().get(name).await.unwrap();
        assert!(deployment.metadata.owner_references.unwrap_or_default().is_empty());
        assert_eq!(deployment.metadata.deletion_timestamp, None);
        let roles: Api<ClusterRole> = Api::all(space.client());
        let role = format!("{}-{name}", space.name());
        roles.get(&role).await.unwrap();
        roles.delete(&role, &DeleteParams::default()).await.unwrap();
    }
}

/// Garbage collection takes its finalizer `orphan` off within milliseconds, and maybe nobody has seen it.
#[tokio::test]
async fn an_orphaning_deletion_while_the_operator_is_down() {
    let cluster = Cluster::shared().await.unwrap();
    let space = cluster.namespace("orphan-unseen").await.unwrap();
    let mut operator = Operator::sample(cluster, &space).await.unwrap();
    let samples = Resources::new(&space, "Sample");
    samples.create("web", json!({"clusterRole": true})).await.unwrap();
    let web = samples.ready(&operator, "web").await.unwrap();
    operator.stop().await.unwrap();
    samples.api().delete("web", &DeleteParams::orphan()).await.unwrap();
    wait::object(
        samples.api(),
        "web",
        "only our finalizer is left",
        |web: Option<&kube::api::DynamicObject>| {
            web.is_some_and(|web| {
                web.metadata.finalizers.as_deref() == Some(&["pintle.dev/uninstall".to_owned()])
            })
        },
    )
    .await
    .unwrap();
    operator.run().await.unwrap();
    wait::gone(samples.api(), "web", web.metadata.uid.as_ref().unwrap()).await.unwrap();
    let deployment = space.api::<Deployment>().get("web").await.unwrap();
    assert_eq!(deployment.metadata.deletion_timestamp, None);
    let roles: Api<ClusterRole> = Api::all(space.client());
    let role = format!("{}-web", space.name());
    roles.get(&role).await.unwrap();
    roles.delete(&role, &DeleteParams::default()).await.unwrap();
}

#[tokio::test]
async fn an_object_of_another_instance_is_never_taken() {
    let cluster = Cluster::shared().await.unwrap();
    let space = cluster.namespace("stolen").await.unwrap();
    let chart = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(chart.path().join("templates")).unwrap();
    std::fs::write(chart.path().join("Chart.yaml"), "apiVersion: v2\nname: same\nversion: 1.0.0\n").unwrap();
    std::fs::write(
        chart.path().join("templates/a.yaml"),
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: shared\ndata:\n  owner: {{ .Release.Name }}\n---\n\
         apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: '{{ .Release.Namespace }}-shared'}\n",
    )
    .unwrap();
    let operator = Operator::start(cluster, &space, &[entry("Sample", chart.path())], &[]).await.unwrap();
    let samples = Resources::new(&space, "Sample");
    samples.create("first", json!({})).await.unwrap();
    samples.ready(&operator, "first").await.unwrap();
    samples.create("second", json!({})).await.unwrap();
    let second = samples.await_condition(&operator, "second", "Ready", "False").await.unwrap();
    let message = condition(&second, "Ready").unwrap()["message"].as_str().unwrap();
    let first = format!("is a member of another instance: it belongs to Sample {}/first", space.name());
    assert_eq!(message.matches(&first).count(), 2, "{message}");
    let maps: Api<ConfigMap> = space.api();
    assert_eq!(maps.get("shared").await.unwrap().data.unwrap()["owner"], "first");
    // Once the first lets it go, the second has it.
    samples.api().delete("first", &DeleteParams::default()).await.unwrap();
    samples.ready(&operator, "second").await.unwrap();
    assert_eq!(maps.get("shared").await.unwrap().data.unwrap()["owner"], "second");
}

#[tokio::test]
async fn an_object_that_somebody_else_made_is_refused() {
    let cluster = Cluster::shared().await.unwrap();
    let space = cluster.namespace("foreign").await.unwrap();
    let operator = Operator::sample(cluster, &space).await.unwrap();
    let maps: Api<ConfigMap> = space.api();
    let theirs: ConfigMap =
        serde_json::from_value(json!({"metadata": {"name": "web-0"}, "data": {"message": "theirs"}}))
            .unwrap();
    let params = PostParams { field_manager: Some("kubectl-create".into()), ..PostParams::default() };
    maps.create(&params, &theirs).await.unwrap();
    let samples = Resources::new(&space, "Sample");
    samples.create("web", json!({"workload": false})).await.unwrap();
    let web = samples.await_condition(&operator, "web", "Ready", "False").await.unwrap();
    let ready = condition(&web, "Ready").unwrap();
    assert_eq!(ready["reason"], "NotOurs");
    assert!(ready["message"].as_str().unwrap().contains("made by kubectl-create"), "{ready}");
    assert_eq!(maps.get("web-0").await.unwrap().data.unwrap()["message"], "theirs");
    // Deleting the resource leaves what it never had.
    samples.api().delete("web", &DeleteParams::default()).await.unwrap();
    maps.delete("web-0", &DeleteParams::default()).await.unwrap();
}

#[tokio::test]
async fn an_instance_may_be_a_member_of_another() {
    let cluster = Cluster::shared().await.unwrap();
    let space = cluster.namespace("own-nested").await.unwrap();
    let entries = [entry("Sample", &raw()), entry("Other", &sample())];
    let operator = Operator::start(cluster, &space, &entries, &[]).await.unwrap();
    let (samples, others) = (Resources::new(&space, "Sample"), Resources::new(&space, "Other"));
    let inner = |message: &str| {
        json!({"objects": [{"apiVersion": "test.pintle.dev/v1", "kind": "Other", "metadata": {"name": "inner"},
            "spec": {"message": message, "workload": false, "keep": true}}]})
    };
    samples.create("outer", inner("one")).await.unwrap();
    samples.ready(&operator, "outer").await.unwrap();
    let maps: Api<ConfigMap> = space.api();
    assert_eq!(maps.get("inner-0").await.unwrap().data.unwrap()["message"], "one");
    samples.change("outer", inner("two")).await.unwrap();
    let changed =
        |m: Option<&ConfigMap>| m.and_then(|m| m.data.as_ref()).is_some_and(|d| d["message"] == "two");
    wait::object(&maps, "inner-0", "it says two", changed).await.unwrap();
    samples.ready(&operator, "outer").await.unwrap();
    let inner = others.ready(&operator, "inner").await.unwrap();
    // Neither takes anything from the other.
    assert_eq!(inner.data["status"]["release"]["revision"], 2);
    assert!(operator.metrics().await.unwrap().sum("pintle_drifts_total", &[]) < 0.1);

    let itself = json!({"apiVersion": "test.pintle.dev/v1", "kind": "Sample", "metadata": {"name": "loop"}});
    samples.create("loop", json!({"objects": [itself]})).await.unwrap();
    let looped = samples.await_condition(&operator, "loop", "Stalled", "True").await.unwrap();
    let message =
        condition(&looped, "Ready").unwrap()["message"].as_str().unwrap().replace(space.name(), "NS");
    insta::assert_snapshot!(message, @"raw/templates/all.yaml: Sample.test.pintle.dev NS/loop is the resource itself, which its own chart cannot make");
}

#[tokio::test]
async fn the_namespace_of_a_resource_outlives_it() {
    let cluster = Cluster::shared().await.unwrap();
    let space = cluster.namespace("own-home").await.unwrap();
    let mut definition = entry("Sample", &raw());
    definition["pintle"] = json!({"adoption": "Adopt"});
    let operator = Operator::start(cluster, &space, &[definition], &[]).await.unwrap();
    let samples = Resources::new(&space, "Sample");
    let home = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": space.name()}});
    let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "map"}});
    for (name, pruned) in [("deleted", false), ("pruned", true)] {
        samples.create(name, json!({"objects": [home, map]})).await.unwrap();
        let object = samples.ready(&operator, name).await.unwrap();
        if pruned {
            samples.change(name, json!({"objects": [map]})).await.unwrap();
            samples.ready(&operator, name).await.unwrap();
        }
        samples.api().delete(name, &DeleteParams::default()).await.unwrap();
        wait::gone(samples.api(), name, object.metadata.uid.as_ref().unwrap()).await.unwrap();
        let namespaces: Api<Namespace> = Api::all(space.client());
        let home = namespaces.get(space.name()).await.unwrap().metadata;
        assert_eq!(home.deletion_timestamp, None);
        assert!(!home.labels.unwrap_or_default().contains_key("applyset.kubernetes.io/part-of"));
    }
}

/// Who copies a Secret to have another copies its labels as well.
#[tokio::test]
async fn a_copy_of_a_member_is_nobodys() {
    let cluster = Cluster::shared().await.unwrap();
    let space = cluster.namespace("copies").await.unwrap();
    let operator = Operator::sample(cluster, &space).await.unwrap();
    let samples = Resources::new(&space, "Sample");
    // With a finalizer, so that the operator itself deletes the members.
    samples.create("web", json!({"workload": false, "clusterRole": true})).await.unwrap();
    let web = samples.ready(&operator, "web").await.unwrap();
    let maps: Api<ConfigMap> = space.api();
    let copy = async |name: &str| {
        let labels = maps.get("web-0").await.unwrap().metadata.labels;
        let copy = json!({"metadata": {"name": name, "labels": labels}, "data": {"theirs": "1"}});
        maps.create(&PostParams::default(), &serde_json::from_value(copy).unwrap()).await.unwrap()
    };
    let is_free = |map: Option<&ConfigMap>| {
        let labels = map.and_then(|map| map.metadata.labels.as_ref());
        map.is_some() && labels.is_none_or(|labels| !labels.contains_key("applyset.kubernetes.io/part-of"))
    };
    let first = copy("first").await;
    wait::object(&maps, "first", "it is let go", is_free).await.unwrap();
    let note = samples.event(&operator, "web", "Kept").await.unwrap();
    assert!(note.contains("first has the labels of a member, and was not applied by Pintle"), "{note}");

    samples.annotate("web", "pintle.dev/suspend", "true").await.unwrap();
    samples.await_condition(&operator, "web", "Reconciling", "False").await.unwrap();
    let second = copy("second").await;
    samples.api().delete("web", &DeleteParams::default()).await.unwrap();
    wait::gone(samples.api(), "web", web.metadata.uid.as_ref().unwrap()).await.unwrap();
    assert!(maps.get_opt("web-0").await.unwrap().is_none());
    for copy in [first, second] {
        let now = maps.get(copy.metadata.name.as_ref().unwrap()).await.unwrap();
        assert_eq!((now.metadata.uid, now.metadata.deletion_timestamp), (copy.metadata.uid, None));
    }
}
