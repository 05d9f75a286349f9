//! Planted bugs of the commit protocol that is to come: what each leaves out, and where in the ports it bites. One moves
//! to `sabotage.rs` as soon as the product has what it sabotages; the attribute names are filled in there.

use super::sabotage::Sabotage;

/// A planted bug that the product cannot have yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Upcoming {
    /// Something prepared is valid whichever attempt prepared it.
    AttemptNotCompared,
    /// Something prepared by a lost attempt is dropped while its commit can still arrive.
    DroppedUnfenced,
    /// A commit checks its number and not the fence.
    FenceNotChecked,
    /// Each delivery of an occurrence schedules the next one.
    ChainNotClaimed,
    /// The receiver of a message that was sent before a commit trusts it.
    MessageNotVerified,
    /// The next commit takes pending effects out of the head that were not delivered.
    PendingLost,
}

impl Upcoming {
    const ALL: [Self; 6] = [
        Self::AttemptNotCompared,
        Self::DroppedUnfenced,
        Self::FenceNotChecked,
        Self::ChainNotClaimed,
        Self::MessageNotVerified,
        Self::PendingLost,
    ];

    /// Where it bites: the call of a port, and what the port does instead.
    fn bites(self) -> &'static str {
        match self {
            Self::AttemptNotCompared => {
                "Node::get, Node::query: rows of ~/TIMER and /STIM# are answered with the attempt that the head shows for \
                 their bookmark. Cluster::update: the condition loses what it says of the attempt (`without`). Plan: \
                 Mixup with crashes, writes_max 10, impatient"
            }
            Self::DroppedUnfenced => {
                "Node::update of a head that only raises the fence, that is without an owner of a lease and without a \
                 commit number: answer Updated::New with the fence one higher, and write nothing. Plan: Pile after a task \
                 with freezes and late calls of hours"
            }
            Self::FenceNotChecked => {
                "Sabotage::condition of a head: without(condition, [the fence]) and the commit number kept, where \
                 NoFence takes both. Plan: as DroppedUnfenced"
            }
            Self::ChainNotClaimed => {
                "Sabotage::condition of the trigger's row: Condition::Always. Plan: Recur with twice 500 and no table \
                 timers; the rule is FIRINGS_PENDING"
            }
            Self::MessageNotVerified => {
                "Cluster::changed (queue.rs): the stamp of a message becomes the one that the head shows, so that the \
                 comparison always holds. Plan: Family and Run of `parent` with crashes between prepare and commit"
            }
            Self::PendingLost => {
                "Sabotage::writes and Cluster::update of a head that raises the commit number: the pending effects \
                 become those of this burst alone. Plan: Run of `both` and `parent` with crashes after the commit"
            }
        }
    }
}

#[test]
fn a_bug_is_either_planted_or_to_come() {
    for bug in Upcoming::ALL {
        let name = format!("{bug:?}");
        let is_planted = Sabotage::ALL
            .iter()
            .any(|other| format!("{other:?}") == name);
        assert!(!is_planted, "{name} is planted: remove it here");
        assert!(
            bug.bites().contains("Plan: "),
            "{name} names no plan that finds it"
        );
    }
}
