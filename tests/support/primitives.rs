//! Elsa's activities, one short function each, so that a definition in a test reads as its outline.

use serde_json::{Value, json};

use crate::activity::{Activity, Expr, activity, js};

/// `WriteLine` of its own id: the usual way to see which activity ran.
#[must_use]
pub fn line(id: &str) -> Activity {
    write(id).id(id)
}

/// `WriteLine` of a text or an expression.
#[must_use]
pub fn write(text: impl Into<Expr>) -> Activity {
    activity("Elsa.WriteLine").input("text", text)
}

/// `Sequence`.
#[must_use]
pub fn sequence(activities: impl IntoIterator<Item = Activity>) -> Activity {
    activity("Elsa.Sequence").children("activities", activities)
}

/// `Parallel`.
#[must_use]
pub fn parallel(activities: impl IntoIterator<Item = Activity>) -> Activity {
    activity("Elsa.Parallel").children("activities", activities)
}

/// `Fork` with a join mode, `WaitAll` or `WaitAny`.
#[must_use]
pub fn fork(join_mode: &str, branches: impl IntoIterator<Item = Activity>) -> Activity {
    activity("Elsa.Fork")
        .set("joinMode", join_mode)
        .children("branches", branches)
}

/// `If` with a branch for true.
#[must_use]
pub fn if_(condition: impl Into<Expr>, then: Activity) -> Activity {
    activity("Elsa.If")
        .input("condition", condition)
        .port("then", then)
}

/// `While`.
#[must_use]
pub fn while_(condition: impl Into<Expr>, body: Activity) -> Activity {
    activity("Elsa.While")
        .input("condition", condition)
        .port("body", body)
}

/// `For`, both bounds included.
#[must_use]
pub fn for_(start: i64, end: i64, body: Activity) -> Activity {
    activity("Elsa.For")
        .input("start", start)
        .input("end", end)
        .port("body", body)
}

/// `ForEach`.
#[must_use]
pub fn for_each(items: Expr, body: Activity) -> Activity {
    activity("Elsa.ForEach")
        .input("items", items)
        .port("body", body)
}

/// `ParallelForEach`.
#[must_use]
pub fn parallel_for_each(items: Expr, body: Activity) -> Activity {
    activity("Elsa.ParallelForEach")
        .input("items", items.scripted())
        .port("body", body)
}

/// A case of `Switch` or `FlowSwitch`; the latter has no activity.
#[must_use]
pub fn case(label: &str, condition: impl Into<Expr>, then: Option<Activity>) -> Value {
    json!({ "label": label, "condition": condition.into().json(), "activity": then.map(Activity::json) })
}

/// `Switch`.
#[must_use]
pub fn switch(mode: &str, cases: Vec<Value>) -> Activity {
    activity("Elsa.Switch")
        .input("mode", mode)
        .set("cases", cases)
}

/// `FlowSwitch`.
#[must_use]
pub fn flow_switch(mode: &str, cases: Vec<Value>) -> Activity {
    activity("Elsa.FlowSwitch")
        .input("mode", mode)
        .set("cases", cases)
}

/// `FlowDecision`.
#[must_use]
pub fn decision(condition: impl Into<Expr>) -> Activity {
    activity("Elsa.FlowDecision").input("condition", condition)
}

/// `FlowJoin`.
#[must_use]
pub fn join(mode: &str) -> Activity {
    activity("Elsa.FlowJoin").input("mode", mode)
}

/// `Break`.
#[must_use]
pub fn break_() -> Activity {
    activity("Elsa.Break")
}

/// `Complete` with outcomes.
#[must_use]
pub fn complete(outcomes: &[&str]) -> Activity {
    activity("Elsa.Complete").input("outcomes", crate::object(json!(outcomes)))
}

/// `Finish`.
#[must_use]
pub fn finish() -> Activity {
    activity("Elsa.Finish")
}

/// `Fault` with a message.
#[must_use]
pub fn fault(message: &str) -> Activity {
    activity("Elsa.Fault").input("message", message)
}

/// `Event`; its id is the event's name.
#[must_use]
pub fn event(name: &str) -> Activity {
    activity("Elsa.Event").id(name).input("eventName", name)
}

/// `PublishEvent`.
#[must_use]
pub fn publish(name: &str, payload: Value) -> Activity {
    activity("Elsa.PublishEvent")
        .input("eventName", name)
        .input("payload", crate::object(payload))
}

/// `Delay` for a length of time as .NET writes it.
#[must_use]
pub fn delay(time: &str) -> Activity {
    activity("Elsa.Delay").input("timeSpan", time)
}

/// `SetVariable`.
#[must_use]
pub fn set(variable: &str, value: impl Into<Expr>) -> Activity {
    activity("Elsa.SetVariable")
        .set("variable", json!({ "id": variable, "name": variable }))
        .input("value", value)
}

/// Half a megabyte that does not get smaller by compression: digits of pseudo-random numbers, in which nothing repeats.
#[must_use]
pub fn incompressible() -> Expr {
    js("let x = 1, s = []; for (let i = 0; i < 100000; i++) { \
        x = (x * 48271) % 2147483647; s.push(x.toString(36)); } return s.join('');")
}

/// `SetOutput`.
#[must_use]
pub fn set_output(name: &str, value: impl Into<Expr>) -> Activity {
    activity("Elsa.SetOutput")
        .input("outputName", name)
        .input("outputValue", value)
}

/// `RunJavaScript`.
#[must_use]
pub fn run_js(script: &str) -> Activity {
    activity("Elsa.RunJavaScript").input("script", script)
}

/// `RunTask`; its id is the task's name.
#[must_use]
pub fn task(name: &str) -> Activity {
    activity("Elsa.RunTask").id(name).input("taskName", name)
}

/// `DispatchWorkflow`.
#[must_use]
pub fn dispatch(definition_id: &str, must_wait: bool) -> Activity {
    activity("Elsa.DispatchWorkflow")
        .input("workflowDefinitionId", definition_id)
        .input("waitForCompletion", must_wait)
}

/// `ExecuteWorkflow`.
#[must_use]
pub fn execute(definition_id: &str, must_wait: bool) -> Activity {
    activity("Elsa.ExecuteWorkflow")
        .input("workflowDefinitionId", definition_id)
        .input("waitForCompletion", must_wait)
}

/// `BulkDispatchWorkflows` over items.
#[must_use]
pub fn bulk(definition_id: &str, items: Value, must_wait: bool) -> Activity {
    activity("Elsa.BulkDispatchWorkflows")
        .input("workflowDefinitionId", definition_id)
        .input("items", crate::object(items))
        .input("waitForCompletion", must_wait)
}

/// `HttpEndpoint` that starts workflows.
#[must_use]
pub fn endpoint(path: &str, methods: &[&str]) -> Activity {
    activity("Elsa.HttpEndpoint")
        .id("Endpoint")
        .input("path", path)
        .input("supportedMethods", crate::object(json!(methods)))
        .trigger()
}

/// `WriteHttpResponse` with a body.
#[must_use]
pub fn respond(content: impl Into<Expr>) -> Activity {
    activity("Elsa.WriteHttpResponse").input("content", content)
}

/// `Throw` of an error of a type.
#[must_use]
pub fn throw(kind: &str) -> Activity {
    activity("Dormouse.Throw")
        .input("errorType", kind)
        .input("message", format!("{kind} was raised").as_str())
}

/// `TryCatch` with a body and a catch for all errors.
#[must_use]
pub fn try_catch(body: Activity, catch: Activity) -> Activity {
    activity("Dormouse.TryCatch")
        .port("body", body)
        .port("catch", catch)
}
