//! A request on its way through the writer: an operation, and whoever waits for its answer. The answer is made
//! within the transaction and given after the commit, or replaced by what went wrong there.

use dormouse_store::table::TableError;
use rusqlite::Connection;
use tokio::sync::oneshot;

use super::operation::{Done, OperationError};

/// A request, whatever its answer is.
pub(super) trait Job: Send {
    /// Carries it out within the transaction, and says how many rows changed. An error means that the
    /// transaction has to go; what is wrong with this request alone becomes its answer.
    fn carry_out(&mut self, connection: &Connection) -> rusqlite::Result<usize>;

    /// Gives the answer.
    fn answer(self: Box<Self>);

    /// Gives the error as the answer.
    fn refuse(self: Box<Self>, error: TableError);
}

/// The one kind of [`Job`].
pub(super) struct Request<T, F> {
    pub(super) operation: F,
    pub(super) result: Option<Result<T, TableError>>,
    pub(super) waiting: oneshot::Sender<Result<T, TableError>>,
}

impl<T, F> Job for Request<T, F>
where
    T: Send,
    F: Fn(&Connection) -> Result<Done<T>, OperationError> + Send,
{
    fn carry_out(&mut self, connection: &Connection) -> rusqlite::Result<usize> {
        let (result, rows) = match (self.operation)(connection) {
            Ok(Done { answer, rows }) => (Ok(answer), rows),
            Err(OperationError::Own(error)) => (Err(error), 0),
            Err(OperationError::Sqlite(error)) => return Err(error),
        };
        self.result = Some(result);
        Ok(rows)
    }

    fn answer(self: Box<Self>) {
        if let Some(result) = self.result {
            // Whoever has stopped waiting does not want to know.
            let _ = self.waiting.send(result);
        }
    }

    fn refuse(self: Box<Self>, error: TableError) {
        let _ = self.waiting.send(Err(error));
    }
}
