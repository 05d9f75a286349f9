//! Serial numbers that rise, kept as runs: ten thousand children started at once are one pair.

use serde::{Deserialize, Serialize};

/// Serial numbers in rising order.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Serials(Vec<(u64, u64)>);

impl Serials {
    /// Adds a number higher than all before.
    pub(crate) fn push(&mut self, serial: u64) {
        match self.0.last_mut() {
            Some((first, count)) if *first + *count == serial => *count += 1,
            Some(_) | None => self.0.push((serial, 1)),
        }
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All numbers.
    pub fn iter(&self) -> impl Iterator<Item = u64> {
        self.0
            .iter()
            .flat_map(|(first, count)| *first..*first + *count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_a_row_are_one_run() {
        let mut serials = Serials::default();
        for serial in [3, 4, 5, 9, 11, 12] {
            serials.push(serial);
        }
        assert_eq!(serials.0, [(3, 3), (9, 1), (11, 2)]);
        assert_eq!(serials.iter().collect::<Vec<_>>(), [3, 4, 5, 9, 11, 12]);
    }
}
