//! The virtual clock.

use dormouse_engine::id::{BookmarkId, InstanceId};
use dormouse_engine::step::Stimulus;
use dormouse_engine::time::Timestamp;
use serde_json::Map;

use super::Host;

impl Host {
    /// Moves the clock, and fires every timer on the way at its own time.
    pub fn advance_ms(&mut self, ms: i64) {
        let until = self.now.plus_ms(ms);
        for _ in 0..self.deliveries_max {
            if self.next_due().is_none_or(|due| due > until) {
                break;
            }
            self.fire_next();
        }
        self.now = until;
    }

    /// Time of the next timer.
    #[must_use]
    pub fn next_due(&self) -> Option<Timestamp> {
        self.next_timer().map(|(due, ..)| due)
    }

    /// Moves the clock to the next timer and fires it.
    pub fn fire_next(&mut self) {
        if let Some((due, id, bookmark)) = self.next_timer() {
            self.now = self.now.max(due);
            let input = Map::new();
            self.step(&id, Stimulus::Resume { bookmark, input });
        }
    }

    fn next_timer(&self) -> Option<(Timestamp, InstanceId, BookmarkId)> {
        let all = self.instances.iter().flat_map(|k| {
            let bookmarks = k.instance.bookmarks.iter();
            bookmarks.filter_map(move |b| Some((b.due()?, k, b)))
        });
        let next = all.min_by_key(|(due, ..)| *due);
        next.map(|(due, kept, bookmark)| (due, kept.id.clone(), bookmark.id.clone()))
    }
}
