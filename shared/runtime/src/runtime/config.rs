//! How a runtime behaves.

use std::fmt;

use dormouse_engine::step::Limits;
use dormouse_identity::webhook::sign;

use crate::runtime::settings::HostSettings;
use crate::work::retention::Retention;

/// When the effects of a commit are carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivery {
    /// Before the use case returns. For a Lambda function, which is frozen as soon as it has answered.
    Inline,
    /// Beside it, by [`crate::port::Background`]. For a process that lives on.
    Background,
}

/// What requests are signed with; see `dormouse_identity::webhook`.
#[derive(Clone, PartialEq, Eq)]
pub struct SigningSecret(String);

impl SigningSecret {
    /// A secret: `whsec_` and bytes in base64. `None`: nothing can be signed with it.
    #[must_use]
    pub fn new(secret: &str) -> Option<Self> {
        sign(secret, "", 0, b"")?;
        Some(Self(secret.to_owned()))
    }

    pub(crate) fn sign(&self, id: &str, now_s: i64, body: &[u8]) -> String {
        sign(&self.0, id, now_s, body).unwrap_or_default()
    }
}

impl fmt::Debug for SigningSecret {
    /// Without the secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SigningSecret").finish_non_exhaustive()
    }
}

/// How a runtime behaves. Nodes over the same table may differ.
#[derive(Debug, Clone)]
pub struct RuntimeConfig {
    /// The node's name, unique among those that run at the same time.
    pub node: String,
    /// How long a lease is, in ms. Longer than a step may take; long bursts renew it.
    pub lease_ms: i64,
    /// How long to wait for somebody else's lease, in ms; then the caller gets
    /// [`crate::RuntimeError::InProgress`].
    pub wait_ms_max: i64,
    /// After how many ms a burst with more to do makes way and goes on later.
    pub burst_ms_max: i64,
    /// How long the scripts of one step may take together, in ms. More: the instance fails.
    pub step_ms_max: u64,
    /// How long an HTTP request of an activity may take that says nothing of it, in ms.
    pub call_ms: u64,
    /// When effects are carried out.
    pub delivery: Delivery,
    /// How many effects of one commit are carried out at once.
    pub deliveries_parallel_max: usize,
    /// How often a delivery is tried before it becomes a dead letter.
    pub delivery_attempts_max: u32,
    /// How many messages may follow from each other without anybody waiting in between. The next one becomes a dead
    /// letter: workflows that set each other off for ever would cost money for ever.
    pub hops_max: u32,
    /// A row of the outbox older than this was left by a crash, in ms: the sweep delivers it.
    pub redeliver_after_ms: i64,
    /// After how many ms a commit that was prepared and is not to be seen counts as lost. Longer than any node takes from
    /// preparing a commit to making it; one that takes longer is made to try again.
    pub undecided_ms_max: i64,
    /// How many rows of the outbox one sweep of a shard delivers at once.
    pub swept_parallel_max: usize,
    /// At most so many rows of the outbox and queued stimuli of one shard are looked at in one sweep.
    pub swept_max: u32,
    /// How long an event that nothing waits for is queued where its sender does not say, in ms.
    pub event_ms: i64,
    /// A recurring trigger's occurrence later than this was missed, in ms: of several missed ones only the latest
    /// is fired.
    pub missed_after_ms: i64,
    /// Whether a definition with errors is not published.
    pub fail_on_validation_errors: bool,
    /// How many activities the compiled definitions in the cache may have together.
    pub cached_nodes_max: u64,
    /// How long ended instances are kept.
    pub retention: Retention,
    /// How far a burst may go.
    pub limits: Limits,
    /// What requests to handlers of activities are signed with. `None`: none are made.
    pub signing_secret: Option<SigningSecret>,
    /// What scripts read with `getConfig`. Without any there is no such function.
    pub settings: HostSettings,
    /// How many requests for tasks may wait at a time.
    pub polls_max: usize,
    /// How often a request for tasks that waits looks again, in ms.
    pub poll_pause_ms: u64,
    /// Whether flowcharts pass tokens, rather than count visits, where neither a start nor the definition says it.
    pub passes_tokens: bool,
}

impl RuntimeConfig {
    /// For a process that lives on, such as a container or the local server.
    #[must_use]
    pub fn server(node: impl Into<String>) -> Self {
        Self {
            node: node.into(),
            lease_ms: 30_000,
            wait_ms_max: 10_000,
            burst_ms_max: 60_000,
            call_ms: 100_000,
            delivery: Delivery::Background,
            deliveries_parallel_max: 16,
            delivery_attempts_max: 10,
            hops_max: u32::MAX,
            redeliver_after_ms: 5_000,
            undecided_ms_max: 60_000,
            step_ms_max: 10_000,
            swept_parallel_max: 16,
            swept_max: 200,
            event_ms: 600_000,
            missed_after_ms: 60_000,
            fail_on_validation_errors: true,
            cached_nodes_max: 200_000,
            retention: Retention::default(),
            limits: Limits::default(),
            signing_secret: None,
            settings: HostSettings::default(),
            polls_max: 256,
            poll_pause_ms: 100,
            passes_tokens: false,
        }
    }

    /// For a Lambda function that has `left_ms` for each invocation.
    #[must_use]
    pub fn function(node: impl Into<String>, left_ms: i64) -> Self {
        let work_ms = (left_ms - 2_000).max(1_000);
        Self {
            lease_ms: left_ms.clamp(1_000, 60_000),
            burst_ms_max: work_ms,
            call_ms: work_ms.unsigned_abs().min(100_000),
            delivery: Delivery::Inline,
            hops_max: 1_000,
            // Whoever waits here costs money.
            polls_max: 0,
            ..Self::server(node)
        }
    }
}
