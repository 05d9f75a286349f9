//! `Elsa.SetVariable`: gives a variable a value.

use super::{Activity, BuiltIn, Descriptor};
use crate::graph::expression::variable_id;
use crate::step::{Cx, Fault, Then};

#[derive(Debug)]
struct SetVariable {
    /// The id; only that matters of the variable object.
    variable: Option<String>,
}

pub(crate) fn built_in() -> BuiltIn {
    BuiltIn {
        descriptor: Descriptor::new("Elsa.SetVariable", "Primitives", "Sets a variable.")
            .plain("variable", "Variable", "The variable.")
            .with_plain(|input| input.ui_hint = "variable-picker")
            .input("value", "Object", "The value."),
        build: |builder, fields| {
            let variable = fields.get("variable").and_then(variable_id);
            if !variable.as_ref().is_some_and(|id| builder.has_variable(id)) {
                let id = variable.as_deref().unwrap_or("");
                builder.warn(
                    "unknownVariable",
                    format!("SetVariable names the variable id `{id}`, which is not in scope"),
                );
            }
            Box::new(SetVariable { variable })
        },
    }
}

impl Activity for SetVariable {
    fn execute(&self, cx: &mut Cx<'_, '_>) -> Result<Then, Fault> {
        let id = self.variable.as_deref().unwrap_or_default();
        if cx.set_variable(id, "value")? {
            Ok(Then::DONE)
        } else {
            Err(Fault::new(
                "VariableNotFound",
                format!("Variable '{id}' not found."),
            ))
        }
    }
}
