//! What was asked of the parts of AWS.

use dormouse_store::meter::Usage;

use crate::price::Assumed;

/// What was asked of the parts of AWS.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    /// The table's calls and units.
    pub table: Usage,
    /// Requests to the HTTP API.
    pub api_requests: u64,
    /// Invocations of functions.
    pub invocations: u64,
    /// Messages that our functions sent to a queue.
    pub queue_sends: u64,
    /// Messages that came out of a queue: received, and deleted afterwards.
    pub queue_receipts: u64,
    /// Messages that fired schedules put into a queue.
    pub schedule_invocations: u64,
    /// Schedules that were created or deleted.
    pub schedule_calls: u64,
    /// Events put on the bus.
    pub bus_events: u64,
    /// Requests that workflows sent.
    pub outgoing_requests: u64,
    /// Activities that ran, containers left out: what would be state transitions elsewhere.
    pub activities: u64,
}

impl Tally {
    /// Requests to the queue: each message is sent, received and deleted. Lambda receives and deletes up to ten at
    /// once under load, so this is the most that it can be.
    #[must_use]
    pub fn queue_requests(&self) -> u64 {
        self.queue_sends + self.schedule_invocations + 2 * self.queue_receipts
    }

    /// How long all invocations together take, in ms, as far as can be assumed.
    #[must_use]
    pub fn lambda_ms(&self, assumed: &Assumed) -> f64 {
        let transactions = self.table.transaction.calls;
        let single = self.table.calls() - transactions;
        self.invocations as f64 * assumed.own_ms_per_invocation
            + single as f64 * assumed.ms_per_table_call
            + transactions as f64 * assumed.ms_per_transaction
            + (self.queue_sends + self.bus_events) as f64 * assumed.ms_per_queue_send
            + self.schedule_calls as f64 * assumed.ms_per_schedule_call
            + self.outgoing_requests as f64 * assumed.ms_per_outgoing_request
    }
}
