//! Connections that break, watches that expire and servers that come back, without a storm of requests.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api,
    api::{Patch, PatchParams},
};
use serde_json::json;
use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
    task::AbortHandle,
};

use crate::{
    harness::{AuditMark, Cluster, Options, Request},
    operator::{Operator, Resources, entry, sample},
};

/// A way to the API server that can be cut.
struct Way {
    address: String,
    open: Arc<Mutex<Vec<AbortHandle>>>,
}

impl Way {
    async fn to(server: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("https://{}", listener.local_addr().unwrap());
        let target = server.trim_start_matches("https://").to_owned();
        let open = Arc::<Mutex<Vec<AbortHandle>>>::default();
        let connections = open.clone();
        tokio::spawn(async move {
            while let Ok((mut near, _)) = listener.accept().await {
                let target = target.clone();
                let copy = tokio::spawn(async move {
                    if let Ok(mut far) = TcpStream::connect(target).await {
                        let _ = copy_bidirectional(&mut near, &mut far).await;
                    }
                });
                connections.lock().unwrap().push(copy.abort_handle());
            }
        });
        Way { address, open }
    }

    /// Breaks all connections. New ones are let through. Says how many there were.
    fn cut(&self) -> usize {
        let open = std::mem::take(&mut *self.open.lock().unwrap());
        open.iter().for_each(AbortHandle::abort);
        open.len()
    }
}

/// What an operator has asked since, by verb and resource.
fn asked(cluster: &Cluster, mark: AuditMark, operator: &Operator) -> Vec<Request> {
    let requests = cluster.requests_since(mark).unwrap();
    requests.into_iter().filter(|r| r.user == operator.user()).collect()
}

fn watches(requests: &[Request]) -> BTreeMap<String, usize> {
    let mut found = BTreeMap::new();
    for request in requests.iter().filter(|r| r.verb == "watch" && r.code == 200) {
        *found.entry(request.resource.clone()).or_default() += 1;
    }
    found
}

/// The operator notices a change of a member, and puts it back.
async fn puts_back(maps: &Api<ConfigMap>, operator: &Operator) {
    maps.patch("web-0", &PatchParams::default(), &Patch::Merge(json!({"data": {"message": "theirs"}})))
        .await
        .unwrap();
    operator
        .until("it is put back", || async {
            let map = maps.get("web-0").await?;
            Ok((map.data.unwrap_or_default()["message"] == "hello").then_some(()))
        })
        .await
        .unwrap();
}

#[tokio::test]
async fn watches_go_on_where_they_were_when_a_connection_breaks() {
    let cluster = Cluster::shared().await.unwrap();
    let space = cluster.namespace("cut").await.unwrap();
    let way = Way::to(&cluster.server()).await;
    let mut operator = Operator::new(cluster, &space, &[entry("Sample", &sample())], &[]).await.unwrap();
    operator.go_through(&way.address).unwrap();
    operator.run().await.unwrap();
    let samples = Resources::new(&space, "Sample");
    samples.create("web", json!({"workload": false})).await.unwrap();
    samples.ready(&operator, "web").await.unwrap();

    for _ in 0..3 {
        let mark = cluster.audit_mark().unwrap();
        assert!(way.cut() > 0);
        operator
            .until("all is watched again", || async {
                let again = watches(&asked(cluster, mark, &operator));
                Ok((again.contains_key("samples") && again.contains_key("configmaps")).then_some(()))
            })
            .await
            .unwrap();
        puts_back(&space.api(), &operator).await;
        let requests = asked(cluster, mark, &operator);
        for watch in requests.iter().filter(|r| r.verb == "watch") {
            assert!(
                watch.uri.contains("resourceVersion=") && !watch.uri.contains("resourceVersion=0&"),
                "{}",
                watch.uri
            );
            assert!(watch.uri.contains("allowWatchBookmarks=true"), "{}", watch.uri);
            assert!(!watch.uri.contains("sendInitialEvents=true"), "a list: {}", watch.uri);
        }
        assert!(!requests.iter().any(|r| r.verb == "list"));
    }
}

#[tokio::test]
async fn an_api_server_that_comes_back_is_asked_little() {
    let cluster = Cluster::start(Options { nodes: 1, ..Options::default() }).await.unwrap();
    let space = cluster.namespace("storm").await.unwrap();
    let operator = Operator::sample(&cluster, &space).await.unwrap();
    let samples = Resources::new(&space, "Sample");
    for i in 0..30 {
        let name = if i == 0 { "web".to_owned() } else { format!("web-{i}") };
        samples.create(&name, json!({"workload": false, "maps": 3})).await.unwrap();
    }
    for i in 1..30 {
        samples.ready(&operator, &format!("web-{i}")).await.unwrap();
    }
    samples.ready(&operator, "web").await.unwrap();
    operator.quiet(&cluster).await.unwrap();

    let mark = cluster.audit_mark().unwrap();
    cluster.kill_api_server().await.unwrap();
    cluster.start_api_server().await.unwrap();
    // Where the last bookmarks have expired, the kinds are listed anew: by the watches themselves.
    puts_back(&space.api(), &operator).await;
    operator.quiet(&cluster).await.unwrap();
    let requests = asked(&cluster, mark, &operator);
    let rest: Vec<String> = requests
        .iter()
        .filter(|r| r.verb != "watch" && r.resource != "events" && r.name != "web-0")
        .map(|r| format!("{} {} {}", r.verb, r.uri, r.code))
        .collect();
    // The status of the one resource that was put back, and nothing of the other 29.
    assert!(rest.len() <= 4 && rest.iter().all(|r| r.contains("/samples/web")), "{rest:#?}");
    let each = watches(&requests);
    assert!(each.values().all(|times| *times <= 4), "{each:?}");
    let refused = requests.iter().filter(|r| r.code >= 400).count();
    assert!(refused <= 20, "{requests:#?}");
}
