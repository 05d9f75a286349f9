//! What can go wrong at a port call, and how often.

use serde::{Deserialize, Serialize};

use super::sleep::Yield;
use super::world::{Owner, World};

/// How often what goes wrong, in thousandths of the port calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Faults {
    /// The call does nothing and says so: throttled.
    pub(crate) refused: u64,
    /// The call does its work, and the answer is lost.
    pub(crate) lost: u64,
    /// The call does nothing, and there is no answer either.
    pub(crate) vanished: u64,
    /// There is no answer, and the call does its work later, when its sender has given up on it.
    pub(crate) late: u64,
    /// The call takes up to `slow_ms`.
    pub(crate) slow: u64,
    /// How slow a slow call is, ms.
    pub(crate) slow_ms: u64,
    /// The node dies before or after the call.
    pub(crate) crash: u64,
    /// The node stands still for up to `freeze_ms`.
    pub(crate) freeze: u64,
    /// How long a node stands still at most, ms. 0: two minutes.
    pub(crate) freeze_ms: u64,
    /// How late a late call is at most, ms. 0: 20 seconds.
    pub(crate) late_ms: u64,
    /// How far a secondary index is behind its table at most, ms.
    pub(crate) index_ms: u64,
    /// A message or timer comes twice.
    pub(crate) twice: u64,
    /// How far the nodes' clocks are off, ms. They jump, too.
    pub(crate) skew_ms: i64,
}

impl Faults {
    /// Whether nothing is ever lost or late, so that nothing needs a sweep. A slow start of a child may be overtaken by
    /// its parent's end, and whoever is to cancel it then comes again with a sweep. Where clocks are further apart than a
    /// lease is long, one node takes another's lease, and a sweep carries on what that one had in hand.
    #[must_use]
    pub(crate) fn is_gentle(self) -> bool {
        let Self {
            refused,
            lost,
            vanished,
            late,
            crash,
            freeze,
            slow,
            skew_ms,
            ..
        } = self;
        refused + lost + vanished + late + slow + crash + freeze == 0 && skew_ms == 0
    }

    /// Whether nothing fails and no call takes long: then nothing may be given up on.
    #[must_use]
    pub(crate) fn is_steady(self) -> bool {
        let Self {
            refused,
            lost,
            vanished,
            late,
            slow,
            slow_ms,
            crash,
            freeze,
            skew_ms,
            ..
        } = self;
        let is_quick = slow == 0 || slow_ms <= 100;
        refused + lost + vanished + late + crash + freeze == 0 && skew_ms == 0 && is_quick
    }

    /// How long a node stands still at most, ms.
    #[must_use]
    pub(crate) fn frozen_ms(self) -> u64 {
        if self.freeze_ms > 0 {
            self.freeze_ms
        } else {
            120_000
        }
    }
}

/// What a port call meets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// Nothing special.
    Well,
    /// Fail without doing anything, and say so.
    Refused,
    /// Do it, and lose the answer.
    Lost,
    /// Do nothing, and say nothing.
    Vanished,
    /// Do it after so many ms, and say nothing.
    Late(u64),
}

impl World {
    /// A port call begins: lets others go on first, perhaps for long, perhaps for ever.
    pub(crate) async fn point(&self, owner: Owner, name: &'static str) -> Fate {
        let (slow_ms, fate) = {
            let mut inner = self.inner();
            inner.stamp(name);
            let faults = inner.faults;
            let slow_ms = if faults.slow > 0 && inner.below(1_000) < faults.slow {
                1 + inner.below(faults.slow_ms)
            } else {
                0
            };
            let fate = inner.fate(faults);
            inner.counts.failures += u64::from(fate != Fate::Well);
            (slow_ms, fate)
        };
        let task = self.current_name();
        self.note(|| {
            let how = if fate == Fate::Well {
                String::new()
            } else {
                format!(" {fate:?}")
            };
            let long = if slow_ms > 0 {
                format!(", in {slow_ms} ms")
            } else {
                String::new()
            };
            format!("{owner:?} {task}: {name}{how}{long}")
        });
        if slow_ms > 0 {
            self.sleep(slow_ms).await;
        } else {
            Yield(false).await;
        }
        self.maybe_crash(owner).await;
        fate
    }

    /// The node dies here or stands still, now and then; whoever dies never returns.
    pub(crate) async fn maybe_crash(&self, owner: Owner) {
        let Owner::Node(node) = owner else { return };
        let (dies, freezes) = {
            let mut inner = self.inner();
            let Faults { crash, freeze, .. } = inner.faults;
            let mut dice = |thousandths| thousandths > 0 && inner.below(1_000) < thousandths;
            (dice(crash), dice(freeze))
        };
        if dies {
            self.kill(node);
            std::future::pending::<()>().await;
        }
        if freezes && !self.is_frozen(node) {
            self.freeze(node, true);
            let world = self.clone();
            let ms = 1 + self.below(self.faults().frozen_ms());
            self.spawn(Owner::Outside, async move {
                world.sleep(ms).await;
                if world.is_frozen(node) {
                    world.freeze(node, false);
                }
            });
            Yield(false).await;
        }
    }
}

impl super::world::Inner {
    fn fate(&mut self, faults: Faults) -> Fate {
        let Faults {
            refused,
            lost,
            vanished,
            late,
            late_ms,
            ..
        } = faults;
        if refused + lost + vanished + late == 0 {
            return Fate::Well;
        }
        let mut dice = self.below(1_000);
        for (chance, fate) in [
            (refused, Fate::Refused),
            (lost, Fate::Lost),
            (vanished, Fate::Vanished),
        ] {
            if dice < chance {
                return fate;
            }
            dice -= chance;
        }
        if dice < late {
            let most = if late_ms > 0 { late_ms } else { 20_000 };
            return Fate::Late(1 + self.below(most));
        }
        Fate::Well
    }
}
