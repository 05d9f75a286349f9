//! Whether a condition holds: the meaning of [`Condition`] in one place, for every table that keeps its items
//! in this process. DynamoDB has its own, and the contract suite holds both to the same answers.

use crate::table::{Attributes, Condition, Value};

impl Condition {
    /// Whether it holds of the stored item's attributes (`None`: there is no item).
    #[must_use]
    pub fn holds(&self, stored: Option<&Attributes>) -> bool {
        let attribute = |name: &str| stored.and_then(|attributes| attributes.get(name));
        match self {
            Self::Always => true,
            Self::Exists => stored.is_some(),
            Self::Absent => stored.is_none(),
            Self::Has(name) => attribute(name).is_some(),
            Self::Lacks(name) => attribute(name).is_none(),
            Self::Equals(name, value) if value.is_empty_set() => attribute(name).is_none(),
            Self::Equals(name, value) => attribute(name) == Some(value),
            Self::Below(name, bound) => {
                matches!(attribute(name), Some(Value::N(number)) if number < bound)
            }
            Self::Contains(name, text) => {
                matches!(attribute(name), Some(Value::Ss(texts)) if texts.contains(text))
            }
            Self::All(conditions) => conditions.iter().all(|condition| condition.holds(stored)),
            Self::Any(conditions) => conditions.iter().any(|condition| condition.holds(stored)),
            Self::Not(condition) => !condition.holds(stored),
        }
    }
}

impl Value {
    /// Whether it is a set without members, which is the same as no attribute.
    #[must_use]
    pub fn is_empty_set(&self) -> bool {
        matches!(self, Self::Ss(texts) if texts.is_empty())
    }
}
