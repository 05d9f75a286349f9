//! The pure step function: definition, instance, stimulus and time in; new state and effects out.
//!
//! Nothing here reads a clock, draws a random number, opens a file or waits. The dependency list is the fence.
//!
//! # Modules, from the outside in
//!
//! | Module | Content |
//! |---|---|
//! | [`definition`] | Elsa's JSON, stored unchanged and written back unchanged; types, conversions, names |
//! | [`graph`] | a definition ready to run: a flat list of nodes with used workflows inlined; triggers |
//! | [`instance`] | the state of an instance between bursts; MessagePack behind a format number |
//! | [`mod@step`] | one stimulus in, a transition out; `Cx` is an activity's view of it |
//! | [`activity`] | one file per activity kind; `flowchart/` counts visits or passes tokens |
//! | [`schedule`] | cron and recurring triggers by nominal time in an IANA zone |
//!
//! # Invariants
//!
//! - A step is deterministic: the same graph, instance, stimulus and environment give the same bytes. There is no `HashMap`, no clock and no
//!   random number here; `clippy.toml` and `.ci/purity.sh` reject them.
//! - A node is stored by index and by node id. A build that numbers nodes differently finds them by id.
//! - A bookmark is burnt before its activity runs, so that a bookmark that is opened again under the same name survives.
//! - Journal lines are numbered without gaps by the step that writes them.
//! - Credentials are redacted where journal lines are written ([`sensitive`]), and again where older lines are read.
//!
//! # Migration
//!
//! An instance that migrates to another version (`instance/migrate.rs`) does so before the step that names it, in the commit of that step,
//! which pins the instance anew. What it waits for keeps its hash: an event that the new version names otherwise is still awaited under its
//! old name, until the activity is scheduled again.

pub mod activity;
pub mod activity_type;
pub mod call;
pub mod definition;
pub mod effect;
pub mod graph;
pub mod http;
pub mod id;
pub mod instance;
pub mod journal;
pub mod resilience;
pub mod schedule;
pub mod sensitive;
pub mod step;
pub mod time;
pub mod validate;
