//! `Elsa.Flowchart`: activities joined by connections.
//!
//! Two ways to decide what runs next: counting visits (the default, [`counter`]) or passing tokens ([`token`]).

mod carry_over;
mod counter;
mod plan;
mod token;

use std::any::Any;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Activity, BuiltIn, Descriptor, Versions};
use crate::graph::NodeIndex;
use crate::instance::Memory;
use crate::journal::Event;
use crate::step::{Cx, Ended, Fault, Then};

pub(crate) use plan::{Flowchart, Join};
pub use token::Token;

/// The instance property that chooses between counting and tokens, and Elsa's values for tokens.
pub(crate) const MODE: &str = "Flowchart:ExecutionMode";

/// The mark of an activity that was reached by a connection that leads back.
const BACKWARD: i64 = 1;

/// What a flowchart remembers.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct FlowMemory {
    /// Where it began: a place in its list of activities.
    #[serde(default)]
    pub start: u32,
    /// How often each activity was visited.
    #[serde(default)]
    pub activities: Vec<u32>,
    /// How often each connection was visited, and whether it was followed the last time.
    #[serde(default)]
    pub connections: Vec<(u32, bool)>,
    /// Tokens under way, in token mode.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tokens: Vec<Token>,
    /// Whether it passes tokens rather than counting.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_tokens: bool,
}

/// What a mode says, by Elsa's name or number of it. `None`: nothing, as the mode `Default` does.
pub(crate) fn passes_tokens(mode: &Value) -> Option<bool> {
    let mode = match mode {
        Value::String(mode) => mode.to_ascii_lowercase(),
        Value::Number(mode) => mode.to_string(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => return None,
    };
    match mode.as_str() {
        "tokenbased" | "1" => Some(true),
        "counterbased" | "2" => Some(false),
        _ => None,
    }
}

pub(crate) fn built_in() -> BuiltIn {
    BuiltIn {
        descriptor: Descriptor::new(
            "Elsa.Flowchart",
            "Flow",
            "Runs activities along connections.",
        )
        .container(),
        build: |builder, fields| Box::new(Flowchart::build(builder, fields)),
    }
}

impl Flowchart {
    /// As the instance says, else its definition, else the host.
    fn is_token_mode(cx: &Cx<'_, '_>) -> bool {
        let said = cx.property(MODE).and_then(passes_tokens);
        said.or(cx.graph().passes_tokens)
            .unwrap_or_else(|| cx.passes_tokens())
    }

    /// Takes the memory out while the flowchart works with it; [`Self::put_back`] returns it.
    fn take(cx: &mut Cx<'_, '_>) -> Box<FlowMemory> {
        match std::mem::take(cx.memory()) {
            Memory::Flow(memory) => memory,
            Memory::None | Memory::Count(_) | Memory::Retry(_) | Memory::Json(_) => Box::default(),
        }
    }

    fn put_back(cx: &mut Cx<'_, '_>, memory: Box<FlowMemory>) {
        *cx.memory() = Memory::Flow(memory);
    }

    /// Which activity it begins with.
    fn start(&self, cx: &Cx<'_, '_>) -> Option<usize> {
        let triggered = cx.trigger_activity_id().and_then(|id| {
            self.activities
                .iter()
                .position(|a| cx.graph().node(*a).id == id)
        });
        triggered.or(self.default_start)
    }

    fn place_of(&self, node: NodeIndex) -> Option<usize> {
        // Children of one flowchart are numbered in order, so their indexes are sorted.
        self.activities.binary_search(&node).ok()
    }

    fn on_end(&self, cx: &mut Cx<'_, '_>, child: &Ended) -> Result<Then, Fault> {
        if !child.is_cancelled && cx.graph().node(child.node).activity.is_terminal() {
            return self.end_early(cx);
        }
        let Some(place) = self.place_of(child.node) else {
            return Ok(Then::Wait);
        };
        let mut memory = Self::take(cx);
        let result = if memory.has_tokens {
            self.pass_tokens(cx, &mut memory, place, child)
        } else {
            self.count(cx, &mut memory, place, child)
        };
        Self::put_back(cx, memory);
        result
    }

    /// Ends because of an activity that ends it, whatever else it is doing. As in Elsa, a branch that is cancelled still
    /// passes its skip on, and what is due by then runs; and the flowchart is ended by the last of its branches before
    /// it is ended by the activity, so that the journal has both.
    fn end_early(&self, cx: &mut Cx<'_, '_>) -> Result<Then, Fault> {
        let mut memory = Self::take(cx);
        memory.tokens.clear();
        let mut is_ended = false;
        for execution in cx.children_begun(|_| true) {
            let Some(node) = cx.cancel_execution(execution) else {
                continue;
            };
            if !is_ended && cx.is_idle() {
                cx.complete_now();
                is_ended = true;
            }
            if let Some(place) = self.place_of(node)
                && !memory.has_tokens
            {
                self.skip(cx, &mut memory, place)?;
            }
        }
        if !is_ended {
            Self::put_back(cx, memory);
            return Ok(Then::DONE);
        }
        cx.log(Event::Completed, Value::Null);
        Ok(Then::Wait)
    }

    /// The join rule of an activity, as its mode says now.
    fn join(&self, cx: &mut Cx<'_, '_>, place: usize) -> Result<Join, Fault> {
        match (self.joins.get(place), self.activities.get(place)) {
            (Some(Some(join)), _) => Ok(*join),
            (Some(None), Some(node)) => super::flow_join::scripted(cx, *node),
            (None, _) | (Some(None), None) => Ok(Join::AllActive),
        }
    }
}

impl Activity for Flowchart {
    fn connections(&self) -> Vec<(NodeIndex, &str, NodeIndex)> {
        let node = |place: usize| self.activities.get(place).copied();
        let each = self.connections.iter();
        each.filter_map(|c| Some((node(c.source)?, c.port.as_str(), node(c.target)?)))
            .collect()
    }

    fn execute(&self, cx: &mut Cx<'_, '_>) -> Result<Then, Fault> {
        let Some(start) = self.start(cx) else {
            return Ok(Then::DONE);
        };
        let Some(node) = self.activities.get(start) else {
            return Ok(Then::DONE);
        };
        let has_tokens = Self::is_token_mode(cx);
        let memory = FlowMemory {
            start: u32::try_from(start).unwrap_or(0),
            activities: if has_tokens {
                Vec::new()
            } else {
                vec![0; self.activities.len()]
            },
            connections: if has_tokens {
                Vec::new()
            } else {
                vec![(0, false); self.connections.len()]
            },
            tokens: Vec::new(),
            has_tokens,
        };
        Self::put_back(cx, Box::new(memory));
        cx.schedule(*node);
        Ok(Then::Wait)
    }

    fn child_ended(&self, cx: &mut Cx<'_, '_>, child: &Ended) -> Result<Then, Fault> {
        self.on_end(cx, child)
    }

    fn child_cancelled(&self, cx: &mut Cx<'_, '_>, child: &Ended) -> Result<Then, Fault> {
        self.on_end(cx, child)
    }

    fn child_joins(&self, cx: &mut Cx<'_, '_>, child: NodeIndex) -> Result<(), Fault> {
        let Some(place) = self.place_of(child) else {
            return Ok(());
        };
        let mut memory = Self::take(cx);
        let result = self.cancel_before(cx, &mut memory, place);
        Self::put_back(cx, memory);
        result
    }

    fn run_child(&self, cx: &mut Cx<'_, '_>, child: NodeIndex) -> bool {
        let Some(place) = self.place_of(child) else {
            return false;
        };
        let memory = Self::take(cx);
        let plan = self.plan(memory.start as usize);
        let is_reached = plan.is_some_and(|p| p.is_reached.get(place) == Some(&true));
        Self::put_back(cx, memory);
        if is_reached {
            cx.schedule(child);
        }
        is_reached
    }

    fn carry_over(
        &self,
        from: &dyn Activity,
        memory: Memory,
        versions: Versions<'_>,
    ) -> Option<Memory> {
        match memory {
            Memory::Flow(memory) => {
                let from = (from as &dyn Any).downcast_ref::<Self>()?;
                let memory = self.carry_flow(from, &memory, versions)?;
                Some(Memory::Flow(Box::new(memory)))
            }
            Memory::None | Memory::Count(_) | Memory::Retry(_) | Memory::Json(_) => Some(memory),
        }
    }

    fn is_container(&self) -> bool {
        true
    }
}
