//! What operators ask for: pauses, alteration plans, the audit log and examinations.

pub mod alteration_plan;
pub mod audit;
pub mod contents;
pub mod examine;
pub mod pause;

use crate::store::handle::handle;

handle!(
    /// Pauses, alteration plans, the audit log and examinations.
    pub Operations,
    operations
);
