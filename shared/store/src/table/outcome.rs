//! What writes do to stored items: the pure decision that every table in this process makes, whatever it keeps
//! its items in. The conditions of all writes are judged first, so a refused one leaves nothing behind.

use crate::table::limits::{TRANSACTION_BYTES_MAX, at_most};
use crate::table::{Attributes, Change, Condition, Item, Key, TableError, Updated, Write, Written};

/// What one write does to the item under its key, once its condition holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The item stays as it is.
    Keep,
    /// This item takes its place.
    Store(Item),
    /// It goes.
    Delete,
}

/// What several writes do together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// Each write's outcome, in order; all of them or none.
    Apply(Vec<Outcome>),
    /// Nothing happens; the answer as [`Written::Refused`] has it.
    Refuse(Vec<Option<Option<Item>>>),
}

impl Decision {
    /// Judges all writes against the items that `stored` finds.
    ///
    /// # Errors
    ///
    /// Those of `stored`, [`TableError::Invalid`] for a sum that cannot be made, [`TableError::TooLarge`].
    pub fn of<E: From<TableError>>(
        writes: &[Write],
        mut stored: impl FnMut(&Key) -> Result<Option<Item>, E>,
    ) -> Result<Self, E> {
        let before = writes
            .iter()
            .map(|write| stored(write.key()))
            .collect::<Result<Vec<_>, _>>()?;
        let held = |(write, item): (&Write, &Option<Item>)| {
            write
                .condition()
                .holds(item.as_ref().map(|item| &item.attributes))
        };
        let held: Vec<bool> = writes.iter().zip(&before).map(held).collect();
        if held.contains(&false) {
            let refused = before
                .into_iter()
                .zip(held)
                .map(|(item, held)| (!held).then_some(item));
            return Ok(Self::Refuse(refused.collect()));
        }
        let outcomes = writes
            .iter()
            .zip(before)
            .map(|(write, item)| write.outcome(item))
            .collect::<Result<Vec<_>, _>>()?;
        at_most(
            "bytes of one write",
            outcomes.iter().map(Outcome::size_bytes).sum(),
            TRANSACTION_BYTES_MAX,
        )?;
        Ok(Self::Apply(outcomes))
    }

    /// The caller's answer, once the outcomes are stored.
    #[must_use]
    pub fn written(self) -> Written {
        match self {
            Self::Apply(_) => Written::Done,
            Self::Refuse(refused) => Written::Refused(refused),
        }
    }
}

impl Outcome {
    fn size_bytes(&self) -> usize {
        match self {
            Self::Store(item) => item.size_bytes(),
            Self::Keep | Self::Delete => 0,
        }
    }
}

impl Write {
    /// The condition it stands under.
    #[must_use]
    pub fn condition(&self) -> &Condition {
        match self {
            Self::Put(_, condition)
            | Self::Update(_, _, condition)
            | Self::Delete(_, condition)
            | Self::Check(_, condition) => condition,
        }
    }

    /// What it does to the item as stored, its condition left aside.
    fn outcome(&self, stored: Option<Item>) -> Result<Outcome, TableError> {
        match self {
            Self::Put(item, _) => {
                let mut item = item.clone();
                item.attributes.retain(|_, value| !value.is_empty_set());
                item.check()?;
                Ok(Outcome::Store(item))
            }
            Self::Update(key, changes, _) => changed(key, changes, stored).map(Outcome::Store),
            Self::Delete(..) => Ok(Outcome::Delete),
            Self::Check(..) => Ok(Outcome::Keep),
        }
    }
}

impl Updated {
    /// Judges one update against the stored item. `New` holds the item that is to be stored.
    ///
    /// # Errors
    ///
    /// [`TableError::Invalid`] for a sum that cannot be made, [`TableError::TooLarge`].
    pub fn of(
        key: &Key,
        changes: &[Change],
        condition: &Condition,
        stored: Option<Item>,
    ) -> Result<Self, TableError> {
        if condition.holds(stored.as_ref().map(|item| &item.attributes)) {
            changed(key, changes, stored).map(Self::New)
        } else {
            Ok(Self::Refused(stored))
        }
    }
}

fn changed(key: &Key, changes: &[Change], stored: Option<Item>) -> Result<Item, TableError> {
    let mut item = stored.unwrap_or_else(|| Item {
        key: key.clone(),
        attributes: Attributes::new(),
    });
    for change in changes {
        change.apply(&mut item.attributes)?;
    }
    item.check()?;
    Ok(item)
}
