//! A worker: leases tasks of a queue, runs their handlers beside each other, and answers until the server has heard it.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde::de::DeserializeOwned;
use tokio::sync::{Notify, watch};

use crate::client::{Client, RequestError};
use crate::context::{Context, Listener, Task};
use crate::handler::{ActivityError, Handlers, Reply, Told};
use crate::lease;
use crate::pause::Pauses;

/// The most tasks of one poll.
const POLL_MAX: usize = 50;

/// Why a worker does not run.
#[derive(Debug, thiserror::Error)]
pub enum WorkerError {
    /// It has nothing to do.
    #[error("the worker has no handlers")]
    NoHandlers,
    /// The server cannot be addressed.
    #[error(transparent)]
    Client(#[from] RequestError),
    /// Signals cannot be received, or the Lambda runtime cannot be reached.
    #[error("{0}")]
    Environment(String),
}

/// The handlers of activity types, and the loop that serves them.
#[derive(Debug, Clone)]
pub struct Worker {
    queue: String,
    pub(crate) handlers: Handlers,
    client: Option<Client>,
    concurrency: usize,
    wait: Duration,
    grace: Duration,
    id: String,
}

/// The tasks in hand.
#[derive(Debug)]
struct Running {
    contexts: Mutex<BTreeMap<String, Context>>,
    changed: Notify,
}

impl Running {
    fn with<T>(&self, act: impl FnOnce(&mut BTreeMap<String, Context>) -> T) -> T {
        act(&mut self.contexts.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Worker {
    /// A worker of a queue.
    #[must_use]
    pub fn new(queue: impl Into<String>) -> Self {
        let host = std::env::var("HOSTNAME").unwrap_or_else(|_| "rust".to_owned());
        Self {
            queue: queue.into(),
            handlers: Handlers::default(),
            client: None,
            concurrency: 8,
            wait: Duration::from_secs(5),
            grace: Duration::from_secs(30),
            id: format!("{host:.100}-{}", std::process::id()),
        }
    }

    /// Uses a client other than [`Client::from_env`].
    #[must_use]
    pub fn client(mut self, client: Client) -> Self {
        self.client = Some(client);
        self
    }

    /// Handlers that run at a time [default: 8].
    #[must_use]
    pub fn concurrency(mut self, handlers: usize) -> Self {
        self.concurrency = handlers.max(1);
        self
    }

    /// How long a request for tasks waits at the server; a stop waits for its end [default: 5 s, at most 20 s].
    #[must_use]
    pub fn wait(mut self, wait: Duration) -> Self {
        self.wait = wait.min(Duration::from_secs(20));
        self
    }

    /// How long running handlers have after SIGTERM or SIGINT [default: 30 s].
    #[must_use]
    pub fn grace(mut self, grace: Duration) -> Self {
        self.grace = grace;
        self
    }

    /// Declares the handler of an activity type, in place of an earlier one. Its input is read from the task's inputs by name.
    #[must_use]
    pub fn activity<I, F, R>(mut self, activity_type: impl Into<String>, handler: F) -> Self
    where
        I: DeserializeOwned + Send + 'static,
        F: Fn(I, Context) -> R + Send + Sync + 'static,
        R: Future<Output = Result<Reply, ActivityError>> + Send + 'static,
    {
        self.handlers.insert(activity_type.into(), handler);
        self
    }

    /// Works until SIGTERM or SIGINT. A second signal ends the process at once.
    ///
    /// # Errors
    ///
    /// [`WorkerError`]
    pub async fn run(self) -> Result<(), WorkerError> {
        let signal = stop_signal()?;
        self.run_until(signal).await
    }

    /// Works until `stop` ends: no new polls then, and running handlers have the grace time. Those that have not finished are
    /// failed as retryable.
    ///
    /// # Errors
    ///
    /// [`WorkerError`]
    pub async fn run_until(self, stop: impl Future<Output = ()>) -> Result<(), WorkerError> {
        if self.handlers.types().is_empty() {
            return Err(WorkerError::NoHandlers);
        }
        let client = self.client.clone().map_or_else(Client::from_env, Ok)?;
        let running = Arc::new(Running {
            contexts: Mutex::default(),
            changed: Notify::new(),
        });
        let stopping = watch::Sender::new(false);
        let polling = self.poll_until_stopped(&client, &running, stopping.subscribe());
        tokio::pin!(polling);
        tokio::select! {
            // It ends after a stop only.
            () = &mut polling => return Ok(()),
            () = stop => {
                stopping.send_replace(true);
                running.with(|contexts| contexts.values().for_each(Context::stop));
            }
        }
        let finished = async {
            // Tasks that the last request brings are leased, so they are done as well.
            polling.await;
            while running.with(|contexts| !contexts.is_empty()) {
                running.changed.notified().await;
            }
        };
        if tokio::time::timeout(self.grace, finished).await.is_err() {
            let left: Vec<Context> = running.with(std::mem::take).into_values().collect();
            lease::abandon(&client, left).await;
        }
        Ok(())
    }

    async fn poll_until_stopped(
        &self,
        client: &Client,
        running: &Arc<Running>,
        mut stopping: watch::Receiver<bool>,
    ) {
        let types = self.handlers.types();
        let wait_ms = u64::try_from(self.wait.as_millis()).unwrap_or(0);
        let mut pauses = Pauses::new(200, 10_000);
        while !*stopping.borrow() {
            let busy = running.with(|contexts| contexts.len());
            let room = self.concurrency.saturating_sub(busy).min(POLL_MAX);
            if room == 0 {
                tokio::select! {
                    () = running.changed.notified() => {}
                    _ = stopping.changed() => {}
                }
                continue;
            }
            // Never given up: the server may have leased tasks for it already.
            match client
                .poll(&self.queue, &types, room, wait_ms, &self.id)
                .await
            {
                Ok(tasks) => {
                    pauses.reset();
                    let is_stopping = *stopping.borrow();
                    for task in tasks {
                        self.begin(client, running, task, is_stopping);
                    }
                }
                Err(error) => {
                    tracing::warn!(%error, "no tasks");
                    tokio::select! {
                        () = tokio::time::sleep(pauses.next(&error)) => {}
                        _ = stopping.changed() => {}
                    }
                }
            }
        }
    }

    fn begin(&self, client: &Client, running: &Arc<Running>, task: Task, is_stopping: bool) {
        let id = task.task_id.clone();
        let context = Context::new(task, Listener::Server(client.clone()));
        if is_stopping {
            context.stop();
        }
        running.with(|contexts| contexts.insert(id.clone(), context.clone()));
        let (handlers, client) = (self.handlers.clone(), client.clone());
        let running = Arc::clone(running);
        tokio::spawn(async move {
            lease::work(&handlers, &client, context).await;
            running.with(|contexts| contexts.remove(&id));
            running.changed.notify_one();
        });
    }

    /// Does one task that came by a webhook or a Lambda invocation. `None`: the answer comes later.
    pub(crate) async fn answer(&self, task: Task) -> Option<serde_json::Value> {
        let has_address = std::env::var_os("DORMOUSE_URL").is_some();
        let listener = match &self.client {
            Some(client) => Listener::Server(client.clone()),
            None if has_address => Client::from_env().map_or(Listener::Nobody, Listener::Server),
            None => Listener::Nobody,
        };
        match self.handlers.answer(Context::new(task, listener)).await {
            Told::Body(body) => Some(body),
            Told::Later => None,
            Told::Lost => Some(ActivityError::new("TaskLost", "the task was lost").body()),
        }
    }
}

#[cfg(unix)]
fn stop_signal() -> Result<impl Future<Output = ()>, WorkerError> {
    use tokio::signal::unix::{SignalKind, signal};
    let listen = |kind| signal(kind).map_err(|error| WorkerError::Environment(error.to_string()));
    let (mut terminate, mut interrupt) = (
        listen(SignalKind::terminate())?,
        listen(SignalKind::interrupt())?,
    );
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        tokio::spawn(async move {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
            std::process::exit(130);
        });
    })
}

#[cfg(not(unix))]
fn stop_signal() -> Result<impl Future<Output = ()>, WorkerError> {
    Ok(async {
        let _signal = tokio::signal::ctrl_c().await;
    })
}
