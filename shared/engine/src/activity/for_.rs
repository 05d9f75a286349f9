//! `Elsa.For`: once for every number from a start to an end.

use serde_json::{Value, json};

use super::{Activity, BuiltIn, Descriptor};
use crate::graph::NodeIndex;
use crate::instance::Memory;
use crate::step::{Cx, Ended, Fault, Then};

#[derive(Debug)]
struct For {
    body: Option<NodeIndex>,
}

pub(crate) fn built_in() -> BuiltIn {
    BuiltIn {
        descriptor: Descriptor::new(
            "Elsa.For",
            "Looping",
            "Runs an activity for every number of a range.",
        )
        .input("start", "Int32", "The first number.")
        .default_value(0)
        .input("end", "Int32", "The last number.")
        .default_value(0)
        .input(
            "step",
            "Int32",
            "Increment of each iteration; negative to count down.",
        )
        .default_value(1)
        .input(
            "outerBoundInclusive",
            "Boolean",
            "Include the last number in the loop.",
        )
        .default_value(true)
        .port("body")
        .output("currentValue", "Object", "Current number."),
        build: |builder, fields| {
            Box::new(For {
                body: builder.child(fields, "body"),
            })
        },
    }
}

/// The rounds still to go. Worked out once, so that what the body does cannot move the end.
#[derive(Debug, Clone, Copy)]
struct Rounds {
    next: i64,
    end: i64,
    step: i64,
    is_inclusive: bool,
}

impl Rounds {
    fn evaluate(cx: &mut Cx<'_, '_>) -> Result<Self, Fault> {
        let step = cx.integer("step")?.unwrap_or(1);
        if step == 0 {
            return Err(Fault::new(
                "InvalidInput",
                "the step of a For must not be 0",
            ));
        }
        Ok(Self {
            next: cx.integer("start")?.unwrap_or(0),
            end: cx.integer("end")?.unwrap_or(0),
            step,
            is_inclusive: cx.flag("outerBoundInclusive")?,
        })
    }

    fn recall(cx: &mut Cx<'_, '_>) -> Option<Self> {
        let Memory::Json(Value::Array(kept)) = cx.memory() else {
            return None;
        };
        let number = |place: usize| kept.get(place).and_then(Value::as_i64);
        Some(Self {
            next: number(0)?,
            end: number(1)?,
            step: number(2)?,
            is_inclusive: number(3)? == 1,
        })
    }

    fn keep(self, cx: &mut Cx<'_, '_>) {
        let is_inclusive = i64::from(self.is_inclusive);
        *cx.memory() = Memory::Json(json!([self.next, self.end, self.step, is_inclusive]));
    }

    fn is_over(self) -> bool {
        let is_past = if self.step > 0 {
            self.next > self.end
        } else {
            self.next < self.end
        };
        is_past || (self.next == self.end && !self.is_inclusive)
    }
}

impl For {
    fn round(&self, cx: &mut Cx<'_, '_>, mut rounds: Rounds) -> Then {
        let Some(body) = self.body else {
            return Then::DONE;
        };
        if rounds.is_over() {
            return Then::DONE;
        }
        let current = Value::from(rounds.next);
        cx.set_output("currentValue", current.clone());
        cx.schedule_with(body, 0, vec![("CurrentValue".into(), current)]);
        rounds.next = rounds.next.saturating_add(rounds.step);
        rounds.keep(cx);
        Then::Wait
    }
}

impl Activity for For {
    fn execute(&self, cx: &mut Cx<'_, '_>) -> Result<Then, Fault> {
        let rounds = Rounds::evaluate(cx)?;
        if self.body.is_some() && rounds.is_over() {
            // The number of no round, which nobody is given.
            cx.record_output("currentValue", Value::from(0));
        }
        Ok(self.round(cx, rounds))
    }

    fn child_ended(&self, cx: &mut Cx<'_, '_>, _child: &Ended) -> Result<Then, Fault> {
        match Rounds::recall(cx) {
            Some(rounds) if !cx.is_broken() => Ok(self.round(cx, rounds)),
            Some(_) | None => Ok(Then::DONE),
        }
    }

    fn is_loop(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::activity::scenario::{Scenario, bound, event, line, literal, sequence, write};
    use crate::instance::SubStatus;

    fn for_(start: i64, end: i64, step: i64, inclusive: bool, body: Value) -> Scenario {
        let for_ = json!({
            "id": "for", "type": "Elsa.For", "start": literal(start), "end": literal(end), "step": literal(step),
            "outerBoundInclusive": literal(inclusive), "body": body, "currentValue": bound("Current"),
        });
        Scenario::sequence(json!({ "Current": null }), json!([for_, line("after")])).start()
    }

    fn lines(start: i64, end: i64, step: i64, inclusive: bool) -> String {
        for_(start, end, step, inclusive, write("Current"))
            .lines
            .join(" ")
    }

    #[test]
    fn it_counts_up_and_down_with_and_without_the_end() {
        assert_eq!(lines(0, 2, 1, true), "0 1 2 after");
        assert_eq!(lines(0, 2, 1, false), "0 1 after");
        assert_eq!(lines(4, 0, -2, true), "4 2 0 after");
        assert_eq!(lines(4, 0, -2, false), "4 2 after");
        assert_eq!(lines(0, 5, 2, true), "0 2 4 after");
        assert_eq!(lines(3, 0, 1, true), "after");
    }

    #[test]
    fn it_goes_on_after_a_wait() {
        let mut scenario = for_(
            1,
            2,
            1,
            true,
            sequence(json!([event("e"), write("Current")])),
        );
        scenario.resume("e", json!({}));
        scenario.resume("e", json!({}));
        assert_eq!(scenario.lines, ["1", "2", "after"]);
    }

    #[test]
    fn a_step_of_nothing_is_an_incident() {
        let scenario = for_(0, 2, 0, true, line("x"));
        assert_eq!(scenario.sub_status(), SubStatus::Faulted);
        assert_eq!(scenario.incidents(), ["the step of a For must not be 0"]);
    }

    #[test]
    fn without_a_body_it_ends() {
        assert_eq!(for_(0, 2, 1, true, json!(null)).lines, ["after"]);
    }
}
