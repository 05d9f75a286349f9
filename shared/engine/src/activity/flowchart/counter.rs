//! Counting visits: an activity with several connections into it waits for all branches that are alive.
//!
//! A branch that is not taken, or is cancelled, is gone over at once and to its end, as in Elsa: what it skips decides
//! what others wait for.

use std::collections::VecDeque;

use super::plan::{Flowchart, Join, Plan};
use super::{BACKWARD, FlowMemory};
use crate::id::ContextId;
use crate::step::{Cx, Ended, Fault, Outcomes, Then};

/// One round of following connections.
struct Round<'m, 'c, 'r, 'a> {
    plan: &'m Plan,
    memory: &'m mut FlowMemory,
    cx: &'c mut Cx<'r, 'a>,
    is_anything_scheduled: bool,
}

/// A part of a round that is still to be done. A list of them instead of recursion keeps the stack flat: a dead branch
/// may be long.
enum Frame<'o> {
    /// The connections out of an activity, from the `next` one on. Without outcomes it was skipped.
    Out {
        source: usize,
        next: usize,
        outcomes: Option<&'o Outcomes>,
    },
    /// Executions to cancel, each with what it leads to.
    Cancel(VecDeque<ContextId>),
}

/// What has to be done at once because a connection was visited.
enum Reaction {
    Nothing,
    Skip,
    Cancel(VecDeque<ContextId>),
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
        let Some(plan) = self.plan(memory.start as usize) else {
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
        };
        self.go_over(
            &mut round,
            Frame::Out {
                source: place,
                next: 0,
                outcomes: Some(&child.outcomes),
            },
        )?;
        if round.is_anything_scheduled || cx.children_open() > 0 || cx.has_faulted_child() {
            return Ok(Then::Wait);
        }
        Ok(Then::DONE)
    }

    /// Goes over what a cancelled child would have led to.
    pub(super) fn skip(
        &self,
        cx: &mut Cx<'_, '_>,
        memory: &mut FlowMemory,
        place: usize,
    ) -> Result<(), Fault> {
        let Some(plan) = self.plan(memory.start as usize) else {
            return Ok(());
        };
        if !plan.is_reached.get(place).copied().unwrap_or(false) {
            return Ok(());
        }
        visit(memory, place);
        let mut round = Round {
            plan,
            memory,
            cx,
            is_anything_scheduled: false,
        };
        let frame = Frame::Out {
            source: place,
            next: 0,
            outcomes: None,
        };
        self.go_over(&mut round, frame)
    }

    /// Cancels what still runs on the way to an activity.
    pub(super) fn cancel_before(
        &self,
        cx: &mut Cx<'_, '_>,
        memory: &mut FlowMemory,
        place: usize,
    ) -> Result<(), Fault> {
        let Some(plan) = self.plan(memory.start as usize) else {
            return Ok(());
        };
        let executions = self.running_before(cx, plan, place);
        let mut round = Round {
            plan,
            memory,
            cx,
            is_anything_scheduled: false,
        };
        self.go_over(&mut round, Frame::Cancel(executions))
    }

    pub(super) fn running_before(
        &self,
        cx: &Cx<'_, '_>,
        plan: &Plan,
        place: usize,
    ) -> VecDeque<ContextId> {
        let ancestors = self.ancestors(plan, place);
        let is_ancestor = |node| {
            self.place_of(node)
                .is_some_and(|place| ancestors.contains(&place))
        };
        cx.children_begun(is_ancestor)
    }

    /// Depth first, in the order of the connections.
    fn go_over(&self, round: &mut Round<'_, '_, '_, '_>, first: Frame<'_>) -> Result<(), Fault> {
        let mut frames = vec![first];
        while let Some(frame) = frames.last_mut() {
            match frame {
                Frame::Cancel(executions) => match executions.pop_front() {
                    None => {
                        frames.pop();
                    }
                    Some(execution) => {
                        let place = round.cx.cancel_execution(execution);
                        let place = place.and_then(|node| self.place_of(node));
                        if round.memory.has_tokens {
                            round.memory.forget_tokens(place);
                        } else if let Some(source) = place {
                            visit(round.memory, source);
                            frames.push(Frame::Out {
                                source,
                                next: 0,
                                outcomes: None,
                            });
                        }
                    }
                },
                Frame::Out {
                    source,
                    next,
                    outcomes,
                } => {
                    let source = *source;
                    let number = self.outbound.get(source).and_then(|out| out.get(*next));
                    let Some(&number) = number else {
                        frames.pop();
                        continue;
                    };
                    *next += 1;
                    let Some(connection) = self.connections.get(number) else {
                        continue;
                    };
                    let is_followed = outcomes.is_some_and(|o| o.contains(&connection.port));
                    let target = connection.target;
                    match self.pass(round, number, is_followed)? {
                        Reaction::Nothing => {}
                        Reaction::Skip => {
                            visit(round.memory, target);
                            frames.push(Frame::Out {
                                source: target,
                                next: 0,
                                outcomes: None,
                            });
                        }
                        Reaction::Cancel(executions) => frames.push(Frame::Cancel(executions)),
                    }
                }
            }
        }
        Ok(())
    }

    fn pass(
        &self,
        round: &mut Round<'_, '_, '_, '_>,
        number: usize,
        is_followed: bool,
    ) -> Result<Reaction, Fault> {
        let Some(connection) = self.connections.get(number) else {
            return Ok(Reaction::Nothing);
        };
        if let Some((visits, followed)) = round.memory.connections.get_mut(number) {
            *visits += 1;
            *followed = is_followed;
        }
        if !round.plan.is_backward.get(number).copied().unwrap_or(false) {
            return self.arrive(round, number, connection.target);
        }
        if is_followed {
            self.go_back(round, connection.source, connection.target)?;
        }
        Ok(Reaction::Nothing)
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
    fn arrive(
        &self,
        round: &mut Round<'_, '_, '_, '_>,
        number: usize,
        target: usize,
    ) -> Result<Reaction, Fault> {
        let join = self.join(round.cx, target)?;
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
        let is_any_followed = most > visits && newest.any(|(_, followed)| *followed);
        let is_every_followed =
            most > visits && states().all(|(v, followed)| *v == most && *followed);
        let here = round.memory.connections.get(number).map_or(0, |(v, _)| *v);
        let is_due = match join {
            Join::AllActive => is_any_followed,
            Join::All => is_every_followed,
            Join::Any => {
                let is_queued = self
                    .activities
                    .get(target)
                    .is_some_and(|node| round.cx.is_queued(*node));
                if here <= visits || is_queued {
                    return Ok(Reaction::Nothing);
                }
                if is_any_followed {
                    self.schedule(round, target, 0);
                    let executions = self.running_before(round.cx, round.plan, target);
                    return Ok(Reaction::Cancel(executions));
                }
                false
            }
        };
        Ok(match (is_all_visited, is_due) {
            (true, true) => {
                self.schedule(round, target, 0);
                Reaction::Nothing
            }
            (true, false) => Reaction::Skip,
            (false, _) => Reaction::Nothing,
        })
    }
}

fn visit(memory: &mut FlowMemory, place: usize) {
    if let Some(visits) = memory.activities.get_mut(place) {
        *visits += 1;
    }
}
