//! What Elsa keeps of a flowchart: how often its activities and connections were visited, and which activity led to
//! which.

use std::collections::BTreeMap;

use dormouse_engine::graph::{Graph, NodeIndex};
use serde_json::{Value, json};

use super::{ActivityExecution, ActivityStatus};

/// The port that an activity without outcomes of its own ends by.
const DONE: &str = "Done";

/// The visits of one execution of a flowchart.
#[derive(Default)]
struct Visits<'a> {
    activities: BTreeMap<&'a str, u32>,
    connections: BTreeMap<String, (u32, bool)>,
}

impl Visits<'_> {
    fn value(&self) -> Value {
        let connections = self.connections.iter();
        let counts: BTreeMap<_, _> = connections.map(|(name, (n, _))| (name, n)).collect();
        let connections = self.connections.iter();
        let last: BTreeMap<_, _> = connections.map(|(name, (_, is))| (name, is)).collect();
        json!({
            "activitiesVisitCount": self.activities,
            "connectionVisitCount": counts,
            "connectionLastVisitFollowed": last,
        })
    }
}

impl ActivityExecution {
    /// Whether it has ended by a port.
    fn ended_by(&self, port: &str) -> bool {
        let named = |outcome: &String| outcome.eq_ignore_ascii_case(port);
        self.status == ActivityStatus::Completed
            && (self.outcomes.iter().any(named) || self.outcomes.is_empty() && port == DONE)
    }

    /// Notes what happened in flowcharts: their visits, and for each activity in them the one that led to it.
    pub(crate) fn follow(all: &mut [Self], graph: &Graph) {
        let nodes: Vec<Option<NodeIndex>> = all
            .iter()
            .map(|e| graph.by_node_id(&e.activity_node_id))
            .collect();
        for place in 0..all.len() {
            let Some(Some(node)) = nodes.get(place).copied() else {
                continue;
            };
            let connections = graph.node(node).activity.connections();
            let Some(flowchart) = all.get(place) else {
                continue;
            };
            if flowchart.activity_type != "Elsa.Flowchart" {
                continue;
            }
            let id = flowchart.id.clone();
            let inside: Vec<usize> = (0..all.len())
                .filter(|at| {
                    all.get(*at)
                        .is_some_and(|e| e.scheduled_by.as_deref() == Some(id.as_str()))
                })
                .collect();
            let mut visits = Visits::default();
            let mut led = Vec::new();
            for at in &inside {
                let (Some(one), Some(Some(own))) = (all.get(*at), nodes.get(*at).copied()) else {
                    continue;
                };
                if one.status == ActivityStatus::Completed {
                    *visits.activities.entry(&one.activity_id).or_default() += 1;
                    for (_, port, target) in connections.iter().filter(|(from, ..)| *from == own) {
                        let target = &graph.node(*target).id;
                        let name = format!("{}:{port}->{target}:In", one.activity_id);
                        let visit = visits.connections.entry(name).or_default();
                        *visit = (visit.0 + 1, one.ended_by(port));
                    }
                }
                let leads = |before: &&usize| {
                    let source = nodes.get(**before).copied().flatten();
                    let ended = all.get(**before);
                    connections.iter().any(|(from, port, to)| {
                        Some(*from) == source
                            && *to == own
                            && ended.is_some_and(|e| {
                                e.ended_by(port)
                                    && e.completed_at.is_some_and(|end| end <= one.started_at)
                            })
                    })
                };
                let before = inside.iter().take_while(|before| *before < at);
                if let Some(source) = before.filter(leads).last() {
                    led.push((*at, *source));
                }
            }
            let scope = visits.value();
            for (at, source) in led {
                let came_from = all.get(source).map(|e| e.id.clone());
                if let Some(one) = all.get_mut(at) {
                    one.came_from = came_from;
                }
            }
            if let Some(flowchart) = all.get_mut(place) {
                flowchart.flow_scope = scope;
            }
        }
    }
}
