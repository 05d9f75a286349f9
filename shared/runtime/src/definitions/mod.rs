//! Definitions as people work on them: drafts, versions, publishing and retracting.

pub(crate) mod delete;
pub(crate) mod draft;
pub(crate) mod edit;
pub(crate) mod import;
pub(crate) mod publish;
pub(crate) mod references;
pub(crate) mod retract;
pub(crate) mod save;
pub(crate) mod update_references;
pub(crate) mod validate;
pub(crate) mod view;

use crate::runtime::handle::handle;

handle!(
    /// Changes of definitions.
    pub Definitions,
    definitions
);
