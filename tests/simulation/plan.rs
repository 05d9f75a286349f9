//! The plan of a run: everything about it that can be made smaller when it fails. Drawn from the seed, or read from
//! `DORMOUSE_PLAN`, which a failing run prints.

use serde::{Deserialize, Serialize};

use super::fate::Faults;
use super::hardness::Hard;

/// Which worlds to draw.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Size {
    /// Two or three nodes, some few instances of small workflows.
    Small,
    /// Up to four nodes and a dozen errands with random workflows.
    Large,
    /// Elsa's own definitions, where they are.
    Corpus,
    /// Hundreds of instances, timers and messages at once.
    Crowd,
}

/// The workflows of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Menu {
    /// The fixed ones.
    Small,
    /// The random ones of a number.
    Large(u64),
    /// Elsa's own.
    Corpus,
}

/// What one person does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Errand {
    /// Starts an instance of a menu's workflow by its place, and sends what it waits for.
    Run {
        /// The place of the workflow, modulo how many there are.
        place: u64,
        /// Without waiting for it.
        dispatches: bool,
        /// What comes in between, if anything.
        end: End,
    },
    /// Starts the workflow of which only one may run.
    Single,
    /// Starts a workflow by an event.
    Trigger,
    /// Sends an event that nothing waits for.
    Orphan,
    /// Starts the definition that changes.
    Version,
    /// Publishes, retracts and publishes again the definition that changes.
    Change {
        /// How often.
        times: u32,
    },
    /// Publishes a definition that starts itself again and again, and retracts it after a while.
    Recur {
        /// Seconds from one time to the next.
        interval_s: u64,
        /// As an expression of cron.
        is_cron: bool,
        /// What happens while an earlier one runs.
        overlap: Overlap,
    },
    /// Starts instances that wait for one event, and sends it.
    Crowd {
        /// How many.
        count: u32,
    },
    /// Starts an instance of which two branches wait for one event, and sends it.
    Both,
    /// Starts two instances that wait for events of one name, and sends each its own.
    Address {
        /// What the events name.
        whom: Whom,
    },
    /// Starts an instance that sets many timers for one moment.
    Pile {
        /// How many.
        timers: u32,
        /// Whether it sets them when a worker has done its task, and not when it starts.
        after_task: bool,
    },
    /// Starts an instance of two branches: one sets many timers when its task is done, the other one waits for an
    /// approval when its task is done.
    Mixup {
        /// How many timers.
        timers: u32,
    },
    /// Starts an instance that starts many children and waits for all of them.
    Family {
        /// How many.
        children: u32,
    },
    /// Starts a workflow of which one may run, that fails for a while, twice, and retries both.
    MendAlone,
    /// Starts a workflow in which the first of two branches wins.
    Race,
    /// Starts a workflow that contains another one as an activity.
    Part,
    /// Starts a workflow that fails for a while, and retries it.
    Mend,
    /// Pauses the system for so many ms.
    Pause {
        /// For how long.
        ms: u64,
    },
}

impl Errand {
    /// How many messages it puts into the queue at one moment.
    pub(crate) fn crowd(&self) -> i64 {
        match *self {
            Self::Pile { timers: count, .. } | Self::Crowd { count } => i64::from(count),
            // A start and an end each.
            Self::Family { children } => 2 * i64::from(children),
            _ => 0,
        }
    }
}

/// What an event names besides its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Whom {
    /// The instance.
    Instance,
    /// The correlation id.
    Correlation,
}

/// How somebody interferes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum End {
    /// Not at all.
    None,
    /// Cancels.
    Cancel,
    /// Deletes.
    Delete,
}

/// The policies for occurrences that meet an earlier one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Overlap {
    /// Both run.
    Allow,
    /// The later one is left out.
    Skip,
    /// The later one waits.
    BufferOne,
    /// The earlier one is cancelled.
    CancelPrevious,
}

/// The plan of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Plan {
    /// What all else is drawn from.
    pub(crate) seed: u64,
    /// The workflows.
    pub(crate) menu: Menu,
    /// How many nodes there are.
    pub(crate) nodes: usize,
    /// Whether the nodes are Lambda functions, frozen when they have answered.
    pub(crate) is_function: bool,
    /// Whether work goes through a queue.
    pub(crate) has_queue: bool,
    /// Whether timers lie in the table.
    pub(crate) has_table_timers: bool,
    /// Whether the store is laid out for the embedded table.
    pub(crate) is_embedded: bool,
    /// How many writes fit in one.
    pub(crate) writes_max: usize,
    /// Whether nodes tell each other what is published.
    pub(crate) has_broadcast: bool,
    /// Seconds between sweeps; 0: there are none.
    pub(crate) sweep_s: u64,
    /// How many messages and timers are handled at once; 0: any number.
    #[serde(default)]
    pub(crate) handlers: usize,
    /// For how many seconds from the beginning the queue hands nothing out.
    #[serde(default)]
    pub(crate) backlog_s: i64,
    /// What the world contains of the real one.
    #[serde(default)]
    pub(crate) hard: Hard,
    /// What goes wrong.
    pub(crate) faults: Faults,
    /// What people do.
    pub(crate) errands: Vec<Errand>,
}

impl Plan {
    /// One node, nobody with an errand, and nothing that goes wrong.
    #[must_use]
    pub(crate) fn calm(seed: u64, size: Size) -> Self {
        Self {
            nodes: 1,
            is_function: false,
            has_queue: false,
            has_table_timers: false,
            writes_max: 100,
            sweep_s: 0,
            handlers: 0,
            backlog_s: 0,
            faults: Faults::default(),
            errands: Vec::new(),
            ..Self::draw(seed, size)
        }
    }

    /// Whether somebody pauses the system: what is left in the outbox by then needs a sweep.
    pub(crate) fn has_pause(&self) -> bool {
        self.pauses() > 0
    }

    /// How often somebody pauses it.
    pub(crate) fn pauses(&self) -> usize {
        let is_pause = |errand: &&Errand| matches!(errand, Errand::Pause { .. });
        self.errands.iter().filter(is_pause).count()
    }

    /// Whether nodes look for pauses all the time. A function looks when an invocation begins; where timers are in the
    /// table, a process drives them.
    pub(crate) fn watches_pauses(&self) -> bool {
        self.has_pause() && (!self.is_function || self.has_table_timers)
    }

    /// Whether nothing needs a sweep as long as nothing is lost. A function that has no queue delivers a child's end
    /// while it holds the parent's lease for the child's start; after a while it leaves the row to the sweep.
    pub(crate) fn can_do_without_sweep(is_function: bool, has_queue: bool) -> bool {
        has_queue || !is_function
    }
}
