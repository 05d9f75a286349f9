//! The `Blobs` port: where states go that are too large for an item.

use async_trait::async_trait;
use bytes::Bytes;

use crate::table::Cause;

/// A blob as a list finds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlobPlace {
    /// Where it lies: what [`ListBlobs::place`] says of its name.
    pub place: String,
    /// When it was written, in ms since 1970.
    pub written_ms: i64,
}

/// A store of large values that are written once. A name is never used for a second value.
#[async_trait]
pub trait Blobs: Send + Sync + 'static {
    /// Stores a value; when it returns, the value survives power loss.
    async fn put(&self, name: &str, value: Bytes) -> Result<(), Cause>;

    /// The value under the name.
    async fn get(&self, name: &str) -> Result<Option<Bytes>, Cause>;

    /// Removes the value; removing nothing is fine.
    async fn delete(&self, name: &str) -> Result<(), Cause>;
}

/// Blobs that can be listed, for operators who look for what nobody names any more.
#[async_trait]
pub trait ListBlobs: Blobs {
    /// Where a value of this name lies.
    fn place(&self, name: &str) -> String;

    /// Everything but archives.
    async fn list(&self) -> Result<Vec<BlobPlace>, Cause>;

    /// Removes what lies at a place; removing nothing is fine.
    async fn delete_at(&self, place: &str) -> Result<(), Cause>;
}
