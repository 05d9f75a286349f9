//! The use cases over the engine and the store: start, resume, fire a timer, publish, sweep and their like, one
//! file each.
//!
//! Everything that touches the world is a port ([`port`]): no clock, no randomness, no sleeping, no spawning and no
//! network but through them.

mod beside;
mod definitions;
mod delivery;
mod derived_id;
mod error;
mod graph;
pub mod identity;
mod instances;
mod json_digest;
mod kernel;
mod links;
mod loading;
mod operations;
mod outbox;
pub mod port;
pub mod query;
mod runtime;
mod stimuli;
mod timers;
mod work;

pub use definitions::Definitions;
pub use definitions::edit::{Edit, StaleEdit, content_digest};
pub use definitions::publish::{Publication, PublishOutcome};
pub use definitions::retract::RetractOutcome;
pub use definitions::save::SaveOutcome;
pub use definitions::view::{DefinitionSummary, DefinitionView};
pub use delivery::dead_letters::Replay;
pub use delivery::{DeadLetters, Deliveries};
pub use dormouse_store::identity::link::{Link, LinkState};
pub use dormouse_store::operation::audit::{AuditPage, AuditRecord};
pub use dormouse_store::table::TableError;
pub use dormouse_store::{StoreError, Tenant};
pub use error::RuntimeError;
pub use identity::Accounts;
pub use instances::Instances;
pub use instances::alter::AlterOutcome;
pub use instances::delete::DeleteOutcome;
pub use instances::dispatch::DispatchOutcome;
pub use instances::file::{Exported, ImportOutcome, InstanceFile};
pub use json_digest::json_digest;
pub use links::link_form::{BadAnswer, BadLink, FieldKind, LinkField, LinkForm};
pub use links::resume_link::{LinkAnswered, LinkMade, LinkRequest};
pub use links::webhook::Webhook;
pub use links::{Links, Webhooks};
pub use loading::Graphs;
pub use operations::Operations;
pub use operations::alteration_plan::{PlanDetail, PlanRequest, Submitted};
pub use operations::examine::{ExaminationReport, Examined, Found};
pub use operations::selection::{Selected, Selection};
pub use operations::sweep_report::SweepReport;
pub use port::Ports;
pub use query::Query;
pub use runtime::Pauses;
pub use runtime::Runtime;
pub use runtime::config::{Delivery, RuntimeConfig};
pub use runtime::pause::{PAUSE_SEEN_MS, Pause};
pub use stimuli::Stimuli;
pub use stimuli::publish_event::{EventOutcome, EventRequest};
pub use timers::Timers;
pub use timers::fire::TimerOutcome;
pub use work::definition_handle::{BadVersionOptions, DefinitionHandle, VersionOptions};
pub use work::delivered::Delivered;
pub use work::message::{self, Message};
pub use work::report::BurstReport;
pub use work::resume::{ResumeOutcome, ResumeRequest};
pub use work::retention::Retention;
pub use work::start::{StartOutcome, StartRequest};
pub use work::stimulus::{NAMED_MAX, StimulusOutcome, StimulusRequest};
pub use work::timer::{Occurrence, Overlap, Timer, Wakes};
