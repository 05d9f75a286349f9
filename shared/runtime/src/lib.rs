//! The use cases over the engine and the store: start, resume, fire a timer, publish, sweep and their like, one
//! file each.
//!
//! Everything that touches the world is a port ([`port`]): no clock, no randomness, no sleeping, no spawning and no
//! network but through them.
//!
//! # Modules, from the bottom up
//!
//! A module depends on modules above or beside it; `.ci/modules.py` rejects a cycle. Each group of operations is a handle with at most 20
//! public methods.
//!
//! | Module | Content | Handle |
//! |---|---|---|
//! | `error.rs`, `work/`, `port/` | errors; requests, messages and timers as plain data; the ports | |
//! | `graph/` | compiled definitions as data, and their cache | |
//! | `runtime/` | `Runtime`: store, ports, configuration, inboxes, the pause; the port `Outgoing` | `pauses` |
//! | `loading/` | definitions are found, resolved and compiled | `graphs` |
//! | `outbox/` | effects on their way; where they lead is behind `Outgoing` | |
//! | `kernel/` | load, step, commit, hand over: read `kernel/mod.rs` first | |
//! | `instances/` | start, dispatch, resume, cancel, retry, alter, delete, export, import | `instances` |
//! | `activity_types/`, `tasks/` | activity types that are data; their tasks: handed to handlers, requested by workers, answered | `definitions().types`, `tasks` |
//! | `secrets/` | secrets that workflows name; their values are put in the place of references by `runtime/secret_filling.rs` | `accounts().secrets` |
//! | `timers/`, `definitions/`, `query/` | due timers and occurrences; drafts and publishing; reads | `timers`, `definitions`, `query` |
//! | `stimuli/`, `links/`, `identity/` | events; resume links, event links, webhooks; users, roles, applications | `stimuli`, `links`, `webhooks`, `accounts` |
//! | `operations/` | sweep, examination, alteration plans, audit log | `operations` |
//! | `delivery/` | what a message says is done; dead letters; implements `Outgoing` | `delivery`, `dead_letters` |
//!
//! # Invariants
//!
//! - A delivery that has to wait for others is delayed and does not fail: it does not use up attempts.
//! - An event wakes every bookmark of an instance that waits for it, in one burst. An event with an instance id goes to that head without a query;
//!   one with a correlation id reads its own range. More than 100 recipients are reached a page at a time; where there is a queue, each
//!   further page is a message.
//! - An event is noted with its recipients before the first of them has it: one more write and a round trip for each event that wakes an
//!   instance. Once the bookmark is burnt, nothing else would distinguish a repetition (after a crash, or by a sender without an answer) from an
//!   early event, which would be queued and wake another instance. A hundred recipients are noted; a repetition of an event for more also
//!   reaches instances that wait by then.
//! - A row of the outbox rests after each attempt of a sweep, for 5 s and then twice as long up to 50 s, and is held meanwhile. Ten attempts take
//!   at least six minutes, however often the nodes sweep and however many they are. Without the rest, a server that sweeps every 2 s would give
//!   up after 20 s, less than a lease may last.
//! - A task of a worker queue is leased by a commit of its instance, and by nothing else. `runtime/task_lines.rs` only remembers rows that were
//!   read, so that requests of one process try different tasks; whatever it says may be wrong or forgotten.
//! - A call (HTTP, ExecuteWorkflow) is a bookmark. It is committed before it is made, so a crash repeats at most the call in flight, under the
//!   same key.
//! - Spans carry no context: the trace of an instance and the span of a commit are digests of their names, and the id of a message names
//!   the commit whose effect it is (`telemetry/src/spans.rs`). Without a collector, nothing is computed.
//!
//! # Scripts
//!
//! Steps of definitions that name a script's language run on threads of their own (`kernel/burst/stepper.rs`, the port `Compute`), which tenants and
//! definitions take in turns. All others run where their burst does. A step has ten seconds for all its scripts, or its instance faults. A pause, a
//! cancellation of the instance and the end of the process cut steps off (`runtime/running.rs`), and their bursts are retried. A cancellation
//! also removes waiting steps of its instance from the queue, and needs no turn itself. An instance in its first step is not visible to others
//! yet; that step ends after ten seconds.
//!
//! # Pause
//!
//! A pause (`runtime/pause.rs`) costs no call on the way of a stimulus. A server reads its item each second, or each 5 s where a read costs money; a
//! function reads it when an invocation begins and 5 s have passed. A start or a resume may therefore be accepted for 5 s after the pause began.
//! Callers receive 503 with the time to return. Other work is put back without counting as an attempt: a message into its queue for as long
//! as the pause has lasted (5 s to 5 min), a row stays in the outbox, a timer in the table, and a queued event is queued for longer. A burst in
//! progress runs until it waits, including the children that it calls. Ending or removing an instance is possible. Of recurring triggers, the latest
//! missed occurrence fires afterwards, as after a downtime. A resume link that expires meanwhile has expired.
//!
//! # Alteration plans
//!
//! A plan (`operations/alteration_plan.rs`) is a head with its progress, and a job for each instance. Its message contains only its id: the
//! node that delivers it reads on from the table for 4 s, and sends the next message. Two concurrent deliveries do nothing twice: the head is
//! versioned, and the changes are an event that an instance takes once. An instance that is busy has its turn in a later round; after eight
//! rounds without progress it is reported as failed.
//!
//! # Links and webhooks
//!
//! - A resume link is displayed without changing anything. Its first answer is stored, and then delivered as an event that the instance takes once. A
//!   repetition completes what a crash cut off, and shows the recorded answer.
//! - A link that a script creates (`createEventTriggerUrl`) cannot be random: a step is repeated and must give the same result. It names instance
//!   and event and is signed with a key of the deployment. Following it is recorded like an answered resume link.
//! - A webhook's message is verified by its raw bytes. Its id is remembered for three days once its event is safe, so a repetition of the
//!   sender counts once.

mod activity_types;
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
mod secrets;
mod stimuli;
mod tasks;
mod timers;
mod work;

pub use activity_types::publish::{TypeDeleted, TypePublished};
pub use activity_types::{ActivityTypes, TypeView};
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
pub use runtime::config::{Delivery, RuntimeConfig, SigningSecret};
pub use runtime::invocation::NESTED_MAX;
pub use runtime::pause::{PAUSE_SEEN_MS, Pause};
pub use runtime::secret_filling::FILLED_BYTES_MAX;
pub use runtime::settings::HostSettings;
pub use secrets::key::KeyChanged;
pub use secrets::{
    NewSecret, NewValue, SECRETS_MAX, SecretOutcome, SecretRefusal, SecretTest, SecretView,
    Secrets, VALUE_BYTES_MAX as SECRET_BYTES_MAX, VALUES_BYTES_MAX as SECRETS_BYTES_MAX,
};
pub use stimuli::Stimuli;
pub use stimuli::publish_event::{EventOutcome, EventRequest};
pub use tasks::answer::Heard;
pub use tasks::open::{OpenTask, OpenTaskPage, OwnType};
pub use tasks::poll::{PollRequest, Polled};
pub use tasks::{TASKS_MAX, Tasks, WAIT_MS_MAX};
pub use timers::Timers;
pub use timers::fire::TimerOutcome;
pub use timers::schedules::{
    InstanceTimer, InstanceTimerPage, Schedule, SchedulePage, SkipOutcome,
};
pub use work::definition_handle::{BadVersionOptions, DefinitionHandle, VersionOptions};
pub use work::delivered::Delivered;
pub use work::message::{self, Message};
pub use work::report::BurstReport;
pub use work::resume::{ResumeOutcome, ResumeRequest};
pub use work::retention::Retention;
pub use work::start::{StartOutcome, StartRequest};
pub use work::stimulus::{NAMED_MAX, StimulusOutcome, StimulusRequest};
pub use work::timer::{Occurrence, Overlap, Timer, Wakes};
