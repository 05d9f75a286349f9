//! JavaScript a host offers to all scripts, such as lodash or functions of its own.

use std::sync::Arc;

/// A JavaScript text that defines globals, run once for each interpreter before any script.
///
/// What it defines is frozen. State it keeps inside its functions is shared by the scripts of a thread, so a
/// library must keep none that changes results.
#[derive(Debug, Clone)]
pub struct Library {
    /// Its name, for error messages.
    pub name: Arc<str>,
    /// Its text.
    pub source: Arc<str>,
}
