//! Who is asking: API keys, local users with passwords and tokens, and tokens of an outside issuer.

mod application;
mod authentication;
mod external;
mod first_use;
mod holder;
mod oidc;
mod oidc_claims;
mod principal;
mod recent;
mod role;
mod session;
mod signing;
mod user;

use std::sync::Arc;

use dormouse_identity::ApiKey;
use dormouse_identity::jwt::Unverified;
use dormouse_store::Tenant;
pub use dormouse_store::identity::application::Application;
pub use dormouse_store::identity::role::Role;
pub use dormouse_store::identity::user::User;
use futures_util::lock::Mutex;

pub use application::{ApplicationMade, NewApplication};
pub use authentication::{Authentication, BadAuthentication, JwtSettings};
pub use first_use::FirstUse;
pub use oidc::{OidcBegun, OidcSettings, OidcSignIn};
pub use principal::{Kind, Principal};
pub use role::RoleOutcome;
pub use session::{SignInError, Tokens};
pub use user::{UserChange, UserOutcome};

use crate::error::RuntimeError;
use crate::port::Compute;
use crate::runtime::Runtime;
use crate::runtime::handle::handle;
use external::External;
use holder::KnownSession;
use recent::Recent;
use signing::Signing;

handle!(
    /// Users, roles and applications as they are stored.
    pub Accounts,
    accounts
);

/// How long a user, a role or a key is believed to be as it was read, in ms: a change of another node is in force
/// after this, one of this node at once.
const BELIEVED_MS: i64 = 10_000;

/// What a request's credential says of its sender.
#[derive(Debug)]
pub enum Asking {
    /// It has none.
    Nobody,
    /// It is theirs.
    Known(Principal),
    /// It does not count. The reason is for the log.
    Refused(&'static str),
}

/// Knows who is asking, and remembers it for a while. One for a process.
pub struct Identity {
    runtime: Runtime,
    kept: Arc<Kept>,
    /// Threads for passwords. `None`: they are checked where they are asked about.
    compute: Option<Arc<dyn Compute>>,
}

struct Kept {
    authentication: Authentication,
    known: Recent<KnownKey>,
    users: Recent<KnownUser>,
    /// Sessions, and whether they go on.
    sessions: Recent<KnownSession>,
    signing: Signing,
    external: Option<External>,
    /// Where people sign in, if not here.
    oidc: Option<External>,
    /// Held by whoever checks a password: that takes a processor and 19 MB, so one does it at a time.
    password: Mutex<()>,
}

/// What is remembered of an API key.
#[derive(Debug, Clone)]
struct KnownKey {
    digest: String,
    expires_ms: Option<i64>,
    principal: Principal,
}

/// What is remembered of a user.
#[derive(Debug, Clone)]
struct KnownUser {
    stamp: String,
    principal: Principal,
}

impl Identity {
    /// Knows those whom the setting lets in.
    #[must_use]
    pub fn new(runtime: Runtime, authentication: Authentication) -> Self {
        let kept = Kept {
            known: Recent::new(BELIEVED_MS),
            users: Recent::new(BELIEVED_MS),
            sessions: Recent::new(BELIEVED_MS),
            signing: Signing::default(),
            external: authentication.jwt.clone().map(External::new),
            oidc: authentication.oidc.as_ref().map(oidc::issuer),
            password: Mutex::default(),
            authentication,
        };
        Self {
            runtime,
            kept: Arc::new(kept),
            compute: None,
        }
    }

    /// The same over another runtime of the same table, with all that it remembers.
    #[must_use]
    pub fn with_runtime(&self, runtime: Runtime) -> Self {
        Self {
            runtime,
            kept: Arc::clone(&self.kept),
            compute: self.compute.clone(),
        }
    }

    /// The same with threads on which passwords are checked and made.
    #[must_use]
    pub fn with_compute(&self, compute: Arc<dyn Compute>) -> Self {
        Self {
            compute: Some(compute),
            ..self.with_runtime(self.runtime.clone())
        }
    }

    /// Who is let in.
    #[must_use]
    pub fn authentication(&self) -> &Authentication {
        &self.kept.authentication
    }

    /// Who is asking, by the header `Authorization`.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`] if it cannot be found out.
    pub async fn who(&self, authorization: Option<&str>) -> Result<Asking, RuntimeError> {
        if self.kept.authentication.is_open() {
            return Ok(Asking::Known(Principal::unasked()));
        }
        let Some(authorization) = authorization else {
            return Ok(Asking::Nobody);
        };
        let Some((scheme, credential)) = authorization.trim().split_once(' ') else {
            return Ok(Asking::Refused("it has no scheme"));
        };
        let credential = credential.trim();
        let is = |name: &str| scheme.eq_ignore_ascii_case(name);
        if is("ApiKey") || is("Bearer") && ApiKey::parse(credential).is_some() {
            self.of_api_key(credential).await
        } else if is("Bearer") {
            self.of_token(credential).await
        } else {
            Ok(Asking::Refused("its scheme is neither ApiKey nor Bearer"))
        }
    }

    /// Whether the header `Authorization` has the form of a credential of this product: an API key, or a token that names it as its
    /// issuer. Nothing is verified.
    #[must_use]
    pub fn is_own_credential(authorization: &str) -> bool {
        let Some((_, credential)) = authorization.trim().split_once(' ') else {
            return false;
        };
        let credential = credential.trim();
        let is_own = |token: Unverified<'_>| token.issuer() == Some(session::ISSUER);
        ApiKey::parse(credential).is_some() || Unverified::read(credential).is_ok_and(is_own)
    }

    async fn of_api_key(&self, text: &str) -> Result<Asking, RuntimeError> {
        let refused = Ok(Asking::Refused("there is no such API key"));
        if !self.kept.authentication.api_keys {
            return Ok(Asking::Refused("API keys are not taken"));
        }
        let Some(key) = ApiKey::parse(text) else {
            return refused;
        };
        let now = self.runtime.now().0;
        let known = match self.kept.known.get(&key.id, now) {
            Some(known) => known,
            None => match self.read_key(&key.id).await? {
                Some(known) => self.kept.known.put(key.id.clone(), known, now),
                None => return refused,
            },
        };
        if !key.secret.is(&known.digest) {
            return refused;
        }
        if known.expires_ms.is_some_and(|until| until <= now) {
            return Ok(Asking::Refused("the API key has expired"));
        }
        Ok(Asking::Known(known.principal))
    }

    async fn read_key(&self, id: &str) -> Result<Option<KnownKey>, RuntimeError> {
        let Some(found) = self.runtime.store().identities().application(id).await? else {
            return Ok(None);
        };
        let application = found.value;
        let tenant = Tenant::new(&application.tenant)?;
        let mut permissions = self
            .runtime
            .accounts()
            .permissions_of(&tenant, &application.roles)
            .await?;
        permissions.extend(application.permissions);
        Ok(Some(KnownKey {
            digest: application.digest,
            expires_ms: application.expires_ms,
            principal: Principal {
                tenant,
                kind: Kind::Application,
                name: application.name,
                permissions,
            },
        }))
    }

    async fn of_token(&self, text: &str) -> Result<Asking, RuntimeError> {
        let Ok(token) = Unverified::read(text) else {
            return Ok(Asking::Refused("the bearer is no token"));
        };
        // What is not verified chooses only by whose keys it is verified.
        if token.issuer() == Some(session::ISSUER) {
            if !self.kept.authentication.has_sessions() {
                return Ok(Asking::Refused("nobody signs in here"));
            }
            return self.of_session(token, session::ACCESS).await;
        }
        match &self.kept.external {
            Some(external) => {
                let is_multi = self.kept.authentication.is_multi_tenant;
                Ok(external.who(&self.runtime, token, is_multi).await)
            }
            None => Ok(Asking::Refused("tokens of other issuers are not taken")),
        }
    }
}
