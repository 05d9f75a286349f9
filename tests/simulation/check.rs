//! What must be true when everything has come to rest.

use std::collections::BTreeMap;

use dormouse_engine::instance::SubStatus;
use dormouse_engine::journal::{Event, Line};
use dormouse_runtime::Runtime;

use super::cluster::{Cluster, tenant};
use super::load::{Ledger, Told};

/// Everything that is wrong; nothing if all promises were kept.
pub(crate) async fn check(cluster: &Cluster, ledger: &Ledger, skew_ms: i64) -> Vec<String> {
    let told: Vec<(String, Told)> = ledger
        .lock()
        .expect("one thread")
        .iter()
        .map(|(k, t)| (k.clone(), t.clone()))
        .collect();
    let mut wrong = Vec::new();
    for (key, told) in told {
        let Some(instance) = told.instance.clone() else {
            continue;
        };
        let id = instance.as_str().to_owned();
        let seen = cluster
            .ask(|runtime| async move { look(&runtime, &id).await })
            .await;
        let Some(Some((sub_status, lines))) = seen else {
            wrong.push(format!("{key}: the acknowledged start {instance} is lost"));
            continue;
        };
        let is_ended = if told.is_cancelled {
            matches!(sub_status, SubStatus::Cancelled | SubStatus::Finished)
        } else {
            sub_status == SubStatus::Finished
        };
        if !is_ended {
            wrong.push(format!(
                "{key}: {} {instance} is {}",
                told.kind,
                sub_status.as_str()
            ));
        }
        wrong.extend(
            journal(&lines, skew_ms)
                .into_iter()
                .map(|what| format!("{key}: {} {instance}: {what}", told.kind)),
        );
    }
    wrong.extend(leftovers(cluster));
    wrong
}

async fn look(runtime: &Runtime, id: &str) -> Option<(SubStatus, Vec<Line>)> {
    let detail = runtime.instance(&tenant(), id).await.ok()??;
    let journal = runtime.journal(&tenant(), id, 0, 10_000).await.ok()??;
    Some((detail.instance.sub_status, journal.lines))
}

/// The journal of one instance: numbered without gaps, and no activity ran twice.
fn journal(lines: &[Line], skew_ms: i64) -> Vec<String> {
    let mut wrong = Vec::new();
    if lines
        .iter()
        .enumerate()
        .any(|(at, line)| line.sequence != at as u64)
    {
        wrong.push(format!(
            "its journal is numbered {:?}",
            lines.iter().map(|l| l.sequence).collect::<Vec<_>>()
        ));
    }
    let mut counts: BTreeMap<(&str, &str, &str), u32> = BTreeMap::new();
    for line in lines {
        *counts
            .entry((&line.activity_id, &line.activity_type, line.event.as_str()))
            .or_default() += 1;
    }
    for ((activity, kind, event), count) in counts {
        // A dispatch goes on twice: when it is told that the workflow is there, and at the child's end.
        let most = if (kind, event) == ("Elsa.DispatchWorkflow", "Resumed") {
            2
        } else {
            1
        };
        if count > most {
            wrong.push(format!("{activity} has {count} × {event}"));
        }
    }
    let at = |event: Event| {
        lines
            .iter()
            .find(|l| l.activity_type == "Elsa.Delay" && l.event == event)
            .map(|l| l.at.0)
    };
    if let (Some(began), Some(resumed)) = (at(Event::Started), at(Event::Resumed)) {
        let least = if lines.iter().any(|l| l.activity_type == "Elsa.RunTask") {
            300
        } else {
            1_000
        };
        if resumed - began < least - skew_ms {
            wrong.push(format!("its delay took {} ms", resumed - began));
        }
    }
    wrong
}

/// What nobody will ever come back to.
fn leftovers(cluster: &Cluster) -> Vec<String> {
    let mut wrong = Vec::new();
    for item in cluster.shared.table.items() {
        let partition = &item.key.partition;
        if partition.contains("OUTBOX") {
            wrong.push(format!("the outbox still has {:?}", item.key));
        }
    }
    wrong
}
