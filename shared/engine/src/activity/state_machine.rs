//! `Elsa.StateMachine`: states, and transitions whose triggers wait side by side.
//!
//! Entering a state runs its `entry`, then the triggers of all transitions out of it. The first trigger that ends
//! with its condition true wins: the others are cancelled, the transition's `action` and the state's `exit` run, and
//! the target is entered. A state without a way out ends the machine.

use std::any::Any;

use serde_json::Value;

use super::case::condition;
use super::{Activity, BuiltIn, Descriptor, Versions};
use crate::definition::fields::Fields;
use crate::graph::{Builder, Expression, NodeIndex};
use crate::instance::Memory;
use crate::step::{Cx, Ended, Fault, Then};

#[derive(Debug)]
struct State {
    name: String,
    entry: Option<NodeIndex>,
    exit: Option<NodeIndex>,
}

#[derive(Debug)]
struct Transition {
    from: String,
    to: Option<usize>,
    trigger: Option<NodeIndex>,
    condition: Option<Expression>,
    action: Option<NodeIndex>,
}

#[derive(Debug)]
struct StateMachine {
    states: Vec<State>,
    transitions: Vec<Transition>,
}

/// What has ended, as the tag of a child tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// The entry of a state.
    Entry(usize),
    /// The trigger of a transition.
    Trigger(usize),
    /// Its action.
    Action(usize),
    /// The exit of the state it leaves.
    Exit(usize),
}

impl Part {
    fn tag(self) -> i64 {
        let (role, place) = match self {
            Self::Entry(place) => (0, place),
            Self::Trigger(place) => (1, place),
            Self::Action(place) => (2, place),
            Self::Exit(place) => (3, place),
        };
        i64::try_from(place).unwrap_or(0) * 4 + role
    }

    fn of(tag: i64) -> Self {
        let place = usize::try_from(tag / 4).unwrap_or(0);
        match tag % 4 {
            0 => Self::Entry(place),
            1 => Self::Trigger(place),
            2 => Self::Action(place),
            _ => Self::Exit(place),
        }
    }
}

pub(crate) fn built_in() -> BuiltIn {
    BuiltIn {
        descriptor: Descriptor::new(
            "Elsa.StateMachine",
            "Flow",
            "Moves between states when triggers fire.",
        )
        .plain(
            "states",
            "State[]",
            "States, each with an entry and an exit activity.",
        )
        .plain(
            "transitions",
            "Transition[]",
            "Transitions between states, each with a trigger.",
        )
        .input(
            "initialState",
            "String",
            "Initial state. By default, the first one.",
        )
        .output("currentState", "String", "Current state."),
        build: |builder, fields| {
            let states = states(builder, fields);
            let transitions = transitions(builder, fields, &states);
            Box::new(StateMachine {
                states,
                transitions,
            })
        },
    }
}

fn states(builder: &mut Builder<'_>, fields: Fields<'_>) -> Vec<State> {
    let mut states = Vec::new();
    for (place, json) in fields.list("states").into_iter().enumerate() {
        let state = Fields::of(json);
        let depth = builder.enter(&format!("states[{place}]"));
        states.push(State {
            name: state.text("name").unwrap_or_default(),
            entry: builder.child(state, "entry"),
            exit: builder.child(state, "exit"),
        });
        builder.leave(depth);
    }
    states
}

fn transitions(builder: &mut Builder<'_>, fields: Fields<'_>, states: &[State]) -> Vec<Transition> {
    let mut transitions = Vec::new();
    for (place, json) in fields.list("transitions").into_iter().enumerate() {
        let transition = Fields::of(json);
        let depth = builder.enter(&format!("transitions[{place}]"));
        let target = transition.text("to").unwrap_or_default();
        let to = states.iter().position(|s| s.name == target);
        if to.is_none() {
            builder.warn(
                "unknownState",
                format!("the transition leads to the state `{target}`, which there is not; it is never taken"),
            );
        }
        transitions.push(Transition {
            from: transition.text("from").unwrap_or_default(),
            to,
            trigger: builder.child(transition, "trigger"),
            condition: condition(builder, transition),
            action: builder.child(transition, "action"),
        });
        builder.leave(depth);
    }
    transitions
}

impl StateMachine {
    fn enter(&self, cx: &mut Cx<'_, '_>, place: usize) -> Then {
        let Some(state) = self.states.get(place) else {
            return Then::DONE;
        };
        cx.set_count(i64::try_from(place).unwrap_or(0));
        cx.set_output("currentState", Value::from(state.name.as_str()));
        match state.entry {
            Some(entry) => {
                cx.schedule_with(entry, Part::Entry(place).tag(), Vec::new());
                Then::Wait
            }
            None => self.arm(cx, place),
        }
    }

    /// Waits for the triggers of all ways out.
    fn arm(&self, cx: &mut Cx<'_, '_>, state: usize) -> Then {
        let Some(from) = self.states.get(state) else {
            return Then::DONE;
        };
        let mut is_armed = false;
        for (place, transition) in self.transitions.iter().enumerate() {
            if transition.from != from.name || transition.to.is_none() {
                continue;
            }
            if let Some(trigger) = transition.trigger {
                cx.schedule_with(trigger, Part::Trigger(place).tag(), Vec::new());
                is_armed = true;
            }
        }
        if is_armed { Then::Wait } else { Then::DONE }
    }

    fn triggered(&self, cx: &mut Cx<'_, '_>, place: usize) -> Result<Then, Fault> {
        let Some(transition) = self.transitions.get(place) else {
            return Ok(Then::Wait);
        };
        if transition.condition.is_some() && !cx.condition(transition.condition.as_ref())? {
            if let Some(trigger) = transition.trigger {
                cx.schedule_with(trigger, Part::Trigger(place).tag(), Vec::new());
            }
            return Ok(Then::Wait);
        }
        // Only triggers are open now, and this one has ended.
        cx.cancel_children();
        match transition.action {
            Some(action) => {
                cx.schedule_with(action, Part::Action(place).tag(), Vec::new());
                Ok(Then::Wait)
            }
            None => Ok(self.leave(cx, place)),
        }
    }

    /// Leaves the state a transition comes from.
    fn leave(&self, cx: &mut Cx<'_, '_>, place: usize) -> Then {
        let state = usize::try_from(cx.count())
            .ok()
            .and_then(|s| self.states.get(s));
        match state.and_then(|s| s.exit) {
            Some(exit) => {
                cx.schedule_with(exit, Part::Exit(place).tag(), Vec::new());
                Then::Wait
            }
            None => self.arrive(cx, place),
        }
    }

    fn arrive(&self, cx: &mut Cx<'_, '_>, place: usize) -> Then {
        match self.transitions.get(place).and_then(|t| t.to) {
            Some(target) => self.enter(cx, target),
            None => Then::DONE,
        }
    }
}

impl Activity for StateMachine {
    /// Its memory and its children's marks are numbers of states and transitions, so they must be the same ones.
    fn carry_over(
        &self,
        from: &dyn Activity,
        memory: Memory,
        _versions: Versions<'_>,
    ) -> Option<Memory> {
        let from = (from as &dyn Any).downcast_ref::<Self>()?;
        let has_same_states = from
            .states
            .iter()
            .map(|s| &s.name)
            .eq(self.states.iter().map(|s| &s.name));
        let ways = |machine: &Self| -> Vec<_> {
            let ways = machine.transitions.iter();
            ways.map(|t| (t.from.clone(), t.to)).collect()
        };
        (has_same_states && ways(from) == ways(self)).then_some(memory)
    }

    fn execute(&self, cx: &mut Cx<'_, '_>) -> Result<Then, Fault> {
        let place = match cx.text("initialState")?.filter(|name| !name.is_empty()) {
            None => 0,
            Some(name) => self
                .states
                .iter()
                .position(|s| s.name == name)
                .ok_or_else(|| {
                    Fault::new(
                        "InvalidInput",
                        format!("the state machine has no state `{name}` to begin in"),
                    )
                })?,
        };
        Ok(self.enter(cx, place))
    }

    fn child_ended(&self, cx: &mut Cx<'_, '_>, child: &Ended) -> Result<Then, Fault> {
        match Part::of(child.tag) {
            Part::Entry(state) => Ok(self.arm(cx, state)),
            Part::Trigger(transition) => self.triggered(cx, transition),
            Part::Action(transition) => Ok(self.leave(cx, transition)),
            Part::Exit(transition) => Ok(self.arrive(cx, transition)),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::Part;
    use crate::activity::scenario::{Scenario, bound, event, line, literal};
    use crate::instance::SubStatus;

    fn machine(transitions: Value) -> Scenario {
        let machine = json!({
            "id": "m", "type": "Elsa.StateMachine", "currentState": bound("State"),
            "states": [
                { "name": "Open", "entry": line("open"), "exit": line("leave open") },
                { "name": "Closed", "entry": line("closed") },
                { "name": "Gone" },
            ],
            "transitions": transitions,
        });
        Scenario::sequence(
            json!({ "State": null, "No": false }),
            json!([machine, event("end"), line("after")]),
        )
        .start()
    }

    fn ways() -> Value {
        json!([
            { "from": "Open", "to": "Closed", "trigger": event("close"), "action": line("closing") },
            { "from": "Open", "to": "Gone", "trigger": event("leave") },
            { "from": "Closed", "to": "Open", "trigger": event("open") },
        ])
    }

    #[test]
    fn the_first_trigger_decides_and_the_others_are_cancelled() {
        let mut scenario = machine(ways());
        assert_eq!(scenario.instance.bookmarks.len(), 2);
        scenario.resume("close", json!({}));
        assert_eq!(scenario.lines, ["open", "closing", "leave open", "closed"]);
        assert_eq!(scenario.variable("State"), json!("Closed"));
        assert_eq!(scenario.instance.bookmarks.len(), 1);
        scenario.resume("open", json!({}));
        assert_eq!(scenario.variable("State"), json!("Open"));
    }

    #[test]
    fn a_state_without_a_way_out_ends_it() {
        let mut scenario = machine(ways());
        scenario.resume("leave", json!({}));
        assert_eq!(scenario.variable("State"), json!("Gone"));
        scenario.resume("end", json!({}));
        assert_eq!(scenario.lines, ["open", "leave open", "after"]);
        assert_eq!(scenario.sub_status(), SubStatus::Finished);
    }

    #[test]
    fn a_condition_that_does_not_hold_waits_for_the_trigger_again() {
        let condition = json!({ "type": "Literal", "value": false });
        let mut scenario = machine(json!([
            { "from": "Open", "to": "Gone", "trigger": event("leave"), "condition": condition },
        ]));
        scenario.resume("leave", json!({}));
        assert_eq!(scenario.instance.bookmarks.len(), 1);
        assert_eq!(scenario.variable("State"), json!("Open"));
    }

    #[test]
    fn a_target_that_is_not_there_is_a_warning() {
        let machine = json!({
            "type": "Elsa.StateMachine", "states": [{ "name": "A" }], "initialState": literal("A"),
            "transitions": [{ "from": "A", "to": "B", "trigger": event("e") }],
        });
        let scenario = Scenario::of(machine);
        assert_eq!(scenario.graph.problems[0].code, "unknownState");
        assert!(!scenario.graph.problems[0].is_error);
        assert_eq!(scenario.start().sub_status(), SubStatus::Finished);
    }

    #[test]
    fn tags_name_their_part() {
        for part in [
            Part::Entry(3),
            Part::Trigger(0),
            Part::Action(7),
            Part::Exit(1),
        ] {
            assert_eq!(Part::of(part.tag()), part);
        }
    }
}
