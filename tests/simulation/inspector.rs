//! Reads what a run has left, through the product's own queries, while nothing goes wrong.

use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use async_trait::async_trait;
use bytes::Bytes;
use dormouse_engine::instance::SubStatus;
use dormouse_engine::journal::Line;
use dormouse_expressions::Expressions;
use dormouse_runtime::port::Ports;
use dormouse_runtime::{Runtime, RuntimeConfig};
use dormouse_store::item::config::StoreConfig;
use dormouse_store::item::error::Cause;
use dormouse_store::outbox::dead_letter::DeadLetter;
use dormouse_store::table::blobs::Blobs;
use dormouse_store::table::{
    Change, Condition, Durability, Item, Key, Page, Query, Table, TableError, Updated, Write,
    Written,
};
use dormouse_store::{MemoryTable, Store};
use serde_json::{Map, Value};

use super::cluster::{Cluster, lock, tenant};
use super::node::Node;
use super::sabotage::is_head;

/// An instance as it stands.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    pub(crate) id: String,
    pub(crate) definition: String,
    pub(crate) version: u32,
    pub(crate) sub_status: SubStatus,
    pub(crate) parent: Option<String>,
    pub(crate) input: Map<String, Value>,
    pub(crate) created_ms: i64,
    pub(crate) lines: Vec<Line>,
}

/// What a run has left.
#[derive(Debug, Default)]
pub(crate) struct Left {
    pub(crate) instances: Vec<Found>,
    pub(crate) letters: Vec<DeadLetter>,
    pub(crate) items: Vec<Item>,
    /// What cannot be read.
    pub(crate) unreadable: Vec<String>,
}

/// Reads the tables of many runs that have the same workflows: what was compiled for one serves all.
pub(crate) struct Inspector {
    eye: Arc<Eye>,
    runtime: Runtime,
}

#[derive(Default)]
struct Eye(Mutex<Option<Cluster>>);

impl Inspector {
    /// One for runs like this one.
    pub(crate) fn new(cluster: &Cluster, expressions: Arc<Expressions>) -> Self {
        let eye = Arc::new(Eye::default());
        let node = Arc::new(Node::new(cluster.clone(), 0));
        let ports = Ports {
            clock: node.clone(),
            background: node.clone(),
            scheduler: node.clone(),
            http_caller: node,
            queue: None,
            bus: None,
            broadcast: None,
            compute: None,
            observer: None,
            commands: None,
            functions: None,
            vault: None,
            metrics: None,
        };
        let store = Store::new(eye.clone(), StoreConfig::dynamo()).with_blobs(eye.clone());
        let config = RuntimeConfig::server("inspector");
        Self {
            eye,
            runtime: Runtime::new(store, ports, expressions, config),
        }
    }

    /// Reads what a run has left.
    pub(crate) fn read(&self, cluster: &Cluster) -> Left {
        *lock(&self.eye.0) = Some(cluster.clone());
        let left = at_once(self.read_all(cluster.shared.table.items()));
        *lock(&self.eye.0) = None;
        left
    }

    async fn read_all(&self, items: Vec<Item>) -> Left {
        let mut left = Left::default();
        for item in items.iter().filter(|item| is_head(&item.key)) {
            let Some((_, id)) = item.key.partition.split_once("/WF#") else {
                continue;
            };
            match self.instance(id).await {
                Ok(found) => left.instances.extend(found),
                Err(error) => left.unreadable.push(format!("{id}: {error}")),
            }
        }
        let letters = self
            .runtime
            .store()
            .dead_letters()
            .list(&tenant(), 1_000, None)
            .await;
        match letters {
            Ok(page) => left.letters = page.letters,
            Err(error) => left.unreadable.push(format!("dead letters: {error}")),
        }
        left.items = items;
        left
    }

    async fn instance(&self, id: &str) -> Result<Option<Found>, dormouse_runtime::RuntimeError> {
        let Some(detail) = self.runtime.query().instance(&tenant(), id).await? else {
            return Ok(None);
        };
        let journal = self
            .runtime
            .query()
            .journal(&tenant(), id, 0, 100_000)
            .await?;
        let instance = detail.instance;
        Ok(Some(Found {
            id: id.to_owned(),
            definition: instance.definition_id.clone(),
            version: instance.version,
            sub_status: instance.sub_status,
            parent: instance.parent.as_ref().map(|p| p.instance.to_string()),
            created_ms: instance.created_at.0,
            input: instance.input,
            lines: journal.map(|j| j.lines).unwrap_or_default(),
        }))
    }
}

/// What needs no waiting.
pub(crate) fn at_once<T>(work: impl Future<Output = T>) -> T {
    let mut work = pin!(work);
    match work.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("nothing here waits"),
    }
}

impl Eye {
    fn cluster(&self) -> Cluster {
        lock(&self.0).clone().expect("a run is looked at")
    }

    fn with<T>(&self, look: impl Fn(&MemoryTable) -> T) -> T {
        look(&self.cluster().shared.table)
    }
}

#[async_trait]
impl Table for Eye {
    async fn get(&self, key: &Key) -> Result<Option<Item>, TableError> {
        self.with(|table| at_once(table.get(key)))
    }

    async fn query(&self, query: &Query) -> Result<Page, TableError> {
        self.with(|table| at_once(table.query(query)))
    }

    async fn update(
        &self,
        _: &Key,
        _: &[Change],
        _: &Condition,
        _: Durability,
    ) -> Result<Updated, TableError> {
        Err(TableError::Invalid("an inspector changes nothing".into()))
    }

    async fn write(&self, _: &[Write]) -> Result<Written, TableError> {
        Err(TableError::Invalid("an inspector changes nothing".into()))
    }
}

#[async_trait]
impl Blobs for Eye {
    async fn put(&self, _: &str, _: Bytes) -> Result<(), Cause> {
        Err("an inspector changes nothing".into())
    }

    async fn get(&self, name: &str) -> Result<Option<Bytes>, Cause> {
        Ok(lock(&self.cluster().shared.blobs).get(name).cloned())
    }

    async fn delete(&self, _: &str) -> Result<(), Cause> {
        Ok(())
    }
}
