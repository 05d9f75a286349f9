//! Telling what happens while it happens.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use dormouse_engine::graph::Graph;
use dormouse_engine::journal::{Entry, Event};
use dormouse_runtime::port::{Happened, Observer};
use tokio::sync::Notify;
use tokio::sync::futures::Notified;

use crate::moment;
use crate::screen::Screen;

/// Writes each commit's lines and events to the screen, and notifies the command that follows an instance.
pub(super) struct Narrator {
    screen: Screen,
    since: Instant,
    changed: Notify,
    lines: Mutex<Vec<String>>,
}

impl Narrator {
    pub(super) fn new(screen: Screen) -> Self {
        Self {
            screen,
            since: Instant::now(),
            changed: Notify::new(),
            lines: Mutex::default(),
        }
    }

    /// Returns after the next commit.
    pub(super) fn changed(&self) -> Notified<'_> {
        self.changed.notified()
    }

    /// All lines that were written, in order.
    pub(super) fn lines(&self) -> Vec<String> {
        self.lines
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    fn tell(&self, graph: &Graph, entry: &Entry) {
        let node = graph.node(entry.node);
        let name = node.name.as_deref().unwrap_or(&node.id);
        let what = match entry.event {
            Event::Compensating => format!("{name} undoes what had completed in it"),
            Event::Started | Event::PreconditionFailed | Event::Altered | Event::Error => return,
            Event::Completed if node.activity.is_container() || node.activity.is_workflow() => {
                return;
            }
            Event::Completed => format!("{name} done"),
            Event::Suspended => format!("{name} waits"),
            Event::Resumed => format!("{name} resumed"),
            Event::Canceled => format!("{name} cancelled"),
            Event::Faulted => {
                let exception = entry.data.get("exception");
                let message = exception.and_then(|e| e.get("message")?.as_str());
                format!("{name} failed: {}", message.unwrap_or_default())
            }
            Event::Retrying => format!("{name} retries"),
            Event::WorkflowCancelled => "cancelled".to_owned(),
        };
        let ms = i64::try_from(self.since.elapsed().as_millis()).unwrap_or(i64::MAX);
        let line = format!("+{:<8} {what}", moment::length(ms));
        self.screen.line(self.screen.dim(&line));
    }
}

impl Observer for Narrator {
    fn happened(&self, happened: Happened<'_>) {
        // Each line of a `WriteLine` stands before the end of it, other lines after everything.
        let mut written = happened.lines.iter();
        for entry in happened.journal {
            let is_write_line = happened.graph.node(entry.node).type_name == "Elsa.WriteLine";
            if is_write_line && matches!(entry.event, Event::Completed) {
                written
                    .by_ref()
                    .take(1)
                    .for_each(|line| self.screen.line(line));
            }
            self.tell(happened.graph, entry);
        }
        written.for_each(|line| self.screen.line(line));
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        lines.extend_from_slice(happened.lines);
        drop(lines);
        self.changed.notify_waiters();
    }
}
