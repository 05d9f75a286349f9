//! What was asked of the parts of AWS.

use std::collections::BTreeMap;

use crate::charge::Units;
use crate::price::Assumed;

/// Use of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TableUse {
    /// Calls, transactions included.
    pub calls: u64,
    /// Calls that write several items at once.
    pub transactions: u64,
    /// Units of all calls together.
    pub units: Units,
}

impl TableUse {
    /// Calls, transactions included.
    #[must_use]
    pub fn calls(&self) -> u64 {
        self.calls
    }

    /// Read units.
    #[must_use]
    pub fn read_units(&self) -> f64 {
        self.units.read_halves as f64 / 2.0
    }

    /// Write units, those of indexes included.
    #[must_use]
    pub fn write_units(&self) -> u64 {
        self.units.write + self.units.index_write
    }
}

/// What was asked of the parts of AWS.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    /// The table's calls and units.
    pub table: TableUse,
    /// Requests to the HTTP API, in steps of 512 KiB.
    pub api_requests: u64,
    /// Invocations of functions.
    pub invocations: u64,
    /// Messages that our functions sent to a queue.
    pub queue_sends: u64,
    /// Messages that came out of a queue: received, and deleted afterwards.
    pub queue_receipts: u64,
    /// Further chunks of 64 KiB of messages that were sent or received: SQS bills each as a request.
    pub queue_further_chunks: u64,
    /// Messages that fired schedules put into a queue.
    pub schedule_invocations: u64,
    /// Schedules that were created or deleted.
    pub schedule_calls: u64,
    /// Events put on the bus, in chunks of 64 KiB.
    pub bus_events: u64,
    /// Objects that were put into the bucket.
    pub bucket_puts: u64,
    /// Objects that were read from the bucket.
    pub bucket_gets: u64,
    /// Requests that workflows sent.
    pub outgoing_requests: u64,
    /// Bytes of log that functions wrote at the level `info`, metrics included.
    pub log_bytes: u64,
    /// Activities that ran, containers left out: what would be state transitions elsewhere.
    pub activities: u64,
}

/// Use during one kind of work, like a start or the firing of a timer.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Phase {
    /// Its name.
    pub name: String,
    /// What it asked of the parts.
    pub tally: Tally,
    /// Units of the table by kind of item and kind of call. Their sum is the tally's.
    pub items: BTreeMap<(String, &'static str), Units>,
}

impl Tally {
    /// Requests to the queue: each message is sent, received and deleted. Lambda receives and deletes up to ten at
    /// once under load, so this is the most that it can be.
    #[must_use]
    pub fn queue_requests(&self) -> u64 {
        self.queue_sends
            + self.schedule_invocations
            + 2 * self.queue_receipts
            + self.queue_further_chunks
    }

    /// How long all invocations together take, in ms, as far as can be assumed.
    #[must_use]
    pub fn lambda_ms(&self, assumed: &Assumed) -> f64 {
        let single = self.table.calls - self.table.transactions;
        self.invocations as f64 * assumed.own_ms_per_invocation
            + (single + self.bucket_puts + self.bucket_gets) as f64 * assumed.ms_per_table_call
            + self.table.transactions as f64 * assumed.ms_per_transaction
            + (self.queue_sends + self.bus_events) as f64 * assumed.ms_per_queue_send
            + self.schedule_calls as f64 * assumed.ms_per_schedule_call
            + self.outgoing_requests as f64 * assumed.ms_per_outgoing_request
    }

    /// Sum of what phases asked of the parts.
    #[must_use]
    pub fn sum(phases: &[Phase]) -> Self {
        let mut sum = Self::default();
        for phase in phases {
            sum.add(phase.tally);
        }
        sum
    }

    fn add(&mut self, other: Self) {
        self.table.calls += other.table.calls;
        self.table.transactions += other.table.transactions;
        self.table.units.add(other.table.units);
        self.api_requests += other.api_requests;
        self.invocations += other.invocations;
        self.queue_sends += other.queue_sends;
        self.queue_receipts += other.queue_receipts;
        self.queue_further_chunks += other.queue_further_chunks;
        self.schedule_invocations += other.schedule_invocations;
        self.schedule_calls += other.schedule_calls;
        self.bus_events += other.bus_events;
        self.bucket_puts += other.bucket_puts;
        self.bucket_gets += other.bucket_gets;
        self.outgoing_requests += other.outgoing_requests;
        self.log_bytes += other.log_bytes;
        self.activities += other.activities;
    }
}
