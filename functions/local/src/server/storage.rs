//! The opened data folder or table: the store, the timers that lie in it, and what its kind asks of the nodes.

use std::path::PathBuf;
use std::sync::Arc;

use dormouse_embedded::{EmbeddedTable, SystemClock, TableScheduler};
use dormouse_runtime::Runtime;
use dormouse_runtime::port::{Clock, Ports};
use dormouse_store::Store;
use dormouse_store::table::blobs::ListBlobs;
use dormouse_store::table::scan::Scan;
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::{folder, permissions};
use crate::failure::Failure;

/// Data folder or table.
pub(crate) enum Place {
    /// In a folder that this process has for itself.
    Folder {
        /// The folder.
        data: PathBuf,
        /// The most bytes that the table may grow to. `None`: as the disk allows.
        bytes_max: Option<u64>,
        /// True if other users of this machine may read it.
        is_shared: bool,
    },
    /// In a DynamoDB table that other processes may use at the same time.
    Dynamo {
        /// Its name.
        table: String,
        /// True if it is created when it is missing.
        is_made: bool,
        /// The S3 bucket for large states. `None`: they are refused.
        bucket: Option<String>,
    },
}

/// An open place.
pub(crate) struct Storage {
    pub(crate) store: Store,
    pub(crate) scheduler: TableScheduler,
    /// The store's table, for commands that read all of it.
    pub(crate) scan: Arc<dyn Scan>,
    /// The store's large values, likewise.
    pub(crate) blobs: Option<Arc<dyn ListBlobs>>,
    /// Duration of a lease, in ms.
    pub(crate) lease_ms: i64,
    /// The table, if it lies in this process.
    pub(super) embedded: Option<Arc<EmbeddedTable>>,
    /// Other parts of the deployment of a remote table.
    pub(crate) remote: Option<Box<dyn Remote>>,
}

/// Parts of a deployment besides its table.
pub(crate) trait Remote: Send + Sync {
    /// True if timers are schedules and not rows of the table.
    fn has_schedules(&self) -> bool;

    /// Puts what there is behind the ports of a node.
    fn fill(&self, ports: &mut Ports);

    /// Begins to hand on to a node what comes in, until `stop` turns true.
    fn attend(&self, node: &Runtime, tasks: &mut JoinSet<()>, stop: &watch::Receiver<bool>);
}

impl Storage {
    /// Opens a place.
    pub(crate) async fn open(place: &Place, clock: &Arc<dyn Clock>) -> Result<Self, Failure> {
        match place {
            Place::Folder {
                data,
                bytes_max,
                is_shared,
            } => {
                permissions::secure(data, *is_shared)?;
                folder::open(data, *bytes_max, &**clock)
            }
            Place::Dynamo {
                table,
                is_made,
                bucket,
            } => open_dynamo(table, *is_made, bucket.as_deref(), clock).await,
        }
    }
}

/// Opens a place for its store alone: no timer fires from there.
pub(crate) async fn open_store(place: &Place) -> Result<Store, Failure> {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    Ok(Storage::open(place, &clock).await?.store)
}

#[cfg(feature = "aws")]
use super::dynamo::open as open_dynamo;

#[cfg(not(feature = "aws"))]
async fn open_dynamo(
    _table: &str,
    _is_made: bool,
    _bucket: Option<&str>,
    _clock: &Arc<dyn Clock>,
) -> Result<Storage, Failure> {
    let message = "this program was built without DynamoDB";
    Err(
        Failure::new(crate::exit::Exit::BadInput, "builtWithoutAws", message)
            .help("build it with `cargo build --release --features aws`"),
    )
}
