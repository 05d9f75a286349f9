//! Reading: definitions, instances, journals, and what waits for a stimulus. Nothing here changes anything.

mod activity_execution;
mod definitions;
mod instances;
mod stimuli;

pub use dormouse_store::alteration_plan::{AlterationJob, AlterationPlan, JobStatus, PlanStatus};
pub use dormouse_store::bookmark::BookmarkRow;
pub use dormouse_store::dead_letter::{DeadLetter, DeadLetterPage, Letter};
pub use dormouse_store::instance::{InstanceHead, Summary};
pub use dormouse_store::list::{
    InstanceCount, InstanceFilter, InstancePage, ListedInstance, Paging,
};
pub use dormouse_store::route::Route;
pub use dormouse_store::trigger::TriggerRow;

pub use activity_execution::{ActivityExecution, ActivityStatus};
pub use instances::{InstanceDetail, Journal, VariableValue};
pub use stimuli::Waiting;
