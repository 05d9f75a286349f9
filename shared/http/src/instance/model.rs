//! An instance and its state as Elsa's API spells them.

use dormouse_engine::activity::event::EVENT;
use dormouse_engine::definition::declaration::Storage;
use dormouse_engine::graph::{Graph, ROOT};
use dormouse_engine::id::ContextId;
use dormouse_engine::instance::{Bookmark, Context, Incident, Instance, Wait};
use dormouse_engine::sensitive::redact;
use dormouse_engine::time::Timestamp;
use dormouse_runtime::query::{ActivityExecution, Summary};
use serde_json::{Map, Value, json};

use crate::activity_execution::depth;
use crate::exception;

/// What lists show.
pub(crate) fn summary(id: &str, summary: &Summary) -> Map<String, Value> {
    let time = |ms: i64| Timestamp(ms).to_string();
    let mut out = Map::new();
    let mut put = |name: &str, value: Value| out.insert(name.into(), value);
    put("id", id.into());
    put("definitionId", summary.definition_id.as_str().into());
    put(
        "definitionVersionId",
        summary.definition_version_id.as_str().into(),
    );
    put("version", summary.definition_version.into());
    put("parentWorkflowInstanceId", json!(summary.parent_id));
    put("status", summary.status.as_str().into());
    put("subStatus", summary.sub_status.as_str().into());
    put("correlationId", json!(summary.correlation_id));
    put("name", json!(summary.name));
    put("incidentCount", summary.incident_count.into());
    put("isSystem", summary.is_system.into());
    put("isExecuting", (summary.sub_status == "Executing").into());
    put("createdAt", time(summary.created_ms).into());
    put("updatedAt", time(summary.updated_ms).into());
    put("finishedAt", json!(summary.finished_ms.map(time)));
    if !summary.attributes.is_empty() {
        put("searchAttributes", json!(summary.attributes));
    }
    out
}

/// The state: Elsa's `workflowState`, without the credentials in it.
#[must_use]
pub fn state(instance: &Instance, graph: &Graph) -> Value {
    let bookmarks = instance.bookmarks.iter().chain(&instance.left);
    let parent = instance.parent.as_ref().map(|p| p.instance.as_str());
    let mut state = json!({
        "id": instance.id.as_str(),
        "definitionId": instance.definition_id,
        "definitionVersionId": instance.version_id,
        "definitionVersion": instance.version,
        "parentWorkflowInstanceId": parent,
        "correlationId": instance.correlation_id,
        "name": instance.name,
        "status": instance.status().as_str(),
        "subStatus": instance.sub_status.as_str(),
        "isExecuting": false,
        "isSystem": false,
        "bookmarks": bookmarks.map(|b| bookmark(b, instance, graph)).collect::<Vec<_>>(),
        "incidents": instance.incidents.iter().map(incident).collect::<Vec<_>>(),
        "completionCallbacks": callbacks(instance, graph),
        "activityExecutionContexts": contexts(instance, graph),
        "scheduledActivities": instance.queue.iter().map(|work| json!({
            "activityNodeId": graph.node(work.node).node_id,
            "ownerContextId": work.owner.map(|o| instance.context_text(o)),
        })).collect::<Vec<_>>(),
        "executionLogSequence": instance.sequence,
        "input": instance.input,
        "output": instance.output,
        "properties": instance.properties,
        "createdAt": instance.created_at.to_string(),
        "updatedAt": instance.updated_at.to_string(),
        "finishedAt": instance.finished_at.map(|t| t.to_string()),
    });
    redact(&mut state);
    state
}

/// An open bookmark. `due` and `taskId` are not Elsa's: they say at a glance what it waits for.
pub(crate) fn bookmark(bookmark: &Bookmark, instance: &Instance, graph: &Graph) -> Value {
    let context = instance.contexts.get(&bookmark.context);
    let node = context.map(|c| graph.node(c.node));
    let kind = match &bookmark.wait {
        Wait::Stimulus { .. } => "stimulus",
        Wait::Timer { .. } => "timer",
        Wait::Direct => "direct",
        Wait::Call(_) => "call",
    };
    json!({
        "id": bookmark.id.as_str(),
        "name": bookmark.name,
        "hash": bookmark.hash(),
        "payload": payload(&bookmark.payload),
        "activityId": node.map(|n| &n.id),
        "activityNodeId": node.map(|n| &n.node_id),
        "activityName": node.and_then(|n| n.name.as_ref()),
        "activityInstanceId": instance.context_text(bookmark.context),
        "createdAt": bookmark.created_at.to_string(),
        "autoBurn": bookmark.auto_burn,
        "autoComplete": true,
        "callbackMethodName": Some("CompleteInternalAsync").filter(|_| bookmark.name == EVENT),
        "waitsFor": kind,
        "due": bookmark.due().map(|t| t.to_string()),
    })
}

/// A payload with its members in Elsa's casing too.
fn payload(payload: &Value) -> Value {
    let mut payload = payload.clone();
    if let Value::Object(members) = &mut payload {
        for (name, value) in members.clone() {
            let mut chars = name.chars();
            let first = chars.next().map(|c| c.to_ascii_lowercase());
            let camel: String = first.into_iter().chain(chars).collect();
            members.entry(camel).or_insert(value);
        }
    }
    payload
}

fn incident(incident: &Incident) -> Value {
    json!({
        "activityId": incident.activity_id,
        "activityNodeId": incident.activity_node_id,
        "activityInstanceId": incident.activity_instance_id,
        "activityType": incident.activity_type,
        "message": exception::head(&incident.message),
        "cause": exception::cause(&incident.message),
        "exception": exception::told(&json!(incident.exception)),
        "timestamp": incident.timestamp.to_string(),
    })
}

/// What is called when a child ends: Elsa's names.
fn callbacks(instance: &Instance, graph: &Graph) -> Vec<Value> {
    let contexts = instance.contexts.values();
    let callbacks = contexts.filter_map(|context| {
        let owner = context.owner?;
        let is_root = instance.contexts.get(&owner)?.owner.is_none();
        let method = if is_root {
            "OnRootCompletedAsync"
        } else {
            "OnChildCompletedAsync"
        };
        Some(json!({
            "ownerInstanceId": instance.context_text(owner),
            "childNodeId": graph.node(context.node).node_id,
            "methodName": method,
        }))
    });
    callbacks.collect()
}

/// The open executions, the latest first; of an instance that has ended the workflow's own.
fn contexts(instance: &Instance, graph: &Graph) -> Vec<Value> {
    let open = instance.contexts.iter().rev();
    let mut open: Vec<Value> = open
        .map(|(id, c)| context(*id, c, instance, graph))
        .collect();
    let root = open
        .iter_mut()
        .find(|context| context["parentContextId"].is_null());
    if let Some(root) = root {
        root["properties"] = kept_variables(instance, graph);
    }
    if !open.is_empty() || instance.finished_at.is_none() {
        return open;
    }
    vec![json!({
        "id": instance.context_text(ContextId::default()),
        "scheduledActivityNodeId": graph.node(ROOT).node_id,
        "properties": kept_variables(instance, graph),
        "metadata": {},
        "activityState": {},
        "dynamicVariables": [],
        "status": "Completed",
        "isExecuting": false,
        "faultCount": 0,
        "callStackDepth": 0,
        "startedAt": instance.created_at.to_string(),
        "completedAt": instance.finished_at.map(|t| t.to_string()),
    })]
}

/// What a workflow keeps: its variables that are stored with it and have a value.
fn kept_variables(instance: &Instance, graph: &Graph) -> Value {
    let declared = (0..).zip(&graph.node(ROOT).variables);
    let mut declared = declared
        .filter(|(_, v)| v.storage == Storage::Instance)
        .peekable();
    if declared.peek().is_none() {
        return json!({});
    }
    let values = declared.filter_map(|(place, variable)| {
        let value = instance.variable(place).unwrap_or(&variable.default);
        (!value.is_null()).then(|| (variable.name.clone(), value.clone()))
    });
    json!({ "Variables": Map::from_iter(values) })
}

/// Adds to a state what the journal tells of its executions.
pub(super) fn enrich(state: &mut Value, executions: &[ActivityExecution]) {
    let Some(Value::Array(contexts)) = state.get_mut("activityExecutionContexts") else {
        return;
    };
    for context in contexts {
        let found = executions.iter().find(|e| context["id"] == e.id.as_str());
        let Some(execution) = found else {
            continue;
        };
        context["callStackDepth"] = depth(execution, executions).into();
        if execution.activity_state.is_object() {
            context["activityState"] = execution.activity_state.clone();
        }
        if !execution.flow_scope.is_null() {
            context["properties"] = json!({ "FlowScope": execution.flow_scope });
        }
    }
    redact(state);
}

fn context(id: ContextId, context: &Context, instance: &Instance, graph: &Graph) -> Value {
    let owner = context.owner.and_then(|o| instance.contexts.get(&o));
    let locals = context.locals.iter();
    json!({
        "id": instance.context_text(id),
        "parentContextId": context.owner.map(|o| instance.context_text(o)),
        "scheduledActivityNodeId": graph.node(context.node).node_id,
        "ownerActivityNodeId": owner.map(|o| &graph.node(o.node).node_id),
        "properties": {},
        "metadata": {},
        "activityState": {},
        "dynamicVariables": locals.map(|(name, value)| json!({ "name": name, "value": value })).collect::<Vec<_>>(),
        "status": if context.is_faulted { "Faulted" } else { "Running" },
        "isExecuting": false,
        "faultCount": context.faults,
        "callStackDepth": 0,
        "startedAt": context.started_at.to_string(),
    })
}
