//! The tenant: the first part of every key, so that no key of one tenant can name an item of another.

use std::fmt;
use std::sync::Arc;

use crate::item::error::StoreError;

/// The owner of definitions and instances. 1 to 64 characters of `a-z A-Z 0-9 - _ .`
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tenant(Arc<str>);

impl Tenant {
    /// The tenant with this name.
    ///
    /// # Errors
    ///
    /// [`StoreError::BadId`] if the name is empty, too long, or has other characters.
    pub fn new(name: &str) -> Result<Self, StoreError> {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if name.is_empty() || name.len() > 64 {
            return Err(StoreError::BadId {
                what: "a tenant",
                problem: "it needs 1 to 64 characters",
            });
        }
        if !name.chars().all(plain) {
            let problem = "it may have letters, digits, '-', '_' and '.' only";
            return Err(StoreError::BadId {
                what: "a tenant",
                problem,
            });
        }
        Ok(Self(name.into()))
    }

    /// Its name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The one tenant of an installation that has no others.
impl Default for Tenant {
    fn default() -> Self {
        Self("default".into())
    }
}

impl fmt::Display for Tenant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tenant_name_cannot_reach_into_another_tenants_keys() {
        for name in ["", "a/b", "a#b", "~", "ä", "a b", &"x".repeat(65)] {
            assert!(Tenant::new(name).is_err(), "{name}");
        }
        assert_eq!(
            Tenant::new("acme-1.eu_west").unwrap().as_str(),
            "acme-1.eu_west"
        );
        assert_eq!(Tenant::default().to_string(), "default");
    }
}
