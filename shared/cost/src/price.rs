//! The prices: one file, `prices.json`, with its date and region.

use serde::Deserialize;

/// What AWS asks for its parts, and what is assumed of how long they take.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Prices {
    /// When the prices were looked up.
    pub date: String,
    /// Where they hold.
    pub region: String,
    /// Which prices they are.
    pub source: String,
    /// US$ for a million of something.
    pub usd_per_million: PerMillion,
    /// US$ for a second of a gigabyte in a Lambda function.
    pub lambda_usd_per_gb_second: f64,
    /// US$ for a gigabyte of log that CloudWatch takes in.
    pub log_usd_per_gb: f64,
    /// US$ for a gigabyte that lies in the table for a month.
    pub table_usd_per_gb_month: f64,
    /// What is assumed, because nothing is run on AWS.
    pub assumed: Assumed,
}

/// US$ for a million of something.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PerMillion {
    /// Write units of DynamoDB, those of indexes included.
    pub table_write_units: f64,
    /// Read units of DynamoDB.
    pub table_read_units: f64,
    /// Invocations of Lambda functions.
    pub lambda_requests: f64,
    /// Requests to SQS.
    pub queue_requests: f64,
    /// Schedules of EventBridge Scheduler that fire.
    pub schedule_invocations: f64,
    /// Events put on an EventBridge bus.
    pub bus_events: f64,
    /// Requests to the HTTP API.
    pub api_requests: f64,
    /// Objects put into S3.
    pub bucket_puts: f64,
    /// Objects read from S3.
    pub bucket_gets: f64,
    /// State transitions of Step Functions Standard, for comparison.
    pub step_functions_transitions: f64,
}

/// What is assumed of how long things take, in ms, and how large a function is.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Assumed {
    /// The memory of each function.
    pub lambda_memory_mb: f64,
    /// Our own work in an invocation.
    pub own_ms_per_invocation: f64,
    /// A call to the table that reads, or writes one item.
    pub ms_per_table_call: f64,
    /// A call to the table that writes several items.
    pub ms_per_transaction: f64,
    /// Sending a message or an event.
    pub ms_per_queue_send: f64,
    /// Creating or deleting a schedule.
    pub ms_per_schedule_call: f64,
    /// A request that a workflow sends.
    pub ms_per_outgoing_request: f64,
}

impl Prices {
    /// The prices of this build.
    ///
    /// # Errors
    ///
    /// The file is not what [`Prices`] says; a test reads it, so no build that was tested has such a one.
    pub fn of_this_build() -> Result<Self, serde_json::Error> {
        serde_json::from_str(include_str!("../prices.json"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_is_read_and_says_when_and_where() {
        let prices = Prices::of_this_build().unwrap();
        assert_eq!(prices.region, "us-east-1");
        assert_eq!(prices.date.len(), "2026-11-21".len());
        assert!(prices.usd_per_million.table_write_units > prices.usd_per_million.table_read_units);
    }
}
