//! Sessions of local users: signing in with a password, tokens, and renewing them.

use dormouse_identity::jwt::{self, Expected, Key, Unverified};
use dormouse_identity::password;
use dormouse_store::Tenant;
use serde_json::{Map, Value, json};

use super::{Asking, Identity, Kind, KnownUser, Principal};
use crate::error::RuntimeError;

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
    /// Signs a user in. `None`: there is no such user, or the password is another; which of them is not told.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn sign_in(
        &self,
        tenant: &Tenant,
        name: &str,
        given: &str,
    ) -> Result<Option<Tokens>, RuntimeError> {
        if !self.authentication().users {
            return Ok(None);
        }
        let name = name.trim().to_lowercase();
        let found = match super::user::is_name(&name) {
            true => self.runtime.store().user(tenant, &name).await?,
            false => None,
        };
        let kept = found.as_ref().map(|user| user.value.password.as_str());
        let turn = self.kept.password.lock().await;
        let is_right = password::verify(given, kept);
        drop(turn);
        if !is_right {
            return Ok(None);
        }
        let Some(user) = found else { return Ok(None) };
        let known = self.read_user(tenant, &user.value.name).await?;
        match known.filter(|known| known.stamp == user.value.stamp) {
            Some(known) => self.tokens(&known).await.map(Some),
            None => Ok(None),
        }
    }

    /// A new pair of tokens for a refresh token. `None`: it does not count, or its user has changed.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn refresh(&self, token: &str) -> Result<Option<Tokens>, RuntimeError> {
        let Ok(token) = Unverified::read(token) else {
            return Ok(None);
        };
        if !self.authentication().users {
            return Ok(None);
        }
        match self.claims(token, REFRESH).await? {
            Some((tenant, name, stamp)) => {
                let known = self.read_user(&tenant, &name).await?;
                match known.filter(|known| known.stamp == stamp) {
                    Some(known) => self.tokens(&known).await.map(Some),
                    None => Ok(None),
                }
            }
            None => Ok(None),
        }
    }

    /// Who shows one of our own tokens.
    pub(super) async fn of_session(
        &self,
        token: Unverified<'_>,
        usage: &str,
    ) -> Result<Asking, RuntimeError> {
        let Some((tenant, name, stamp)) = self.claims(token, usage).await? else {
            return Ok(Asking::Refused("the token does not count"));
        };
        let now = self.runtime.now().0;
        let key = format!("{tenant}/{name}");
        let known = match self.kept.users.get(&key, now) {
            Some(known) => Some(known),
            None => self
                .read_user(&tenant, &name)
                .await?
                .map(|known| self.kept.users.put(key, known, now)),
        };
        Ok(match known.filter(|known| known.stamp == stamp) {
            Some(known) => Asking::Known(known.principal),
            None => Asking::Refused("the token's user has changed"),
        })
    }

    /// Tenant, name and stamp out of one of our own tokens, if it counts.
    async fn claims(
        &self,
        token: Unverified<'_>,
        usage: &str,
    ) -> Result<Option<(Tenant, String, String)>, RuntimeError> {
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
        Ok(read(&claims, usage))
    }

    async fn read_user(
        &self,
        tenant: &Tenant,
        name: &str,
    ) -> Result<Option<KnownUser>, RuntimeError> {
        let Some(user) = self.runtime.store().user(tenant, name).await? else {
            return Ok(None);
        };
        let user = user.value;
        let permissions = self.runtime.permissions_of(tenant, &user.roles).await?;
        Ok(Some(KnownUser {
            stamp: user.stamp,
            principal: Principal {
                tenant: tenant.clone(),
                kind: Kind::User,
                name: user.name,
                permissions,
            },
        }))
    }

    async fn tokens(&self, known: &KnownUser) -> Result<Tokens, RuntimeError> {
        let key = self.kept.signing.current(&self.runtime).await?;
        let now_s = self.runtime.now().0 / 1_000;
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
                "iat": now_s,
                "exp": now_s + life_s,
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

fn read(claims: &Map<String, Value>, usage: &str) -> Option<(Tenant, String, String)> {
    let text = |name: &str| claims.get(name).and_then(Value::as_str);
    if text("token_use") != Some(usage) {
        return None;
    }
    let tenant = Tenant::new(text("tenant")?).ok()?;
    Some((tenant, text("sub")?.to_owned(), text("stamp")?.to_owned()))
}
