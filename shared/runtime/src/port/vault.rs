//! Values of secrets: sealed for the table, or kept elsewhere and read by reference.

use async_trait::async_trait;

use crate::error::PortError;

/// What opens and seals values, and reads those that are kept elsewhere. All is told in bytes and texts: which key is in
/// use, and where a reference leads, is known here alone.
#[async_trait]
pub trait Vault: Send + Sync + 'static {
    /// Whether values can be sealed. Otherwise secrets are references.
    fn seals(&self) -> bool;

    /// Seals a value with the key in use, for one purpose. The random numbers never come twice.
    ///
    /// # Errors
    ///
    /// [`PortError`]: the keys cannot be read or written.
    fn seal(&self, purpose: &str, random: [u64; 2], value: &[u8]) -> Result<Vec<u8>, PortError>;

    /// Opens what was sealed for this purpose. `None`: with none of the keys.
    ///
    /// # Errors
    ///
    /// [`PortError`]: the keys cannot be read or written.
    fn open(&self, purpose: &str, sealed: &[u8]) -> Result<Option<Vec<u8>>, PortError>;

    /// Puts another key in use. The keys before still open: values of open tasks are sealed with them. The oldest is
    /// dropped where there are many.
    ///
    /// # Errors
    ///
    /// [`PortError`]: the keys cannot be read or written.
    fn change_key(&self, random: [u64; 4]) -> Result<(), PortError>;

    /// The value that a reference leads to. `None`: there is none, or this process may not read it.
    async fn referenced(&self, tenant: &str, reference: &str) -> Result<Option<String>, PortError>;
}
