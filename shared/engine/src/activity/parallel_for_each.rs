//! `Elsa.ParallelForEach`: for every item of a list at once.

use serde_json::Value;

use super::for_each::locals;
use super::parallel::when_all_ended;
use super::{Activity, BuiltIn, Descriptor};
use crate::definition::convert::convert;
use crate::definition::data_type::DataType;
use crate::graph::NodeIndex;
use crate::step::{Cx, Ended, Fault, Then};

#[derive(Debug)]
struct ParallelForEach {
    body: Option<NodeIndex>,
}

pub(crate) fn built_in() -> BuiltIn {
    BuiltIn {
        descriptor: Descriptor::new(
            "Elsa.ParallelForEach",
            "Looping",
            "Runs an activity for every item, concurrently.",
        )
        .input("items", "Object", "The items.")
        .default_value(Value::Array(Vec::new()))
        .port("body"),
        build: |builder, fields| {
            Box::new(ParallelForEach {
                body: builder.child(fields, "body"),
            })
        },
    }
}

/// A value as a list of items: a list as it is, JSON text read, null as no item, anything else as a single one.
pub(super) fn items_of(value: Value) -> Result<Vec<Value>, Fault> {
    match convert(value, &DataType::List(Box::new(DataType::Object))) {
        Ok(Value::Array(items)) => Ok(items),
        Ok(Value::Null) => Ok(Vec::new()),
        Ok(single @ (Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_))) => {
            Ok(vec![single])
        }
        Err(error) => Err(Fault::new("InvalidInput", error.to_string())),
    }
}

impl Activity for ParallelForEach {
    fn execute(&self, cx: &mut Cx<'_, '_>) -> Result<Then, Fault> {
        let items = match cx.input("items")? {
            // As in Elsa, a text is no list, whatever it says.
            Value::String(_) => Vec::new(),
            items @ (Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::Array(_)
            | Value::Object(_)) => items_of(items)?,
        };
        for (place, item) in items.into_iter().enumerate() {
            let Some(body) = self.body else {
                return Err(Fault::new(
                    "InvalidInput",
                    "there is no body to run for the items",
                ));
            };
            cx.schedule_with(body, 0, locals(place, item));
        }
        Ok(when_all_ended(cx))
    }

    fn child_ended(&self, cx: &mut Cx<'_, '_>, _child: &Ended) -> Result<Then, Fault> {
        Ok(when_all_ended(cx))
    }

    fn child_cancelled(&self, cx: &mut Cx<'_, '_>, _child: &Ended) -> Result<Then, Fault> {
        Ok(when_all_ended(cx))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::activity::scenario::{Scenario, event, line, literal, script, sequence};
    use crate::instance::SubStatus;

    fn each(items: Value, body: Value) -> Scenario {
        let each =
            json!({ "id": "each", "type": "Elsa.ParallelForEach", "items": items, "body": body });
        Scenario::sequence(json!({}), json!([each, line("after")])).start()
    }

    #[test]
    fn every_item_has_a_body_of_its_own_which_knows_it_after_a_wait() {
        let mut scenario = each(script("['a', 'b']"), event("e"));
        let seen: Vec<_> = scenario
            .instance
            .contexts
            .values()
            .flat_map(|c| c.locals.clone())
            .collect();
        let local = |name: &str, value: Value| (name.to_owned(), value);
        let expected = [
            local("CurrentValue", json!("a")),
            local("CurrentIndex", json!(0)),
            local("CurrentValue", json!("b")),
            local("CurrentIndex", json!(1)),
        ];
        assert_eq!(seen, expected);
        let second = scenario.bookmarks_at("e")[1].id.clone();
        scenario.resume_bookmark(second, json!({}));
        assert!(scenario.lines.is_empty());
        scenario.resume("e", json!({}));
        assert_eq!(scenario.lines, ["after"]);
    }

    #[test]
    fn nothing_to_do_is_done() {
        assert_eq!(each(script("[]"), line("x")).lines, ["after"]);
        assert_eq!(each(Value::Null, line("x")).lines, ["after"]);
        // As in Elsa, a text is no list, and a list in a definition is a text where anything may stand.
        assert_eq!(each(literal(json!(["a"])), line("x")).lines, ["after"]);
        let without_body = each(script("[1, 2]"), Value::Null);
        assert_eq!(without_body.sub_status(), SubStatus::Faulted);
    }

    fn write(source: &str) -> Value {
        json!({ "type": "Elsa.WriteLine", "text": script(source) })
    }

    #[test]
    fn scripts_see_the_item_and_its_place() {
        let body = write("getVariable('CurrentIndex') + getVariable('CurrentValue')");
        let scenario = each(script("['a', 'b', 'c']"), body);
        assert_eq!(scenario.lines, ["0a", "1b", "2c", "after"]);
    }

    #[test]
    fn one_failing_item_does_not_stop_the_others() {
        let choice = json!({
            "type": "Elsa.If", "condition": script("getVariable('CurrentValue') == 'b'"),
            "then": { "type": "Elsa.Fault" },
        });
        let body = sequence(json!([choice, write("getVariable('CurrentValue')")]));
        let scenario = each(script("['a', 'b', 'c']"), body);
        assert_eq!(scenario.lines, ["a", "c"]);
        assert_eq!(scenario.sub_status(), SubStatus::Faulted);
        assert_eq!(scenario.instance.incidents.len(), 1);
    }
}
