//! `Elsa.ReadLine`: waits for a line of text. Where Elsa reads the host's console, the line comes with a resume.

use serde_json::Value;

use super::{Activity, BuiltIn, Descriptor};
use crate::instance::Bookmark;
use crate::step::{Cx, Fault, Then};

/// The name under which the line comes with a resume; `Input` and `Result` are taken too.
pub const LINE: &str = "Line";

#[derive(Debug)]
struct ReadLine;

pub(crate) fn built_in() -> BuiltIn {
    BuiltIn {
        descriptor: Descriptor::new("Elsa.ReadLine", "Console", "Waits for a line of text.")
            .output("result", "String", "The line."),
        build: |_, _| Box::new(ReadLine),
    }
}

impl Activity for ReadLine {
    fn execute(&self, cx: &mut Cx<'_, '_>) -> Result<Then, Fault> {
        cx.wait_for_resume(Value::Null, true);
        Ok(Then::Wait)
    }

    fn resumed(&self, cx: &mut Cx<'_, '_>, _bookmark: &Bookmark) -> Result<Then, Fault> {
        let given = cx.burst_inputs();
        let line = [LINE, "Input", "Result"]
            .iter()
            .find_map(|name| given.get(*name))
            .cloned();
        cx.set_output("result", line.unwrap_or(Value::Null));
        Ok(Then::DONE)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::activity::scenario::{Scenario, bound, write};

    #[test]
    fn the_line_comes_with_the_resume() {
        let read = json!({ "id": "r", "type": "Elsa.ReadLine", "result": bound("Said") });
        let mut scenario =
            Scenario::sequence(json!({ "Said": null }), json!([read, write("Said")])).start();
        scenario.resume("r", json!({ "Line": "hello" }));
        assert_eq!(scenario.lines, ["hello"]);
    }
}
