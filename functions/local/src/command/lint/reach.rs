//! Activities that can never run.

use std::collections::{BTreeMap, BTreeSet};

use dormouse_engine::definition::fields::Fields;

use super::activities::Activity;
use super::{Finding, Level};

/// Types that end what they are in.
const ENDS: [&str; 5] = [
    "Dormouse.Throw",
    "Elsa.Finish",
    "Elsa.Complete",
    "Elsa.Fault",
    "Elsa.Break",
];

/// A connection of a flowchart, in both of Elsa's spellings.
pub(super) fn ends(connection: Fields<'_>) -> Option<(String, String)> {
    let end = |name: &str| {
        let object = connection.object(name).text("activity");
        object.or_else(|| connection.text(name))
    };
    Some((end("source")?, end("target")?))
}

/// Activities of flowcharts without a way to them, and activities of sequences after an end.
pub(super) fn unreachable(activities: &[Activity<'_>]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (place, owner) in activities.iter().enumerate() {
        let listed: Vec<&Activity<'_>> = activities
            .iter()
            .filter(|one| one.parent == Some(place))
            .filter(|one| {
                let rest = one.path.strip_prefix(&owner.path).unwrap_or_default();
                rest.to_ascii_lowercase().starts_with(".activities[")
            })
            .collect();
        let found = match owner.kind.as_str() {
            "Elsa.Flowchart" => in_flowchart(owner, &listed),
            "Elsa.Sequence" => in_sequence(&listed),
            _ => Vec::new(),
        };
        for (one, why) in found {
            let message = format!("{} can never run: {why}", one.shown());
            findings.push(Finding::new(
                Level::Warning,
                "unreachable",
                &one.path,
                message,
            ));
        }
    }
    findings
}

/// The id or the name of what undoes an activity.
fn undo_of(activity: &Activity<'_>) -> Option<String> {
    let custom = activity.fields().object("customProperties");
    Some(custom.text("compensate")?.trim().to_owned())
}

fn in_sequence<'a>(listed: &[&'a Activity<'a>]) -> Vec<(&'a Activity<'a>, String)> {
    let end = listed
        .iter()
        .position(|one| ENDS.contains(&one.kind.as_str()));
    let after = end.and_then(|end| Some((listed.get(end)?, listed.get(end + 1..)?)));
    after.map_or_else(Vec::new, |(end, after)| {
        let why = format!("it comes after {}", end.shown());
        after.iter().map(|one| (*one, why.clone())).collect()
    })
}

fn in_flowchart<'a>(
    owner: &Activity<'_>,
    listed: &[&'a Activity<'a>],
) -> Vec<(&'a Activity<'a>, String)> {
    let mut leads: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut targets = BTreeSet::new();
    for connection in owner.fields().list("connections") {
        if let Some((from, to)) = ends(Fields::of(connection)) {
            if from != to {
                targets.insert(to.clone());
            }
            leads.entry(from).or_default().push(to);
        }
    }
    // Where it may begin: what it names, triggers, Start, and the first activity that nothing leads to.
    let undos: BTreeSet<String> = listed.iter().filter_map(|one| undo_of(one)).collect();
    let undoes = |one: &Activity<'_>| undos.contains(&one.id) || undos.contains(&one.shown());
    let first = listed
        .iter()
        .find(|one| !targets.contains(&one.id) && !undoes(one));
    let named = owner.fields().text("start");
    let mut reached: BTreeSet<String> = listed
        .iter()
        .filter(|one| one.can_start() || one.kind == "Elsa.Start" || undoes(one))
        .map(|one| one.id.clone())
        .chain(named)
        .chain(first.or(listed.first()).map(|one| one.id.clone()))
        .collect();
    let mut left: Vec<String> = reached.iter().cloned().collect();
    while let Some(id) = left.pop() {
        for next in leads.get(&id).into_iter().flatten() {
            if reached.insert(next.clone()) {
                left.push(next.clone());
            }
        }
    }
    let why = "no connection leads to it from the start";
    let missed = listed.iter().filter(|one| !reached.contains(&one.id));
    missed.map(|one| (*one, why.to_owned())).collect()
}
