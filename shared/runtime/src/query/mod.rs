//! Reading: definitions, instances, journals, and what waits for a stimulus. Nothing here changes anything.

mod activity_execution;
mod definitions;
mod instances;
mod stimuli;

pub use activity_execution::{ActivityExecution, ActivityStatus};
pub use instances::{InstanceDetail, Journal, VariableValue};
pub use stimuli::Waiting;
