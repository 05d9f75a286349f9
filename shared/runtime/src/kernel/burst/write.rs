//! Writing a composed commit: what the head will verify is prepared first, then the head decides.

use dormouse_store::instance::commit::Committed;
use futures_util::future::join;

use super::{Burst, Composed};
use crate::error::RuntimeError;

impl Burst<'_> {
    /// Prepares a commit and makes it. What a busy table or a lost answer leaves open is tried again.
    pub(crate) async fn write(
        &mut self,
        composed: Composed,
    ) -> Result<(Committed, Composed), RuntimeError> {
        let runtime = self.runtime;
        let store = runtime.store();
        let mut attempt = 1;
        let mut prepared = loop {
            let rows = store.commits().prepare(self.loaded()?, &composed.commit);
            let (rows, timers) =
                join(rows, runtime.outbox().schedule_all(&composed.elsewhere)).await;
            timers?;
            match rows {
                Err(error) if error.is_busy() || error.is_unknown() => {
                    if !runtime.back_off(attempt).await {
                        return Err(error.into());
                    }
                    attempt += 1;
                }
                rows => break rows?,
            }
        };
        loop {
            let Some(loaded) = self.loaded.as_mut() else {
                return Err(self.lost());
            };
            match store.commits().commit_prepared(loaded, &mut prepared).await {
                Err(error) if error.is_busy() || error.is_unknown() => {
                    if !runtime.back_off(attempt).await {
                        return Err(error.into());
                    }
                    attempt += 1;
                }
                Err(error) => {
                    store.commits().take_back(&mut prepared).await;
                    return Err(error.into());
                }
                Ok(committed) => return Ok((committed, composed)),
            }
        }
    }
}
