//! The functions of the host that scripts call: Elsa's identity, data and outcome functions over the scope.

use std::rc::Rc;

use rquickjs::function::{IntoJsFunc, Opt};
use rquickjs::{Coerced, Ctx, Exception, Function, IntoJs as _, Object, Result, Value as JsValue};
use serde_json::Value;

use super::accessor::{self, Found};
use super::current::Current;
use super::from_js::{from_js, serializable};
use super::into_js::{define, into_js, into_js_kind};
use super::lent::lend;
use super::plan::Accessor;
use crate::dotnet::json_text;
use crate::{Identity, Kind, Scope};

/// Collects host functions under their names.
pub(super) struct Functions<'js> {
    pub(super) ctx: Ctx<'js>,
    pub(super) object: Object<'js>,
    pub(super) current: Rc<Current>,
}

impl<'js> Functions<'js> {
    /// All host functions, on one object for the prelude.
    pub(super) fn new(ctx: &Ctx<'js>, current: &Rc<Current>) -> Result<Self> {
        let object = Object::new(ctx.clone())?;
        let functions = Self {
            ctx: ctx.clone(),
            object,
            current: Rc::clone(current),
        };
        functions.add_identity()?;
        functions.add_reading()?;
        functions.add_writing()?;
        functions.add_work()?;
        functions.add_random()?;
        functions.add_bytes()?;
        Ok(functions)
    }

    pub(super) fn add<P, F>(&self, name: &str, function: F) -> Result<()>
    where
        F: IntoJsFunc<'js, P> + 'js,
    {
        self.object.set(
            name,
            Function::new(self.ctx.clone(), function)?.with_name(name)?,
        )
    }

    fn add_identity(&self) -> Result<()> {
        self.add_id("getWorkflowDefinitionId", |id| Some(id.definition_id))?;
        self.add_id("getWorkflowDefinitionVersionId", |id| {
            Some(id.definition_version_id)
        })?;
        self.add_id("getWorkflowInstanceId", |id| Some(id.instance_id))?;
        self.add_id("getCorrelationId", |id| id.correlation_id)?;
        self.add_id("getWorkflowInstanceName", |id| id.name)?;
        let current = Rc::clone(&self.current);
        self.add("getWorkflowDefinitionVersion", move |ctx: Ctx<'js>| {
            current.scope(&ctx, |scope| scope.identity().definition_version)
        })?;
        self.add_text_setter("setCorrelationId", |scope, text| {
            scope.set_correlation_id(text)
        })?;
        self.add_text_setter("setWorkflowInstanceName", |scope, text| {
            scope.set_name(text)
        })
    }

    fn add_id(&self, name: &str, read: fn(Identity) -> Option<String>) -> Result<()> {
        let current = Rc::clone(&self.current);
        self.add(name, move |ctx: Ctx<'js>| {
            let text = current.scope(&ctx, |scope| read(scope.identity()))?;
            text.map(|text| text.into_js(&ctx))
                .transpose()
                .map(or_null(&ctx))
        })
    }

    fn add_text_setter(&self, name: &str, write: fn(&mut dyn Scope, Option<String>)) -> Result<()> {
        let current = Rc::clone(&self.current);
        self.add(
            name,
            move |ctx: Ctx<'js>, text: Opt<Option<Coerced<String>>>| {
                let text = text.0.flatten().map(|Coerced(text)| text);
                if !current.budget.emit(text.as_ref().map_or(0, String::len)) {
                    return Err(current.stop(&ctx));
                }
                current.scope(&ctx, |scope| write(scope, text))
            },
        )
    }

    fn add_reading(&self) -> Result<()> {
        self.add_reader("getVariable", |scope, name| Found::of_variable(scope, name))?;
        self.add_reader("getInput", |scope, name| {
            Some(Found::new(scope.input(name)?, scope.input_kind(name)))
        })?;
        let current = Rc::clone(&self.current);
        self.add("getConfig", move |ctx: Ctx<'js>, path: Coerced<String>| {
            if !current.scope(&ctx, |scope| scope.shows_configuration())? {
                return Err(undefined(&ctx, "getConfig"));
            }
            read(&ctx, &current, &format!("getConfig {}", path.0), |scope| {
                Some(Found::new(scope.configuration(&path.0)?, Kind::Plain))
            })
            .map(or_null(&ctx))
        })?;
        let current = Rc::clone(&self.current);
        self.add("getLastResult", move |ctx: Ctx<'js>| {
            read(&ctx, &current, "getLastResult", |scope| {
                Some(Found::new(scope.last_result()?, Kind::Plain))
            })
            .map(or_null(&ctx))
        })?;
        let current = Rc::clone(&self.current);
        let output_from =
            move |ctx: Ctx<'js>, activity: Coerced<String>, output: Opt<Option<String>>| {
                let output = output.0.flatten();
                if !current.scope(&ctx, |scope| scope.has_activity(&activity.0))? {
                    let problem = format!("there is no activity '{}'", activity.0);
                    return Err(Exception::throw_message(&ctx, &problem));
                }
                let key = format!("getOutputFrom {} {:?}", activity.0, output);
                let value = read(&ctx, &current, &key, |scope| {
                    let value = scope.output_from(&activity.0, output.as_deref())?;
                    Some(Found::new(value, Kind::Plain))
                });
                value.map(or_null(&ctx))
            };
        self.add("getOutputFrom", output_from)?;
        let current = Rc::clone(&self.current);
        self.add("getSecret", move |ctx: Ctx<'js>, name: Coerced<String>| {
            let secret = current.scope(&ctx, |scope| scope.secret(&name.0))?;
            let problem = || {
                format!(
                    "there is no secret '{}' that this workflow may read",
                    name.0
                )
            };
            let secret = secret.ok_or_else(|| Exception::throw_message(&ctx, &problem()))?;
            into_js(&ctx, &secret, &current)
        })?;
        let current = Rc::clone(&self.current);
        self.add(
            "createEventTriggerUrl",
            move |ctx: Ctx<'js>, event: Coerced<String>, until: Opt<Option<f64>>| {
                #[allow(
                    clippy::cast_possible_truncation,
                    reason = "milliseconds, far below 2^53"
                )]
                let until = until.0.flatten().map(|until| until as i64);
                let url = current.scope(&ctx, |scope| scope.event_trigger_url(&event.0, until))?;
                url.ok_or_else(|| {
                    Exception::throw_message(
                        &ctx,
                        "createEventTriggerUrl: this host has no public address",
                    )
                })
            },
        )
    }

    fn add_reader(
        &self,
        name: &'static str,
        find: fn(&dyn Scope, &str) -> Option<Found>,
    ) -> Result<()> {
        let current = Rc::clone(&self.current);
        self.add(name, move |ctx: Ctx<'js>, argument: Coerced<String>| {
            let key = format!("{name} {}", argument.0);
            read(&ctx, &current, &key, |scope| find(scope, &argument.0)).map(or_null(&ctx))
        })
    }

    fn add_writing(&self) -> Result<()> {
        let current = Rc::clone(&self.current);
        self.add("toJson", move |ctx: Ctx<'js>, value: Opt<JsValue<'js>>| {
            let value = match value.0 {
                Some(value) => serializable(&ctx, value, &current)?,
                None => Value::Null,
            };
            let text = json_text(&value, false);
            if !current.budget.emit(text.len()) {
                return Err(current.stop(&ctx));
            }
            Ok(text)
        })?;
        let current = Rc::clone(&self.current);
        self.add(
            "setVariable",
            move |ctx: Ctx<'js>, name: Coerced<String>, value: Opt<JsValue<'js>>| {
                write(&ctx, &current, &name.0, value.0)
            },
        )?;
        let current = Rc::clone(&self.current);
        self.add(
            "setOutcomes",
            move |ctx: Ctx<'js>, outcomes: Vec<Coerced<String>>| {
                let outcomes: Vec<String> =
                    outcomes.into_iter().map(|Coerced(name)| name).collect();
                if !current
                    .budget
                    .emit(outcomes.iter().map(|name| name.len() + 8).sum())
                {
                    return Err(current.stop(&ctx));
                }
                if !current.scope(&ctx, |scope| scope.takes_outcomes())? {
                    return Err(undefined(&ctx, "setOutcome"));
                }
                current.scope(&ctx, |scope| scope.set_outcomes(outcomes))
            },
        )
    }

    /// What guarded builtins ask before they work natively.
    fn add_work(&self) -> Result<()> {
        let current = Rc::clone(&self.current);
        self.add("charge", move |ctx: Ctx<'js>, operations: f64| {
            #[allow(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "saturates"
            )]
            let goes_on = current.budget.charge(operations as u64);
            if goes_on {
                Ok(())
            } else {
                Err(current.stop(&ctx))
            }
        })?;
        let current = Rc::clone(&self.current);
        self.add("chargeArray", move |ctx: Ctx<'js>, list: JsValue<'js>| {
            let Some(array) = list.as_object().filter(|_| list.is_array()) else {
                return Ok(false);
            };
            let length: f64 = array.get("length")?;
            #[allow(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "below 2^32"
            )]
            let goes_on = current.budget.charge(length as u64);
            if goes_on {
                Ok(true)
            } else {
                Err(current.stop(&ctx))
            }
        })
    }
}

/// The function behind a generated accessor.
pub(super) fn accessor_function<'js>(
    ctx: &Ctx<'js>,
    current: &Rc<Current>,
    accessor: &Accessor,
) -> Result<Function<'js>> {
    let (name, suffix, current) = (accessor.name(), accessor.suffix.clone(), Rc::clone(current));
    let label = name.clone();
    let function = if accessor.sets {
        Function::new(
            ctx.clone(),
            move |ctx: Ctx<'js>, value: Opt<JsValue<'js>>| {
                let variable = current.scope(&ctx, |scope| accessor::variable(scope, &suffix))?;
                let (variable, _) = variable.ok_or_else(|| undefined(&ctx, &name))?;
                write(&ctx, &current, &variable, value.0)
            },
        )
    } else {
        Function::new(ctx.clone(), move |ctx: Ctx<'js>| {
            let value = read(&ctx, &current, &name, |scope| {
                accessor::read(scope, &suffix)
            })?;
            value.ok_or_else(|| undefined(&ctx, &name))
        })
    }?;
    function.with_name(&label)
}

fn undefined(ctx: &Ctx<'_>, name: &str) -> rquickjs::Error {
    Exception::throw_reference(ctx, &format!("{name} is not defined"))
}

fn or_null<'js>(ctx: &Ctx<'js>) -> impl FnOnce(Option<JsValue<'js>>) -> JsValue<'js> {
    let null = JsValue::new_null(ctx.clone());
    move |value| value.unwrap_or(null)
}

fn read<'js>(
    ctx: &Ctx<'js>,
    current: &Current,
    key: &str,
    find: impl FnOnce(&dyn Scope) -> Option<Found>,
) -> Result<Option<JsValue<'js>>> {
    if let Some(known) = current.recall(ctx, key)? {
        return Ok(Some(known));
    }
    let Some(found) = current.scope(ctx, |scope| find(scope))? else {
        return Ok(None);
    };
    let value = into_js_kind(ctx, &found.value, found.kind, current)?;
    current.remember(ctx, key, &value);
    if let Some(variable) = &found.variable {
        lend(ctx, current, variable, &found.value, &value)?;
    }
    Ok(Some(value))
}

fn write<'js>(
    ctx: &Ctx<'js>,
    current: &Current,
    variable: &str,
    value: Option<JsValue<'js>>,
) -> Result<()> {
    let given = value
        .clone()
        .unwrap_or_else(|| JsValue::new_null(ctx.clone()));
    let value = match value {
        Some(value) => from_js(ctx, value, current)?,
        None => Value::Null,
    };
    if !current.budget.emit(variable.len()) {
        return Err(current.stop(ctx));
    }
    current.assign(ctx, variable, &given);
    if let Some(variables) = current.variables(ctx)? {
        define(&variables, variable, given.clone())?;
    }
    // For the rest of the script it is what was given; the variable has it as its type.
    let names = [variable.to_owned(), accessor::pascal_case(variable)];
    let getters = names.iter().map(|name| format!("get{name}"));
    for key in getters.chain([format!("getVariable {variable}")]) {
        current.insist(ctx, key, &given);
    }
    current.scope(ctx, |scope| scope.set_variable(variable, value))
}
