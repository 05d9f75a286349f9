//! Recipients of a stimulus: noted before the first of them has it, so that a repetition of the stimulus, after a crash
//! or by its sender, reaches the same ones and no bookmark that opened later.
//!
//! One item tells how a stimulus stands: its recipients, that it is queued, or that it was taken from the queue.

use std::collections::BTreeSet;

use crate::item::body;
use crate::item::error::StoreError;
use crate::item::key_text::{part, plain};
use crate::item::tenant::Tenant;
use crate::stimulus::Stimuli;
use crate::stimulus::bookmark::BookmarkRow;
use crate::stimulus::queued_stimulus::{QUEUED, remembered_until_s, taken_key};
use crate::table::{Change, Condition, Durability, Item, Updated, Value};

/// So many are noted. A stimulus for more is found to have been delivered all the same, but a repetition of it also
/// reaches whoever waits by then.
const RECIPIENTS_MAX: usize = 100;

/// Those who waited for a stimulus when it came.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Recipients {
    /// Instances and bookmarks.
    bookmarks: BTreeSet<(String, String)>,
    /// Whether there were more than are noted.
    pub has_more: bool,
}

/// What an earlier delivery of a stimulus has left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Earlier {
    /// Nothing: this is the first one, and now it is noted.
    None,
    /// It was for these.
    SentTo(Recipients),
    /// It is queued.
    Queued,
    /// It was queued, and somebody has taken it.
    Taken,
}

/// How one that was a recipient stands to an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// Its instance has had it.
    Seen,
    /// It waits still: somebody may be handing it over right now.
    Waits,
    /// It does not wait any more, for another reason.
    Away,
}

impl Recipients {
    /// Those whose bookmarks these are.
    #[must_use]
    pub fn of(rows: &[BookmarkRow]) -> Self {
        let first = rows.iter().take(RECIPIENTS_MAX);
        Self {
            bookmarks: first
                .map(|row| (row.instance_id.clone(), row.bookmark_id.clone()))
                .collect(),
            has_more: rows.len() > RECIPIENTS_MAX,
        }
    }

    /// Whether a bookmark is one of theirs.
    #[must_use]
    pub fn has(&self, row: &BookmarkRow) -> bool {
        let bookmark = (row.instance_id.clone(), row.bookmark_id.clone());
        self.bookmarks.contains(&bookmark)
    }

    /// Their instances and bookmarks, without those that are among `rows`.
    pub fn besides(&self, rows: &[BookmarkRow]) -> impl Iterator<Item = (&str, &str)> {
        let others = self.bookmarks.iter().filter(move |(instance, bookmark)| {
            let is_it =
                |row: &BookmarkRow| row.instance_id == *instance && row.bookmark_id == *bookmark;
            !rows.iter().any(is_it)
        });
        others.map(|(instance, bookmark)| (instance.as_str(), bookmark.as_str()))
    }

    /// That a stimulus was not taken, and is for these or was never noted.
    pub(crate) fn still_noted(&self) -> Result<Condition, StoreError> {
        Ok(Condition::Any(vec![
            Condition::Absent,
            Condition::Equals("to".into(), self.value()?),
        ]))
    }

    fn value(&self) -> Result<Value, StoreError> {
        let text = |(instance, bookmark): &(String, String)| {
            let instance = part("an instance id", instance)?;
            Ok(format!("{instance}#{}", part("a bookmark id", bookmark)?))
        };
        let texts: Result<_, StoreError> = self.bookmarks.iter().map(text).collect();
        texts.map(Value::Ss)
    }

    /// What the item of a stimulus says.
    pub(crate) fn earlier(item: &Item) -> Result<Earlier, StoreError> {
        let Some(Value::Ss(texts)) = item.attributes.get("to") else {
            let is_queued = item.attributes.contains_key(QUEUED);
            return Ok(if is_queued {
                Earlier::Queued
            } else {
                Earlier::Taken
            });
        };
        let read = |text: &String| {
            let (instance, bookmark) = text.split_once('#')?;
            Some((plain(instance)?, plain(bookmark)?))
        };
        let bookmarks: Option<_> = texts.iter().map(read).collect();
        Ok(Earlier::SentTo(Self {
            bookmarks: bookmarks.ok_or(StoreError::damaged("stimulus"))?,
            has_more: body::number(&item.attributes, "mo").is_some(),
        }))
    }
}

impl Stimuli<'_> {
    /// Notes for whom a stimulus is, unless an earlier delivery of it has: then answers what that has left. Nothing is
    /// owed to it alone, so it need not be durable before what follows it. One write.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn note_recipients(
        self,
        tenant: &Tenant,
        (hash, id): (&str, &str),
        recipients: &Recipients,
        now_ms: i64,
    ) -> Result<Earlier, StoreError> {
        let key = taken_key(tenant, hash, id)?;
        let mut changes = vec![
            Change::Set("to".into(), recipients.value()?),
            Change::Set("ttl".into(), Value::N(remembered_until_s(now_ms))),
        ];
        if recipients.has_more {
            changes.push(Change::Set("mo".into(), Value::N(1)));
        }
        let absent = Condition::Absent;
        let noted = self
            .table()
            .update(&key, &changes, &absent, Durability::Ordered)
            .await?;
        match noted {
            Updated::New(_) | Updated::Refused(None) => Ok(Earlier::None),
            Updated::Refused(Some(item)) => Recipients::earlier(&item),
        }
    }

    /// What an earlier delivery of a stimulus has left. One read.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn earlier(
        self,
        tenant: &Tenant,
        (hash, id): (&str, &str),
    ) -> Result<Earlier, StoreError> {
        match self.table().get(&taken_key(tenant, hash, id)?).await? {
            Some(item) => Recipients::earlier(&item),
            None => Ok(Earlier::None),
        }
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use crate::item::stamp::Stamp;
    use crate::stimulus::bookmark::FoundBy;
    use crate::table::Key;

    fn row(instance: &str, bookmark: &str) -> BookmarkRow {
        BookmarkRow {
            instance_id: instance.into(),
            bookmark_id: bookmark.into(),
            stamp: Stamp::default(),
            found_by: FoundBy {
                hash: "H".into(),
                correlation_id: None,
                activity_instance_id: None,
                payload: Bytes::new(),
            },
        }
    }

    #[test]
    fn recipients_come_back_as_they_were_noted() {
        let rows = [row("i#1", "b"), row("j", "b#2")];
        let recipients = Recipients::of(&rows);
        let item = Item {
            key: Key::new("p", "s"),
            attributes: [("to".to_owned(), recipients.value().unwrap())].into(),
        };
        let back = Recipients::earlier(&item).unwrap();
        assert_eq!(back, Earlier::SentTo(recipients.clone()));
        assert!(recipients.has(&rows[0]) && !recipients.has(&row("j", "b")));
        let besides: Vec<_> = recipients.besides(&rows[..1]).collect();
        assert_eq!(besides, [("j", "b#2")]);
        let many: Vec<_> = (0..101).map(|n| row(&format!("i{n}"), "b")).collect();
        assert!(Recipients::of(&many).has_more);
    }
}
