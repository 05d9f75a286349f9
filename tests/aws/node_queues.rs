//! The queues of nodes that live on: every node hears of a change, and what a killed one leaves is removed.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow, ensure};
use async_trait::async_trait;
use dormouse_aws::node_queue::NodeQueues;
use dormouse_aws::sns_broadcast::SnsBroadcast;
use dormouse_embedded::{SystemClock, TableScheduler, TokioBackground};
use dormouse_engine::call::{Answer, HttpRequest};
use dormouse_engine::time::Timestamp;
use dormouse_expressions::Expressions;
use dormouse_runtime::port::{
    Broadcast as _, Clock, DefinitionChanged, HttpCaller, Measure, Metric, Metrics, Ports,
};
use dormouse_runtime::{Runtime, RuntimeConfig};
use dormouse_store::item::config::StoreConfig;
use dormouse_store::{MemoryTable, Store};
use dormouse_tests::deployment::Deployment;
use tokio::sync::watch;

struct NoNetwork;

#[async_trait]
impl HttpCaller for NoNetwork {
    async fn call(&self, _request: &HttpRequest, _timeout_ms: u64) -> Answer {
        Answer::FailedToConnect {
            message: "there is no network here".into(),
        }
    }
}

/// Counts what a node hears.
#[derive(Default)]
struct Heard(AtomicUsize);

impl Metrics for Heard {
    fn record(&self, measure: Measure) {
        if measure.metric == Metric::CacheInvalidations {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
}

/// A clock that is so many ms ahead.
#[derive(Default)]
struct Ahead(AtomicI64);

#[async_trait]
impl Clock for Ahead {
    fn now(&self) -> Timestamp {
        SystemClock.now().plus_ms(self.0.load(Ordering::SeqCst))
    }

    async fn sleep(&self, ms: u64) {
        SystemClock.sleep(ms).await;
    }

    fn random(&self) -> u64 {
        SystemClock.random()
    }
}

fn node(heard: Arc<Heard>) -> Runtime {
    let store = Store::new(Arc::new(MemoryTable::default()), StoreConfig::embedded());
    let ports = Ports {
        clock: Arc::new(SystemClock),
        background: Arc::new(TokioBackground::new(tokio::runtime::Handle::current())),
        scheduler: Arc::new(TableScheduler::new(store.clone())),
        http_caller: Arc::new(NoNetwork),
        queue: None,
        bus: None,
        broadcast: None,
        compute: None,
        observer: None,
        commands: None,
        functions: None,
        vault: None,
        metrics: Some(heard),
    };
    let expressions = Arc::new(Expressions::default());
    Runtime::new(store, ports, expressions, RuntimeConfig::server("node"))
}

async fn queues(deployment: &Deployment) -> Result<usize> {
    let prefix = format!("{}-node-", deployment.name);
    let listed = deployment.sqs.list_queues().queue_name_prefix(prefix);
    Ok(listed.send().await?.queue_urls().len())
}

async fn until(what: &str, mut is: impl FnMut() -> bool) -> Result<()> {
    let begin = Instant::now();
    while !is() {
        ensure!(begin.elapsed() < Duration::from_secs(60), "not {what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    Ok(())
}

#[tokio::test]
async fn every_node_hears_of_a_change_and_leaves_nothing_behind() -> Result<()> {
    let Some(deployment) = Deployment::make().await? else {
        return Ok(());
    };
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let all = NodeQueues::new(
        &deployment.config,
        clock,
        &deployment.topic_arn,
        &deployment.name,
    );
    let (stop, stopped) = watch::channel(false);
    let (mut nodes, mut running) = (Vec::new(), Vec::new());
    for _ in 0..3 {
        let heard = Arc::new(Heard::default());
        let queue = all.open().await?;
        running.push(tokio::spawn(
            queue.run(node(Arc::clone(&heard)), stopped.clone()),
        ));
        nodes.push(heard);
    }
    assert_eq!(queues(&deployment).await?, 3);
    let broadcast = SnsBroadcast::new(&deployment.config, &deployment.topic_arn);
    let changed = DefinitionChanged {
        tenant: "default".into(),
        definition_id: "order".into(),
    };
    broadcast
        .publish(&changed)
        .await
        .map_err(|error| anyhow!(error))?;
    for heard in &nodes {
        until("heard", || heard.0.load(Ordering::SeqCst) == 1).await?;
    }
    stop.send(true)?;
    for task in running {
        task.await?;
    }
    assert_eq!(queues(&deployment).await?, 0);
    Ok(())
}

#[tokio::test]
async fn the_queue_of_a_killed_node_is_removed_when_it_has_been_silent() -> Result<()> {
    let Some(deployment) = Deployment::make().await? else {
        return Ok(());
    };
    let clock = Arc::new(Ahead::default());
    let (topic, name) = (&deployment.topic_arn, &deployment.name);
    let all = NodeQueues::new(&deployment.config, Arc::clone(&clock) as _, topic, name);
    // Nobody runs it: its node is gone.
    let _killed = all.open().await?;
    assert_eq!(all.remove_orphans().await?, 0);
    clock.0.store(21 * 60_000, Ordering::SeqCst);
    let _lives = all.open().await?;
    assert_eq!(all.remove_orphans().await?, 1);
    assert_eq!(queues(&deployment).await?, 1);
    assert_eq!(all.remove_orphans().await?, 0);
    Ok(())
}
