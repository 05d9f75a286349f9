//! `Elsa.PublishEvent`: tells everybody who waits for an event, or only this instance.

use serde_json::{Map, Value};

use super::event::{self, EVENT, PAYLOAD};
use super::{Activity, BuiltIn, Descriptor};
use crate::effect::Effect;
use crate::step::{Cx, Fault, Then};

#[derive(Debug)]
struct PublishEvent;

pub(crate) fn built_in() -> BuiltIn {
    BuiltIn {
        descriptor: Descriptor::new("Elsa.PublishEvent", "Primitives", "Publishes an event.")
            .input("eventName", "String", "Name of the event.")
            .input(
                "correlationId",
                "String",
                "Deliver only to instances with this correlation id.",
            )
            .input(
                "isLocalEvent",
                "Boolean",
                "Deliver only to this workflow instance.",
            )
            .default_value(false)
            .input("payload", "Object", "Payload of the event."),
        build: |_, _| Box::new(PublishEvent),
    }
}

impl Activity for PublishEvent {
    fn execute(&self, cx: &mut Cx<'_, '_>) -> Result<Then, Fault> {
        let Some(name) = cx.text("eventName")? else {
            let message = "the event has no name; give one";
            return Err(Fault::new("InvalidInput", message));
        };
        if name.trim().is_empty() {
            // Nothing can wait for it.
            return Ok(Then::DONE);
        }
        let correlation_id = cx.text("correlationId")?.filter(|id| !id.is_empty());
        // Elsa gives an event that comes with nothing an empty object.
        let mut payload = cx.input("payload")?;
        if payload.is_null() {
            payload = Value::Object(Map::new());
        }
        let mut instance = None;
        if cx.flag("isLocalEvent")? {
            let input = Map::from_iter([(PAYLOAD.to_owned(), payload.clone())]);
            if cx.stimulate_self(EVENT, &event::hashed(&name), &input) > 0 {
                return Ok(Then::DONE);
            }
            // Nothing here waits for it yet; after the commit perhaps something does.
            instance = Some(cx.instance_id().clone());
        }
        cx.effect(Effect::PublishEvent {
            name,
            correlation_id,
            instance,
            payload,
        });
        Ok(Then::DONE)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::activity::scenario::{Scenario, bound, literal, script, write};
    use crate::effect::Effect;
    use crate::instance::SubStatus;

    fn publish(is_local: bool) -> Value {
        json!({
            "type": "Elsa.PublishEvent", "eventName": literal("Shipped"), "payload": script("({ no: 17 })"),
            "correlationId": literal("o-1"), "isLocalEvent": literal(is_local),
        })
    }

    #[test]
    fn the_event_leaves_after_the_commit() {
        let scenario = Scenario::of(publish(false)).start();
        let published = Effect::PublishEvent {
            name: "Shipped".into(),
            correlation_id: Some("o-1".into()),
            instance: None,
            payload: json!({ "no": 17 }),
        };
        assert_eq!(scenario.effects, [published]);
    }

    #[test]
    fn a_local_event_wakes_what_waits_in_the_same_burst() {
        let wait = json!({ "type": "Elsa.Event", "eventName": literal("Shipped"), "result": bound("Got") });
        let fork = json!({ "type": "Elsa.Fork", "branches": [wait, publish(true)] });
        let scenario =
            Scenario::sequence(json!({ "Got": null }), json!([fork, write("Got")])).start();
        assert_eq!(scenario.lines, ["{\"no\":17}"]);
        assert_eq!(scenario.sub_status(), SubStatus::Finished);
        assert!(scenario.effects.is_empty());
    }

    #[test]
    fn a_local_event_that_comes_too_early_is_delivered_after_the_commit() {
        let wait = json!({ "type": "Elsa.Event", "eventName": literal("Shipped") });
        let scenario = Scenario::sequence(json!({}), json!([publish(true), wait])).start();
        let is_for_itself = |e: &Effect| matches!(e, Effect::PublishEvent { instance: Some(to), .. } if to.as_str() == "i1");
        assert!(scenario.effects.iter().any(is_for_itself));
    }
}
