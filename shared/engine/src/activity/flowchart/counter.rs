//! Counting visits: an activity with several connections into it waits for all branches that are alive.

use super::plan::{Flowchart, Join, Plan};
use super::{BACKWARD, FlowMemory};
use crate::step::{Cx, Ended, Fault, Outcomes, Then};

/// One round of following connections.
struct Round<'m, 'c, 'r, 'a> {
    plan: &'m Plan,
    memory: &'m mut FlowMemory,
    cx: &'c mut Cx<'r, 'a>,
    is_anything_scheduled: bool,
    /// Activities skipped in this round, whose connections are still to be gone over.
    skipped: Vec<usize>,
}

impl Flowchart {
    /// A child has ended: follow the connections out of it.
    pub(super) fn count(
        &self,
        cx: &mut Cx<'_, '_>,
        memory: &mut FlowMemory,
        place: usize,
        child: &Ended,
    ) -> Result<Then, Fault> {
        let start = memory.start as usize;
        let Some(plan) = self.plan(start) else {
            return Ok(Then::DONE);
        };
        if !plan.is_reached.get(place).copied().unwrap_or(false) {
            let id = &cx.graph().node(child.node).id;
            return Err(Fault::new(
                "InvalidFlow",
                format!(
                    "The activity '{id}' is not reachable from the flowchart graph. Make sure it is connected to the start activity."
                ),
            ));
        }
        if child.tag != BACKWARD {
            visit(memory, place);
        }
        let mut round = Round {
            plan,
            memory,
            cx,
            is_anything_scheduled: false,
            skipped: Vec::new(),
        };
        self.follow(&mut round, place, &child.outcomes)?;
        // A dead branch may be long; a list instead of recursion keeps the stack flat.
        while let Some(skipped) = round.skipped.pop() {
            visit(round.memory, skipped);
            self.follow(&mut round, skipped, &Outcomes::none())?;
        }
        if round.is_anything_scheduled || cx.children_open() > 0 || cx.has_faulted_child() {
            return Ok(Then::Wait);
        }
        Ok(Then::DONE)
    }

    fn follow(
        &self,
        round: &mut Round<'_, '_, '_, '_>,
        source: usize,
        outcomes: &Outcomes,
    ) -> Result<(), Fault> {
        for &number in self.outbound.get(source).into_iter().flatten() {
            let Some(connection) = self.connections.get(number) else {
                continue;
            };
            let is_followed = outcomes.contains(&connection.port);
            if let Some((visits, followed)) = round.memory.connections.get_mut(number) {
                *visits += 1;
                *followed = is_followed;
            }
            let target = connection.target;
            if round.plan.is_backward.get(number).copied().unwrap_or(false) {
                if is_followed {
                    self.go_back(round, source, target)?;
                }
            } else {
                self.arrive(round, number, target);
            }
        }
        Ok(())
    }

    fn go_back(
        &self,
        round: &mut Round<'_, '_, '_, '_>,
        source: usize,
        target: usize,
    ) -> Result<(), Fault> {
        let start = round.memory.start as usize;
        if !self.is_valid_backward(round.plan, start, source, target) {
            let id = |place: usize| {
                self.activities
                    .get(place)
                    .map_or("", |a| round.cx.graph().node(*a).id.as_str())
            };
            return Err(Fault::new(
                "InvalidFlow",
                format!(
                    "Invalid backward connection: Every path from the source ('{}') must go through the target ('{}') when tracing back to the start.",
                    id(source),
                    id(target)
                ),
            ));
        }
        self.schedule(round, target, BACKWARD);
        Ok(())
    }

    fn schedule(&self, round: &mut Round<'_, '_, '_, '_>, place: usize, tag: i64) {
        if let Some(node) = self.activities.get(place) {
            round.cx.schedule_with(*node, tag, Vec::new());
            round.is_anything_scheduled = true;
        }
    }

    /// Applies the join rule of the activity that a connection leads to.
    fn arrive(&self, round: &mut Round<'_, '_, '_, '_>, number: usize, target: usize) {
        let visits = round.memory.activities.get(target).copied().unwrap_or(0);
        let inbound = round
            .plan
            .inbound
            .get(target)
            .map_or(&[][..], Vec::as_slice);
        let states = || {
            inbound
                .iter()
                .filter_map(|n| round.memory.connections.get(*n))
        };
        let most = states().map(|(v, _)| *v).max().unwrap_or(0);
        let is_all_visited = states().all(|(v, _)| *v > visits);
        let mut newest = states().filter(|(v, _)| *v == most);
        let is_any_followed = newest.any(|(_, followed)| *followed);
        let is_every_followed = states().all(|(v, followed)| *v == most && *followed);
        let here = round.memory.connections.get(number).map_or(0, |(v, _)| *v);
        match self.joins.get(target).copied().unwrap_or(Join::AllActive) {
            Join::AllActive if is_all_visited && is_any_followed => self.schedule(round, target, 0),
            Join::All if is_all_visited && is_every_followed => self.schedule(round, target, 0),
            Join::AllActive | Join::All if is_all_visited => round.skipped.push(target),
            Join::AllActive | Join::All => {}
            Join::Any => {
                let is_queued = self
                    .activities
                    .get(target)
                    .is_some_and(|node| round.cx.is_queued(*node));
                if here > visits && !is_queued && is_any_followed {
                    self.schedule(round, target, 0);
                    self.cancel_ancestors(round, target);
                } else if is_all_visited && !is_any_followed {
                    round.skipped.push(target);
                }
            }
        }
    }

    /// The first has come: what still runs on the way here is cancelled.
    fn cancel_ancestors(&self, round: &mut Round<'_, '_, '_, '_>, place: usize) {
        for ancestor in self.ancestors(round.plan, place) {
            if let Some(node) = self.activities.get(ancestor) {
                round.cx.cancel_child(*node);
            }
        }
    }
}

fn visit(memory: &mut FlowMemory, place: usize) {
    if let Some(visits) = memory.activities.get_mut(place) {
        *visits += 1;
    }
}
