//! Reading: definitions, instances, journals, and what waits for a stimulus. Nothing here changes anything.

mod activity_execution;
mod definitions;
mod flow_scope;
mod instances;
mod rehearse;
mod stimuli;

pub use dormouse_store::definition::route::Route;
pub use dormouse_store::definition::trigger::TriggerRow;
pub use dormouse_store::instance::find::{Found, Order};
pub use dormouse_store::instance::head::{InstanceHead, Summary};
pub use dormouse_store::instance::list::{
    InstanceCount, InstanceFilter, InstancePage, ListedInstance, Paging,
};
pub use dormouse_store::operation::alteration_plan::{
    AlterationJob, AlterationPlan, JobStatus, PlanStatus,
};
pub use dormouse_store::outbox::dead_letter::{DeadLetter, DeadLetterPage, Letter};
pub use dormouse_store::stimulus::bookmark::BookmarkRow;

pub use activity_execution::{ActivityExecution, ActivityStatus};
pub use instances::{JOURNAL_LINES_MAX, Journal, VariableValue};

pub use crate::kernel::read::InstanceDetail;
pub use stimuli::Waiting;

use crate::runtime::handle::handle;

handle!(
    /// Reads of definitions, instances and what waits for a stimulus.
    pub Query,
    query
);
