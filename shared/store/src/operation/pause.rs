//! The pause: one item for the whole table. While it is there, nobody starts or wakes an instance; whose it is and why
//! lies in it. That it is looked at and obeyed is the runtime's business.

use serde::{Deserialize, Serialize};

use crate::item::error::StoreError;
use crate::item::key_text::SYSTEM;
use crate::item::versioned::Versioned;
use crate::operation::Operations;
use crate::table::{Condition, Key, Write};

const WHAT: &str = "pause";

/// That nothing is started or woken.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Pause {
    /// Since when, in ms since 1970.
    #[serde(rename = "t")]
    pub since_ms: i64,
    /// Who wanted it.
    #[serde(rename = "w")]
    pub by: String,
    /// What for.
    #[serde(rename = "r", skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

fn key() -> Key {
    Key::new(format!("{SYSTEM}/PAUSE"), "HEAD")
}

impl Operations<'_> {
    /// The pause, if there is one. One read.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn pause(self) -> Result<Option<Pause>, StoreError> {
        let found = self.get_versioned::<Pause>(WHAT, &key()).await?;
        Ok(found.map(|found| found.value))
    }

    /// Stores a pause. False: there is one, and it stays. One write.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn put_pause(self, pause: &Pause) -> Result<bool, StoreError> {
        let put = Versioned::new(pause.clone()).put(WHAT, key(), None)?;
        self.write_if(&[put]).await
    }

    /// Ends the pause. False: there is none. One write.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn end_pause(self) -> Result<bool, StoreError> {
        self.write_if(&[Write::Delete(key(), Condition::Exists)])
            .await
    }
}
