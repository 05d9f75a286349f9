//! Lists that one item cannot spoil: what cannot be read, because it is damaged or of a newer build, is left where it
//! lies and told to the log; the others are found all the same.
//!
//! Only for lists whose items wait for somebody who comes again. Where passing an item over would lose something, its
//! error goes to the caller.

use crate::item::error::StoreError;
use crate::table::Item;

/// What can be read of the items, in their order.
pub(crate) fn readable<T>(
    items: impl IntoIterator<Item = Item>,
    read: impl Fn(&Item) -> Result<T, StoreError>,
) -> Vec<T> {
    let one = |item: Item| match read(&item) {
        Ok(value) => Some(value),
        Err(cause) => {
            let (partition, sort) = (&item.key.partition, &item.key.sort);
            tracing::error!(partition, sort, cause = %cause, "an item that cannot be read is passed over");
            None
        }
    };
    items.into_iter().filter_map(one).collect()
}
