//! `Elsa.NotFoundActivity`: stands for a type that nobody knows. The definition keeps the original and can be saved.

use super::Activity;
use crate::definition::fields::Fields;
use crate::graph::Builder;
use crate::step::{Cx, Fault, Then};

#[derive(Debug)]
struct NotFound {
    type_name: String,
}

/// Notes the unknown type and keeps its name.
pub(crate) fn build(builder: &mut Builder<'_>, fields: Fields<'_>) -> Box<dyn Activity> {
    let type_name = fields
        .text("missingTypeName")
        .or_else(|| fields.text("type"))
        .unwrap_or_default();
    if type_name == "Elsa.RunPython" {
        let message = format!(
            "`{type_name}` is not run here; use Elsa.RunJavaScript, or expressions in Liquid"
        );
        builder.problem("unsupportedLanguage", message);
    } else {
        let message = format!(
            "there is no activity type `{type_name}`; it is kept as it is, and faults if it runs"
        );
        builder.warn("unknownActivity", message);
    }
    Box::new(NotFound { type_name })
}

impl Activity for NotFound {
    fn is_missing(&self) -> bool {
        true
    }

    fn execute(&self, _cx: &mut Cx<'_, '_>) -> Result<Then, Fault> {
        Err(Fault::new(
            "ActivityNotFound",
            format!(
                "there is no activity type `{}`; publish the workflow it stands for, or replace it",
                self.type_name
            ),
        ))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::activity::scenario::{Scenario, line, sequence};
    use crate::instance::SubStatus;

    #[test]
    fn an_unknown_activity_is_a_warning_and_faults_only_if_it_runs() {
        let scenario = Scenario::of(sequence(json!([line("a"), { "type": "Acme.Odd" }])));
        let problem = &scenario.validate()[0];
        assert_eq!((problem.code, problem.is_error), ("unknownActivity", false));
        let scenario = scenario.start();
        assert_eq!(scenario.lines, ["a"]);
        assert_eq!(scenario.sub_status(), SubStatus::Faulted);
    }

    #[test]
    fn a_language_that_is_not_run_here_is_an_error() {
        let python = json!({ "type": "Elsa.RunPython" });
        let problem = Scenario::of(python).validate().remove(0);
        assert_eq!(
            (problem.code, problem.is_error),
            ("unsupportedLanguage", true)
        );
        assert!(problem.message.contains("Elsa.RunJavaScript"));
    }
}
