//! The numbers of a node in the text format that Prometheus reads ("Text-based format", version 0.0.4).
//!
//! Names are the metrics' own in snake case after `dormouse_`; durations are in seconds there, as its guide to
//! naming asks.

use std::fmt::Write;

use dormouse_runtime::port::{Metric, MetricKind};

use crate::registry::{BOUNDS_MS, Registry};

impl Registry {
    /// All numbers as Prometheus reads them.
    #[must_use]
    pub fn prometheus(&self) -> String {
        let mut text = String::new();
        for metric in Metric::EVERY {
            let _text_takes_everything = self.write_metric(metric, &mut text);
        }
        text
    }

    fn write_metric(&self, metric: Metric, text: &mut String) -> std::fmt::Result {
        let (name, total) = (name(metric), self.total(metric));
        let kind = match metric.kind() {
            MetricKind::Counter => "counter",
            MetricKind::Gauge => "gauge",
            MetricKind::Duration => "histogram",
        };
        writeln!(text, "# HELP {name} {}", help(metric))?;
        writeln!(text, "# TYPE {name} {kind}")?;
        if metric.kind() != MetricKind::Duration {
            return writeln!(text, "{name} {}", total.sum);
        }
        let mut up_to = 0;
        for (bound_ms, count) in BOUNDS_MS.iter().zip(total.buckets) {
            up_to += count;
            writeln!(
                text,
                "{name}_bucket{{le=\"{}\"}} {up_to}",
                seconds(*bound_ms)
            )?;
        }
        writeln!(
            text,
            "{name}_bucket{{le=\"+Inf\"}} {}",
            total.count.max(up_to)
        )?;
        writeln!(text, "{name}_sum {}", seconds(total.sum))?;
        writeln!(text, "{name}_count {}", total.count.max(up_to))
    }
}

/// Milliseconds as seconds, exactly.
fn seconds(ms: i64) -> String {
    let text = format!("{}.{:03}", ms / 1_000, ms % 1_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// `InstancesStarted` becomes `dormouse_instances_started_total`, `BurstMs` becomes `dormouse_burst_seconds`.
fn name(metric: Metric) -> String {
    let mut name = String::from("dormouse");
    for letter in metric.name().trim_end_matches("Ms").chars() {
        if letter.is_ascii_uppercase() {
            name.push('_');
        }
        name.push(letter.to_ascii_lowercase());
    }
    name.push_str(match metric.kind() {
        MetricKind::Counter => "_total",
        MetricKind::Gauge => "",
        MetricKind::Duration => "_seconds",
    });
    name
}

fn help(metric: Metric) -> &'static str {
    match metric {
        Metric::InstancesActiveChange => {
            "Instances started minus instances ended since the start of this node. It can be below zero after a restart."
        }
        Metric::InstancesStarted => "Started instances.",
        Metric::InstancesCompleted => "Finished instances.",
        Metric::InstancesFaulted => "Faulted instances.",
        Metric::InstancesCancelled => "Cancelled instances.",
        Metric::BurstMs => "Duration of bursts, from the stimulus to the last commit.",
        Metric::LeaseWaitMs => "Time that stimuli waited for the lease of their instance.",
        Metric::LeaseHeldMs => "Time that leases were held.",
        Metric::LeaseContended => {
            "Lease conflicts: leases that were held by another node when they were requested."
        }
        Metric::LeaseFailed => "Leases that could not be acquired in time.",
        Metric::TimersScheduled => "Scheduled timers.",
        Metric::TimersFired => "Timers that resumed a bookmark or started an occurrence.",
        Metric::TimersMisfired => "Timers that fired so late that they count as missed.",
        Metric::TimerLatenessMs => "Delay of timers after their due time.",
        Metric::CacheInvalidations => {
            "Definitions removed from the cache of this node by a broadcast."
        }
        Metric::HopsExceeded => "Messages that exceeded the hop budget.",
        Metric::DeadLetters => "Stimuli and effects that became dead letters.",
        Metric::TableThrottled => {
            "Calls to the table that were repeated because it was busy or did not answer."
        }
        Metric::OutboxDelivered => "Delivered effects.",
        Metric::Sweeps => "Completed sweeps: the heartbeat.",
    }
}

#[cfg(test)]
mod tests {
    use dormouse_runtime::port::{Measure, Metrics};

    use super::*;

    #[test]
    fn names_and_numbers_are_as_prometheus_wants_them() {
        let registry = Registry::new();
        for (metric, value) in [
            (Metric::InstancesStarted, 2),
            (Metric::InstancesActiveChange, -1),
            (Metric::LeaseWaitMs, 3),
            (Metric::LeaseWaitMs, 90_000),
        ] {
            registry.record(Measure { metric, value });
        }
        let text = registry.prometheus();
        for line in [
            "# TYPE dormouse_instances_started_total counter",
            "dormouse_instances_started_total 2",
            "dormouse_instances_active_change -1",
            "# TYPE dormouse_lease_wait_seconds histogram",
            "dormouse_lease_wait_seconds_bucket{le=\"0.002\"} 0",
            "dormouse_lease_wait_seconds_bucket{le=\"0.005\"} 1",
            "dormouse_lease_wait_seconds_bucket{le=\"60\"} 1",
            "dormouse_lease_wait_seconds_bucket{le=\"+Inf\"} 2",
            "dormouse_lease_wait_seconds_sum 90.003",
            "dormouse_lease_wait_seconds_count 2",
            "dormouse_timers_misfired_total 0",
        ] {
            assert!(text.lines().any(|l| l == line), "{line} is not in\n{text}");
        }
        assert!(text.ends_with('\n'));
    }

    /// The grammar of the format, as far as it is used here.
    #[test]
    fn every_line_is_a_comment_or_a_sample_of_the_metric_above_it() {
        let text = Registry::new().prometheus();
        let mut family = String::new();
        for line in text.lines() {
            if let Some(comment) = line.strip_prefix("# TYPE ") {
                family = comment.split(' ').next().unwrap().to_owned();
                continue;
            }
            if line.starts_with("# HELP ") {
                continue;
            }
            let (sample, number) = line.rsplit_once(' ').unwrap();
            assert!(sample.starts_with(&family), "{line} in {family}");
            assert!(number.parse::<f64>().is_ok(), "{line}");
        }
        assert_eq!(seconds(0), "0");
        assert_eq!(seconds(1_000), "1");
        assert_eq!(seconds(10_250), "10.25");
    }
}
