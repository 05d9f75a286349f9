//! The keys that sign this deployment's own access tokens: a new one now and then, the old ones until what they
//! signed has expired.

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::identity::Links;
use crate::item::error::StoreError;
use crate::item::key_text::{SYSTEM, part, time};
use crate::item::readable::readable;
use crate::item::versioned::Versioned;
use crate::table::{Item, Key, Query};

const WHAT: &str = "signing key";

/// A key that signs tokens.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct SigningKey {
    /// Its name: when it was made, and chance.
    #[serde(rename = "k")]
    pub kid: String,
    /// The key.
    #[serde(rename = "s")]
    pub secret: Bytes,
    /// When it was made, in ms since 1970.
    #[serde(rename = "ct")]
    pub created_ms: i64,
}

impl SigningKey {
    /// A key of this moment. Keys are in the order of their names.
    #[must_use]
    pub fn new(now_ms: i64, chance: u64, secret: Bytes) -> Self {
        Self {
            kid: format!("{}-{chance:016x}", time(now_ms)),
            secret,
            created_ms: now_ms,
        }
    }
}

fn signing_partition() -> String {
    format!("{SYSTEM}/SIGN")
}

impl Links<'_> {
    /// The keys, oldest first. One query.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn signing_keys(self) -> Result<Vec<SigningKey>, StoreError> {
        let page = self
            .table()
            .query(&Query::prefix(signing_partition(), "K#"))
            .await?;
        let read = |item: &Item| Versioned::from_item(WHAT, item).map(|found| found.value);
        Ok(readable(page.items, read))
    }

    /// The key that signs the links which scripts make: there is one, and it stays. `made` becomes it if there is
    /// none. One read; the first time a write too.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn link_key(self, made: Bytes) -> Result<Bytes, StoreError> {
        let at = Key::new(signing_partition(), "LINKS");
        let new = Versioned::new(SigningKey {
            secret: made,
            ..SigningKey::default()
        });
        let mut found = self.get_versioned::<SigningKey>(WHAT, &at).await?;
        if found.is_none() {
            self.write_if(&[new.put(WHAT, at.clone(), None)?]).await?;
            found = self.get_versioned(WHAT, &at).await?;
        }
        let key = found.ok_or(StoreError::damaged(WHAT))?;
        Ok(key.value.secret)
    }

    /// Stores a new key, which may vanish after `ttl_s`, in seconds since 1970. One write.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn put_signing_key(self, key: &SigningKey, ttl_s: i64) -> Result<bool, StoreError> {
        let kid = part("a signing key's name", &key.kid)?;
        let at = Key::new(signing_partition(), format!("K#{kid}"));
        let put = Versioned::new(key.clone()).put(WHAT, at, Some(ttl_s))?;
        self.write_if(&[put]).await
    }
}
