//! Which versions of other workflows a version uses as activities. Pinned when it is published, and with every
//! instance, so that an instance runs the same activities to its end.

use std::collections::{BTreeMap, BTreeSet};

use dormouse_engine::graph::Reference;
use serde::{Deserialize, Serialize};

/// A version of a definition: definition id and number. A version of an activity type that is data has [`OWN`] before
/// its name.
pub(crate) type VersionKey = (String, u32);

/// Before the name of an activity type that is data.
const OWN: char = '\u{1f}';

/// The version of an activity type that is data.
pub(crate) fn own_key(type_name: &str, version: u32) -> VersionKey {
    (format!("{OWN}{type_name}"), version)
}

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

    /// Each version of a definition once.
    pub(crate) fn versions(&self) -> BTreeSet<VersionKey> {
        let versions = self.0.values().filter(|(id, _)| !id.starts_with(OWN));
        versions.cloned().collect()
    }

    /// Each version of an activity type that is data once, by its name.
    pub(crate) fn own_types(&self) -> BTreeSet<VersionKey> {
        let own = |(id, version): &VersionKey| Some((id.strip_prefix(OWN)?.to_owned(), *version));
        self.0.values().filter_map(own).collect()
    }

    /// Each definition once.
    pub(crate) fn definitions(&self) -> BTreeSet<String> {
        self.versions().into_iter().map(|(id, _)| id).collect()
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
