//! Retention of ended instances: options of the command line.

use clap::Args;
use dormouse_runtime::Retention;

/// Retention of ended instances.
#[derive(Debug, Args)]
pub(crate) struct RetentionArgs {
    /// Remove finished instances after this number of days. 0 keeps them forever
    #[arg(
        long,
        value_name = "DAYS",
        env = "DORMOUSE_RETAIN_FINISHED_DAYS",
        default_value_t = 0
    )]
    retain_finished_days: u32,
    /// Remove faulted instances after this number of days. 0 keeps them forever
    #[arg(
        long,
        value_name = "DAYS",
        env = "DORMOUSE_RETAIN_FAULTED_DAYS",
        default_value_t = 0
    )]
    retain_faulted_days: u32,
    /// Remove cancelled instances after this number of days. 0 keeps them forever
    #[arg(
        long,
        value_name = "DAYS",
        env = "DORMOUSE_RETAIN_CANCELLED_DAYS",
        default_value_t = 0
    )]
    retain_cancelled_days: u32,
    /// Write instances to `archive/` in the data folder before they are removed
    #[arg(long, env = "DORMOUSE_ARCHIVE")]
    archive: bool,
}

impl RetentionArgs {
    /// As the runtime wants it.
    pub(crate) fn read(&self) -> Retention {
        let days = |days: u32| (days > 0).then_some(days);
        Retention {
            finished_days: days(self.retain_finished_days),
            faulted_days: days(self.retain_faulted_days),
            cancelled_days: days(self.retain_cancelled_days),
            is_archived: self.archive,
        }
    }
}
