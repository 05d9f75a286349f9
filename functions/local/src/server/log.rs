//! The server's log: lines on the error stream.

use tracing::level_filters::LevelFilter;
use tracing_subscriber::fmt;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// Begins to log what is at least as important as `level`. A second begin changes nothing.
pub(crate) fn begin(level: LevelFilter) {
    let lines = fmt::layer().with_writer(std::io::stderr).with_target(false);
    let _begun_before = tracing_subscriber::registry()
        .with(level)
        .with(lines)
        .try_init();
}
