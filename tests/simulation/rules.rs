//! The part of the model that is about many things at once: gatherings of instances and timers, pauses, branches of
//! which one wins.

use std::collections::BTreeMap;

use dormouse_engine::journal::{Event, Line};

use super::hardness::{LATE_MS_MAX, MESSAGE_MS_MAX};
use super::inspector::Found;
use super::model::Model;
use super::recipe::Recipe;

/// How long a use case that began before a pause may take, ms: nodes see it after five seconds, and calls are slow.
const PAUSE_SEEN_MS: i64 = 70_000;

impl Model<'_> {
    /// What was sent to one instance resumes that one; a workflow with many timers waits for each of them.
    pub(crate) fn gatherings(&self) -> Vec<String> {
        let by_id: BTreeMap<&str, &Found> = self
            .left
            .instances
            .iter()
            .map(|found| (found.id.as_str(), found))
            .collect();
        let mut wrong = Vec::new();
        for (instance, event) in &self.ledger.addressed {
            let taken = by_id.get(instance.as_str()).map(|found| taken(found));
            if taken
                .as_ref()
                .is_some_and(|taken| *taken != [event.as_str()])
            {
                wrong.push(format!("{instance} has taken {taken:?} and not {event}"));
            }
        }
        for (instance, timers) in &self.ledger.piles {
            let done = by_id.get(instance.as_str()).map(|found| {
                let lines = found.lines.iter();
                let is_done =
                    |line: &&Line| line.activity_id == "sleep" && line.event == Event::Completed;
                lines.filter(is_done).count()
            });
            if done.is_some_and(|done| done != *timers as usize) {
                wrong.push(format!("{instance} has had {done:?} of {timers} delays"));
            }
        }
        wrong
    }

    /// No instance begins during a pause that every node has seen.
    pub(crate) fn pauses(&self) -> Vec<String> {
        let faults = self.plan.faults;
        // The end of one pause ends the others.
        let is_vague = faults.late + faults.freeze > 0 || faults.slow_ms > 3_000;
        if is_vague || self.ledger.pauses.len() > 1 {
            return Vec::new();
        }
        let mut wrong = Vec::new();
        for (began, ended) in &self.ledger.pauses {
            let skew = faults.skew_ms;
            let within = began + PAUSE_SEEN_MS + skew..ended - skew;
            let of = self.left.instances.iter();
            let begun = of.filter(|found| within.contains(&found.created_ms));
            wrong.extend(begun.map(|found| format!("{} began during a pause", found.id)));
        }
        wrong
    }

    /// Where nothing fails and calls are quick, a timer is not later than the messages before it take the handlers.
    pub(crate) fn lateness(&self, recipe: &Recipe, lines: &[Line]) -> Vec<String> {
        let is_exempt = self.plan.backlog_s > 0 || !self.ledger.pauses.is_empty();
        if !self.plan.hard.fairness || !self.plan.faults.is_steady() || is_exempt {
            return Vec::new();
        }
        let at = |id: &str, event: Event| {
            let mut lines = lines.iter();
            let line = lines.find(|line| line.activity_id == id && line.event == event);
            line.map(|line| line.at.0)
        };
        let messages = self.plan.errands.iter().map(|errand| errand.crowd());
        let handlers = i64::try_from(self.plan.handlers.max(1)).unwrap_or(1);
        let most = LATE_MS_MAX.max(messages.sum::<i64>() * MESSAGE_MS_MAX / handlers);
        let mut wrong = Vec::new();
        for (id, least) in &recipe.expect.delays {
            if let (Some(began), Some(ended)) = (at(id, Event::Started), at(id, Event::Completed))
                && ended - began > least + most
            {
                let late = ended - began - least;
                wrong.push(format!("{id} was {late} ms late"));
            }
        }
        wrong
    }
}

/// The ids of the events that an instance has taken.
fn taken(found: &Found) -> Vec<&str> {
    let is_event =
        |line: &&Line| line.activity_type == "Elsa.Event" && line.event == Event::Completed;
    let lines = found.lines.iter().filter(is_event);
    let outputs = lines.filter_map(|line| line.data["outputs"].as_object());
    outputs
        .flat_map(|outputs| outputs.values())
        .filter_map(|value| value["id"].as_str())
        .collect()
}

/// Of two branches that race one wins.
pub(crate) fn either(recipe: &Recipe, lines: &[Line]) -> Vec<String> {
    let ends = |id: &str| {
        let of = lines
            .iter()
            .filter(|line| line.activity_id == id && line.event == Event::Completed);
        of.count()
    };
    let mut wrong = Vec::new();
    for (one, other) in &recipe.expect.either {
        let count = ends(one) + ends(other);
        if count != 1 {
            wrong.push(format!(
                "{one} and {other} have ended {count} times, not once"
            ));
        }
    }
    wrong
}
