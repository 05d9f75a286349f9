//! `Elsa.Delay`: waits for a length of time.

use serde_json::json;

use super::{Activity, BuiltIn, Descriptor};
use crate::step::{Cx, Fault, Then};

#[derive(Debug)]
struct Delay;

pub(crate) fn built_in() -> BuiltIn {
    BuiltIn {
        descriptor: Descriptor::new("Elsa.Delay", "Scheduling", "Waits for a length of time.")
            .input("timeSpan", "TimeSpan", "How long.")
            .default_value("00:01:00"),
        build: |_, _| Box::new(Delay),
    }
}

impl Activity for Delay {
    fn execute(&self, cx: &mut Cx<'_, '_>) -> Result<Then, Fault> {
        let due = cx
            .now()
            .plus_ms(cx.duration_ms("timeSpan")?.unwrap_or(60_000).max(0));
        cx.wait_until(due, json!({ "ResumeAt": due.to_string() }));
        Ok(Then::Wait)
    }
}
