//! A journal as a timeline: one line for what an activity did from its start on, one for each later event.

use std::collections::BTreeMap;

use dormouse_engine::time::Timestamp;
use serde_json::Value;

use crate::command::text;
use crate::moment;
use crate::screen::Screen;
use crate::text_table::TextTable;

/// The lines: time since the start, duration at the end of an activity, activity indented by what it is in, what happened, and with what.
pub(super) fn lines(screen: &Screen, started: &str, journal: &[Value]) -> Vec<String> {
    let from = Timestamp::parse(started).unwrap_or_default();
    let mut depths: BTreeMap<&str, usize> = BTreeMap::new();
    let mut begun: BTreeMap<&str, Timestamp> = BTreeMap::new();
    let mut table = TextTable::plain();
    let mut rest = journal;
    while let Some((line, tail)) = rest.split_first() {
        let id = text(line, "activityInstanceId");
        let parent = text(line, "parentActivityInstanceId");
        let depth = depths.get(id).copied();
        let depth = depth.unwrap_or_else(|| depths.get(parent).map_or(0, |d| d + 1));
        depths.insert(id, depth);

        let next = tail.first();
        let is_short = text(line, "eventName") == "Started"
            && next.is_some_and(|n| {
                text(n, "activityInstanceId") == id
                    && matches!(text(n, "eventName"), "Completed" | "Suspended" | "Faulted")
            });
        let shown = if is_short { next.unwrap_or(line) } else { line };
        let time = |line| Timestamp::parse(text(line, "timestamp")).unwrap_or(from);
        let (at, until) = (time(line), time(shown));
        let since = format!("+{}", moment::length(at.0 - from.0));
        // The time from an activity's start to its end, waits included.
        let begin = *begun.entry(id).or_insert(at);
        let has_ended = matches!(
            text(shown, "eventName"),
            "Completed" | "Faulted" | "Canceled"
        );
        let took = match until.0 - begin.0 {
            ms if has_ended && ms > 0 => moment::length(ms),
            _ => String::new(),
        };
        table.row([
            screen.dim(&since),
            screen.dim(&took),
            format!("{}{}", "  ".repeat(depth), activity(line)),
            screen.status(text(shown, "eventName")),
            screen.dim(&note(line, shown)),
        ]);
        rest = if is_short {
            tail.get(1..).unwrap_or_default()
        } else {
            tail
        };
    }
    table.lines()
}

/// `Greet (WriteLine)`
pub(in crate::command) fn activity(line: &Value) -> String {
    let kind = text(line, "activityType");
    let kind = kind.strip_prefix("Elsa.").unwrap_or(kind);
    let name = text(line, "activityName");
    let name = if name.is_empty() {
        text(line, "activityId")
    } else {
        name
    };
    if name == kind {
        name.to_owned()
    } else {
        format!("{name} ({kind})")
    }
}

/// Inputs, outcomes and outputs, or what went wrong; cut to a line.
pub(in crate::command) fn note(line: &Value, shown: &Value) -> String {
    let mut parts = Vec::new();
    let message = text(shown, "message");
    if !message.is_empty() {
        parts.push(message.to_owned());
    }
    let values = [line.get("activityState"), shown.get("payload")];
    for values in values.into_iter().flatten().filter_map(Value::as_object) {
        let told = values.iter().filter(|(name, _)| *name != "exception");
        parts.extend(told.map(|(name, value)| format!("{name}={value}")));
    }
    let all = parts.join(" ");
    if all.chars().count() > 100 {
        let cut: String = all.chars().take(99).collect();
        format!("{cut}…")
    } else {
        all
    }
}
