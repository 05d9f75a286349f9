//! Promises about the indexes: who is in them and what they show. They may lag, so these look again for a while
//! before they call something missing.

#![expect(missing_docs, reason = "the name of a promise is its sentence")]

use std::time::{Duration, Instant};

use anyhow::{Result, bail, ensure};
use dormouse_store::table::{Condition, Index, Item, Query, Write};

use super::scope::{Scope, attributes, b, ensure_invalid, n, remove, s, to};

fn of(at: &Scope, index: Index, partition: &str) -> Query {
    Query {
        index: Some(index),
        ..Query::prefix(at.partition(partition), "")
    }
}

/// Waits until the query finds exactly these items.
async fn ensure_finds(at: &Scope, query: &Query, expected: &[Item]) -> Result<()> {
    let deadline = Instant::now() + at.index_lag_max;
    loop {
        let found = at.all(query).await?;
        if found == expected {
            return Ok(());
        }
        if Instant::now() >= deadline || found.len() == expected.len() {
            bail!("{query:?} found {found:?} instead of {expected:?}");
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

pub async fn index_one_shows_its_keys_and_the_summary(at: Scope) -> Result<()> {
    let partition = at.partition("list");
    let shown = [
        ("g1p", s(&partition)),
        ("g1s", s("2026")),
        (Index::SUMMARY, b(*b"summary")),
    ];
    let mut full = at.item(["p", "s"], shown.clone());
    for name in ["st", "jr", "v"] {
        full.attributes.insert(name.to_owned(), b(*b"not shown"));
    }
    at.put(&full).await?;
    ensure_finds(
        &at,
        &of(&at, Index::One, "list"),
        &[at.item(["p", "s"], shown)],
    )
    .await?;
    ensure!(
        at.get(&full.key).await?.as_ref() == Some(&full),
        "the item itself is not whole"
    );
    Ok(())
}

pub async fn indexes_two_and_three_show_keys_only(at: Scope) -> Result<()> {
    let (two, three) = (at.partition("two"), at.partition("three"));
    let keys = |partition: &str, sort: &str| [s(partition), s(sort)];
    let [[g2p, g2s], [g3p, g3s]] = [keys(&two, "b"), keys(&three, "c")];
    let full = [
        ("g2p", g2p.clone()),
        ("g2s", g2s.clone()),
        ("g3p", g3p.clone()),
        ("g3s", g3s.clone()),
        (Index::SUMMARY, b(*b"x")),
    ];
    at.put(&at.item(["p", "s"], full)).await?;
    let shown = at.item(["p", "s"], [("g2p", g2p), ("g2s", g2s)]);
    ensure_finds(&at, &of(&at, Index::Two, "two"), &[shown]).await?;
    let shown = at.item(["p", "s"], [("g3p", g3p), ("g3s", g3s)]);
    ensure_finds(&at, &of(&at, Index::Three, "three"), &[shown]).await?;
    ensure_finds(&at, &of(&at, Index::One, "two"), &[]).await
}

pub async fn a_count_is_what_the_pages_hold_up_to_a_number(at: Scope) -> Result<()> {
    let partition = at.partition("list");
    let place = |sort: &str| [("g2p", s(&partition)), ("g2s", s(sort))];
    let sorts = ["1", "2", "3", "4", "5"];
    let mut items = Vec::new();
    for sort in sorts {
        let item = at.item(["p", sort], place(sort));
        at.put(&item).await?;
        items.push(item);
    }
    let query = of(&at, Index::Two, "list");
    ensure_finds(&at, &query, &items).await?;
    for (from, until, expected) in [
        ("", "", 5),
        ("2", "", 4),
        ("", "4", 3),
        ("2", "4", 2),
        ("4", "2", 0),
        ("6", "", 0),
    ] {
        let query = Query {
            from: from.to_owned(),
            until: until.to_owned(),
            descending: expected % 2 == 0,
            limit: 2,
            ..query.clone()
        };
        for most in [1, 3, 100] {
            let count = at.table.count(&query, most).await?;
            ensure!(
                count == most.min(expected),
                "{query:?}, {most} at most: {count} instead of {expected}"
            );
        }
    }
    let own = Query::prefix(at.partition("p"), "");
    let count = at.table.count(&own, 100).await?;
    ensure!(count == 5, "{count} items of the table itself");
    Ok(())
}

pub async fn an_item_without_both_keys_is_in_no_index(at: Scope) -> Result<()> {
    let partition = at.partition("list");
    at.put(&at.item(["p", "half"], [("g1p", s(&partition))]))
        .await?;
    at.put(&at.item(["p", "other"], [("g1s", s("1"))])).await?;
    let whole = at.item(["p", "whole"], [("g1p", s(&partition)), ("g1s", s("1"))]);
    at.put(&whole).await?;
    ensure_finds(&at, &of(&at, Index::One, "list"), &[whole]).await
}

pub async fn an_item_moves_within_its_index(at: Scope) -> Result<()> {
    let (here, there) = (at.partition("here"), at.partition("there"));
    let at_place = |sort: &str, partition: &str, place: &str| {
        at.item(["p", sort], [("g1p", s(partition)), ("g1s", s(place))])
    };
    at.put(&at_place("a", &here, "1")).await?;
    at.put(&at_place("b", &here, "2")).await?;
    let query = of(&at, Index::One, "here");
    ensure_finds(
        &at,
        &query,
        &[at_place("a", &here, "1"), at_place("b", &here, "2")],
    )
    .await?;
    // By an update, within the partition.
    at.updated(&at.key("p", "a"), &[to("g1s", s("3"))]).await?;
    ensure_finds_moved(
        &at,
        &query,
        &[at_place("b", &here, "2"), at_place("a", &here, "3")],
    )
    .await?;
    // By a put, to another partition.
    at.put(&at_place("b", &there, "2")).await?;
    ensure_finds(&at, &query, &[at_place("a", &here, "3")]).await?;
    ensure_finds(
        &at,
        &of(&at, Index::One, "there"),
        &[at_place("b", &there, "2")],
    )
    .await?;
    // Out of the index: by losing a key, and by going altogether.
    at.updated(&at.key("p", "a"), &[remove("g1s"), to("v", n(1))])
        .await?;
    ensure_finds(&at, &query, &[]).await?;
    at.done(&[Write::Delete(at.key("p", "b"), Condition::Exists)])
        .await?;
    ensure_finds(&at, &of(&at, Index::One, "there"), &[]).await
}

/// Like [`ensure_finds`], where the number of items stays the same.
async fn ensure_finds_moved(at: &Scope, query: &Query, expected: &[Item]) -> Result<()> {
    let deadline = Instant::now() + at.index_lag_max;
    while at.all(query).await? != expected && Instant::now() < deadline {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    ensure_finds(at, query, expected).await
}

pub async fn index_pages_visit_every_item_once(at: Scope) -> Result<()> {
    let partition = at.partition("list");
    let place = |number: usize| format!("{:02}", number / 3);
    for number in 0..20 {
        let keys = [("g2p", s(&partition)), ("g2s", s(place(number)))];
        at.put(&at.item([&format!("p{number:02}"), "s"], keys))
            .await?;
    }
    let whole = of(&at, Index::Two, "list");
    let deadline = Instant::now() + at.index_lag_max;
    while at.all(&whole).await?.len() < 20 && Instant::now() < deadline {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    for (limit, descending) in [(1_000, false), (1, false), (7, false), (3, true)] {
        let query = Query {
            limit,
            descending,
            ..whole.clone()
        };
        let found = at.all(&query).await?;
        let mut places: Vec<[String; 2]> = found.iter().filter_map(place_in_two).collect();
        let mut sorted = places.clone();
        sorted.sort();
        let mut by_place: Vec<String> = places.iter().map(|[place, _]| place.clone()).collect();
        if descending {
            by_place.reverse();
            places.reverse();
        }
        ensure!(
            by_place.is_sorted(),
            "not in order, pages of {limit}: {by_place:?}"
        );
        let expected: Vec<[String; 2]> = (0..20)
            .map(|number| [place(number), at.partition(&format!("p{number:02}"))])
            .collect();
        ensure!(
            sorted == expected,
            "not every item once, pages of {limit}: {sorted:?}"
        );
    }
    // The bounds are those of the index's sort key.
    let middle = Query {
        from: "02".into(),
        until: "04".into(),
        limit: 4,
        ..whole
    };
    ensure!(
        at.all(&middle).await?.len() == 6,
        "{:?}",
        at.all(&middle).await?
    );
    Ok(())
}

fn place_in_two(item: &Item) -> Option<[String; 2]> {
    let [_, place] = item.index_key(Index::Two)?;
    Some([place.to_owned(), item.key.partition.clone()])
}

pub async fn index_keys_that_are_not_text_are_invalid(at: Scope) -> Result<()> {
    for (name, value) in [("g1p", n(1)), ("g2s", s("")), ("g3p", b(*b"x"))] {
        let item = Item {
            key: at.key("p", "s"),
            attributes: attributes([(name, value)]),
        };
        ensure_invalid(at.table.write(&[Write::Put(item, Condition::Always)]).await)?;
    }
    ensure!(at.get(&at.key("p", "s")).await?.is_none(), "it was stored");
    Ok(())
}
