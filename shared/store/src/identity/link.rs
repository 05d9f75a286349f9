//! Resume links: found by the digest of their secret, which itself is not kept.
//!
//! A link names its tenant inside, because who follows one says nothing but the secret.

use serde::{Deserialize, Serialize};

use crate::identity::Links;
use crate::item::error::StoreError;
use crate::item::key_text::{SYSTEM, part};
use crate::item::tenant::Tenant;
use crate::item::versioned::Versioned;
use crate::table::Key;

const WHAT: &str = "resume link";

/// What a link asks for.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct LinkInput {
    /// The name under which the workflow receives it.
    #[serde(rename = "n")]
    pub name: String,
    /// What people read.
    #[serde(rename = "l", skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// What may be entered; the runtime's word.
    #[serde(rename = "k")]
    pub kind: String,
    /// Whether it must be entered.
    #[serde(rename = "r")]
    pub is_required: bool,
}

/// What somebody answered.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct LinkAnswer {
    /// When, in ms since 1970.
    #[serde(rename = "t")]
    pub at_ms: i64,
    /// The outcome that was chosen, where there is a choice.
    #[serde(rename = "o", skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
    /// What the bookmark receives; the runtime's own format.
    #[serde(rename = "i")]
    pub input: bytes::Bytes,
}

/// What becomes of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum LinkState {
    /// It waits for an answer, or for its answer to be carried out.
    #[default]
    #[serde(rename = "o")]
    Open,
    /// Its answer has resumed the bookmark.
    #[serde(rename = "d")]
    Done,
    /// The bookmark went another way.
    #[serde(rename = "v")]
    Void,
}

/// A link to a bookmark.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Link {
    /// The tenant's name.
    #[serde(rename = "tn")]
    pub tenant: String,
    /// The instance.
    #[serde(rename = "in")]
    pub instance_id: String,
    /// The bookmark.
    #[serde(rename = "b")]
    pub bookmark_id: String,
    /// Until when it leads anywhere, in ms since 1970.
    #[serde(rename = "e")]
    pub expires_ms: i64,
    /// What it is about.
    #[serde(rename = "ti", skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// More about it.
    #[serde(rename = "tx", skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Among what to choose; none: there is only one way on.
    #[serde(rename = "oc")]
    pub outcomes: Vec<String>,
    /// What to enter.
    #[serde(rename = "ip")]
    pub inputs: Vec<LinkInput>,
    /// The first answer. No other one counts.
    #[serde(rename = "a", skip_serializing_if = "Option::is_none")]
    pub answer: Option<LinkAnswer>,
    /// What became of it.
    #[serde(rename = "s")]
    pub state: LinkState,
}

impl Link {
    /// Its tenant.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the item is damaged.
    pub fn tenant(&self) -> Result<Tenant, StoreError> {
        Tenant::new(&self.tenant)
    }
}

fn key(digest: &str) -> Result<Key, StoreError> {
    let digest = part("a link's digest", digest)?;
    Ok(Key::new(format!("{SYSTEM}/LINK#{digest}"), "HEAD"))
}

impl Links<'_> {
    /// The link of a secret, by the secret's digest. It may have expired. One read.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn link(self, digest: &str) -> Result<Option<Versioned<Link>>, StoreError> {
        self.get_versioned(WHAT, &key(digest)?).await
    }

    /// Stores a link. False: it has changed since it was read. One write.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn put_link(self, digest: &str, link: &Versioned<Link>) -> Result<bool, StoreError> {
        let ttl_s = link.value.expires_ms / 1_000 + 3_600;
        let put = link.put(WHAT, key(digest)?, Some(ttl_s))?;
        self.write_if(&[put]).await
    }
}
