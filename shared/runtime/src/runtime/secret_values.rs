//! Values of a tenant's secrets, as this process read them a moment ago.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use dormouse_store::Tenant;
use dormouse_store::identity::secret::{SecretPlace, StoredSecret};

use crate::error::RuntimeError;
use crate::runtime::Runtime;
use crate::runtime::secret_redaction::Redaction;

/// Time that values are remembered, in ms: a new value counts within a minute everywhere.
const KNOWN_MS: i64 = 20_000;
/// Bytes of values that are remembered, of all tenants together.
const KNOWN_BYTES_MAX: usize = 64 << 20;

/// Reason why a secret has no value that counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lack {
    Unset,
    Revoked,
    Expired,
    Unreadable,
}

impl Lack {
    /// What a workflow that names the secret is told.
    pub(crate) fn sentence(self, name: &str) -> String {
        match self {
            Self::Unset => {
                format!("there is no secret `{name}`; set it with `dormouse secrets set {name}`")
            }
            Self::Revoked => format!(
                "the secret `{name}` is revoked; delete it and set another one, or name another one"
            ),
            Self::Expired => format!(
                "the secret `{name}` has expired; give it another value with `dormouse secrets set {name}`"
            ),
            Self::Unreadable => format!(
                "the value of the secret `{name}` cannot be read: this server does not have the key that sealed it, or its reference leads nowhere; see `dormouse secrets test {name}`"
            ),
        }
    }
}

/// Values by name, and what must not come back from those that were given any of them.
#[derive(Default)]
pub(crate) struct Values {
    by_name: BTreeMap<String, Result<String, Lack>>,
    redaction: Redaction,
    bytes: usize,
}

impl Values {
    fn insert(&mut self, name: String, value: Result<String, Lack>) {
        if let Ok(value) = &value {
            self.redaction.add_value(value);
            self.bytes += value.len();
        }
        self.by_name.insert(name, value);
    }

    /// The value of a secret, if it counts.
    pub(crate) fn get(&self, name: &str) -> Result<&str, Lack> {
        match self.by_name.get(name) {
            Some(Ok(value)) => Ok(value),
            Some(Err(lack)) => Err(*lack),
            None => Err(Lack::Unset),
        }
    }

    /// All values of the tenant.
    pub(crate) fn redaction(&self) -> &Redaction {
        &self.redaction
    }
}

/// The values that this process has read a moment ago.
#[derive(Default)]
pub(crate) struct KnownSecrets(Mutex<BTreeMap<Tenant, (i64, Arc<Values>)>>);

impl KnownSecrets {
    fn get(&self, tenant: &Tenant, now_ms: i64) -> Option<Arc<Values>> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (read_ms, values) = known.get(tenant)?;
        let is_fresh = (0..KNOWN_MS).contains(&now_ms.saturating_sub(*read_ms));
        is_fresh.then(|| Arc::clone(values))
    }

    fn put(&self, tenant: &Tenant, now_ms: i64, values: Arc<Values>) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|_, (read_ms, _)| now_ms.saturating_sub(*read_ms) < KNOWN_MS);
        let bytes: usize = known.values().map(|(_, values)| values.bytes).sum();
        if bytes + values.bytes <= KNOWN_BYTES_MAX {
            known.insert(tenant.clone(), (now_ms, values));
        }
    }

    /// The next use reads them anew.
    pub(crate) fn forget(&self, tenant: &Tenant) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.remove(tenant);
    }
}

/// Purpose that a value is sealed for: it opens for no other tenant, secret or version.
pub(crate) fn purpose(tenant: &Tenant, secret: &StoredSecret) -> String {
    let StoredSecret {
        name, id, version, ..
    } = secret;
    format!("secret\n{tenant}\n{name}\n{id}\n{version}")
}

impl Runtime {
    /// The value of a secret, if it counts.
    pub(crate) async fn value_of(
        &self,
        tenant: &Tenant,
        secret: &StoredSecret,
    ) -> Result<Result<String, Lack>, RuntimeError> {
        if secret.is_revoked {
            return Ok(Err(Lack::Revoked));
        }
        if secret.expires_ms.is_some_and(|end| end <= self.now().0) {
            return Ok(Err(Lack::Expired));
        }
        let Some(vault) = &self.ports().vault else {
            return Ok(Err(Lack::Unreadable));
        };
        let value = match &secret.place {
            SecretPlace::Sealed(sealed) => {
                let opened = vault.open(&purpose(tenant, secret), sealed);
                let opened = opened.map_err(RuntimeError::Vault)?;
                opened.and_then(|bytes| String::from_utf8(bytes).ok())
            }
            SecretPlace::Reference(name) => vault
                .referenced(tenant.as_str(), name)
                .await
                .map_err(RuntimeError::Vault)?,
        };
        Ok(value.ok_or(Lack::Unreadable))
    }

    /// The values of a tenant's secrets, as they were a moment ago. One query now and then.
    pub(crate) async fn secret_values(&self, tenant: &Tenant) -> Result<Arc<Values>, RuntimeError> {
        if self.secret_key().is_none() {
            return Ok(Arc::default());
        }
        let now_ms = self.now().0;
        if let Some(values) = self.known_secrets().get(tenant, now_ms) {
            return Ok(values);
        }
        let mut values = Values::default();
        for stored in self.store().identities().secrets().all(tenant).await? {
            let secret = stored.value;
            let value = self.value_of(tenant, &secret).await?;
            values.insert(secret.name, value);
        }
        let values = Arc::new(values);
        let known = self.known_secrets();
        known.put(tenant, now_ms, Arc::clone(&values));
        Ok(values)
    }
}
