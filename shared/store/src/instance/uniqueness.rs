//! Uniqueness: one item per claim, put in the atomic write that creates an instance and deleted in the one that
//! ends it, so that two starts at the same moment cannot both have it.

use crate::item::body;
use crate::item::error::StoreError;
use crate::item::key_text::{part, partition};
use crate::item::tenant::Tenant;
use crate::table::{Attributes, Condition, Item, Key, Value, Write};

/// What only one instance may have at a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Claim {
    /// The only one of a definition.
    Definition(String),
    /// The only one with a correlation id, of whatever definition.
    Correlation(String),
    /// The only one of a definition with a correlation id.
    DefinitionAndCorrelation(String, String),
    /// The only one that a trigger of a definition started: definition and activity.
    Trigger(String, String),
}

impl Claim {
    /// The key of the claim's item.
    pub(crate) fn key(&self, tenant: &Tenant) -> Result<Key, StoreError> {
        let definition = |id: &str| part("a definition id", id);
        let correlation = |id: &str| part("a correlation id", id);
        let name = match self {
            Self::Definition(d) => format!("{}#", definition(d)?),
            Self::Correlation(c) => format!("#{}", correlation(c)?),
            Self::DefinitionAndCorrelation(d, c) => {
                format!("{}#{}", definition(d)?, correlation(c)?)
            }
            Self::Trigger(d, a) => format!("{}##{}", definition(d)?, part("an activity id", a)?),
        };
        Ok(Key::new(partition(tenant, &format!("UNIQ#{name}")), "HEAD"))
    }
}

/// Takes a claim for an instance, if nobody else has it.
pub(crate) fn take(key: Key, instance: &str) -> Write {
    let holder = Value::S(instance.to_owned());
    let attributes = Attributes::from([("in".to_owned(), holder.clone())]);
    Write::Put(Item { key, attributes }, is_free_for(holder))
}

/// Asks that nobody else has a claim.
pub(crate) fn check(key: Key, instance: &str) -> Write {
    Write::Check(key, is_free_for(Value::S(instance.to_owned())))
}

fn is_free_for(holder: Value) -> Condition {
    Condition::Any(vec![
        Condition::Absent,
        Condition::Equals("in".into(), holder),
    ])
}

/// Gives a claim back, if the instance has it.
pub(crate) fn give_back(key: Key, instance: &str) -> Write {
    let ours = Condition::Equals("in".into(), Value::S(instance.to_owned()));
    Write::Delete(key, Condition::Any(vec![Condition::Absent, ours]))
}

/// The instance that has a claim.
pub(crate) fn holder(item: &Item) -> Result<String, StoreError> {
    body::text(&item.attributes, "in")
        .map(str::to_owned)
        .ok_or(StoreError::damaged("claim"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claims_of_different_kinds_never_share_a_key() {
        let claims = [
            (Claim::Definition("a#".into()), "default/UNIQ#a%23#"),
            (Claim::Correlation("a#".into()), "default/UNIQ##a%23"),
            (
                Claim::DefinitionAndCorrelation("a".into(), "#".into()),
                "default/UNIQ#a#%23",
            ),
            (Claim::Trigger("a".into(), "b".into()), "default/UNIQ#a##b"),
        ];
        for (claim, expected) in claims {
            let key = claim.key(&Tenant::default()).unwrap();
            assert_eq!(key, Key::new(expected, "HEAD"));
        }
        let blank = Claim::Correlation(String::new()).key(&Tenant::default());
        assert!(matches!(blank, Err(StoreError::BadId { .. })));
    }
}
