//! Whether this process may write: while it leads, where leaders are elected.
//!
//! A process may be frozen at any point (its machine sleeps, or has no memory left), and wake up when another one leads since
//! long. So the mandate is not only asked before something is begun: without it, a connection sends nothing more, whatever
//! has come as far as to it.

use std::{
    io,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    task::{Context, Poll},
    time::{Duration, Instant},
};

use futures::future::{Either, MapOk, Ready, TryFutureExt as _, ready};
use http::{Method, Request, Uri};
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::client::legacy::connect::{Connected, Connection};
use kube::client::Body;
use tower::{BoxError, Layer, Service};

/// Why nothing is sent.
const OVER: &str = "this process does not lead any more";

/// Until when a process may work. Cheap to clone and to ask.
///
/// It is also the layer of a client that refuses to write without it.
#[derive(Debug, Clone)]
pub struct Mandate(Arc<Until>);

#[derive(Debug)]
struct Until {
    start: Instant,
    /// Milliseconds after the start.
    end: AtomicU64,
}

impl Mandate {
    /// One that has no end: nobody is elected.
    pub fn unlimited() -> Self {
        Mandate(Arc::new(Until { start: Instant::now(), end: AtomicU64::new(u64::MAX) }))
    }

    /// One that is still to be won.
    pub fn none() -> Self {
        Mandate(Arc::new(Until { start: Instant::now(), end: AtomicU64::new(0) }))
    }

    /// Whether it may work now.
    pub fn holds(&self) -> bool {
        self.0.start.elapsed() < Duration::from_millis(self.0.end.load(Relaxed))
    }

    /// Extends it to so long after a time.
    pub fn renewed(&self, at: Instant, renew: Duration) {
        let end = at.duration_since(self.0.start) + renew;
        self.0.end.store(u64::try_from(end.as_millis()).unwrap_or(u64::MAX), Relaxed);
    }
}

impl<S> Layer<S> for Mandate {
    type Service = Mandated<S>;

    fn layer(&self, inner: S) -> Mandated<S> {
        Mandated { inner, mandate: self.clone() }
    }
}

/// A client's service that refuses to write without a mandate.
#[derive(Debug, Clone)]
pub struct Mandated<S> {
    inner: S,
    mandate: Mandate,
}

impl<S> Service<Request<Body>> for Mandated<S>
where
    S: Service<Request<Body>, Error = BoxError>,
{
    type Response = S::Response;
    type Error = BoxError;
    type Future = Either<Ready<Result<S::Response, BoxError>>, S::Future>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        if request.method() == Method::GET || self.mandate.holds() {
            Either::Right(self.inner.call(request))
        } else {
            Either::Left(ready(Err(OVER.into())))
        }
    }
}

/// A connector whose connections send nothing without a mandate.
#[derive(Debug, Clone)]
pub struct Connector<C> {
    inner: C,
    mandate: Mandate,
}

impl<C> Connector<C> {
    /// One that connects as `inner` does.
    pub fn new(inner: C, mandate: &Mandate) -> Self {
        Connector { inner, mandate: mandate.clone() }
    }
}

impl<C: Service<Uri>> Service<Uri> for Connector<C> {
    type Response = Stream<C::Response>;
    type Error = C::Error;
    type Future = MapOk<C::Future, Wrap<C::Response>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), C::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let mandate = self.mandate.clone();
        self.inner.call(uri).map_ok(Box::new(move |inner| Stream { inner, mandate }))
    }
}

/// What makes a [`Stream`] of a connection.
pub type Wrap<T> = Box<dyn FnOnce(T) -> Stream<T> + Send>;

/// A connection that sends nothing without a mandate.
#[derive(Debug)]
pub struct Stream<T> {
    inner: T,
    mandate: Mandate,
}

impl<T: Read + Unpin> Read for Stream<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_read(context, buffer)
    }
}

impl<T: Write + Unpin> Write for Stream<T> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if self.mandate.holds() {
            Pin::new(&mut self.inner).poll_write(context, bytes)
        } else {
            Poll::Ready(Err(io::Error::other(OVER)))
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(context)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if self.mandate.holds() {
            Pin::new(&mut self.inner).poll_write_vectored(context, bytes)
        } else {
            Poll::Ready(Err(io::Error::other(OVER)))
        }
    }
}

impl<T: Connection> Connection for Stream<T> {
    fn connected(&self) -> Connected {
        self.inner.connected()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mandate_ends_by_itself() {
        assert!(Mandate::unlimited().holds());
        let mandate = Mandate::none();
        assert!(!mandate.holds());
        mandate.renewed(Instant::now(), Duration::from_secs(60));
        assert!(mandate.holds());
        mandate.renewed(mandate.0.start, Duration::ZERO);
        assert!(!mandate.holds());
    }

    #[tokio::test]
    async fn nothing_is_written_without_a_mandate() {
        let mandate = Mandate::none();
        let server = tower::service_fn(|_: Request<Body>| ready(Ok::<_, BoxError>(())));
        let mut service = mandate.layer(server);
        let request = |method: Method| Request::builder().method(method).body(Body::empty()).unwrap();
        assert!(service.call(request(Method::GET)).await.is_ok());
        assert!(service.call(request(Method::PATCH)).await.is_err());
        mandate.renewed(Instant::now(), Duration::from_secs(60));
        assert!(service.call(request(Method::PATCH)).await.is_ok());
    }
}
