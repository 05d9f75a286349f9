//! Loading what is to be run: definitions are found, resolved with the workflows they use, compiled and remembered.

mod invalidate;
pub(crate) mod load;
pub(crate) mod own_type;
pub(crate) mod resolve;

use crate::runtime::handle::handle;

handle!(
    /// Definitions ready to run.
    pub Graphs,
    graphs
);
