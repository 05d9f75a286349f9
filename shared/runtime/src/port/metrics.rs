//! What is measured while workflows run. The runtime reports, an adapter counts and prints.

/// What a number is about. The names are stable: dashboards and alarms rest on them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Metric {
    /// Instances that began less those that ended. How many there are is the sum over all nodes and all time, which no
    /// node knows by itself.
    InstancesActiveChange,
    /// Instances that were started.
    InstancesStarted,
    /// Instances that finished.
    InstancesCompleted,
    /// Instances that ended by failing.
    InstancesFaulted,
    /// Instances that were cancelled.
    InstancesCancelled,
    /// How long a burst took, from waking to its last commit, in ms.
    BurstMs,
    /// How long a stimulus waited for the lease of its instance, in ms.
    LeaseWaitMs,
    /// How long a lease was held, in ms.
    LeaseHeldMs,
    /// Leases that were not free when they were asked for.
    LeaseContended,
    /// Leases that were waited for in vain.
    LeaseFailed,
    /// Timers that were set.
    TimersScheduled,
    /// Timers that resumed a bookmark or started an occurrence.
    TimersFired,
    /// Timers that fired so late that they count as missed.
    TimersMisfired,
    /// How late a timer fired, in ms.
    TimerLatenessMs,
    /// Definitions that this node was told to forget.
    CacheInvalidations,
    /// Messages that were passed on more often than is sensible.
    HopsExceeded,
    /// Stimuli and effects that were given up on.
    DeadLetters,
    /// Calls to the table that were made again because it was busy or did not answer.
    TableThrottled,
    /// Effects that were delivered.
    OutboxDelivered,
    /// Sweeps that were done: the heartbeat.
    Sweeps,
}

/// How the numbers of a metric add up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetricKind {
    /// Things that happened: each number says how many more.
    Counter,
    /// Things that are: each number says how many more or fewer.
    Gauge,
    /// Lengths in ms, of which one wants to know how they are spread.
    Duration,
}

impl Metric {
    /// Every metric, in the order in which they are printed.
    pub const EVERY: [Self; 20] = [
        Self::InstancesActiveChange,
        Self::InstancesStarted,
        Self::InstancesCompleted,
        Self::InstancesFaulted,
        Self::InstancesCancelled,
        Self::BurstMs,
        Self::LeaseWaitMs,
        Self::LeaseHeldMs,
        Self::LeaseContended,
        Self::LeaseFailed,
        Self::TimersScheduled,
        Self::TimersFired,
        Self::TimersMisfired,
        Self::TimerLatenessMs,
        Self::CacheInvalidations,
        Self::HopsExceeded,
        Self::DeadLetters,
        Self::TableThrottled,
        Self::OutboxDelivered,
        Self::Sweeps,
    ];

    /// The name on dashboards.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::InstancesActiveChange => "InstancesActiveChange",
            Self::InstancesStarted => "InstancesStarted",
            Self::InstancesCompleted => "InstancesCompleted",
            Self::InstancesFaulted => "InstancesFaulted",
            Self::InstancesCancelled => "InstancesCancelled",
            Self::BurstMs => "BurstMs",
            Self::LeaseWaitMs => "LeaseWaitMs",
            Self::LeaseHeldMs => "LeaseHeldMs",
            Self::LeaseContended => "LeaseContended",
            Self::LeaseFailed => "LeaseFailed",
            Self::TimersScheduled => "TimersScheduled",
            Self::TimersFired => "TimersFired",
            Self::TimersMisfired => "TimersMisfired",
            Self::TimerLatenessMs => "TimerLatenessMs",
            Self::CacheInvalidations => "CacheInvalidations",
            Self::HopsExceeded => "HopsExceeded",
            Self::DeadLetters => "DeadLetters",
            Self::TableThrottled => "TableThrottled",
            Self::OutboxDelivered => "OutboxDelivered",
            Self::Sweeps => "Sweeps",
        }
    }

    /// How its numbers add up.
    #[must_use]
    pub fn kind(self) -> MetricKind {
        match self {
            Self::InstancesActiveChange => MetricKind::Gauge,
            Self::BurstMs | Self::LeaseWaitMs | Self::LeaseHeldMs | Self::TimerLatenessMs => {
                MetricKind::Duration
            }
            Self::InstancesStarted
            | Self::InstancesCompleted
            | Self::InstancesFaulted
            | Self::InstancesCancelled
            | Self::LeaseContended
            | Self::LeaseFailed
            | Self::TimersScheduled
            | Self::TimersFired
            | Self::TimersMisfired
            | Self::CacheInvalidations
            | Self::HopsExceeded
            | Self::DeadLetters
            | Self::TableThrottled
            | Self::OutboxDelivered
            | Self::Sweeps => MetricKind::Counter,
        }
    }
}

/// One number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Measure {
    /// What it is about.
    pub metric: Metric,
    /// How many, or how long in ms.
    pub value: i64,
}

/// Takes the numbers. It is called within bursts and must return at once; what it does changes nothing.
pub trait Metrics: Send + Sync + 'static {
    /// Takes one number.
    fn record(&self, measure: Measure);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_metric_is_listed_once_and_durations_end_in_their_unit() {
        let mut names: Vec<_> = Metric::EVERY.iter().map(|metric| metric.name()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Metric::EVERY.len());
        for metric in Metric::EVERY {
            let is_duration = metric.kind() == MetricKind::Duration;
            assert_eq!(metric.name().ends_with("Ms"), is_duration, "{metric:?}");
        }
    }
}
