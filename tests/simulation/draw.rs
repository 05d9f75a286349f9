//! Drawing a plan from a seed.

use dormouse_engine::id::splitmix;

use super::fate::Faults;
use super::hardness::Hard;
use super::plan::{End, Errand, Menu, Overlap, Plan, Size, Whom};

/// So many seeds in a row have the same workflows.
const SEEDS_A_CATALOG: u64 = 512;

/// How long nodes stand still at most in a world of long freezes, ms, and how late calls are.
const HOURS_MS: u64 = 3 * 3_600_000;

/// Seconds from one time of a recurring trigger to the next that are too long for a delayed message.
const LONG_INTERVAL_S: u64 = 1_000;

impl Plan {
    /// The plan of a seed.
    #[must_use]
    pub(crate) fn draw(seed: u64, size: Size) -> Self {
        Self::draw_hard(seed, size, Hard::DRAWN)
    }

    /// The plan of a seed in a world that is so hard.
    #[must_use]
    pub(crate) fn draw_hard(seed: u64, size: Size, hard: Hard) -> Self {
        let mut dice = Dice {
            random: splitmix(seed ^ 0x0b57_ac1e),
            hard,
        };
        let menu = match size {
            Size::Small | Size::Crowd => Menu::Small,
            Size::Large => Menu::Large(seed / SEEDS_A_CATALOG),
            Size::Corpus => Menu::Corpus,
        };
        let mut faults = match size {
            Size::Crowd => dice.steady(),
            Size::Small | Size::Large | Size::Corpus => dice.faults(),
        };
        let is_embedded = dice.is(500);
        if !is_embedded && dice.is(250) {
            faults.index_ms = 1 + dice.below(5_000);
        }
        let mut errands = dice.errands(size);
        let is_crowd = |errand: &Errand| matches!(errand, Errand::Crowd { .. });
        if !hard.paused_crowds && errands.iter().any(is_crowd) {
            errands.retain(|errand| !matches!(errand, Errand::Pause { .. }));
        }
        let nodes = 2 + dice.below(if size == Size::Small { 2 } else { 3 });
        let (is_function, has_queue) = (dice.is(300), dice.is(500));
        let mut plan = Self {
            seed,
            menu,
            nodes: usize::try_from(nodes).unwrap_or(2),
            is_function,
            has_queue,
            has_table_timers: is_embedded && dice.is(700),
            is_embedded,
            writes_max: if dice.is(200) { 10 } else { 100 },
            has_broadcast: dice.is(700),
            sweep_s: [5, 60][usize::try_from(dice.below(2)).unwrap_or(0)],
            handlers: match size {
                Size::Crowd => 8,
                Size::Small | Size::Large | Size::Corpus => 0,
            },
            backlog_s: if dice.is(30) { 600 } else { 0 },
            hard,
            faults,
            errands,
        };
        let is_self_sufficient = Self::can_do_without_sweep(is_function, has_queue);
        if faults.is_gentle() && is_self_sufficient && !plan.has_pause() {
            plan.sweep_s = 0;
        } else if plan.is_long() {
            plan.sweep_s = 60;
        }
        plan
    }

    /// Whether it takes hours, in which frequent sweeps would take most of the time.
    fn is_long(&self) -> bool {
        let is_long = |errand: &Errand| matches!(errand, Errand::Recur { interval_s, .. } if *interval_s >= LONG_INTERVAL_S);
        self.faults.freeze_ms.max(self.faults.late_ms) > 0 || self.errands.iter().any(is_long)
    }
}

struct Dice {
    random: u64,
    hard: Hard,
}

impl Dice {
    fn below(&mut self, bound: u64) -> u64 {
        self.random = splitmix(self.random);
        self.random % bound.max(1)
    }

    fn number(&mut self, bound: u64) -> u32 {
        u32::try_from(self.below(bound)).unwrap_or(0)
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
        let is_long = scale > 0 && self.is(40);
        let all = Faults {
            refused: self.below(scale + 1),
            lost: self.below(scale + 1),
            vanished: self.below(scale / 2 + 1),
            late: self.below(scale / 4 + 1),
            slow: self.below(scale * 2 + 1),
            slow_ms,
            crash: self.below(scale / 2 + 1),
            freeze: self.below(scale / 8 + 1),
            freeze_ms: if is_long { HOURS_MS } else { 0 },
            late_ms: if is_long { HOURS_MS } else { 0 },
            twice: self.below(scale * 5 + 1),
            skew_ms: if self.is(300) { 120_000 } else { 0 },
            index_ms: 0,
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
                freeze_ms: all.freeze_ms,
                skew_ms: all.skew_ms,
                ..calm
            },
            _ => all,
        }
    }

    /// Crowds are about the number of things: half of them meet calls that take their time, the others a few faults.
    fn steady(&mut self) -> Faults {
        if self.is(500) {
            return Faults {
                slow: 1_000,
                slow_ms: 100,
                twice: self.below(100),
                ..Faults::default()
            };
        }
        Faults {
            refused: self.below(20),
            lost: self.below(10),
            late: self.below(5),
            crash: self.below(5),
            twice: self.below(100),
            ..Faults::default()
        }
    }

    fn errands(&mut self, size: Size) -> Vec<Errand> {
        let count = match size {
            Size::Small => 1 + self.below(3),
            Size::Large | Size::Corpus => 2 + self.below(10),
            Size::Crowd => {
                return (0..=self.below(2)).map(|_| self.crowd()).collect();
            }
        };
        let is_small = size == Size::Small;
        (0..count).map(|_| self.errand(is_small)).collect()
    }

    fn crowd(&mut self) -> Errand {
        match self.below(4) {
            0 => Errand::Crowd {
                count: 100 + self.number(200),
            },
            1 if self.hard.families => Errand::Family {
                children: 100 + self.number(200),
            },
            _ => Errand::Pile {
                timers: 100 + self.number(100),
                after_task: self.is(500),
            },
        }
    }

    fn errand(&mut self, is_small: bool) -> Errand {
        match self.below(if is_small { 34 } else { 24 }) {
            0 => Errand::Single,
            1 => Errand::Trigger,
            2 => Errand::Orphan,
            3 => Errand::Change {
                times: 1 + self.number(3),
            },
            4 | 5 => Errand::Version,
            6 => self.recur(),
            7 => Errand::Crowd {
                count: 2 + self.number(6),
            },
            8 if self.hard.same_event => Errand::Both,
            16 if self.hard.impatient => Errand::Mixup {
                timers: 3 + self.number(20),
            },
            17 if self.hard.retried_alone => Errand::MendAlone,
            9 => Errand::Address {
                whom: [Whom::Instance, Whom::Correlation][usize::from(self.is(500))],
            },
            10 | 11 => Errand::Pile {
                timers: 3 + self.number(20),
                after_task: self.is(700),
            },
            12 => Errand::Race,
            13 => Errand::Part,
            14 => Errand::Mend,
            15 => Errand::Pause {
                ms: self.below(120_000),
            },
            _ => self.run(),
        }
    }

    fn run(&mut self) -> Errand {
        let end = match self.below(16) {
            0 | 1 => End::Cancel,
            2 => End::Delete,
            _ => End::None,
        };
        Errand::Run {
            place: self.below(1 << 20),
            dispatches: self.is(200),
            end,
        }
    }

    fn recur(&mut self) -> Errand {
        let is_long = self.is(100);
        let interval_s = match is_long {
            true => LONG_INTERVAL_S + self.below(500),
            false => 2 + self.below(30),
        };
        Errand::Recur {
            interval_s,
            is_cron: !is_long && self.is(300),
            overlap: match self.below(6) {
                0 => Overlap::Skip,
                1 => Overlap::BufferOne,
                2 => Overlap::CancelPrevious,
                _ => Overlap::Allow,
            },
        }
    }
}
