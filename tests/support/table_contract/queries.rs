//! Promises about `query` over the table itself: order, range, paging, and that nothing written is missing.

#![expect(missing_docs, reason = "the name of a promise is its sentence")]

use anyhow::{Result, bail, ensure};
use dormouse_store::table::{Condition, Item, Query, TableError, Write};

use super::scope::{Scope, b, n};

async fn put_sorts(at: &Scope, partition: &str, sorts: &[&str]) -> Result<()> {
    for chunk in sorts.chunks(100) {
        let put =
            |sort: &&str| Write::Put(at.item([partition, sort], [("v", n(1))]), Condition::Always);
        at.done(&chunk.iter().map(put).collect::<Vec<_>>()).await?;
    }
    Ok(())
}

fn sorts(items: &[Item]) -> Vec<&str> {
    items.iter().map(|item| item.key.sort.as_str()).collect()
}

/// Runs the query in both directions; the sort keys must be these, whatever the length of the pages.
async fn ensure_finds(at: &Scope, query: &Query, expected: &[&str]) -> Result<()> {
    for limit in [1_000, 2] {
        for descending in [false, true] {
            let query = Query {
                limit,
                descending,
                ..query.clone()
            };
            let items = at.all(&query).await?;
            let mut found = sorts(&items);
            if descending {
                found.reverse();
            }
            ensure!(
                found == expected,
                "{query:?} found {found:?} instead of {expected:?}"
            );
        }
    }
    Ok(())
}

fn range(at: &Scope, from: &str, until: &str) -> Query {
    let whole = Query::prefix(at.partition("p"), "");
    Query {
        from: from.to_owned(),
        until: until.to_owned(),
        ..whole
    }
}

pub async fn items_come_in_the_order_of_bytes(at: Scope) -> Result<()> {
    let mut all = vec![
        "b", "a", "B", "10", "9", "a#1", "a", "aa", "a\u{1}", "é", "e\u{301}", "z", "\u{ffff}",
        "🐭", "~", " ", "a b", "日本",
    ];
    all.sort_by_key(|sort| sort.as_bytes());
    all.dedup();
    let mut mixed = all.clone();
    mixed.reverse();
    put_sorts(&at, "p", &mixed).await?;
    ensure_finds(&at, &range(&at, "", ""), &all).await
}

pub async fn a_range_includes_its_start_and_excludes_its_end(at: Scope) -> Result<()> {
    put_sorts(&at, "p", &["a", "b", "b1", "c", "d"]).await?;
    ensure_finds(&at, &range(&at, "", ""), &["a", "b", "b1", "c", "d"]).await?;
    ensure_finds(&at, &range(&at, "b", "d"), &["b", "b1", "c"]).await?;
    ensure_finds(&at, &range(&at, "b", ""), &["b", "b1", "c", "d"]).await?;
    ensure_finds(&at, &range(&at, "", "c"), &["a", "b", "b1"]).await?;
    ensure_finds(&at, &range(&at, "bb", "cc"), &["c"]).await?;
    ensure_finds(&at, &range(&at, "b", "b\u{1}"), &["b"]).await?;
    ensure_finds(&at, &range(&at, "c", "c"), &[]).await?;
    ensure_finds(&at, &range(&at, "d", "a"), &[]).await?;
    ensure_finds(&at, &range(&at, "x", ""), &[]).await
}

pub async fn a_prefix_finds_exactly_its_items(at: Scope) -> Result<()> {
    put_sorts(
        &at,
        "p",
        &["B", "B#", "B#1", "B#2#x", "B#🐭", "B$", "C#1", "HEAD"],
    )
    .await?;
    let prefix = |prefix: &str| Query::prefix(at.partition("p"), prefix);
    ensure_finds(&at, &prefix("B#"), &["B#", "B#1", "B#2#x", "B#🐭"]).await?;
    ensure_finds(&at, &prefix("HEAD"), &["HEAD"]).await?;
    ensure_finds(&at, &prefix("D"), &[]).await
}

pub async fn a_query_shows_no_other_partition(at: Scope) -> Result<()> {
    put_sorts(&at, "p", &["a"]).await?;
    put_sorts(&at, "p1", &["b"]).await?;
    put_sorts(&at, "P", &["c"]).await?;
    put_sorts(&at, "", &["d"]).await?;
    ensure_finds(&at, &range(&at, "", ""), &["a"]).await
}

pub async fn a_query_shows_the_last_write(at: Scope) -> Result<()> {
    for number in 0..20 {
        let item = at.item(["p", "s"], [("v", n(number))]);
        at.put(&item).await?;
        let found = at.all_of("p").await?;
        ensure!(found == [item], "after the write of {number}: {found:?}");
        at.done(&[Write::Delete(at.key("p", "s"), Condition::Always)])
            .await?;
        let found = at.all_of("p").await?;
        ensure!(found.is_empty(), "after the delete of {number}: {found:?}");
    }
    Ok(())
}

pub async fn pages_visit_every_item_once(at: Scope) -> Result<()> {
    let all: Vec<String> = (0..25).map(|number| format!("{number:02}")).collect();
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    put_sorts(&at, "p", &all).await?;
    for limit in [1, 3, 5, 24, 25, 26] {
        for descending in [false, true] {
            let query = Query {
                limit,
                descending,
                ..range(&at, "01", "24")
            };
            let items = at.all(&query).await?;
            let mut found = sorts(&items);
            if descending {
                found.reverse();
            }
            ensure!(
                found == all[1..24],
                "pages of {limit}, descending {descending}: {found:?}"
            );
        }
    }
    Ok(())
}

pub async fn a_page_continues_where_items_came_and_went(at: Scope) -> Result<()> {
    put_sorts(&at, "p", &["b", "d", "f", "h"]).await?;
    let query = Query {
        limit: 2,
        ..range(&at, "", "")
    };
    let first = at.page(&query).await?;
    ensure!(sorts(&first.items) == ["b", "d"], "{first:?}");
    // The last item of the page goes, and others come on both sides of it.
    at.done(&[Write::Delete(at.key("p", "d"), Condition::Exists)])
        .await?;
    put_sorts(&at, "p", &["a", "c", "e"]).await?;
    let rest = at
        .all(&Query {
            cursor: first.cursor,
            ..query
        })
        .await?;
    ensure!(sorts(&rest) == ["e", "f", "h"], "{:?}", sorts(&rest));
    Ok(())
}

pub async fn large_items_end_a_page_early(at: Scope) -> Result<()> {
    let sorts: Vec<String> = (0..12).map(|number| format!("{number:02}")).collect();
    for sort in &sorts {
        at.put(&at.item(["p", sort], [("blob", b(vec![7; 200 * 1024]))]))
            .await?;
    }
    let page = at.page(&range(&at, "", "")).await?;
    let bytes: usize = page.items.iter().map(Item::size_bytes).sum();
    ensure!(
        bytes < 1_500_000 && page.cursor.is_some(),
        "a page of {bytes} bytes"
    );
    let found = at.all_of("p").await?;
    ensure!(
        found.iter().map(|item| &item.key.sort).eq(&sorts),
        "not every item once"
    );
    Ok(())
}

pub async fn a_limit_out_of_range_counts_as_the_nearest(at: Scope) -> Result<()> {
    put_sorts(&at, "p", &["a", "b"]).await?;
    let page = at
        .page(&Query {
            limit: 0,
            ..range(&at, "", "")
        })
        .await?;
    ensure!(
        sorts(&page.items) == ["a"] && page.cursor.is_some(),
        "limit 0: {page:?}"
    );
    let page = at
        .page(&Query {
            limit: u32::MAX,
            ..range(&at, "", "")
        })
        .await?;
    ensure!(
        sorts(&page.items) == ["a", "b"] && page.cursor.is_none(),
        "no limit: {page:?}"
    );
    Ok(())
}

pub async fn a_cursor_from_elsewhere_is_refused(at: Scope) -> Result<()> {
    put_sorts(&at, "p", &["a", "b"]).await?;
    for text in [
        "",
        "garbage",
        "[]",
        "[1]",
        "{\"a\":1}",
        "\u{0}",
        "[\"a\",\"b\"]",
    ] {
        let query = Query {
            cursor: Some(text.to_owned()),
            ..range(&at, "", "")
        };
        match at.table.query(&query).await {
            Err(TableError::BadCursor) => {}
            other => bail!("{text:?} should be a bad cursor: {other:?}"),
        }
    }
    Ok(())
}
