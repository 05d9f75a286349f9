//! API keys: `dm_`, the key's public id, and its secret.

use crate::secret::Secret;

/// What every key begins with, so that scanners of repositories recognise one.
const PREFIX: &str = "dm_";

/// The digits of an id.
const ID_DIGITS: usize = 16;

/// An API key as its owner has it.
#[derive(Debug, Clone)]
pub struct ApiKey {
    /// What the key is found by; no secret.
    pub id: String,
    /// What proves that it is the owner's.
    pub secret: Secret,
}

impl ApiKey {
    /// A key of random numbers, which must be unpredictable.
    #[must_use]
    pub fn new(id: u64, secret: Secret) -> Self {
        let id = format!("{id:016x}");
        Self { id, secret }
    }

    /// Reads what [`Self::text`] wrote.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (id, secret) = text.strip_prefix(PREFIX)?.split_once('_')?;
        let is_id = id.len() == ID_DIGITS && id.bytes().all(|b| b.is_ascii_hexdigit());
        is_id.then(|| {
            Some(Self {
                id: id.to_owned(),
                secret: Secret::parse(secret)?,
            })
        })?
    }

    /// The key as its owner keeps it.
    #[must_use]
    pub fn text(&self) -> String {
        format!("{PREFIX}{}_{}", self.id, self.secret.text())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail")]
    use super::*;

    #[test]
    fn a_key_comes_back_from_its_text() {
        let key = ApiKey::new(7, Secret::new([u64::MAX; 4]));
        let again = ApiKey::parse(&key.text()).unwrap();
        assert_eq!(again.id, "0000000000000007");
        assert!(again.secret.is(&key.secret.digest()));
        for wrong in [
            "",
            "dm_",
            "dm_7_x",
            "dm_000000000000000g_",
            "0000000000000007",
        ] {
            assert!(ApiKey::parse(wrong).is_none(), "{wrong}");
        }
    }
}
