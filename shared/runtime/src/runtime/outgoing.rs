//! Where the effects of a commit go. The kernel and the outbox know this port only, and the use cases above them
//! take what comes out of it.

use dormouse_engine::instance::Instance;
use dormouse_store::Tenant;
use futures_util::future::BoxFuture;

use crate::error::RuntimeError;
use crate::runtime::Runtime;
use crate::work::delivered::Delivered;
use crate::work::message::Message;

/// Takes effects to where they belong.
pub(crate) trait Outgoing: Send + Sync {
    /// Does what a message says. Doing it twice changes nothing.
    fn deliver<'a>(
        &self,
        runtime: &'a Runtime,
        message: &'a Message,
    ) -> BoxFuture<'a, Result<Delivered, RuntimeError>>;

    /// Makes a dead letter of a message that can never be delivered.
    fn give_up<'a>(
        &self,
        runtime: &'a Runtime,
        message: &'a Message,
        reason: &'a str,
    ) -> BoxFuture<'a, Result<(), RuntimeError>>;

    /// Looks for stimuli that were queued for bookmarks which a burst has opened: (id, hash).
    fn meet_queued(
        &self,
        runtime: &Runtime,
        tenant: &Tenant,
        instance: &Instance,
        opened: Vec<(String, String)>,
    ) -> BoxFuture<'static, ()>;
}
