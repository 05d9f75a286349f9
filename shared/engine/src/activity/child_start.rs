//! How the activities that start other workflows make a child, and what they are told of its end.

use serde_json::{Map, Value};

use crate::effect::{Child, Effect, ParentLink};
use crate::id::BookmarkId;
use crate::instance::Memory;
use crate::instance::Start;
use crate::step::{Cx, Fault, NOT_STARTED};

/// The instance property and the input under which a child knows its parent, as in Elsa.
const PARENT: &str = "ParentInstanceId";

/// The instance property of a child whose parent waits for it, as in Elsa.
const WAITS: &str = "WaitForCompletion";

/// The definition that an activity names.
pub(super) fn definition_id(cx: &mut Cx<'_, '_>) -> Result<String, Fault> {
    let id = cx.text("workflowDefinitionId")?;
    id.filter(|id| !id.is_empty())
        .ok_or_else(|| Fault::new("InvalidInput", "no workflow definition is named"))
}

/// The input that an activity gives to its children, and whether the definition has any.
pub(super) fn input(cx: &mut Cx<'_, '_>) -> Result<(Map<String, Value>, bool), Fault> {
    match cx.input("input")? {
        Value::Object(input) => Ok((input, true)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Ok((Map::new(), false))
        }
    }
}

/// Notes the input as it is given: that of an activity that waited is told of without what the child was given besides.
pub(super) fn note_given(cx: &mut Cx<'_, '_>) -> Result<(), Fault> {
    let input = cx.input("input")?;
    cx.note_input("input", &input);
    Ok(())
}

/// A child with an id of its own. `waiting`: the bookmark that its end resumes.
pub(super) fn child(
    cx: &mut Cx<'_, '_>,
    definition_id: &str,
    correlation_id: Option<String>,
    mut input: Map<String, Value>,
    waiting: Option<&BookmarkId>,
) -> Child {
    let (serial, instance) = cx.new_child();
    let parent = cx.instance_id().clone();
    let mut properties = Map::new();
    properties.insert(PARENT.into(), parent.as_str().into());
    if waiting.is_some() {
        properties.insert(WAITS.into(), true.into());
    }
    input.insert(PARENT.into(), parent.as_str().into());
    Child {
        instance,
        definition_id: definition_id.into(),
        start: Start {
            input,
            correlation_id: correlation_id.filter(|id| !id.is_empty()),
            properties,
            parent: Some(ParentLink {
                instance: parent,
                bookmark: waiting.cloned(),
                serial,
            }),
            ..Start::default()
        },
    }
}

/// Remembers children until it is known that their workflow is there.
pub(super) fn hold(cx: &mut Cx<'_, '_>, children: &[Child]) {
    // A child is plain data, so it always has a JSON form.
    *cx.memory() = Memory::Json(serde_json::to_value(children).unwrap_or_default());
}

/// Lets the remembered children start, and forgets them.
pub(super) fn release(cx: &mut Cx<'_, '_>) -> Vec<Child> {
    let children = match std::mem::take(cx.memory()) {
        Memory::Json(held) => serde_json::from_value::<Vec<Child>>(held).unwrap_or_default(),
        Memory::None | Memory::Count(_) | Memory::Flow(_) | Memory::Retry(_) => Vec::new(),
    };
    for child in &children {
        cx.effect(Effect::StartChild(child.clone()));
    }
    children
}

/// The failure of an activity whose workflow is not there.
pub(super) fn not_found(message: impl Into<String>) -> Fault {
    Fault::new("WorkflowNotFound", message)
}

/// What a child's end tells.
pub(super) struct End {
    pub(super) instance: String,
    pub(super) serial: u64,
    pub(super) sub_status: String,
    pub(super) output: Value,
}

impl End {
    /// What the burst was given.
    ///
    /// # Errors
    ///
    /// A [`Fault`] if the child could not be started.
    pub(super) fn read(cx: &Cx<'_, '_>) -> Result<Self, Fault> {
        let input = cx.burst_inputs();
        let text = |name: &str| {
            input
                .get(name)
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned()
        };
        let sub_status = text("SubStatus");
        if sub_status == NOT_STARTED {
            return Err(not_found(text("Message")));
        }
        Ok(Self {
            instance: text("ChildInstanceId"),
            serial: input
                .get("ChildSerial")
                .and_then(Value::as_u64)
                .unwrap_or(0),
            sub_status,
            output: input.get("Output").cloned().unwrap_or(Value::Null),
        })
    }
}
