//! The reference model: what users were promised, as plain rules over what they were told and what is left. It knows
//! nothing of leases, commits or messages.

use std::collections::{BTreeMap, BTreeSet};

use dormouse_engine::instance::SubStatus;
use dormouse_engine::journal::{Event, Line};
use dormouse_store::outbox::dead_letter::Letter;
use dormouse_store::table::Key;

use super::inspector::{Found, Left};
use super::ledger::{Ledger, Run};
use super::plan::{End, Plan};
use super::recipe::{Ending, Recipe};
use super::rules::either;

/// What a run is judged by.
pub(crate) struct Model<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) ledger: &'a Ledger,
    pub(crate) recipes: BTreeMap<&'a str, &'a Recipe>,
    pub(crate) left: &'a Left,
    /// When occurrences were fired: definition, when it was due, when it was tried at the latest.
    pub(crate) fired: &'a [(String, i64, i64)],
    /// Requests that were made, by key.
    pub(crate) requests: &'a BTreeMap<String, u32>,
}

impl Model<'_> {
    /// Everything that is wrong; nothing if all promises were kept.
    pub(crate) fn judge(&self) -> Vec<String> {
        let mut wrong = self.left.unreadable.clone();
        let by_id: BTreeMap<&str, &Found> = self
            .left
            .instances
            .iter()
            .map(|found| (found.id.as_str(), found))
            .collect();
        for (id, run) in &self.ledger.runs {
            if run.end != End::Delete && !by_id.contains_key(id.as_str()) {
                let Run { key, recipe, .. } = run;
                wrong.push(format!(
                    "{key}: the acknowledged start {id} of `{recipe}` is lost"
                ));
            }
        }
        for found in &self.left.instances {
            let name = format!("`{}` {}", found.definition, found.id);
            let say = |what: Vec<String>| {
                what.into_iter()
                    .map(|what| format!("{name}: {what}"))
                    .collect::<Vec<_>>()
            };
            wrong.extend(say(journal(&found.lines)));
            wrong.extend(say(self.instance(found, &by_id)));
        }
        wrong.extend(self.leftovers());
        wrong.extend(self.orphans());
        wrong.extend(self.events(&by_id));
        wrong.extend(self.triggers());
        wrong.extend(self.versions());
        wrong.extend(self.recurring());
        wrong.extend(self.gatherings());
        wrong.extend(self.pauses());
        wrong
    }

    /// Whether somebody has interfered with it, or with whom it was started by.
    fn is_interfered(&self, found: &Found, by_id: &BTreeMap<&str, &Found>) -> bool {
        let run = self.ledger.runs.get(&found.id);
        if run.is_some_and(|run| run.end != End::None) {
            return true;
        }
        found.parent.as_deref().is_some_and(|parent| {
            by_id
                .get(parent)
                .is_none_or(|parent| self.is_interfered(parent, by_id))
        })
    }

    fn instance(&self, found: &Found, by_id: &BTreeMap<&str, &Found>) -> Vec<String> {
        let mut wrong = Vec::new();
        if found.sub_status.status() == dormouse_engine::instance::Status::Running {
            wrong.push(format!("it is {} for ever", found.sub_status.as_str()));
        }
        let Some(recipe) = self.recipes.get(found.definition.as_str()) else {
            return wrong;
        };
        let is_cancelled = found.sub_status == SubStatus::Cancelled;
        let is_interfered = self.is_interfered(found, by_id);
        let expected = match recipe.expect.ending {
            Ending::Finished => SubStatus::Finished,
            Ending::Faulted => SubStatus::Faulted,
        };
        if found.sub_status != expected && !(is_cancelled && is_interfered) {
            wrong.push(format!("it is {}", found.sub_status.as_str()));
        }
        let is_whole = found.sub_status == expected;
        wrong.extend(runs(recipe, found, is_whole));
        wrong.extend(self.calls(recipe, found, is_whole));
        if is_whole {
            wrong.extend(self.children(recipe, found));
            wrong.extend(order(recipe, &found.lines));
            wrong.extend(delays(recipe, &found.lines, self.plan.faults.skew_ms));
            wrong.extend(either(recipe, &found.lines));
            wrong.extend(self.lateness(recipe, &found.lines));
        }
        wrong
    }

    /// Calls are made again under the same key only.
    fn calls(&self, recipe: &Recipe, found: &Found, is_whole: bool) -> Option<String> {
        let from = format!("{}/", found.id);
        let keys = self.requests.keys().filter(|key| key.starts_with(&from));
        let (made, most) = (keys.count(), recipe.expect.calls as usize);
        let is_wrong = made > most || (is_whole && made < most);
        is_wrong.then(|| format!("it made {made} calls and not {most}"))
    }

    fn children(&self, recipe: &Recipe, found: &Found) -> Vec<String> {
        let mut wrong = Vec::new();
        for (definition, count) in &recipe.expect.children {
            let of = self.left.instances.iter().filter(|child| {
                child.parent.as_ref() == Some(&found.id) && child.definition == *definition
            });
            let there = of.count();
            if there != *count as usize {
                wrong.push(format!(
                    "it has {there} children `{definition}` and not {count}"
                ));
            }
        }
        wrong
    }

    /// What nobody will ever come back to.
    fn leftovers(&self) -> Vec<String> {
        let is_left = |partition: &str| {
            ["~/OUTBOX#", "~/TIMER"]
                .iter()
                .any(|p| partition.starts_with(p))
                || partition.contains("/UNIQ#")
        };
        let left = self.left.items.iter().filter(|i| is_left(&i.key.partition));
        left.map(|item| format!("left over: {} {}", item.key.partition, item.key.sort))
            .collect()
    }

    /// An event that nothing waits for is queued, or a dead letter.
    fn orphans(&self) -> Vec<String> {
        let letters: BTreeSet<&str> = self
            .left
            .letters
            .iter()
            .filter_map(|letter| match &letter.letter {
                Letter::Stimulus { id, .. } => Some(id.as_str()),
                Letter::Effects { .. } | Letter::Message(_) => None,
            })
            .collect();
        let is_queued = |id: &str| {
            self.left
                .items
                .iter()
                .any(|i| queued_id(&i.key) == Some(id))
        };
        let lost = self
            .ledger
            .orphans
            .iter()
            .filter(|id| !letters.contains(id.as_str()) && !is_queued(id));
        lost.map(|id| format!("the event {id} is neither queued nor a dead letter"))
            .collect()
    }

    /// An event that somebody waits for is taken by one bookmark, and is not left.
    fn events(&self, by_id: &BTreeMap<&str, &Found>) -> Vec<String> {
        let mut wrong = Vec::new();
        let mut taken = BTreeMap::new();
        let mut open = BTreeSet::new();
        for found in &self.left.instances {
            for line in &found.lines {
                let is_event = line.activity_type == "Elsa.Event" && line.event == Event::Completed;
                let outputs = line.data["outputs"].as_object();
                let mut ids = outputs
                    .into_iter()
                    .flatten()
                    .filter_map(|(_, v)| v["id"].as_str());
                let (true, Some(id)) = (is_event, ids.next()) else {
                    continue;
                };
                let by = (&found.id, line.at);
                match taken.insert(id.to_owned(), by) {
                    // All bookmarks of an instance that wait for it go on together, so another event has nobody left.
                    Some(other) if other == by => open.extend(id.split('-').next()),
                    Some(_) if !id.starts_with("all-") => {
                        wrong.push(format!("the event {id} was taken twice"));
                    }
                    Some(_) | None => {}
                }
            }
            if self.is_interfered(found, by_id) {
                let run = self.ledger.runs.get(&found.id);
                open.extend(run.map(|run| run.key.as_str()));
            }
        }
        // Whose instance was deleted is not there to be asked.
        let deleted = self
            .ledger
            .runs
            .values()
            .filter(|run| run.end == End::Delete);
        open.extend(deleted.map(|run| run.key.as_str()));
        for item in &self.left.items {
            let Some(id) = queued_id(&item.key).and_then(|id| id.strip_prefix('p')) else {
                continue;
            };
            let key = id.split('-').next().map(|n| format!("p{n}"));
            let is_open = key.is_some_and(|key| open.contains(key.as_str()));
            if !is_open {
                wrong.push(format!("the event p{id} waits for ever"));
            }
            if taken.contains_key(&format!("p{id}")) {
                wrong.push(format!("the event p{id} was taken and is queued again"));
            }
        }
        wrong
    }

    /// An event starts one instance of each definition that it triggers.
    fn triggers(&self) -> Vec<String> {
        let mut wrong = Vec::new();
        for id in &self.ledger.triggers {
            let of = self.left.instances.iter().filter(|found| {
                found.definition == super::special::TRIGGERED
                    && found.input.get("Payload").is_some_and(|p| p["id"] == **id)
            });
            let count = of.count();
            if count != 1 {
                wrong.push(format!("the event {id} has started {count} instances"));
            }
        }
        wrong
    }
}

/// Numbered without gaps, in order, and with one beginning and one end of each execution.
fn journal(lines: &[Line]) -> Vec<String> {
    let mut wrong = Vec::new();
    if lines
        .iter()
        .enumerate()
        .any(|(at, line)| line.sequence != at as u64)
    {
        let numbers: Vec<u64> = lines.iter().map(|line| line.sequence).collect();
        wrong.push(format!("its journal is numbered {numbers:?}"));
    }
    let mut counts: BTreeMap<(&str, String, &str), u32> = BTreeMap::new();
    for line in lines {
        let execution = format!("{:?}", line.context);
        // One that has failed begins once more when it is retried; one that repeats only its call does not.
        let is_tried_again =
            line.event == Event::Retrying && line.data["details"]["type"].is_string();
        if line.event == Event::Faulted || is_tried_again {
            counts.remove(&(
                &line.activity_id,
                execution.clone(),
                Event::Started.as_str(),
            ));
        }
        if matches!(line.event, Event::Started | Event::Completed) {
            *counts
                .entry((&line.activity_id, execution, line.event.as_str()))
                .or_default() += 1;
        }
    }
    for ((activity, _, event), count) in counts {
        if count > 1 {
            wrong.push(format!("one execution of {activity} has {count} × {event}"));
        }
    }
    wrong
}

/// Whether an execution begins with a line. One that begins while another one of its activity waits is told of as resumed,
/// as in Elsa, and says who scheduled it.
pub(crate) fn begins(line: &Line) -> bool {
    line.event == Event::Started || line.event == Event::Resumed && line.owner.is_some()
}

/// Each activity runs as often as it was promised, and never more often.
fn runs(recipe: &Recipe, found: &Found, is_whole: bool) -> Vec<String> {
    let count = |id: &str, event: Event| {
        let of = found
            .lines
            .iter()
            .filter(|line| line.activity_id == id && line.event == event);
        u32::try_from(of.count()).unwrap_or(u32::MAX)
    };
    let mut wrong = Vec::new();
    for (id, times) in &recipe.expect.runs {
        // A version that was published later has other lines.
        if found.version > 1 && id == "v1" {
            continue;
        }
        let began = found.lines.iter().filter(|line| line.activity_id == *id);
        let began = u32::try_from(began.filter(|line| begins(line)).count()).unwrap_or(u32::MAX);
        let done = count(id, Event::Completed);
        if began > *times || (is_whole && (began < *times || done != *times)) {
            wrong.push(format!(
                "{id} began {began} times and ended {done} times, not {times}"
            ));
        }
    }
    wrong
}

fn order(recipe: &Recipe, lines: &[Line]) -> Vec<String> {
    let first = |id: &str, event: Event| {
        lines
            .iter()
            .position(|line| line.activity_id == id && line.event == event)
    };
    let is_wrong = |(before, after): &&(String, String)| match (
        first(before, Event::Completed),
        first(after, Event::Started),
    ) {
        (Some(before), Some(after)) => before > after,
        _ => false,
    };
    let wrong = recipe.expect.order.iter().filter(is_wrong);
    wrong
        .map(|(before, after)| format!("{after} began before {before} was done"))
        .collect()
}

fn delays(recipe: &Recipe, lines: &[Line], skew_ms: i64) -> Vec<String> {
    let at = |id: &str, event: Event| {
        let line = lines
            .iter()
            .find(|line| line.activity_id == id && line.event == event);
        line.map(|line| line.at.0)
    };
    let mut wrong = Vec::new();
    for (id, least) in &recipe.expect.delays {
        if let (Some(began), Some(ended)) = (at(id, Event::Started), at(id, Event::Completed))
            && ended - began < least - skew_ms
        {
            wrong.push(format!("{id} took {} ms and not {least}", ended - began));
        }
    }
    wrong
}

/// The id of the stimulus that a row is the queue's entry of.
fn queued_id(key: &Key) -> Option<&str> {
    let is_queue = key.partition.contains("/QUEUE#");
    key.sort.rsplit('#').next().filter(|_| is_queue)
}
