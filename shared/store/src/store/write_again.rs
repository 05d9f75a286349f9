//! Writes whose answer was lost are sent again.

use crate::item::error::StoreError;
use crate::store::Store;
use crate::table::{TableError, Write, Written};

/// How often writes are sent whose answer is lost each time, before the caller hears of it.
const ATTEMPTS_MAX: u32 = 3;

impl Store {
    /// Sends writes again where the answer was lost: their conditions make sure that they happen once.
    pub(crate) async fn write_again(
        &self,
        writes: &[Write],
        unsure: &mut bool,
    ) -> Result<Written, StoreError> {
        let mut attempt = 1;
        loop {
            match self.table().write(writes).await {
                Err(TableError::Unknown(cause)) => {
                    *unsure = true;
                    if attempt == ATTEMPTS_MAX {
                        return Err(TableError::Unknown(cause).into());
                    }
                    attempt += 1;
                }
                // Of this attempt nothing happened, of the one before perhaps.
                Err(error) if *unsure => return Err(TableError::Unknown(error.into()).into()),
                written => return Ok(written?),
            }
        }
    }
}
