//! Activities that wait for something outside, without a deadline beside them.

use std::collections::BTreeSet;

use dormouse_engine::definition::fields::Fields;

use super::activities::Activity;
use super::reach::ends;
use super::{Finding, Level};

/// Types that wait until a caller outside acts.
const WAITS: [&str; 3] = ["Elsa.Event", "Elsa.RunTask", "Elsa.HttpEndpoint"];

/// Types that wait for a time.
const TIMES: [&str; 4] = ["Elsa.Delay", "Elsa.Timer", "Elsa.StartAt", "Elsa.Cron"];

/// Waits without a deadline: an instance waits without end if no caller acts.
pub(super) fn without_deadline(activities: &[Activity<'_>]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (place, one) in activities.iter().enumerate() {
        let is_wait = WAITS.contains(&one.kind.as_str()) && !one.can_start();
        if is_wait && !has_deadline(activities, place) {
            let message = format!(
                "{} waits without a deadline; give it a `timeout`, or put a Delay beside it and go on with the first of both",
                one.shown()
            );
            findings.push(Finding::new(Level::Note, "noDeadline", &one.path, message));
        }
    }
    findings
}

/// True if an activity has a `timeout` of its own.
fn is_bounded(activity: &Activity<'_>) -> bool {
    let custom = activity.fields().object("customProperties");
    custom.get("timeout").is_some()
}

/// True if a time runs beside an activity, or beside something that it is in, or one of them has its own.
fn has_deadline(activities: &[Activity<'_>], place: usize) -> bool {
    let outwards = std::iter::successors(Some(place), |at| activities.get(*at)?.parent);
    let mut around = outwards.filter_map(|at| activities.get(at));
    if around.any(is_bounded) {
        return true;
    }
    let mut at = Some(place);
    while let Some((inner, owner)) = at.and_then(|place| {
        let inner = activities.get(place)?;
        Some((inner, inner.parent?))
    }) {
        let Some(container) = activities.get(owner) else {
            return false;
        };
        let siblings = activities.iter().enumerate();
        let siblings = siblings.filter(|(_, s)| s.parent == Some(owner) && s.path != inner.path);
        let mut timed = siblings.filter(|(s, _)| has_time(activities, *s));
        let is_beside = match container.kind.as_str() {
            "Elsa.Flowchart" => timed.any(|(_, s)| are_rivals(container, &inner.id, &s.id)),
            "Elsa.Fork" => {
                let mode = container.fields().text("joinMode").unwrap_or_default();
                let is_race = mode.eq_ignore_ascii_case("WaitAny") || mode == "1";
                is_race && timed.next().is_some()
            }
            _ => false,
        };
        if is_beside {
            return true;
        }
        at = Some(owner);
    }
    false
}

/// True if an activity waits for a time, or something in it does.
fn has_time(activities: &[Activity<'_>], place: usize) -> bool {
    let Some(outer) = activities.get(place) else {
        return false;
    };
    activities.iter().any(|one| {
        let rest = one.path.strip_prefix(&outer.path);
        let is_inside =
            rest.is_some_and(|r| r.is_empty() || r.starts_with('.') || r.starts_with('['));
        is_inside && TIMES.contains(&one.kind.as_str()) && !one.can_start()
    })
}

/// True if two activities of a flowchart begin together: a shared activity leads to both, or nothing leads to either.
fn are_rivals(flowchart: &Activity<'_>, one: &str, other: &str) -> bool {
    let sources = |of: &str| -> BTreeSet<String> {
        let connections = flowchart.fields().list("connections").into_iter();
        let ends = connections.filter_map(|c| ends(Fields::of(c)));
        ends.filter(|(_, to)| to == of)
            .map(|(from, _)| from)
            .collect()
    };
    let (one, other) = (sources(one), sources(other));
    match (one.is_empty(), other.is_empty()) {
        (true, true) => true,
        _ => !one.is_disjoint(&other),
    }
}
