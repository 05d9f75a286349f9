//! Price of one call to the table in units, item by item, by the rules of DynamoDB on demand.

use dormouse_store::table::{Index, Item, Key};

/// Bytes of a write unit.
const WRITE_UNIT_BYTES: usize = 1_024;
/// Bytes of a read unit.
const READ_UNIT_BYTES: usize = 4_096;
/// Bytes that DynamoDB adds to each item and to each entry of an index when it bills storage.
const STORED_EXTRA_BYTES: usize = 100;

/// Units of a call, or the sum of several.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Units {
    /// Number of items, or of calls that read.
    pub count: u64,
    /// Write units of the table itself.
    pub write: u64,
    /// Write units of the indexes.
    pub index_write: u64,
    /// Twice the read units: a consistent read of 4 KiB counts 2, one of an index 1.
    pub read_halves: u64,
}

impl Units {
    /// Adds others.
    pub fn add(&mut self, other: Self) {
        self.count += other.count;
        self.write += other.write;
        self.index_write += other.index_write;
        self.read_halves += other.read_halves;
    }

    /// Units of a write after which an item that was `before` is `after`. In a transaction, the table's own units count
    /// twice, those of the indexes once.
    pub(crate) fn of_write(
        before: Option<&Item>,
        after: Option<&Item>,
        in_transaction: bool,
    ) -> Self {
        let size = size(before).max(size(after));
        let index = Index::EVERY.into_iter();
        Self {
            count: 1,
            write: units(size, WRITE_UNIT_BYTES) * if in_transaction { 2 } else { 1 },
            index_write: index.map(|index| index_units(before, after, index)).sum(),
            read_halves: 0,
        }
    }

    /// Units of a read of so many bytes: of the table, consistently, or of an index.
    pub(crate) fn of_read(bytes: usize, is_index: bool) -> Self {
        Self {
            count: 1,
            read_halves: units(bytes, READ_UNIT_BYTES) * if is_index { 1 } else { 2 },
            ..Self::default()
        }
    }
}

/// Bytes that an item takes in the table and in its indexes, as storage is billed.
pub(crate) fn stored_bytes(item: Option<&Item>) -> usize {
    let Some(item) = item else { return 0 };
    let entries = Index::EVERY.into_iter();
    let entries = entries.filter_map(|index| shown(Some(item), index));
    let indexed: usize = entries.map(|e| e.size_bytes() + STORED_EXTRA_BYTES).sum();
    item.size_bytes() + STORED_EXTRA_BYTES + indexed
}

/// Kind of the item under a key, in words where it is a known one.
pub(crate) fn item_name(key: &Key) -> String {
    let (_, place) = key
        .partition
        .split_once('/')
        .unwrap_or(("", &key.partition));
    let kind = place.split('#').next().unwrap_or_default();
    let sort = key.sort.split('#').next().unwrap_or_default();
    let known = match (kind, sort) {
        ("WF", "HEAD") => "instance head",
        ("WF", "J") => "journal",
        ("WF", "STATE") => "state",
        ("WF", "SEEN") => "event seen",
        ("STIM", "B") => "bookmark row",
        ("STIM", "T") => "trigger row",
        ("STIM", "Q") => "queued event",
        ("STIM", _) => "stimulus",
        ("OUTBOX", _) => "outbox row",
        ("LINK", _) => "resume link",
        ("DEF", "HEAD") => "definition head",
        ("DEF", _) => "definition",
        ("UNIQ", _) => "uniqueness claim",
        ("IDEM", _) => "idempotency key",
        // A kind without a name here is shown by its key.
        _ if kind == sort || sort.starts_with(|c: char| c.is_ascii_digit()) => return kind.into(),
        _ => return format!("{kind} {sort}"),
    };
    known.to_owned()
}

fn size(item: Option<&Item>) -> usize {
    item.map_or(0, Item::size_bytes)
}

/// What the index shows of the item, if it is in it.
fn shown(item: Option<&Item>, index: Index) -> Option<Item> {
    let item = item.filter(|item| item.index_key(index).is_some())?;
    Some(item.clone().projected(index))
}

/// An entry with another key is deleted in one place and put in the other. An entry that stays as it is costs nothing.
fn index_units(before: Option<&Item>, after: Option<&Item>, index: Index) -> u64 {
    let write = |item: &Item| units(item.size_bytes(), WRITE_UNIT_BYTES);
    match (shown(before, index), shown(after, index)) {
        (None, None) => 0,
        (Some(item), None) | (None, Some(item)) => write(&item),
        (Some(before), Some(after)) if before == after => 0,
        (Some(before), Some(after)) if before.index_key(index) == after.index_key(index) => {
            write(&before).max(write(&after))
        }
        (Some(before), Some(after)) => write(&before) + write(&after),
    }
}

/// Whole units, at least one.
fn units(bytes: usize, unit_bytes: usize) -> u64 {
    bytes.div_ceil(unit_bytes).max(1) as u64
}

#[cfg(test)]
mod tests {
    use dormouse_store::table::Value;

    use super::*;

    fn item(attributes: &[(&str, &str)]) -> Item {
        let each = attributes.iter();
        Item {
            key: Key::new("default/WF#i", "HEAD"),
            attributes: each
                .map(|(name, text)| ((*name).to_owned(), Value::S((*text).to_owned())))
                .collect(),
        }
    }

    fn of(before: Option<&Item>, after: Option<&Item>) -> (u64, u64) {
        let units = Units::of_write(before, after, false);
        (units.write, units.index_write)
    }

    #[test]
    fn a_write_costs_the_larger_of_both_states_and_twice_in_a_transaction() {
        let (small, large) = (item(&[("d", "x")]), item(&[("d", &"x".repeat(1_500))]));
        assert_eq!(of(None, Some(&small)), (1, 0));
        assert_eq!(of(Some(&large), Some(&small)), (2, 0));
        assert_eq!(of(Some(&large), None), (2, 0));
        assert_eq!(
            of(None, None),
            (1, 0),
            "a delete of nothing, a failed condition"
        );
        assert_eq!(Units::of_write(None, Some(&large), true).write, 4);
        // A key of 16 bytes with its names, and the value with its name of one byte.
        let fits = |bytes: usize| of(None, Some(&item(&[("d", &"x".repeat(bytes))]))).0;
        let key = item(&[]).size_bytes();
        assert_eq!((fits(1_023 - key), fits(1_024 - key)), (1, 2));
    }

    #[test]
    fn an_index_costs_its_own_units_where_its_entry_changes() {
        let entry = |sort: &str, summary: &str, other: &str| {
            item(&[("g1p", "p"), ("g1s", sort), ("su", summary), ("d", other)])
        };
        let before = entry("1", "s", "x");
        assert_eq!(of(None, Some(&before)).1, 1);
        assert_eq!(of(Some(&before), Some(&entry("1", "s", "y"))).1, 0);
        assert_eq!(of(Some(&before), Some(&entry("1", "t", "x"))).1, 1);
        assert_eq!(of(Some(&before), Some(&entry("2", "s", "x"))).1, 2);
        assert_eq!(of(Some(&before), None).1, 1);
        assert_eq!(
            of(Some(&before), Some(&entry("1", &"s".repeat(1_100), "x"))).1,
            2
        );
    }

    #[test]
    fn a_read_costs_its_bytes_in_steps_of_4_kib() {
        let halves = |bytes, is_index| Units::of_read(bytes, is_index).read_halves;
        assert_eq!(
            (halves(0, false), halves(4_096, false), halves(4_097, false)),
            (2, 2, 4)
        );
        assert_eq!((halves(1, true), halves(8_193, true)), (1, 3));
    }

    #[test]
    fn items_have_names() {
        assert_eq!(
            item_name(&Key::new("default/WF#i", "HEAD")),
            "instance head"
        );
        assert_eq!(item_name(&Key::new("~/OUTBOX#00", "0000#a")), "outbox row");
        assert_eq!(item_name(&Key::new("~/NEW#00", "0000#a")), "NEW");
        assert_eq!(item_name(&Key::new("~/NEW#00", "PART#a")), "NEW PART");
    }
}
