//! Roles: names for sets of permissions.

use dormouse_identity::Permissions;
use dormouse_store::Tenant;
use dormouse_store::identity::role::Role;
use dormouse_store::item::versioned::Versioned;

use super::{Identity, Principal};
use crate::error::RuntimeError;
use crate::identity::Accounts;

/// What became of a change of a role.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RoleOutcome {
    /// It is so now.
    Done(Role),
    /// There is one of this id, or somebody else changed it in the same moment.
    Taken,
    /// It would permit what its maker may not do himself.
    NotYours,
    /// Users have it.
    InUse,
    /// There is none.
    NotFound,
}

impl Accounts<'_> {
    /// What some roles permit together. A role that is gone permits nothing.
    pub(crate) async fn permissions_of(
        self,
        tenant: &Tenant,
        roles: &[String],
    ) -> Result<Permissions, RuntimeError> {
        let mut permissions = Permissions::default();
        for id in roles {
            if let Some(role) = self.store().identities().role(tenant, id).await? {
                permissions.extend(role.value.permissions);
            }
        }
        Ok(permissions)
    }

    /// All roles of a tenant.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn roles(self, tenant: &Tenant) -> Result<Vec<Role>, RuntimeError> {
        Ok(self.store().identities().roles(tenant).await?)
    }
}

impl Identity {
    /// Makes a role, or changes the one of its id (`is_new` says which of them is meant).
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn put_role(
        &self,
        by: &Principal,
        role: Role,
        is_new: bool,
    ) -> Result<RoleOutcome, RuntimeError> {
        let wanted: Permissions = role.permissions.iter().cloned().collect();
        let store = self.runtime.store();
        let found = store.identities().role(&by.tenant, &role.id).await?;
        // Whoever could change a role that permits more than he may could take that away, or keep others from it.
        let before = found.as_ref().map(|f| f.value.permissions.clone());
        let before: Permissions = before.unwrap_or_default().into_iter().collect();
        if !by.permissions.cover(&wanted) || !by.permissions.cover(&before) {
            return Ok(RoleOutcome::NotYours);
        }
        let next = match (found, is_new) {
            (None, true) => Versioned::new(role),
            (Some(found), false) => Versioned {
                value: role,
                ..found
            },
            (None, false) => return Ok(RoleOutcome::NotFound),
            (Some(_), true) => return Ok(RoleOutcome::Taken),
        };
        let is_done = store.identities().put_role(&by.tenant, &next).await?;
        self.forget();
        Ok(match is_done {
            true => RoleOutcome::Done(next.value),
            false => RoleOutcome::Taken,
        })
    }

    /// Deletes a role that nobody has.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn delete_role(&self, by: &Principal, id: &str) -> Result<RoleOutcome, RuntimeError> {
        let store = self.runtime.store();
        let Some(found) = store.identities().role(&by.tenant, id).await? else {
            return Ok(RoleOutcome::NotFound);
        };
        let permits: Permissions = found.value.permissions.iter().cloned().collect();
        if !by.permissions.cover(&permits) {
            return Ok(RoleOutcome::NotYours);
        }
        if self.holders(&by.tenant, id).await? > 0 {
            return Ok(RoleOutcome::InUse);
        }
        let is_done = store.identities().delete_role(&by.tenant, &found).await?;
        self.forget();
        Ok(match is_done {
            true => RoleOutcome::Done(found.value),
            false => RoleOutcome::Taken,
        })
    }

    /// How many users and applications have a role.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn holders(&self, tenant: &Tenant, role: &str) -> Result<usize, RuntimeError> {
        let store = self.runtime.store();
        let has = |roles: &[String]| roles.iter().any(|r| r == role);
        let users = store.identities().users(tenant).await?;
        let applications = store.identities().applications(tenant).await?;
        let users = users.iter().filter(|u| has(&u.roles)).count();
        Ok(users + applications.iter().filter(|a| has(&a.roles)).count())
    }

    /// Something has changed: nothing that was read before is believed.
    pub(super) fn forget(&self) {
        self.kept.known.forget();
        self.kept.users.forget();
    }
}
