//! Bugs on purpose. Each is one that a system of this kind has had, planted in the simulated ports, so that the
//! product needs no switch for it. The simulator is worth what it finds of these.

use dormouse_store::table::{Attributes, Change, Condition, Key, Value, Write};
use rmpv::Value as Field;
use serde::{Deserialize, Serialize};

/// A planted bug.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Sabotage {
    /// A commit does not check that the lease is still its own.
    NoFence,
    /// A commit writes one item after the other.
    NotAtomic,
    /// The outbox forgets an effect before it is delivered.
    RowFirst,
    /// Nobody sweeps.
    NoSweep,
    /// An occurrence is known by when it fired and not by when it was due.
    TimerNotDeduplicated,
    /// A head is read with the state of a commit before, in which the bookmark is still open.
    StaleState,
    /// A sender looks for bookmarks before it queues its stimulus, and not after.
    NoSecondLook,
    /// A start believes what its node has heard and not what the table says.
    TrustsBroadcast,
    /// A repeated request has a key of its own.
    KeyNotStable,
    /// An instance forgets which events it has taken.
    EventsForgotten,
    /// It is not noted for whom an event is.
    NotNoted,
    /// A create does not look whether there is such an instance already.
    StartsTwice,
    /// A deleted instance leaves nothing that keeps it from coming back.
    NoTombstone,
    /// The claim of a singleton is not checked.
    NoClaim,
    /// A message leaves the queue when it is handed out and not when it is done.
    MessageOnce,
    /// A timer is forgotten when it is fired and not when that has worked.
    TimerOnce,
    /// Journal lines that move out of the head are lost.
    JournalLost,
    /// The instance that has ended is read as one that has not, and takes a commit.
    EndsTwice,
    /// Each delivery of an occurrence schedules the next one.
    ChainNotClaimed,
    /// Whoever fences a commit only says so, and drops what it prepared.
    DroppedUnfenced,
    /// A delivery that has to wait counts as one that failed.
    DelayIsFailure,
}

impl Sabotage {
    /// All of them.
    pub(crate) const ALL: [Self; 21] = [
        Self::NoFence,
        Self::NotAtomic,
        Self::RowFirst,
        Self::NoSweep,
        Self::TimerNotDeduplicated,
        Self::StaleState,
        Self::NoSecondLook,
        Self::TrustsBroadcast,
        Self::KeyNotStable,
        Self::EventsForgotten,
        Self::NotNoted,
        Self::StartsTwice,
        Self::NoTombstone,
        Self::NoClaim,
        Self::MessageOnce,
        Self::TimerOnce,
        Self::JournalLost,
        Self::EndsTwice,
        Self::ChainNotClaimed,
        Self::DroppedUnfenced,
        Self::DelayIsFailure,
    ];

    /// The writes as the bug makes them.
    pub(crate) fn writes(self, writes: &[Write]) -> Vec<Write> {
        let mut writes = writes.to_vec();
        match self {
            Self::RowFirst => {
                writes.retain(|write| !matches!(write, Write::Put(item, _) if is_outbox(&item.key)))
            }
            Self::EventsForgotten => {
                writes.retain(|write| !write.key().sort.starts_with("SEEN#"));
                for write in &mut writes {
                    match write {
                        Write::Update(key, changes, _) if is_head(key) => {
                            changes.iter_mut().for_each(forget_events);
                        }
                        Write::Put(item, _) if is_head(&item.key) => {
                            edit_body(&mut item.attributes, forget);
                        }
                        _ => {}
                    }
                }
            }
            Self::JournalLost => writes.retain(
                |write| !matches!(write, Write::Put(item, _) if item.key.sort.starts_with("J#")),
            ),
            Self::NoTombstone => {
                for write in &mut writes {
                    let Write::Put(item, condition) = write else {
                        continue;
                    };
                    if is_head(&item.key) && !item.attributes.contains_key("su") {
                        *write = Write::Delete(item.key.clone(), condition.clone());
                    }
                }
            }
            _ => {}
        }
        for write in &mut writes {
            let key = write.key().clone();
            let (Write::Put(_, condition)
            | Write::Update(_, _, condition)
            | Write::Delete(_, condition)
            | Write::Check(_, condition)) = write;
            *condition = self.condition(&key, condition);
        }
        writes
    }

    /// The condition as the bug has it.
    pub(crate) fn condition(self, key: &Key, condition: &Condition) -> Condition {
        match self {
            Self::NoFence if is_head(key) => without(condition, &["fe", "cn"]),
            Self::ChainNotClaimed if key.partition.starts_with("~/CHAIN#") => Condition::Always,
            Self::StartsTwice if is_head(key) && asks_for_absence(condition) => Condition::Always,
            Self::NoClaim if key.partition.contains("/UNIQ#") => Condition::Always,
            _ => condition.clone(),
        }
    }
}

/// The attribute of a head that holds its events, bookmarks and state: a byte that says it is plain, a byte of format,
/// and MessagePack.
const BODY: &str = "bo";

/// Changes the fields of a head's body. A sabotaged world compresses nothing.
pub(crate) fn edit_body(attributes: &mut Attributes, edit: impl FnOnce(&mut Vec<(Field, Field)>)) {
    if let Some(Value::B(body)) = attributes.get_mut(BODY) {
        *body = edited(body, edit);
    }
}

fn edited(body: &[u8], edit: impl FnOnce(&mut Vec<(Field, Field)>)) -> bytes::Bytes {
    let (format, mut fields) = body.split_at(2);
    assert_eq!(format, [1, 1], "the body of a head is plain here");
    let Ok(Field::Map(mut fields)) = rmpv::decode::read_value(&mut fields) else {
        panic!("the body of a head has fields");
    };
    edit(&mut fields);
    let mut body = format.to_vec();
    rmpv::encode::write_value(&mut body, &Field::Map(fields)).expect("memory takes it");
    body.into()
}

fn forget(fields: &mut Vec<(Field, Field)>) {
    fields.retain(|(name, _)| name.as_str() != Some("e"));
}

/// The change of a head without the events that it has taken.
pub(crate) fn forget_events(change: &mut Change) {
    if let Change::Set(name, Value::B(body)) = change
        && name == BODY
    {
        *body = edited(body, forget);
    }
}

/// Whether changes of a head only make a commit impossible: they raise the fence and give nobody a lease.
pub(crate) fn only_raises_fence(changes: &[Change]) -> bool {
    let sets = |wanted: &str| {
        changes
            .iter()
            .any(|change| matches!(change, Change::Set(name, _) if name == wanted))
    };
    sets("fe") && !sets("lo") && !sets("cn")
}

/// Gives a head the state and the bookmarks of one before it.
pub(crate) fn take_state(attributes: &mut Attributes, before: &mut Attributes) {
    let mut old = Vec::new();
    edit_body(before, |fields| old.clone_from(fields));
    old.retain(|(name, _)| matches!(name.as_str(), Some("s" | "b")));
    edit_body(attributes, |fields| {
        fields.retain(|(name, _)| !matches!(name.as_str(), Some("s" | "b")));
        fields.append(&mut old);
    });
}

/// Whether it is the head of an instance.
pub(crate) fn is_head(key: &Key) -> bool {
    key.sort == "HEAD" && key.partition.contains("/WF#")
}

/// Whether it is a row of the outbox.
fn is_outbox(key: &Key) -> bool {
    key.partition.starts_with("~/OUTBOX#")
}

/// Whether it holds of an item that is not there.
fn asks_for_absence(condition: &Condition) -> bool {
    match condition {
        Condition::Absent => true,
        Condition::Any(any) => any.iter().any(asks_for_absence),
        _ => false,
    }
}

/// The condition without what it says of some attributes.
fn without(condition: &Condition, names: &[&str]) -> Condition {
    let is_named = |name: &String| names.contains(&name.as_str());
    match condition {
        Condition::Equals(name, _)
        | Condition::Has(name)
        | Condition::Lacks(name)
        | Condition::Contains(name, _)
            if is_named(name) =>
        {
            Condition::Always
        }
        Condition::Not(inner) if without(inner, names) == Condition::Always => Condition::Always,
        Condition::All(all) => Condition::All(all.iter().map(|one| without(one, names)).collect()),
        _ => condition.clone(),
    }
}
