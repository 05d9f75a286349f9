//! Parts of a deployment on AWS besides its table: queues and schedules, the topic, the bus. Each is used where the
//! environment names it; without queues the process handles its own messages and its timers lie in the table.

use std::sync::Arc;

use async_trait::async_trait;
use dormouse_aws::config::AwsConfig;
use dormouse_aws::deployment::Deployment;
use dormouse_aws::environment::Environment;
use dormouse_aws::eventbridge_scheduler::EventBridgeScheduler;
use dormouse_aws::sqs_poller::SqsPoller;
use dormouse_runtime::port::{Clock, PortError, Ports, Scheduler};
use dormouse_runtime::{Runtime, Timer};
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::storage::Remote;
use crate::exit::Exit;
use crate::failure::Failure;

/// The parts of a deployment that the environment names.
pub(super) struct AwsRemote {
    config: AwsConfig,
    deployment: Deployment,
}

impl AwsRemote {
    /// Parts that the environment names beside the table `table`.
    pub(super) fn read(
        config: &AwsConfig,
        table: &str,
        clock: &Arc<dyn Clock>,
    ) -> Result<Self, Failure> {
        let environment = Environment::of(|name| match name {
            "DORMOUSE_TABLE" => Some(table.to_owned()),
            other => std::env::var(other).ok(),
        });
        let environment = environment
            .map_err(|error| Failure::new(Exit::BadInput, "badEnvironment", error.to_string()))?;
        tracing::info!(%environment, "the deployment");
        Ok(Self {
            config: config.clone(),
            deployment: Deployment::new(config, &environment, clock),
        })
    }
}

/// Timers are set as schedules. Those that lie in the table since it had no queues beside it fire from there, and are
/// forgotten there.
struct NewAndOld {
    new: EventBridgeScheduler,
    old: Arc<dyn Scheduler>,
}

#[async_trait]
impl Scheduler for NewAndOld {
    async fn schedule(&self, timer: &Timer) -> Result<(), PortError> {
        self.new.schedule(timer).await
    }

    async fn forget(&self, timer: &Timer) -> Result<(), PortError> {
        self.old.forget(timer).await?;
        self.new.forget(timer).await
    }
}

impl Remote for AwsRemote {
    fn has_schedules(&self) -> bool {
        self.deployment.messaging.is_some()
    }

    fn fill(&self, ports: &mut Ports) {
        if let Some(messaging) = &self.deployment.messaging {
            ports.scheduler = Arc::new(NewAndOld {
                new: messaging.scheduler.clone(),
                old: Arc::clone(&ports.scheduler),
            });
        }
        ports.queue = self.deployment.queue_port();
        ports.bus = self.deployment.bus_port();
        if let Some(broadcast) = self.deployment.broadcast_port() {
            ports.broadcast = Some(broadcast);
        }
    }

    fn attend(&self, node: &Runtime, tasks: &mut JoinSet<()>, stop: &watch::Receiver<bool>) {
        if let Some(messaging) = &self.deployment.messaging {
            for queue in [&messaging.resume, &messaging.timers] {
                let poller = SqsPoller::new(&self.config, queue.clone());
                tasks.spawn(poller.run(node.clone(), stop.clone()));
            }
        }
        if let Some(queues) = self.deployment.node_queues.clone() {
            let (node, stop) = (node.clone(), stop.clone());
            tasks.spawn(async move {
                match queues.open().await {
                    Ok(queue) => queue.run(node, stop).await,
                    Err(error) => {
                        tracing::warn!(%error, "this node is not told of changes, and finds them at each start");
                    }
                }
            });
        }
    }
}
