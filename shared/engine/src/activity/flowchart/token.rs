//! Passing tokens: each connection that is followed carries one, and the target's merge mode says what it waits for.

use serde::{Deserialize, Serialize};

use super::FlowMemory;
use super::plan::{Connection, Flowchart, Merge, Plan};
use crate::step::{Cx, Ended, Fault, Then};

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

impl Token {
    fn between(connection: &Connection) -> Self {
        let place = |place: usize| u32::try_from(place).unwrap_or(u32::MAX);
        Self {
            from: place(connection.source),
            to: place(connection.target),
            outcome: connection.port.clone(),
            is_consumed: false,
            is_blocked: false,
        }
    }

    fn is_on(&self, connection: &Connection) -> bool {
        self.from as usize == connection.source
            && self.to as usize == connection.target
            && self.outcome == connection.port
    }

    fn is_due(&self) -> bool {
        !self.is_consumed && !self.is_blocked
    }
}

impl Flowchart {
    /// A child has ended: pass its tokens on. A token that waits at its target keeps the flowchart open, as in Elsa.
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
        if child.is_cancelled {
            memory.forget_tokens(Some(place));
            if cx.is_idle() {
                memory.tokens.clear();
                return Ok(Then::DONE);
            }
            return Ok(Then::Wait);
        }
        let outbound = self.outbound.get(place).into_iter().flatten();
        let outbound = outbound.filter_map(|n| self.connections.get(*n));
        let followed: Vec<&Connection> = outbound
            .filter(|c| child.outcomes.contains(&c.port))
            .collect();
        for connection in &followed {
            memory.tokens.push(Token::between(connection));
        }
        let here = |t: &Token| t.to as usize == place;
        for token in memory.tokens.iter_mut().filter(|t| here(t) && t.is_due()) {
            token.is_consumed = true;
        }
        for connection in followed {
            self.arrive_token(cx, memory, plan, connection);
        }
        let is_over = cx.is_idle() && !memory.tokens.iter().any(Token::is_due);
        if is_over {
            memory.tokens.clear();
            return Ok(Then::DONE);
        }
        memory.tokens.retain(|t| !(here(t) && t.is_consumed));
        Ok(Then::Wait)
    }

    fn arrive_token(
        &self,
        cx: &mut Cx<'_, '_>,
        memory: &mut FlowMemory,
        plan: &Plan,
        connection: &Connection,
    ) {
        let target = connection.target;
        let Some(node) = self.activities.get(target).copied() else {
            return;
        };
        let inbound = plan.inbound.get(target).into_iter().flatten();
        let inbound: Vec<&Connection> = inbound.filter_map(|n| self.connections.get(*n)).collect();
        let is_due = match self.merges.get(target).copied().unwrap_or(Merge::Stream) {
            // Somebody upstream is still due: it will bring the target along.
            Merge::Stream => !inbound.iter().any(|c| {
                let mut tokens = memory.tokens.iter();
                tokens.any(|t| t.to as usize == c.source && t.is_due())
            }),
            Merge::Merge => holds_all(memory, &inbound),
            Merge::Converge => {
                let all = self.connections.iter().filter(|c| c.target == target);
                holds_all(memory, &all.collect::<Vec<_>>())
            }
            Merge::Cascade => cascade(memory, &inbound, connection),
            Merge::Race => {
                self.cancel_losers(cx, memory, plan, target);
                cascade(memory, &inbound, connection)
            }
        };
        if is_due {
            cx.schedule(node);
        }
    }

    /// Cancels what still runs on the way to an activity. As in Elsa, the flowchart ends with the last of it if nothing is
    /// due by then, and what is scheduled afterwards runs all the same.
    fn cancel_losers(
        &self,
        cx: &mut Cx<'_, '_>,
        memory: &mut FlowMemory,
        plan: &Plan,
        target: usize,
    ) {
        for execution in self.running_before(cx, plan, target) {
            let node = cx.cancel_execution(execution);
            memory.forget_tokens(node.and_then(|node| self.place_of(node)));
            if cx.is_idle() {
                cx.complete_now();
            }
        }
    }
}

/// Whether every connection holds a token for its own outcome. One alone need not.
fn holds_all(memory: &FlowMemory, inbound: &[&Connection]) -> bool {
    let holds = |c: &&Connection| memory.tokens.iter().any(|t| t.is_on(c) && t.is_due());
    inbound.len() <= 1 || inbound.iter().all(holds)
}

/// Whether the target is scheduled for a token that comes: unless it was blocked. The other connections are blocked then.
fn cascade(memory: &mut FlowMemory, inbound: &[&Connection], connection: &Connection) -> bool {
    let mut tokens = memory.tokens.iter_mut();
    if let Some(blocked) = tokens.find(|t| t.is_on(connection) && t.is_blocked) {
        blocked.is_consumed = true;
        return false;
    }
    for other in inbound.iter().filter(|c| c.source != connection.source) {
        let mut token = Token::between(other);
        token.is_blocked = true;
        memory.tokens.push(token);
    }
    true
}
