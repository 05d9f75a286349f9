//! Applications: programs with an API key, which is told once.

use dormouse_identity::{ApiKey, Permissions};
use dormouse_store::Tenant;
use dormouse_store::identity::application::Application;

use super::{Identity, Principal};
use crate::error::RuntimeError;
use crate::identity::Accounts;

/// What an application is to be.
#[derive(Debug, Clone, Default)]
pub struct NewApplication {
    /// The name that people read.
    pub name: String,
    /// The ids of its roles.
    pub roles: Vec<String>,
    /// What it may do besides.
    pub permissions: Vec<String>,
    /// For how long its key counts, in ms. `None`: until it is deleted.
    pub expires_in_ms: Option<i64>,
}

/// What became of it.
#[derive(Debug)]
pub enum ApplicationMade {
    /// It is made. The key is told this once.
    Made(Box<Application>, ApiKey),
    /// There is no such role.
    NoSuchRole,
    /// It could do more than the one who asks.
    NotYours,
}

impl Accounts<'_> {
    /// All applications of a tenant.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn applications(self, tenant: &Tenant) -> Result<Vec<Application>, RuntimeError> {
        Ok(self.store().identities().applications(tenant).await?)
    }

    /// Makes an application.
    pub(super) async fn new_application(
        self,
        tenant: &Tenant,
        new: NewApplication,
    ) -> Result<(Application, ApiKey), RuntimeError> {
        let now = self.now();
        let key = ApiKey::new(self.ports().clock.random(), self.new_secret());
        let application = Application {
            id: key.id.clone(),
            tenant: tenant.to_string(),
            name: new.name,
            digest: key.secret.digest(),
            roles: new.roles,
            permissions: new.permissions,
            created_ms: now.0,
            expires_ms: new.expires_in_ms.map(|ms| now.plus_ms(ms).0),
        };
        self.store()
            .identities()
            .put_application(tenant, &application)
            .await?;
        Ok((application, key))
    }
}

impl Identity {
    /// Makes an application with a key of its own.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn make_application(
        &self,
        by: &Principal,
        new: NewApplication,
    ) -> Result<ApplicationMade, RuntimeError> {
        for id in &new.roles {
            if self
                .runtime
                .store()
                .identities()
                .role(&by.tenant, id)
                .await?
                .is_none()
            {
                return Ok(ApplicationMade::NoSuchRole);
            }
        }
        let mut permits = self
            .runtime
            .accounts()
            .permissions_of(&by.tenant, &new.roles)
            .await?;
        permits.extend(new.permissions.iter().cloned());
        if !by.permissions.cover(&permits) {
            return Ok(ApplicationMade::NotYours);
        }
        let (application, key) = self
            .runtime
            .accounts()
            .new_application(&by.tenant, new)
            .await?;
        Ok(ApplicationMade::Made(Box::new(application), key))
    }

    /// Deletes an application; its key counts no more. False: there is none of this id that is his to delete.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn delete_application(&self, by: &Principal, id: &str) -> Result<bool, RuntimeError> {
        let found = self.runtime.store().identities().application(id).await?;
        let Some(found) = found.filter(|a| a.value.tenant == by.tenant.as_str()) else {
            return Ok(false);
        };
        let roles = &found.value.roles;
        let mut permits: Permissions = self
            .runtime
            .accounts()
            .permissions_of(&by.tenant, roles)
            .await?;
        permits.extend(found.value.permissions.iter().cloned());
        if !by.permissions.cover(&permits) {
            return Ok(false);
        }
        let store = self.runtime.store();
        let is_done = store
            .identities()
            .delete_application(&by.tenant, &found)
            .await?;
        self.forget();
        Ok(is_done)
    }
}
