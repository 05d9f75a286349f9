//! The use cases behind the port [`Outgoing`]: with them a runtime is complete.

use std::sync::Arc;

use dormouse_engine::instance::Instance;
use dormouse_expressions::Expressions;
use dormouse_store::{Store, Tenant};
use futures_util::future::BoxFuture;

use crate::error::RuntimeError;
use crate::port::Ports;
use crate::runtime::Runtime;
use crate::runtime::config::RuntimeConfig;
use crate::runtime::outgoing::Outgoing;
use crate::work::delivered::Delivered;
use crate::work::message::Message;

/// Hands effects to the use cases of this process.
struct UseCases;

impl Outgoing for UseCases {
    fn deliver<'a>(
        &self,
        runtime: &'a Runtime,
        message: &'a Message,
    ) -> BoxFuture<'a, Result<Delivered, RuntimeError>> {
        Box::pin(runtime.delivery().deliver(message))
    }

    fn give_up<'a>(
        &self,
        runtime: &'a Runtime,
        message: &'a Message,
        reason: &'a str,
    ) -> BoxFuture<'a, Result<(), RuntimeError>> {
        Box::pin(runtime.dead_letters().give_up(message, reason))
    }

    fn meet_queued(
        &self,
        runtime: &Runtime,
        tenant: &Tenant,
        instance: &Instance,
        opened: Vec<(String, String)>,
    ) -> BoxFuture<'static, ()> {
        runtime.stimuli().meet_queued(tenant, instance, opened)
    }
}

impl Runtime {
    /// A runtime over a store and ports.
    #[must_use]
    pub fn new(
        store: Store,
        ports: Ports,
        expressions: Arc<Expressions>,
        config: RuntimeConfig,
    ) -> Self {
        Self::with_outgoing(store, ports, expressions, config, &UseCases)
    }
}
