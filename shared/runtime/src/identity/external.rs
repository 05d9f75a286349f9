//! Tokens of an outside issuer. Its public keys are fetched through the guard that all requests leave by, kept, and
//! fetched again only so often, whatever tokens come.

use dormouse_engine::call::{Answer, HttpRequest};
use dormouse_identity::Permissions;
use dormouse_identity::jwks::Jwks;
use dormouse_identity::jwt::{Expected, Unverified};
use dormouse_identity::user_name::shown;
use dormouse_store::Tenant;
use futures_util::lock::Mutex;
use serde_json::{Map, Value};

use super::{Asking, JwtSettings, Kind, Principal};
use crate::runtime::Runtime;

/// How old keys may be before they are fetched anew, in ms.
const FRESH_MS: i64 = 600_000;
/// How old keys may be when the issuer does not answer, in ms.
const STALE_MS: i64 = 24 * 3_600_000;
/// The least time between two fetches, in ms.
const PAUSE_MS: i64 = 30_000;
/// The least time between two attempts to fetch the discovery document, in ms.
const DOCUMENT_PAUSE_MS: i64 = 3_000;
/// How long a fetch may take, in ms.
pub(super) const FETCH_MS: u64 = 5_000;
/// The largest document that is read, in bytes.
pub(super) const DOCUMENT_BYTES_MAX: usize = 1 << 20;

/// An outside issuer.
#[derive(Debug)]
pub(super) struct External {
    settings: JwtSettings,
    kept: Mutex<Kept>,
    /// Held by whoever fetches the keys.
    turn: Mutex<()>,
    /// What the issuer says of itself. Held by whoever fetches it.
    discovered: Mutex<Discovered>,
}

/// The issuer's discovery document, as it was fetched last.
#[derive(Debug, Default)]
struct Discovered {
    document: Option<Value>,
    fetched_ms: Option<i64>,
    tried_ms: Option<i64>,
}

#[derive(Debug, Default)]
struct Kept {
    keys: Jwks,
    fetched_ms: Option<i64>,
    tried_ms: Option<i64>,
    is_fetching: bool,
}

/// Whether something is that old, or never was.
fn is_older(at: Option<i64>, ms: i64, now: i64) -> bool {
    at.is_none_or(|at| now.saturating_sub(at) >= ms)
}

impl External {
    pub(super) fn new(settings: JwtSettings) -> Self {
        Self {
            settings,
            kept: Mutex::default(),
            turn: Mutex::default(),
            discovered: Mutex::default(),
        }
    }

    /// Who the issuer is.
    pub(super) fn issuer(&self) -> &str {
        &self.settings.issuer
    }

    /// Who shows a token of the issuer.
    pub(super) async fn who(
        &self,
        runtime: &Runtime,
        token: Unverified<'_>,
        is_multi_tenant: bool,
    ) -> Asking {
        match self.claims(runtime, token).await {
            Ok(claims) => principal(&claims, is_multi_tenant).map_or(
                Asking::Refused("the token names no subject, or no tenant"),
                Asking::Known,
            ),
            Err(reason) => Asking::Refused(reason),
        }
    }

    /// What a token of the issuer says, if it counts. An error says why not, for the log.
    pub(super) async fn claims(
        &self,
        runtime: &Runtime,
        token: Unverified<'_>,
    ) -> Result<Map<String, Value>, &'static str> {
        let kid = token.header.kid.clone();
        let now = runtime.now().0;
        if self.is_due(kid.as_deref(), now).await {
            self.fetch_in_turn(runtime, kid.as_deref(), now).await;
        }
        let kept = self.kept.lock().await;
        if is_older(kept.fetched_ms, STALE_MS, now) {
            return Err("the issuer's keys cannot be had");
        }
        let key = kept.keys.get(kid.as_deref()).cloned();
        drop(kept);
        let Some(key) = key else {
            return Err("the issuer has no such key");
        };
        let expected = Expected {
            issuer: &self.settings.issuer,
            audience: &self.settings.audience,
            now_s: now / 1_000,
        };
        token.verify(&key, expected).map_err(|error| {
            tracing::info!(reason = %error, "a token that does not count");
            "the token does not count"
        })
    }

    /// Whether the keys should be fetched before a token with this key is looked at.
    async fn is_due(&self, kid: Option<&str>, now: i64) -> bool {
        let kept = self.kept.lock().await;
        let is_wanted = is_older(kept.fetched_ms, FRESH_MS, now) || kept.keys.get(kid).is_none();
        is_wanted && is_older(kept.tried_ms, PAUSE_MS, now)
            // Who has no key yet waits for the fetch that is under way.
            || kept.is_fetching && kept.keys.get(kid).is_none()
    }

    /// Fetches the keys, unless somebody else has just done it. Only those wait here who need it: a token with a key that is
    /// known passes by, however slow the issuer is.
    async fn fetch_in_turn(&self, runtime: &Runtime, kid: Option<&str>, now: i64) {
        let is_known = {
            let kept = self.kept.lock().await;
            kept.keys.get(kid).is_some()
        };
        let _turn = match is_known {
            // What is known does for now; one of them fetches.
            true => match self.turn.try_lock() {
                Some(turn) => turn,
                None => return,
            },
            false => self.turn.lock().await,
        };
        {
            let mut kept = self.kept.lock().await;
            if !is_older(kept.tried_ms, PAUSE_MS, now) {
                return;
            }
            kept.tried_ms = Some(now);
            kept.is_fetching = true;
        }
        let keys = self.fetch(runtime).await;
        let mut kept = self.kept.lock().await;
        kept.is_fetching = false;
        if let Some(keys) = keys {
            kept.keys = keys;
            kept.fetched_ms = Some(now);
        }
    }

    async fn fetch(&self, runtime: &Runtime) -> Option<Jwks> {
        let keys = match self.jwks_url(runtime).await {
            Some(url) => document(runtime, &url).await.and_then(|d| Jwks::read(&d)),
            None => None,
        };
        if keys.is_none() {
            let issuer = &self.settings.issuer;
            tracing::warn!(issuer, "the issuer's keys could not be fetched");
        }
        keys
    }

    /// Where the keys are: as configured, else as the issuer's discovery document says ("OpenID Connect Discovery
    /// 1.0", 4). That document must be the issuer's own.
    async fn jwks_url(&self, runtime: &Runtime) -> Option<String> {
        if let Some(url) = &self.settings.jwks_url {
            return Some(url.clone());
        }
        self.address(runtime, "jwks_uri").await
    }

    /// An address of the issuer's discovery document. It must have the issuer's scheme: not one that anybody on the way
    /// could answer for.
    pub(super) async fn address(&self, runtime: &Runtime, name: &str) -> Option<String> {
        let found = self.discover(runtime).await?;
        let scheme = self.settings.issuer.split("://").next()?;
        let url = found.get(name).and_then(Value::as_str)?;
        (url.split("://").next() == Some(scheme)).then(|| url.to_owned())
    }

    /// The issuer's discovery document, ten minutes old at most if the issuer answers. Whatever is asked, it is fetched only so
    /// often.
    async fn discover(&self, runtime: &Runtime) -> Option<Value> {
        let mut discovered = self.discovered.lock().await;
        let now = runtime.now().0;
        let is_due = is_older(discovered.fetched_ms, FRESH_MS, now)
            && is_older(discovered.tried_ms, DOCUMENT_PAUSE_MS, now);
        if is_due {
            discovered.tried_ms = Some(now);
            let issuer = &self.settings.issuer;
            let base = issuer.trim_end_matches('/');
            let url = format!("{base}/.well-known/openid-configuration");
            let found = document(runtime, &url).await;
            let found = found.and_then(|bytes| serde_json::from_slice::<Value>(&bytes).ok());
            let own = |found: &Value| found.get("issuer").and_then(Value::as_str) == Some(issuer);
            if let Some(found) = found.filter(own) {
                discovered.document = Some(found);
                discovered.fetched_ms = Some(now);
            }
        }
        discovered.document.clone()
    }
}

/// A document of the issuer's.
async fn document(runtime: &Runtime, url: &str) -> Option<Vec<u8>> {
    let request = HttpRequest {
        method: "GET".to_owned(),
        url: url.to_owned(),
        headers: vec![("accept".into(), "application/json".into())],
        ..HttpRequest::default()
    };
    let answer = runtime.ports().http_caller.call(&request, FETCH_MS).await;
    let Answer::Http {
        status: 200, body, ..
    } = answer
    else {
        return None;
    };
    (body.len() <= DOCUMENT_BYTES_MAX).then_some(body)
}

/// Who a token says its bearer is. Permissions are Elsa's claim `permissions`, or OAuth's `scope`.
fn principal(claims: &Map<String, Value>, is_multi_tenant: bool) -> Option<Principal> {
    let text = |name: &str| claims.get(name).and_then(Value::as_str);
    let tenant = match is_multi_tenant {
        true => Tenant::new(text("tenant")?).ok()?,
        false => Tenant::default(),
    };
    let mut permissions = Permissions::default();
    match claims.get("permissions") {
        Some(Value::Array(list)) => {
            permissions.extend(list.iter().filter_map(Value::as_str).map(str::to_owned));
        }
        Some(Value::String(one)) => permissions.extend([one.clone()]),
        _ => {}
    }
    for scopes in [text("scope"), text("scp")].into_iter().flatten() {
        permissions.extend(scopes.split_whitespace().map(str::to_owned));
    }
    Some(Principal {
        tenant,
        kind: Kind::External,
        name: text("sub").map(shown).filter(|sub| !sub.is_empty())?,
        permissions,
    })
}
