//! Dead letters: stimuli and effects that were given up on. Kept until somebody replays or deletes them.

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::item::body;
use crate::item::error::StoreError;
use crate::item::key_text::{part, partition, plain, time};
use crate::item::readable::readable;
use crate::item::tenant::Tenant;
use crate::outbox::DeadLetters;
use crate::outbox::row::{self as outbox, Effect, OutboxKey};
use crate::stimulus::queued_stimulus::{self, QueuedStimulus};
use crate::table::{Condition, Item, Key, Query, Write, Written};

/// Something that was given up on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeadLetter {
    /// Its id. Lists are in order of it, so begin it with the time.
    #[serde(skip)]
    pub id: String,
    /// When it was given up on, in ms since 1970.
    #[serde(rename = "t", default)]
    pub at_ms: i64,
    /// Why, in a word or two.
    #[serde(rename = "r", default)]
    pub reason: String,
    /// How often it was tried.
    #[serde(rename = "n", default)]
    pub attempts: u32,
    /// What it was.
    #[serde(rename = "l")]
    pub letter: Letter,
}

/// What was given up on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Letter {
    /// A stimulus that nothing waited for in time.
    #[serde(rename = "q")]
    Stimulus {
        /// The stimulus with its filter.
        #[serde(rename = "s")]
        stimulus: QueuedStimulus,
        /// Its id.
        #[serde(rename = "i")]
        id: String,
        /// Its hash.
        #[serde(rename = "h")]
        hash: String,
    },
    /// Effects that could not be delivered.
    #[serde(rename = "e")]
    Effects {
        /// Whose they were: the instance, or the id of the event.
        #[serde(rename = "s")]
        source: String,
        /// The commit that wrote them.
        #[serde(rename = "c")]
        commit: u64,
        /// What was to be done.
        #[serde(rename = "e")]
        effects: Vec<Effect>,
    },
    /// A message from outside that no instance could take; the runtime's own format.
    #[serde(rename = "m")]
    Message(Bytes),
}

/// One page of dead letters.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DeadLetterPage {
    /// The letters, newest first.
    pub letters: Vec<DeadLetter>,
    /// Where the next page begins.
    pub cursor: Option<String>,
}

fn key(tenant: &Tenant, id: &str) -> Result<Key, StoreError> {
    Ok(Key::new(
        partition(tenant, "DEAD"),
        part("a dead letter id", id)?,
    ))
}

fn put(tenant: &Tenant, letter: &DeadLetter) -> Result<Write, StoreError> {
    let attributes = body::attributes("dead letter", letter)?;
    Ok(Write::Put(
        Item {
            key: key(tenant, &letter.id)?,
            attributes,
        },
        Condition::Always,
    ))
}

fn from_item(item: &Item) -> Result<DeadLetter, StoreError> {
    let what = "dead letter";
    let mut letter: DeadLetter = body::of_item(what, item)?;
    letter.id = plain(&item.key.sort).ok_or(StoreError::damaged(what))?;
    if let Letter::Stimulus { stimulus, id, hash } = &mut letter.letter {
        stimulus.id.clone_from(id);
        stimulus.hash.clone_from(hash);
    }
    Ok(letter)
}

/// The dead letter of a stimulus that has expired.
fn expired(stimulus: QueuedStimulus, now_ms: i64) -> DeadLetter {
    DeadLetter {
        id: format!("{}-{}", time(stimulus.expires_ms), stimulus.id),
        at_ms: now_ms,
        reason: "expired".to_owned(),
        attempts: 0,
        letter: Letter::Stimulus {
            id: stimulus.id.clone(),
            hash: stimulus.hash.clone(),
            stimulus,
        },
    }
}

impl DeadLetters<'_> {
    /// Stores a dead letter. One write; the same one twice is one.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn put(self, tenant: &Tenant, letter: &DeadLetter) -> Result<(), StoreError> {
        self.write_plain(&[put(tenant, letter)?]).await
    }

    /// Stores a dead letter in place of the row of the outbox that it was. False: the row is gone. One atomic write.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn take_outbox(
        self,
        tenant: &Tenant,
        key: &OutboxKey,
        letter: &DeadLetter,
    ) -> Result<bool, StoreError> {
        let delete = Write::Delete(key.0.clone(), Condition::Exists);
        Ok(self.table().write(&[delete, put(tenant, letter)?]).await? == Written::Done)
    }

    /// Makes dead letters of the queued stimuli that have expired, at most `limit`; answers how many. An atomic
    /// write for each, so that a stimulus is consumed or dead and never both.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn expire_stimuli(self, now_ms: i64, limit: u32) -> Result<u32, StoreError> {
        let mut count = 0;
        for shard in 0..self.config().outbox_shards {
            let left = limit.saturating_sub(count);
            for key in self.stimuli().expiring(shard, now_ms, left).await? {
                if count == limit {
                    return Ok(count);
                }
                if self.expire_stimulus(&key, now_ms).await? {
                    count += 1;
                }
            }
        }
        Ok(count)
    }

    /// False: it is not there any more, and the index lags behind.
    async fn expire_stimulus(self, key: &Key, now_ms: i64) -> Result<bool, StoreError> {
        let tenant = queued_stimulus::tenant_of("queued stimulus", &key.partition)?;
        let Some(item) = self.table().get(key).await? else {
            return Ok(false);
        };
        let queued = queued_stimulus::from_item(&item)?;
        let said = queued_stimulus::taken_key(&tenant, &queued.hash, &queued.id)?;
        let letter = expired(queued, now_ms);
        let writes = [
            Write::Delete(key.clone(), Condition::Exists),
            Write::Delete(said, Condition::Always),
            put(&tenant, &letter)?,
        ];
        Ok(self.table().write(&writes).await? == Written::Done)
    }

    /// The dead letters of a tenant, newest first. One query.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn list(
        self,
        tenant: &Tenant,
        limit: u32,
        cursor: Option<String>,
    ) -> Result<DeadLetterPage, StoreError> {
        let all = Query::prefix(partition(tenant, "DEAD"), "");
        let limit = limit.clamp(1, 1_000);
        let query = Query {
            descending: true,
            limit,
            cursor,
            until: String::new(),
            leaves_out_damaged: true,
            ..all
        };
        let page = self.table().query(&query).await?;
        Ok(DeadLetterPage {
            letters: readable(page.items, from_item),
            cursor: page.cursor,
        })
    }

    /// How many dead letters a tenant has, at most `bound`.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn count(self, tenant: &Tenant, bound: u64) -> Result<u64, StoreError> {
        let mut count = 0;
        let mut cursor = None;
        loop {
            let page = self.list(tenant, 1_000, cursor).await?;
            count += page.letters.len() as u64;
            cursor = page.cursor;
            if cursor.is_none() || count >= bound {
                return Ok(count.min(bound));
            }
        }
    }

    /// One dead letter. One read.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn get(self, tenant: &Tenant, id: &str) -> Result<Option<DeadLetter>, StoreError> {
        self.table()
            .get(&key(tenant, id)?)
            .await?
            .as_ref()
            .map(from_item)
            .transpose()
    }

    /// Deletes a dead letter. False: there was none. One write.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn delete(self, tenant: &Tenant, id: &str) -> Result<bool, StoreError> {
        let delete = Write::Delete(key(tenant, id)?, Condition::Exists);
        Ok(self.table().write(&[delete]).await? == Written::Done)
    }

    /// Deletes a dead letter and puts effects into the outbox in its place, in one atomic write: its own effects,
    /// or one that delivers its stimulus anew. `None`: there is no such letter any more.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn replay(
        self,
        tenant: &Tenant,
        id: &str,
        now_ms: i64,
        effects: &[Effect],
    ) -> Result<Option<Vec<OutboxKey>>, StoreError> {
        let rows = outbox::rows(&self.outbox().accepted(tenant, id, now_ms), effects, None)?;
        let keys = rows.iter().map(|row| OutboxKey(row.key.clone())).collect();
        let mut writes = vec![Write::Delete(key(tenant, id)?, Condition::Exists)];
        writes.extend(
            rows.into_iter()
                .map(|row| Write::Put(row, Condition::Always)),
        );
        let written = self.table().write(&writes).await?;
        Ok((written == Written::Done).then_some(keys))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dead_letter_comes_back_with_its_stimulus_or_its_effects() {
        let tenant = Tenant::default();
        let stimulus = QueuedStimulus {
            id: "e#1".into(),
            hash: "AB".into(),
            correlation_id: Some("c".into()),
            expires_ms: 5,
            ..QueuedStimulus::default()
        };
        let effects = vec![Effect {
            id: "i/1/0".into(),
            body: Bytes::from_static(b"x"),
        }];
        let dead = DeadLetter {
            id: "7".into(),
            at_ms: 7,
            reason: "failed".into(),
            attempts: 3,
            letter: Letter::Effects {
                source: "i".into(),
                commit: 1,
                effects,
            },
        };
        let message = DeadLetter {
            letter: Letter::Message(Bytes::from_static(b"m")),
            ..dead.clone()
        };
        for letter in [expired(stimulus, 9), dead, message] {
            let Write::Put(item, _) = put(&tenant, &letter).unwrap() else {
                panic!("a letter is put")
            };
            assert_eq!(item.key.partition, "default/DEAD");
            assert_eq!(from_item(&item).unwrap(), letter);
        }
    }
}
