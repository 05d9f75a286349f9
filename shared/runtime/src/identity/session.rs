//! Sessions: signing in with a password, tokens, and renewing them.

use dormouse_identity::jwt::{self, Expected, Key, Unverified};
use dormouse_identity::password;
use dormouse_store::Tenant;
use dormouse_store::identity::session::Session;
use dormouse_store::item::versioned::Versioned;
use serde_json::{Map, Value, json};

use super::holder::KnownSession;
use super::{Asking, Identity, KnownUser, Principal};
use crate::error::RuntimeError;
use crate::port::{ComputeError, Share, compute};

/// What our own tokens say in `iss`.
pub(super) const ISSUER: &str = "dormouse";
/// What our own tokens say in `aud`.
const AUDIENCE: &str = "dormouse-api";
/// What an access token says in `token_use`.
pub(super) const ACCESS: &str = "access";
/// What a refresh token says in `token_use`.
const REFRESH: &str = "refresh";
/// How long an access token counts, in seconds.
const ACCESS_S: i64 = 3_600;
/// How long a refresh token counts, in seconds.
const REFRESH_S: i64 = 24 * 3_600;
/// How long after signing in tokens can be renewed, in seconds: a week. Then the user signs in again.
const SESSION_S: i64 = 7 * 24 * 3_600;
/// How long after a renewal the token before it still counts, in ms: two tabs may renew at once, and a client whose answer was
/// lost tries again after some seconds. Later it is taken for a stolen one, and the session ends.
const OVERLAP_MS: i64 = 30_000;

/// Reason why nobody could be signed in or not.
#[derive(Debug, thiserror::Error)]
pub enum SignInError {
    /// The store failed.
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
    /// Too many passwords are being checked.
    #[error(transparent)]
    Compute(#[from] ComputeError),
}

/// What one of our own tokens says.
struct Claims {
    tenant: Tenant,
    name: String,
    stamp: String,
    /// The session. `None`: an access token of a build that had none.
    session: Option<String>,
    /// The number of a refresh token within its session.
    number: u64,
}

/// The tokens of a session.
#[derive(Debug, Clone)]
pub struct Tokens {
    /// Whose they are.
    pub principal: Principal,
    /// For requests.
    pub access: String,
    /// For a new pair.
    pub refresh: String,
}

impl Identity {
    /// Signs a user in. `None`: there is no such user, or the password is another; which of them is not told. `turn` says
    /// with whom the check of the password takes turns.
    ///
    /// # Errors
    ///
    /// [`SignInError`]
    pub async fn sign_in(
        &self,
        tenant: &Tenant,
        name: &str,
        given: &str,
        turn: Share,
    ) -> Result<Option<Tokens>, SignInError> {
        if !self.authentication().users {
            return Ok(None);
        }
        let name = super::user::folded(name);
        let found = match super::user::is_name(&name) {
            true => {
                let found = self.runtime.store().identities().user(tenant, &name).await;
                found.map_err(RuntimeError::from)?
            }
            false => None,
        };
        let kept = found.as_ref().map(|user| user.value.password.clone());
        let given = given.to_owned();
        let check = async move { password::verify(&given, kept.as_deref()) };
        let is_right = match &self.compute {
            Some(port) => compute(Some(port), turn, check).await?,
            None => {
                let _turn = self.kept.password.lock().await;
                check.await
            }
        };
        let Some(user) = found.filter(|_| is_right) else {
            return Ok(None);
        };
        let known = self.read_user(tenant, &user.value.name).await?;
        match known.filter(|known| known.stamp == user.value.stamp) {
            Some(known) => Ok(Some(self.begin_session(&known).await?)),
            None => Ok(None),
        }
    }

    async fn begin_session(&self, known: &KnownUser) -> Result<Tokens, RuntimeError> {
        let principal = &known.principal;
        let session = self.new_session(&principal.tenant, &principal.name, SESSION_S);
        self.put_session(known, session).await
    }

    pub(super) fn new_session(&self, tenant: &Tenant, user: &str, life_s: i64) -> Session {
        let now = self.runtime.now();
        Session {
            id: self.runtime.new_id(),
            tenant: tenant.to_string(),
            user: user.to_owned(),
            roles: None,
            number: 1,
            renewed_ms: now.0,
            ends_ms: now.plus_ms(life_s * 1_000).0,
        }
    }

    /// Stores a new session, and gives its tokens.
    pub(super) async fn put_session(
        &self,
        known: &KnownUser,
        session: Session,
    ) -> Result<Tokens, RuntimeError> {
        let session = Versioned::new(session);
        self.runtime
            .store()
            .identities()
            .put_session(&session)
            .await?;
        self.tokens(known, &session.value).await
    }

    /// A new pair of tokens for a refresh token, which counts no more then. `None`: it does not count, or its user has changed.
    /// One that was renewed before ends its session: either its owner or somebody else has a copy, and nobody knows who asks.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn refresh(&self, token: &str) -> Result<Option<Tokens>, RuntimeError> {
        let Some(claims) = self.own_claims(token, &[REFRESH]).await? else {
            return Ok(None);
        };
        let id = claims.session.as_deref().unwrap_or_default();
        // Somebody else may renew at the same moment; then what they made is looked at.
        for _ in 0..2 {
            let Some(mut session) = self.session(id).await? else {
                return Ok(None);
            };
            let known = self.holder(&session.value).await?;
            let Some(known) = known.filter(|known| known.stamp == claims.stamp) else {
                return Ok(None);
            };
            let now = self.runtime.now().0;
            let age_ms = now.saturating_sub(session.value.renewed_ms);
            let is_overlap = claims.number + 1 == session.value.number && age_ms < OVERLAP_MS;
            if is_overlap {
                return self.tokens(&known, &session.value).await.map(Some);
            }
            if claims.number != session.value.number {
                self.runtime
                    .store()
                    .identities()
                    .delete_session(&session)
                    .await?;
                self.kept.sessions.forget();
                let user = known.principal.name.as_str();
                tracing::warn!(user, "a refresh token was used again; its session is ended");
                return Ok(None);
            }
            session.value.number += 1;
            session.value.renewed_ms = now;
            if self
                .runtime
                .store()
                .identities()
                .put_session(&session)
                .await?
            {
                return self.tokens(&known, &session.value).await.map(Some);
            }
        }
        Ok(None)
    }

    /// Ends the session of an access token or a refresh token. False: the token does not count.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn sign_out(&self, token: &str) -> Result<bool, RuntimeError> {
        let claims = self.own_claims(token, &[ACCESS, REFRESH]).await?;
        let Some(id) = claims.and_then(|claims| claims.session) else {
            return Ok(false);
        };
        while let Some(session) = self.session(&id).await? {
            if self
                .runtime
                .store()
                .identities()
                .delete_session(&session)
                .await?
            {
                break;
            }
        }
        self.kept.sessions.forget();
        Ok(true)
    }

    /// A session that is not over.
    pub(super) async fn session(
        &self,
        id: &str,
    ) -> Result<Option<Versioned<Session>>, RuntimeError> {
        if id.is_empty() {
            return Ok(None);
        }
        let found = self.runtime.store().identities().session(id).await?;
        let now = self.runtime.now().0;
        Ok(found.filter(|session| session.value.ends_ms > now))
    }

    /// Who shows one of our own tokens.
    pub(super) async fn of_session(
        &self,
        token: Unverified<'_>,
        usage: &str,
    ) -> Result<Asking, RuntimeError> {
        let Some(claims) = self.claims(token, &[usage]).await? else {
            return Ok(Asking::Refused("the token does not count"));
        };
        if let Some(id) = &claims.session {
            match self.known_session(id).await? {
                KnownSession::Ended => {
                    return Ok(Asking::Refused("the token's session is ended"));
                }
                KnownSession::OfIssuer(holder) => return Ok(Asking::Known(holder.principal)),
                KnownSession::OfUser => {}
            }
        }
        let now = self.runtime.now().0;
        let key = format!("{}/{}", claims.tenant, claims.name);
        let known = match self.kept.users.get(&key, now) {
            Some(known) => Some(known),
            None => self
                .read_user(&claims.tenant, &claims.name)
                .await?
                .map(|known| self.kept.users.put(key, known, now)),
        };
        Ok(match known.filter(|known| known.stamp == claims.stamp) {
            Some(known) => Asking::Known(known.principal),
            None => Asking::Refused("the token's user has changed"),
        })
    }

    /// What a text says that is one of our own tokens, if it counts.
    async fn own_claims(
        &self,
        token: &str,
        usages: &[&str],
    ) -> Result<Option<Claims>, RuntimeError> {
        match Unverified::read(token) {
            Ok(token) if self.authentication().has_sessions() => self.claims(token, usages).await,
            Ok(_) | Err(_) => Ok(None),
        }
    }

    /// What one of our own tokens says, if it counts.
    async fn claims(
        &self,
        token: Unverified<'_>,
        usages: &[&str],
    ) -> Result<Option<Claims>, RuntimeError> {
        let kid = token.header.kid.clone().unwrap_or_default();
        let Some(key) = self.kept.signing.find(&self.runtime, &kid).await? else {
            return Ok(None);
        };
        let expected = Expected {
            issuer: ISSUER,
            audience: AUDIENCE,
            now_s: self.runtime.now().0 / 1_000,
        };
        let Ok(claims) = token.verify(&Key::Shared(key.secret.to_vec()), expected) else {
            return Ok(None);
        };
        Ok(read(&claims, usages))
    }

    async fn tokens(&self, known: &KnownUser, session: &Session) -> Result<Tokens, RuntimeError> {
        let key = self.kept.signing.current(&self.runtime).await?;
        let now_s = self.runtime.now().0 / 1_000;
        let end_s = session.ends_ms / 1_000;
        let principal = &known.principal;
        let permissions: Vec<&str> = principal.permissions.names().collect();
        let token = |usage: &str, life_s: i64| {
            // What may be done is looked up with each request. It is named here for those who show it to people.
            let permissions = (usage == ACCESS).then_some(&permissions);
            let claims = json!({
                "iss": ISSUER,
                "aud": AUDIENCE,
                "sub": principal.name,
                "name": principal.name,
                "tenant": principal.tenant.as_str(),
                "stamp": known.stamp,
                "permissions": permissions,
                "token_use": usage,
                "sid": session.id,
                "number": session.number,
                "iat": now_s,
                "exp": end_s.min(now_s + life_s),
            });
            jwt::sign(&key.kid, &key.secret, &claims)
        };
        Ok(Tokens {
            access: token(ACCESS, ACCESS_S),
            refresh: token(REFRESH, REFRESH_S),
            principal: principal.clone(),
        })
    }
}

fn read(claims: &Map<String, Value>, usages: &[&str]) -> Option<Claims> {
    let text = |name: &str| claims.get(name).and_then(Value::as_str);
    if !usages.contains(&text("token_use")?) {
        return None;
    }
    Some(Claims {
        tenant: Tenant::new(text("tenant")?).ok()?,
        name: text("sub")?.to_owned(),
        stamp: text("stamp")?.to_owned(),
        session: text("sid").map(str::to_owned),
        number: claims.get("number").and_then(Value::as_u64).unwrap_or(0),
    })
}
