//! Permissions: Elsa's names, such as `read:workflow-definitions`.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// What grants everything.
pub const EVERYTHING: &str = "*";

/// What `read:*` grants, as in Elsa: what a designer is drawn from, and nothing of workflows or users.
pub const READ_CATALOGUES: [&str; 10] = [
    "read:activity-descriptors",
    "read:activity-descriptors-options",
    "read:expression-descriptors",
    "read:installed-features",
    "read:javascript-type-definitions",
    "read:output-converters",
    "read:resilience:retries",
    "read:resilience:strategies",
    "read:storage-drivers",
    "read:variable-descriptors",
];

/// What somebody may do.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Permissions(BTreeSet<String>);

impl Permissions {
    /// All of them.
    #[must_use]
    pub fn everything() -> Self {
        Self::from_iter([EVERYTHING.to_owned()])
    }

    /// Whether one of these is granted: by its name, by `*`, or, for [`READ_CATALOGUES`], by `read:*`.
    #[must_use]
    pub fn allow(&self, any_of: &[&str]) -> bool {
        any_of.iter().any(|wanted| self.has(wanted))
    }

    fn has(&self, wanted: &str) -> bool {
        self.0.contains(EVERYTHING)
            || self.0.contains(wanted)
            || READ_CATALOGUES.contains(&wanted) && self.0.contains("read:*")
    }

    /// Whether everything that the others grant is granted: nobody gives away what he does not have.
    #[must_use]
    pub fn cover(&self, others: &Self) -> bool {
        others.0.iter().all(|other| self.has(other))
    }

    /// The names, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }
}

impl FromIterator<String> for Permissions {
    fn from_iter<I: IntoIterator<Item = String>>(names: I) -> Self {
        Self(names.into_iter().filter(|name| !name.is_empty()).collect())
    }
}

impl Extend<String> for Permissions {
    fn extend<I: IntoIterator<Item = String>>(&mut self, names: I) {
        self.0.extend(names);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(names: &[&str]) -> Permissions {
        names.iter().map(|n| (*n).to_owned()).collect()
    }

    #[test]
    fn a_permission_is_granted_by_its_name_or_the_star() {
        let wanted = ["read:x", "write:x"];
        for granted in ["read:x", "write:x", "*"] {
            assert!(of(&[granted]).allow(&wanted), "{granted}");
        }
        for other in ["read:y", "read:*", "write:*", "read", ""] {
            assert!(!of(&[other]).allow(&wanted), "{other}");
        }
        assert!(!Permissions::default().allow(&wanted));
        assert!(!Permissions::everything().allow(&[]));
    }

    #[test]
    fn the_catalogues_alone_are_read_by_the_verb() {
        let all = of(&["read:*"]);
        assert!(READ_CATALOGUES.iter().all(|name| all.allow(&[name])));
        assert!(!all.allow(&["read:workflow-definitions", "read:workflow-instances"]));
        assert!(!all.allow(&["read:user", "read:role"]));
    }

    #[test]
    fn nobody_covers_what_he_does_not_have() {
        assert!(of(&["read:*"]).cover(&of(&["read:storage-drivers", "read:*"])));
        assert!(!of(&["read:*"]).cover(&of(&["read:x"])));
        assert!(!of(&["read:*"]).cover(&of(&["*"])));
        assert!(!of(&["read:x"]).cover(&of(&["read:*"])));
        assert!(Permissions::everything().cover(&of(&["*", "a:b"])));
    }
}
