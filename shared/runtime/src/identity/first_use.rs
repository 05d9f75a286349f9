//! The first use of a deployment: there are no default credentials, so somebody must get the first ones.

use dormouse_identity::permission::EVERYTHING;
use dormouse_identity::{ApiKey, Secret};
use dormouse_store::Tenant;
use dormouse_store::identity::role::Role;
use dormouse_store::item::versioned::Versioned;

use super::application::NewApplication;
use super::user::UserChange;
use crate::error::RuntimeError;
use crate::identity::Accounts;

/// The role that permits everything, and the first user's name.
const ADMIN: &str = "admin";

/// The first user. The password is told this once.
#[derive(Clone)]
pub struct FirstUse {
    /// The name.
    pub user: String,
    /// The password.
    pub password: String,
}

impl Accounts<'_> {
    /// Makes the first user, with a password made up and the role `admin`, unless there are users. `None`: there
    /// are, or another node was first.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn make_first_user(self, tenant: &Tenant) -> Result<Option<FirstUse>, RuntimeError> {
        if !self.store().identities().users(tenant).await?.is_empty() {
            return Ok(None);
        }
        self.make_admin_role(tenant).await?;
        let change = UserChange {
            name: ADMIN.to_owned(),
            roles: Some(vec![ADMIN.to_owned()]),
            ..UserChange::default()
        };
        let Some((user, Some(password))) = self.changed_user(None, change) else {
            return Ok(None);
        };
        let user = Versioned::new(user);
        let is_first = self.store().identities().put_user(tenant, &user).await?;
        Ok(is_first.then(|| FirstUse {
            user: ADMIN.to_owned(),
            password,
        }))
    }

    /// Makes an API key that may do everything, for the command line beside the server.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn make_admin_key(self, tenant: &Tenant, name: &str) -> Result<ApiKey, RuntimeError> {
        self.make_admin_role(tenant).await?;
        let new = NewApplication {
            name: name.to_owned(),
            roles: vec![ADMIN.to_owned()],
            ..NewApplication::default()
        };
        let (_, key) = self.new_application(tenant, new).await?;
        Ok(key)
    }

    /// Whether an API key counts, whatever it may do.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn is_api_key(self, text: &str) -> Result<bool, RuntimeError> {
        let Some(key) = ApiKey::parse(text) else {
            return Ok(false);
        };
        let found = self.store().identities().application(&key.id).await?;
        let is = |secret: &Secret, digest: &str| secret.is(digest);
        Ok(found.is_some_and(|a| is(&key.secret, &a.value.digest)))
    }

    /// Makes the role `admin`, which has every permission, unless there is one.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn make_admin_role(self, tenant: &Tenant) -> Result<(), RuntimeError> {
        let role = Role {
            id: ADMIN.to_owned(),
            name: "Administrator".to_owned(),
            permissions: vec![EVERYTHING.to_owned()],
        };
        // There is one already: it stays as somebody made it.
        let _is_new = self
            .store()
            .identities()
            .put_role(tenant, &Versioned::new(role))
            .await?;
        Ok(())
    }
}
