//! Connections side by side.
//!
//! An HTTP/2 connection carries only so many requests at once: 100 to an API server, unless its flag
//! `--http2-max-streams-per-connection` says otherwise. What comes after waits until another has ended, and a watch does not
//! end for minutes. So requests are counted until their answers are read to the end, each goes to the first connection that
//! has room, and one more is opened when none has, as client-go does.

use std::{
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll},
};

use futures::future::BoxFuture;
use http::{Request, Response};
use hyper::body::{Body, Frame, SizeHint};
use tower::Service;

/// So many requests are under way at once on one connection. Fewer than any server or proxy is known to take, since one that
/// was given up counts there for a while.
const ROOM: usize = 64;

/// Clients that have a connection each, as one. Cheap to clone.
pub struct Lanes<S> {
    make: Arc<dyn Fn() -> S + Send + Sync>,
    lanes: Arc<Mutex<Vec<Lane<S>>>>,
}

struct Lane<S> {
    client: S,
    /// Shared by all that is under way.
    seats: Arc<()>,
}

// By hand, so that the client need not be.
impl<S> Clone for Lanes<S> {
    fn clone(&self) -> Self {
        Lanes { make: self.make.clone(), lanes: self.lanes.clone() }
    }
}

impl<S: Clone> Lanes<S> {
    /// Clients are made by `make`, each with a connection of its own.
    pub fn new(make: impl Fn() -> S + Send + Sync + 'static) -> Self {
        Lanes { make: Arc::new(make), lanes: Arc::default() }
    }

    /// A client with room, and the place on it: it is taken until it is dropped.
    fn seat(&self) -> (S, Arc<()>) {
        let mut lanes = self.lanes.lock().unwrap_or_else(PoisonError::into_inner);
        // One owner is the lane itself.
        let free = lanes.iter().find(|lane| Arc::strong_count(&lane.seats) <= ROOM);
        if let Some(lane) = free {
            return (lane.client.clone(), lane.seats.clone());
        }
        let lane = Lane { client: (self.make)(), seats: Arc::default() };
        let seat = (lane.client.clone(), lane.seats.clone());
        lanes.push(lane);
        seat
    }
}

impl<S, R, B> Service<Request<R>> for Lanes<S>
where
    S: Service<Request<R>, Response = Response<B>> + Clone,
    S::Future: Send + 'static,
{
    type Response = Response<Seated<B>>;
    type Error = S::Error;
    type Future = BoxFuture<'static, Result<Self::Response, S::Error>>;

    /// A client takes what it is given, and connects when it must.
    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<R>) -> Self::Future {
        let (mut client, seat) = self.seat();
        let answer = client.call(request);
        Box::pin(async move { Ok(answer.await?.map(|body| Seated { body, _seat: seat })) })
    }
}

/// The body of an answer, which has its place on a connection until it is dropped.
pub struct Seated<B> {
    body: B,
    _seat: Arc<()>,
}

impl<B: Body + Unpin> Body for Seated<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use std::{
        convert::Infallible,
        future::{Ready, ready},
        sync::atomic::{AtomicUsize, Ordering::Relaxed},
    };

    use super::*;

    /// A client that answers with its own number.
    #[derive(Clone)]
    struct Numbered(usize);

    impl Service<Request<()>> for Numbered {
        type Response = Response<usize>;
        type Error = Infallible;
        type Future = Ready<Result<Response<usize>, Infallible>>;

        fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
            Poll::Ready(Ok(()))
        }

        fn call(&mut self, _: Request<()>) -> Self::Future {
            ready(Ok(Response::new(self.0)))
        }
    }

    #[tokio::test]
    async fn one_more_connection_when_those_there_are_full() {
        let made = AtomicUsize::new(0);
        let mut lanes = Lanes::new(move || Numbered(made.fetch_add(1, Relaxed)));
        let mut watches = Vec::new();
        for _ in 0..2 * ROOM + 1 {
            watches.push(lanes.call(Request::new(())).await.unwrap());
        }
        let on: Vec<usize> = watches.iter().map(|watch| watch.body().body).collect();
        assert_eq!((on[0], on[ROOM - 1], on[ROOM], on[2 * ROOM]), (0, 0, 1, 2));
        watches.remove(0);
        let next = lanes.call(Request::new(()));
        assert_eq!(lanes.lanes.lock().unwrap().len(), 3);
        assert_eq!(next.await.unwrap().body().body, 0, "what has ended has left its place");
    }
}
