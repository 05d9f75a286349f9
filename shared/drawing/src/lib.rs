//! A workflow as a picture: its activities, their connections, the state of each in an instance, and the place of each box.
//!
//! The console and the command line both draw from it, so both show the same picture. It contains no colours and no
//! format of files: the page and `dormouse show --graph` have those.

mod layout;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use dormouse_engine::definition::fields::Fields;
use serde::Serialize;
use serde_json::Value;

pub use layout::{HEIGHT, Layout, WIDTH};

/// Deepest nesting of activities that is drawn.
const DEPTH_MAX: u32 = 64;

/// The state of an activity in an instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum State {
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
    #[must_use]
    pub fn after(event: &str) -> Self {
        match event {
            "Completed" => Self::Done,
            "Faulted" => Self::Failed,
            "Canceled" => Self::Cancelled,
            _ => Self::Running,
        }
    }

    /// Name of the state in classes of styles.
    #[must_use]
    pub fn name(self) -> &'static str {
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
pub struct Node {
    /// Id of the activity.
    pub id: String,
    /// The designer's text for it, else its name, else its id.
    pub name: String,
    /// Its type without `Elsa.`.
    pub kind: String,
    /// Its state in the instance; idle in a picture without one.
    pub state: State,
    /// The designer's coordinates.
    place: Option<(f64, f64)>,
    /// Nesting: least in the outermost container.
    depth: u32,
}

/// A connection, or the way from a container to what is in it.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Arrow {
    /// Index of the node that it leaves.
    pub from: usize,
    /// Index of the node that it leads to.
    pub to: usize,
    /// The port, if it is not `Done`; the property of a container that holds the inner activity.
    pub label: String,
    /// Whether it leads from a container to what is in it.
    pub is_inner: bool,
}

/// The picture.
#[derive(Debug, Default)]
pub struct Picture {
    /// Its activities.
    pub nodes: Vec<Node>,
    /// Their connections.
    pub arrows: Vec<Arrow>,
}

impl Picture {
    /// The picture of a definition's root, with the states of its activities by id.
    #[must_use]
    pub fn of(root: &Value, states: &BTreeMap<String, State>) -> Self {
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
        // The designer keeps the text of a box apart from the name.
        let shown = fields.object("metadata").text("displayText");
        let shown = shown.filter(|text| !text.trim().is_empty());
        let shown = shown.or_else(|| fields.text("name"));
        let index = self.nodes.len();
        self.nodes.push(Node {
            name: shown.unwrap_or_else(|| id.clone()),
            state: states.get(&id).copied().unwrap_or_default(),
            place: number("x").zip(number("y")),
            kind: short,
            id,
            depth: DEPTH_MAX - depth,
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
            if name == "activities" {
                continue;
            }
            for (label, one) in held(name, value) {
                let one = self.add(one, states, depth);
                self.enter(owner, one, &label);
            }
        }
    }

    fn connect(&mut self, fields: Fields<'_>, listed: &[usize]) {
        let mut by_id = BTreeMap::new();
        for index in listed {
            if let Some(one) = self.nodes.get(*index) {
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

/// Activities that a property holds, each with its label: an activity, a list of them, or a list of cases with one each.
fn held<'a>(name: &str, value: &'a Value) -> Vec<(String, &'a Value)> {
    let is_activity = |value: &Value| {
        let fields = Fields::of(value);
        fields.text("id").is_some() && fields.text("type").is_some()
    };
    if is_activity(value) {
        return vec![(name.to_owned(), value)];
    }
    let of_item = |item: &'a Value| {
        if is_activity(item) {
            return vec![(name.to_owned(), item)];
        }
        let fields = Fields::of(item);
        let label = fields.text("label").unwrap_or_else(|| name.to_owned());
        let inside = fields.iter().filter(|(_, value)| is_activity(value));
        inside.map(|(_, one)| (label.clone(), one)).collect()
    };
    let items = value.as_array().into_iter().flatten();
    items.flat_map(of_item).collect()
}
