//! Definitions: heads, versions, and the triggers and routes that they own.

pub mod activity_type;
pub(crate) mod change;
pub mod head;
pub mod publish;
pub(crate) mod read;
pub mod route;
pub(crate) mod rows;
pub mod trigger;

use crate::store::handle::handle;

handle!(
    /// Definitions, their versions, triggers and routes.
    pub Definitions,
    definitions
);
