//! The client: one request in, one answer out. Failures are answers too, for a workflow decides what they mean.

use std::collections::BTreeMap;
use std::error::Error as StdError;
use std::net::IpAddr;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use dormouse_engine::call::{Answer, HttpRequest};
use dormouse_runtime::port::HttpCaller;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::header::{CONTENT_LENGTH, CONTENT_TYPE, HOST, HeaderMap};
use hyper::{Method, Request, Response, Uri};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};

use crate::connector::{Forbidden, GuardedResolver, Names, Reach, SystemNames, connector};
use crate::redirect::{self, Again};

/// What holds for all requests of an [`Egress`].
#[derive(Debug, Clone)]
pub struct EgressConfig {
    /// How far they may reach.
    pub reach: Reach,
    /// How long one that names no time may take, redirects and body included, in ms. 100 s, as in .NET.
    pub timeout_ms: u64,
    /// The largest answer taken, bytes of its body.
    pub response_bytes_max: usize,
}

impl EgressConfig {
    /// The usual limits.
    #[must_use]
    pub fn new(reach: Reach) -> Self {
        Self {
            reach,
            timeout_ms: 100_000,
            response_bytes_max: 16 << 20,
        }
    }
}

type Plain = Client<HttpConnector<GuardedResolver>, Full<Bytes>>;
type Secure = Client<HttpsConnector<HttpConnector<GuardedResolver>>, Full<Bytes>>;

/// Makes HTTP requests. Connections are kept and used again. Needs a tokio runtime with time and network.
#[derive(Debug)]
pub struct Egress {
    config: EgressConfig,
    resolver: GuardedResolver,
    plain: Plain,
    /// Made when the first `https` address is asked for: reading the system's certificates takes milliseconds
    /// and memory that most servers never need.
    secure: OnceLock<Secure>,
}

/// One request as it is sent, and sent again to where a redirect points.
#[derive(Clone)]
struct Sent {
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
}

impl Egress {
    /// A client.
    #[must_use]
    pub fn new(config: EgressConfig) -> Self {
        Self::with_names(config, Arc::new(SystemNames))
    }

    /// A client that has names looked up.
    #[must_use]
    pub fn with_names(config: EgressConfig, names: Arc<dyn Names>) -> Self {
        let resolver = GuardedResolver {
            reach: config.reach.clone(),
            names,
        };
        Self {
            config,
            plain: builder().build(connector(resolver.clone())),
            resolver,
            secure: OnceLock::new(),
        }
    }

    /// Makes a request, follows its redirects and reads the whole answer.
    ///
    /// Any response is [`Answer::Http`], whatever its status. An `Idempotency-Key` is added if the request has one
    /// and its headers do not.
    pub async fn request(&self, request: HttpRequest) -> Answer {
        let ms = match request.timeout_ms {
            0 => self.config.timeout_ms,
            ms => ms,
        };
        let sent = match Sent::new(request) {
            Ok(sent) => sent,
            Err(message) => return Answer::Refused { message },
        };
        tokio::time::timeout(Duration::from_millis(ms), self.follow(sent))
            .await
            .unwrap_or(Answer::TimedOut)
    }

    async fn follow(&self, mut sent: Sent) -> Answer {
        let mut hops = 0;
        loop {
            if let Err(message) = self.check(&sent.uri) {
                return Answer::Refused { message };
            }
            let response = match self.send(sent.clone()).await {
                Ok(response) => response,
                Err(error) => return failed(&sent.uri, &error),
            };
            let next = sent.next(&response);
            match next {
                Some(next) if hops < redirect::HOPS_MAX => sent = next,
                Some(_) | None => return self.read(response).await,
            }
            hops += 1;
        }
    }

    /// Addresses written as numbers never meet the resolver, so they are checked here.
    fn check(&self, uri: &Uri) -> Result<(), String> {
        let host = uri.host().unwrap_or_default();
        let literal = host.trim_start_matches('[').trim_end_matches(']');
        match literal.parse::<IpAddr>() {
            Ok(address) if !self.config.reach.allows(address) => Err(refusal(host)),
            Ok(_) | Err(_) => Ok(()),
        }
    }

    async fn send(
        &self,
        sent: Sent,
    ) -> Result<Response<Incoming>, hyper_util::client::legacy::Error> {
        let is_secure = sent.uri.scheme_str() == Some("https");
        let mut request = Request::new(Full::new(sent.body));
        *request.method_mut() = sent.method;
        *request.uri_mut() = sent.uri;
        *request.headers_mut() = sent.headers;
        if is_secure {
            let secure = self.secure.get_or_init(|| secure(self.resolver.clone()));
            secure.request(request).await
        } else {
            self.plain.request(request).await
        }
    }

    async fn read(&self, response: Response<Incoming>) -> Answer {
        let status = response.status().as_u16();
        let mut headers: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (name, value) in response.headers() {
            let text = String::from_utf8_lossy(value.as_bytes()).into_owned();
            headers
                .entry(name.as_str().to_owned())
                .or_default()
                .push(text);
        }
        let limit = self.config.response_bytes_max;
        match Limited::new(response.into_body(), limit).collect().await {
            Ok(body) => Answer::Http {
                status,
                headers,
                body: body.to_bytes().into(),
            },
            Err(error) if error.is::<http_body_util::LengthLimitError>() => {
                let message = format!("the answer has more than {limit} bytes");
                Answer::FailedToConnect { message }
            }
            Err(error) => Answer::FailedToConnect {
                message: format!("the connection broke in the middle of the answer: {error}"),
            },
        }
    }
}

#[async_trait]
impl HttpCaller for Egress {
    async fn call(&self, request: &HttpRequest, timeout_ms: u64) -> Answer {
        let mut request = request.clone();
        request.timeout_ms = timeout_ms;
        self.request(request).await
    }
}

impl Sent {
    /// Reads a workflow's request; an `Err` is a sentence about what is wrong with it.
    fn new(request: HttpRequest) -> Result<Self, String> {
        let uri: Uri = request
            .url
            .parse()
            .map_err(|e| format!("`{}` is not a URL: {e}", request.url))?;
        if !matches!(uri.scheme_str(), Some("http" | "https")) || uri.host().is_none() {
            return Err(format!(
                "`{}` is not an absolute http or https URL",
                request.url
            ));
        }
        let method = Method::from_bytes(request.method.as_bytes())
            .map_err(|_| format!("`{}` is not an HTTP method", request.method))?;
        let mut headers = HeaderMap::new();
        let mut add = |name: &str, value: &str| -> Result<(), String> {
            let bad = || format!("the header `{name}` cannot be sent");
            let parsed = hyper::header::HeaderName::from_bytes(name.as_bytes());
            let value = hyper::header::HeaderValue::from_str(value);
            headers.append(parsed.map_err(|_| bad())?, value.map_err(|_| bad())?);
            Ok(())
        };
        add(
            "user-agent",
            concat!("dormouse/", env!("CARGO_PKG_VERSION")),
        )?;
        if !request.idempotency_key.is_empty() && !names(&request, "idempotency-key") {
            add("idempotency-key", &request.idempotency_key)?;
        }
        for (name, value) in &request.headers {
            add(name, value)?;
        }
        // These are the connection's business.
        headers.remove(HOST);
        headers.remove(CONTENT_LENGTH);
        Ok(Self {
            method,
            uri,
            headers,
            body: request.body.unwrap_or_default().into(),
        })
    }

    /// The request that a response asks for instead, if it does.
    fn next(&self, response: &Response<Incoming>) -> Option<Self> {
        let again = redirect::again(response.status(), self.method.as_str())?;
        let location = response.headers().get("location")?.to_str().ok()?;
        let mut next = self.clone();
        next.uri = redirect::target(&self.uri, location)?;
        if again == Again::Get {
            next.method = Method::GET;
            next.body = Bytes::new();
            next.headers.remove(CONTENT_TYPE);
        }
        if !redirect::is_same_origin(&self.uri, &next.uri) {
            next.headers = redirect::for_others(next.headers);
        }
        Some(next)
    }
}

fn names(request: &HttpRequest, header: &str) -> bool {
    request
        .headers
        .iter()
        .any(|(name, _)| name.eq_ignore_ascii_case(header))
}

fn builder() -> hyper_util::client::legacy::Builder {
    let mut builder = Client::builder(TokioExecutor::new());
    builder
        .pool_timer(TokioTimer::new())
        .pool_idle_timeout(Duration::from_secs(20))
        .pool_max_idle_per_host(16);
    builder
}

fn secure(resolver: GuardedResolver) -> Secure {
    let mut roots = rustls::RootCertStore::empty();
    // A certificate of the system that cannot be read is no reason to trust fewer others.
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    let provider = rustls::crypto::ring::default_provider();
    let config = rustls::ClientConfig::builder_with_provider(provider.into())
        .with_protocol_versions(rustls::DEFAULT_VERSIONS)
        .map(|builder| builder.with_root_certificates(roots).with_no_client_auth());
    #[allow(
        clippy::expect_used,
        reason = "the provider has cipher suites for the default versions; a build-time fact"
    )]
    let config = config.expect("the provider supports the default versions");
    let https = HttpsConnectorBuilder::new()
        .with_tls_config(config)
        .https_or_http()
        .enable_http1()
        .wrap_connector(connector(resolver));
    builder().build(https)
}

fn refusal(host: &str) -> String {
    format!(
        "requests to `{host}` are not allowed, because it is not a public address; an operator can allow them with --allow-egress, DORMOUSE_ALLOW_EGRESS or --allow-private-egress"
    )
}

/// A failure of the connection as the workflow sees it.
fn failed(uri: &Uri, error: &hyper_util::client::legacy::Error) -> Answer {
    let host = uri.host().unwrap_or_default();
    let mut cause: Option<&(dyn StdError + 'static)> = Some(error);
    let mut last = error.to_string();
    while let Some(current) = cause {
        let inner = current
            .downcast_ref::<std::io::Error>()
            .and_then(|e| e.get_ref());
        if current.is::<Forbidden>() || inner.is_some_and(|e| e.is::<Forbidden>()) {
            return Answer::Refused {
                message: refusal(host),
            };
        }
        last = current.to_string();
        cause = current.source();
    }
    Answer::FailedToConnect {
        message: format!("no answer from `{host}`: {last}"),
    }
}
