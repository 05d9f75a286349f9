//! What operators ask for: pauses, alteration plans, the audit log and examinations.

pub mod alteration_plan;
pub mod audit;
pub mod examine;
pub mod pause;
