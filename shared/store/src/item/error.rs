//! What can go wrong in the store. Expected outcomes (a lost race, a duplicate, a conflict) are values of the
//! operations and not errors.

pub use crate::table::Cause;
use crate::table::TableError;

/// Why an operation of the store did not happen.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The table did not do it; see [`TableError`] for what may be tried again.
    #[error(transparent)]
    Table(TableError),
    /// An id, a name or a hash that cannot be part of a key. Nothing happened.
    #[error("{what} cannot be stored: {problem}")]
    BadId {
        /// Which of them.
        what: &'static str,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// Over a limit of the store. Nothing happened, and a repeat will not help.
    #[error("{what} is too large: {size} bytes, the limit is {limit}")]
    TooLarge {
        /// What is too large.
        what: &'static str,
        /// Its size in bytes.
        size: usize,
        /// The limit in bytes.
        limit: usize,
    },
    /// A stored item that this build cannot read, though its format is known.
    #[error("a stored {what} is damaged")]
    Damaged {
        /// What kind of item.
        what: &'static str,
        /// What the decoder said, where one did.
        #[source]
        cause: Option<Cause>,
    },
    /// A stored item that a newer build wrote.
    #[error("a stored {what} has format {format}; this build reads up to {newest}: update it")]
    NewerFormat {
        /// What kind of item.
        what: &'static str,
        /// The format it has.
        format: u8,
        /// The newest format this build reads.
        newest: u8,
    },
    /// A value could not be encoded.
    #[error("a {what} could not be encoded")]
    Encode {
        /// What kind of value.
        what: &'static str,
        /// What the encoder said.
        #[source]
        cause: Cause,
    },
    /// The store of large states failed. Nothing was committed.
    #[error("the store of large states failed")]
    Blobs(#[source] Cause),
    /// A state over the size of an item, and no store of large states is configured.
    #[error("a state of {size} bytes needs a store of large states, and none is configured")]
    NoBlobs {
        /// The packed size in bytes.
        size: usize,
    },
    /// A page cursor that this list did not hand out.
    #[error("the page cursor is not one of this list")]
    BadCursor,
}

impl From<TableError> for StoreError {
    fn from(error: TableError) -> Self {
        match error {
            TableError::BadCursor => Self::BadCursor,
            other @ (TableError::Busy
            | TableError::Unknown(_)
            | TableError::TooLarge { .. }
            | TableError::Full(_)
            | TableError::Invalid(_)
            | TableError::InUse(_)
            | TableError::Unusable(..)) => Self::Table(other),
        }
    }
}

impl StoreError {
    /// Whether nothing happened and the same call may succeed after a pause.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        matches!(self, Self::Table(TableError::Busy))
    }

    /// Whether the call may or may not have happened. Calling a commit, a create or an acquire again with the
    /// same arguments settles it.
    #[must_use]
    pub fn is_unknown(&self) -> bool {
        matches!(self, Self::Table(TableError::Unknown(_)))
    }

    /// Whether the table takes or gives nothing at all right now: it is full, cannot be used, or does not say. What was
    /// asked is not to blame.
    #[must_use]
    pub fn is_outage(&self) -> bool {
        matches!(
            self,
            Self::Table(
                TableError::Busy
                    | TableError::Full(_)
                    | TableError::InUse(_)
                    | TableError::Unusable(..)
                    | TableError::Unknown(_)
            )
        )
    }

    /// Whether one stored item does not read back; others do.
    #[must_use]
    pub fn is_damaged_item(&self) -> bool {
        matches!(self, Self::Table(error) if error.is_damaged_item())
    }

    pub(crate) fn damaged(what: &'static str) -> Self {
        Self::Damaged { what, cause: None }
    }
}

/// The table refused what it cannot refuse.
pub(crate) fn refused_without_reason() -> StoreError {
    let problem = "it refused a write that has no condition".to_owned();
    TableError::Unusable(problem, None).into()
}
