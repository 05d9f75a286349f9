//! What operators and the process itself do: sweeps, examinations, alteration plans, the audit log.

pub(crate) mod alteration_plan;
pub(crate) mod audit;
pub(crate) mod examine;
pub(crate) mod retention;
pub(crate) mod selection;
pub(crate) mod sweep;
mod sweep_chains;
pub(crate) mod sweep_report;

use crate::runtime::handle::handle;

handle!(
    /// Sweeps, examinations, alteration plans and the audit log.
    pub Operations,
    operations
);
