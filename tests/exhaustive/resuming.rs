//! Two who want one instance: to resume it, to cancel it, to delete it.

use dormouse_engine::journal::Event;
use dormouse_runtime::{
    DefinitionHandle, ResumeOutcome, ResumeRequest, StartOutcome, StartRequest,
};
use dormouse_tests::flow::flow;
use dormouse_tests::primitives::task;
use dormouse_tests::workflow;
use serde_json::{Map, Value};

use super::explorer::{Budget, Scenario, nothing};
use super::play::{Client, Shape, Work, tenant};
use super::sound::{instances, one_finished, rows};

fn definitions() -> Vec<Value> {
    vec![
        workflow("task", flow("before > work > after", [task("work")]))
            .json()
            .clone(),
    ]
}

/// An instance waits for its task.
fn waits(client: Client) -> Work {
    Box::pin(async move {
        let outcome = client
            .look(|runtime| async move {
                let request = StartRequest::new(DefinitionHandle::published("task"));
                runtime.instances().start(&tenant(), request).await.unwrap()
            })
            .await;
        let StartOutcome::Started(report) = outcome else {
            panic!("{outcome:?}")
        };
        client.told("instance", report.instance.id.as_str());
        client.told("bookmark", report.instance.bookmarks[0].id.as_str());
    })
}

fn resumes(client: Client, number: usize) -> Work {
    Box::pin(async move {
        let (instance, bookmark) = (client.fact("instance"), client.fact("bookmark"));
        let outcome = client
            .insist(number, move |runtime| {
                let request = ResumeRequest::bookmark(&instance, &bookmark, Map::new());
                async move { runtime.instances().resume(&tenant(), request).await }
            })
            .await;
        client.told(&format!("resume {number}"), name(&outcome));
    })
}

fn cancels(client: Client) -> Work {
    Box::pin(async move {
        let instance = client.fact("instance");
        let outcome = client
            .insist(1, move |runtime| {
                let instance = instance.clone();
                async move { runtime.instances().cancel(&tenant(), &instance).await }
            })
            .await;
        client.told("cancel", name(&outcome));
    })
}

fn deletes(client: Client) -> Work {
    Box::pin(async move {
        let instance = client.fact("instance");
        client
            .insist(1, move |runtime| {
                let instance = instance.clone();
                async move { runtime.instances().delete(&tenant(), &instance).await }
            })
            .await;
    })
}

fn name(outcome: &ResumeOutcome) -> &'static str {
    match outcome {
        ResumeOutcome::Resumed(_) => "done",
        ResumeOutcome::BookmarkGone(_) => "gone",
        ResumeOutcome::Seen(_) => "seen",
        ResumeOutcome::NotYet => "not yet",
        ResumeOutcome::Ended(_) => "ended",
        ResumeOutcome::Deleted => "deleted",
        ResumeOutcome::NotFound => "not found",
    }
}

/// Two resume one bookmark.
pub(crate) fn twice() -> Scenario {
    Scenario {
        name: "two resume one bookmark",
        definitions: definitions(),
        prepare: waits,
        remember: nothing,
        clients: vec![|c| resumes(c, 0), |c| resumes(c, 1)],
        check: |client| {
            Box::pin(async move {
                let mut wrong = one_finished(&client, "task").await;
                let told = |n| client.fact(&format!("resume {n}"));
                if told(0) == "done" && told(1) == "done" {
                    wrong.push("both were told that they had resumed it".into());
                }
                wrong
            })
        },
        budget: Budget {
            crashes: 1,
            lost: 1,
            naps: 1,
            leaps: 1,
        },
        shape: Shape::default(),
    }
}

/// One resumes while another one cancels.
pub(crate) fn against_cancel() -> Scenario {
    Scenario {
        name: "a resume and a cancellation",
        clients: vec![|c| resumes(c, 0), cancels],
        check: |client| {
            Box::pin(async move {
                let (all, mut wrong) = instances(&client).await;
                let [one] = all.as_slice() else {
                    return vec![format!("{} instances", all.len())];
                };
                let after = one.count("after", Event::Completed);
                match (one.sub_status.as_str(), after) {
                    ("Finished", 1) if client.fact("cancel") != "done" => {}
                    ("Cancelled", 0) if client.fact("resume 0") != "done" => {}
                    other => wrong.push(format!(
                        "{other:?}, and they were told {:?}",
                        client.facts()
                    )),
                }
                wrong
            })
        },
        ..twice()
    }
}

/// One resumes while another one deletes.
pub(crate) fn against_delete() -> Scenario {
    Scenario {
        name: "a resume and a delete",
        clients: vec![|c| resumes(c, 0), deletes],
        check: |client| {
            Box::pin(async move {
                let (all, mut wrong) = instances(&client).await;
                if !all.is_empty() {
                    wrong.push(format!("it came back: {all:?}"));
                }
                if rows(&client, "/WF#", "") != 1 {
                    wrong.push("more than its tombstone is left".into());
                }
                wrong
            })
        },
        budget: Budget {
            crashes: 1,
            lost: 0,
            naps: 1,
            leaps: 1,
        },
        ..twice()
    }
}
