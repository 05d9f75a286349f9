//! Messages as SQS carries them: nothing is deduplicated, the order is not kept, a message comes again after its
//! visibility timeout, and after ten receives it goes to the queue's dead letters, from which an operator takes it.

use dormouse_runtime::message::Task;
use dormouse_runtime::{Delivered, Message, RuntimeError, Wakes};

use super::cluster::{Cluster, lock};
use super::sabotage::Sabotage;
use super::scheduler::trigger_of;
use super::world::BEGINNING_MS;

/// Receives after which a message goes to the dead letters: the template's `maxReceiveCount`.
const RECEIVES_MAX: u32 = 10;

/// How long a message is hidden whose receiver says nothing, ms: the template's `VisibilityTimeout`.
const VISIBILITY_MS: u64 = 360_000;

/// The longest pause that a receiver asks for, s.
const PAUSE_S_MAX: u64 = 900;

/// How long a message waits at least before it looks again for a free handler, ms.
const TURN_MS: u64 = 100;

/// How often somebody looks whether anybody asks the queue, in ms.
const ASKED_MS: u64 = 1_000;

/// What a receiver says of a message.
enum Answer {
    Delete,
    Again {
        after_ms: u64,
    },
    /// Send it anew after a while, so that this receive does not count.
    PutBack {
        after_ms: u64,
    },
    GiveUp(&'static str),
}

impl Cluster {
    /// Takes a message into the queue; now and then it is delivered twice.
    pub(crate) fn enqueue(&self, message: Message, delay_ms: u64) {
        if self.is_deduplicated(&message) {
            return;
        }
        if self.world.chance(self.world.faults().twice) {
            let more_ms = self.world.below(5_000);
            self.carry(message.clone(), delay_ms + more_ms);
        }
        self.carry(message, delay_ms);
    }

    /// Whether the occurrence is on its way already, where the world is not hard.
    fn is_deduplicated(&self, message: &Message) -> bool {
        if self.plan.hard.occurrences {
            return false;
        }
        trigger_of(message).is_some_and(|firing| {
            let watch = lock(&self.shared.watch);
            watch.firings.contains_key(&firing)
        })
    }

    fn carry(&self, message: Message, delay_ms: u64) {
        let firing = trigger_of(&message);
        let is_skewed = self.plan.faults.skew_ms > 0;
        if let Some(firing) = &firing
            && !lock(&self.shared.watch).is_sent(firing, is_skewed)
        {
            return;
        }
        let cluster = self.clone();
        self.drive(async move {
            cluster.receive(message, delay_ms).await;
            if let Some(firing) = &firing {
                lock(&cluster.shared.watch).is_done(firing);
            }
        });
    }

    /// Hands a message out until it is done.
    async fn receive(&self, message: Message, delay_ms: u64) {
        let world = &self.world;
        world.sleep(delay_ms + world.below(200)).await;
        let mut receives = 0;
        loop {
            self.wait_for_backlog().await;
            receives += 1;
            if receives > RECEIVES_MAX {
                world.note(|| format!("a dead letter of the queue: {}", message.id));
                lock(&self.shared.dead_letters).push(message);
                return;
            }
            // What is in hand is not on its way: one that comes too early is scheduled again by its receiver.
            let firing = trigger_of(&message);
            lock(&self.shared.watch).is_in_hand(firing.as_ref(), true);
            let answer = self.hand_out(&message, receives).await;
            lock(&self.shared.watch).is_in_hand(firing.as_ref(), false);
            let pause_ms = match answer {
                Answer::Delete => return,
                Answer::PutBack { after_ms } => {
                    receives = 0;
                    after_ms
                }
                Answer::Again { after_ms } => after_ms,
                Answer::GiveUp(reason) => {
                    let (again, reason) = (message.clone(), reason.to_owned());
                    let given_up = self
                        .ask("give up", |runtime| async move {
                            runtime
                                .dead_letters()
                                .give_up(&again, &reason)
                                .await
                                .is_ok()
                        })
                        .await;
                    if given_up == Some(true) {
                        return;
                    }
                    pause_ms(receives)
                }
            };
            if self.is_forgotten(&message) {
                return;
            }
            world.sleep(pause_ms + world.below(500)).await;
        }
    }

    async fn hand_out(&self, message: &Message, receives: u32) -> Answer {
        let again = self.changed(message);
        // A queue hands nothing out while nobody asks for it.
        while self.any_node().is_none() {
            self.world
                .sleep(ASKED_MS + self.world.below(ASKED_MS))
                .await;
        }
        let turn = self.take_turn().await;
        let delivered = self
            .ask("deliver", |runtime| async move {
                let delivered = runtime.delivery().deliver(&again).await;
                let pause_ms = runtime.pauses().again_after_pause_ms();
                (delivered, pause_ms, runtime.config().delivery_attempts_max)
            })
            .await;
        drop(turn);
        self.world.note(|| {
            let delivered = delivered.as_ref().map(|(delivered, ..)| delivered);
            format!("message {}, receive {receives}: {delivered:?}", message.id)
        });
        self.note_firing(message, delivered.is_some());
        let Some((delivered, after_pause_ms, attempts_max)) = delivered else {
            let after_ms = VISIBILITY_MS;
            return Answer::Again { after_ms };
        };
        let is_tried_out = receives >= attempts_max;
        let after_ms = pause_ms(receives);
        match delivered {
            Ok(Delivered::Done) => Answer::Delete,
            Ok(Delivered::Paused) | Err(RuntimeError::Paused { .. }) => Answer::PutBack {
                after_ms: after_pause_ms,
            },
            Ok(Delivered::Never(reason)) => Answer::GiveUp(reason),
            Ok(Delivered::Later) if self.counts_delays(receives) => Answer::GiveUp("delayed"),
            // Sent anew: it had to wait for others, and that is no failed attempt.
            Ok(Delivered::Later) => Answer::PutBack { after_ms },
            Ok(Delivered::Missing) | Err(_) if is_tried_out => {
                Answer::GiveUp("it failed each time")
            }
            Ok(Delivered::Missing) | Err(_) => Answer::Again { after_ms },
        }
    }

    /// While there is a backlog nothing is handed out.
    async fn wait_for_backlog(&self) {
        let world = &self.world;
        let until_ms = BEGINNING_MS + self.plan.backlog_s * 1_000;
        if self.plan.backlog_s > 0 && world.now_ms() < until_ms {
            world.sleep_until(until_ms).await;
            world.sleep(world.below(1_000)).await;
        }
    }

    /// Waits for a free handler, where their number is limited.
    pub(crate) async fn take_turn(&self) -> Turn {
        let most = self.plan.handlers;
        while most > 0 && *lock(&self.shared.turns) >= most {
            self.world.sleep(TURN_MS + self.world.below(TURN_MS)).await;
        }
        *lock(&self.shared.turns) += 1;
        Turn(self.clone())
    }

    /// Takes the messages out of the dead letters of the queue, as an operator does. Answers whether there were any.
    pub(crate) fn redrive(&self) -> bool {
        let messages = std::mem::take(&mut *lock(&self.shared.dead_letters));
        let is_any = !messages.is_empty();
        for message in messages {
            self.carry(message, 0);
        }
        is_any
    }

    /// An operator redrives the dead letters of the queue once an hour, as its alarm asks for: ten receives in a row can
    /// meet a node that dies, and somebody may wait for the instance that the message is for. Timers come by the queue
    /// even where no other work does.
    pub(crate) async fn redrive_now_and_then(self) {
        loop {
            self.world.sleep(REDRIVES_MS).await;
            self.redrive();
        }
    }

    /// Notes when an occurrence was tried.
    fn note_firing(&self, message: &Message, is_answered: bool) {
        if let Task::Fire { timer } = &message.task
            && let Wakes::Occurrence(occurrence) = &timer.wakes
        {
            let firing = (occurrence.definition_id.clone(), occurrence.nominal.0);
            self.fired(firing, is_answered);
        }
    }
}

/// The time between two looks of an operator at the dead letters of the queue, in ms.
const REDRIVES_MS: u64 = 3_600_000;

/// The pause after a failed receive, ms: twice as long each time.
fn pause_ms(receives: u32) -> u64 {
    (1 << (receives - 1).min(10)).min(PAUSE_S_MAX) * 1_000
}

/// A handler at work.
pub(crate) struct Turn(Cluster);

impl Drop for Turn {
    fn drop(&mut self) {
        *lock(&self.0.shared.turns) -= 1;
    }
}

/// Planted bugs.
impl Cluster {
    fn changed(&self, message: &Message) -> Message {
        let mut message = message.clone();
        if self.shared.sabotage == Some(Sabotage::TimerNotDeduplicated)
            && let Task::Fire { timer } = &mut message.task
            && let Wakes::Occurrence(occurrence) = &mut timer.wakes
        {
            occurrence.nominal.0 = occurrence.nominal.0.max(self.world.now_ms());
        }
        message
    }

    /// Whether the queue forgets a message that was handed out once.
    fn is_forgotten(&self, message: &Message) -> bool {
        let is_timer = matches!(message.task, Task::Fire { .. });
        match self.shared.sabotage {
            Some(Sabotage::MessageOnce) => !is_timer,
            Some(Sabotage::TimerOnce) => is_timer,
            _ => false,
        }
    }

    /// Whether a delay counts as a failure, and there were enough of them.
    fn counts_delays(&self, receives: u32) -> bool {
        self.shared.sabotage == Some(Sabotage::DelayIsFailure) && receives >= 2
    }
}
