//! `Dormouse.TryCatch`: a body, what deals with its errors, and what runs after both.
//!
//! An error from anywhere below the body comes here unless something nearer deals with it. By then all that ran or waited
//! in the body is cancelled. `finally` runs once: after the body, after the catch, and before an error goes outwards.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Activity, BuiltIn, Descriptor};
use crate::activity_type::is_match;
use crate::definition::fields::Fields;
use crate::graph::{Builder, NodeIndex};
use crate::instance::{Local, Memory};
use crate::step::{Cx, Ended, Fault, Then};

/// The most catches, and the most patterns of one.
const LIST_MAX: usize = 100;
/// The most bytes of a pattern.
const PATTERN_BYTES_MAX: usize = 200;
/// The variable that a catch and `finally` see.
const ERROR: &str = "Error";

#[derive(Debug)]
struct TryCatch {
    body: Option<NodeIndex>,
    catches: Vec<Catch>,
    finally: Option<NodeIndex>,
}

/// What deals with the errors of some types.
#[derive(Debug)]
struct Catch {
    errors: Vec<String>,
    activity: Option<NodeIndex>,
}

/// How far it has got.
#[derive(Debug, Default, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Phase {
    #[default]
    Body,
    Catch,
    Finally,
    Over,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Progress {
    phase: Phase,
    /// What goes outwards after `finally`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pending: Option<Fault>,
}

pub(crate) fn built_in() -> BuiltIn {
    BuiltIn {
        descriptor: Descriptor::new(
            "Dormouse.TryCatch",
            "Errors",
            "Runs a body, deals with the errors of what is in it, and runs what comes after both.",
        )
        .plain(
            "errors",
            "String[]",
            "Types of the errors that `catch` deals with, such as `Payment.*`. Empty: all.",
        )
        .plain(
            "catches",
            "Object",
            "More catches, tried in order before `catch`: a list of `{ \"errors\": [types], \"activity\": … }`.",
        )
        .with_plain(|p| p.ui_hint = "json-editor")
        .port("body")
        .port("catch")
        .port("finally")
        .output(
            "error",
            "Object",
            "Error that was caught: type, message, activityId, activityName, data.",
        ),
        build: |builder, fields| Box::new(TryCatch::build(builder, fields)),
    }
}

impl TryCatch {
    fn build(builder: &mut Builder<'_>, fields: Fields<'_>) -> Self {
        let body = builder.child(fields, "body");
        let mut catches = Vec::new();
        let listed = fields.list("catches");
        if listed.len() > LIST_MAX {
            builder.problem("badCatch", format!("there are at most {LIST_MAX} catches"));
        }
        for (place, json) in listed.into_iter().take(LIST_MAX).enumerate() {
            let depth = builder.enter(&format!("catches[{place}]"));
            let catch = Fields::of(json);
            if catch.is_present() {
                catches.push(Catch {
                    errors: patterns(builder, catch),
                    activity: builder.child(catch, "activity"),
                });
            } else {
                builder.problem(
                    "badCatch",
                    "a catch is an object with `errors` and `activity`".into(),
                );
            }
            builder.leave(depth);
        }
        let others = builder.child(fields, "catch");
        if others.is_some() {
            catches.push(Catch {
                errors: patterns(builder, fields),
                activity: others,
            });
        }
        let finally = builder.child(fields, "finally");
        if body.is_none() {
            builder.warn("noBody", "a TryCatch without a `body` does nothing".into());
        }
        if catches.is_empty() && finally.is_none() {
            let message = "a TryCatch without `catch`, `catches` and `finally` deals with nothing";
            builder.warn("noCatch", message.into());
        }
        Self {
            body,
            catches,
            finally,
        }
    }

    fn catch(&self, fault: &Fault) -> Option<&Catch> {
        let mut catches = self.catches.iter();
        catches.find(|c| {
            c.errors
                .iter()
                .any(|pattern| is_match(pattern, &fault.kind))
        })
    }

    /// Runs `finally`, or ends as it would after it.
    fn go_to_finally(&self, cx: &mut Cx<'_, '_>, pending: Option<Fault>) -> Then {
        let Some(finally) = self.finally else {
            return end(cx, pending);
        };
        let error = pending.as_ref().map_or(Value::Null, Fault::error);
        remember(cx, Phase::Finally, pending);
        cx.schedule_with(finally, 0, vec![local(error)]);
        Then::Wait
    }

    fn go_on(&self, cx: &mut Cx<'_, '_>) -> Then {
        let progress = progress_of(cx.memory()).unwrap_or_default();
        match progress.phase {
            Phase::Body | Phase::Catch => self.go_to_finally(cx, None),
            Phase::Finally | Phase::Over => end(cx, progress.pending),
        }
    }
}

/// Ends, or passes an error on.
fn end(cx: &mut Cx<'_, '_>, pending: Option<Fault>) -> Then {
    let Some(fault) = pending else {
        return Then::DONE;
    };
    remember(cx, Phase::Over, None);
    cx.raise(fault);
    Then::Wait
}

fn remember(cx: &mut Cx<'_, '_>, phase: Phase, pending: Option<Fault>) {
    let progress = Progress { phase, pending };
    *cx.memory() = Memory::Json(serde_json::to_value(progress).unwrap_or(Value::Null));
}

fn progress_of(memory: &Memory) -> Option<Progress> {
    match memory {
        Memory::Json(json) => serde_json::from_value(json.clone()).ok(),
        Memory::None | Memory::Count(_) | Memory::Flow(_) | Memory::Retry(_) => None,
    }
}

fn local(error: Value) -> Local {
    (ERROR.to_owned(), error)
}

/// The types of errors that a catch deals with.
fn patterns(builder: &mut Builder<'_>, fields: Fields<'_>) -> Vec<String> {
    let list: Vec<&Value> = match fields.get("errors") {
        None => Vec::new(),
        Some(Value::Array(items)) => items.iter().collect(),
        Some(one) => vec![one],
    };
    let is_pattern = |text: &str| !text.trim().is_empty() && text.len() <= PATTERN_BYTES_MAX;
    let texts: Option<Vec<String>> = list
        .iter()
        .map(|item| {
            item.as_str()
                .filter(|t| is_pattern(t))
                .map(|t| t.trim().to_owned())
        })
        .collect();
    match texts.filter(|texts| texts.len() <= LIST_MAX) {
        Some(texts) if texts.is_empty() => vec!["*".to_owned()],
        Some(texts) => texts,
        None => {
            let depth = builder.enter("errors");
            builder.problem(
                "badCatch",
                format!("`errors` is a list of at most {LIST_MAX} types, such as `Payment.Declined` or `Payment.*`, of at most {PATTERN_BYTES_MAX} bytes each"),
            );
            builder.leave(depth);
            Vec::new()
        }
    }
}

impl Activity for TryCatch {
    fn execute(&self, cx: &mut Cx<'_, '_>) -> Result<Then, Fault> {
        remember(cx, Phase::Body, None);
        match self.body {
            Some(body) => {
                cx.schedule(body);
                Ok(Then::Wait)
            }
            None => Ok(self.go_on(cx)),
        }
    }

    fn child_ended(&self, cx: &mut Cx<'_, '_>, _child: &Ended) -> Result<Then, Fault> {
        Ok(self.go_on(cx))
    }

    fn child_cancelled(&self, cx: &mut Cx<'_, '_>, _child: &Ended) -> Result<Then, Fault> {
        Ok(self.go_on(cx))
    }

    fn handles(&self, memory: &Memory, fault: &Fault, is_own: bool) -> bool {
        match progress_of(memory).map(|progress| progress.phase) {
            Some(Phase::Body) => self.finally.is_some() || (!is_own && self.catch(fault).is_some()),
            Some(Phase::Catch) => self.finally.is_some(),
            Some(Phase::Finally | Phase::Over) | None => false,
        }
    }

    /// An own error, such as the end of its time, is none of the body's.
    fn caught(&self, cx: &mut Cx<'_, '_>, fault: Fault, is_own: bool) -> Result<Then, Fault> {
        let phase = progress_of(cx.memory()).unwrap_or_default().phase;
        let is_body = phase == Phase::Body && !is_own;
        let Some(catch) = self.catch(&fault).filter(|_| is_body) else {
            return Ok(self.go_to_finally(cx, Some(fault)));
        };
        let error = fault.error();
        cx.set_output("error", error.clone());
        let Some(activity) = catch.activity else {
            return Ok(self.go_to_finally(cx, None));
        };
        remember(cx, Phase::Catch, None);
        cx.schedule_with(activity, 0, vec![local(error)]);
        Ok(Then::Wait)
    }
}

#[cfg(test)]
mod tests;
