//! Values of secrets: sealed for the table, or kept elsewhere and read by reference.

use async_trait::async_trait;

use crate::error::PortError;

/// What opens and seals values, and reads those that are kept elsewhere. All is told in bytes and texts: which key is in
/// use, and where a reference leads, is known here alone.
#[async_trait]
pub trait Vault: Send + Sync + 'static {
    /// Whether values can be sealed. Otherwise secrets are references.
    fn seals(&self) -> bool;

    /// Reads the keys anew: another process may have put another one in use.
    ///
    /// # Errors
    ///
    /// [`PortError`]: the keys cannot be read.
    fn read_keys(&self) -> Result<(), PortError>;

    /// Seals a value with the key in use, for one purpose. The same random numbers never come with another purpose or value.
    /// To be called by steps, so it reads nothing.
    ///
    /// # Errors
    ///
    /// [`PortError`]: there is no key.
    fn seal(&self, purpose: &str, random: [u64; 2], value: &[u8]) -> Result<Vec<u8>, PortError>;

    /// Opens what was sealed for this purpose, also with keys that another process put in use. `None`: with none of the keys.
    ///
    /// # Errors
    ///
    /// [`PortError`]: the keys cannot be read or written.
    fn open(&self, purpose: &str, sealed: &[u8]) -> Result<Option<Vec<u8>>, PortError>;

    /// Whether the key in use sealed this.
    fn is_current(&self, sealed: &[u8]) -> bool;

    /// Puts another key in use. The earlier keys still open: values of open tasks are sealed with them. The oldest
    /// key is dropped where there are many.
    ///
    /// # Errors
    ///
    /// [`PortError`]: the keys cannot be read or written.
    fn change_key(&self, random: [u64; 4]) -> Result<(), PortError>;

    /// The value that a reference leads to. `None`: there is none, or this process may not read it.
    async fn referenced(&self, tenant: &str, reference: &str) -> Result<Option<String>, PortError>;
}
