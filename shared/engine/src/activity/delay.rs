//! `Elsa.Delay`: waits for a length of time.

use serde_json::{Value, json};

use super::{Activity, BuiltIn, Descriptor};
use crate::step::{Cx, Fault, Then};

#[derive(Debug)]
struct Delay;

pub(crate) fn built_in() -> BuiltIn {
    BuiltIn {
        descriptor: Descriptor::new("Elsa.Delay", "Scheduling", "Waits for a duration.")
            .input("timeSpan", "TimeSpan", "Duration.")
            .default_value("00:01:00"),
        build: |_, _| Box::new(Delay),
    }
}

impl Activity for Delay {
    fn execute(&self, cx: &mut Cx<'_, '_>) -> Result<Then, Fault> {
        // A length that is given but blank is none, not the default.
        let ms = match cx.given("timeSpan")? {
            Some(Value::Null) => 0,
            _ => cx.duration_ms("timeSpan")?.unwrap_or(0).max(0),
        };
        let due = cx.now().plus_ms(ms);
        cx.wait_until(due, json!({ "ResumeAt": due.to_string() }));
        Ok(Then::Wait)
    }
}
