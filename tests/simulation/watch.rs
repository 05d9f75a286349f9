//! What must hold after every single write, whatever goes wrong: looked at while it happens, not at the end.

use std::collections::{BTreeMap, BTreeSet};

use dormouse_store::table::{Item, Key, Value};

use super::hardness::{CALLS_AT_ONCE, FIRINGS_PENDING, ROWS_A_USE_CASE};
use super::special::{BROKEN, BROKEN_ALONE, SINGLE};

/// How an instance's head stood when it was seen last.
#[derive(Debug, Clone, Default)]
struct Head {
    fence: i64,
    commit: i64,
    is_ended: bool,
    is_tombstone: bool,
    /// Whether it may go on after its end: one that has failed and is retried.
    reopens: bool,
    summary: Option<Value>,
}

/// What has been seen of the table.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    heads: BTreeMap<String, Head>,
    /// Instances that run of definitions of which one may run at a time.
    alone: BTreeMap<String, BTreeSet<String>>,
    /// Definitions of which only one instance may run.
    pub(crate) singles: BTreeSet<String>,
    /// What was wrong.
    pub(crate) wrong: Vec<String>,
    /// The most that one use case has spent, by its name.
    pub(crate) most: BTreeMap<&'static str, Spent>,
    /// Firings on their way: the trigger, when it is due, how many messages.
    pub(crate) firings: BTreeMap<(String, i64), usize>,
}

impl Watch {
    /// The head of an instance was written.
    pub(crate) fn see(&mut self, key: &Key, now: Option<&Item>) {
        let number = |item: &Item, name: &str| match item.attributes.get(name) {
            Some(Value::N(number)) => *number,
            _ => 0,
        };
        let id = &key.partition;
        // Within the time of a run nothing may come back under the id, with a tombstone or without.
        let was_there = self
            .heads
            .get(id)
            .is_some_and(|before| before.is_tombstone || before.commit > 0);
        let gone = || Head {
            is_tombstone: was_there,
            ..Head::default()
        };
        let next = now.map_or_else(gone, |item| Head {
            fence: number(item, "fe"),
            commit: number(item, "cn"),
            is_ended: item.attributes.contains_key("en"),
            is_tombstone: !item.attributes.contains_key("su")
                && !item.attributes.contains_key("pl"),
            reopens: matches!(definition_of(item), Some(BROKEN | BROKEN_ALONE)),
            summary: item.attributes.get("su").cloned(),
        });
        if let Some(before) = self.heads.get(id) {
            let wrong = before.broken_by(&next, now.is_some());
            self.wrong.extend(wrong.map(|what| format!("{id}: {what}")));
        }
        if let Some(item) = now {
            self.count(id, item, &next);
        }
        self.heads.insert(id.clone(), next);
    }

    fn count(&mut self, id: &str, item: &Item, head: &Head) {
        let Some(definition) = definition_of(item) else {
            for running in self.alone.values_mut() {
                running.remove(id);
            }
            return;
        };
        if ![SINGLE, BROKEN_ALONE].contains(&definition) && !self.singles.contains(definition) {
            return;
        }
        let running = self.alone.entry(definition.to_owned()).or_default();
        if head.is_ended {
            running.remove(id);
        } else {
            running.insert(id.to_owned());
        }
        if running.len() > 1 {
            self.wrong
                .push(format!("of `{definition}` run at once: {running:?}"));
        }
    }

    /// A use case is done.
    pub(crate) fn spent(&mut self, name: &'static str, spent: Spent, has_pages: bool) {
        let most = self.most.entry(name).or_default();
        most.calls = most.calls.max(spent.calls);
        most.rows = most.rows.max(spent.rows);
        most.at_once = most.at_once.max(spent.at_once);
        let Spent {
            calls,
            rows,
            at_once,
        } = spent;
        let mut say = |what: String| self.wrong.push(format!("{name}: {what}"));
        let most = if name == "sweep" {
            SWEEP_CALLS_MAX
        } else {
            CALLS_MAX
        };
        if calls > most {
            say(format!("{calls} calls of the table"));
        }
        if at_once > CALLS_AT_ONCE {
            say(format!("{at_once} calls of the table at once"));
        }
        if has_pages && rows > ROWS_A_USE_CASE {
            say(format!("{rows} rows of the table"));
        }
    }

    /// A firing of a trigger is sent. False: there are so many that one more would show nothing new.
    pub(crate) fn is_sent(&mut self, firing: &(String, i64), is_skewed: bool) -> bool {
        let trigger = &firing.0;
        let of = self.firings.range((trigger.clone(), i64::MIN)..);
        let of = of.take_while(|((other, _), _)| other == trigger);
        let (occurrences, pending) = of.fold((0, 0), |(occurrences, pending), (_, count)| {
            (occurrences + usize::from(*count > 0), pending + count)
        });
        // Each occurrence may have a duplicate, and those of a node that stands still are on their way until it goes on.
        // Nodes whose clocks are behind put each duplicate back, and again when the answer to that was lost: where most
        // messages come twice they pile up until the time has come on those clocks too.
        let most = FIRINGS_PENDING * if is_skewed { 3 } else { 1 };
        if pending >= most + 2 * occurrences {
            let what =
                format!("of the trigger {trigger} more than {most} firings are on their way");
            self.wrong.push(what);
            return false;
        }
        *self.firings.entry(firing.clone()).or_default() += 1;
        true
    }

    /// A message is handed out, or was: if it fires a trigger, it is not on its way meanwhile.
    pub(crate) fn is_in_hand(&mut self, firing: Option<&(String, i64)>, is_out: bool) {
        match firing {
            Some(firing) if is_out => self.is_done(firing),
            Some(firing) => *self.firings.entry(firing.clone()).or_default() += 1,
            None => {}
        }
    }

    /// A firing of a trigger is done.
    pub(crate) fn is_done(&mut self, firing: &(String, i64)) {
        if let Some(count) = self.firings.get_mut(firing) {
            *count -= 1;
            if *count == 0 {
                self.firings.remove(firing);
            }
        }
    }
}

/// The definition of an instance's head.
fn definition_of(item: &Item) -> Option<&str> {
    match item.attributes.get("g1p") {
        Some(Value::S(place)) => place.split('#').nth(1),
        _ => None,
    }
}

/// What one use case has spent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Spent {
    /// Calls of the table.
    pub(crate) calls: u32,
    /// Rows that its queries returned.
    pub(crate) rows: u32,
    /// Calls that were under way at the same time, at most.
    pub(crate) at_once: u32,
}

/// No use case makes more table calls than this, whatever is in its way: waiting for a lease is bounded, and so are
/// attempts.
pub(crate) const CALLS_MAX: u32 = 1_500;

/// The same of a sweep, which delivers what many have left.
const SWEEP_CALLS_MAX: u32 = 10_000;

impl Head {
    /// What of this must not become that.
    fn broken_by(&self, next: &Self, is_there: bool) -> Option<String> {
        if self.is_tombstone {
            let is_back = is_there && !next.is_tombstone;
            return is_back.then(|| "it was deleted and is back".to_owned());
        }
        if next.is_tombstone || !is_there {
            return None;
        }
        if next.fence < self.fence || next.commit < self.commit {
            return Some(format!(
                "fence {} and commit {} became {} and {}",
                self.fence, self.commit, next.fence, next.commit
            ));
        }
        if next.commit > self.commit + 1 {
            return Some(format!("commit {} came after {}", next.commit, self.commit));
        }
        if self.is_ended
            && !self.reopens
            && (next.fence, next.commit, &next.summary) != (self.fence, self.commit, &self.summary)
        {
            return Some("it had ended and was changed".to_owned());
        }
        if next.commit == self.commit && self.commit > 0 && next.summary != self.summary {
            return Some(format!("commit {} was made twice", self.commit));
        }
        None
    }
}
