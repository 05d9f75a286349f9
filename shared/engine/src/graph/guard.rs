//! What a definition puts around an activity for when it fails: the custom properties `retry`, `timeout`, `compensate`
//! and `compensateOn`.

use std::collections::BTreeSet;

use serde_json::Value;

use super::build::Builder;
use super::{NodeIndex, Problem};
use crate::activity_type::{self, Retry, TIMEOUT_MS_MAX};
use crate::definition::fields::Fields;

/// What is around an activity.
#[derive(Debug, Default)]
pub struct Guard {
    /// How it is tried again.
    pub retry: Option<Retry>,
    /// How long it may take with all its attempts and pauses, in ms.
    pub whole_ms: Option<i64>,
    /// How long each attempt may take, in ms.
    pub attempt_ms: Option<i64>,
    /// What undoes it once it has completed.
    pub undo: Option<NodeIndex>,
    /// Whether what had completed in it is undone when it fails.
    pub undoes_on_fault: bool,
    /// Whether what had completed in it is undone when it is cancelled.
    pub undoes_on_cancel: bool,
}

/// An activity and the name of what undoes it.
pub(super) struct NamedUndo {
    node: NodeIndex,
    name: String,
    path: String,
    /// Whether problems of it are told here, rather than where its own workflow is validated.
    is_told: bool,
}

impl Builder<'_> {
    /// Reads what is around the activity with these custom properties.
    pub(super) fn guard(&mut self, custom: Fields<'_>) -> Guard {
        let depth = self.enter("customProperties");
        let guard = Guard {
            retry: self.retry(custom),
            ..Guard::default()
        };
        let mut guard = self.timeout(custom, guard);
        self.compensate_on(custom, &mut guard);
        self.leave(depth);
        guard
    }

    fn retry(&mut self, custom: Fields<'_>) -> Option<Retry> {
        let json = custom.get("retry")?;
        let members = Value::Object([("retry".to_owned(), json.clone())].into_iter().collect());
        let (retry, flaws) = activity_type::retry(members.as_object()?);
        let is_sound = flaws.is_empty();
        for flaw in flaws {
            let depth = self.enter(&flaw.path);
            self.problem("badRetry", flaw.message);
            self.leave(depth);
        }
        if custom.object("resilienceStrategy").is_present() {
            let depth = self.enter("retry");
            self.warn(
                "twoRetries",
                "`resilienceStrategy` repeats this call already, so `retry` is ignored; remove one of them".into(),
            );
            self.leave(depth);
            return None;
        }
        is_sound.then_some(retry)
    }

    /// `timeout` is a number, or `{wholeMs, attemptMs}`; all in ms.
    fn timeout(&mut self, custom: Fields<'_>, mut guard: Guard) -> Guard {
        let Some(json) = custom.get("timeout") else {
            return guard;
        };
        let bounded = |value: &Value| {
            value
                .as_i64()
                .filter(|ms| (1..=TIMEOUT_MS_MAX).contains(ms))
        };
        let mut is_sound = true;
        match json {
            Value::Number(_) => {
                guard.whole_ms = bounded(json);
                is_sound = guard.whole_ms.is_some();
            }
            Value::Object(members) => {
                for (name, value) in members {
                    match name.as_str() {
                        "wholeMs" if value.is_null() || bounded(value).is_some() => {
                            guard.whole_ms = bounded(value);
                        }
                        "attemptMs" if value.is_null() || bounded(value).is_some() => {
                            guard.attempt_ms = bounded(value);
                        }
                        _ => is_sound = false,
                    }
                }
            }
            Value::Null | Value::Bool(_) | Value::String(_) | Value::Array(_) => is_sound = false,
        }
        if !is_sound {
            let depth = self.enter("timeout");
            self.problem(
                "badTimeout",
                format!("`timeout` is a number of milliseconds, or an object with `wholeMs` and `attemptMs`, each from 1 to {TIMEOUT_MS_MAX}"),
            );
            self.leave(depth);
        }
        guard
    }

    /// `compensateOn` is a list of `fault` and `cancel`, or one of them.
    fn compensate_on(&mut self, custom: Fields<'_>, guard: &mut Guard) {
        let given: Vec<&Value> = match custom.get("compensateOn") {
            None => return,
            Some(Value::Array(items)) => items.iter().collect(),
            Some(one) => vec![one],
        };
        for item in given {
            match item.as_str().map(str::to_ascii_lowercase).as_deref() {
                Some("fault") => guard.undoes_on_fault = true,
                Some("cancel") => guard.undoes_on_cancel = true,
                _ => {
                    let depth = self.enter("compensateOn");
                    let message = "`compensateOn` is a list of `fault` and `cancel`";
                    self.problem("badCompensate", message.into());
                    self.leave(depth);
                    return;
                }
            }
        }
    }

    /// Reads what undoes the activity being built: the name of another one in the same container, or an activity.
    pub(super) fn compensation(&mut self, index: NodeIndex, fields: Fields<'_>) {
        let Some(json) = fields.object("customProperties").get("compensate") else {
            return;
        };
        let depth = self.enter("customProperties.compensate");
        match json {
            Value::String(name) if !name.trim().is_empty() => self.named_undos.push(NamedUndo {
                node: index,
                name: name.trim().to_owned(),
                path: self.path.clone(),
                is_told: self.frames.len() == 1,
            }),
            Value::Object(members) if Fields::of_map(members).text("type").is_some() => {
                let undo = self.activity(json);
                if let Some(node) = self.nodes.get_mut(index.0 as usize) {
                    node.guard.undo = undo;
                }
            }
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_)
            | Value::Object(_) => self.problem(
                "badCompensate",
                "`compensate` is the id or the name of another activity in the same container, or an activity".into(),
            ),
        }
        self.leave(depth);
    }

    /// Finds what is named as an undo.
    pub(super) fn resolve_undos(&mut self) {
        for named in std::mem::take(&mut self.named_undos) {
            let container = self.node(named.node).and_then(|n| n.parent);
            let found = self.nodes.iter().enumerate().position(|(place, node)| {
                let is_named = node.id == named.name || node.name.as_ref() == Some(&named.name);
                is_named && node.parent == container && place != named.node.0 as usize
            });
            let found = found
                .and_then(|place| u32::try_from(place).ok())
                .map(NodeIndex);
            if found.is_none() && named.is_told {
                self.problems.push(Problem {
                    path: named.path,
                    code: "unknownCompensation",
                    message: format!(
                        "there is no other activity `{}` in the same container, which is to undo this one",
                        named.name
                    ),
                    is_error: true,
                });
            }
            if let Some(node) = self.nodes.get_mut(named.node.0 as usize) {
                node.guard.undo = found;
            }
        }
    }
}

/// The names of what only undoes others of a list of activities, and does not run in its turn.
pub(super) fn undos_among(list: &[&Value]) -> BTreeSet<String> {
    let custom = list
        .iter()
        .map(|json| Fields::of(json).object("customProperties"));
    let named = custom.filter_map(|custom| match custom.get("compensate") {
        Some(Value::String(name)) => Some(name.trim().to_owned()),
        _ => None,
    });
    named.collect()
}
