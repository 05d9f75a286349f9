//! Who receives a stimulus: whoever it triggers, and whoever waits for it. Those who wait are noted before the first
//! of them has it, because afterwards nothing tells that they have waited.

use dormouse_store::Tenant;
use dormouse_store::addressees::{Addressees, Earlier, Standing};
use dormouse_store::bookmark::BookmarkRow;
use dormouse_store::trigger::TriggerRow;

use crate::error::RuntimeError;
use crate::runtime::Runtime;
use crate::stimulate::StimulusRequest;

/// What was found under the hash of a stimulus.
pub(crate) enum Found {
    /// It is kept, from an earlier delivery: then it has one receiver only.
    Kept,
    /// It was kept, and somebody has taken it.
    Taken,
    /// These are to have it.
    Receivers(Receivers),
}

/// Who is to have a stimulus.
#[derive(Default)]
pub(crate) struct Receivers {
    pub(crate) triggers: Vec<TriggerRow>,
    pub(crate) bookmarks: Vec<BookmarkRow>,
    /// Those for whom it is, and whose bookmarks are not there any more.
    pub(crate) before: Vec<(String, String)>,
}

/// How those stand who were addressed before.
#[derive(Default)]
pub(crate) struct Before {
    /// The instances that have had it.
    pub(crate) seen: Vec<String>,
    /// That somebody may be handing it over right now: one of them still waits.
    pub(crate) failure: Option<RuntimeError>,
}

impl Runtime {
    /// Looks for the receivers of a stimulus. A query for each 1,000 of them; a write where somebody waits.
    pub(crate) async fn receivers(
        &self,
        tenant: &Tenant,
        stimulus: &StimulusRequest,
    ) -> Result<Found, RuntimeError> {
        let mut found = Receivers::default();
        let mut cursor = None;
        loop {
            let page = self.store().stimuli(tenant, &stimulus.hash, cursor).await?;
            if page.queued.iter().any(|kept| kept.id == stimulus.id) {
                return Ok(Found::Kept);
            }
            if !stimulus.is_targeted() {
                found.triggers.extend(page.triggers);
            }
            let bookmarks = page.bookmarks.into_iter();
            found
                .bookmarks
                .extend(bookmarks.filter(|row| stimulus.is_for(row)));
            cursor = page.cursor;
            if cursor.is_none() {
                break;
            }
        }
        if found.bookmarks.is_empty() {
            return Ok(Found::Receivers(found));
        }
        let (stimulus, now) = ((stimulus.hash.as_str(), stimulus.id.as_str()), self.now().0);
        let addressees = Addressees::of(&found.bookmarks);
        let store = self.store();
        match store.address(tenant, stimulus, &addressees, now).await? {
            Earlier::None => {}
            // By a delivery that looked before they waited.
            Earlier::Queued => return Ok(Found::Kept),
            Earlier::Taken => return Ok(Found::Taken),
            Earlier::AddressedTo(first) => {
                found.before = owned(first.besides(&found.bookmarks));
                found
                    .bookmarks
                    .retain(|row| first.has_more || first.has(row));
            }
        }
        Ok(Found::Receivers(found))
    }

    /// How those stand for whom a stimulus was before. A read or two for each.
    pub(crate) async fn before(
        &self,
        tenant: &Tenant,
        stimulus: &StimulusRequest,
        addressed: &[(String, String)],
    ) -> Result<Before, RuntimeError> {
        let mut before = Before::default();
        for (instance, bookmark) in addressed {
            let at = (instance.as_str(), bookmark.as_str());
            match self.store().standing(tenant, at, &stimulus.id).await? {
                Standing::Seen => before.seen.push(instance.clone()),
                Standing::Waits => {
                    before.failure = Some(RuntimeError::InProgress {
                        instance_id: instance.clone(),
                        until_ms: self.now().0,
                    });
                }
                Standing::Away => {}
            }
        }
        Ok(before)
    }
}

/// Texts that are kept.
pub(crate) fn owned<'a>(all: impl Iterator<Item = (&'a str, &'a str)>) -> Vec<(String, String)> {
    all.map(|(one, other)| (one.to_owned(), other.to_owned()))
        .collect()
}
