//! Addresses that publish an event to one instance, for scripts to send to people.

use crate::id::InstanceId;
use crate::time::Timestamp;

/// Makes such addresses. The same for the same arguments, as everything that a step is given: no randomness, and
/// nothing that must be stored before the step is.
pub trait EventLinks {
    /// The address that publishes `event` to `instance`, usable until `expires`, or for as long as the host allows.
    fn url(&self, instance: &InstanceId, event: &str, expires: Option<Timestamp>) -> String;
}
