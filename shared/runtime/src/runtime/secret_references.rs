//! References to secrets: what steps get instead of values, and what whoever sends a request puts a value in place of.
//!
//! A reference is signed and counts for one instance only. So nobody who can send data to a workflow can make it send a
//! secret: a text that was not made by a step of that instance is a text.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use dormouse_engine::id::InstanceId;
use dormouse_engine::step::SecretReferences;
use dormouse_identity::mac;
use dormouse_identity::secret::sha256_hex;
use dormouse_store::Tenant;
use dormouse_store::identity::secret::{SecretPlace, StoredSecret};

use serde_json::Value;

use crate::error::RuntimeError;
use crate::port::Vault;
use crate::runtime::Runtime;

/// What a reference begins with.
pub(crate) const PREFIX: &str = "dmsecret_";
/// What a sealed value in the state of an instance begins with.
pub(crate) const KEPT: &str = "dmkept_";
/// What the signature is for.
const PURPOSE: &str = "secret";
/// Length of a signature: 256 bits as Base64.
const MARK_LENGTH: usize = 43;
/// For so long values are remembered, in ms: a new value counts within a minute.
const KNOWN_MS: i64 = 20_000;
/// Tenants whose values are remembered.
const TENANTS_MAX: usize = 1_000;

/// Values by name.
pub(crate) type Values = BTreeMap<String, String>;

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
        if known.len() >= TENANTS_MAX {
            known.retain(|_, (read_ms, _)| now_ms.saturating_sub(*read_ms) < KNOWN_MS);
        }
        if known.len() < TENANTS_MAX {
            known.insert(tenant.clone(), (now_ms, values));
        }
    }

    /// The next use reads them anew.
    pub(crate) fn forget(&self, tenant: &Tenant) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.remove(tenant);
    }
}

/// References of one tenant, for a step.
pub(crate) struct TenantSecrets<'a> {
    key: &'a [u8],
    tenant: &'a Tenant,
    vault: Option<&'a Arc<dyn Vault>>,
}

impl SecretReferences for TenantSecrets<'_> {
    fn reference(&self, instance: &InstanceId, name: &str) -> String {
        let text = format!("{}\n{instance}\n{name}", self.tenant);
        format!("{PREFIX}{}", mac::seal(self.key, PURPOSE, &text))
    }

    fn seal(&self, instance: &InstanceId, value: &Value) -> Option<String> {
        let vault = self.vault.filter(|vault| vault.seals())?;
        let purpose = kept_purpose(self.tenant, instance.as_str());
        let text = value.to_string();
        // A step that is repeated must come to the same text, so the random numbers are made of what is sealed.
        let digest = mac::seal(self.key, &purpose, &text);
        let digest = sha256_hex(digest.as_bytes());
        let number = |at: usize| u64::from_str_radix(digest.get(at..at + 16)?, 16).ok();
        let random = [number(0)?, number(16)?];
        let sealed = vault.seal(&purpose, random, text.as_bytes()).ok()?;
        Some(format!("{KEPT}{}", URL_SAFE_NO_PAD.encode(sealed)))
    }

    fn open(&self, instance: &InstanceId, sealed: &str) -> Option<Value> {
        open_kept(self.vault?, self.tenant, instance.as_str(), sealed)
    }
}

fn kept_purpose(tenant: &Tenant, instance: &str) -> String {
    format!("{tenant}\n{instance}\nkept")
}

/// The value of a text that was sealed for an instance.
pub(crate) fn open_kept(
    vault: &Arc<dyn Vault>,
    tenant: &Tenant,
    instance: &str,
    sealed: &str,
) -> Option<Value> {
    let sealed = URL_SAFE_NO_PAD.decode(sealed.strip_prefix(KEPT)?).ok()?;
    let opened = vault
        .open(&kept_purpose(tenant, instance), &sealed)
        .ok()??;
    serde_json::from_slice(&opened).ok()
}

/// A text cut at its references.
pub(crate) enum Piece<'a> {
    Text(&'a str),
    /// One that counts: the name of its secret.
    Secret(String),
}

/// The end of what looks like a reference, after its prefix.
fn end_of(rest: &str) -> Option<usize> {
    let is_of_it = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_');
    let dot = rest.bytes().position(|b| !is_of_it(b))?;
    let mark = rest.get(dot + 1..dot + 1 + MARK_LENGTH)?;
    (rest.as_bytes().get(dot) == Some(&b'.') && mark.bytes().all(is_of_it))
        .then_some(dot + 1 + MARK_LENGTH)
}

/// Reads the references of an instance.
#[derive(Clone)]
pub(crate) struct Reader {
    key: Arc<[u8]>,
    /// What every reference of the instance says before the name.
    begin: String,
}

impl Reader {
    /// Cuts a text at the references of the instance. Those of others are texts.
    pub(crate) fn pieces<'a>(&self, text: &'a str) -> Vec<Piece<'a>> {
        let (mut pieces, mut rest, mut from) = (Vec::new(), text, 0);
        while let Some(found) = rest.get(from..).and_then(|rest| rest.find(PREFIX)) {
            let begin = from + found;
            let sealed = begin + PREFIX.len();
            let end = rest.get(sealed..).and_then(end_of);
            let name = end
                .and_then(|end| rest.get(sealed..sealed + end))
                .and_then(|sealed| mac::open(&self.key, PURPOSE, sealed))
                .and_then(|said| said.strip_prefix(&self.begin).map(str::to_owned));
            match (name, end) {
                (Some(name), Some(end)) => {
                    pieces.extend(rest.get(..begin).map(Piece::Text));
                    pieces.push(Piece::Secret(name));
                    rest = rest.get(sealed + end..).unwrap_or_default();
                    from = 0;
                }
                _ => from = sealed,
            }
        }
        pieces.push(Piece::Text(rest));
        pieces
    }
}

/// What a value is sealed for: it opens for no other secret.
pub(crate) fn purpose(tenant: &Tenant, secret: &StoredSecret) -> String {
    format!("{tenant}/{}/{}", secret.name, secret.id)
}

impl Runtime {
    /// What a step of a tenant makes references with.
    pub(crate) fn secret_references<'a>(&'a self, tenant: &'a Tenant) -> Option<TenantSecrets<'a>> {
        let key = self.secret_key()?;
        let vault = self.ports().vault.as_ref();
        Some(TenantSecrets { key, tenant, vault })
    }

    /// What reads the references of an instance.
    pub(crate) fn reference_reader(&self, tenant: &Tenant, instance: &str) -> Option<Reader> {
        Some(Reader {
            key: Arc::clone(self.secret_key()?),
            begin: format!("{tenant}\n{instance}\n"),
        })
    }

    /// The value of a secret that counts. `None`: it is revoked, expired, sealed with another key or gone.
    pub(crate) async fn value_of(
        &self,
        tenant: &Tenant,
        secret: &StoredSecret,
    ) -> Result<Option<String>, RuntimeError> {
        let is_over = secret.expires_ms.is_some_and(|end| end <= self.now().0);
        let Some(vault) = self.ports().vault.as_ref().filter(|_| !is_over) else {
            return Ok(None);
        };
        if secret.is_revoked {
            return Ok(None);
        }
        match &secret.place {
            SecretPlace::Sealed(sealed) => {
                let opened = vault
                    .open(&purpose(tenant, secret), sealed)
                    .map_err(RuntimeError::Vault)?;
                Ok(opened.and_then(|bytes| String::from_utf8(bytes).ok()))
            }
            SecretPlace::Reference(name) => vault
                .referenced(tenant.as_str(), name)
                .await
                .map_err(RuntimeError::Vault),
        }
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
        let mut values = Values::new();
        for stored in self.store().identities().secrets().all(tenant).await? {
            let secret = stored.value;
            if let Some(value) = self.value_of(tenant, &secret).await? {
                values.insert(secret.name, value);
            }
        }
        let values = Arc::new(values);
        self.known_secrets()
            .put(tenant, now_ms, Arc::clone(&values));
        Ok(values)
    }
}
