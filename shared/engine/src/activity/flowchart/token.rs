//! Passing tokens: each connection that is followed carries one, and the target's merge mode says what it waits for.

use serde::{Deserialize, Serialize};

use super::FlowMemory;
use super::plan::{Flowchart, Merge, Plan};
use crate::step::{Cx, Ended, Fault, Outcomes, Then};

/// A token on its way from one activity to another, by their places.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Token {
    /// From where.
    pub from: u32,
    /// To where.
    pub to: u32,
    /// Through which port.
    pub outcome: String,
    /// It has been taken.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_consumed: bool,
    /// It will not count when it comes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_blocked: bool,
}

impl FlowMemory {
    /// Forgets the tokens from and to an activity that was cancelled.
    pub(super) fn forget_tokens(&mut self, place: Option<usize>) {
        let place = place.and_then(|p| u32::try_from(p).ok());
        self.tokens
            .retain(|t| place != Some(t.from) && place != Some(t.to));
    }
}

impl Flowchart {
    /// A child has ended: pass its tokens on.
    pub(super) fn pass_tokens(
        &self,
        cx: &mut Cx<'_, '_>,
        memory: &mut FlowMemory,
        place: usize,
        child: &Ended,
    ) -> Result<Then, Fault> {
        let Some(plan) = self.plan(memory.start as usize) else {
            return Ok(Then::DONE);
        };
        let here = u32::try_from(place).unwrap_or(u32::MAX);
        if child.is_cancelled {
            memory.tokens.retain(|t| t.from != here && t.to != here);
        } else {
            let followed: Vec<usize> = self
                .outbound
                .get(place)
                .into_iter()
                .flatten()
                .copied()
                .filter(|n| {
                    self.connections
                        .get(*n)
                        .is_some_and(|c| child.outcomes.contains(&c.port))
                })
                .collect();
            for &number in &followed {
                if let Some(connection) = self.connections.get(number) {
                    memory.tokens.push(Token {
                        from: here,
                        to: u32::try_from(connection.target).unwrap_or(u32::MAX),
                        outcome: connection.port.clone(),
                        is_consumed: false,
                        is_blocked: false,
                    });
                }
            }
            for token in memory
                .tokens
                .iter_mut()
                .filter(|t| t.to == here && !t.is_blocked)
            {
                token.is_consumed = true;
            }
            for &number in &followed {
                self.arrive_token(cx, memory, plan, number);
            }
            self.release(cx, memory, plan, place, &child.outcomes);
            memory.tokens.retain(|t| !t.is_consumed);
        }
        if cx.children_open() > 0 || cx.has_faulted_child() {
            return Ok(Then::Wait);
        }
        memory.tokens.clear();
        Ok(Then::DONE)
    }

    /// Schedules what a token waits at because this child was still due, and which the child did not lead to.
    ///
    /// Elsa forgets such tokens, so that whether the target runs depends on which branch is done first.
    fn release(
        &self,
        cx: &mut Cx<'_, '_>,
        memory: &FlowMemory,
        plan: &Plan,
        place: usize,
        outcomes: &Outcomes,
    ) {
        for &number in self.outbound.get(place).into_iter().flatten() {
            let dead = self.connections.get(number);
            let Some(dead) = dead.filter(|c| !outcomes.contains(&c.port)) else {
                continue;
            };
            let Some(node) = self.activities.get(dead.target).copied() else {
                continue;
            };
            let is_stream = self.merges.get(dead.target) == Some(&Merge::Stream);
            let waits = memory
                .tokens
                .iter()
                .any(|t| t.to as usize == dead.target && !t.is_consumed && !t.is_blocked);
            if is_stream
                && waits
                && !cx.is_open(node)
                && !self.is_upstream_due(memory, plan, dead.target)
            {
                cx.schedule(node);
            }
        }
    }

    /// Whether an activity that leads to this one is still to come.
    fn is_upstream_due(&self, memory: &FlowMemory, plan: &Plan, place: usize) -> bool {
        let is_due = |source: usize| {
            let mut tokens = memory.tokens.iter();
            tokens.any(|t| t.to as usize == source && !t.is_consumed && !t.is_blocked)
        };
        let inbound = plan.inbound.get(place).into_iter().flatten();
        let mut sources = inbound.filter_map(|n| self.connections.get(*n));
        sources.any(|c| is_due(c.source))
    }

    fn arrive_token(
        &self,
        cx: &mut Cx<'_, '_>,
        memory: &mut FlowMemory,
        plan: &Plan,
        number: usize,
    ) {
        let Some(connection) = self.connections.get(number) else {
            return;
        };
        let target = connection.target;
        let Some(node) = self.activities.get(target).copied() else {
            return;
        };
        let inbound = plan.inbound.get(target).cloned().unwrap_or_default();
        match self.merges.get(target).copied().unwrap_or(Merge::Stream) {
            Merge::Stream => {
                // Somebody upstream is still due: it will bring the target along.
                let is_upstream_due = self.is_upstream_due(memory, plan, target);
                if !is_upstream_due && !cx.is_queued(node) {
                    cx.schedule(node);
                }
            }
            Merge::Merge => self.when_complete(cx, memory, &inbound, target),
            Merge::Converge => {
                let all: Vec<usize> = (0..self.connections.len())
                    .filter(|n| self.connections.get(*n).is_some_and(|c| c.target == target))
                    .collect();
                self.when_complete(cx, memory, &all, target);
            }
            Merge::Cascade => self.cascade(cx, memory, &inbound, number),
            Merge::Race => {
                if self.is_blocked(memory, number) {
                    self.cascade(cx, memory, &inbound, number);
                    return;
                }
                for ancestor in self.ancestors(plan, target) {
                    if let Some(ancestor) = self.activities.get(ancestor) {
                        cx.cancel_child(*ancestor);
                    }
                }
                self.cascade(cx, memory, &inbound, number);
            }
        }
    }

    /// Schedules the target once every connection holds a token for its own outcome.
    fn when_complete(
        &self,
        cx: &mut Cx<'_, '_>,
        memory: &FlowMemory,
        inbound: &[usize],
        target: usize,
    ) {
        let holds = |number: &usize| {
            self.connections.get(*number).is_some_and(|c| {
                memory.tokens.iter().any(|t| {
                    t.from as usize == c.source
                        && t.to as usize == target
                        && t.outcome == c.port
                        && !t.is_consumed
                        && !t.is_blocked
                })
            })
        };
        if let Some(node) = self.activities.get(target)
            && (inbound.len() <= 1 || inbound.iter().all(holds))
            && !cx.is_queued(*node)
        {
            cx.schedule(*node);
        }
    }

    fn is_blocked(&self, memory: &FlowMemory, number: usize) -> bool {
        self.connections.get(number).is_some_and(|c| {
            memory
                .tokens
                .iter()
                .any(|t| blocks(t, c.source, c.target, &c.port))
        })
    }

    /// Schedules for every token that comes, unless it was blocked; the other connections are blocked then.
    fn cascade(
        &self,
        cx: &mut Cx<'_, '_>,
        memory: &mut FlowMemory,
        inbound: &[usize],
        number: usize,
    ) {
        let Some(connection) = self.connections.get(number) else {
            return;
        };
        if let Some(blocked) = memory
            .tokens
            .iter_mut()
            .find(|t| blocks(t, connection.source, connection.target, &connection.port))
        {
            blocked.is_consumed = true;
            let to = connection.target;
            for token in memory.tokens.iter_mut().filter(|t| {
                t.to as usize == to && t.from as usize == connection.source && !t.is_blocked
            }) {
                token.is_consumed = true;
            }
            return;
        }
        if let Some(node) = self.activities.get(connection.target) {
            cx.schedule(*node);
        }
        for other in inbound
            .iter()
            .filter(|n| **n != number)
            .filter_map(|n| self.connections.get(*n))
        {
            memory.tokens.push(Token {
                from: u32::try_from(other.source).unwrap_or(u32::MAX),
                to: u32::try_from(other.target).unwrap_or(u32::MAX),
                outcome: other.port.clone(),
                is_consumed: false,
                is_blocked: true,
            });
        }
    }
}

fn blocks(token: &Token, source: usize, target: usize, port: &str) -> bool {
    token.is_blocked
        && !token.is_consumed
        && token.from as usize == source
        && token.to as usize == target
        && token.outcome == port
}
