//! Flowcharts from a line of text: `Start>A>B; B:True>C`.

use serde_json::{Value, json};

use crate::activity::{Activity, activity};
use crate::primitives::line;

/// A flowchart whose activities are joined as `edges` says: chains of ids joined by `>`, an outcome after a colon,
/// chains separated by `;`. An id without an activity among `activities` is a `WriteLine` of that id.
#[must_use]
pub fn flow(edges: &str, activities: impl IntoIterator<Item = Activity>) -> Activity {
    let mut known: Vec<Value> = activities.into_iter().map(Activity::json).collect();
    let mut ids: Vec<String> = known
        .iter()
        .map(|a| a["id"].as_str().unwrap_or_default().to_owned())
        .collect();
    let mut connections = Vec::new();
    // In the order of the text, so that the first one named is where it begins.
    let mut order: Vec<String> = Vec::new();
    for chain in edges.split(';').map(str::trim).filter(|c| !c.is_empty()) {
        let steps: Vec<(&str, &str)> = chain
            .split('>')
            .map(|step| step.trim().split_once(':').unwrap_or((step.trim(), "Done")))
            .collect();
        for (id, _) in &steps {
            if !ids.iter().any(|known| known == id) {
                known.push(line(id).json());
                ids.push((*id).to_owned());
            }
            if !order.iter().any(|known| known == id) {
                order.push((*id).to_owned());
            }
        }
        connections.extend(steps.windows(2).map(|pair| {
            json!({
                "source": { "activity": pair[0].0, "port": pair[0].1 },
                "target": { "activity": pair[1].0, "port": "In" },
            })
        }));
    }
    let place = |a: &Value| {
        order
            .iter()
            .position(|id| a["id"] == **id)
            .unwrap_or(usize::MAX)
    };
    known.sort_by_key(place);
    activity("Elsa.Flowchart")
        .set("activities", known)
        .set("connections", connections)
}
