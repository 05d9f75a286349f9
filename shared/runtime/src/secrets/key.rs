//! Another key: every secret is sealed again with it. The earlier keys only open what open tasks hold.

use dormouse_store::Tenant;
use dormouse_store::identity::secret::SecretPlace;

use super::Secrets;
use crate::error::RuntimeError;
use crate::runtime::secret_values::purpose;

/// What became of a change of key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyChanged {
    /// So many values are sealed with the new key now.
    Done {
        /// The values.
        resealed: usize,
    },
    /// So many values opened with no key, and are as they were; the others are sealed with the new one.
    Unreadable {
        /// The values.
        count: usize,
    },
    /// This server has no key to change.
    NotSealed,
}

impl Secrets<'_> {
    /// Changes the key that values are sealed with. If it is cut off, it is to be repeated.
    ///
    /// Everything is sealed with the key in use before another one is: so a key that is dropped, because there are too many,
    /// sealed no secret, however often changes were cut off.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn change_key(self) -> Result<KeyChanged, RuntimeError> {
        let Some(vault) = self.ports().vault.as_ref().filter(|vault| vault.seals()) else {
            return Ok(KeyChanged::NotSealed);
        };
        vault.read_keys().map_err(RuntimeError::Vault)?;
        self.reseal_all().await?;
        let random = [(); 4].map(|()| self.ports().clock.random());
        vault.change_key(random).map_err(RuntimeError::Vault)?;
        let (resealed, unreadable) = self.reseal_all().await?;
        if unreadable > 0 {
            return Ok(KeyChanged::Unreadable { count: unreadable });
        }
        Ok(KeyChanged::Done { resealed })
    }

    /// Seals everything with the key in use: numbers of the values that were sealed, and of those that open with no key.
    async fn reseal_all(self) -> Result<(usize, usize), RuntimeError> {
        let (mut resealed, mut unreadable, mut cursor) = (0, 0, None);
        loop {
            let page = self.store().identities().secrets().names(cursor).await?;
            for (tenant, name) in page.names {
                match self.reseal(&tenant, &name).await? {
                    Some(true) => resealed += 1,
                    Some(false) => unreadable += 1,
                    None => {}
                }
            }
            cursor = page.cursor;
            if cursor.is_none() {
                return Ok((resealed, unreadable));
            }
        }
    }

    /// Seals a value again. `None`: there is none to seal. False: it does not open.
    async fn reseal(self, tenant: &Tenant, name: &str) -> Result<Option<bool>, RuntimeError> {
        loop {
            let secrets = self.store().identities().secrets();
            let Some(mut secret) = secrets.get(tenant, name).await? else {
                return Ok(None);
            };
            let (SecretPlace::Sealed(sealed), Some(vault)) =
                (&secret.value.place, &self.ports().vault)
            else {
                return Ok(None);
            };
            if sealed.is_empty() || vault.is_current(sealed) {
                return Ok(None);
            }
            let opened = vault.open(&purpose(tenant, &secret.value), sealed);
            let Some(value) = opened.map_err(RuntimeError::Vault)? else {
                return Ok(Some(false));
            };
            if let Some(place) = self.sealed(tenant, &secret.value, &value)? {
                secret.value.place = place;
            }
            // Lost to another change: what that left is looked at anew.
            if secrets.put(tenant, &secret).await? {
                return Ok(Some(true));
            }
        }
    }
}
