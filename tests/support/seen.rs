//! What one stimulus brought about, as short text that a test can be compared with.

use dormouse_engine::call::HttpResponse;
use dormouse_engine::effect::Effect;
use dormouse_engine::graph::Graph;
use dormouse_engine::instance::{Instance, SubStatus};
use dormouse_engine::journal::{Entry, Event};
use dormouse_engine::time::{Timestamp, format_duration};
use serde_json::{Map, Value};

use crate::Expected;
use crate::host::Kept;

/// What one stimulus brought about in one instance.
#[derive(Debug, Clone, PartialEq)]
pub struct Seen {
    /// What the instance is doing now, or how it ended.
    pub sub_status: SubStatus,
    /// Lines written, by this instance and those it started.
    pub lines: Vec<String>,
    /// Messages of all its incidents.
    pub incidents: Vec<String>,
    /// Activities that wait, one entry for each open bookmark.
    pub waits: Vec<String>,
    /// What it asked for.
    pub effects: Vec<String>,
    /// Its outputs.
    pub output: Map<String, Value>,
    /// Its answer to the HTTP request.
    pub response: Option<HttpResponse>,
    /// What it did, see [`journal_text`].
    pub journal: String,
}

impl Seen {
    /// Reads an instance: its state now, and what it did since it had done `journal` and `effects` things.
    #[must_use]
    pub fn read(
        kept: &Kept,
        journal: usize,
        effects: usize,
        lines: &[String],
        now: Timestamp,
    ) -> Self {
        let instance = kept.instance.clone();
        let node_id = |context| {
            instance
                .contexts
                .get(&context)
                .map(|c| kept.graph.node(c.node).id.clone())
        };
        Self {
            sub_status: instance.sub_status,
            lines: lines.to_vec(),
            incidents: instance
                .incidents
                .iter()
                .map(|i| i.message.clone())
                .collect(),
            waits: instance
                .bookmarks
                .iter()
                .filter_map(|b| node_id(b.context))
                .collect(),
            effects: kept.effects[effects..]
                .iter()
                .map(|e| effect_text(e, &instance, &kept.graph, now))
                .collect(),
            output: instance.output.clone(),
            response: kept.response.clone(),
            journal: journal_text(&kept.journal[journal..], &kept.graph),
        }
    }

    /// Asserts that this is what was expected, and nothing more. The journal is compared where it is given.
    #[track_caller]
    pub fn is(&self, expected: Expected) -> &Self {
        let mut wanted = expected.into_seen();
        if wanted.journal.is_empty() {
            wanted.journal.clone_from(&self.journal);
        }
        assert!(*self == wanted, "\n  seen: {self:#?}\nwanted: {wanted:#?}");
        self
    }

    /// Asserts a sub-status and the lines, whatever else happened.
    #[track_caller]
    pub fn shows(&self, sub_status: SubStatus, lines: &[&str]) -> &Self {
        assert_eq!(self.lines, lines, "lines of {self:#?}");
        assert_eq!(self.sub_status, sub_status, "sub-status of {self:#?}");
        self
    }
}

fn effect_text(effect: &Effect, instance: &Instance, graph: &Graph, now: Timestamp) -> String {
    let activity = |id| {
        let context = instance
            .bookmark(id)
            .and_then(|b| instance.contexts.get(&b.context));
        context.map_or_else(|| "?".to_owned(), |c| graph.node(c.node).id.clone())
    };
    match effect {
        Effect::Timer { bookmark, due } => {
            format!(
                "timer {} {}",
                activity(bookmark),
                format_duration(due.0 - now.0)
            )
        }
        Effect::StartChild(child) => format!("start {}", child.definition_id),
        Effect::PublishEvent {
            name,
            correlation_id,
            instance,
            payload,
        } => {
            let to = correlation_id
                .as_deref()
                .map_or(String::new(), |c| format!(" to {c}"));
            let scope = if instance.is_some() {
                "tell itself"
            } else {
                "publish"
            };
            format!("{scope} {name} {payload}{to}")
        }
        Effect::RequestTask { name, payload, .. } => format!("task {name} {payload}"),
        Effect::Perform { activity_type, .. } => format!("perform {activity_type}"),
        Effect::ResumeParent { parent, .. } => format!("resume {parent}"),
        Effect::CancelChild { .. } => "cancel child".into(),
        Effect::CallInBackground { .. } => "call in the background".into(),
    }
}

/// A journal as one line: an activity's id, and what happened to it. `+` started, `-` completed (with outcomes other
/// than Done), `~` suspended, `>` resumed, `!` faulted, `x` cancelled, `?` may not run, `@` retried,
/// `<` compensating.
#[must_use]
pub fn journal_text(entries: &[Entry], graph: &Graph) -> String {
    let all: Vec<String> = entries.iter().map(|e| entry_text(e, graph)).collect();
    all.join(" ")
}

fn entry_text(entry: &Entry, graph: &Graph) -> String {
    let id = &graph.node(entry.node).id;
    match entry.event {
        Event::Started => format!("{id}+"),
        Event::Completed => match entry.data.get("outcomes").and_then(Value::as_array) {
            Some(outcomes) if *outcomes != ["Done"] => {
                let names: Vec<_> = outcomes.iter().filter_map(Value::as_str).collect();
                format!("{id}-{}", names.join("/"))
            }
            Some(_) | None => format!("{id}-"),
        },
        Event::Suspended => format!("{id}~"),
        Event::Resumed => format!("{id}>"),
        Event::Faulted => format!("{id}!"),
        Event::Canceled => format!("{id}x"),
        Event::PreconditionFailed => format!("{id}?"),
        Event::Retrying => format!("{id}@"),
        Event::WorkflowCancelled => "cancelled".into(),
        Event::Altered => "altered".into(),
        Event::Error => format!("{id}*"),
        Event::Compensating => format!("{id}<"),
    }
}
