//! `Elsa.ForEach`: once for every item of a list, one after the other.

use serde_json::Value;

use super::{Activity, BuiltIn, Descriptor};
use crate::graph::NodeIndex;
use crate::instance::Local;
use crate::step::{Cx, Ended, Fault, Then};

#[derive(Debug)]
struct ForEach {
    body: Option<NodeIndex>,
}

pub(crate) fn built_in() -> BuiltIn {
    BuiltIn {
        descriptor: Descriptor::new(
            "Elsa.ForEach",
            "Looping",
            "Runs an activity for every item, in order.",
        )
        .input(
            "items",
            "Object[]",
            "Items. Read again before every iteration.",
        )
        .default_value(Value::Array(Vec::new()))
        .lazy()
        .port("body")
        .output("currentValue", "Object", "Current item."),
        build: |builder, fields| {
            Box::new(ForEach {
                body: builder.child(fields, "body"),
            })
        },
    }
}

/// What a body sees of its round.
pub(super) fn locals(place: usize, item: Value) -> Vec<Local> {
    vec![
        ("CurrentValue".into(), item),
        ("CurrentIndex".into(), Value::from(place)),
    ]
}

impl ForEach {
    fn round(&self, cx: &mut Cx<'_, '_>) -> Result<Then, Fault> {
        let Some(body) = self.body else {
            return Ok(Then::DONE);
        };
        // The items are asked for in every round, so that what the body adds or removes is seen.
        let mut items = match cx.given("items")? {
            None => return Ok(Then::DONE),
            Some(Value::Array(items)) => items,
            Some(Value::Null) => {
                return Err(Fault::new(
                    "InvalidInput",
                    "the items of a ForEach are null",
                ));
            }
            Some(
                single @ (Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_)),
            ) => vec![single],
        };
        let place = usize::try_from(cx.count()).unwrap_or(0);
        if place >= items.len() {
            return Ok(Then::DONE);
        }
        let item = items.swap_remove(place);
        cx.set_count(cx.count() + 1);
        cx.set_output("currentValue", item.clone());
        cx.schedule_with(body, 0, locals(place, item));
        Ok(Then::Wait)
    }
}

impl Activity for ForEach {
    fn execute(&self, cx: &mut Cx<'_, '_>) -> Result<Then, Fault> {
        self.round(cx)
    }

    fn child_ended(&self, cx: &mut Cx<'_, '_>, _child: &Ended) -> Result<Then, Fault> {
        if cx.is_broken() {
            return Ok(Then::DONE);
        }
        self.round(cx)
    }

    fn is_loop(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::activity::scenario::{
        Scenario, bound, event, fault, line, literal, sequence, set, variable, write,
    };
    use crate::instance::SubStatus;

    fn for_each(items: Value, body: Value) -> Scenario {
        let each = json!({
            "id": "each", "type": "Elsa.ForEach", "items": items, "body": body, "currentValue": bound("Current"),
        });
        let variables = json!({ "Current": null, "Items": ["a", "b", "c"], "Nothing": null });
        Scenario::sequence(variables, json!([each, line("after")])).start()
    }

    /// Runs over a b c, and in the round of b the items become others.
    fn replaced(items: Value) -> Vec<String> {
        let choice = json!({
            "type": "Elsa.Switch",
            "cases": [{ "condition": { "type": "Variable", "value": { "id": "Late" } }, "activity": set("Items", items) }],
        });
        let body = sequence(json!([write("Current"), choice, set("Late", true)]));
        let each = json!({
            "type": "Elsa.ForEach", "items": variable("Items"), "body": body, "currentValue": bound("Current"),
        });
        let variables = json!({ "Current": null, "Late": false, "Items": ["a", "b", "c"] });
        Scenario::sequence(variables, json!([each])).start().lines
    }

    #[test]
    fn each_item_has_its_round_and_null_is_an_item() {
        let scenario = for_each(literal(json!(["a", 2, null, { "x": 1 }])), write("Current"));
        assert_eq!(scenario.lines, ["a", "2", "", "{\"x\":1}", "after"]);
    }

    #[test]
    fn items_that_change_meanwhile_are_seen() {
        assert_eq!(replaced(json!(["a", "b", "c", "e"])), ["a", "b", "c", "e"]);
        assert_eq!(replaced(json!(["a", "b"])), ["a", "b"]);
        assert_eq!(replaced(json!(["a", "b", "d"])), ["a", "b", "d"]);
    }

    #[test]
    fn null_instead_of_items_is_an_incident_and_none_at_all_is_an_empty_list() {
        let scenario = for_each(variable("Nothing"), line("x"));
        assert_eq!(scenario.sub_status(), SubStatus::Faulted);
        assert_eq!(scenario.incidents(), ["the items of a ForEach are null"]);
        assert_eq!(for_each(Value::Null, line("x")).lines, ["after"]);
        assert_eq!(for_each(literal(json!([])), line("x")).lines, ["after"]);
        assert_eq!(for_each(literal(json!([1])), Value::Null).lines, ["after"]);
    }

    #[test]
    fn a_waiting_body_runs_for_every_item() {
        let mut scenario = for_each(
            variable("Items"),
            sequence(json!([event("e"), write("Current")])),
        );
        for _ in 0..3 {
            scenario.resume("e", json!({}));
        }
        assert_eq!(scenario.lines, ["a", "b", "c", "after"]);
    }

    #[test]
    fn a_failed_round_stops_the_loop_where_it_is() {
        let definition = json!({
            "options": { "incidentStrategyType": "ContinueWithIncidents" },
            "root": { "id": "each", "type": "Elsa.ForEach", "items": literal(json!([1, 2])), "body": fault("no") },
        });
        let scenario = Scenario::workflow(definition).start();
        assert_eq!(scenario.sub_status(), SubStatus::Suspended);
        assert_eq!(scenario.instance.incidents.len(), 1);
        let loops = scenario
            .instance
            .contexts
            .values()
            .find(|c| scenario.graph.node(c.node).id == "each");
        assert_eq!(loops.map(|c| c.faults), Some(1));
    }
}
