//! One evaluation of a script: its inputs in, its value out, and its changed variables back.

use std::sync::Arc;

use rquickjs::Value as JsValue;
use rquickjs::promise::PromiseState;
use rquickjs::{Ctx, Exception, Function, Object, Persistent, Promise, Result, Type};
use serde_json::Value;

use super::accessor;
use super::current::{Current, lend};
use super::failure::explain;
use super::from_js::from_js;
use super::host::accessor_function;
use super::into_js::{define, into_js, into_js_kind};
use super::lent::take_back;
use super::plan::{Accessor, Form, Plan};
use super::prelude::options;
use super::realm::{self, Realm};
use crate::budget::Reached;
use crate::{EvaluationError, Kind, Scope};

/// What a job of the promise queue counts, in operations.
const JOB_OPERATIONS: u64 = 100;

/// What an evaluation gave, and whether the interpreter is still as it was.
pub(super) struct Outcome {
    pub(super) value: std::result::Result<(Value, Kind), EvaluationError>,
    pub(super) is_clean: bool,
}

/// Runs a plan over a scope.
pub(super) fn run(realm: &mut Realm, plan: &Plan, scope: &mut dyn Scope) -> Outcome {
    realm.collect_garbage();
    let compiles = matches!(plan.form, Form::Eval);
    realm.make_room(compiles.then_some(plan.source.len()));
    realm.current.begin();
    realm.current.lends.set(plan.may_change_members);
    let (value, swept) = lend(scope, || {
        if plan.is_private {
            (run_private(realm, plan), true)
        } else {
            run_shared(realm, plan)
        }
    });
    realm.current.end();
    // What a script still had to do must not run in the next one's time.
    let is_clean = swept
        && !matches!(value, Err(EvaluationError::Limit { .. }))
        && !realm.runtime.is_job_pending();
    if is_clean && realm.current.budget.worked_hard() {
        realm.runtime.run_gc();
    }
    Outcome { value, is_clean }
}

fn run_shared(
    realm: &mut Realm,
    plan: &Plan,
) -> (std::result::Result<(Value, Kind), EvaluationError>, bool) {
    let function = realm.function(plan);
    let function = match function {
        Ok(function) => function,
        Err(error) => {
            let explain = |ctx: &Ctx<'_>| explain(ctx, error, &realm.current.budget);
            return (Err(realm.with_shared(explain)), true);
        }
    };
    realm.with_shared(|ctx| {
        let compiles = matches!(plan.form, Form::Eval).then_some(plan.source.len());
        let run = || call(realm, ctx, plan, function);
        let value = realm.current.alarm.during(compiles, run);
        let value = value.map_err(|error| explain(ctx, error, &realm.current.budget));
        let swept = !(plan.may_leak || realm.has_libraries()) || realm.sweep(ctx);
        (settle(realm, plan, value), swept)
    })
}

fn run_private(realm: &Realm, plan: &Plan) -> std::result::Result<(Value, Kind), EvaluationError> {
    let mut failure = None;
    let value = realm.with_private(plan, |ctx| {
        let run = || call_private(realm, ctx, plan);
        let value = realm.current.alarm.during(Some(plan.source.len()), run);
        value.map_err(|error| {
            failure = Some(explain(ctx, error, &realm.current.budget));
            rquickjs::Error::Unknown
        })
    });
    let value = value.map_err(|error| match failure {
        Some(failure) => failure,
        None => realm.with_shared(|ctx| explain(ctx, error, &realm.current.budget)),
    });
    settle(realm, plan, value)
}

/// A limit that was reached counts even if the script went on to a value.
fn settle(
    realm: &Realm,
    plan: &Plan,
    value: std::result::Result<(Value, Kind), EvaluationError>,
) -> std::result::Result<(Value, Kind), EvaluationError> {
    let budget = &realm.current.budget;
    if let Err(EvaluationError::Thrown { message, .. }) = &value {
        // Without memory even for an error, the interpreter throws null, nothing, or an error without words.
        // Null can also be thrown by a script.
        let throws = plan.source.contains("throw") || plan.source.contains("reject");
        let is_bare = matches!(message.as_str(), "[uninitialized]" | "InternalError");
        if is_bare || message == "null" && !throws {
            budget.reach(Reached::Memory);
        }
    }
    match budget.exceeded() {
        Some(limit) => Err(limit),
        None => value,
    }
}

fn call(
    realm: &Realm,
    ctx: &Ctx<'_>,
    plan: &Plan,
    function: Persistent<Function<'static>>,
) -> Result<(Value, Kind)> {
    let function = function.restore(ctx)?;
    if !plan.uses_variables && !plan.uses_arguments {
        let value = finish(realm, ctx, function.call(())?)?;
        take_back(ctx, &realm.current, plan)?;
        return Ok(value);
    }
    let variables = Variables::new(realm, ctx, plan)?;
    let arguments = arguments(realm, ctx, plan)?;
    let value = finish(
        realm,
        ctx,
        function.call((variables.object.clone(), arguments))?,
    )?;
    take_back(ctx, &realm.current, plan)?;
    variables.write_back(realm, ctx)?;
    Ok(value)
}

/// Runs a script as a program of its own context, where every accessor is a global.
fn call_private(realm: &Realm, ctx: &Ctx<'_>, plan: &Plan) -> Result<(Value, Kind)> {
    let globals = ctx.globals();
    let scope = |has: fn(&dyn Scope) -> bool| realm.current.scope(ctx, |scope| has(scope));
    if !scope(|scope| scope.takes_outcomes())? {
        globals.remove("setOutcome")?;
        globals.remove("setOutcomes")?;
    }
    if !scope(|scope| scope.shows_configuration())? {
        globals.remove("getConfig")?;
    }
    for suffix in realm
        .current
        .scope(ctx, |scope| accessor::suffixes(scope))?
    {
        for sets in [false, true] {
            let accessor = Accessor {
                sets,
                suffix: suffix.clone(),
            };
            if !globals.contains_key(accessor.name())? {
                let function = accessor_function(ctx, &realm.current, &accessor)?;
                define(&globals, &accessor.name(), function.into_value())?;
            }
        }
    }
    let variables = Variables::new(realm, ctx, plan)?;
    let arguments = arguments(realm, ctx, plan)?;
    let value = if plan.is_program {
        globals.set("variables", variables.object.clone())?;
        globals.set("args", arguments)?;
        ctx.eval_with_options(&*plan.source, options())?
    } else {
        let eval = globals.get("eval")?;
        let function = realm::function(ctx, plan, &realm.current, eval)?;
        function.call((variables.object.clone(), arguments))?
    };
    let value = finish(realm, ctx, value)?;
    take_back(ctx, &realm.current, plan)?;
    variables.write_back(realm, ctx)?;
    Ok(value)
}

/// Runs all promise jobs, and gives the script's value as JSON.
fn finish<'js>(realm: &Realm, ctx: &Ctx<'js>, value: JsValue<'js>) -> Result<(Value, Kind)> {
    run_jobs(realm, ctx)?;
    let value = match value.as_promise().cloned() {
        Some(promise) => settled(ctx, &promise)?,
        None => value,
    };
    let given = kind_of(ctx, &value, &realm.current)?;
    realm.current.met_function.set(false);
    let value = from_js(ctx, value, &realm.current)?;
    run_jobs(realm, ctx)?;
    Ok(match (given, &value) {
        (Kind::Function, _) => (Value::Null, Kind::Function),
        _ if realm.current.met_function.get() => (Value::Null, Kind::Opaque),
        (Kind::BigInteger, _) => (Value::String(text_of(&value)), Kind::BigInteger),
        (Kind::DateTime | Kind::Bytes, Value::String(_)) => (value, given),
        (Kind::Dictionary | Kind::Texts | Kind::Node, Value::Object(_)) => (value, given),
        (_, Value::Number(_)) => (value, Kind::Double),
        _ => (value, Kind::Plain),
    })
}

fn text_of(number: &Value) -> String {
    number
        .as_str()
        .map_or_else(|| number.to_string(), str::to_owned)
}

/// What a value is beyond its JSON.
fn kind_of<'js>(ctx: &Ctx<'js>, value: &JsValue<'js>, current: &Current) -> Result<Kind> {
    if value.is_function() {
        return Ok(Kind::Function);
    }
    if value.type_of() == Type::BigInt {
        return Ok(Kind::BigInteger);
    }
    let Some(object) = value.as_object() else {
        return Ok(Kind::Plain);
    };
    if is_date(ctx, value)? {
        return Ok(Kind::DateTime);
    }
    if object.as_typed_array::<u8>().is_some() || object.as_array_buffer().is_some() {
        return Ok(Kind::Bytes);
    }
    let inherits = object.get_prototype();
    for kind in [Kind::Dictionary, Kind::Texts, Kind::Node] {
        if inherits.is_some() && current.prototype(ctx, kind)? == inherits {
            return Ok(kind);
        }
    }
    Ok(Kind::Plain)
}

fn is_date<'js>(ctx: &Ctx<'js>, value: &JsValue<'js>) -> Result<bool> {
    let Some(object) = value.as_object() else {
        return Ok(false);
    };
    let date: JsValue = ctx.globals().get("Date")?;
    Ok(date
        .as_object()
        .is_some_and(|date| object.is_instance_of(date)))
}

fn run_jobs(realm: &Realm, ctx: &Ctx<'_>) -> Result<()> {
    while ctx.execute_pending_job() {
        if !realm.current.budget.charge(JOB_OPERATIONS) {
            return Err(realm.current.stop(ctx));
        }
    }
    Ok(())
}

fn settled<'js>(ctx: &Ctx<'js>, promise: &Promise<'js>) -> Result<JsValue<'js>> {
    match promise.state() {
        PromiseState::Pending => Err(Exception::throw_message(
            ctx,
            "the script waits for a promise that never settles",
        )),
        PromiseState::Resolved | PromiseState::Rejected => {
            promise.result().unwrap_or(Err(rquickjs::Error::WouldBlock))
        }
    }
}

fn arguments<'js>(realm: &Realm, ctx: &Ctx<'js>, plan: &Plan) -> Result<Object<'js>> {
    let object = Object::new(ctx.clone())?;
    if plan.uses_arguments {
        for (name, value) in realm.current.scope(ctx, |scope| scope.arguments())? {
            define(&object, &name, into_js(ctx, &value, &realm.current)?)?;
        }
    }
    Ok(object)
}

/// The `variables` object: a copy of the variables a script names.
struct Variables<'js> {
    object: Object<'js>,
    /// The lists among them, as they were handed out.
    lists: Vec<(String, JsValue<'js>)>,
    before: Vec<(Arc<str>, Value)>,
}

impl<'js> Variables<'js> {
    fn new(realm: &Realm, ctx: &Ctx<'js>, plan: &Plan) -> Result<Self> {
        let object = Object::new(ctx.clone())?;
        let (mut before, mut lists) = (Vec::new(), Vec::new());
        if plan.uses_variables {
            for name in realm.current.scope(ctx, |scope| scope.variable_names())? {
                if !plan.names(&name) || object.contains_key(name.as_str())? {
                    continue;
                }
                if let Some(value) = realm.current.scope(ctx, |scope| scope.variable(&name))? {
                    let kind = realm
                        .current
                        .scope(ctx, |scope| scope.variable_kind(&name))?;
                    let entry = into_js_kind(ctx, &value, kind, &realm.current)?;
                    if entry.is_array() {
                        lists.push((name.clone(), entry.clone()));
                    }
                    define(&object, &name, entry)?;
                    before.push((Arc::from(name), value));
                }
            }
        }
        realm.current.keep_variables(ctx, &object);
        Ok(Self {
            object,
            lists,
            before,
        })
    }

    /// Sets the variables whose entries changed. Inputs are left alone, and so is what a call has set. As in Elsa,
    /// null sets nothing.
    fn write_back(self, realm: &Realm, ctx: &Ctx<'js>) -> Result<()> {
        for name in self.object.keys::<rquickjs::String>() {
            let name = name?.to_string()?;
            if realm.current.scope(ctx, |scope| scope.is_input(&name))? {
                continue;
            }
            let entry: JsValue = self.object.get(name.as_str())?;
            let is_given = realm.current.assigned(ctx, &name)?.as_ref() == Some(&entry);
            if is_given || entry.is_null() || entry.is_undefined() {
                continue;
            }
            // Elsa hands out a copy of a list: what is done to it in place is lost.
            let is_same = self
                .lists
                .iter()
                .any(|(list, value)| *list == name && *value == entry);
            if is_same {
                continue;
            }
            let value = from_js(ctx, entry, &realm.current)?;
            let before = self.before.iter().find(|(before, _)| **before == *name);
            if before.is_none_or(|(_, before)| *before != value) {
                realm
                    .current
                    .scope(ctx, |scope| scope.set_variable(&name, value))?;
            }
        }
        Ok(())
    }
}
