//! Which versions of other workflows a version uses as activities. Pinned when it is published, and with every
//! instance, so that an instance runs the same activities to its end.

use std::collections::{BTreeMap, BTreeSet};

use dormouse_engine::graph::Reference;
use serde::{Deserialize, Serialize};

/// A version of a definition: definition id and number.
pub(crate) type VersionKey = (String, u32);

/// The version that each reference leads to.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Bindings(BTreeMap<String, VersionKey>);

impl Bindings {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn get(&self, reference: &str) -> Option<&VersionKey> {
        self.0.get(reference)
    }

    pub(crate) fn insert(&mut self, reference: String, version: VersionKey) {
        self.0.insert(reference, version);
    }

    /// Each version once.
    pub(crate) fn versions(&self) -> BTreeSet<VersionKey> {
        self.0.values().cloned().collect()
    }

    /// Each definition once.
    pub(crate) fn definitions(&self) -> BTreeSet<String> {
        self.0.values().map(|(id, _)| id.clone()).collect()
    }
}

/// What a reference is known by: everything that the file says of it.
pub(crate) fn reference_key(reference: &Reference) -> String {
    let text = |part: &Option<String>| part.clone().unwrap_or_default();
    let version = reference.version.map(|v| v.to_string()).unwrap_or_default();
    [
        reference.type_name.clone(),
        text(&reference.version_id),
        text(&reference.definition_id),
        version,
    ]
    .join("\u{1f}")
}
