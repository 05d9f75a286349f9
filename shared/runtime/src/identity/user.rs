//! Local users: made, changed, deleted. Nobody gives others what he may not do himself.

use dormouse_identity::user_name::skeleton;
use dormouse_identity::{Permissions, password};
use dormouse_store::Tenant;
use dormouse_store::identity::user::User;
use dormouse_store::item::versioned::Versioned;

use super::{Identity, Principal, SignInError};
use crate::error::RuntimeError;
use crate::identity::Accounts;
use crate::port::{Share, compute};

/// The longest name, in bytes.
const NAME_BYTES_MAX: usize = 100;

/// What a user is to be.
#[derive(Debug, Clone, Default)]
pub struct UserChange {
    /// The name.
    pub name: String,
    /// The password. `None`: a new user gets one, another keeps his.
    pub password: Option<String>,
    /// The ids of the roles. `None`: a new user has none, another keeps his.
    pub roles: Option<Vec<String>>,
}

/// What became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UserOutcome {
    /// It is so now. The password, where it was made up, is told this once.
    Done(User, Option<String>),
    /// There is one of this name, or somebody else changed him in the same moment.
    Taken,
    /// The name is empty, too long, or has characters that names do not have.
    BadName,
    /// The password is too short or too long.
    BadPassword,
    /// There is no such role.
    NoSuchRole,
    /// He has, or would have, more permissions than the one who asks.
    NotYours,
    /// He is the one who asks, and cannot delete himself.
    Yourself,
    /// There is none.
    NotFound,
}

/// A name as it is compared: without spaces around it, in lower case.
pub(super) fn folded(name: &str) -> String {
    name.trim().to_lowercase()
}

/// Whether a user may be called so. In lower case.
pub(super) fn is_name(name: &str) -> bool {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '@' | '+');
    !name.is_empty() && name.len() <= NAME_BYTES_MAX && name.chars().all(plain)
}

impl Accounts<'_> {
    /// All users of a tenant.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn users(self, tenant: &Tenant) -> Result<Vec<User>, RuntimeError> {
        Ok(self.store().identities().users(tenant).await?)
    }

    /// The user that a change makes of nobody or somebody, and the password if it was made up.
    pub(super) fn changed_user(
        self,
        before: Option<&User>,
        change: UserChange,
    ) -> Option<(User, Option<String>)> {
        let clock = &self.ports().clock;
        let made_up = (before.is_none() && change.password.is_none()).then(|| {
            self.new_secret()
                .text()
                .chars()
                .take(24)
                .collect::<String>()
        });
        let mut user = before.cloned().unwrap_or_else(|| User {
            name: change.name,
            created_ms: self.now().0,
            ..User::default()
        });
        if let Some(password) = change.password.as_ref().or(made_up.as_ref()) {
            let salt = [clock.random(), clock.random()];
            user.password = password::hash(password, salt).ok()?;
            user.stamp = self.new_id();
        }
        if let Some(roles) = change.roles {
            user.roles = roles;
        }
        Some((user, made_up))
    }
}

impl Identity {
    /// Makes a user, or changes the one of this name (`is_new` says which of them is meant).
    ///
    /// # Errors
    ///
    /// [`SignInError`]
    pub async fn put_user(
        &self,
        by: &Principal,
        mut change: UserChange,
        is_new: bool,
    ) -> Result<UserOutcome, SignInError> {
        change.name = folded(&change.name);
        if !is_name(&change.name) {
            return Ok(UserOutcome::BadName);
        }
        let store = self.runtime.store();
        let found = store
            .identities()
            .user(&by.tenant, &change.name)
            .await
            .map_err(RuntimeError::from)?;
        match (&found, is_new) {
            (Some(_), true) => return Ok(UserOutcome::Taken),
            (None, false) => return Ok(UserOutcome::NotFound),
            (None, true) | (Some(_), false) => {}
        }
        if is_new && self.looks_like_another(by, &change.name).await? {
            return Ok(UserOutcome::Taken);
        }
        let before = found.as_ref().map_or(&[][..], |f| &f.value.roles);
        let after = change.roles.as_deref().unwrap_or_default();
        for roles in [before, after] {
            let permits = self
                .runtime
                .accounts()
                .permissions_of(&by.tenant, roles)
                .await?;
            if !by.permissions.cover(&permits) {
                return Ok(UserOutcome::NotYours);
            }
        }
        for id in after {
            if store
                .identities()
                .role(&by.tenant, id)
                .await
                .map_err(RuntimeError::from)?
                .is_none()
            {
                return Ok(UserOutcome::NoSuchRole);
            }
        }
        let before = found.as_ref().map(|f| f.value.clone());
        let runtime = self.runtime.clone();
        let made = async move { runtime.accounts().changed_user(before.as_ref(), change) };
        let turn = Share::new("known", by.name.as_str());
        let Some((user, made_up)) = compute(self.compute.as_ref(), turn, made).await? else {
            return Ok(UserOutcome::BadPassword);
        };
        let next = Versioned {
            value: user,
            version: found.map_or(0, |f| f.version),
        };
        let is_done = store
            .identities()
            .put_user(&by.tenant, &next)
            .await
            .map_err(RuntimeError::from)?;
        self.forget();
        Ok(match is_done {
            true => UserOutcome::Done(next.value, made_up),
            false => UserOutcome::Taken,
        })
    }

    /// Whether there is a user whose name looks like this one.
    async fn looks_like_another(&self, by: &Principal, name: &str) -> Result<bool, RuntimeError> {
        let looks = skeleton(name);
        let users = self.runtime.accounts().users(&by.tenant).await?;
        Ok(users.iter().any(|user| skeleton(&user.name) == looks))
    }

    /// Deletes a user. His tokens count no more.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn delete_user(
        &self,
        by: &Principal,
        name: &str,
    ) -> Result<UserOutcome, RuntimeError> {
        let name = folded(name);
        let store = self.runtime.store();
        let found = match is_name(&name) {
            true => store.identities().user(&by.tenant, &name).await?,
            false => None,
        };
        let Some(found) = found else {
            return Ok(UserOutcome::NotFound);
        };
        if by.kind == super::Kind::User && by.name == name {
            return Ok(UserOutcome::Yourself);
        }
        let roles = &found.value.roles;
        let permits: Permissions = self
            .runtime
            .accounts()
            .permissions_of(&by.tenant, roles)
            .await?;
        if !by.permissions.cover(&permits) {
            return Ok(UserOutcome::NotYours);
        }
        let is_done = store.identities().delete_user(&by.tenant, &found).await?;
        self.forget();
        Ok(match is_done {
            true => UserOutcome::Done(found.value, None),
            false => UserOutcome::Taken,
        })
    }
}
