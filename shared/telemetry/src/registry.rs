//! The numbers of one node, added up since it began. Recording is a few atomic additions.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use dormouse_runtime::port::{Measure, Metric, MetricKind, Metrics};

/// The upper bounds of the buckets that durations are counted in, in ms. Longer ones are in none but the total.
pub(crate) const BOUNDS_MS: [i64; 15] = [
    1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000,
];

/// The numbers of one node.
#[derive(Debug)]
pub struct Registry {
    cells: [Cell; Metric::EVERY.len()],
}

/// The numbers of one metric.
#[derive(Debug, Default)]
struct Cell {
    sum: AtomicI64,
    count: AtomicU64,
    /// Durations up to each bound and above the one before.
    buckets: [AtomicU64; BOUNDS_MS.len()],
}

/// The numbers of one metric at a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Total {
    pub(crate) sum: i64,
    pub(crate) count: u64,
    pub(crate) buckets: [u64; BOUNDS_MS.len()],
}

impl Default for Registry {
    fn default() -> Self {
        Self::new()
    }
}

impl Registry {
    /// Counts from zero.
    #[must_use]
    pub fn new() -> Self {
        Self {
            cells: std::array::from_fn(|_| Cell::default()),
        }
    }

    pub(crate) fn total(&self, metric: Metric) -> Total {
        let cell = self.cells.get(metric as usize);
        let load = |n: &AtomicU64| n.load(Ordering::Relaxed);
        Total {
            sum: cell.map_or(0, |cell| cell.sum.load(Ordering::Relaxed)),
            count: cell.map_or(0, |cell| load(&cell.count)),
            buckets: std::array::from_fn(|n| {
                let bucket = cell.and_then(|cell| cell.buckets.get(n));
                bucket.map_or(0, load)
            }),
        }
    }

    /// What was recorded under a metric, added up.
    #[must_use]
    pub fn sum(&self, metric: Metric) -> i64 {
        self.total(metric).sum
    }
}

impl Metrics for Registry {
    fn record(&self, measure: Measure) {
        let Some(cell) = self.cells.get(measure.metric as usize) else {
            return;
        };
        let value = match measure.metric.kind() {
            MetricKind::Gauge => measure.value,
            // A clock that was set back makes a length negative.
            MetricKind::Counter | MetricKind::Duration => measure.value.max(0),
        };
        cell.sum.fetch_add(value, Ordering::Relaxed);
        if measure.metric.kind() == MetricKind::Duration {
            let place = BOUNDS_MS.partition_point(|bound| *bound < value);
            if let Some(bucket) = cell.buckets.get(place) {
                bucket.fetch_add(1, Ordering::Relaxed);
            }
            cell.count.fetch_add(1, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_add_up_and_durations_fall_into_the_bucket_that_covers_them() {
        let registry = Registry::new();
        let record = |metric, value| registry.record(Measure { metric, value });
        record(Metric::InstancesActiveChange, 1);
        record(Metric::InstancesActiveChange, -3);
        record(Metric::OutboxDelivered, 4);
        record(Metric::OutboxDelivered, -9);
        for ms in [0, 1, 2, 60_000, 60_001, -5] {
            record(Metric::BurstMs, ms);
        }
        assert_eq!(registry.sum(Metric::InstancesActiveChange), -2);
        assert_eq!(registry.sum(Metric::OutboxDelivered), 4);
        let bursts = registry.total(Metric::BurstMs);
        assert_eq!((bursts.sum, bursts.count), (120_004, 6));
        assert_eq!((bursts.buckets[0], bursts.buckets[1]), (3, 1));
        assert_eq!((bursts.buckets[14], bursts.buckets.iter().sum()), (1, 5u64));
        assert_eq!(registry.sum(Metric::LeaseWaitMs), 0);
    }

    #[test]
    fn every_metric_has_a_cell_of_its_own() {
        let registry = Registry::new();
        for (value, metric) in (1..).zip(Metric::EVERY) {
            registry.record(Measure { metric, value });
        }
        for (value, metric) in (1..).zip(Metric::EVERY) {
            assert_eq!(registry.sum(metric), value, "{metric:?}");
        }
    }
}
