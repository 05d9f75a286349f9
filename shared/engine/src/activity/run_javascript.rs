//! `Elsa.RunJavaScript` and `Elsa.RunCSharp`: run a script, which may choose the outcomes.

use dormouse_expressions::Language;
use serde_json::{Value, json};

use super::{Activity, BuiltIn, Descriptor};
use crate::definition::data_type::DataType;
use crate::definition::fields::Fields;
use crate::graph::{Builder, Expression};
use crate::step::{Cx, Fault, Outcomes, Then};

#[derive(Debug)]
struct RunScript {
    language: Language,
    /// The script, compiled once; `None` where it is only known when the activity runs.
    script: Option<Expression>,
}

pub(crate) fn built_in() -> BuiltIn {
    BuiltIn {
        descriptor: Descriptor::new("Elsa.RunJavaScript", "Scripting", "Runs a script.")
            .titled("Run JavaScript")
            .input(
                "script",
                "String",
                "Script. `setOutcome` and `setOutcomes` select the outcomes.",
            )
            .default_value("")
            .hint("code-editor")
            .input(
                "possibleOutcomes",
                "String[]",
                "Outcomes that the script may choose, for the designer.",
            )
            .hint("dynamic-outcomes")
            .output("result", "Object", "Return value of the script."),
        build: |builder, _| {
            Box::new(RunScript {
                language: Language::JavaScript,
                script: compile(builder, "JavaScript"),
            })
        },
    }
}

pub(crate) fn csharp() -> BuiltIn {
    BuiltIn {
        descriptor: Descriptor::new("Elsa.RunCSharp", "Scripting", "Runs a script.")
            .titled("Run C#")
            .input(
                "script",
                "String",
                "Script, in the safe subset of C#. `Outcome.Set` selects the outcomes.",
            )
            .default_value("")
            .hint("code-editor")
            .input(
                "possibleOutcomes",
                "String[]",
                "Outcomes that the script may choose, for the designer.",
            )
            .hint("dynamic-outcomes")
            .output("result", "Object", "Return value of the script."),
        build: |builder, _| {
            Box::new(RunScript {
                language: Language::CSharp,
                script: compile(builder, "CSharp"),
            })
        },
    }
}

fn compile(builder: &mut Builder<'_>, language: &str) -> Option<Expression> {
    let source = builder
        .literal("script")
        .and_then(Value::as_str)?
        .to_owned();
    let json = json!({ "type": language, "value": source });
    let depth = builder.enter("script");
    let script = builder.expression(Fields::of(&json), &DataType::Object);
    builder.leave(depth);
    script
}

impl Activity for RunScript {
    fn execute(&self, cx: &mut Cx<'_, '_>) -> Result<Then, Fault> {
        let result = match &self.script {
            Some(script) => cx.evaluate(script, &DataType::Object)?,
            None => match cx
                .text("script")?
                .filter(|source| !source.trim().is_empty())
            {
                Some(source) => cx.run_script(self.language, &source)?,
                None => Value::Null,
            },
        };
        cx.set_output("result", result);
        // No outcomes, where a script chose none, are not the usual one.
        Ok(match cx.take_outcomes() {
            Some(outcomes) => Then::Complete(Outcomes::Named(outcomes)),
            None => Then::DONE,
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::activity::scenario::{Scenario, bound, line, literal, variable, write};
    use crate::instance::SubStatus;

    fn run(script: Value) -> Scenario {
        let run = json!({ "id": "js", "type": "Elsa.RunJavaScript", "script": script, "result": bound("Got") });
        let variables = json!({ "Got": null, "X": 1, "Source": "return 5" });
        Scenario::sequence(variables, json!([run, write("Got"), write("X")])).start()
    }

    #[test]
    fn the_value_is_the_result() {
        assert_eq!(
            run(literal("return { prop1: 'some' }")).lines,
            ["{\"prop1\":\"some\"}", "1"]
        );
        assert_eq!(run(literal("  ")).lines, ["", "1"]);
        assert_eq!(run(Value::Null).lines, ["", "1"]);
    }

    #[test]
    fn a_script_that_is_worked_out_runs_too() {
        assert_eq!(run(variable("Source")).lines[0], "5");
    }

    #[test]
    fn every_way_to_set_a_variable_works() {
        for script in ["setX(42)", "variables.X = 42", "setVariable('X', 42)"] {
            assert_eq!(run(literal(script)).lines[1], "42", "{script}");
        }
    }

    #[test]
    fn the_script_chooses_the_outcomes() {
        assert_eq!(
            run(literal("setOutcome('Yes')")).outcomes("js"),
            json!(["Yes"])
        );
        assert_eq!(run(literal("setOutcomes([])")).outcomes("js"), json!([]));
        assert_eq!(
            run(literal("setOutcomes(['a', 'b']); return 1")).outcomes("js"),
            json!(["a", "b"])
        );
    }

    #[test]
    fn what_is_no_program_is_an_error_where_it_stands_and_an_incident_if_it_runs() {
        let scenario = run(literal("return ("));
        let problem = &scenario.graph.problems[0];
        assert_eq!(
            (problem.code, problem.path.as_str()),
            ("expressionSyntax", "root.activities[0].script")
        );
        assert!(!problem.is_error);
        assert_eq!(scenario.sub_status(), SubStatus::Faulted);
        let thrown = run(literal("throw new Error('that went south')"));
        assert!(thrown.incidents()[0].contains("that went south"));
    }

    #[test]
    fn it_counts_down_over_several_waits() {
        let step = json!({ "type": "Elsa.RunJavaScript", "script": literal("setN(getN() - 1)") });
        let wait = json!({ "id": "e", "type": "Elsa.Event", "eventName": literal("e") });
        let rounds = json!({
            "type": "Elsa.While", "condition": crate::activity::scenario::script("getN() > 0"),
            "body": { "type": "Elsa.Sequence", "activities": [wait, step, write("N")] },
        });
        let mut scenario =
            Scenario::sequence(json!({ "N": 3 }), json!([rounds, line("end")])).start();
        for _ in 0..3 {
            scenario.resume("e", json!({}));
        }
        assert_eq!(scenario.lines, ["2", "1", "0", "end"]);
    }
}
