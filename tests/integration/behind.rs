//! An operator whose watches are behind: what it has not heard of yet must do no harm.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api,
    api::{DeleteParams, Patch, PatchParams},
};
use serde_json::json;

use crate::{
    harness::{AuditMark, Between, Cluster, Expired, Namespace, Request, wait},
    operator::{Operator, Resources, entry, sample},
};

/// An operator that reaches the API server by a way of the test's, and what it serves.
struct Setting {
    cluster: &'static Cluster,
    _space: Namespace,
    operator: Operator,
    between: Between,
    samples: Resources,
    maps: Api<ConfigMap>,
}

impl Setting {
    async fn new(prefix: &str) -> Self {
        let cluster = Cluster::shared().await.unwrap();
        let space = cluster.namespace(prefix).await.unwrap();
        let mut operator = Operator::new(cluster, &space, &[entry("Sample", &sample())], &[]).await.unwrap();
        let between = operator.go_between().await.unwrap();
        operator.run().await.unwrap();
        let (samples, maps) = (Resources::new(&space, "Sample"), space.api());
        Setting { cluster, _space: space, operator, between, samples, maps }
    }

    /// Some resources of some maps each; and that nothing is left to be done about them.
    async fn with(prefix: &str, names: &[&str], maps: u32) -> Self {
        let setting = Self::new(prefix).await;
        for name in names {
            setting.samples.create(name, json!({"workload": false, "maps": maps})).await.unwrap();
        }
        for name in names {
            let made = setting.samples.ready(&setting.operator, name).await.unwrap();
            assert_eq!(made.metadata.finalizers, None);
        }
        setting.operator.quiet(setting.cluster).await.unwrap();
        setting
    }

    /// What the operator has asked since.
    fn asked(&self, mark: AuditMark) -> Vec<Request> {
        let requests = self.cluster.requests_since(mark).unwrap();
        requests.into_iter().filter(|r| r.user == self.operator.user()).collect()
    }

    /// What it has applied since: ConfigMaps, sorted, each as often as it was.
    fn applied(&self, mark: AuditMark) -> Vec<String> {
        let is_apply = |r: &Request| r.verb == "patch" && r.resource == "configmaps";
        let mut names: Vec<String> = self.asked(mark).into_iter().filter(is_apply).map(|r| r.name).collect();
        names.sort();
        names
    }

    /// How often each kind was listed since.
    fn lists(&self, mark: AuditMark) -> BTreeMap<String, usize> {
        let mut lists = BTreeMap::new();
        for request in self.asked(mark) {
            let is_list = request.verb == "list" || request.uri.contains("sendInitialEvents=true");
            if is_list {
                *lists.entry(request.resource).or_default() += 1;
            }
        }
        lists
    }

    async fn change(&self, map: &str, patch: serde_json::Value) {
        self.maps.patch(map, &PatchParams::default(), &Patch::Merge(patch)).await.unwrap();
    }

    /// Deletes a resource, and waits until it is gone.
    async fn delete(&self, name: &str, how: &DeleteParams) {
        let uid = self.samples.api().get(name).await.unwrap().metadata.uid.unwrap();
        self.samples.api().delete(name, how).await.unwrap();
        wait::gone(self.samples.api(), name, &uid).await.unwrap();
    }

    /// Waits until the operator knows of so many resources.
    async fn counts(&self, instances: f64) {
        self.operator
            .until("it has heard", || async {
                let known = self.operator.metrics().await?.sum("pintle_instances", &[]);
                Ok((known.total_cmp(&instances).is_eq()).then_some(()))
            })
            .await
            .unwrap();
    }
}

/// What changes while a watch shows nothing is found by one list of its kind once its version has expired, and nothing else is
/// done for it.
async fn expires(prefix: &str, how: Expired) {
    let s = Setting::with(prefix, &["web", "other"], 3).await;

    // Members: one is changed, one is deleted.
    let mark = s.cluster.audit_mark().unwrap();
    s.between.hold("configmaps");
    s.change("web-0", json!({"data": {"message": "theirs"}})).await;
    s.maps.delete("web-1", &DeleteParams::default()).await.unwrap();
    s.between.expire("configmaps", how);
    let is_hello = |map: Option<&ConfigMap>| {
        map.is_some_and(|map| map.data.as_ref().is_some_and(|data| data["message"] == "hello"))
    };
    wait::object(&s.maps, "web-0", "it is put back", is_hello).await.unwrap();
    wait::object(&s.maps, "web-1", "it is back", is_hello).await.unwrap();
    s.operator.quiet(s.cluster).await.unwrap();
    assert_eq!(s.applied(mark), ["web-0", "web-1"]);
    assert_eq!(s.lists(mark), [("configmaps".to_owned(), 1)].into());

    // Resources: one is changed, one is deleted.
    let mark = s.cluster.audit_mark().unwrap();
    s.between.hold("samples");
    s.samples.change("web", json!({"message": "bye"})).await.unwrap();
    s.delete("other", &DeleteParams::default()).await;
    s.between.expire("samples", how);
    s.samples.ready(&s.operator, "web").await.unwrap();
    s.counts(1.0).await;
    s.operator.quiet(s.cluster).await.unwrap();
    assert_eq!(s.applied(mark), ["web-0", "web-1", "web-2"]);
    assert_eq!(s.lists(mark), [("samples".to_owned(), 1)].into());
}

#[tokio::test]
async fn a_version_that_expires_in_a_watch() {
    expires("expired", Expired::Event).await;
}

#[tokio::test]
async fn a_version_that_is_refused_as_expired() {
    expires("refused", Expired::Answer).await;
}

#[tokio::test]
async fn members_of_an_orphaning_deletion_that_was_not_seen_are_left() {
    let s = Setting::with("behind-orphan", &["web"], 2).await;
    let before = s.maps.get("web-0").await.unwrap();
    let mark = s.cluster.audit_mark().unwrap();
    s.between.hold("samples");
    s.delete("web", &DeleteParams::orphan()).await;
    // Garbage collection has taken the owner from the members, and the operator sees that.
    s.operator
        .until("the operator asks for the resource", || async {
            Ok(s.asked(mark).iter().any(|r| r.verb == "get" && r.resource == "samples").then_some(()))
        })
        .await
        .unwrap();
    s.operator.quiet(s.cluster).await.unwrap();
    assert_eq!(s.applied(mark), [] as [&str; 0], "no owner is put back");
    // Nor is the resource, to note that it is to have a finalizer.
    s.change("web-0", json!({"metadata": {"annotations": {"helm.sh/resource-policy": "keep"}}})).await;
    s.operator.quiet(s.cluster).await.unwrap();
    assert!(s.samples.api().get_opt("web").await.unwrap().is_none());

    s.between.go_on("samples");
    s.counts(0.0).await;
    s.operator.quiet(s.cluster).await.unwrap();
    assert_eq!(s.applied(mark), [] as [&str; 0]);
    let after = s.maps.get("web-0").await.unwrap();
    assert_eq!(after.metadata.uid, before.metadata.uid);
    assert_eq!((after.data, after.metadata.owner_references), (before.data, None));
}

#[tokio::test]
async fn members_of_a_deletion_that_was_not_seen_are_not_made_anew() {
    let s = Setting::with("behind-gone", &["web"], 2).await;
    let mark = s.cluster.audit_mark().unwrap();
    let uid = s.maps.get("web-0").await.unwrap().metadata.uid.unwrap();
    s.between.hold("samples");
    s.delete("web", &DeleteParams::default()).await;
    wait::gone(&s.maps, "web-0", &uid).await.unwrap();
    s.operator.quiet(s.cluster).await.unwrap();
    s.between.go_on("samples");
    s.counts(0.0).await;
    s.operator.quiet(s.cluster).await.unwrap();
    assert_eq!(s.applied(mark), [] as [&str; 0]);
    assert!(s.maps.get_opt("web-0").await.unwrap().is_none());
}
