//! What must hold after every single write, whatever goes wrong: looked at while it happens, not at the end.

use std::collections::{BTreeMap, BTreeSet};

use dormouse_store::table::{Item, Key, Value};

use super::recipe::SINGLE;

/// How an instance's head stood when it was seen last.
#[derive(Debug, Clone, Default)]
struct Head {
    fence: i64,
    commit: i64,
    is_ended: bool,
    is_tombstone: bool,
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
    /// The most table calls of one use case, by its name.
    pub(crate) calls_max: BTreeMap<&'static str, u32>,
}

impl Watch {
    /// The head of an instance was written.
    pub(crate) fn see(&mut self, key: &Key, now: Option<&Item>) {
        let number = |item: &Item, name: &str| match item.attributes.get(name) {
            Some(Value::N(number)) => *number,
            _ => 0,
        };
        let next = now.map_or_else(Head::default, |item| Head {
            fence: number(item, "fe"),
            commit: number(item, "cn"),
            is_ended: item.attributes.contains_key("en"),
            is_tombstone: !item.attributes.contains_key("su")
                && !item.attributes.contains_key("pl"),
            summary: item.attributes.get("su").cloned(),
        });
        let id = &key.partition;
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
        let Some(Value::S(place)) = item.attributes.get("g2p") else {
            for running in self.alone.values_mut() {
                running.remove(id);
            }
            return;
        };
        let Some(definition) = place.split('#').nth(1) else {
            return;
        };
        if definition != SINGLE && !self.singles.contains(definition) {
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

    /// A use case has made so many table calls.
    pub(crate) fn spent(&mut self, name: &'static str, calls: u32) {
        let most = self.calls_max.entry(name).or_default();
        *most = calls.max(*most);
        if calls > CALLS_MAX {
            self.wrong
                .push(format!("{name} made {calls} calls of the table"));
        }
    }
}

/// No use case makes more table calls than this, whatever is in its way: waiting for a lease is bounded, and so are
/// attempts.
pub(crate) const CALLS_MAX: u32 = 1_500;

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
