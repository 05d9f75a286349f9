//! A flowchart's connections, read and sorted out once: which lead forward, which lead back.

use std::collections::{BTreeMap, VecDeque};
use std::sync::OnceLock;

use serde_json::Value;

use crate::definition::fields::Fields;
use crate::graph::{Builder, NodeIndex};

/// How an activity with several connections into it waits for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Join {
    /// For every branch that is alive. Every ordinary activity.
    AllActive,
    /// For every branch, and all must have come by it.
    All,
    /// For the first; the others are cancelled.
    Any,
}

/// Token mode's rule for an activity. Elsa's names.
#[allow(
    clippy::enum_variant_names,
    reason = "one of Elsa's merge modes is called Merge"
)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Merge {
    Stream,
    Merge,
    Converge,
    Cascade,
    Race,
}

/// A connection between two of the flowchart's activities, by their places.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Connection {
    pub(crate) source: usize,
    pub(crate) target: usize,
    pub(crate) port: String,
}

/// What a flowchart is.
#[derive(Debug)]
pub(crate) struct Flowchart {
    pub(crate) activities: Vec<NodeIndex>,
    pub(crate) connections: Vec<Connection>,
    /// Connections out of each activity, in the order they are declared.
    pub(crate) outbound: Vec<Vec<usize>>,
    /// `None`: a script says it when a branch comes.
    pub(crate) joins: Vec<Option<Join>>,
    pub(crate) merges: Vec<Merge>,
    pub(crate) default_start: Option<usize>,
    /// The way forward from each possible start, worked out when first needed.
    plans: Vec<OnceLock<Plan>>,
}

/// Which connections lead forward when the flowchart begins at a certain activity.
#[derive(Debug, Clone, Default)]
pub(crate) struct Plan {
    /// Per connection: reached from the start, and leading forward.
    pub(crate) is_forward: Vec<bool>,
    /// Per connection: reached from the start, and leading back.
    pub(crate) is_backward: Vec<bool>,
    /// Per activity: forward connections into it.
    pub(crate) inbound: Vec<Vec<usize>>,
    /// Per activity: whether it can be reached.
    pub(crate) is_reached: Vec<bool>,
}

impl Flowchart {
    /// Reads activities and connections in both of Elsa's spellings.
    pub(crate) fn build(builder: &mut Builder<'_>, fields: Fields<'_>) -> Self {
        let activities = builder.children(fields, "activities");
        let mut places = BTreeMap::new();
        for (place, index) in activities.iter().enumerate() {
            places.entry(builder.id(*index).to_owned()).or_insert(place);
        }
        let mut connections: Vec<Connection> = Vec::new();
        for (number, json) in fields.list("connections").into_iter().enumerate() {
            let depth = builder.enter(&format!("connections[{number}]"));
            if let Some(connection) = connect(builder, Fields::of(json), &places)
                && !connections.contains(&connection)
            {
                connections.push(connection);
            }
            builder.leave(depth);
        }
        let mut outbound = vec![Vec::new(); activities.len()];
        for (number, connection) in connections.iter().enumerate() {
            if let Some(out) = outbound.get_mut(connection.source) {
                out.push(number);
            }
        }
        let (joins, merges) = rules(builder, fields, &activities);
        let default_start = default_start(builder, &activities, &connections);
        let plans = activities.iter().map(|_| OnceLock::new()).collect();
        Self {
            activities,
            connections,
            outbound,
            joins,
            merges,
            default_start,
            plans,
        }
    }

    /// The way forward from a start.
    pub(crate) fn plan(&self, start: usize) -> Option<&Plan> {
        Some(self.plans.get(start)?.get_or_init(|| self.work_out(start)))
    }

    /// Goes breadth first over the connections. One that would close a circle of forward connections leads back.
    fn work_out(&self, start: usize) -> Plan {
        let count = self.activities.len();
        let mut plan = Plan {
            is_forward: vec![false; self.connections.len()],
            is_backward: vec![false; self.connections.len()],
            inbound: vec![Vec::new(); count],
            is_reached: vec![false; count],
        };
        let mut forward: Vec<Vec<usize>> = vec![Vec::new(); count];
        let mut queue = VecDeque::from([start]);
        if let Some(reached) = plan.is_reached.get_mut(start) {
            *reached = true;
        }
        while let Some(source) = queue.pop_front() {
            for &number in self.outbound.get(source).into_iter().flatten() {
                let Some(connection) = self.connections.get(number) else {
                    continue;
                };
                let target = connection.target;
                let is_back = !forward.get(source).is_some_and(|f| f.contains(&target))
                    && leads_to(&forward, target, source);
                let flags = if is_back {
                    &mut plan.is_backward
                } else {
                    &mut plan.is_forward
                };
                if let Some(flag) = flags.get_mut(number) {
                    *flag = true;
                }
                if is_back {
                    continue;
                }
                if let Some(f) = forward.get_mut(source) {
                    f.push(target);
                }
                if let Some(i) = plan.inbound.get_mut(target) {
                    i.push(number);
                }
                if let Some(reached) = plan.is_reached.get_mut(target)
                    && !*reached
                {
                    *reached = true;
                    queue.push_back(target);
                }
            }
        }
        plan
    }

    /// All activities from which forward connections lead to `place`.
    pub(crate) fn ancestors(&self, plan: &Plan, place: usize) -> Vec<usize> {
        let mut found = Vec::new();
        let mut stack = vec![place];
        while let Some(at) = stack.pop() {
            for &number in plan.inbound.get(at).into_iter().flatten() {
                let Some(connection) = self.connections.get(number) else {
                    continue;
                };
                if connection.source != place && !found.contains(&connection.source) {
                    found.push(connection.source);
                    stack.push(connection.source);
                }
            }
        }
        found
    }

    /// Whether every way from the start to `source` goes through `target`: only then may a connection lead back.
    pub(crate) fn is_valid_backward(
        &self,
        plan: &Plan,
        start: usize,
        source: usize,
        target: usize,
    ) -> bool {
        if source == target || target == start {
            return true;
        }
        let mut seen = vec![false; self.activities.len()];
        let mut stack = vec![source];
        while let Some(at) = stack.pop() {
            if at == start {
                return false;
            }
            if at == target || seen.get(at).copied().unwrap_or(true) {
                continue;
            }
            if let Some(s) = seen.get_mut(at) {
                *s = true;
            }
            let before = plan.inbound.get(at).into_iter().flatten();
            stack.extend(
                before
                    .filter_map(|n| self.connections.get(*n))
                    .map(|c| c.source),
            );
        }
        true
    }
}

/// Whether forward connections lead from one activity to another (or they are the same).
fn leads_to(forward: &[Vec<usize>], from: usize, to: usize) -> bool {
    if from == to {
        return true;
    }
    if forward.get(from).is_none_or(Vec::is_empty) {
        return false;
    }
    let mut seen = vec![false; forward.len()];
    let mut stack = vec![from];
    while let Some(at) = stack.pop() {
        if at == to {
            return true;
        }
        if let Some(s) = seen.get_mut(at)
            && std::mem::replace(s, true)
        {
            continue;
        }
        stack.extend(forward.get(at).into_iter().flatten());
    }
    false
}

/// Reads one connection: `{source: {activity, port}, target: {…}}`, or the old `{source, target, sourcePort, targetPort}`.
fn connect(
    builder: &mut Builder<'_>,
    json: Fields<'_>,
    places: &BTreeMap<String, usize>,
) -> Option<Connection> {
    let end = |name: &str, old_port: &str| match json.get(name)? {
        Value::String(id) => Some((id.clone(), json.text(old_port))),
        Value::Null => None,
        object @ (Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => {
            let end = Fields::of(object);
            Some((end.text("activity")?, end.text("port")))
        }
    };
    let source = end("source", "sourcePort");
    let target = end("target", "targetPort");
    let (Some((source, port)), Some((target, _))) = (source, target) else {
        builder.warn(
            "badConnection",
            "a connection needs a source and a target activity".into(),
        );
        return None;
    };
    let place = |id: &str| places.get(id).copied();
    match (place(&source), place(&target)) {
        (Some(from), Some(to)) => Some(Connection {
            source: from,
            target: to,
            port: port.unwrap_or_else(|| "Done".into()),
        }),
        (from, _) => {
            let missing = if from.is_none() { source } else { target };
            builder.warn("danglingConnection", format!("the connection names the activity `{missing}`, which is not in this flowchart; it is ignored"));
            None
        }
    }
}

fn rules(
    builder: &mut Builder<'_>,
    fields: Fields<'_>,
    activities: &[NodeIndex],
) -> (Vec<Option<Join>>, Vec<Merge>) {
    let mut joins = Vec::with_capacity(activities.len());
    let mut merges = Vec::with_capacity(activities.len());
    let _ = fields;
    for index in activities {
        let node = builder.node(*index);
        let join = node.filter(|n| n.type_name == "Elsa.FlowJoin");
        let said = join.map(super::super::flow_join::mode_of);
        joins.push(said.unwrap_or(Some(Join::AllActive)));
        let mode = said.map(|m| m.unwrap_or(Join::All));
        merges.push(match (mode, node.and_then(|n| n.merge_mode.as_deref())) {
            (Some(Join::Any), _) => Merge::Race,
            (Some(Join::All | Join::AllActive), _) => Merge::Merge,
            (None, Some(name)) => match name.to_ascii_lowercase().as_str() {
                "merge" => Merge::Merge,
                "converge" => Merge::Converge,
                "cascade" => Merge::Cascade,
                "race" => Merge::Race,
                _ => Merge::Stream,
            },
            (None, None) => Merge::Stream,
        });
    }
    (joins, merges)
}

/// The first that applies: an `Elsa.Start`, one that can start the workflow, one without a connection into it, the first.
fn default_start(
    builder: &Builder<'_>,
    activities: &[NodeIndex],
    connections: &[Connection],
) -> Option<usize> {
    let find = |test: &dyn Fn(&crate::graph::Node) -> bool| {
        activities
            .iter()
            .position(|index| builder.node(*index).is_some_and(test))
    };
    find(&|n| n.type_name == "Elsa.Start")
        .or_else(|| find(&|n| n.can_start_workflow))
        .or_else(|| {
            // As in Elsa, connections do not lead into activities of unknown types when a start is looked for.
            (0..activities.len()).find(|place| {
                let node = activities
                    .get(*place)
                    .and_then(|index| builder.node(*index));
                node.is_some_and(|n| n.activity.is_missing())
                    || !connections.iter().any(|c| c.target == *place)
            })
        })
        .or(if activities.is_empty() { None } else { Some(0) })
}
