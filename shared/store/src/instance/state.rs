//! Where an instance's state lies: in the head, in an item of its own, or among the blobs.

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::instance::Instances;
use crate::instance::head::wf_partition;
use crate::item::body;
use crate::item::error::StoreError;
use crate::item::key_text::count;
use crate::item::packed;
use crate::item::tenant::Tenant;
use crate::table::{Attributes, Condition, Item, Key, Value, Write};

/// The place of the last state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum StatePlace {
    /// In the head.
    #[serde(rename = "i")]
    Inline(Bytes),
    /// In the item that this attempt at this commit wrote.
    #[serde(rename = "n")]
    Item(u64, u64),
    /// Under this name among the blobs.
    #[serde(rename = "b")]
    Blob(String),
}

impl Default for StatePlace {
    fn default() -> Self {
        Self::Inline(Bytes::new())
    }
}

impl StatePlace {
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// The key of the state that an attempt at a commit wrote. No other attempt writes it, so it may be put before the
/// commit and deleted at any time after it.
pub(crate) fn key(
    tenant: &Tenant,
    instance: &str,
    (commit, attempt): (u64, u64),
) -> Result<Key, StoreError> {
    Ok(Key::new(
        wf_partition(tenant, instance)?,
        format!("STATE#{}#{attempt:x}", count(commit)),
    ))
}

/// A name that no other attempt of any commit uses, so that a blob can be deleted without asking who else has it.
fn blob_name(
    tenant: &Tenant,
    instance: &str,
    (commit, attempt): (u64, u64),
    packed: &[u8],
) -> Result<String, StoreError> {
    let digest = Sha256::digest(packed);
    let hex = digest.iter().fold(String::with_capacity(64), |hex, byte| {
        format!("{hex}{byte:02x}")
    });
    let instance = crate::item::key_text::part("an instance id", instance)?;
    Ok(format!(
        "{tenant}/state/{instance}/{commit}-{attempt:x}-{hex}"
    ))
}

impl Instances<'_> {
    /// Decides where a new state goes, and puts it there if that is outside the table.
    pub(crate) async fn place_state(
        self,
        tenant: &Tenant,
        instance: &str,
        attempt: (u64, u64),
        state: &Bytes,
    ) -> Result<(StatePlace, Option<Write>), StoreError> {
        let config = self.config();
        if state.len() > config.state_max {
            let what = "the instance's state";
            return Err(StoreError::TooLarge {
                what,
                size: state.len(),
                limit: config.state_max,
            });
        }
        // The head compresses what lies in it together with its journal.
        if state.len() <= config.state_inline_max {
            return Ok((StatePlace::Inline(state.clone()), None));
        }
        let packed = packed::pack(state, config.compress_from);
        if packed.len() <= config.state_inline_max {
            return Ok((StatePlace::Inline(state.clone()), None));
        }
        if packed.len() <= config.state_item_max {
            let attributes = Attributes::from([("st".to_owned(), Value::B(packed))]);
            let item = Item {
                key: key(tenant, instance, attempt)?,
                attributes,
            };
            return Ok((
                StatePlace::Item(attempt.0, attempt.1),
                Some(Write::Put(item, Condition::Always)),
            ));
        }
        let blobs = self
            .blobs()
            .ok_or(StoreError::NoBlobs { size: packed.len() })?;
        let name = blob_name(tenant, instance, attempt, &packed)?;
        blobs.put(&name, packed).await.map_err(StoreError::Blobs)?;
        Ok((StatePlace::Blob(name), None))
    }

    /// The state at a place; `None` if it is not there any more. No read for an inline one.
    pub(crate) async fn load_state(
        self,
        tenant: &Tenant,
        instance: &str,
        place: &StatePlace,
    ) -> Result<Option<Bytes>, StoreError> {
        let packed = match place {
            StatePlace::Inline(state) => return Ok(Some(state.clone())),
            StatePlace::Item(commit, attempt) => {
                let key = key(tenant, instance, (*commit, *attempt))?;
                let item = self.table().get(&key).await?;
                item.and_then(|item| body::bytes(&item.attributes, "st").cloned())
            }
            StatePlace::Blob(name) => {
                let blobs = self.blobs().ok_or(StoreError::NoBlobs { size: 0 })?;
                blobs.get(name).await.map_err(StoreError::Blobs)?
            }
        };
        packed
            .map(|packed| packed::unpack("state", &packed, self.config().state_max))
            .transpose()
    }

    /// Removes a blob that nothing names any more. A failure leaves it lying about, no more.
    pub(crate) async fn drop_blob(self, place: Option<&StatePlace>) {
        if let (Some(StatePlace::Blob(name)), Some(blobs)) = (place, self.blobs())
            && let Err(cause) = blobs.delete(name).await
        {
            tracing::warn!(name, cause = %cause, "a large state that is not needed any more stays behind");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_of_a_state_names_its_attempt() {
        assert_eq!(
            key(&Tenant::default(), "i", (7, 0xab)).unwrap(),
            Key::new("default/WF#i", "STATE#000000000007#ab")
        );
    }
}
