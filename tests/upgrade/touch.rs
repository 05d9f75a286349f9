//! Asking a node for everything there is in a world, whatever its items look like.

use dormouse_engine::id::InstanceId;
use dormouse_runtime::Timer;
use dormouse_runtime::message::{Message, Task};
use dormouse_runtime::query::{InstanceFilter, Paging};
use dormouse_runtime::{
    DefinitionHandle, EventRequest, ResumeRequest, Runtime, RuntimeError, StartRequest,
    VersionOptions,
};
use dormouse_store::table::Item;
use serde_json::{Map, json};

use super::play::{BEGIN_MS, Client, Facts, Shape, tenant};
use super::populate::INSTANCES;

/// What a node said that could not do what it was asked for: the sentences of its errors, causes included.
pub(crate) fn touch(items: &[Item]) -> Vec<String> {
    let client = Client::new(Shape::default(), items, BEGIN_MS + 86_400_000, Facts::new());
    let asker = client.clone();
    client.quietly(async move {
        let said = asker
            .look(|runtime| async move { everything(&runtime).await })
            .await;
        asker.told("said", serde_json::to_string(&said).unwrap());
    });
    serde_json::from_str(&client.fact("said")).unwrap()
}

async fn everything(runtime: &Runtime) -> Vec<String> {
    let tenant = &tenant();
    let mut said = Vec::new();
    let mut heard = |error: RuntimeError| {
        let mut text = error.to_string();
        let mut cause: Option<&dyn std::error::Error> = std::error::Error::source(&error);
        while let Some(error) = cause {
            text.push_str(&format!(": {error}"));
            cause = error.source();
        }
        said.push(text);
    };
    macro_rules! ask {
        ($($call:expr;)*) => {$(
            if let Err(error) = $call.await {
                heard(error);
            }
        )*};
    }
    for (id, _) in INSTANCES {
        let handle = DefinitionHandle::published(id);
        let mut event = EventRequest {
            name: id.into(),
            waits: true,
            ..EventRequest::default()
        };
        event.payload = json!(1);
        ask! {
            runtime.query().instance(tenant, id);
            runtime.query().journal(tenant, id, 0, 1_000);
            runtime.query().definition(tenant, &handle);
            runtime.instances().start(tenant, StartRequest::new(handle));
            runtime.stimuli().publish_event(tenant, event);
            runtime.instances().resume(tenant, ResumeRequest::instance(id));
        }
        let bookmark = match runtime.query().instance(tenant, id).await {
            Ok(Some(found)) => found.instance.bookmarks.first().map(|b| b.id.to_string()),
            Ok(None) | Err(_) => None,
        };
        if let Some(bookmark) = bookmark {
            ask! { runtime.instances().resume(tenant, ResumeRequest::bookmark(id, bookmark, Map::new())); }
        }
    }
    let mut once = StartRequest::new(DefinitionHandle::published("work"));
    once.idempotency_key = Some("key".into());
    let paging = Paging {
        ascending: true,
        skip: 0,
        limit: 100,
        cursor: None,
    };
    let clean = |id: &str| Message {
        id: id.into(),
        tenant: tenant.clone(),
        hops: 0,
        delays: 0,
        task: Task::CleanDeleted {
            instance: InstanceId::from(id),
        },
    };
    ask! {
        runtime.instances().start(tenant, once);
        runtime.query().definitions(tenant, VersionOptions::Latest);
        runtime.query().instances(tenant, &InstanceFilter::default(), &paging);
        runtime.query().routes(tenant);
        runtime.dead_letters().list(tenant, 10, None);
        runtime.query().consumers(tenant, "used");
        runtime.accounts().secrets().get(tenant, "shop");
        runtime.accounts().secrets().get(tenant, "card");
        runtime.operations().sweep();
        runtime.instances().delete(tenant, "wait");
        runtime.delivery().deliver(&clean("wait"));
        runtime.definitions().publish(tenant, "work");
        runtime.definitions().retract(tenant, "cron");
    }
    match runtime
        .store()
        .timers()
        .timers_due(0, i64::MAX / 2, 100, None)
        .await
    {
        Ok(page) => {
            let timers = page
                .timers
                .iter()
                .filter_map(|row| serde_json::from_slice::<Timer>(&row.body).ok());
            for timer in timers {
                ask! { runtime.timers().fire(&timer); }
            }
        }
        Err(error) => heard(error.into()),
    }
    said
}
