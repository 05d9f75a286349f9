//! Counters as values of the table.

use crate::table::Value;

/// A counter as a value.
pub(crate) fn number(n: u64) -> Value {
    Value::N(i64::try_from(n).unwrap_or(i64::MAX))
}
