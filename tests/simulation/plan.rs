//! The plan of a run: everything about it that can be made smaller when it fails. Drawn from the seed, or read from
//! `DORMOUSE_PLAN`, which a failing run prints.

use dormouse_engine::id::splitmix;
use serde::{Deserialize, Serialize};

use super::fate::Faults;

/// So many seeds in a row have the same workflows.
const SEEDS_A_CATALOG: u64 = 512;

/// Which worlds to draw.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Size {
    /// Two or three nodes, some few instances of small workflows.
    Small,
    /// Up to four nodes and a dozen errands with random workflows.
    Large,
    /// Elsa's own definitions, where they are.
    Corpus,
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
            faults: Faults::default(),
            errands: Vec::new(),
            ..Self::draw(seed, size)
        }
    }

    /// The plan of a seed.
    #[must_use]
    pub(crate) fn draw(seed: u64, size: Size) -> Self {
        let mut dice = Dice(splitmix(seed ^ 0x0b57_ac1e));
        let menu = match size {
            Size::Small => Menu::Small,
            Size::Large => Menu::Large(seed / SEEDS_A_CATALOG),
            Size::Corpus => Menu::Corpus,
        };
        let is_small = size == Size::Small;
        let faults = dice.faults();
        let is_embedded = dice.is(500);
        let errands = if is_small {
            1 + dice.below(3)
        } else {
            2 + dice.below(10)
        };
        let nodes = usize::try_from(2 + dice.below(if is_small { 2 } else { 3 })).unwrap_or(2);
        let (is_function, has_queue) = (dice.is(300), dice.is(500));
        Self {
            seed,
            menu,
            nodes,
            is_function,
            has_queue,
            has_table_timers: is_embedded && dice.is(700),
            is_embedded,
            writes_max: if dice.is(200) { 10 } else { 100 },
            has_broadcast: dice.is(700),
            sweep_s: match faults.is_gentle() && Self::can_do_without_sweep(is_function, has_queue)
            {
                true => 0,
                false => [5, 60][usize::try_from(dice.below(2)).unwrap_or(0)],
            },
            faults,
            errands: (0..errands).map(|_| dice.errand(is_small)).collect(),
        }
    }

    /// Whether nothing needs a sweep as long as nothing is lost. A function that has no queue delivers a child's end
    /// while it holds the parent's lease for the child's start; after a while it leaves the row to the sweep.
    pub(crate) fn can_do_without_sweep(is_function: bool, has_queue: bool) -> bool {
        has_queue || !is_function
    }
}

struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = splitmix(self.0);
        self.0 % bound.max(1)
    }

    fn is(&mut self, thousandths: u64) -> bool {
        self.below(1_000) < thousandths
    }

    /// Some runs are calm, some are wild, and some have one kind of fault only.
    fn faults(&mut self) -> Faults {
        let scale = [0, 5, 20, 60, 150][usize::try_from(self.below(5)).unwrap_or(0)];
        let slow_ms = if scale > 0 && self.is(300) {
            90_000
        } else {
            3_000
        };
        let all = Faults {
            refused: self.below(scale + 1),
            lost: self.below(scale + 1),
            vanished: self.below(scale / 2 + 1),
            late: self.below(scale / 4 + 1),
            slow: self.below(scale * 2 + 1),
            slow_ms,
            crash: self.below(scale / 2 + 1),
            freeze: self.below(scale / 8 + 1),
            twice: self.below(scale * 5 + 1),
            skew_ms: if self.is(300) { 120_000 } else { 0 },
        };
        let calm = Faults {
            slow_ms,
            ..Faults::default()
        };
        match self.below(10) {
            0 => Faults {
                crash: all.crash,
                ..calm
            },
            1 => Faults {
                lost: all.lost,
                ..calm
            },
            2 => Faults {
                slow: all.slow,
                twice: all.twice,
                slow_ms: 2_000,
                ..Faults::default()
            },
            3 => Faults {
                freeze: all.freeze,
                skew_ms: all.skew_ms,
                ..calm
            },
            _ => all,
        }
    }

    fn errand(&mut self, is_small: bool) -> Errand {
        let end = match self.below(16) {
            0 | 1 => End::Cancel,
            2 => End::Delete,
            _ => End::None,
        };
        match self.below(if is_small { 24 } else { 16 }) {
            0 => Errand::Single,
            1 => Errand::Trigger,
            2 => Errand::Orphan,
            3 => Errand::Change {
                times: 1 + u32::try_from(self.below(3)).unwrap_or(0),
            },
            4 | 5 => Errand::Version,
            6 => Errand::Recur {
                interval_s: 2 + self.below(30),
                is_cron: self.is(300),
                overlap: match self.below(6) {
                    0 => Overlap::Skip,
                    1 => Overlap::BufferOne,
                    2 => Overlap::CancelPrevious,
                    _ => Overlap::Allow,
                },
            },
            _ => Errand::Run {
                place: self.below(1 << 20),
                dispatches: self.is(200),
                end,
            },
        }
    }
}
