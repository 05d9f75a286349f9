//! What one use case asks of the table: counted while it does.

use super::watch::Spent;
use super::world::World;

/// A call of the table that is under way.
pub(crate) struct Call {
    world: World,
    place: usize,
    generation: u64,
}

impl Drop for Call {
    fn drop(&mut self) {
        let mut inner = self.world.inner();
        if let Some(slot) = inner.tasks.get_mut(self.place)
            && slot.generation == self.generation
        {
            slot.under_way -= 1;
        }
    }
}

impl World {
    /// The task at work makes a call of the table, until the answer is dropped.
    pub(crate) fn begin_call(&self) -> Call {
        let mut inner = self.inner();
        let place = inner.current;
        let slot = &mut inner.tasks[place];
        slot.under_way += 1;
        slot.spent.calls += 1;
        slot.spent.at_once = slot.spent.at_once.max(slot.under_way);
        let generation = slot.generation;
        drop(inner);
        Call {
            world: self.clone(),
            place,
            generation,
        }
    }

    /// A query of the task at work returns rows.
    pub(crate) fn count_rows(&self, rows: usize) {
        let mut inner = self.inner();
        let current = inner.current;
        inner.tasks[current].spent.rows += u32::try_from(rows).unwrap_or(u32::MAX);
    }

    /// What the task at work has asked of the table.
    pub(crate) fn spent_by_current(&self) -> Spent {
        let inner = self.inner();
        inner.tasks[inner.current].spent
    }
}
