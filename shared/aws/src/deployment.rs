//! The parts of a deployment, as its environment names them: which adapter stands behind which port.

use std::sync::Arc;

use dormouse_runtime::port::{Broadcast, Bus, Clock, Queue};
use dormouse_store::Store;
use dormouse_store::item::config::StoreConfig;

use crate::config::AwsConfig;
use crate::dynamo_table::DynamoTable;
use crate::environment::{Environment, Queues};
use crate::eventbridge_bus::EventBridgeBus;
use crate::eventbridge_scheduler::EventBridgeScheduler;
use crate::large_message::LargeMessages;
use crate::node_queue::NodeQueues;
use crate::s3_blobs::S3Blobs;
use crate::sns_broadcast::SnsBroadcast;
use crate::sqs_queue::SqsQueue;

/// The parts of a deployment. Nothing is asked of AWS before they are used.
#[derive(Clone)]
pub struct Deployment {
    /// The table, and the bucket if there is one.
    pub store: Store,
    /// The queues and schedules, if there are any.
    pub messaging: Option<Messaging>,
    /// Who hears of changed definitions.
    pub broadcast: Option<SnsBroadcast>,
    /// The queues of nodes that live on, if there is a topic.
    pub node_queues: Option<NodeQueues>,
    /// Where messages lie that queues and bus do not carry themselves.
    pub large: LargeMessages,
    /// Who hears of tasks and lifecycle events.
    pub bus: Option<EventBridgeBus>,
}

/// The queues and schedules of a deployment.
#[derive(Clone)]
pub struct Messaging {
    /// Where messages go.
    pub resume: SqsQueue,
    /// Where timers come from.
    pub timers: SqsQueue,
    /// What sets timers.
    pub scheduler: EventBridgeScheduler,
}

impl Messaging {
    /// The queues and schedules that a deployment names, where `config` says; and where messages lie that its queues
    /// do not carry themselves.
    pub fn new(
        config: &AwsConfig,
        queues: &Queues,
        clock: &Arc<dyn Clock>,
        large: &LargeMessages,
    ) -> Self {
        let queue =
            |url: &String| SqsQueue::new(config, Arc::clone(clock), url).with_large(large.clone());
        Self {
            resume: queue(&queues.resume_url),
            timers: queue(&queues.timer_url),
            scheduler: EventBridgeScheduler::new(config, Arc::clone(clock), queues.clone()),
        }
    }
}

impl Deployment {
    /// The parts that `environment` names, where `config` says.
    pub fn new(config: &AwsConfig, environment: &Environment, clock: &Arc<dyn Clock>) -> Self {
        let table = DynamoTable::new(config, &environment.table);
        let mut store = Store::new(Arc::new(table), StoreConfig::dynamo());
        let bucket = environment.bucket.as_ref();
        let bucket = bucket.map(|name| S3Blobs::new(config, name));
        if let Some(bucket) = &bucket {
            store = store.with_blobs(Arc::new(bucket.clone()));
        }
        let large = LargeMessages::new(bucket);
        let queues = environment.queues.as_ref();
        let messaging = queues.map(|queues| Messaging::new(config, queues, clock, &large));
        let topic = environment.topic_arn.as_ref();
        let node_queues =
            topic.map(|arn| NodeQueues::new(config, Arc::clone(clock), arn, environment.name()));
        let bus = environment.bus_name.as_ref();
        let bus = bus.map(|name| EventBridgeBus::new(config, name, environment.tells_lifecycle));
        Self {
            store,
            messaging,
            node_queues,
            broadcast: topic.map(|arn| SnsBroadcast::new(config, arn)),
            bus: bus.map(|bus| bus.with_large(large.clone())),
            large,
        }
    }

    /// The queue port, if there are queues.
    #[must_use]
    pub fn queue_port(&self) -> Option<Arc<dyn Queue>> {
        let messaging = self.messaging.as_ref()?;
        Some(Arc::new(messaging.resume.clone()))
    }

    /// The broadcast port, if there is a topic.
    #[must_use]
    pub fn broadcast_port(&self) -> Option<Arc<dyn Broadcast>> {
        Some(Arc::new(self.broadcast.clone()?))
    }

    /// The bus port, if there is a bus.
    #[must_use]
    pub fn bus_port(&self) -> Option<Arc<dyn Bus>> {
        Some(Arc::new(self.bus.clone()?))
    }
}
