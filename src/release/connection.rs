//! The client: how requests reach the API server.
//!
//! Requests and watches share HTTP/2 connections, as client-go's do: those that are under way at once cost no handshake each,
//! and watches no buffers. One is enough for as many as it carries (see [`super::lanes`]). A connection whose other end is
//! silently gone is found by pings.

use std::{
    fmt,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use futures::future::BoxFuture;
use http::{Method, Request, Response};
use hyper_rustls::{FixedServerNameResolver, HttpsConnectorBuilder};
use hyper_timeout::TimeoutConnector;
use hyper_util::{
    client::legacy::{self, connect::HttpConnector},
    rt::{TokioExecutor, TokioTimer},
};
use kube::{
    Client, Config,
    client::{Body, ClientBuilder, ConfigExt as _, retry::RetryPolicy},
};
use tower::{BoxError, Service, ServiceBuilder, layer::layer_fn, retry::RetryLayer};
use tracing::field::Empty;

use super::{
    lanes::Lanes,
    mandate::{Connector, Mandate},
};
use crate::step;

/// So long after the last sign of life the other end is asked for one.
const PING: Duration = Duration::from_secs(30);
/// So long its answer is waited for.
const PONG: Duration = Duration::from_secs(15);
/// So many bytes of an answer may be under way before they are read, of one request and of all together.
const WINDOWS: (u32, u32) = (512 << 10, 2 << 20);
/// What is refused for now (429, 503, 504) is asked again so often, first after so long and last after so long, or when
/// `Retry-After` says. Then it is the caller's to come back later: a reconcile must not wait for minutes.
const AGAIN: (u32, Duration, Duration) = (4, Duration::from_millis(100), Duration::from_secs(5));

/// Who is told of requests.
pub type Seen = Arc<dyn Fn(&Method, u16) + Send + Sync>;

/// Nobody is told.
pub fn nobody() -> Seen {
    Arc::new(|_, _| {})
}

/// A client for a cluster that writes while the mandate holds. Through a proxy the connections are kube's own.
/// `seen` is told of each request once it is answered: the method, and the code, which is 0 when there was no answer.
pub fn client(config: Config, mandate: &Mandate, seen: Seen) -> kube::Result<Client> {
    if config.proxy_url.is_some() {
        let seen = layer_fn(move |inner| Spanned { inner, seen: seen.clone() });
        return Ok(ClientBuilder::try_from(config)?.with_layer(mandate).with_layer(&seen).build());
    }
    let namespace = config.default_namespace.clone();
    let mut tcp = HttpConnector::new();
    tcp.enforce_http(false);
    tcp.set_nodelay(true);
    let tcp = Connector::new(tcp, mandate);
    let mut tls =
        HttpsConnectorBuilder::new().with_tls_config(config.rustls_client_config()?).https_or_http();
    if let Some(name) = &config.tls_server_name
        && let Ok(name) = name.clone().try_into()
    {
        tls = tls.with_server_name_resolver(FixedServerNameResolver::new(name));
    }
    let mut connector = TimeoutConnector::new(tls.enable_all_versions().wrap_connector(tcp));
    connector.set_connect_timeout(config.connect_timeout);
    connector.set_read_timeout(config.read_timeout);
    connector.set_write_timeout(config.write_timeout);
    let client = Lanes::new(move || -> legacy::Client<_, Body> {
        legacy::Client::builder(TokioExecutor::new())
            .timer(TokioTimer::new())
            .pool_timer(TokioTimer::new())
            .http2_keep_alive_interval(PING)
            .http2_keep_alive_timeout(PONG)
            .http2_initial_stream_window_size(WINDOWS.0)
            .http2_initial_connection_window_size(WINDOWS.1)
            .build(connector.clone())
    });
    let (times, first, last) = AGAIN;
    let again = RetryPolicy::new(first, last, times, true).expect("the times are in order");
    let service = ServiceBuilder::new()
        .layer(mandate)
        .layer(RetryLayer::new(again))
        .layer_fn(move |inner| Spanned { inner, seen: seen.clone() })
        .layer(config.base_uri_layer())
        .option_layer(config.auth_layer()?)
        .layer(config.extra_headers_layer()?)
        .map_err(BoxError::from)
        .service(client);
    Ok(Client::new(service, namespace))
}

/// A service whose requests are spans, from the request to the head of the answer.
#[derive(Clone)]
struct Spanned<S> {
    inner: S,
    seen: Seen,
}

impl<S, B> Service<Request<Body>> for Spanned<S>
where
    S: Service<Request<Body>, Response = Response<B>>,
    S::Future: Send + 'static,
    S::Error: fmt::Display,
{
    type Response = Response<B>;
    type Error = S::Error;
    type Future = BoxFuture<'static, Result<Response<B>, S::Error>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let span = step!(
            "request",
            client = true,
            http.request.method = request.method().as_str(),
            url.path = request.uri().path(),
            http.response.status_code = Empty,
            error = Empty
        );
        let (seen, method) = (self.seen.clone(), request.method().clone());
        let answer = self.inner.call(request);
        Box::pin(async move {
            let answer = answer.await;
            seen(&method, answer.as_ref().map_or(0, |answer| answer.status().as_u16()));
            match &answer {
                Ok(answer) => {
                    span.record("http.response.status_code", u64::from(answer.status().as_u16()));
                    if answer.status().is_client_error() || answer.status().is_server_error() {
                        span.record("error", answer.status().as_str());
                    }
                }
                Err(error) => {
                    span.record("error", error.to_string());
                }
            }
            answer
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    use axum::{Router, http::StatusCode, routing::get};
    use tokio::net::TcpListener;

    use super::*;

    /// A client of a server that refuses the first requests, how many codes it was told of, and how many requests came.
    async fn refusing(times: usize, code: StatusCode) -> (Client, Arc<AtomicUsize>, Arc<AtomicUsize>) {
        let (came, told) = (Arc::<AtomicUsize>::default(), Arc::<AtomicUsize>::default());
        let counted = came.clone();
        let answer = move || async move {
            let before = counted.fetch_add(1, Relaxed);
            if before < times {
                (code, [("Retry-After", "0")], "later")
            } else {
                (StatusCode::OK, [("Retry-After", "0")], "ok")
            }
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap()).parse().unwrap();
        let app = Router::new().route("/test", get(answer));
        tokio::spawn(async move { axum::serve(listener, app).await });
        let codes = told.clone();
        let seen: Seen = Arc::new(move |_, _| {
            codes.fetch_add(1, Relaxed);
        });
        (client(Config::new(address), &Mandate::unlimited(), seen).unwrap(), told, came)
    }

    async fn ask(client: &Client) -> kube::Result<String> {
        client.request_text(Request::get("/test").body(Vec::new()).unwrap()).await
    }

    #[tokio::test]
    async fn what_is_refused_for_now_is_asked_again() {
        for code in [StatusCode::TOO_MANY_REQUESTS, StatusCode::SERVICE_UNAVAILABLE] {
            let (client, told, came) = refusing(2, code).await;
            assert_eq!(ask(&client).await.unwrap(), "ok");
            assert_eq!((told.load(Relaxed), came.load(Relaxed)), (3, 3));
        }
    }

    #[tokio::test]
    async fn but_not_for_ever_and_not_what_is_refused_for_good() {
        let (client, _, came) = refusing(usize::MAX, StatusCode::TOO_MANY_REQUESTS).await;
        assert!(ask(&client).await.is_err());
        assert_eq!(came.load(Relaxed), 5);
        let (client, _, came) = refusing(usize::MAX, StatusCode::FORBIDDEN).await;
        assert!(ask(&client).await.is_err());
        assert_eq!(came.load(Relaxed), 1);
    }
}
