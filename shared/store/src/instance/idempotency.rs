//! Idempotency records: the answer that was given to a request with an Idempotency-Key.

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::instance::Instances;
use crate::item::body;
use crate::item::error::StoreError;
use crate::item::key_text::{part, partition};
use crate::item::tenant::Tenant;
use crate::table::{Condition, Item, Key, Value, Write, Written};

/// The answer to a request that may be sent again.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Answer {
    /// The key that the client sent, with whatever it is about.
    #[serde(skip)]
    pub key: String,
    /// Until when it counts, in ms since 1970.
    #[serde(rename = "e")]
    pub expires_ms: i64,
    /// What was asked, so that another request under the same key is told apart; a digest.
    #[serde(rename = "q")]
    pub request: Bytes,
    /// What was answered; the runtime's own format.
    #[serde(rename = "a")]
    pub answer: Bytes,
}

fn key(tenant: &Tenant, key: &str) -> Result<Key, StoreError> {
    Ok(Key::new(
        partition(
            tenant,
            &format!("IDEM#{}", part("an idempotency key", key)?),
        ),
        "HEAD",
    ))
}

/// Stores an answer unless there is one that still counts.
pub(crate) fn put(tenant: &Tenant, answer: &Answer, now_ms: i64) -> Result<Write, StoreError> {
    let key = key(tenant, &answer.key)?;
    let mut attributes = body::attributes("idempotency record", answer)?;
    attributes.insert("ex".into(), Value::N(answer.expires_ms));
    attributes.insert("ttl".into(), Value::N(answer.expires_ms / 1_000 + 3_600));
    let free = Condition::Any(vec![
        Condition::Absent,
        Condition::Below("ex".into(), now_ms),
    ]);
    Ok(Write::Put(Item { key, attributes }, free))
}

pub(crate) fn from_item(item: &Item, key: &str) -> Result<Answer, StoreError> {
    let mut answer: Answer = body::of_item("idempotency record", item)?;
    key.clone_into(&mut answer.key);
    Ok(answer)
}

impl Instances<'_> {
    /// The answer that was given under a key and still counts. One read.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn answer(
        self,
        tenant: &Tenant,
        idempotency_key: &str,
        now_ms: i64,
    ) -> Result<Option<Answer>, StoreError> {
        let item = self.table().get(&key(tenant, idempotency_key)?).await?;
        let Some(item) = item else { return Ok(None) };
        let answer = from_item(&item, idempotency_key)?;
        Ok((answer.expires_ms >= now_ms).then_some(answer))
    }

    /// Stores an answer; `Some` is the one that was there first. One write.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn put_answer(
        self,
        tenant: &Tenant,
        answer: &Answer,
        now_ms: i64,
    ) -> Result<Option<Answer>, StoreError> {
        match self.table().write(&[put(tenant, answer, now_ms)?]).await? {
            Written::Done => Ok(None),
            Written::Refused(items) => match items.into_iter().next().flatten().flatten() {
                Some(item) => from_item(&item, &answer.key).map(Some),
                None => Err(StoreError::damaged("idempotency record")),
            },
        }
    }
}
