//! A way to the API server on which a test decides what watches show, and when.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use anyhow::Result;
use axum::{
    Router,
    body::{Body, Bytes},
    extract::{Request, State},
    http::{StatusCode, header},
    response::{IntoResponse as _, Response},
};
use futures::{Stream, StreamExt as _, stream};
use kube::Client;
use serde_json::{Value, json};
use tokio::{net::TcpListener, sync::watch};

use super::Credentials;

/// How an API server says that it has forgotten the version from which a watch is to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expired {
    /// In the watch itself, as kube-apiserver does.
    Event,
    /// As the answer to the request, as API servers behind it may.
    Answer,
}

/// What the watches of a resource are to do.
#[derive(Debug, Clone, Default)]
struct Gate {
    /// They show nothing.
    held: bool,
    /// So often those that were open have ended, and how the last time.
    ended: (u32, Option<Expired>),
    /// The next one that wants to go on is refused.
    refused: bool,
}

/// A way for one user, over HTTP without TLS.
pub struct Between {
    address: String,
    gates: Arc<Gates>,
}

#[derive(Default)]
struct Gates(Mutex<HashMap<String, watch::Sender<Gate>>>);

impl Gates {
    fn of(&self, resource: &str) -> watch::Sender<Gate> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.entry(resource.to_owned()).or_insert_with(|| watch::channel(Gate::default()).0).clone()
    }
}

impl Between {
    /// A way for whoever has these credentials.
    pub async fn of(credentials: &Credentials) -> Result<Self> {
        let client = credentials.client().await?;
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = format!("http://{}", listener.local_addr()?);
        let gates = Arc::<Gates>::default();
        let router = Router::new().fallback(pass).with_state((client, gates.clone()));
        tokio::spawn(async move { axum::serve(listener, router).await });
        Ok(Between { address, gates })
    }

    /// Where it listens.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Lets watches of a resource (a plural) show nothing from now on.
    pub fn hold(&self, resource: &str) {
        self.gates.of(resource).send_modify(|gate| gate.held = true);
    }

    /// Lets watches of a resource show what there is to see.
    pub fn go_on(&self, resource: &str) {
        self.gates.of(resource).send_modify(|gate| gate.held = false);
    }

    /// Ends the watches of a resource, and says once that the version to go on from has expired. What was held back is never
    /// shown.
    pub fn expire(&self, resource: &str, how: Expired) {
        self.gates.of(resource).send_modify(|gate| {
            gate.held = false;
            gate.ended = (gate.ended.0 + 1, Some(how));
            gate.refused = how == Expired::Answer;
        });
    }
}

/// What is said of a version that is forgotten.
fn gone() -> Value {
    json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "code": 410, "reason": "Expired",
        "message": "too old resource version: 1 (2)",
    })
}

/// Hands a request on, and its answer back.
async fn pass(State((client, gates)): State<(Client, Arc<Gates>)>, request: Request) -> Response {
    let path = request.uri().path().to_owned();
    let query = request.uri().query().unwrap_or_default().to_owned();
    let gate = query.contains("watch=true").then(|| gates.of(path.rsplit('/').next().unwrap_or_default()));
    if let Some(gate) = &gate
        && !query.contains("sendInitialEvents=true")
        && gate.send_if_modified(|gate| std::mem::take(&mut gate.refused))
    {
        return (StatusCode::GONE, [(header::CONTENT_TYPE, "application/json")], gone().to_string())
            .into_response();
    }
    // Before the request is: what ends in between ends this one.
    let gate = gate.map(|gate| gate.subscribe());
    match hand_on(&client, request).await {
        Ok(answer) => match gate {
            None => answer,
            Some(gate) => answer.map(|body| Body::from_stream(guarded(body.into_data_stream(), gate))),
        },
        Err(error) => (StatusCode::BAD_GATEWAY, format!("{error:#}")).into_response(),
    }
}

async fn hand_on(client: &Client, request: Request) -> Result<Response> {
    let (mut parts, body) = request.into_parts();
    parts.headers.remove(header::HOST);
    let body = axum::body::to_bytes(body, usize::MAX).await?;
    let request = http::Request::from_parts(parts, kube::client::Body::from(body));
    let mut answer = client.send(request).await?.map(Body::new);
    for hop in [header::CONNECTION, header::TRANSFER_ENCODING] {
        answer.headers_mut().remove(hop);
    }
    Ok(answer)
}

/// The lines of a watch, as its gate lets them pass.
fn guarded(
    lines: impl Stream<Item = Result<Bytes, axum::Error>> + Send + Unpin + 'static,
    gate: watch::Receiver<Gate>,
) -> impl Stream<Item = Result<Bytes, axum::Error>> + Send {
    let began = gate.borrow().ended.0;
    // It can be ended between two lines only.
    let state = Some((lines, gate, true));
    stream::unfold(state, move |state| async move {
        let (mut lines, mut gate, mut whole) = state?;
        loop {
            let now = gate.borrow_and_update().clone();
            if whole && now.ended.0 != began {
                let line = format!("{}\n", json!({ "type": "ERROR", "object": gone() }));
                return match now.ended.1 {
                    Some(Expired::Event) => Some((Ok(line.into()), None)),
                    _ => None,
                };
            }
            let may_pass = !whole || !now.held;
            tokio::select! {
                biased;
                changed = gate.changed(), if whole => {
                    if changed.is_err() {
                        return None;
                    }
                }
                line = lines.next(), if may_pass => {
                    let line = line?;
                    whole = line.as_ref().map_or(true, |line| line.ends_with(b"\n"));
                    return Some((line, Some((lines, gate, whole))));
                }
            }
        }
    })
}
