//! Measures as lines of a log that CloudWatch turns into metrics: "Specification: Embedded metric format".
//!
//! One line per flush: a Lambda function flushes at the end of an invocation, a container every minute. It costs no
//! call. The one dimension is `Function`: which function wrote the line, or `container`. Units are left out: the name
//! of a duration ends in `Ms`, everything else is a count, and a line is paid by the byte.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use dormouse_runtime::port::{Measure, Metric, MetricKind, Metrics};
use serde_json::{Map, Value, json};

/// The most numbers that one metric may have in one line.
const VALUES_MAX: usize = 100;

/// Collects measures until they are written.
#[derive(Debug)]
pub struct CloudWatchLines {
    namespace: String,
    function: String,
    collected: Mutex<BTreeMap<Metric, Vec<i64>>>,
}

impl CloudWatchLines {
    /// Metrics of a namespace, written by a function of this name.
    #[must_use]
    pub fn new(namespace: impl Into<String>, function: impl Into<String>) -> Self {
        Self {
            namespace: namespace.into(),
            function: function.into(),
            collected: Mutex::default(),
        }
    }

    /// What was recorded since the last time, as lines without their ends: none, one, or some more where a metric
    /// has over a hundred numbers. `now_ms` is in ms since 1970.
    pub fn flush(&self, now_ms: i64) -> Vec<String> {
        let mut collected = std::mem::take(&mut *self.lock());
        let mut lines = Vec::new();
        while !collected.is_empty() {
            let mut now = BTreeMap::new();
            for (metric, values) in &mut collected {
                let rest = values.split_off(values.len().min(VALUES_MAX));
                now.insert(*metric, std::mem::replace(values, rest));
            }
            collected.retain(|_, values| !values.is_empty());
            lines.push(self.line(now_ms, now));
        }
        lines
    }

    fn line(&self, now_ms: i64, numbers: BTreeMap<Metric, Vec<i64>>) -> String {
        let declared: Vec<Value> = numbers
            .keys()
            .map(|metric| json!({ "Name": metric.name() }))
            .collect();
        let mut line = Map::new();
        let metadata = json!({
            "Timestamp": now_ms,
            "CloudWatchMetrics": [{
                "Namespace": self.namespace,
                "Dimensions": [["Function"]],
                "Metrics": declared,
            }],
        });
        line.insert("_aws".into(), metadata);
        line.insert("Function".into(), self.function.as_str().into());
        for (metric, values) in numbers {
            let value = match values.as_slice() {
                [one] => (*one).into(),
                many => many.into(),
            };
            line.insert(metric.name().into(), value);
        }
        Value::Object(line).to_string()
    }

    /// A thread that died holding the lock has left whole numbers only.
    fn lock(&self) -> MutexGuard<'_, BTreeMap<Metric, Vec<i64>>> {
        self.collected
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl Metrics for CloudWatchLines {
    fn record(&self, measure: Measure) {
        let mut collected = self.lock();
        let values = collected.entry(measure.metric).or_default();
        match (measure.metric.kind(), values.as_mut_slice()) {
            (MetricKind::Duration, _) | (_, []) => values.push(measure.value),
            // How many there were is all that counts of the others.
            (MetricKind::Counter | MetricKind::Gauge, [sum, ..]) => *sum += measure.value,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(measures: &[(Metric, i64)]) -> Vec<Value> {
        let lines = CloudWatchLines::new("Dormouse", "resume");
        for &(metric, value) in measures {
            lines.record(Measure { metric, value });
        }
        let written = lines.flush(1_767_225_600_000);
        assert!(lines.flush(0).is_empty());
        let parse = |line: &String| serde_json::from_str(line).unwrap();
        written.iter().map(parse).collect()
    }

    /// What the specification asks of a line.
    fn check(line: &Value) {
        let metadata = &line["_aws"];
        assert!(metadata["Timestamp"].as_i64().unwrap() > 0);
        let directives = metadata["CloudWatchMetrics"].as_array().unwrap();
        for directive in directives {
            let namespace = directive["Namespace"].as_str().unwrap();
            assert!((1..=1_024).contains(&namespace.len()));
            for set in directive["Dimensions"].as_array().unwrap() {
                let set = set.as_array().unwrap();
                assert!(set.len() <= 30);
                assert!(set.iter().all(|d| line[d.as_str().unwrap()].is_string()));
            }
            let metrics = directive["Metrics"].as_array().unwrap();
            assert!((1..=100).contains(&metrics.len()));
            for metric in metrics {
                let target = &line[metric["Name"].as_str().unwrap()];
                match target.as_array() {
                    None => assert!(target.is_i64()),
                    Some(values) => {
                        assert!((1..=100).contains(&values.len()));
                        assert!(values.iter().all(Value::is_i64));
                    }
                }
            }
        }
    }

    #[test]
    fn a_line_is_in_the_embedded_metric_format() {
        let lines = lines(&[
            (Metric::InstancesStarted, 1),
            (Metric::InstancesStarted, 1),
            (Metric::InstancesActiveChange, -1),
            (Metric::BurstMs, 3),
            (Metric::BurstMs, 4),
        ]);
        let [line] = lines.as_slice() else {
            panic!("{lines:?}")
        };
        check(line);
        assert_eq!(line["InstancesStarted"], 2);
        assert_eq!(line["InstancesActiveChange"], -1);
        assert_eq!(line["BurstMs"], json!([3, 4]));
        assert_eq!(line["Function"], "resume");
        assert!(line.get("LeaseWaitMs").is_none());
    }

    #[test]
    fn more_numbers_than_a_line_takes_go_into_further_ones() {
        let many: Vec<_> = (0..250).map(|ms| (Metric::LeaseWaitMs, ms)).collect();
        let lines = lines(&many);
        lines.iter().for_each(check);
        let counts = lines
            .iter()
            .map(|line| line["LeaseWaitMs"].as_array().unwrap().len());
        assert_eq!(counts.collect::<Vec<_>>(), [100, 100, 50]);
    }

    #[test]
    fn nothing_recorded_is_nothing_written() {
        assert!(lines(&[]).is_empty());
    }
}
