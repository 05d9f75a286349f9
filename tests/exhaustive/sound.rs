//! What must be true of every instance when everything has come to rest, and what the scenarios ask about.

use std::collections::BTreeMap;

use dormouse_engine::journal::{Event, Line};
use dormouse_runtime::StartOutcome;

use super::play::{Client, tenant};

/// An instance at rest.
#[derive(Debug)]
pub(crate) struct Rest {
    pub(crate) id: String,
    pub(crate) definition: String,
    pub(crate) version: u32,
    pub(crate) sub_status: String,
    lines: Vec<Line>,
}

impl Rest {
    /// How often something happened to an activity.
    pub(crate) fn count(&self, activity: &str, event: Event) -> usize {
        let of = |line: &&Line| line.activity_id == activity && line.event == event;
        self.lines.iter().filter(of).count()
    }
}

/// All instances, and what is wrong with them whatever they are about.
pub(crate) async fn instances(client: &Client) -> (Vec<Rest>, Vec<String>) {
    let items = client.shared.table.items();
    let heads = items
        .iter()
        .filter(|i| i.key.sort == "HEAD" && !i.attributes.contains_key("de"));
    let ids = heads.filter_map(|i| {
        i.key
            .partition
            .strip_prefix("default/WF#")
            .map(str::to_owned)
    });
    let (mut all, mut wrong) = (Vec::new(), Vec::new());
    for id in ids {
        let wanted = id.clone();
        let (head, journal) = client
            .look(|runtime| async move {
                let head = runtime
                    .query()
                    .instance_head(&tenant(), &wanted)
                    .await
                    .unwrap();
                let journal = runtime
                    .query()
                    .journal(&tenant(), &wanted, 0, 1_000)
                    .await
                    .unwrap();
                (head, journal)
            })
            .await;
        // What an interrupted create left is no instance.
        let (Some(head), Some(journal)) = (head, journal) else {
            continue;
        };
        let rest = Rest {
            id,
            definition: head.summary.definition_id.clone(),
            version: head.summary.definition_version,
            sub_status: head.summary.sub_status.clone(),
            lines: journal.lines,
        };
        wrong.extend(journal_of(&rest));
        all.push(rest);
    }
    (all, wrong)
}

/// A journal is numbered without gaps, and no activity of these workflows runs twice.
fn journal_of(rest: &Rest) -> Vec<String> {
    let mut wrong = Vec::new();
    let numbers: Vec<u64> = rest.lines.iter().map(|line| line.sequence).collect();
    if numbers
        .iter()
        .enumerate()
        .any(|(at, number)| *number != at as u64)
    {
        wrong.push(format!(
            "the journal of {} is numbered {numbers:?}",
            rest.id
        ));
    }
    let mut counts: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for line in &rest.lines {
        *counts
            .entry((&line.activity_id, line.event.as_str()))
            .or_default() += 1;
    }
    for ((activity, event), count) in counts {
        if count > 1 && event != "Resumed" {
            wrong.push(format!("{activity} of {} has {count} × {event}", rest.id));
        }
    }
    wrong
}

/// The one instance that there must be of a definition, finished.
pub(crate) async fn one_finished(client: &Client, definition: &str) -> Vec<String> {
    let (all, mut wrong) = instances(client).await;
    let of: Vec<&Rest> = all
        .iter()
        .filter(|rest| rest.definition == definition)
        .collect();
    if of.len() != 1 {
        wrong.push(format!("{} instances of {definition}", of.len()));
    }
    for rest in of {
        if rest.sub_status != "Finished" {
            wrong.push(format!("{} is {}", rest.id, rest.sub_status));
        }
    }
    wrong
}

/// How many rows a partition with this in its name has, of those whose sort key begins so.
pub(crate) fn rows(client: &Client, partition: &str, sort: &str) -> usize {
    let items = client.shared.table.items();
    let of = |item: &&dormouse_store::table::Item| {
        item.key.partition.contains(partition) && item.key.sort.starts_with(sort)
    };
    items.iter().filter(of).count()
}

/// The instance that a start names, and how the start went.
pub(crate) fn started(outcome: &StartOutcome) -> (String, &'static str) {
    match outcome {
        StartOutcome::Started(report) => (report.instance.id.to_string(), "started"),
        StartOutcome::AlreadyStarted(head) => (head.instance_id.clone(), "already"),
        StartOutcome::NotAllowed { holder } => (holder.clone(), "not allowed"),
        StartOutcome::Deleted { instance_id } => (instance_id.clone(), "deleted"),
        StartOutcome::NotFound => (String::new(), "not found"),
        StartOutcome::Stale => (String::new(), "stale"),
    }
}
