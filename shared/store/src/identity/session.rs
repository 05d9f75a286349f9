//! Sessions of people: which refresh token counts, and until when. A session that was ended is not there any more, and so
//! none of its tokens counts.

use serde::{Deserialize, Serialize};

use crate::identity::Identities;
use crate::item::error::StoreError;
use crate::item::key_text::{SYSTEM, part};
use crate::item::versioned::Versioned;
use crate::table::Key;

const WHAT: &str = "session";

/// A session: all refresh tokens that came out of one sign-in.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Session {
    /// Its id, which is chance.
    #[serde(rename = "id")]
    pub id: String,
    /// The tenant's name.
    #[serde(rename = "tn")]
    pub tenant: String,
    /// The user's name.
    #[serde(rename = "u")]
    pub user: String,
    /// The ids of the roles of somebody who signed in at an outside issuer: nothing else is kept of them. `None`: the user is
    /// a local one.
    #[serde(rename = "r", skip_serializing_if = "Option::is_none")]
    pub roles: Option<Vec<String>>,
    /// The number of the refresh token that counts; each renewal makes the next one.
    #[serde(rename = "n")]
    pub number: u64,
    /// When that token was made, in ms since 1970.
    #[serde(rename = "rt")]
    pub renewed_ms: i64,
    /// Until when it can be renewed, in ms since 1970.
    #[serde(rename = "e")]
    pub ends_ms: i64,
}

fn key(id: &str) -> Result<Key, StoreError> {
    let id = part("a session's id", id)?;
    Ok(Key::new(format!("{SYSTEM}/SESSION#{id}"), "HEAD"))
}

impl Identities<'_> {
    /// A session; it may be over. One read.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn session(self, id: &str) -> Result<Option<Versioned<Session>>, StoreError> {
        self.get_versioned(WHAT, &key(id)?).await
    }

    /// Stores a session. False: it has changed since it was read. One write.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn put_session(self, session: &Versioned<Session>) -> Result<bool, StoreError> {
        let ttl_s = session.value.ends_ms / 1_000 + 3_600;
        let put = session.put(WHAT, key(&session.value.id)?, Some(ttl_s))?;
        self.write_if(&[put]).await
    }

    /// Ends a session. False: it has changed since it was read. One write.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn delete_session(self, session: &Versioned<Session>) -> Result<bool, StoreError> {
        let delete = session.delete(key(&session.value.id)?);
        self.write_if(&[delete]).await
    }
}
