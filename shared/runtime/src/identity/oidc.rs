//! Signing in at an outside issuer: the authorization code flow with PKCE ("OpenID Connect Core 1.0", 3.1; RFC 7636).
//!
//! While a person is at the issuer, their browser keeps the attempt, sealed; nothing is stored here. Back from there, the
//! code is exchanged, the identity token is verified, and a session begins that is like any other. It keeps the roles that the
//! person's groups have here, and ends after a working day: then the issuer is asked again.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use dormouse_engine::call::{Answer, HttpRequest};
use dormouse_identity::jwt::Unverified;
use dormouse_identity::mac;
use dormouse_store::Tenant;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::external::{DOCUMENT_BYTES_MAX, External, FETCH_MS};
use super::oidc_claims::{groups, is_of_another_client, name};
use super::{Identity, JwtSettings, Tokens};
use crate::error::RuntimeError;

/// How long somebody may take at the issuer, in ms.
const ATTEMPT_MS: i64 = 600_000;
/// How long a session lasts that began at an issuer, in seconds: a working day. Then the issuer is asked again.
const SESSION_S: i64 = 10 * 3_600;
/// What a sealed attempt is for.
const PURPOSE: &str = "oidc attempt";
/// The longest code or state that is taken, in bytes.
const PARAMETER_BYTES_MAX: usize = 4_096;
/// The group that everybody is in.
const EVERYBODY: &str = "*";

/// An outside issuer where people sign in.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct OidcSettings {
    /// Its address, which its tokens say in `iss`.
    pub issuer: String,
    /// What this server is called there.
    pub client_id: String,
    /// What this server proves itself with there. `None`: it is a public client.
    pub client_secret: Option<String>,
    /// What is asked for, with spaces in between; `openid` is always among it.
    pub scopes: String,
    /// The claim that names a person's groups: a list of texts, or one text. Dots lead into objects.
    pub groups_claim: String,
    /// The ids of the roles that a group has here. The group `*` is everybody.
    pub roles: BTreeMap<String, Vec<String>>,
}

/// The secret is in no log.
impl std::fmt::Debug for OidcSettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OidcSettings")
            .field("issuer", &self.issuer)
            .field("client_id", &self.client_id)
            .field("groups_claim", &self.groups_claim)
            .field("roles", &self.roles)
            .finish_non_exhaustive()
    }
}

/// An attempt to sign in that has begun.
#[derive(Debug, Clone)]
pub struct OidcBegun {
    /// Where the person's browser goes.
    pub address: String,
    /// What the browser keeps until the person is back.
    pub kept: String,
}

/// What became of an attempt.
#[derive(Debug, Clone)]
pub enum OidcSignIn {
    /// A session has begun.
    SignedIn(Tokens),
    /// The issuer knows this person, and none of their groups has a role here.
    NoRole(String),
    /// It failed. The reason is for the log.
    Failed(&'static str),
}

/// What a browser keeps while its user is at the issuer.
#[derive(Debug, Serialize, Deserialize)]
struct Attempt {
    state: String,
    nonce: String,
    verifier: String,
    /// Where the issuer sends the browser back to.
    back: String,
    until_ms: i64,
}

/// The issuer of a setting: its tokens are for this server as its client.
pub(super) fn issuer(settings: &OidcSettings) -> External {
    External::new(JwtSettings {
        issuer: settings.issuer.clone(),
        audience: settings.client_id.clone(),
        jwks_url: None,
    })
}

impl Identity {
    /// Begins an attempt; the issuer is to send the browser back to `back`. `None`: there is no issuer, or it does not answer.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn begin_oidc(&self, back: &str) -> Result<Option<OidcBegun>, RuntimeError> {
        let Some((settings, issuer)) = self.oidc() else {
            return Ok(None);
        };
        let Some(address) = issuer
            .address(&self.runtime, "authorization_endpoint")
            .await
        else {
            let issuer = issuer.issuer();
            tracing::warn!(issuer, "the issuer does not say where people sign in");
            return Ok(None);
        };
        let chance = || self.runtime.new_secret().text();
        let attempt = Attempt {
            state: chance(),
            nonce: chance(),
            verifier: chance(),
            back: back.to_owned(),
            until_ms: self.runtime.now().plus_ms(ATTEMPT_MS).0,
        };
        let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(attempt.verifier.as_bytes()));
        let query = form_urlencoded::Serializer::new(String::new())
            .append_pair("response_type", "code")
            .append_pair("client_id", &settings.client_id)
            .append_pair("redirect_uri", back)
            .append_pair("scope", &scopes(&settings.scopes))
            .append_pair("state", &attempt.state)
            .append_pair("nonce", &attempt.nonce)
            .append_pair("code_challenge", &challenge)
            .append_pair("code_challenge_method", "S256")
            .finish();
        let joint = if address.contains('?') { '&' } else { '?' };
        let key = self.kept.signing.current(&self.runtime).await?;
        let text = serde_json::to_string(&attempt).unwrap_or_default();
        Ok(Some(OidcBegun {
            address: format!("{address}{joint}{query}"),
            kept: mac::seal(&key.secret, PURPOSE, &text),
        }))
    }

    /// Ends an attempt, with what the browser kept and what the issuer gave it.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn end_oidc(
        &self,
        kept: &str,
        state: &str,
        code: &str,
    ) -> Result<OidcSignIn, RuntimeError> {
        let Some((settings, issuer)) = self.oidc() else {
            return Ok(OidcSignIn::Failed("nobody signs in at an issuer here"));
        };
        if code.is_empty() || code.len().max(kept.len()) > PARAMETER_BYTES_MAX {
            return Ok(OidcSignIn::Failed("the issuer gave no code"));
        }
        let key = self.kept.signing.current(&self.runtime).await?;
        let text = mac::open(&key.secret, PURPOSE, kept);
        let attempt = text.and_then(|text| serde_json::from_str::<Attempt>(&text).ok());
        let Some(attempt) = attempt.filter(|attempt| attempt.state == state) else {
            return Ok(OidcSignIn::Failed("the browser did not begin this attempt"));
        };
        if attempt.until_ms <= self.runtime.now().0 {
            return Ok(OidcSignIn::Failed("the attempt took too long"));
        }
        let Some(token) = self.exchange(settings, issuer, &attempt, code).await else {
            return Ok(OidcSignIn::Failed("the issuer did not take the code"));
        };
        let Ok(token) = Unverified::read(&token) else {
            return Ok(OidcSignIn::Failed("the issuer gave no identity token"));
        };
        let claims = match issuer.claims(&self.runtime, token).await {
            Ok(claims) => claims,
            Err(reason) => return Ok(OidcSignIn::Failed(reason)),
        };
        if claims.get("nonce").and_then(Value::as_str) != Some(&attempt.nonce) {
            return Ok(OidcSignIn::Failed("the token is of another attempt"));
        }
        if is_of_another_client(&claims, &settings.client_id) {
            return Ok(OidcSignIn::Failed("the token was made for another client"));
        }
        self.begin_session_of(settings, &claims).await
    }

    /// Where a browser goes to be signed out at the issuer, and then to `back`. `None`: the issuer has no such place.
    pub async fn oidc_sign_out(&self, back: &str) -> Option<String> {
        let (settings, issuer) = self.oidc()?;
        let address = issuer
            .address(&self.runtime, "end_session_endpoint")
            .await?;
        let query = form_urlencoded::Serializer::new(String::new())
            .append_pair("client_id", &settings.client_id)
            .append_pair("post_logout_redirect_uri", back)
            .finish();
        let joint = if address.contains('?') { '&' } else { '?' };
        Some(format!("{address}{joint}{query}"))
    }

    fn oidc(&self) -> Option<(&OidcSettings, &External)> {
        Some((
            self.authentication().oidc.as_ref()?,
            self.kept.oidc.as_ref()?,
        ))
    }

    /// The identity token for a code.
    async fn exchange(
        &self,
        settings: &OidcSettings,
        issuer: &External,
        attempt: &Attempt,
        code: &str,
    ) -> Option<String> {
        let url = issuer.address(&self.runtime, "token_endpoint").await?;
        let request = token_request(settings, attempt, code, url);
        let caller = &self.runtime.ports().http_caller;
        let Answer::Http { status, body, .. } = caller.call(&request, FETCH_MS).await else {
            tracing::warn!("the issuer's token endpoint does not answer");
            return None;
        };
        if status != 200 || body.len() > DOCUMENT_BYTES_MAX {
            tracing::warn!(status, "the issuer's token endpoint refused a code");
            return None;
        }
        let told: Value = serde_json::from_slice(&body).ok()?;
        told.get("id_token")?.as_str().map(str::to_owned)
    }

    async fn begin_session_of(
        &self,
        settings: &OidcSettings,
        claims: &Map<String, Value>,
    ) -> Result<OidcSignIn, RuntimeError> {
        let Some(name) = name(claims) else {
            return Ok(OidcSignIn::Failed("the token names no subject"));
        };
        let tenant = match self.authentication().is_multi_tenant {
            false => Some(Tenant::default()),
            true => {
                let named = claims.get("tenant").and_then(Value::as_str);
                named.and_then(|name| Tenant::new(name).ok())
            }
        };
        let Some(tenant) = tenant else {
            return Ok(OidcSignIn::Failed("the token names no tenant"));
        };
        let groups = groups(claims, &settings.groups_claim);
        let of = |group: &str| settings.roles.get(group).cloned().unwrap_or_default();
        let mut roles: Vec<String> = groups.into_iter().flat_map(of).collect();
        roles.extend(of(EVERYBODY));
        roles.sort();
        roles.dedup();
        let mut session = self.new_session(&tenant, &name, SESSION_S);
        session.roles = Some(roles);
        let holder = self.holder(&session).await?;
        match holder.filter(|holder| holder.principal.permissions.names().next().is_some()) {
            Some(holder) => {
                let tokens = self.put_session(&holder, session).await?;
                Ok(OidcSignIn::SignedIn(tokens))
            }
            None => Ok(OidcSignIn::NoRole(name)),
        }
    }
}

/// The request that exchanges a code, with the proof that it is for whoever began the attempt.
fn token_request(
    settings: &OidcSettings,
    attempt: &Attempt,
    code: &str,
    url: String,
) -> HttpRequest {
    let mut form = form_urlencoded::Serializer::new(String::new());
    form.append_pair("grant_type", "authorization_code")
        .append_pair("code", code)
        .append_pair("redirect_uri", &attempt.back)
        .append_pair("code_verifier", &attempt.verifier);
    let mut headers = vec![
        ("accept".into(), "application/json".into()),
        (
            "content-type".into(),
            "application/x-www-form-urlencoded".into(),
        ),
    ];
    match &settings.client_secret {
        None => {
            form.append_pair("client_id", &settings.client_id);
        }
        Some(secret) => {
            // RFC 6749, 2.3.1: both are encoded as in a form before they are joined.
            let part =
                |text: &str| form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
            let both = format!("{}:{}", part(&settings.client_id), part(secret));
            let basic = format!("Basic {}", STANDARD.encode(both));
            headers.push(("authorization".into(), basic));
        }
    }
    HttpRequest {
        method: "POST".into(),
        url,
        headers,
        body: Some(form.finish().into_bytes()),
        ..HttpRequest::default()
    }
}

fn scopes(wanted: &str) -> String {
    let others = wanted.split_whitespace().filter(|word| *word != "openid");
    ["openid"]
        .into_iter()
        .chain(others)
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identity_is_always_asked_for() {
        assert_eq!(scopes("profile openid email"), "openid profile email");
        assert_eq!(scopes(""), "openid");
    }
}
