//! The keys of this deployment's own tokens: kept in the table, a new one each month, known by their `kid`.

use dormouse_store::identity::signing_key::SigningKey;
use futures_util::lock::Mutex;

use crate::error::RuntimeError;
use crate::runtime::Runtime;

/// How long a key signs, in ms: 30 days.
const SIGNS_MS: i64 = 30 * 24 * 3_600_000;

/// How long a key is kept after it was made, in seconds: longer than it signs and what it signed counts.
const KEPT_S: i64 = 40 * 24 * 3_600;

/// How soon the table is asked again for a key that was not there, in ms.
const ASK_AGAIN_MS: i64 = 5_000;

/// The keys, as far as they are known here.
#[derive(Debug, Default)]
pub(super) struct Signing {
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    keys: Vec<SigningKey>,
    read_ms: Option<i64>,
}

impl Known {
    /// Reads the keys unless that was done just now.
    async fn read(&mut self, runtime: &Runtime) -> Result<(), RuntimeError> {
        let now = runtime.now().0;
        let is_fresh = |read_ms: i64| now.abs_diff(read_ms) < ASK_AGAIN_MS.unsigned_abs();
        if !self.read_ms.is_some_and(is_fresh) {
            self.keys = runtime.store().links().signing_keys().await?;
            self.read_ms = Some(now);
        }
        Ok(())
    }
}

impl Signing {
    /// The key that signs now. The first of a month makes it.
    pub(super) async fn current(&self, runtime: &Runtime) -> Result<SigningKey, RuntimeError> {
        let now = runtime.now().0;
        let mut known = self.known.lock().await;
        let signs = |key: &SigningKey| now.saturating_sub(key.created_ms) < SIGNS_MS;
        if !known.keys.last().is_some_and(signs) {
            known.read(runtime).await?;
        }
        if let Some(key) = known.keys.last().filter(|key| signs(key)) {
            return Ok(key.clone());
        }
        let secret = runtime.new_secret().bytes().to_vec();
        let key = SigningKey::new(now, runtime.ports().clock.random(), secret.into());
        let store = runtime.store();
        store
            .links()
            .put_signing_key(&key, now / 1_000 + KEPT_S)
            .await?;
        known.keys.push(key.clone());
        Ok(key)
    }

    /// The key of a name.
    pub(super) async fn find(
        &self,
        runtime: &Runtime,
        kid: &str,
    ) -> Result<Option<SigningKey>, RuntimeError> {
        let mut known = self.known.lock().await;
        if !known.keys.iter().any(|key| key.kid == kid) {
            known.read(runtime).await?;
        }
        Ok(known.keys.iter().find(|key| key.kid == kid).cloned())
    }
}
