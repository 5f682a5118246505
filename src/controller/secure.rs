//! The metrics endpoint behind TLS, and behind the API server's opinion of who asks.
//!
//! As controller-runtime has it for operator-sdk's `--metrics-secure` and `--metrics-require-rbac`: a certificate made at the
//! start that nobody has signed; a bearer token that a TokenReview must know; and a SubjectAccessReview that lets its
//! owner `get` the path.

use std::{
    collections::HashMap,
    io,
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, anyhow};
use axum::{
    extract::Request,
    http::{StatusCode, header},
    middleware::Next,
    response::{IntoResponse as _, Response},
};
use k8s_openapi::api::{
    authentication::v1::{TokenReview, TokenReviewSpec, UserInfo},
    authorization::v1::{NonResourceAttributes, SubjectAccessReview, SubjectAccessReviewSpec},
};
use kube::{Api, Client, api::PostParams};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _};
use sha2::{Digest as _, Sha256};
use tokio::{
    net::{TcpListener, TcpStream},
    task::JoinSet,
};
use tokio_rustls::{TlsAcceptor, server::TlsStream};

use crate::render;

/// So many connections may be in the middle of the handshake.
const HANDSHAKES: usize = 64;
/// So long a handshake may take.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// For so long it is remembered that a token may; and that it may not.
const ALLOWED: Duration = Duration::from_secs(60);
const DENIED: Duration = Duration::from_secs(10);
/// So many tokens are remembered.
const REMEMBERED: usize = 256;

/// A listener whose connections are encrypted.
pub struct Tls {
    tcp: TcpListener,
    acceptor: TlsAcceptor,
    handshakes: JoinSet<Option<(TlsStream<TcpStream>, SocketAddr)>>,
}

impl Tls {
    /// Encrypts what a listener accepts, with a certificate made for this process. `http2`: whether HTTP/2 is offered.
    pub fn new(tcp: TcpListener, http2: bool) -> Result<Self> {
        let made = render::text(
            "certificate",
            r#"{{ $c := genSelfSignedCert "localhost" (list "127.0.0.1") (list "localhost") 3650 }}{{ $c.Cert }}{{ $c.Key }}"#,
        )
        .map_err(|error| anyhow!("a certificate for the metrics endpoint: {}", error.message))?;
        let certificate =
            CertificateDer::from_pem_slice(made.as_bytes()).context("the certificate that was made")?;
        let key = PrivateKeyDer::from_pem_slice(made.as_bytes()).context("the key that was made")?;
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let mut config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(vec![certificate], key)?;
        let protocols: &[&str] = if http2 { &["h2", "http/1.1"] } else { &["http/1.1"] };
        config.alpn_protocols = protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
        Ok(Tls { tcp, acceptor: TlsAcceptor::from(Arc::new(config)), handshakes: JoinSet::new() })
    }
}

impl axum::serve::Listener for Tls {
    type Io = TlsStream<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        loop {
            tokio::select! {
                Some(ended) = self.handshakes.join_next() => {
                    if let Ok(Some(connection)) = ended {
                        return connection;
                    }
                }
                accepted = self.tcp.accept(), if self.handshakes.len() < HANDSHAKES => match accepted {
                    Ok((stream, address)) => {
                        let acceptor = self.acceptor.clone();
                        self.handshakes.spawn(async move {
                            let handshake = tokio::time::timeout(HANDSHAKE, acceptor.accept(stream)).await;
                            Some((handshake.ok()?.ok()?, address))
                        });
                    }
                    // Out of file descriptors, most likely.
                    Err(_) => tokio::time::sleep(Duration::from_secs(1)).await,
                },
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.tcp.local_addr()
    }
}

/// Who may read the metrics, as the API server sees it.
pub struct Guard {
    client: Client,
    known: Mutex<HashMap<[u8; 32], (Instant, bool)>>,
}

impl Guard {
    /// A guard that asks this client's API server.
    pub fn new(client: Client) -> Arc<Self> {
        Arc::new(Guard { client, known: Mutex::default() })
    }

    /// Lets a request through, or answers 401 (no token, or one that the API server does not know), 403 (its owner may not
    /// read this) or 500 (the API server could not be asked).
    pub async fn check(self: Arc<Self>, request: Request, next: Next) -> Response {
        let token = request
            .headers()
            .get(header::AUTHORIZATION)
            .and_then(|value| value.to_str().ok())
            .and_then(|value| value.split_once(' '))
            .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"))
            .map(|(_, token)| token.trim().to_owned());
        let Some(token) = token.filter(|token| !token.is_empty()) else {
            return (StatusCode::UNAUTHORIZED, "Unauthorized\n").into_response();
        };
        let path = request.uri().path().to_owned();
        let verb = request.method().as_str().to_lowercase();
        match self.allows(&token, &path, &verb).await {
            Ok(Verdict::Allowed) => next.run(request).await,
            Ok(Verdict::Unknown) => (StatusCode::UNAUTHORIZED, "Unauthorized\n").into_response(),
            Ok(Verdict::Denied) => (StatusCode::FORBIDDEN, "Authorization denied\n").into_response(),
            Err(error) => {
                tracing::warn!(%error, "the API server could not be asked who reads the metrics");
                (StatusCode::INTERNAL_SERVER_ERROR, "Authentication failed\n").into_response()
            }
        }
    }

    async fn allows(&self, token: &str, path: &str, verb: &str) -> Result<Verdict, kube::Error> {
        let key: [u8; 32] = Sha256::digest(format!("{verb} {path} {token}")).into();
        let now = Instant::now();
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner).get(&key).copied();
        if let Some((until, allowed)) = known
            && until > now
        {
            return Ok(if allowed { Verdict::Allowed } else { Verdict::Denied });
        }
        let Some(user) = self.user(token).await? else { return Ok(Verdict::Unknown) };
        let allowed = self.may(user, path, verb).await?;
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= REMEMBERED {
            known.retain(|_, (until, _)| *until > now);
            if known.len() >= REMEMBERED {
                known.clear();
            }
        }
        known.insert(key, (now + if allowed { ALLOWED } else { DENIED }, allowed));
        Ok(if allowed { Verdict::Allowed } else { Verdict::Denied })
    }

    /// Whose a token is.
    async fn user(&self, token: &str) -> Result<Option<UserInfo>, kube::Error> {
        let spec = TokenReviewSpec { token: token.to_owned(), ..TokenReviewSpec::default() };
        let review = TokenReview { spec, ..TokenReview::default() };
        let answer =
            Api::<TokenReview>::all(self.client.clone()).create(&PostParams::default(), &review).await?;
        let status = answer.status.unwrap_or_default();
        Ok(status.user.filter(|_| status.authenticated == Some(true)))
    }

    /// Whether a user may read a path.
    async fn may(&self, user: UserInfo, path: &str, verb: &str) -> Result<bool, kube::Error> {
        let review = SubjectAccessReview {
            spec: SubjectAccessReviewSpec {
                user: user.username,
                groups: user.groups,
                uid: user.uid,
                extra: user.extra,
                non_resource_attributes: Some(NonResourceAttributes {
                    path: Some(path.to_owned()),
                    verb: Some(verb.to_owned()),
                }),
                ..SubjectAccessReviewSpec::default()
            },
            ..SubjectAccessReview::default()
        };
        let answer = Api::<SubjectAccessReview>::all(self.client.clone())
            .create(&PostParams::default(), &review)
            .await?;
        Ok(answer.status.is_some_and(|status| status.allowed))
    }
}

enum Verdict {
    Allowed,
    Denied,
    /// Nobody that the API server knows.
    Unknown,
}
