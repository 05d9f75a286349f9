//! Sending a head with what is decided together with it, and knowing which of the writes was refused.

use crate::instance::Commits;
use crate::instance::plan::{Plan, Role};
use crate::item::error::{StoreError, refused_without_reason};
use crate::table::{Item, Write, Written};

/// Outcome of sending a plan.
pub(crate) enum Sent {
    Done,
    /// The head is not as it was; this is how it is.
    HeadRefused(Option<Item>),
    /// The head is as it was, but this write was refused.
    Refused(Role, Option<Item>),
}

impl Commits<'_> {
    /// Writes the head and what goes with it: one plain write where that is nothing.
    pub(crate) async fn send(
        self,
        head: Write,
        plan: &Plan,
        unsure: &mut bool,
    ) -> Result<Sent, StoreError> {
        let mut roles = vec![Role::Head];
        let mut writes = vec![head];
        for (role, write) in &plan.with {
            roles.push(*role);
            writes.push(write.clone());
        }
        loop {
            let items = match self.write_again(&writes, unsure).await? {
                Written::Done => return Ok(Sent::Done),
                Written::Refused(items) => items,
            };
            let mut refused = roles.iter().copied().zip(items).enumerate();
            let found = refused.find_map(|(n, (role, item))| Some((n, role, item?)));
            match found {
                Some((_, Role::Head, item)) => return Ok(Sent::HeadRefused(item)),
                // A claim that is not ours any more: there is nothing to give back.
                Some((n, Role::ClaimBack, _)) => {
                    roles.remove(n);
                    writes.remove(n);
                }
                Some((_, role, item)) => return Ok(Sent::Refused(role, item)),
                None => return Err(refused_without_reason()),
            }
        }
    }
}
