//! What a step may name of the world outside, and does not see: secrets, and the settings of the host.

use serde_json::Value;

use crate::id::InstanceId;

/// What a sealed value in the state of an instance begins with.
pub const SEALED_PREFIX: &str = "dmkept_";

/// The host has a key and could not seal a value, which must not be stored then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CannotSeal;

/// Makes references to secrets. A step gets the reference, and whoever sends a request of that instance puts the value in
/// its place: so no state, journal or output ever holds a value. The same for the same arguments.
pub trait SecretReferences {
    /// The text that stands for the secret in everything that this instance computes.
    fn reference(&self, instance: &InstanceId, name: &str) -> String;

    /// A value as it is kept while the instance needs it: a text that begins with [`SEALED_PREFIX`]. `None`: this host has
    /// no key, and it is kept as it is.
    ///
    /// # Errors
    ///
    /// [`CannotSeal`]: the value must not be kept.
    fn seal(&self, instance: &InstanceId, value: &Value) -> Result<Option<String>, CannotSeal>;

    /// What was sealed for this instance. `None`: this host does not have the key that sealed it.
    fn open(&self, instance: &InstanceId, sealed: &str) -> Option<Value>;
}

/// Settings of the host that scripts may read.
pub trait Settings {
    /// The setting of that name, such as `Mail:From`. Case does not count.
    fn setting(&self, path: &str) -> Option<Value>;
}
