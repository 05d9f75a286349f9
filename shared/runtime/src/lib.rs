//! The use cases over the engine and the store: start, resume, fire a timer, publish, sweep and their like, one
//! file each.
//!
//! Everything that touches the world is a port ([`port`]): no clock, no randomness, no sleeping, no spawning and no
//! network but through them.

mod cancel;
mod complete_task;
mod config;
mod definition_handle;
mod definition_view;
mod delete_definition;
mod delete_instance;
mod deliver;
mod dispatch;
mod error;
mod fire_occurrence;
mod fire_timer;
mod import_definition;
pub mod message;
pub mod port;
mod publish_definition;
mod publish_event;
pub mod query;
mod replay_dead_letter;
mod report;
mod resume;
mod retract_definition;
mod retry;
mod runtime;
mod save_definition;
mod start;
mod stimulate;
mod sweep;
mod tenant_serde;
mod timer;
mod validate;

pub use config::{Delivery, RuntimeConfig};
pub use definition_handle::{BadVersionOptions, DefinitionHandle, VersionOptions};
pub use definition_view::{DefinitionSummary, DefinitionView};
pub use delete_instance::DeleteOutcome;
pub use deliver::Delivered;
pub use dispatch::DispatchOutcome;
pub use dormouse_store::Tenant;
pub use error::RuntimeError;
pub use fire_timer::TimerOutcome;
pub use message::Message;
pub use port::Ports;
pub use publish_definition::{Publication, PublishOutcome};
pub use publish_event::{EventOutcome, EventRequest};
pub use report::BurstReport;
pub use resume::{ResumeOutcome, ResumeRequest};
pub use retract_definition::RetractOutcome;
pub use runtime::Runtime;
pub use save_definition::SaveOutcome;
pub use start::{StartOutcome, StartRequest};
pub use stimulate::{StimulusOutcome, StimulusRequest};
pub use sweep::SweepReport;
pub use timer::{Occurrence, Overlap, Timer, Wakes};
