//! Recipients of a stimulus: what it triggers, and what waits for it. Those that wait are noted before the first of them
//! has it, because afterwards nothing tells that they have waited.

use std::collections::BTreeMap;

use dormouse_store::Tenant;
use dormouse_store::definition::trigger::TriggerRow;
use dormouse_store::stimulus::bookmark::BookmarkRow;
use dormouse_store::stimulus::recipients::{Earlier, Recipients, Standing};
use dormouse_store::stimulus::stimuli::Waiting;

use crate::error::RuntimeError;
use crate::stimuli::Stimuli;
use crate::work::stimulus::StimulusRequest;

/// Rows of bookmarks read at once: as many as are noted.
const PAGE: u32 = 100;

/// What was found under the hash of a stimulus.
pub(crate) enum Found {
    /// It is queued, by an earlier delivery: then it has one recipient only.
    Queued,
    /// It was queued, and somebody has taken it.
    Taken,
    /// These are to have it.
    Receivers(Receivers),
}

/// Those who are to have a stimulus.
#[derive(Default)]
pub(crate) struct Receivers {
    pub(crate) triggers: Vec<TriggerRow>,
    /// The first page of bookmarks.
    pub(crate) bookmarks: Vec<BookmarkRow>,
    /// Where the next page begins.
    pub(crate) cursor: Option<String>,
    /// Recipients of an earlier delivery whose bookmarks are not on that page.
    pub(crate) before: Vec<(String, String)>,
    /// Whether their bookmarks may be on other pages.
    pub(crate) has_others: bool,
}

/// How the recipients of an earlier delivery stand.
#[derive(Default)]
pub(crate) struct Before {
    /// The instances that have had it.
    pub(crate) seen: Vec<String>,
    /// Those that wait still, and the bookmarks at which they do: somebody may be handing it over right now.
    pub(crate) waiting: BTreeMap<String, Vec<String>>,
}

impl Stimuli<'_> {
    /// One page of the bookmarks that wait for a stimulus.
    pub(crate) async fn page_of(
        self,
        tenant: &Tenant,
        stimulus: &StimulusRequest,
        cursor: Option<String>,
    ) -> Result<Waiting, RuntimeError> {
        let correlation_id = stimulus.correlation_id.as_deref();
        let hash = (stimulus.hash.as_str(), correlation_id);
        Ok(self
            .store()
            .stimuli()
            .waiting(tenant, hash, PAGE, cursor)
            .await?)
    }

    /// Looks for the recipients of a stimulus. Two queries, and a write where somebody waits.
    pub(crate) async fn receivers(
        self,
        tenant: &Tenant,
        stimulus: &StimulusRequest,
    ) -> Result<Found, RuntimeError> {
        let mut found = Receivers::default();
        if !stimulus.is_targeted() {
            found.triggers = self
                .store()
                .stimuli()
                .triggers(tenant, &stimulus.hash)
                .await?;
        }
        loop {
            let page = self.page_of(tenant, stimulus, found.cursor.take()).await?;
            let bookmarks = page.bookmarks.into_iter();
            found
                .bookmarks
                .extend(bookmarks.filter(|row| stimulus.is_for(row)));
            found.cursor = page.cursor;
            if found.cursor.is_none() || !found.bookmarks.is_empty() {
                break;
            }
        }
        let (key, now) = ((stimulus.hash.as_str(), stimulus.id.as_str()), self.now().0);
        let store = self.store();
        let earlier = if !found.bookmarks.is_empty() {
            let mut recipients = Recipients::of(&found.bookmarks);
            recipients.has_more |= found.cursor.is_some();
            store
                .stimuli()
                .note_recipients(tenant, key, &recipients, now)
                .await?
        } else if !found.triggers.is_empty() {
            // One that is queued was for nobody when it came, so it starts nothing now.
            store.stimuli().earlier(tenant, key).await?
        } else {
            Earlier::None
        };
        match earlier {
            Earlier::None => {}
            // By a delivery that looked before they waited.
            Earlier::Queued => return Ok(Found::Queued),
            Earlier::Taken => return Ok(Found::Taken),
            Earlier::SentTo(first) => {
                found.before = owned(first.besides(&found.bookmarks));
                found.has_others = found.cursor.is_some();
                if !first.has_more {
                    found.bookmarks.retain(|row| first.has(row));
                    found.cursor = None;
                }
            }
        }
        Ok(Found::Receivers(found))
    }

    /// One of the recipients that has a row still: its bookmark waits, or its commit may still happen. A query for each
    /// page of rows.
    pub(crate) async fn row_of_any(
        self,
        tenant: &Tenant,
        stimulus: &StimulusRequest,
        recipients: &Recipients,
    ) -> Result<Option<String>, RuntimeError> {
        let mut cursor = None;
        loop {
            let page = self.page_of(tenant, stimulus, cursor).await?;
            if let Some(row) = page.bookmarks.into_iter().find(|row| recipients.has(row)) {
                return Ok(Some(row.instance_id));
            }
            cursor = page.cursor;
            if cursor.is_none() {
                return Ok(None);
            }
        }
    }

    /// How the recipients of an earlier delivery stand. A read or two for each.
    pub(crate) async fn before(
        self,
        tenant: &Tenant,
        stimulus: &StimulusRequest,
        recipients: &[(String, String)],
    ) -> Result<Before, RuntimeError> {
        let mut before = Before::default();
        for (instance, bookmark) in recipients {
            let at = (instance.as_str(), bookmark.as_str());
            match self
                .store()
                .instances()
                .standing(tenant, at, &stimulus.id)
                .await?
            {
                Standing::Seen => before.seen.push(instance.clone()),
                Standing::Waits => {
                    let at = before.waiting.entry(instance.clone()).or_default();
                    at.push(bookmark.clone());
                }
                Standing::Away => {}
            }
        }
        Ok(before)
    }
}

/// Texts of one's own.
pub(crate) fn owned<'a>(all: impl Iterator<Item = (&'a str, &'a str)>) -> Vec<(String, String)> {
    all.map(|(one, other)| (one.to_owned(), other.to_owned()))
        .collect()
}
