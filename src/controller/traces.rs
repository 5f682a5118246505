//! Traces: what a reconcile did, step by step, to a collector that speaks OTLP over HTTP.
//!
//! The spans of [`spans`](crate::release::spans) go out in batches, as the JSON form of OTLP 1.x (opentelemetry-proto, `collector/trace/v1`). A collector that is slow or gone loses
//! spans and holds up nothing.

use std::{
    collections::HashMap,
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tracing::{
    Subscriber,
    field::{Field, Visit},
    span::{Attributes, Id, Record},
};
use tracing_subscriber::{Layer, layer::Context, registry::LookupSpan};

/// So many spans may wait.
const WAITING: usize = 8192;
/// So many go in one request.
const BATCH: usize = 512;
/// So long spans are gathered.
const GATHER: Duration = Duration::from_secs(1);
/// So long an answer is waited for.
const PATIENCE: Duration = Duration::from_secs(10);

/// Where traces go.
#[derive(Debug, Clone, Default)]
pub struct Collector {
    /// The collector's address, without the path: `http://collector:4318`.
    pub endpoint: String,
    /// Headers as in OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer%20token,x-scope=a`.
    pub headers: String,
    /// Attributes of the process as in OTEL_RESOURCE_ATTRIBUTES: `deployment.environment=test`.
    pub resource: String,
    /// The service's name; `pintle` when empty.
    pub service: String,
}

/// A layer of the subscriber, which collects spans.
pub struct Traces {
    sender: mpsc::Sender<Option<Span>>,
    lost: Arc<AtomicU64>,
}

/// What sends the spans.
pub struct Exporter {
    receiver: mpsc::Receiver<Option<Span>>,
    sender: mpsc::Sender<Option<Span>>,
    lost: Arc<AtomicU64>,
    client: reqwest::Client,
    url: String,
    headers: HeaderMap,
    resource: Value,
}

/// Ends an [`Exporter`] once it has sent what waits.
pub struct End(mpsc::Sender<Option<Span>>);

impl End {
    /// Says so.
    pub async fn now(self) {
        // It has ended already, then.
        let _ = self.0.send(None).await;
    }
}

/// The layer, and what sends what it collects. The error says what is wrong with the collector's address or headers.
pub fn traces(collector: &Collector) -> Result<(Traces, Exporter), String> {
    let url = format!("{}/v1/traces", collector.endpoint.trim_end_matches('/'));
    let parsed = reqwest::Url::parse(&url).map_err(|e| format!("{:?}: {e}", collector.endpoint))?;
    if !["http", "https"].contains(&parsed.scheme()) {
        return Err(format!("{:?} is no address of HTTP, such as http://collector:4318", collector.endpoint));
    }
    let mut headers = HeaderMap::new();
    for (name, value) in pairs(&collector.headers) {
        let name: HeaderName = name.parse().map_err(|_| format!("{name:?} is no name of a header"))?;
        let mut value =
            HeaderValue::from_str(&value).map_err(|_| format!("the value of header {name} is none"))?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let mut resource: HashMap<String, String> = pairs(&collector.resource).collect();
    if !collector.service.is_empty() {
        resource.insert("service.name".into(), collector.service.clone());
    }
    resource.entry("service.name".into()).or_insert_with(|| "pintle".into());
    resource.insert("service.version".into(), env!("CARGO_PKG_VERSION").into());
    let resource: Vec<Value> = resource
        .into_iter()
        .map(|(key, value)| json!({"key": key, "value": {"stringValue": value}}))
        .collect();
    let client = reqwest::Client::builder()
        .timeout(PATIENCE)
        .build()
        .map_err(|e| format!("no client for the collector: {e}"))?;
    let (sender, receiver) = mpsc::channel(WAITING);
    let lost = Arc::<AtomicU64>::default();
    let exporter = Exporter {
        receiver,
        sender: sender.clone(),
        lost: lost.clone(),
        client,
        url,
        headers,
        resource: json!({ "attributes": resource }),
    };
    Ok((Traces { sender, lost }, exporter))
}

/// `a=b,c=d`, whose values are percent-encoded.
fn pairs(text: &str) -> impl Iterator<Item = (String, String)> + '_ {
    text.split(',').filter_map(|pair| {
        let (key, value) = pair.split_once('=')?;
        Some((key.trim().to_owned(), decoded(value.trim())))
    })
}

fn decoded(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let hex = |digit: u8| char::from(digit).to_digit(16).and_then(|d| u8::try_from(d).ok());
        match (first, tail) {
            (b'%', [high, low, after @ ..]) if hex(*high).is_some() && hex(*low).is_some() => {
                out.push(hex(*high).unwrap_or(0) << 4 | hex(*low).unwrap_or(0));
                rest = after;
            }
            _ => {
                out.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// A span, open or ended.
#[derive(Debug, Clone)]
struct Span {
    trace: u128,
    id: u64,
    parent: Option<u64>,
    name: &'static str,
    /// A request of ours to somebody else.
    client: bool,
    start: SystemTime,
    end: SystemTime,
    attributes: Vec<(&'static str, Value)>,
    error: Option<String>,
}

impl Visit for Span {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.take(field.name(), json!({ "stringValue": format!("{value:?}") }));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            "error" => self.error = Some(value.to_owned()),
            name => self.take(name, json!({ "stringValue": value })),
        }
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        // 64-bit integers are strings in the JSON form of protobuf.
        self.take(field.name(), json!({ "intValue": value.to_string() }));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.take(field.name(), json!({ "intValue": value.to_string() }));
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.take(field.name(), json!({ "boolValue": value }));
    }
}

impl Span {
    fn take(&mut self, name: &'static str, value: Value) {
        match name {
            "client" => self.client = true,
            _ => self.attributes.push((name, value)),
        }
    }

    fn to_json(&self) -> Value {
        let nanoseconds =
            |time: SystemTime| time.duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos().to_string();
        let attributes: Vec<Value> =
            self.attributes.iter().map(|(key, value)| json!({ "key": key, "value": value })).collect();
        let mut span = json!({
            "traceId": format!("{:032x}", self.trace),
            "spanId": format!("{:016x}", self.id),
            "name": self.name,
            // SPAN_KIND_INTERNAL or SPAN_KIND_CLIENT
            "kind": if self.client { 3 } else { 1 },
            "startTimeUnixNano": nanoseconds(self.start),
            "endTimeUnixNano": nanoseconds(self.end),
            "attributes": attributes,
        });
        if let Some(parent) = self.parent {
            span["parentSpanId"] = format!("{parent:016x}").into();
        }
        if let Some(error) = &self.error {
            // STATUS_CODE_ERROR
            span["status"] = json!({ "code": 2, "message": error });
        }
        span
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Traces {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        let parent = span.parent().and_then(|p| p.extensions().get::<Span>().map(|s| (s.trace, s.id)));
        let now = SystemTime::now();
        let mut data = Span {
            trace: parent.map_or_else(rand::random, |(trace, _)| trace),
            id: rand::random(),
            parent: parent.map(|(_, id)| id),
            name: attributes.metadata().name(),
            client: false,
            start: now,
            end: now,
            attributes: Vec::new(),
            error: None,
        };
        attributes.record(&mut data);
        span.extensions_mut().insert(data);
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        if let Some(data) = span.extensions_mut().get_mut::<Span>() {
            values.record(data);
        }
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        let Some(span) = context.span(&id) else { return };
        let Some(mut data) = span.extensions_mut().remove::<Span>() else { return };
        data.end = SystemTime::now();
        if self.sender.try_send(Some(data)).is_err() {
            self.lost.fetch_add(1, Relaxed);
        }
    }
}

impl Exporter {
    /// What ends it.
    pub fn end(&self) -> End {
        End(self.sender.clone())
    }

    /// Sends spans until the end.
    pub async fn run(mut self) {
        let mut batch = Vec::new();
        let mut failing = false;
        let mut ends = false;
        while !ends {
            match self.receiver.recv().await {
                Some(Some(span)) => batch.push(span.to_json()),
                _ => break,
            }
            let full = async {
                while batch.len() < BATCH {
                    match self.receiver.recv().await {
                        Some(Some(span)) => batch.push(span.to_json()),
                        _ => {
                            ends = true;
                            break;
                        }
                    }
                }
            };
            // When the time is over, the batch is what has come so far.
            let _ = tokio::time::timeout(GATHER, full).await;
            let result = self.send(std::mem::take(&mut batch)).await;
            match &result {
                Err(error) if !failing => {
                    tracing::warn!(%error, "traces are lost: the collector does not take them");
                }
                Ok(()) if failing => tracing::info!("the collector takes traces again"),
                _ => {}
            }
            failing = result.is_err();
            let lost = self.lost.swap(0, Relaxed);
            if lost > 0 {
                tracing::warn!(spans = lost, "traces are lost: too many wait");
            }
        }
    }

    async fn send(&self, spans: Vec<Value>) -> Result<(), String> {
        let body = json!({ "resourceSpans": [{
            "resource": self.resource,
            "scopeSpans": [{ "scope": { "name": "pintle", "version": env!("CARGO_PKG_VERSION") }, "spans": spans }],
        }]});
        let request = self.client.post(&self.url).headers(self.headers.clone()).body(body.to_string());
        let answer = request.send().await.map_err(|e| e.without_url().to_string())?;
        if answer.status().is_success() { Ok(()) } else { Err(format!("HTTP {}", answer.status())) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::step;
    use tracing_subscriber::layer::SubscriberExt as _;

    fn collector(endpoint: &str) -> Collector {
        Collector { endpoint: endpoint.into(), ..Collector::default() }
    }

    #[test]
    fn steps_are_children_of_their_reconcile() {
        let (layer, mut exporter) = traces(&collector("http://127.0.0.1:1/")).unwrap();
        assert_eq!(exporter.url, "http://127.0.0.1:1/v1/traces");
        tracing::subscriber::with_default(tracing_subscriber::registry().with(layer), || {
            let root = step!("reconcile", trigger = "spec changed", result = tracing::field::Empty);
            let inside = root.enter();
            drop(step!("request", client = true, code = 404_u64, error = "gone"));
            drop(inside);
            root.record("result", "applied");
        });
        let mut next = || exporter.receiver.try_recv().unwrap().unwrap().to_json();
        let (child, root) = (next(), next());
        assert_eq!((&child["name"], &root["name"]), (&json!("request"), &json!("reconcile")));
        assert_eq!(child["traceId"], root["traceId"]);
        assert_eq!(child["parentSpanId"], root["spanId"]);
        assert!(root.get("parentSpanId").is_none() && root.get("status").is_none());
        assert_eq!((&child["kind"], &child["status"]["message"]), (&json!(3), &json!("gone")));
        assert_eq!(child["attributes"], json!([{"key": "code", "value": {"intValue": "404"}}]));
        assert_eq!(root["attributes"][1], json!({"key": "result", "value": {"stringValue": "applied"}}));
    }

    #[test]
    fn addresses_and_headers_are_checked() {
        assert!(traces(&collector("collector:4318")).is_err());
        assert!(traces(&collector("grpc://collector:4317")).is_err());
        let headers = |headers: &str| {
            traces(&Collector { headers: headers.into(), ..collector("http://c:4318") })
                .map(|(_, e)| e.headers)
        };
        assert_eq!(headers("authorization=Bearer%20abc, x=1").unwrap()["authorization"], "Bearer abc");
        assert!(headers("bad name=1").is_err());
    }
}
