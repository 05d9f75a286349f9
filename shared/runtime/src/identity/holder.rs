//! Whose a session is.

use dormouse_store::Tenant;
use dormouse_store::identity::session::Session;

use super::{Identity, Kind, KnownUser, Principal};
use crate::error::RuntimeError;

/// What is known of a session.
#[derive(Debug, Clone)]
pub(super) enum KnownSession {
    /// It is over, or there has never been one.
    Ended,
    /// A local user's.
    OfUser,
    /// Somebody's who signed in at an outside issuer.
    OfIssuer(KnownUser),
}

impl Identity {
    /// Whose session it is.
    pub(super) async fn holder(
        &self,
        session: &Session,
    ) -> Result<Option<KnownUser>, RuntimeError> {
        let tenant = Tenant::new(&session.tenant)?;
        let Some(roles) = &session.roles else {
            return self.read_user(&tenant, &session.user).await;
        };
        let accounts = self.runtime.accounts();
        let permissions = accounts.permissions_of(&tenant, roles).await?;
        Ok(Some(KnownUser {
            stamp: session.id.clone(),
            principal: Principal {
                tenant,
                kind: Kind::External,
                name: session.user.clone(),
                permissions,
            },
        }))
    }

    /// A session as far as it is known.
    pub(super) async fn known_session(&self, id: &str) -> Result<KnownSession, RuntimeError> {
        let now = self.runtime.now().0;
        if let Some(known) = self.kept.sessions.get(id, now) {
            return Ok(known);
        }
        let known = match self.session(id).await? {
            None => KnownSession::Ended,
            Some(session) if session.value.roles.is_none() => KnownSession::OfUser,
            Some(session) => match self.holder(&session.value).await? {
                Some(holder) => KnownSession::OfIssuer(holder),
                None => KnownSession::Ended,
            },
        };
        Ok(self.kept.sessions.put(id.to_owned(), known, now))
    }

    /// A local user.
    pub(super) async fn read_user(
        &self,
        tenant: &Tenant,
        name: &str,
    ) -> Result<Option<KnownUser>, RuntimeError> {
        let Some(user) = self.runtime.store().identities().user(tenant, name).await? else {
            return Ok(None);
        };
        let user = user.value;
        let permissions = self
            .runtime
            .accounts()
            .permissions_of(tenant, &user.roles)
            .await?;
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
}
