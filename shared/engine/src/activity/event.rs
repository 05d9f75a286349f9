//! `Elsa.Event`: waits for an event, or starts an instance when it happens.

use serde_json::{Value, json};

use super::{Activity, ActivityKind, BuiltIn, Descriptor, Listening};
use crate::instance::Bookmark;
use crate::step::{Cx, Fault, Then};

/// The stimulus's name.
pub const EVENT: &str = "Elsa.Event";

/// The key under which an event's payload comes with a burst's input.
pub const PAYLOAD: &str = "Payload";

#[derive(Debug)]
struct Event;

pub(crate) fn built_in() -> BuiltIn {
    BuiltIn {
        descriptor: Descriptor::new(EVENT, "Primitives", "Waits for an event.")
            .kind(ActivityKind::Trigger)
            .input("eventName", "String", "Name of the event.")
            .output("result", "Object", "Payload of the event."),
        build: |_, _| Box::new(Event),
    }
}

/// What is hashed for an event of a name.
#[must_use]
pub fn hashed(name: &str) -> Value {
    json!({ "EventName": name })
}

fn take(cx: &mut Cx<'_, '_>) -> Then {
    let payload = cx.burst_input(PAYLOAD).unwrap_or(Value::Null);
    cx.set_output("result", payload);
    Then::DONE
}

impl Activity for Event {
    fn execute(&self, cx: &mut Cx<'_, '_>) -> Result<Then, Fault> {
        if cx.is_trigger() {
            return Ok(take(cx));
        }
        let name = cx.text("eventName")?.unwrap_or_default();
        let hashed = hashed(&name);
        cx.wait_for_stimulus(EVENT, &hashed, hashed.clone());
        Ok(Then::Wait)
    }

    fn resumed(&self, cx: &mut Cx<'_, '_>, _bookmark: &Bookmark) -> Result<Then, Fault> {
        Ok(take(cx))
    }

    fn listen(&self, cx: &mut Cx<'_, '_>) -> Result<Vec<Listening>, Fault> {
        let name = cx.text("eventName")?.unwrap_or_default();
        let hashed = hashed(&name);
        Ok(vec![Listening {
            name: EVENT.into(),
            payload: hashed.clone(),
            hashed,
            recurrence: None,
        }])
    }

    fn is_trigger(&self) -> bool {
        true
    }
}
