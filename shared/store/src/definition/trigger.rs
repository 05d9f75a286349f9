//! Triggers: rows under the hash of the stimulus that starts a definition's published version.

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::definition::head::DefinitionHead;
use crate::item::body;
use crate::item::error::StoreError;
use crate::item::key_text::{count, part, partition, plain};
use crate::item::tenant::Tenant;
use crate::table::{Attributes, Item, Key};

/// A trigger as it is published.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct NewTrigger {
    /// The hash of the stimulus that it waits for.
    #[serde(skip)]
    pub hash: String,
    /// The activity that starts.
    #[serde(skip)]
    pub activity_id: String,
    /// The name of the kind of stimulus.
    #[serde(rename = "n")]
    pub name: String,
    /// What it waits for; the runtime's own format.
    #[serde(rename = "p")]
    pub payload: Bytes,
}

/// A trigger as it is found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TriggerRow {
    /// The definition that it starts.
    pub definition_id: String,
    /// The generation that it belongs to. Not the head's: it is not in force, see [`Self::is_of`].
    pub generation: u64,
    /// What was published.
    pub trigger: NewTrigger,
}

impl TriggerRow {
    /// Whether the trigger is in force. A start reads the head anyway; it must ask this with it, because rows of
    /// an unfinished or an old publish may lie about where a definition has too many for one atomic write.
    #[must_use]
    pub fn is_of(&self, head: &DefinitionHead) -> bool {
        head.published.is_some() && self.generation == head.generation
    }
}

/// The partition where everything lies that waits for one stimulus, and the stimuli that wait for it.
pub(crate) fn stimulus_partition(tenant: &Tenant, hash: &str) -> Result<String, StoreError> {
    Ok(partition(
        tenant,
        &format!("STIM#{}", part("a stimulus hash", hash)?),
    ))
}

/// The hash that a stimulus partition is about.
pub(crate) fn stimulus_hash(what: &'static str, partition: &str) -> Result<String, StoreError> {
    let hash = partition
        .split_once("/STIM#")
        .and_then(|(_, hash)| plain(hash));
    hash.ok_or(StoreError::damaged(what))
}

/// The key of a trigger.
pub(crate) fn key(
    tenant: &Tenant,
    hash: &str,
    definition: &str,
    activity: &str,
    generation: u64,
) -> Result<Key, StoreError> {
    let definition = part("a definition id", definition)?;
    let activity = part("an activity id", activity)?;
    let sort = format!("T#{definition}#{activity}#{}", count(generation));
    Ok(Key::new(stimulus_partition(tenant, hash)?, sort))
}

pub(crate) fn attributes(trigger: &NewTrigger) -> Result<Attributes, StoreError> {
    body::attributes("trigger", trigger)
}

pub(crate) fn from_item(item: &Item) -> Result<TriggerRow, StoreError> {
    let what = "trigger";
    let mut parts = item.key.sort.split('#').skip(1);
    let mut text = || {
        parts
            .next()
            .and_then(plain)
            .ok_or(StoreError::damaged(what))
    };
    let (definition_id, activity_id, generation) = (text()?, text()?, text()?);
    let mut trigger: NewTrigger = body::of_item(what, item)?;
    trigger.hash = stimulus_hash(what, &item.key.partition)?;
    trigger.activity_id = activity_id;
    let generation = generation.parse().map_err(|_| StoreError::damaged(what))?;
    Ok(TriggerRow {
        definition_id,
        generation,
        trigger,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trigger_comes_back() {
        let trigger = NewTrigger {
            hash: "AB".into(),
            activity_id: "act#1".into(),
            name: "Elsa.Event".into(),
            payload: Bytes::from_static(b"{}"),
        };
        let key = key(&Tenant::default(), "AB", "d#e", "act#1", 3).unwrap();
        assert_eq!(
            key,
            Key::new("default/STIM#AB", "T#d%23e#act%231#000000000003")
        );
        let item = Item {
            key,
            attributes: attributes(&trigger).unwrap(),
        };
        let row = from_item(&item).unwrap();
        assert_eq!(
            row,
            TriggerRow {
                definition_id: "d#e".into(),
                generation: 3,
                trigger
            }
        );
    }
}
