//! The use cases over the engine and the store: start, resume, fire a timer, publish, sweep and their like, one
//! file each.
//!
//! Everything that touches the world is a port ([`port`]): no clock, no randomness, no sleeping, no spawning and no
//! network but through them.

mod advance;
mod bindings;
mod burst;
mod cache;
mod cancel;
mod complete_task;
mod config;
mod create;
mod definition_handle;
mod definition_view;
mod delete_definition;
mod delete_instance;
mod deliver;
mod derived_id;
mod dispatch;
mod draft;
mod error;
mod fire_occurrence;
mod fire_timer;
mod http_route;
mod import_definition;
mod kept;
mod load;
pub mod message;
mod parcel;
mod pin;
pub mod port;
mod publish_definition;
mod publish_event;
pub mod query;
mod references;
mod replay_dead_letter;
mod report;
mod resolve;
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
mod update_references;
mod validate;
mod version_extra;

pub use config::{Delivery, RuntimeConfig};
pub use definition_handle::{BadVersionOptions, DefinitionHandle, VersionOptions};
pub use definition_view::{DefinitionSummary, DefinitionView};
pub use delete_instance::DeleteOutcome;
pub use deliver::Delivered;
pub use dispatch::DispatchOutcome;
pub use dormouse_store::table::TableError;
pub use dormouse_store::{StoreError, Tenant};
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
