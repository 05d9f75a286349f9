//! A workflow as a picture: its activities, how they are connected, and how each stands in an instance.

mod layout;
mod mermaid;
mod svg;

use std::collections::{BTreeMap, BTreeSet};

use dormouse_engine::definition::fields::Fields;
use serde_json::Value;

pub(crate) use mermaid::mermaid;
pub(crate) use svg::svg;

/// Deepest nesting of activities that is drawn.
const DEPTH_MAX: u32 = 64;

/// The state of an activity in an instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum State {
    /// It did not run.
    #[default]
    Idle,
    /// It runs or waits.
    Running,
    /// It completed.
    Done,
    /// It failed.
    Failed,
    /// It was cancelled.
    Cancelled,
}

impl State {
    /// The state after an event of the journal.
    pub(crate) fn after(event: &str) -> Self {
        match event {
            "Completed" => Self::Done,
            "Faulted" => Self::Failed,
            "Canceled" => Self::Cancelled,
            _ => Self::Running,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Running => "running",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }
}

/// An activity.
#[derive(Debug, Clone)]
struct Box {
    id: String,
    name: String,
    kind: String,
    state: State,
    /// The designer's coordinates.
    place: Option<(f64, f64)>,
}

/// A connection, or the way from a container to what is in it.
#[derive(Debug, Clone)]
struct Arrow {
    from: usize,
    to: usize,
    label: String,
    is_inner: bool,
}

/// The picture.
#[derive(Debug, Default)]
pub(crate) struct Picture {
    boxes: Vec<Box>,
    arrows: Vec<Arrow>,
}

impl Picture {
    /// The picture of a definition's root, with the states of its activities by id.
    pub(crate) fn of(root: &Value, states: &BTreeMap<String, State>) -> Self {
        let mut picture = Self::default();
        let fields = Fields::of(root);
        let kind = fields.text("type").unwrap_or_default();
        match kind.as_str() {
            // The outermost container is the picture itself.
            "Elsa.Flowchart" | "Elsa.Sequence" => {
                picture.inside(fields, &kind, None, states, DEPTH_MAX);
            }
            _ => {
                picture.add(root, states, DEPTH_MAX);
            }
        }
        picture
    }

    /// Adds an activity with everything in it. `None`: it is not one.
    fn add(
        &mut self,
        activity: &Value,
        states: &BTreeMap<String, State>,
        depth: u32,
    ) -> Option<usize> {
        let fields = Fields::of(activity);
        let kind = fields.text("type")?;
        let id = fields.text("id")?;
        let position = fields
            .object("metadata")
            .object("designer")
            .object("position");
        let number = |name: &str| position.get(name).and_then(Value::as_f64);
        let short = kind.strip_prefix("Elsa.").unwrap_or(&kind).to_owned();
        let index = self.boxes.len();
        self.boxes.push(Box {
            name: fields.text("name").unwrap_or_else(|| id.clone()),
            state: states.get(&id).copied().unwrap_or_default(),
            place: number("x").zip(number("y")),
            kind: short,
            id,
        });
        self.inside(fields, &kind, Some(index), states, depth);
        Some(index)
    }

    fn inside(
        &mut self,
        fields: Fields<'_>,
        kind: &str,
        owner: Option<usize>,
        states: &BTreeMap<String, State>,
        depth: u32,
    ) {
        let Some(depth) = depth.checked_sub(1) else {
            return;
        };
        let listed: Vec<usize> = fields
            .list("activities")
            .into_iter()
            .filter_map(|one| self.add(one, states, depth))
            .collect();
        match kind {
            "Elsa.Flowchart" => {
                self.connect(fields, &listed);
                let targets: BTreeSet<usize> = self.arrows.iter().map(|a| a.to).collect();
                let first = listed.iter().find(|one| !targets.contains(one));
                self.enter(owner, first.copied(), "");
            }
            "Elsa.Sequence" => {
                for pair in listed.windows(2) {
                    if let [from, to] = *pair {
                        self.arrow(from, to, "", false);
                    }
                }
                self.enter(owner, listed.first().copied(), "");
            }
            _ => listed
                .iter()
                .for_each(|one| self.enter(owner, Some(*one), "")),
        }
        for (name, value) in fields.iter() {
            let is_activity = name != "activities" && Fields::of(value).text("id").is_some();
            if is_activity {
                let one = self.add(value, states, depth);
                self.enter(owner, one, name);
            }
        }
    }

    fn connect(&mut self, fields: Fields<'_>, listed: &[usize]) {
        let mut by_id = BTreeMap::new();
        for index in listed {
            if let Some(one) = self.boxes.get(*index) {
                by_id.insert(one.id.clone(), *index);
            }
        }
        for connection in fields.list("connections") {
            let connection = Fields::of(connection);
            let end = |name: &str| {
                let id = connection.object(name).text("activity")?;
                by_id.get(&id).copied()
            };
            if let (Some(from), Some(to)) = (end("source"), end("target")) {
                let port = connection.object("source").text("port");
                let port = port.filter(|port| port != "Done").unwrap_or_default();
                self.arrow(from, to, &port, false);
            }
        }
    }

    fn enter(&mut self, owner: Option<usize>, inner: Option<usize>, label: &str) {
        if let (Some(owner), Some(inner)) = (owner, inner) {
            self.arrow(owner, inner, label, true);
        }
    }

    fn arrow(&mut self, from: usize, to: usize, label: &str, is_inner: bool) {
        self.arrows.push(Arrow {
            from,
            to,
            label: label.to_owned(),
            is_inner,
        });
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn picture() -> Picture {
        let root = json!({ "type": "Elsa.Flowchart", "id": "flow", "activities": [
            { "type": "Elsa.WriteLine", "id": "a", "name": "Ask \"x\" <now>" },
            { "type": "Elsa.FlowDecision", "id": "b", "metadata": { "designer": { "position": { "x": 10, "y": -5.5 } } } },
            { "type": "Elsa.ForEach", "id": "c", "body": { "type": "Elsa.Sequence", "id": "s", "activities": [
                { "type": "Elsa.WriteLine", "id": "d" }, { "type": "Elsa.WriteLine", "id": "e" } ] } },
        ], "connections": [
            { "source": { "activity": "a", "port": "Done" }, "target": { "activity": "b" } },
            { "source": { "activity": "b", "port": "True" }, "target": { "activity": "c" } },
            { "source": { "activity": "b", "port": "False" }, "target": { "activity": "a" } },
            { "source": { "activity": "b" }, "target": { "activity": "missing" } },
        ] });
        let states = [("a", State::Done), ("b", State::Failed)];
        let states = states.map(|(id, state)| (id.to_owned(), state));
        Picture::of(&root, &BTreeMap::from(states))
    }

    #[test]
    fn mermaid_has_every_activity_connection_and_state() {
        let text = mermaid(&picture());
        for line in [
            "flowchart LR",
            "  n0[\"Ask #quot;x#quot; #lt;now#gt;\"]:::done",
            "  n1[\"b\"]:::failed",
            "  n0 --> n1",
            "  n1 -->|\"True\"| n2",
            "  n2 -.->|\"body\"| n3",
            "  n3 -.-> n4",
            "  n4 --> n5",
        ] {
            assert!(text.lines().any(|l| l == line), "no `{line}` in\n{text}");
        }
        assert!(!text.contains("missing"));
    }

    #[test]
    fn an_svg_has_every_activity_and_escapes_names() {
        let text = svg(&picture());
        assert!(
            text.starts_with("<svg ") && text.ends_with("</svg>\n"),
            "{text}"
        );
        assert!(text.contains("Ask &quot;x&quot; &lt;now&gt;"), "{text}");
        assert_eq!(text.matches("<rect class=\"box").count(), 6, "{text}");
        assert_eq!(text.matches("<path class=\"arrow").count(), 6, "{text}");
        assert_eq!(text.matches("box done").count(), 1, "{text}");
    }
}
