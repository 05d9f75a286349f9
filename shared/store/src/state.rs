//! Where an instance's state lies: in the head, in an item of its own, or among the blobs.

use bytes::Bytes;
use sha2::{Digest, Sha256};

use crate::body;
use crate::error::StoreError;
use crate::instance::{number, wf_partition};
use crate::key_text::count;
use crate::packed;
use crate::store::Store;
use crate::table::{Attributes, Condition, Item, Key, Value, Write};
use crate::tenant::Tenant;

/// The place of the last state, packed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum StatePlace {
    /// In the head.
    Inline(Bytes),
    /// In the item that this commit wrote.
    Item(u64),
    /// Under this name among the blobs.
    Blob(String),
}

impl StatePlace {
    pub(crate) fn attribute(&self) -> (&'static str, Value) {
        match self {
            Self::Inline(packed) => ("st", Value::B(packed.clone())),
            Self::Item(commit) => ("sn", number(*commit)),
            Self::Blob(name) => ("sb", Value::S(name.clone())),
        }
    }

    pub(crate) fn from_attributes(attributes: &Attributes) -> Result<Self, StoreError> {
        if let Some(packed) = body::bytes(attributes, "st") {
            return Ok(Self::Inline(packed.clone()));
        }
        if let Some(commit) = body::number(attributes, "sn") {
            return Ok(Self::Item(commit.unsigned_abs()));
        }
        let name = body::text(attributes, "sb").ok_or(StoreError::damaged("instance"))?;
        Ok(Self::Blob(name.to_owned()))
    }
}

/// The key of the state that a commit wrote.
pub(crate) fn key(tenant: &Tenant, instance: &str, commit: u64) -> Result<Key, StoreError> {
    Ok(Key::new(
        wf_partition(tenant, instance)?,
        format!("STATE#{}", count(commit)),
    ))
}

/// A name that no other attempt of any commit uses, so that a blob can be deleted without asking who else has it.
fn blob_name(
    tenant: &Tenant,
    instance: &str,
    commit: u64,
    fence: u64,
    packed: &[u8],
) -> Result<String, StoreError> {
    let digest = Sha256::digest(packed);
    let hex = digest.iter().fold(String::with_capacity(64), |hex, byte| {
        format!("{hex}{byte:02x}")
    });
    let instance = crate::key_text::part("an instance id", instance)?;
    Ok(format!("{tenant}/state/{instance}/{commit}-{fence}-{hex}"))
}

impl Store {
    /// Decides where a new state goes, and puts it there if that is outside the table.
    pub(crate) async fn place_state(
        &self,
        tenant: &Tenant,
        instance: &str,
        (commit, fence): (u64, u64),
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
        let packed = packed::pack(state, config.compress_from);
        if packed.len() <= config.state_inline_max {
            return Ok((StatePlace::Inline(packed), None));
        }
        if packed.len() <= config.state_item_max {
            let attributes = Attributes::from([("st".to_owned(), Value::B(packed))]);
            let item = Item {
                key: key(tenant, instance, commit)?,
                attributes,
            };
            return Ok((
                StatePlace::Item(commit),
                Some(Write::Put(item, Condition::Always)),
            ));
        }
        let blobs = self
            .blobs()
            .ok_or(StoreError::NoBlobs { size: packed.len() })?;
        let name = blob_name(tenant, instance, commit, fence, &packed)?;
        blobs.put(&name, packed).await.map_err(StoreError::Blobs)?;
        Ok((StatePlace::Blob(name), None))
    }

    /// The state at a place; `None` if it is not there any more. No read for an inline one.
    pub(crate) async fn load_state(
        &self,
        tenant: &Tenant,
        instance: &str,
        place: &StatePlace,
    ) -> Result<Option<Bytes>, StoreError> {
        let packed = match place {
            StatePlace::Inline(packed) => Some(packed.clone()),
            StatePlace::Item(commit) => {
                let item = self.table().get(&key(tenant, instance, *commit)?).await?;
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
    pub(crate) async fn drop_blob(&self, place: Option<&StatePlace>) {
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
    fn a_place_comes_back() {
        let places = [
            StatePlace::Inline(Bytes::from_static(&[1])),
            StatePlace::Item(7),
            StatePlace::Blob("x/y".into()),
        ];
        for place in places {
            let (name, value) = place.attribute();
            let attributes = Attributes::from([(name.to_owned(), value)]);
            assert_eq!(StatePlace::from_attributes(&attributes).unwrap(), place);
        }
        assert!(StatePlace::from_attributes(&Attributes::new()).is_err());
        assert_eq!(
            key(&Tenant::default(), "i", 7).unwrap(),
            Key::new("default/WF#i", "STATE#000000000007")
        );
    }
}
