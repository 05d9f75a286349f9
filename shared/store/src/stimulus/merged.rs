//! One page of several partitions as if they were one, in order of their sort keys.

use crate::item::error::StoreError;
use crate::store::Store;
use crate::table::{Item, Query};

/// The items of a range of sort keys in all of the partitions, at most `limit`, and the sort key after which the next page
/// begins. No two partitions have an item with the same sort key. One query or more of each partition.
pub(super) async fn merged(
    store: &Store,
    partitions: impl Iterator<Item = String>,
    (from, until): (&str, &str),
    limit: usize,
) -> Result<(Vec<Item>, Option<String>), StoreError> {
    let mut all = Vec::new();
    let mut is_more = false;
    for partition in partitions {
        let mut query = Query {
            index: None,
            partition,
            from: from.to_owned(),
            until: until.to_owned(),
            descending: false,
            limit: u32::try_from(limit).unwrap_or(u32::MAX).clamp(1, 1_000),
            cursor: None,
            leaves_out_damaged: true,
        };
        let mut found = 0;
        loop {
            let page = store.table().query(&query).await?;
            found += page.items.len();
            all.extend(page.items);
            query.cursor = page.cursor;
            if query.cursor.is_none() || found >= limit {
                is_more |= query.cursor.is_some();
                break;
            }
        }
    }
    all.sort_by(|a, b| a.key.sort.cmp(&b.key.sort));
    is_more |= all.len() > limit;
    all.truncate(limit);
    let last = all.last().map(|item| item.key.sort.clone());
    Ok((all, last.filter(|_| is_more)))
}

/// The least sort key after another one.
pub(super) fn after(sort: &str) -> String {
    format!("{sort}\u{1}")
}
