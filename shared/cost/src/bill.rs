//! A tally at prices: what one run costs, part by part, beside Step Functions Standard for the same work.

use serde::Serialize;

use crate::price::{PerMillion, Prices};
use crate::tally::Tally;

/// One part of a bill.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Line {
    /// What it is for.
    pub part: &'static str,
    /// How many of it one run takes.
    pub per_run: f64,
    /// What they are.
    pub unit: &'static str,
    /// What a million of runs pay for them, in US$.
    pub usd_per_million_runs: f64,
}

/// What runs cost.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Bill {
    /// Part by part.
    pub lines: Vec<Line>,
    /// All parts together, in US$ for a million runs.
    pub usd_per_million_runs: f64,
    /// What the state transitions of Step Functions Standard would cost for as many activities, in US$ for a million
    /// runs, the Lambda functions that it calls left out.
    pub step_functions_usd_per_million_runs: f64,
}

impl Bill {
    /// The bill of one run.
    #[must_use]
    pub fn of(tally: &Tally, prices: &Prices) -> Self {
        let each = &prices.usd_per_million;
        let line = |(part, per_run, unit, usd): (_, f64, _, f64)| Line {
            part,
            per_run,
            unit,
            usd_per_million_runs: per_run * usd,
        };
        let lines: Vec<Line> = parts(tally, prices).into_iter().map(line).collect();
        Self {
            usd_per_million_runs: lines.iter().map(|line| line.usd_per_million_runs).sum(),
            step_functions_usd_per_million_runs: tally.activities as f64
                * each.step_functions_transitions,
            lines,
        }
    }
}

/// The parts of a run: name, how much of it, its unit, and US$ for a million of them.
fn parts(tally: &Tally, prices: &Prices) -> [(&'static str, f64, &'static str, f64); 10] {
    let each = &prices.usd_per_million;
    let gb_seconds =
        tally.lambda_ms(&prices.assumed) / 1_000.0 * (prices.assumed.lambda_memory_mb / 1_024.0);
    let usd_per_million_gb_seconds = prices.lambda_usd_per_gb_second * 1_000_000.0;
    [
        (
            "table, writes",
            tally.table.write_units() as f64,
            "write units",
            each.table_write_units,
        ),
        (
            "table, reads",
            tally.table.read_units(),
            "read units",
            each.table_read_units,
        ),
        (
            "functions",
            tally.invocations as f64,
            "invocations",
            each.lambda_requests,
        ),
        (
            "functions, time",
            gb_seconds,
            "GB-seconds",
            usd_per_million_gb_seconds,
        ),
        (
            "queues",
            tally.queue_requests() as f64,
            "requests",
            each.queue_requests,
        ),
        (
            "schedules",
            tally.schedule_invocations as f64,
            "firings",
            each.schedule_invocations,
        ),
        (
            "event bus",
            tally.bus_events as f64,
            "events",
            each.bus_events,
        ),
        (
            "HTTP API",
            tally.api_requests as f64,
            "requests",
            each.api_requests,
        ),
        (
            "bucket",
            (tally.bucket_puts + tally.bucket_gets) as f64,
            "requests",
            bucket_usd(tally, each),
        ),
        (
            "logs",
            tally.log_bytes as f64 / 1_024.0,
            "KB",
            prices.log_usd_per_gb / (1_024.0 * 1_024.0) * 1_000_000.0,
        ),
    ]
}

/// US$ for a million of a run's requests to the bucket, puts and gets mixed as they are.
fn bucket_usd(tally: &Tally, each: &PerMillion) -> f64 {
    let requests = (tally.bucket_puts + tally.bucket_gets).max(1) as f64;
    let usd =
        tally.bucket_puts as f64 * each.bucket_puts + tally.bucket_gets as f64 * each.bucket_gets;
    usd / requests
}

/// US$ a month for the storage of `count` instances that take `bytes` each in the table and its indexes.
#[must_use]
pub fn storage_usd_per_month(count: u64, bytes: usize, prices: &Prices) -> f64 {
    count as f64 * bytes as f64 / (1_024.0 * 1_024.0 * 1_024.0) * prices.table_usd_per_gb_month
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bill_is_quantity_times_price_and_its_sum() {
        let prices = Prices::of_this_build().unwrap();
        let tally = Tally {
            invocations: 2,
            queue_sends: 1,
            queue_receipts: 1,
            activities: 4,
            ..Tally::default()
        };
        let bill = Bill::of(&tally, &prices);
        let of = |part: &str| {
            let line = bill.lines.iter().find(|line| line.part == part);
            line.unwrap().usd_per_million_runs
        };
        assert!((of("functions") - 0.4).abs() < 1e-9);
        assert!((of("queues") - 3.0 * 0.4).abs() < 1e-9);
        assert!((bill.step_functions_usd_per_million_runs - 100.0).abs() < 1e-9);
        let ms = tally.lambda_ms(&prices.assumed);
        let time = ms / 1_000.0 * 0.25 * prices.lambda_usd_per_gb_second * 1e6;
        assert!((of("functions, time") - time).abs() < 1e-9);
        assert!((bill.usd_per_million_runs - (0.4 + 1.2 + time)).abs() < 1e-9);
    }
}
