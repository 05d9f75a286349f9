//! The `Blobs` port: where states go that are too large for an item.

use async_trait::async_trait;
use bytes::Bytes;

use crate::error::Cause;

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
