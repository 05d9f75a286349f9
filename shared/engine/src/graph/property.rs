//! Reading an activity's inputs and outputs while a graph is built.

use serde_json::Value;

use super::build::Builder;
use super::expression::{self, Expression};
use super::{Input, Output, Target};
use crate::activity::{self, Descriptor};
use crate::definition::data_type::DataType;
use crate::definition::declaration::Argument;
use crate::definition::fields::Fields;
use crate::definition::name::camel_case;

impl Builder<'_> {
    pub(super) fn inputs(&mut self, fields: Fields<'_>, descriptor: &Descriptor) -> Vec<Input> {
        let excluded = self.frames.last().is_some_and(|f| f.is_log_excluded);
        let mut inputs = Vec::with_capacity(descriptor.inputs.len());
        for input in &descriptor.inputs {
            let expression = self.input(fields, &input.name, &input.data_type);
            // Elsa reads what is no list of headers as none.
            let expression = expression.filter(|expression| {
                input.type_name != "HttpHeaders" || !matches!(expression, Expression::Invalid(_))
            });
            inputs.push(Input {
                is_logged: !input.is_sensitive
                    && activity::is_logged(fields, "inputs", &input.name, excluded),
                name: input.name.clone(),
                data_type: input.data_type.clone(),
                expression,
                default: input.default.clone(),
                is_lazy: input.is_lazy,
                is_sensitive: input.is_sensitive,
            });
        }
        inputs
    }

    /// Reads the wrapped input `name` of an activity's JSON.
    pub fn input(
        &mut self,
        fields: Fields<'_>,
        name: &str,
        data_type: &DataType,
    ) -> Option<Expression> {
        let json = fields.get(name)?;
        let depth = self.enter(name);
        let found = if json.is_object() {
            let wrapped = Fields::of(json);
            if wrapped.get("expression").is_some() {
                self.expression(wrapped.object("expression"), data_type)
            } else if wrapped.get("typeName").is_none()
                && wrapped.get("type").is_none()
                && wrapped.get("memoryReference").is_none()
            {
                // A bare object: the value itself.
                Some(expression::literal(json.clone(), data_type))
            } else {
                None
            }
        } else {
            Some(expression::literal(json.clone(), data_type))
        };
        self.leave(depth);
        found
    }

    /// Reads `{"type", "value"}`; what is wrong with it becomes a problem of the definition.
    pub fn expression(&mut self, json: Fields<'_>, data_type: &DataType) -> Option<Expression> {
        match expression::read(json, data_type, self.expressions) {
            Ok(Some(Expression::Variable(id))) => {
                if !self.scope.iter().any(|s| s.contains(&id)) {
                    self.warn(
                        "unknownVariable",
                        format!("there is no variable with the id `{id}` in scope"),
                    );
                }
                Some(Expression::Variable(id))
            }
            Ok(Some(Expression::Invalid(message))) => {
                self.warn("badValue", message.to_string());
                Some(Expression::Invalid(message))
            }
            Ok(found) => found,
            Err(problem) => {
                // As in Elsa, a script that is no program can be published, and fails where it runs.
                if problem.code == "expressionSyntax" {
                    self.warn(problem.code, problem.message.clone());
                } else {
                    self.problem(problem.code, problem.message.clone());
                }
                Some(Expression::Invalid(problem.message.into()))
            }
        }
    }

    /// The value of an input of the activity being built, where the definition has it as a literal.
    #[must_use]
    pub fn literal(&self, name: &str) -> Option<&Value> {
        let node = self.node(self.current)?;
        match &node.inputs.iter().find(|i| i.name == name)?.expression {
            Some(Expression::Literal(value)) => Some(value),
            Some(
                Expression::Variable(_)
                | Expression::Input(_)
                | Expression::Secret(_)
                | Expression::Script(_)
                | Expression::Invalid(_),
            )
            | None => None,
        }
    }

    pub(super) fn outputs(&mut self, fields: Fields<'_>, descriptor: &Descriptor) -> Vec<Output> {
        let excluded = self.frames.last().is_some_and(|f| f.is_log_excluded);
        descriptor
            .outputs
            .iter()
            .map(|output| {
                let id = fields
                    .object(&output.name)
                    .object("memoryReference")
                    .text("id");
                let target = id.and_then(|id| {
                    if self.scope.iter().any(|s| s.contains(&id)) {
                        Some(Target::Variable(id))
                    } else if self.frames.last().is_some_and(|f| f.outputs.contains(&id)) {
                        Some(Target::Output(id))
                    } else {
                        None
                    }
                });
                Output {
                    is_logged: !output.is_opaque
                        && activity::is_logged(fields, "outputs", &output.name, excluded),
                    is_opaque: output.is_opaque,
                    name: output.name.clone(),
                    data_type: output.data_type.clone(),
                    target,
                }
            })
            .collect()
    }
}

/// The inputs of a workflow used as an activity, as the using activity's JSON names them.
#[must_use]
pub fn argument_property(argument: &Argument) -> String {
    let name = camel_case(&argument.name);
    // Elsa puts an underscore before names that clash with members every activity has.
    const TAKEN: [&str; 8] = [
        "id",
        "nodeId",
        "name",
        "type",
        "version",
        "metadata",
        "customProperties",
        "root",
    ];
    if TAKEN.contains(&name.as_str()) {
        format!("_{name}")
    } else {
        name
    }
}
