//! A query of the port as one SQL statement: which rows, in which order, from where on.
//!
//! The bounds are written so that SQLite finds the first row of a page directly, however far into the partition
//! the page lies.

use dormouse_store::Cursor;
use dormouse_store::table::{Index, Query, TableError};
use rusqlite::types::ToSql;

/// A statement and its parameters, and where a page of it may continue.
#[derive(Debug)]
pub(super) struct Select {
    pub(super) sql: String,
    parameters: Vec<String>,
    rows_max: i64,
}

impl Select {
    /// The statement for the query. Its columns are `pk`, `sk`, the sort key, and `body` where the body is
    /// needed.
    ///
    /// One row more than the page holds is selected: it tells whether there is another page.
    pub(super) fn of(query: &Query) -> Result<Self, TableError> {
        let (mut select, names, bounds) = Self::bounded(query)?;
        let Names {
            partition,
            sort,
            columns,
        } = names;
        let direction = if query.descending { "DESC" } else { "ASC" };
        let tie = if query.index.is_some() {
            format!(", pk {direction}, sk {direction}")
        } else {
            String::new()
        };
        select.sql = format!(
            "SELECT {columns} FROM items WHERE {partition} = ?1{bounds} \
             ORDER BY {sort} {direction}{tie} LIMIT ?{}",
            select.parameters.len() + 1
        );
        Ok(select)
    }

    /// The statement that counts what the query has, up to a number.
    pub(super) fn count_of(query: &Query, most: u64) -> Result<Self, TableError> {
        let (mut select, names, bounds) = Self::bounded(query)?;
        select.rows_max = i64::try_from(most).unwrap_or(i64::MAX);
        select.sql = format!(
            "SELECT COUNT(*) FROM (SELECT 1 FROM items WHERE {} = ?1{bounds} LIMIT ?{})",
            names.partition,
            select.parameters.len() + 1
        );
        Ok(select)
    }

    /// The bounds of a query as conditions, and their parameters.
    fn bounded(query: &Query) -> Result<(Self, Names, String), TableError> {
        let cursor = query
            .cursor
            .as_deref()
            .map(|text| Cursor::decode(text, query.index));
        let names = Names::of(query.index);
        let mut select = Self {
            sql: String::new(),
            parameters: vec![query.partition.clone()],
            rows_max: query.page_items_max() as i64 + 1,
        };
        let mut bounds = String::new();
        match cursor.transpose()? {
            // A cursor outside the range changes nothing: the page begins where the range does.
            Some(cursor) if !query.descending && cursor.sort >= query.from => {
                bounds += &select.beyond(&names, '>', cursor);
                bounds += &select.below(&names, &query.until);
            }
            Some(cursor)
                if query.descending && (query.until.is_empty() || cursor.sort < query.until) =>
            {
                bounds += &select.beyond(&names, '<', cursor);
                bounds += &select.from(&names, &query.from);
            }
            Some(_) | None => {
                bounds += &select.from(&names, &query.from);
                bounds += &select.below(&names, &query.until);
            }
        }
        Ok((select, names, bounds))
    }

    /// The parameters, in order.
    pub(super) fn parameters(&self) -> impl Iterator<Item = &dyn ToSql> {
        let texts = self.parameters.iter().map(|text| text as &dyn ToSql);
        texts.chain(std::iter::once(&self.rows_max as &dyn ToSql))
    }

    fn parameter(&mut self, text: impl Into<String>) -> usize {
        self.parameters.push(text.into());
        self.parameters.len()
    }

    fn from(&mut self, names: &Names, from: &str) -> String {
        if from.is_empty() {
            return String::new();
        }
        format!(" AND {} >= ?{}", names.sort, self.parameter(from))
    }

    fn below(&mut self, names: &Names, until: &str) -> String {
        if until.is_empty() {
            return String::new();
        }
        format!(" AND {} < ?{}", names.sort, self.parameter(until))
    }

    /// Strictly beyond the cursor.
    fn beyond(&mut self, names: &Names, than: char, cursor: Cursor) -> String {
        let sort = self.parameter(cursor.sort);
        match cursor.key {
            None => format!(" AND {} {than} ?{sort}", names.sort),
            Some(key) => format!(
                " AND ({}, pk, sk) {than} (?{sort}, ?{}, ?{})",
                names.sort,
                self.parameter(key.partition),
                self.parameter(key.sort)
            ),
        }
    }
}

/// The columns of the table, or of an index.
struct Names {
    partition: &'static str,
    sort: &'static str,
    columns: &'static str,
}

impl Names {
    fn of(index: Option<Index>) -> Self {
        let columns = match index {
            None => "pk, sk, sk, body",
            Some(Index::One) => "pk, sk, g1s, body",
            // All of it is in the index: no row is looked up.
            Some(Index::Two) => "pk, sk, g2s",
            Some(Index::Three) => "pk, sk, g3s",
        };
        let [partition, sort] = index.map_or(["pk", "sk"], Index::keys);
        Self {
            partition,
            sort,
            columns,
        }
    }
}

#[cfg(test)]
mod tests {
    use dormouse_store::table::Key;
    use rusqlite::{Connection, params_from_iter};

    use super::super::schema::TABLES;
    use super::*;

    /// The cost of a page must not grow with the table: each query goes straight to its first row, and reads
    /// on in the order of an index.
    #[test]
    fn every_query_is_answered_from_an_index_in_its_order() {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(TABLES).unwrap();
        let indexes = [None, Some(Index::One), Some(Index::Two), Some(Index::Three)];
        for index in indexes {
            for [from, until] in [["", ""], ["b", ""], ["", "y"], ["b", "y"]] {
                for (descending, has_cursor) in
                    [(false, false), (false, true), (true, false), (true, true)]
                {
                    let key = index.map(|_| Key::new("p", "s"));
                    let cursor = Cursor {
                        sort: "m".to_owned(),
                        key,
                    };
                    let query = Query {
                        index,
                        from: from.to_owned(),
                        until: until.to_owned(),
                        descending,
                        cursor: has_cursor.then(|| cursor.encode()),
                        ..Query::prefix("p", "")
                    };
                    let plan = self::plan(&connection, &Select::of(&query).unwrap());
                    let name = match index {
                        None => "items_key",
                        Some(Index::One) => "items_g1",
                        Some(Index::Two) => "items_g2",
                        Some(Index::Three) => "items_g3",
                    };
                    let is_bounded = !from.is_empty() || !until.is_empty() || has_cursor;
                    assert!(plan.starts_with("SEARCH items USING"), "{query:?}: {plan}");
                    assert!(plan.contains(name), "{query:?}: {plan}");
                    assert_eq!(
                        plan.contains('>') || plan.contains('<'),
                        is_bounded,
                        "{plan}"
                    );
                    assert!(!plan.contains("TEMP B-TREE"), "{query:?}: {plan}");
                    let counted = self::plan(&connection, &Select::count_of(&query, 9).unwrap());
                    assert!(counted.contains("COVERING INDEX"), "{query:?}: {counted}");
                    assert!(counted.contains(name), "{query:?}: {counted}");
                }
            }
        }
    }

    fn plan(connection: &Connection, select: &Select) -> String {
        let mut statement = connection
            .prepare(&format!("EXPLAIN QUERY PLAN {}", select.sql))
            .unwrap();
        let rows = statement
            .query_map(params_from_iter(select.parameters()), |row| {
                row.get::<_, String>(3)
            })
            .unwrap();
        rows.collect::<Result<Vec<_>, _>>().unwrap().join("; ")
    }
}
