//! What a [`Change`] does to attributes: its meaning in one place, for every table that keeps its items in this
//! process.

use crate::table::{Attributes, Change, TableError, Value};

impl Change {
    /// The attribute it is about.
    #[must_use]
    pub fn attribute(&self) -> &str {
        match self {
            Self::Set(name, _) | Self::Remove(name) | Self::Add(name, _) => name,
        }
    }

    /// Carries it out.
    ///
    /// # Errors
    ///
    /// [`TableError::Invalid`] for adding to what is not a number, or past the range of one. The attributes are
    /// as before then.
    pub fn apply(&self, attributes: &mut Attributes) -> Result<(), TableError> {
        match self {
            Self::Set(name, value) if value.is_empty_set() => {
                attributes.remove(name);
            }
            Self::Set(name, value) => {
                attributes.insert(name.clone(), value.clone());
            }
            Self::Remove(name) => {
                attributes.remove(name);
            }
            Self::Add(name, amount) => {
                let sum = sum(name, attributes.get(name), *amount)?;
                attributes.insert(name.clone(), Value::N(sum));
            }
        }
        Ok(())
    }
}

fn sum(name: &str, before: Option<&Value>, amount: i64) -> Result<i64, TableError> {
    let before = match before {
        None => 0,
        Some(Value::N(number)) => *number,
        Some(Value::S(_) | Value::B(_) | Value::Ss(_)) => {
            return Err(TableError::Invalid(format!(
                "cannot add to {name}: it is not a number"
            )));
        }
    };
    before
        .checked_add(amount)
        .ok_or_else(|| TableError::Invalid(format!("cannot add {amount} to {name}: out of range")))
}
