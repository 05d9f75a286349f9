//! Sending a plan to the table, and knowing which of its writes was refused.

use crate::error::StoreError;
use crate::plan::{Plan, Role};
use crate::store::Store;
use crate::table::{Condition, Item, TableError, Write, Written};

/// How often writes are sent whose answer is lost each time, before the caller hears of it.
const ATTEMPTS_MAX: u32 = 3;

/// A plan's writes beside the head's, in atomic writes.
pub(crate) struct Parts {
    pub(crate) before: Vec<Vec<Write>>,
    /// What goes with the head because it fits.
    pub(crate) with_head: Vec<Write>,
    pub(crate) after: Vec<Vec<Write>>,
}

impl Parts {
    pub(crate) fn is_split(&self) -> bool {
        !self.before.is_empty() || !self.after.is_empty()
    }
}

/// What became of a plan.
pub(crate) enum Sent {
    Done,
    /// The head is not as it was; this is how it is.
    HeadRefused(Option<Item>),
    /// The head is as it was, but this write was refused.
    Refused(Role, Option<Item>),
}

impl Store {
    /// Takes a plan apart: one atomic write where that is enough.
    pub(crate) fn parts(&self, plan: &mut Plan) -> Parts {
        let before = std::mem::take(&mut plan.before);
        let after = std::mem::take(&mut plan.after);
        let must = plan.with.iter().map(|(_, write)| write);
        if self.fits(1, must.chain(&before).chain(&after)) {
            let with_head = before.into_iter().chain(after).collect();
            return Parts {
                before: Vec::new(),
                with_head,
                after: Vec::new(),
            };
        }
        Parts {
            before: self.batches(before),
            with_head: Vec::new(),
            after: self.batches(after),
        }
    }

    /// Does all of a plan but what comes after the head. `check` says that the head is as it was.
    pub(crate) async fn send(
        &self,
        head: Write,
        check: &Condition,
        plan: &Plan,
        parts: &Parts,
        unsure: &mut bool,
    ) -> Result<Sent, StoreError> {
        for batch in &parts.before {
            let mut writes = vec![Write::Check(head.key().clone(), check.clone())];
            writes.extend_from_slice(batch);
            if let Written::Refused(items) = self.write_again(&writes, unsure).await? {
                return Ok(Sent::HeadRefused(
                    items.into_iter().next().flatten().flatten(),
                ));
            }
        }
        let mut roles = vec![Role::Head];
        let mut writes = vec![head];
        for (role, write) in &plan.with {
            roles.push(*role);
            writes.push(write.clone());
        }
        writes.extend_from_slice(&parts.with_head);
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
