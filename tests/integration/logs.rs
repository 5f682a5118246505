//! `pintle test --logs`, with a kubelet that answers: the simulated one has no logs.

use std::sync::Arc;

use k8s_openapi::api::core::v1::Node;
use kube::{
    Api,
    api::{ListParams, Patch, PatchParams},
};
use serde_json::json;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
};
use tokio_rustls::{
    TlsAcceptor,
    rustls::{ServerConfig, pki_types::PrivatePkcs8KeyDer},
};

use crate::{
    harness::Cluster,
    hooks::{hook, pintle_test, start},
    operator::Resources,
};

/// Serves as every node's kubelet, which has one thing to say, and gives its port.
async fn kubelet() -> u16 {
    let key = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    let der = PrivatePkcs8KeyDer::from(key.signing_key.serialize_der());
    let config = ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(vec![key.cert.der().clone()], der.into())
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                let Ok(mut stream) = acceptor.accept(stream).await else { return };
                let mut request = Vec::new();
                while !request.ends_with(b"\r\n\r\n") {
                    let Ok(byte) = stream.read_u8().await else { return };
                    request.push(byte);
                }
                let said = String::from_utf8_lossy(&request);
                let path = said.split(' ').nth(1).unwrap_or_default();
                let container =
                    path.split('?').next().and_then(|path| path.rsplit('/').next()).unwrap_or_default();
                let text = format!("all is well in {container}\n");
                let head =
                    format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", text.len());
                let _ = stream.write_all((head + &text).as_bytes()).await;
                let _ = stream.shutdown().await;
            });
        }
    });
    port
}

#[tokio::test]
async fn what_tests_have_logged_is_printed() {
    let cluster = Cluster::shared().await.unwrap();
    let space = cluster.namespace("hooks-logs").await.unwrap();
    let operator = start(cluster, &space).await;
    let samples = Resources::new(&space, "Sample");
    samples.create("web", json!({"hooks": [hook("Job", "quick", "test")]})).await.unwrap();
    samples.ready(&operator, "web").await.unwrap();
    let args = ["sample.test.pintle.dev/web", "-n", space.name(), "--logs"];
    // Nobody answers for the nodes: that is no failure of the tests.
    let (code, printed, complaint) = pintle_test(cluster, &args).await;
    assert_eq!(code, Some(0), "{complaint}");
    assert!(printed.contains("Phase:          Succeeded"), "{printed}");
    assert!(
        complaint.starts_with("the logs of web-quick-") && complaint.contains(" cannot be read: "),
        "{complaint}"
    );

    let nodes: Api<Node> = Api::all(space.client());
    let endpoint =
        Patch::Merge(json!({"status": {"daemonEndpoints": {"kubeletEndpoint": {"Port": kubelet().await}}}}));
    for node in nodes.list(&ListParams::default()).await.unwrap() {
        nodes.patch_status(&node.metadata.name.unwrap(), &PatchParams::default(), &endpoint).await.unwrap();
    }
    let (code, printed, complaint) = pintle_test(cluster, &args).await;
    assert_eq!((code, &*complaint), (Some(0), ""));
    let (_, logs) = printed.split_once("POD LOGS: web-quick-").unwrap();
    assert!(logs.ends_with("\nall is well in main\n\n"), "{printed}");
}
