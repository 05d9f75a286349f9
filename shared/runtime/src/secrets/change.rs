//! Setting a secret and changing it. A change counts if nobody else made one meanwhile.

use dormouse_engine::definition::secret_name::secret_name;
use dormouse_store::Tenant;
use dormouse_store::identity::secret::{SecretPlace, StoredSecret};
use dormouse_store::item::versioned::Versioned;

use super::{
    NewSecret, NewValue, SECRETS_MAX, SecretOutcome, SecretRefusal, SecretView, Secrets, TAGS_MAX,
    TEXT_BYTES_MAX, VALUE_BYTES_MAX, VALUES_BYTES_MAX,
};
use crate::error::RuntimeError;
use crate::runtime::secret_values::purpose;

/// Number of times that a change is tried.
const ATTEMPTS_MAX: usize = 5;

/// What a change makes of a secret.
type Changed = Result<(), SecretRefusal>;

fn is_short(text: Option<&String>) -> bool {
    text.is_none_or(|text| text.len() <= TEXT_BYTES_MAX)
}

fn trimmed(text: Option<String>) -> Option<String> {
    text.map(|text| text.trim().to_owned())
        .filter(|text| !text.is_empty())
}

impl Secrets<'_> {
    /// Makes a secret.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn create(
        self,
        tenant: &Tenant,
        new: NewSecret,
        value: NewValue,
    ) -> Result<SecretOutcome, RuntimeError> {
        let refused = |why| Ok(SecretOutcome::Refused(why));
        let Some(name) = secret_name(&new.name) else {
            return refused(SecretRefusal::BadName);
        };
        let texts = [&new.display_name, &new.description, &new.scope];
        let are_short = texts.iter().all(|text| is_short(text.as_ref()));
        let are_tags_short = new.tags.iter().all(|tag| is_short(Some(tag)));
        if new.tags.len() > TAGS_MAX || !are_short || !are_tags_short {
            return refused(SecretRefusal::BadText);
        }
        if !self.has_room(tenant, &name, &value).await? {
            return refused(SecretRefusal::TooMany);
        }
        let mut secret = StoredSecret {
            id: self.new_id(),
            display_name: trimmed(new.display_name).unwrap_or_else(|| new.name.trim().to_owned()),
            description: trimmed(new.description),
            scope: trimmed(new.scope),
            tags: new.tags,
            created_ms: self.now().0,
            expires_ms: new.expires_at.map(|at| at.0),
            name,
            ..StoredSecret::default()
        };
        if let Err(why) = self.give(tenant, &mut secret, &value)? {
            return refused(why);
        }
        let view = SecretView::of(&secret);
        let new = Versioned::new(secret);
        match self
            .store()
            .identities()
            .secrets()
            .put(tenant, &new)
            .await?
        {
            true => {
                self.known_secrets().forget(tenant);
                Ok(SecretOutcome::Done(Box::new(view)))
            }
            false => refused(SecretRefusal::Exists),
        }
    }

    /// Changes what people read of a secret.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn describe(
        self,
        tenant: &Tenant,
        name: &str,
        display_name: Option<String>,
        description: Option<String>,
    ) -> Result<SecretOutcome, RuntimeError> {
        self.change(tenant, name, |secret| {
            if !is_short(display_name.as_ref()) || !is_short(description.as_ref()) {
                return Ok(Err(SecretRefusal::BadText));
            }
            let shown = trimmed(display_name.clone());
            secret.display_name = shown.unwrap_or_else(|| secret.name.clone());
            secret.description = trimmed(description.clone());
            Ok(Ok(()))
        })
        .await
    }

    /// Gives a secret another value. It counts within a minute, everywhere.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn rotate(
        self,
        tenant: &Tenant,
        name: &str,
        value: &NewValue,
        expires_at: Option<dormouse_engine::time::Timestamp>,
    ) -> Result<SecretOutcome, RuntimeError> {
        if let Some(plain) = secret_name(name)
            && !self.has_room(tenant, &plain, value).await?
        {
            return Ok(SecretOutcome::Refused(SecretRefusal::TooMany));
        }
        self.change(tenant, name, |secret| {
            if secret.is_revoked {
                return Ok(Err(SecretRefusal::Revoked));
            }
            secret.expires_ms = expires_at.map(|at| at.0);
            self.give(tenant, secret, value)
        })
        .await
    }

    /// Revokes a secret for good: it keeps its name, and loses its value.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn revoke(self, tenant: &Tenant, name: &str) -> Result<SecretOutcome, RuntimeError> {
        self.change(tenant, name, |secret| {
            secret.is_revoked = true;
            if let SecretPlace::Sealed(value) = &mut secret.place {
                value.clear();
            }
            Ok(Ok(()))
        })
        .await
    }

    /// Deletes a secret with its value.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn delete(self, tenant: &Tenant, name: &str) -> Result<SecretOutcome, RuntimeError> {
        for _ in 0..ATTEMPTS_MAX {
            let Some(secret) = self.stored(tenant, name).await? else {
                return Ok(SecretOutcome::Refused(SecretRefusal::NotFound));
            };
            if self
                .store()
                .identities()
                .secrets()
                .delete(tenant, &secret)
                .await?
            {
                self.known_secrets().forget(tenant);
                let view = SecretView::of(&secret.value);
                return Ok(SecretOutcome::Done(Box::new(view)));
            }
        }
        Ok(SecretOutcome::Refused(SecretRefusal::Contended))
    }

    async fn change(
        self,
        tenant: &Tenant,
        name: &str,
        change: impl Fn(&mut StoredSecret) -> Result<Changed, RuntimeError>,
    ) -> Result<SecretOutcome, RuntimeError> {
        for _ in 0..ATTEMPTS_MAX {
            let Some(mut secret) = self.stored(tenant, name).await? else {
                return Ok(SecretOutcome::Refused(SecretRefusal::NotFound));
            };
            if let Err(why) = change(&mut secret.value)? {
                return Ok(SecretOutcome::Refused(why));
            }
            secret.value.updated_ms = Some(self.now().0);
            if self
                .store()
                .identities()
                .secrets()
                .put(tenant, &secret)
                .await?
            {
                self.known_secrets().forget(tenant);
                let view = SecretView::of(&secret.value);
                return Ok(SecretOutcome::Done(Box::new(view)));
            }
        }
        Ok(SecretOutcome::Refused(SecretRefusal::Contended))
    }

    /// Whether a tenant may have this value besides those of its other secrets. Two changes at a time can both find room.
    async fn has_room(
        self,
        tenant: &Tenant,
        name: &str,
        value: &NewValue,
    ) -> Result<bool, RuntimeError> {
        let all = self.store().identities().secrets().all(tenant).await?;
        let others = all.iter().filter(|other| other.value.name != name);
        let bytes = |place: &SecretPlace| match place {
            SecretPlace::Sealed(sealed) => sealed.len(),
            SecretPlace::Reference(_) => 0,
        };
        let new = match value {
            NewValue::Text(text) => text.len(),
            NewValue::Reference(_) => 0,
        };
        let of_others: usize = others.clone().map(|other| bytes(&other.value.place)).sum();
        Ok(others.count() < SECRETS_MAX && of_others + new <= VALUES_BYTES_MAX)
    }

    /// Gives a secret a value, sealed.
    fn give(
        self,
        tenant: &Tenant,
        secret: &mut StoredSecret,
        value: &NewValue,
    ) -> Result<Changed, RuntimeError> {
        // Before it is sealed: the version is part of what is sealed.
        secret.version += 1;
        secret.place = match value {
            NewValue::Text(text) if text.is_empty() || text.len() > VALUE_BYTES_MAX => {
                return Ok(Err(SecretRefusal::BadText));
            }
            NewValue::Reference(to) if to.trim().is_empty() || to.len() > TEXT_BYTES_MAX => {
                return Ok(Err(SecretRefusal::BadText));
            }
            NewValue::Reference(to) => SecretPlace::Reference(to.trim().to_owned()),
            NewValue::Text(text) => match self.sealed(tenant, secret, text.as_bytes())? {
                Some(place) => place,
                None => return Ok(Err(SecretRefusal::NotSealed)),
            },
        };
        Ok(Ok(()))
    }

    /// A value, sealed for its secret. `None`: this server has no key.
    pub(super) fn sealed(
        self,
        tenant: &Tenant,
        secret: &StoredSecret,
        value: &[u8],
    ) -> Result<Option<SecretPlace>, RuntimeError> {
        let Some(vault) = self.ports().vault.as_ref().filter(|vault| vault.seals()) else {
            return Ok(None);
        };
        vault.read_keys().map_err(RuntimeError::Vault)?;
        let random = [(); 2].map(|()| self.ports().clock.random());
        let sealed = vault.seal(&purpose(tenant, secret), random, value);
        let sealed = sealed.map_err(RuntimeError::Vault)?;
        Ok(Some(SecretPlace::Sealed(sealed.into())))
    }
}
