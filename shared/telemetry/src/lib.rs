//! Observability of a node: its measures, counted here and printed as Prometheus text or as lines that
//! CloudWatch turns into metrics, its log, and its bursts as spans for OpenTelemetry.
//!
//! The runtime defines the metrics (`dormouse_runtime::port::Metric`); this crate only aggregates them.

mod cloudwatch;
mod log;
mod prometheus;
mod registry;
mod spans;

pub use cloudwatch::CloudWatchLines;
pub use log::{LogFormat, UnknownLogFormat, begin_log, log_to};
pub use registry::Registry;
pub use spans::{Collector, Spans};
