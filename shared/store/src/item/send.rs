//! Sending a head with what is decided together with it, and knowing which of the writes was refused.

use crate::instance::plan::{Plan, Role};
use crate::item::error::StoreError;
use crate::store::Store;
use crate::table::{Item, TableError, Write, Written};

/// How often writes are sent whose answer is lost each time, before the caller hears of it.
const ATTEMPTS_MAX: u32 = 3;

/// Outcome of sending a plan.
pub(crate) enum Sent {
    Done,
    /// The head is not as it was; this is how it is.
    HeadRefused(Option<Item>),
    /// The head is as it was, but this write was refused.
    Refused(Role, Option<Item>),
}

impl Store {
    /// Writes the head and what goes with it: one plain write where that is nothing.
    pub(crate) async fn send(
        &self,
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

    /// Sends writes again where the answer was lost: their conditions make sure that they happen once.
    pub(crate) async fn write_again(
        &self,
        writes: &[Write],
        unsure: &mut bool,
    ) -> Result<Written, StoreError> {
        let mut attempt = 1;
        loop {
            match self.table().write(writes).await {
                Err(TableError::Unknown(cause)) => {
                    *unsure = true;
                    if attempt == ATTEMPTS_MAX {
                        return Err(TableError::Unknown(cause).into());
                    }
                    attempt += 1;
                }
                // Of this attempt nothing happened, of the one before perhaps.
                Err(error) if *unsure => return Err(TableError::Unknown(error.into()).into()),
                written => return Ok(written?),
            }
        }
    }
}

/// The table refused what it cannot refuse.
pub(crate) fn refused_without_reason() -> StoreError {
    let problem = "it refused a write that has no condition".to_owned();
    TableError::Unusable(problem, None).into()
}
