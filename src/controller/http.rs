//! `/metrics`, `/healthz` and `/readyz`.

use std::{future::Future, net::SocketAddr, sync::Arc};

use axum::{
    Router,
    http::{StatusCode, header},
    middleware,
    routing::get,
    serve::Listener,
};

use super::{Operator, secure::Guard};

/// What OpenMetrics text is served as.
const OPENMETRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// The metrics; behind a guard, if there is one.
pub fn metrics(operator: Arc<Operator>, guard: Option<Arc<Guard>>) -> Router {
    let text = move || {
        let operator = operator.clone();
        async move { ([(header::CONTENT_TYPE, OPENMETRICS)], operator.metrics_text()) }
    };
    let router = Router::new().route("/metrics", get(text));
    match guard {
        None => router,
        Some(guard) => {
            router.layer(middleware::from_fn(move |request, next| guard.clone().check(request, next)))
        }
    }
}

/// The probes: alive as long as it answers, ready once every definition's instances are listed.
pub fn probes(operator: Arc<Operator>) -> Router {
    let ready = move || {
        let operator = operator.clone();
        async move {
            match operator.not_ready() {
                None => (StatusCode::OK, "ok".to_owned()),
                Some(why) => (StatusCode::SERVICE_UNAVAILABLE, why),
            }
        }
    };
    Router::new().route("/healthz", get(|| async { "ok" })).route("/readyz", get(ready))
}

/// Serves until `until`.
pub async fn serve<L>(
    listener: L,
    router: Router,
    until: impl Future<Output = ()> + Send + 'static,
) -> std::io::Result<()>
where
    L: Listener,
    L::Addr: std::fmt::Debug,
{
    axum::serve(listener, router).with_graceful_shutdown(until).await
}

/// Reads a bind address as Go's net/http does: `:8080` binds all interfaces; `0` is none at all, as controller-runtime
/// has it.
pub fn address(text: &str) -> Result<Option<SocketAddr>, String> {
    if text == "0" {
        return Ok(None);
    }
    let full = match text.strip_prefix(':') {
        Some(port) => format!("0.0.0.0:{port}"),
        None => text.replacen("localhost:", "127.0.0.1:", 1),
    };
    full.parse()
        .map(Some)
        .map_err(|_| format!("{text:?} is not an address to bind: write it as :8080 or 127.0.0.1:8080"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_as_go_writes_them() {
        assert_eq!(address(":8080").unwrap(), Some(([0, 0, 0, 0], 8080).into()));
        assert_eq!(address("127.0.0.1:0").unwrap(), Some(([127, 0, 0, 1], 0).into()));
        assert_eq!(address("localhost:81").unwrap(), Some(([127, 0, 0, 1], 81).into()));
        assert_eq!(address("[::1]:81").unwrap(), Some("[::1]:81".parse().unwrap()));
        assert_eq!(address("0").unwrap(), None);
        assert!(address("8080").is_err());
    }
}
