//! A DynamoDB-compatible server inside the test's process: dynoxide, in memory, on a free port of this machine.
//!
//! It has threads of its own, so that a test may use any runtime, and stops when it is dropped.

use std::net::TcpListener;

use anyhow::{Context as _, Result};
use dormouse_aws::config::AwsConfig;
use dynoxide::Database;
use tokio::runtime::{Builder, Runtime};

/// A running server.
pub struct Dynoxide {
    endpoint: String,
    database: Database,
    runtime: Option<Runtime>,
}

impl Dynoxide {
    /// Starts one; its tables are empty and its own.
    ///
    /// # Errors
    ///
    /// No port, no thread.
    pub fn start() -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        listener.set_nonblocking(true)?;
        let endpoint = format!("http://{}", listener.local_addr()?);
        let database = Database::memory().context("dynoxide's database")?;
        let runtime = Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()?;
        let served = database.clone();
        runtime.spawn(async move {
            if let Ok(listener) = tokio::net::TcpListener::from_std(listener) {
                dynoxide::server::serve_on(listener, served).await;
            }
        });
        Ok(Self {
            endpoint,
            database,
            runtime: Some(runtime),
        })
    }

    /// Where it is, like `http://127.0.0.1:41234`.
    #[must_use]
    pub fn endpoint(&self) -> &str {
        &self.endpoint
    }

    /// The configuration for its clients.
    #[must_use]
    pub fn config(&self) -> AwsConfig {
        AwsConfig::emulator(&self.endpoint)
    }

    /// What it keeps, to look at without the server.
    #[must_use]
    pub fn database(&self) -> &Database {
        &self.database
    }
}

impl Drop for Dynoxide {
    fn drop(&mut self) {
        // A runtime must not wait for its threads inside another runtime.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
