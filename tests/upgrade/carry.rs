//! Carrying a golden world to its end with this build: everything that waits goes on, everything that ended stays so.

use std::collections::BTreeMap;

use dormouse_engine::instance::Wait;
use dormouse_runtime::query::{InstanceFilter, Paging};
use dormouse_runtime::{
    DefinitionHandle, ResumeRequest, Runtime, StartOutcome, StartRequest, VersionOptions,
};
use dormouse_store::table::Item;
use serde_json::{Map, json};

use super::play::{BEGIN_MS, Client, Facts, Shape, tenant};
use super::populate::{INSTANCES, send, start_once};

/// A day later.
const LATER_MS: i64 = BEGIN_MS + 86_400_000;

/// Carries a world to its end, and says what is not as it must be.
pub(crate) fn carry(items: &[Item]) {
    let client = Client::new(Shape::default(), items, LATER_MS, Facts::new());
    client.heal();
    client.quietly(check_what_is_there(client.clone()));
    client.quietly(wake(client.clone()));
    client.heal();
    client.quietly(check_the_end(client.clone()));
    assert_eq!(client.world.wrong(), Vec::<String>::new());
}

async fn check_what_is_there(client: Client) {
    let (once, is_new) = start_once(&client).await;
    assert!(!is_new, "the key of {once} is not known any more");
    let start = |definition: &'static str, id: &'static str| {
        client.look(move |runtime| async move {
            let mut request = StartRequest::new(DefinitionHandle::published(definition));
            request.instance_id = Some(id.into());
            runtime.instances().start(&tenant(), request).await.unwrap()
        })
    };
    let deleted = start("work", "deleted").await;
    assert!(
        matches!(deleted, StartOutcome::Deleted { .. }),
        "{deleted:?}"
    );
    let second = start("single", "single 2").await;
    assert!(
        matches!(second, StartOutcome::NotAllowed { .. }),
        "{second:?}"
    );
    // The event was sent before anybody waited for it.
    let early = start("early", "early").await;
    assert!(matches!(early, StartOutcome::Started(_)), "{early:?}");
    client
        .look(|runtime| async move {
            let all = runtime
                .query()
                .definitions(&tenant(), VersionOptions::Latest)
                .await
                .unwrap();
            assert_eq!(all.len(), 17);
            let letters = runtime
                .dead_letters()
                .list(&tenant(), 10, None)
                .await
                .unwrap();
            assert_eq!(letters.letters.len(), 1);
            assert_eq!(runtime.query().routes(&tenant()).await.unwrap().len(), 2);
            let executions = runtime
                .query()
                .activity_executions(&tenant(), "long")
                .await
                .unwrap();
            assert!(executions.is_some_and(|all| all.len() > 60));
        })
        .await;
}

/// Wakes all that waits, in the way that is its own.
async fn wake(client: Client) {
    for name in ["go", "both", "large", "long", "single", "used", "heard"] {
        send(&client, name, format!("late {name}")).await;
    }
    client
        .look(|runtime| async move {
            runtime
                .instances()
                .cancel(&tenant(), "listener")
                .await
                .unwrap();
            for _ in 0..3 {
                for id in heads(&runtime).await.into_keys() {
                    resume(&runtime, &id).await;
                }
            }
        })
        .await;
}

async fn heads(runtime: &Runtime) -> BTreeMap<String, String> {
    let paging = Paging {
        ascending: true,
        skip: 0,
        limit: 100,
        cursor: None,
    };
    let page = runtime
        .query()
        .instances(&tenant(), &InstanceFilter::default(), &paging)
        .await
        .unwrap();
    page.instances
        .into_iter()
        .map(|one| (one.instance_id, one.summary.sub_status))
        .collect()
}

/// Completes tasks and calls endpoints.
async fn resume(runtime: &Runtime, id: &str) {
    let Some(detail) = runtime.query().instance(&tenant(), id).await.unwrap() else {
        return;
    };
    for bookmark in &detail.instance.bookmarks {
        let is_task = bookmark.name == "Elsa.RunTask";
        let is_page =
            matches!(bookmark.wait, Wait::Stimulus { .. }) && bookmark.name == "Elsa.HttpEndpoint";
        if is_task {
            let task = format!("{id}.{}", bookmark.id);
            runtime
                .instances()
                .complete_task(&tenant(), &task, json!("done"))
                .await
                .unwrap();
        } else if is_page {
            let request = ResumeRequest::bookmark(id, bookmark.id.as_str(), Map::new());
            runtime
                .instances()
                .resume(&tenant(), request)
                .await
                .unwrap();
        }
    }
}

async fn check_the_end(client: Client) {
    let ends = client
        .look(|runtime| async move { heads(&runtime).await })
        .await;
    let expected = INSTANCES.into_iter().chain([
        ("cancelled", "Cancelled"),
        ("cut", "Finished"),
        ("early", "Finished"),
    ]);
    for (id, end) in expected {
        assert_eq!(
            ends.get(id).map(String::as_str),
            Some(end),
            "{id} of {ends:?}"
        );
    }
    let open: Vec<_> = ends.iter().filter(|(_, end)| *end == "Suspended").collect();
    assert!(open.is_empty(), "{open:?}");
    let rows = |word: &str| {
        client
            .shared
            .table
            .items()
            .iter()
            .filter(|i| i.key.partition.contains(word))
            .count()
    };
    assert_eq!(rows("/OUTBOX#"), 0);
    // The recurring trigger has fired what it missed, and goes on.
    assert_eq!(rows("~/TIMER"), 1);
    let ids: Vec<String> = ends.into_keys().collect();
    client
        .look(|runtime| async move {
            for id in ids {
                let journal = runtime
                    .query()
                    .journal(&tenant(), &id, 0, 10_000)
                    .await
                    .unwrap()
                    .unwrap();
                let numbers: Vec<u64> = journal.lines.iter().map(|line| line.sequence).collect();
                assert!(
                    numbers
                        .iter()
                        .enumerate()
                        .all(|(n, number)| n as u64 == *number),
                    "{id}: {numbers:?}"
                );
            }
        })
        .await;
}
