//! Queries: a range of one partition, page by page.
//!
//! DynamoDB takes one condition on the sort key, and its only two-sided one includes both ends. The port's
//! upper bound is exclusive, so an item exactly on it is read and left out.

use aws_sdk_dynamodb::types::AttributeValue;
use dormouse_store::table::{Page, Query, TableError};

use super::DynamoTable;
use super::expression::Placeholders;
use super::item::{AttributeMap, item_from, text};
use super::schema::{IndexKeys, PARTITION, SORT};
use crate::error;

impl DynamoTable {
    /// One page.
    pub(super) async fn page(&self, query: &Query) -> Result<Page, TableError> {
        let between = !query.from.is_empty() && !query.until.is_empty();
        if between && query.from >= query.until {
            return Ok(Page::default());
        }
        let keys = query.index.map(IndexKeys::of);
        let mut placeholders = Placeholders::default();
        let range = range(query, keys, &mut placeholders);
        let start = query
            .cursor
            .as_deref()
            .map(|cursor| start_key(cursor, query, keys))
            .transpose()?;
        let answer = self
            .reader
            .query()
            .table_name(&self.name)
            .set_index_name(keys.map(|keys| keys.name.to_owned()))
            // An index cannot be read consistently.
            .consistent_read(keys.is_none())
            .key_condition_expression(range)
            .set_expression_attribute_names(placeholders.take_names())
            .set_expression_attribute_values(placeholders.take_values())
            .scan_index_forward(!query.descending)
            .limit(i32::try_from(query.limit.clamp(1, 1_000)).unwrap_or(1_000))
            .set_exclusive_start_key(start)
            .send()
            .await
            .map_err(|failed| error::read_failed(failed, &self.name))?;
        let cursor = answer
            .last_evaluated_key
            .map(|last| cursor(last, keys))
            .transpose()?;
        let mut items = Vec::with_capacity(answer.count.try_into().unwrap_or_default());
        for map in answer.items.unwrap_or_default() {
            if !(between && is_at(&map, keys, &query.until)) {
                items.push(item_from(map)?);
            }
        }
        Ok(Page { items, cursor })
    }
}

/// The key condition.
fn range(query: &Query, keys: Option<IndexKeys>, placeholders: &mut Placeholders) -> String {
    let (partition, sort) = keys.map_or((PARTITION, SORT), |keys| (keys.partition, keys.sort));
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
fn is_at(map: &AttributeMap, keys: Option<IndexKeys>, bound: &str) -> bool {
    let sort = map.get(keys.map_or(SORT, |keys| keys.sort));
    sort.and_then(|sort| sort.as_s().ok())
        .is_some_and(|sort| sort == bound)
}

/// DynamoDB's last key as opaque text. The partition is left out: the next page's query says it again.
fn cursor(mut last: AttributeMap, keys: Option<IndexKeys>) -> Result<String, TableError> {
    let names: &[&str] = match &keys {
        None => &[SORT],
        Some(keys) => &[keys.sort, PARTITION, SORT],
    };
    let mut cursor = String::new();
    for name in names {
        let part = text(&mut last, name)?;
        cursor.push_str(&format!("{}:{part}", part.len()));
    }
    Ok(cursor)
}

/// The key that a cursor stands for.
fn start_key(
    cursor: &str,
    query: &Query,
    keys: Option<IndexKeys>,
) -> Result<AttributeMap, TableError> {
    let entry = |name: &str, text: &str| (name.to_owned(), AttributeValue::S(text.to_owned()));
    match (keys, parts(cursor).as_deref()) {
        (None, Some([sort])) => Ok(AttributeMap::from([
            entry(PARTITION, &query.partition),
            entry(SORT, sort),
        ])),
        (Some(keys), Some([index_sort, partition, sort])) => Ok(AttributeMap::from([
            entry(keys.partition, &query.partition),
            entry(keys.sort, index_sort),
            entry(PARTITION, partition),
            entry(SORT, sort),
        ])),
        (None | Some(_), Some(_) | None) => Err(TableError::Unusable(
            "the cursor is not one of this query's".to_owned(),
            None,
        )),
    }
}

/// The texts of a cursor: each is its length in bytes, a colon, and itself.
fn parts(mut cursor: &str) -> Option<Vec<&str>> {
    let mut parts = Vec::new();
    while !cursor.is_empty() {
        let (length, rest) = cursor.split_once(':')?;
        let (part, rest) = rest.split_at_checked(length.parse().ok()?)?;
        parts.push(part);
        cursor = rest;
    }
    Some(parts)
}

#[cfg(test)]
mod tests {
    use dormouse_store::table::Index;

    use super::*;

    fn query() -> Query {
        Query::prefix("WF#1", "J#")
    }

    #[test]
    fn a_cursor_leads_back_to_its_key() {
        let last = AttributeMap::from([
            ("p".to_owned(), AttributeValue::S("WF#1".to_owned())),
            ("s".to_owned(), AttributeValue::S("J#7:é".to_owned())),
        ]);
        let cursor = cursor(last.clone(), None).unwrap();
        assert_eq!(start_key(&cursor, &query(), None).unwrap(), last);
    }

    #[test]
    fn a_cursor_of_an_index_keeps_both_keys() {
        let names = [
            ("g1p", "WF#1"),
            ("g1s", "2026:1"),
            ("p", "x#1"),
            ("s", "HEAD"),
        ];
        let last: AttributeMap = names
            .iter()
            .map(|(name, text)| ((*name).to_owned(), AttributeValue::S((*text).to_owned())))
            .collect();
        let keys = Some(IndexKeys::of(Index::One));
        let cursor = cursor(last.clone(), keys).unwrap();
        assert_eq!(start_key(&cursor, &query(), keys).unwrap(), last);
    }

    #[test]
    fn a_cursor_of_nobody_is_refused() {
        for cursor in ["x", "3:ab", "2:aé", "1:a1:b", ":", "99999999999999999999:a"] {
            let answer = start_key(cursor, &query(), None);
            assert!(
                matches!(answer, Err(TableError::Unusable(..))),
                "{cursor}: {answer:?}"
            );
        }
    }

    #[test]
    fn one_bound_needs_no_other() {
        let text = |from: &str, until: &str| {
            let query = Query {
                from: from.to_owned(),
                until: until.to_owned(),
                ..query()
            };
            range(&query, None, &mut Placeholders::default())
        };
        assert_eq!(text("", ""), "#n0 = :v0");
        assert_eq!(text("a", ""), "#n0 = :v0 AND #n1 >= :v1");
        assert_eq!(text("", "b"), "#n0 = :v0 AND #n1 < :v1");
        assert_eq!(text("a", "b"), "#n0 = :v0 AND #n1 BETWEEN :v1 AND :v2");
    }
}
