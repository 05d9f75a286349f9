//! The console: pages of our own over the API and the guide, built into the program, and Elsa Studio's files where it is installed.
//!
//! Everything here is public and the same for everybody; what the pages show they ask the API for, under the rights of
//! whoever is logged in.

mod content_type;
mod guide;
mod page;
mod studio;

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use serde_json::Value;

pub use studio::{MANIFEST, PACKAGE, Studio};

/// What our own pages may load: their own files, and the API.
const OWN_SECURITY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; object-src 'none'; frame-ancestors 'none'";

/// What Studio may load. It is WebAssembly, and some of its components write scripts and styles into the page.
const STUDIO_SECURITY: &str = "default-src 'self'; script-src 'self' 'unsafe-inline' 'wasm-unsafe-eval'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; worker-src 'self' blob:; connect-src 'self'; object-src 'none'; base-uri 'self'; form-action 'self'; frame-ancestors 'none'";

/// The console of a server.
#[derive(Debug, Clone)]
pub struct Pages(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    studio: Option<Studio>,
    about: Value,
}

impl Pages {
    /// A console with what it tells of the server, and Studio if it is installed.
    #[must_use]
    pub fn new(mut about: Value, studio: Option<Studio>) -> Self {
        if let Value::Object(about) = &mut about {
            let version = studio.as_ref().map(Studio::version);
            about.insert("studio".into(), version.into());
            about.insert("guide".into(), "/guide".into());
        }
        Self(Arc::new(Inner { studio, about }))
    }

    /// The routes with the console's pages around them. A browser that opens an address of Studio's gets Studio's page, even
    /// where an HTTP workflow listens: no author replaces a page of the console. Programs reach the workflow.
    pub fn around(self, routes: Router) -> Router {
        routes.layer(middleware::from_fn_with_state(self, answer))
    }

    async fn file(&self, path: &str, headers: &HeaderMap) -> Option<Response> {
        if path == "/console/about.json" {
            let text = self.0.about.to_string();
            return Some(own(text.into_bytes(), "application/json", headers));
        }
        if let Some((body, kind)) = page::file(path) {
            return Some(own(body.to_vec(), kind, headers));
        }
        if let Some(body) = guide::page(path) {
            return Some(own(body.to_vec(), content_type::of(".html"), headers));
        }
        let studio = self.0.studio.as_ref()?;
        studio.file(path, headers).await
    }
}

async fn answer(State(pages): State<Pages>, request: Request, next: Next) -> Response {
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return next.run(request).await;
    }
    let path = request.uri().path().to_owned();
    if let Some(file) = pages.file(&path, request.headers()).await {
        return file;
    }
    if page::is_studios(&path)
        && wants_page(request.headers())
        && let Some((body, kind)) = page::file("/studio.html")
    {
        return varied(own(body.to_vec(), kind, request.headers()));
    }
    next.run(request).await
}

/// With the header that says that programs get another answer at this address.
fn varied(mut response: Response) -> Response {
    let accept = HeaderValue::from_static("accept");
    response.headers_mut().insert(header::VARY, accept);
    response
}

/// Whether somebody opens a page, rather than a program asking for data.
fn wants_page(headers: &HeaderMap) -> bool {
    let accepted = headers.get(header::ACCEPT).and_then(|a| a.to_str().ok());
    accepted.is_some_and(|kinds| kinds.contains("text/html"))
}

/// A file of our own. It is small, and asked for anew each time: nobody sees the page of a program before.
fn own(body: Vec<u8>, kind: &'static str, headers: &HeaderMap) -> Response {
    // The policy goes with "not modified" too: a browser takes that answer's headers for those of the page it has.
    let policy = if body == page::STUDIO {
        STUDIO_SECURITY
    } else {
        OWN_SECURITY
    };
    let tag = format!("\"{:016x}\"", fingerprint(&body));
    if headers
        .get(header::IF_NONE_MATCH)
        .is_some_and(|t| *t == tag)
    {
        return secured(StatusCode::NOT_MODIFIED.into_response(), policy);
    }
    let mut response = ([(header::CONTENT_TYPE, kind)], body).into_response();
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        response.headers_mut().insert(header::ETAG, tag);
    }
    let fresh = HeaderValue::from_static("no-cache");
    response.headers_mut().insert(header::CACHE_CONTROL, fresh);
    secured(response, policy)
}

/// With the headers that keep other pages out.
fn secured(mut response: Response, policy: &'static str) -> Response {
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, policy),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_FRAME_OPTIONS, "DENY"),
    ] {
        response
            .headers_mut()
            .insert(name, HeaderValue::from_static(value));
    }
    response
}

/// FNV-1a: tells one build's files from another's, no more.
fn fingerprint(bytes: &[u8]) -> u64 {
    let mix = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, mix)
}

#[cfg(test)]
mod tests;
