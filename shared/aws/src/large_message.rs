//! Messages that are too large for a queue: they lie in the bucket, and the queue carries where ("claim check").
//!
//! They lie under [`MESSAGES`], which the bucket empties by itself 30 days later: longer than any queue keeps what it
//! carries, its dead letters included. Nothing removes one before, because the same message may come again.

use bytes::Bytes;
use dormouse_runtime::{Message, RuntimeError, Tenant};
use dormouse_store::table::blobs::Blobs as _;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::error::CallError;
use crate::s3_blobs::{MESSAGES, S3Blobs};

/// The largest text that a queue or a bus carries itself, in bytes. Both take 1 MiB today and took a quarter of it
/// before, as some emulators do; each 64 KiB are paid for as a message, so that more is no cheaper than the bucket.
pub(crate) const CARRIED_BYTES_MAX: usize = 252 * 1_024;

/// The bucket behind queues and bus. Without one, what is too large is sent as it is, and refused by whom it is too
/// large for. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct LargeMessages {
    bucket: Option<S3Blobs>,
}

/// What a queue carries in place of a message.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Claim {
    /// The message's id, for whoever looks into the queue.
    id: String,
    /// The name under which it lies in the bucket.
    lies_at: String,
}

/// What stands behind the text of a queue.
#[derive(Debug)]
pub(crate) enum Fetched {
    /// The text is no claim.
    NoClaim,
    /// The message that it claims.
    Message(Box<Message>),
    /// The claim cannot be met, for this reason.
    Lost(String),
}

impl LargeMessages {
    /// Large messages in a bucket, if there is one.
    #[must_use]
    pub fn new(bucket: Option<S3Blobs>) -> Self {
        Self { bucket }
    }

    /// What a queue is to carry for a message: its text, or where that lies.
    pub(crate) async fn carried(
        &self,
        message: &Message,
        text: String,
    ) -> Result<String, CallError> {
        let Some((_, lies_at)) = self.keep(&message.tenant, &text).await? else {
            return Ok(text);
        };
        let id = message.id.clone();
        let claim = serde_json::to_string(&Claim { id, lies_at });
        claim.map_err(|error| failed("a large message", error))
    }

    /// Keeps a text that is too large to be carried; answers the bucket and the name that it got there.
    pub(crate) async fn keep(
        &self,
        tenant: &Tenant,
        text: &str,
    ) -> Result<Option<(&str, String)>, CallError> {
        let too_large = (text.len() > CARRIED_BYTES_MAX).then_some(text);
        let Some((bucket, text)) = self.bucket.as_ref().zip(too_large) else {
            return Ok(None);
        };
        let digest = Sha256::digest(text.as_bytes());
        let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        // The same text again has the same name, and is kept anew.
        let name = format!("{MESSAGES}{tenant}/{hex}");
        let kept = bucket.put(&name, Bytes::copy_from_slice(text.as_bytes()));
        kept.await
            .map_err(|cause| failed("a large message", cause))?;
        Ok(Some((bucket.name(), name)))
    }

    /// What the text of a queue stands for.
    ///
    /// # Errors
    ///
    /// The bucket does not answer; it may later.
    pub(crate) async fn fetch(&self, text: &str) -> Result<Fetched, CallError> {
        let Ok(claim) = serde_json::from_str::<Claim>(text) else {
            return Ok(Fetched::NoClaim);
        };
        let lies_at = claim.lies_at;
        // Nobody who may write to the queue is to have anything else of the bucket read.
        let Some(bucket) = self
            .bucket
            .as_ref()
            .filter(|_| lies_at.starts_with(MESSAGES))
        else {
            return Ok(Fetched::Lost(format!("`{lies_at}` is not looked for")));
        };
        let found = bucket.get(&lies_at).await;
        let found = found.map_err(|cause| failed("a large message", cause))?;
        let Some(bytes) = found else {
            return Ok(Fetched::Lost(format!(
                "`{lies_at}` is not in the bucket any more"
            )));
        };
        Ok(match Message::decode(&bytes) {
            Ok(message) => Fetched::Message(Box::new(message)),
            Err(error) => Fetched::Lost(unreadable(&lies_at, &error)),
        })
    }
}

fn unreadable(lies_at: &str, error: &RuntimeError) -> String {
    format!(
        "what lies at `{lies_at}` cannot be read: {}",
        crate::error::causes(error)
    )
}

fn failed(what: &str, cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> CallError {
    CallError::unsent(what.to_owned(), "the bucket", cause)
}
