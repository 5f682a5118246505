//! Random values that stay.

use k8s_openapi::api::core::v1::Secret;
use kube::{
    Api,
    api::{DeleteParams, ListParams},
};
use serde_json::json;

use crate::{
    harness::{Cluster, wait},
    operator::{Operator, Resources},
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
