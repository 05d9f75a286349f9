//! Reading the whole table, for `dormouse doctor`. It costs read units for all there is.

use async_trait::async_trait;
use dormouse_store::Cursor;
use dormouse_store::table::scan::Scan;
use dormouse_store::table::{Index, Key, Page, TableError};

use super::DynamoTable;
use super::item::{PARTITION, SORT, item_from, key_map, text};
use crate::error;

#[async_trait]
impl Scan for DynamoTable {
    async fn scan(&self, cursor: Option<String>) -> Result<Page, TableError> {
        // Such a cursor has a whole key, as that of an index does.
        let cursor = cursor.map(|text| Cursor::decode(&text, Some(Index::One)));
        let start = cursor.transpose()?.and_then(|cursor| cursor.key);
        let answer = self
            .reader
            .scan()
            .table_name(&self.name)
            .consistent_read(true)
            .set_exclusive_start_key(start.map(|key| key_map(&key)))
            .send()
            .await
            .map_err(|failed| error::read_failed(failed, &self.name))?;
        let items = answer.items.unwrap_or_default().into_iter();
        let items = items.map(item_from).collect::<Result<_, _>>()?;
        let cursor = match answer.last_evaluated_key {
            None => None,
            Some(mut last) => {
                let key = Key {
                    partition: text(&mut last, PARTITION)?,
                    sort: text(&mut last, SORT)?,
                };
                let cursor = Cursor {
                    sort: key.sort.clone(),
                    key: Some(key),
                };
                Some(cursor.encode())
            }
        };
        Ok(Page { items, cursor })
    }
}
