//! Traces, as a collector gets them.

use std::sync::{Arc, Mutex};

use axum::{Router, body::Bytes, http::HeaderMap, routing::post};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::{
    harness::Cluster,
    operator::{Operator, Resources, entry, sample},
};

/// What came to a collector of this process.
#[derive(Clone, Default)]
struct Collected(Arc<Mutex<Vec<Value>>>);

impl Collected {
    /// Serves a collector, and gives its address.
    async fn serve(&self) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let spans = self.0.clone();
        let take = move |headers: HeaderMap, body: Bytes| async move {
            assert_eq!(headers["content-type"], "application/json");
            let body: Value = serde_json::from_slice(&body).unwrap();
            for resource in body["resourceSpans"].as_array().unwrap() {
                for scope in resource["scopeSpans"].as_array().unwrap() {
                    spans.lock().unwrap().extend(scope["spans"].as_array().unwrap().iter().cloned());
                }
            }
            "{}"
        };
        let app = Router::new().route("/v1/traces", post(take));
        tokio::spawn(async move { axum::serve(listener, app).await });
        address
    }

    fn spans(&self) -> Vec<Value> {
        self.0.lock().unwrap().clone()
    }
}

fn attribute<'a>(span: &'a Value, key: &str) -> &'a Value {
    let attributes = span["attributes"].as_array().unwrap();
    attributes.iter().find(|a| a["key"] == key).map_or(&Value::Null, |a| &a["value"])
}

#[tokio::test]
async fn a_reconcile_is_a_trace_of_its_steps() {
    let cluster = Cluster::shared().await.unwrap();
    let space = cluster.namespace("traces").await.unwrap();
    let collected = Collected::default();
    let endpoint = collected.serve().await;
    let mut operator =
        Operator::start(cluster, &space, &[entry("Sample", &sample())], &["--otlp-endpoint", &endpoint])
            .await
            .unwrap();
    let samples = Resources::new(&space, "Sample");
    samples.create("web", json!({"workload": false})).await.unwrap();
    samples.ready(&operator, "web").await.unwrap();
    samples.change("web", json!({"fail": "no such luck"})).await.unwrap();
    samples.await_condition(&operator, "web", "Ready", "False").await.unwrap();
    // What is sent last is sent at the end.
    operator.stop().await.unwrap();

    let spans = collected.spans();
    let roots: Vec<&Value> = spans.iter().filter(|s| s["name"] == "reconcile").collect();
    let root = roots.iter().find(|s| attribute(s, "trigger")["stringValue"] == "first seen").unwrap();
    assert_eq!(attribute(root, "kind")["stringValue"], "Sample.test.pintle.dev");
    assert_eq!(attribute(root, "name")["stringValue"], "web");
    assert_eq!(attribute(root, "result")["stringValue"], "applied");
    assert!(root["parentSpanId"].is_null());
    let children = |of: &Value| -> Vec<&Value> {
        spans.iter().filter(|s| s["parentSpanId"] == of["spanId"] && s["traceId"] == of["traceId"]).collect()
    };
    let child = |of: &Value, name: &str| -> Value {
        let found = children(of).into_iter().find(|s| s["name"] == name);
        found.unwrap_or_else(|| panic!("no {name} in {:#?}", children(of))).clone()
    };
    for step in ["render", "watch", "plan", "claim", "report"] {
        child(root, step);
    }
    let applied = child(&child(root, "apply"), "apply object");
    assert_eq!(attribute(&applied, "object")["stringValue"], format!("ConfigMap {}/web-0", space.name()));
    let request = child(&applied, "request");
    assert_eq!(
        (&request["kind"], &attribute(&request, "http.request.method")["stringValue"]),
        (&json!(3), &json!("PATCH"))
    );
    assert_eq!(attribute(&request, "http.response.status_code")["intValue"], "201");

    let failed = roots.iter().find(|s| attribute(s, "trigger")["stringValue"] == "spec changed").unwrap();
    assert_eq!(failed["status"]["code"], 2);
    assert!(failed["status"]["message"].as_str().unwrap().contains("no such luck"));
}
