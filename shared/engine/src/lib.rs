//! The pure step function: definition, instance, stimulus and time in; new state and effects out.
//!
//! Nothing here reads a clock, draws a random number, opens a file or waits. The dependency list is the fence.

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
