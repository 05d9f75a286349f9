//! Giving inputs their values.

use dormouse_expressions::{Kind, Language};
use serde_json::{Map, Value};

use super::view::View;
use super::{CannotSeal, Cx, Fault, SEALED_PREFIX};
use crate::definition::convert_kind::{convert_kind, shown};
use crate::definition::data_type::DataType;
use crate::definition::name::property_name;
use crate::graph::{Expression, Input};

impl Cx<'_, '_> {
    /// Evaluates all inputs that are not lazy, in order.
    pub(crate) fn evaluate_inputs(&mut self) -> Result<(), Fault> {
        let graph = self.run.graph;
        let inputs = &graph.node(self.node).inputs;
        self.values.clear();
        self.raw.clear();
        self.kinds.clear();
        for input in inputs {
            self.kind = Kind::Plain;
            let value = if input.is_lazy {
                None
            } else {
                Some(self.evaluate_input(input)?)
            };
            self.values.push(value);
            self.raw.push(self.logged.take());
            self.kinds.push(self.kind);
        }
        Ok(())
    }

    /// What the journal shows of the inputs. Literals are left out: the definition has them.
    pub(crate) fn journal_inputs(&self) -> Value {
        let inputs = &self.run.graph.node(self.node).inputs;
        let mut state = Map::new();
        for ((input, value), raw) in inputs.iter().zip(&self.values).zip(&self.raw) {
            let is_literal = matches!(input.expression, None | Some(Expression::Literal(_)));
            if let (Some(value), true, false) = (value, input.is_logged, is_literal) {
                let shown = raw.as_ref().unwrap_or(value);
                state.insert(property_name(&input.name), shown.clone());
            }
        }
        if state.is_empty() {
            Value::Null
        } else {
            Value::Object(state)
        }
    }

    /// The value of an input now.
    pub(crate) fn evaluate_input(&mut self, input: &Input) -> Result<Value, Fault> {
        Ok(match self.evaluate_given(input)? {
            Some(Value::Null) | None => input.default.clone(),
            Some(value) => value,
        })
    }

    /// What the definition gives for an input, null included; `None` if it gives nothing, which is not the same to
    /// an activity that takes nothing for its default and null for a mistake.
    ///
    /// # Errors
    ///
    /// A [`Fault`] when it cannot be evaluated.
    pub fn given(&mut self, name: &str) -> Result<Option<Value>, Fault> {
        let graph = self.run.graph;
        let inputs = &graph.node(self.node).inputs;
        match inputs.iter().find(|i| i.name == name) {
            Some(input) => self.evaluate_given(input),
            None => Ok(None),
        }
    }

    fn evaluate_given(&mut self, input: &Input) -> Result<Option<Value>, Fault> {
        let Some(expression) = &input.expression else {
            return Ok(None);
        };
        let value = self.evaluate(expression, &input.data_type);
        if let (Ok(value), true, true) = (&value, input.is_lazy, input.is_logged)
            && !matches!(expression, Expression::Literal(_))
        {
            self.run.note_input(self.context, &input.name, value);
        }
        value.map(Some).map_err(|fault| Fault {
            message: format!(
                "Failed to evaluate activity input '{}': {}",
                property_name(&input.name),
                fault.message
            ),
            ..fault
        })
    }

    /// A sensitive value as it is kept: sealed, where this host has a key.
    pub(crate) fn sealed(&self, name: &str, value: Value) -> Result<Value, Fault> {
        let Some(secrets) = self.run.environment.secrets.filter(|_| !value.is_null()) else {
            return Ok(value);
        };
        match secrets.seal(&self.run.instance.id, &value) {
            Ok(Some(sealed)) => Ok(Value::String(sealed)),
            Ok(None) => Ok(value),
            Err(CannotSeal) => {
                let message = format!("the sensitive input `{name}` cannot be sealed");
                Err(Fault::new("InputNotSealed", message))
            }
        }
    }

    /// A sensitive value as [`Self::sealed`] was given it.
    pub(crate) fn opened(&self, name: &str, value: &Value) -> Result<Option<Value>, Fault> {
        let Some(sealed) = value
            .as_str()
            .filter(|text| text.starts_with(SEALED_PREFIX))
        else {
            return Ok(None);
        };
        let secrets = self.run.environment.secrets;
        let opened = secrets.and_then(|secrets| secrets.open(&self.run.instance.id, sealed));
        let message = || {
            format!(
                "the sensitive input `{name}` is sealed in the state, and this server does not have the key that sealed it"
            )
        };
        let opened = opened.ok_or_else(|| Fault::new("InputUnreadable", message()))?;
        Ok(Some(opened))
    }

    /// What the journal shows of an input that a script gave as an object of .NET: there, its members have the names that
    /// a serialiser gives them.
    #[must_use]
    pub fn logged_input(&self, name: &str) -> Option<Value> {
        let inputs = &self.run.graph.node(self.node).inputs;
        let place = inputs.iter().position(|i| i.name == name)?;
        let is_script = matches!(inputs.get(place)?.expression, Some(Expression::Script(_)));
        let raw = self.raw.get(place)?.clone();
        raw.filter(|raw| is_script && (raw.is_object() || raw.is_array()))
    }

    /// The value of a script whose text is only known now.
    ///
    /// # Errors
    ///
    /// As [`Self::evaluate`], and when it is no program.
    pub fn run_script(&mut self, language: Language, source: &str) -> Result<Value, Fault> {
        let expressions = self.run.environment.expressions;
        let script = expressions
            .compile(language, source)
            .map_err(expression_fault)?;
        self.evaluate(&Expression::Script(script), &DataType::Object)
    }

    /// The value of an expression, converted.
    ///
    /// # Errors
    ///
    /// A [`Fault`] of kind `ExpressionError` when it throws, goes over a limit, or gives what cannot be converted.
    pub fn evaluate(&mut self, expression: &Expression, wanted: &DataType) -> Result<Value, Fault> {
        self.logged = None;
        let (value, kind) = match expression {
            Expression::Literal(value) => return Ok(value.clone()),
            Expression::Variable(id) => {
                let value = self.variable(id).unwrap_or(Value::Null);
                // Elsa records what the variable holds, not what it is converted to.
                self.logged = Some(value.clone()).filter(|value| !value.is_null());
                (value, self.run.kind_of_variable(id, self.node))
            }
            Expression::Input(name) => (
                self.run
                    .input_value(self.context, name)
                    .unwrap_or(Value::Null),
                self.run.kind_of_input(name),
            ),
            Expression::Secret(name) => {
                let secret = self.run.secret(name).ok_or_else(|| {
                    let message = format!("the secret '{name}' cannot be named here: this server has no secrets, or a trigger names it");
                    Fault::new("ExpressionError", message)
                })?;
                (Value::String(secret), Kind::Plain)
            }
            Expression::Script(script) => {
                let expressions = self.run.environment.expressions;
                let mut view = View {
                    run: &mut *self.run,
                    context: self.context,
                    node: self.node,
                    arguments: &self.arguments,
                    outcomes: &mut self.outcomes,
                };
                let evaluated = expressions
                    .evaluate_kind(script, &mut view)
                    .map_err(expression_fault)?;
                self.logged = evaluated.logged;
                (evaluated.value, evaluated.kind)
            }
            Expression::Invalid(message) => {
                return Err(Fault::new("ExpressionError", message.to_string()));
            }
        };
        self.kind = kind;
        if kind == Kind::BigInteger && matches!(wanted, DataType::Object) {
            self.logged = Some(shown(&value));
        }
        convert_kind(value, kind, wanted).map_err(|e| Fault::new("ExpressionError", e.to_string()))
    }
}

fn expression_fault(error: dormouse_expressions::EvaluationError) -> Fault {
    use dormouse_expressions::EvaluationError;
    let message = error.to_string();
    match error {
        EvaluationError::Syntax { .. } => Fault::new("ExpressionError", message),
        EvaluationError::Thrown { stack, .. } => Fault {
            stack,
            ..Fault::new("ExpressionError", message)
        },
        EvaluationError::Limit { limit, value } => Fault::new("LimitReached", message)
            .with("limit", limit)
            .with("value", value),
    }
}
