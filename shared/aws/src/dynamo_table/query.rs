//! Queries: a range of one partition, page by page.
//!
//! DynamoDB takes one condition on the sort key, and its only two-sided one includes both ends. The port's
//! upper bound is exclusive, so an item exactly on it is read and left out.

use aws_sdk_dynamodb::operation::query::builders::QueryFluentBuilder;
use aws_sdk_dynamodb::types::{AttributeValue, Select};
use dormouse_store::Cursor;
use dormouse_store::table::{Index, Key, Page, Query, TableError, count_by_pages};

use super::DynamoTable;
use super::expression::Placeholders;
use super::item::{AttributeMap, PARTITION, SORT, item_from, key_map, text};
use super::schema::index_name;
use crate::error;

impl DynamoTable {
    /// A request for a range of a partition.
    fn request(&self, query: &Query) -> QueryFluentBuilder {
        let mut placeholders = Placeholders::default();
        let range = range(query, &mut placeholders);
        self.reader
            .query()
            .table_name(&self.name)
            .set_index_name(query.index.map(|index| index_name(index).to_owned()))
            // An index cannot be read consistently.
            .consistent_read(query.index.is_none())
            .key_condition_expression(range)
            .set_expression_attribute_names(placeholders.take_names())
            .set_expression_attribute_values(placeholders.take_values())
    }

    /// One page.
    pub(super) async fn page(&self, query: &Query) -> Result<Page, TableError> {
        let between = !query.from.is_empty() && !query.until.is_empty();
        if between && query.from >= query.until {
            return Ok(Page::default());
        }
        let start = match &query.cursor {
            Some(text) => Some(start_key(Cursor::decode(text, query.index)?, query)),
            None => None,
        };
        let answer = self
            .request(query)
            .scan_index_forward(!query.descending)
            .set_limit(query.page_items_max().try_into().ok())
            .set_exclusive_start_key(start)
            .send()
            .await
            .map_err(|failed| error::read_failed(failed, &self.name))?;
        let maps = answer.items.unwrap_or_default();
        let mut items = Vec::with_capacity(maps.len());
        for map in maps {
            if !(between && is_at(&map, query.index, &query.until)) {
                items.push(item_from(map)?);
            }
        }
        let cursor = answer
            .last_evaluated_key
            .map(|last| cursor(last, query.index))
            .transpose()?;
        Ok(Page { items, cursor })
    }

    /// How many items a query has, `most` at most. DynamoDB counts a MiB of entries a request and sends none of them.
    pub(super) async fn count_of(&self, query: &Query, most: u64) -> Result<u64, TableError> {
        // DynamoDB would count an item that is exactly on the upper bound.
        if !query.from.is_empty() && !query.until.is_empty() {
            return count_by_pages(self, query, most).await;
        }
        let mut start = None;
        let mut count = 0;
        loop {
            let answer = self
                .request(query)
                .select(Select::Count)
                .set_exclusive_start_key(start)
                .send()
                .await
                .map_err(|failed| error::read_failed(failed, &self.name))?;
            count += u64::try_from(answer.count).unwrap_or(0);
            start = answer.last_evaluated_key;
            if count >= most || start.is_none() {
                return Ok(count.min(most));
            }
        }
    }
}

/// The key condition.
fn range(query: &Query, placeholders: &mut Placeholders) -> String {
    let [partition, sort] = query.index.map_or([PARTITION, SORT], Index::keys);
    let text = |text: &str| AttributeValue::S(text.to_owned());
    let place = placeholders.name(partition);
    let partition = format!("{place} = {}", placeholders.value(text(&query.partition)));
    if query.from.is_empty() && query.until.is_empty() {
        return partition;
    }
    let sort = placeholders.name(sort);
    let range = match (query.from.as_str(), query.until.as_str()) {
        (from, "") => format!("{sort} >= {}", placeholders.value(text(from))),
        ("", until) => format!("{sort} < {}", placeholders.value(text(until))),
        (from, until) => {
            let from = placeholders.value(text(from));
            format!(
                "{sort} BETWEEN {from} AND {}",
                placeholders.value(text(until))
            )
        }
    };
    format!("{partition} AND {range}")
}

/// Whether the item's sort key is exactly `bound`.
fn is_at(map: &AttributeMap, index: Option<Index>, bound: &str) -> bool {
    let [_, sort] = index.map_or([PARTITION, SORT], Index::keys);
    map.get(sort)
        .and_then(|sort| sort.as_s().ok())
        .is_some_and(|sort| sort == bound)
}

/// Where DynamoDB stopped reading, as the port's cursor.
fn cursor(mut last: AttributeMap, index: Option<Index>) -> Result<String, TableError> {
    let own = text(&mut last, SORT)?;
    let cursor = match index {
        None => Cursor {
            sort: own,
            key: None,
        },
        Some(index) => {
            let [_, sort] = index.keys();
            let key = Key {
                partition: text(&mut last, PARTITION)?,
                sort: own,
            };
            Cursor {
                sort: text(&mut last, sort)?,
                key: Some(key),
            }
        }
    };
    Ok(cursor.encode())
}

/// Where a cursor says to go on, as DynamoDB's key.
fn start_key(cursor: Cursor, query: &Query) -> AttributeMap {
    let partition = AttributeValue::S(query.partition.clone());
    match (query.index, cursor.key) {
        (Some(index), Some(key)) => {
            let [index_partition, index_sort] = index.keys();
            let mut start = key_map(&key);
            start.insert(index_partition.to_owned(), partition);
            start.insert(index_sort.to_owned(), AttributeValue::S(cursor.sort));
            start
        }
        (None | Some(_), _) => AttributeMap::from([
            (PARTITION.to_owned(), partition),
            (SORT.to_owned(), AttributeValue::S(cursor.sort)),
        ]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query() -> Query {
        Query::prefix("WF#1", "J#")
    }

    fn map(names: &[(&str, &str)]) -> AttributeMap {
        let entry = |(name, text): &(&str, &str)| {
            ((*name).to_owned(), AttributeValue::S((*text).to_owned()))
        };
        names.iter().map(entry).collect()
    }

    #[test]
    fn a_cursor_leads_back_to_its_key() {
        let last = map(&[(PARTITION, "WF#1"), (SORT, "J#7:é")]);
        let text = cursor(last.clone(), None).unwrap();
        assert_eq!(
            start_key(Cursor::decode(&text, None).unwrap(), &query()),
            last
        );
    }

    #[test]
    fn a_cursor_of_an_index_keeps_both_keys() {
        let last = map(&[
            ("g1p", "WF#1"),
            ("g1s", "2026:1"),
            (PARTITION, "x#1"),
            (SORT, "HEAD"),
        ]);
        let index = Some(Index::One);
        let text = cursor(last.clone(), index).unwrap();
        let query = Query { index, ..query() };
        assert_eq!(
            start_key(Cursor::decode(&text, index).unwrap(), &query),
            last
        );
    }

    #[test]
    fn one_bound_needs_no_other() {
        let text = |from: &str, until: &str| {
            let query = Query {
                from: from.to_owned(),
                until: until.to_owned(),
                ..query()
            };
            range(&query, &mut Placeholders::default())
        };
        assert_eq!(text("", ""), "#n0 = :v0");
        assert_eq!(text("a", ""), "#n0 = :v0 AND #n1 >= :v1");
        assert_eq!(text("", "b"), "#n0 = :v0 AND #n1 < :v1");
        assert_eq!(text("a", "b"), "#n0 = :v0 AND #n1 BETWEEN :v1 AND :v2");
    }
}
