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
    let advice = match type_name.as_str() {
        "Elsa.RunCSharp" | "Elsa.RunPython" => {
            "; C# and Python are not run here, use Elsa.RunJavaScript"
        }
        _ => "; it is kept as it is, and faults if it runs",
    };
    builder.warn(
        "unknownActivity",
        format!("there is no activity type `{type_name}`{advice}"),
    );
    Box::new(NotFound { type_name })
}

impl Activity for NotFound {
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
