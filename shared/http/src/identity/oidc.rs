//! Signing in at an outside issuer, as a browser does it. Not in Elsa.
//!
//! `/sign-in` sends the browser to the issuer, which sends it back to `/sign-in/callback`; from there it goes on to the console
//! with a refresh token in a cookie that no script can read. The console exchanges that for tokens, once.

use axum::Json as Answer;
use axum::extract::{OriginalUri, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use dormouse_runtime::identity::{OidcSignIn, Tokens};
use serde_json::{Value, json};

use super::session::{answer, record};
use crate::app::App;
use crate::client_address::ClientAddress;
use crate::origin::Here;
use crate::query::Query;
use crate::refusal::Refusal;
use crate::scoped::Scoped;

/// Where people begin to sign in.
pub(super) const SIGN_IN: &str = "/sign-in";
/// Where the issuer sends them back to.
pub(super) const CALLBACK: &str = "/sign-in/callback";
/// Where people are signed out at the issuer.
pub(super) const SIGN_OUT: &str = "/sign-out";
/// What the browser keeps while its user is at the issuer.
const ATTEMPT: &str = "dormouse-sign-in";
/// The refresh token on its way to the console.
const TOKEN: &str = "dormouse-signed-in";
/// Where that cookie is sent to.
const TOKEN_PATH: &str = "/elsa/api/identity/oidc";

/// `GET /identity/ways`: how people can sign in, for the page that asks them.
pub(super) async fn ways(Scoped(app): Scoped) -> Answer<Value> {
    let authentication = app.identity().authentication();
    let oidc = authentication.oidc.as_ref();
    Answer(json!({
        "users": authentication.users,
        "oidc": oidc.map(|oidc| json!({ "issuer": oidc.issuer, "signIn": SIGN_IN, "signOut": SIGN_OUT })),
    }))
}

/// `GET /sign-in`
pub(super) async fn begin(
    State(app): State<App>,
    OriginalUri(uri): OriginalUri,
    Here(here): Here,
) -> Result<Response, Refusal> {
    refuse_without_issuer(&app, &uri)?;
    let begun = app
        .identity()
        .begin_oidc(&format!("{here}{CALLBACK}"))
        .await?;
    let Some(begun) = begun else {
        return Ok(go("/?signIn=failed", &[]));
    };
    let cookie = Cookie {
        name: ATTEMPT,
        value: &begun.kept,
        path: SIGN_IN,
        // The browser comes back from another site.
        same_site: "Lax",
        age_s: 600,
    };
    Ok(go(&begun.address, &[cookie.text(&here)]))
}

/// `GET /sign-in/callback`, where the issuer sends the browser with a code.
pub(super) async fn end(
    State(app): State<App>,
    client: ClientAddress,
    OriginalUri(uri): OriginalUri,
    Here(here): Here,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    refuse_without_issuer(&app, &uri)?;
    let query = Query::parse(uri.query().unwrap_or_default());
    let gone = Cookie {
        name: ATTEMPT,
        value: "",
        path: SIGN_IN,
        same_site: "Lax",
        age_s: 0,
    };
    let gone = gone.text(&here);
    if let Some(error) = query.text("error") {
        tracing::info!(error, "the issuer did not sign somebody in");
        return Ok(go("/?signIn=failed", &[gone]));
    }
    // Nothing is tried without what this browser was given. An address in a page would otherwise use up the attempts of
    // whoever sees the page, and fill the audit log.
    let Some(kept) = cookie(&headers, ATTEMPT).filter(|kept| !kept.is_empty()) else {
        return Ok(go("/?signIn=failed", &[gone]));
    };
    // Each attempt is a request to the issuer: of many, no more are made than passwords are tried.
    if !app.passwords_limit().take(&client) {
        return Err(Refusal::TooManyAttempts);
    }
    let text = |name| query.text(name).unwrap_or_default();
    let ended = app.identity().end_oidc(kept, text("state"), text("code"));
    match ended.await? {
        OidcSignIn::SignedIn(tokens) => {
            app.passwords_limit().refund(&client);
            app.known_clients().remember(&client);
            record(&app, &client, Some(&tokens)).await?;
            Ok(go("/?signIn=done", &[gone, handed_over(&tokens, &here)]))
        }
        OidcSignIn::NoRole(name) => {
            tracing::info!(name, "somebody signed in whose groups have no role here");
            record(&app, &client, None).await?;
            Ok(go("/?signIn=noRole", &[gone]))
        }
        OidcSignIn::Failed(reason) => {
            tracing::info!(reason, "an attempt to sign in failed");
            record(&app, &client, None).await?;
            Ok(go("/?signIn=failed", &[gone]))
        }
    }
}

/// `POST /identity/oidc/token`: the tokens of whoever came back from the issuer, for the cookie that they brought.
pub(super) async fn token(
    Scoped(app): Scoped,
    Here(here): Here,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    let refresh = cookie(&headers, TOKEN).unwrap_or_default();
    let tokens = app.identity().refresh(refresh).await?;
    let Some(tokens) = tokens else {
        return Err(Refusal::Unauthenticated);
    };
    let gone = Cookie {
        name: TOKEN,
        value: "",
        path: TOKEN_PATH,
        same_site: "Strict",
        age_s: 0,
    };
    let mut response = Answer(answer(Some(tokens))).into_response();
    set(&mut response, &[gone.text(&here)]);
    Ok(response)
}

/// `GET /sign-out`: to the issuer, which signs its user out and sends the browser back. The session here is ended by
/// `POST /identity/logout`.
pub(super) async fn sign_out(State(app): State<App>, Here(here): Here) -> Response {
    let there = app.identity().oidc_sign_out(&format!("{here}/")).await;
    go(there.as_deref().unwrap_or("/"), &[])
}

fn refuse_without_issuer(app: &App, uri: &Uri) -> Result<(), Refusal> {
    match app.identity().authentication().oidc {
        Some(_) => Ok(()),
        None => Err(Refusal::NoSuchRoute {
            path: uri.path().to_owned(),
        }),
    }
}

fn handed_over(tokens: &Tokens, here: &str) -> String {
    let cookie = Cookie {
        name: TOKEN,
        value: &tokens.refresh,
        path: TOKEN_PATH,
        same_site: "Strict",
        age_s: 60,
    };
    cookie.text(here)
}

struct Cookie<'a> {
    name: &'a str,
    value: &'a str,
    path: &'a str,
    same_site: &'a str,
    age_s: u32,
}

impl Cookie<'_> {
    /// As the header says it. Tokens and sealed texts have no characters that would have to be quoted.
    fn text(&self, here: &str) -> String {
        let Self {
            name,
            value,
            path,
            same_site,
            age_s,
        } = self;
        let secure = if here.starts_with("https://") {
            "; Secure"
        } else {
            ""
        };
        format!(
            "{name}={value}; Path={path}; HttpOnly; SameSite={same_site}; Max-Age={age_s}{secure}"
        )
    }
}

/// A cookie of a request.
fn cookie<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let lines = headers.get_all(header::COOKIE).iter();
    let texts = lines.filter_map(|line| line.to_str().ok());
    let mut cookies = texts.flat_map(|text| text.split(';'));
    cookies.find_map(|cookie| {
        cookie
            .trim()
            .split_once('=')
            .filter(|(n, _)| *n == name)
            .map(|(_, value)| value)
    })
}

/// Sends a browser somewhere.
fn go(address: &str, cookies: &[String]) -> Response {
    let Ok(address) = HeaderValue::from_str(address) else {
        return StatusCode::BAD_GATEWAY.into_response();
    };
    let mut response = StatusCode::FOUND.into_response();
    let headers = response.headers_mut();
    headers.insert(header::LOCATION, address);
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    set(&mut response, cookies);
    response
}

fn set(response: &mut Response, cookies: &[String]) {
    for cookie in cookies {
        if let Ok(value) = HeaderValue::from_str(cookie) {
            response.headers_mut().append(header::SET_COOKIE, value);
        }
    }
}
