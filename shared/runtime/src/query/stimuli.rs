//! What waits for a stimulus, for senders who decide themselves whom to wake: HTTP requests.

use dormouse_store::Tenant;
use dormouse_store::definition::route::Route;
use dormouse_store::definition::trigger::TriggerRow;
use dormouse_store::stimulus::bookmark::BookmarkRow;
use serde_json::Value;

use crate::error::RuntimeError;
use crate::query::Query;

/// At most so many bookmarks are looked at for one request.
const BOOKMARKS_MAX: u32 = 1_000;

/// Who waits for a stimulus.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Waiting {
    /// Definitions that it starts: [`crate::StartRequest::trigger_generation`] is [`TriggerRow::generation`].
    pub triggers: Vec<TriggerRow>,
    /// Bookmarks that it resumes.
    pub bookmarks: Vec<BookmarkRow>,
}

impl Waiting {
    /// What a trigger or a bookmark keeps, as its activity made it.
    #[must_use]
    pub fn payload(bytes: &[u8]) -> Value {
        serde_json::from_slice(bytes).unwrap_or(Value::Null)
    }
}

impl Query<'_> {
    /// What waits for a stimulus, by its hash: all triggers, and the first 1,000 bookmarks. Two queries.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn waiting(self, tenant: &Tenant, hash: &str) -> Result<Waiting, RuntimeError> {
        let store = self.store();
        let bookmarks = store
            .stimuli()
            .waiting(tenant, (hash, None), BOOKMARKS_MAX, None);
        Ok(Waiting {
            triggers: store.stimuli().triggers(tenant, hash).await?,
            bookmarks: bookmarks.await?.bookmarks,
        })
    }

    /// The routes with parameters that HTTP workflows answer. One query. A route says only that its template is
    /// worth a look-up; what answers is found under the stimulus hash.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn routes(self, tenant: &Tenant) -> Result<Vec<Route>, RuntimeError> {
        Ok(self.store().definitions().list_routes(tenant).await?)
    }
}
