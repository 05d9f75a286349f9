//! Promises about `write`: all of the writes or none, up to a hundred, each about another key.

#![expect(missing_docs, reason = "the name of a promise is its sentence")]

use anyhow::{Result, ensure};
use dormouse_store::table::limits::WRITES_MAX;
use dormouse_store::table::{Condition, Item, Write};

use super::scope::{Scope, add, b, ensure_invalid, ensure_too_large, equals, n, to};

pub async fn all_kinds_of_writes_happen_together(at: Scope) -> Result<()> {
    at.put(&at.item(["p", "updated"], [("v", n(1))])).await?;
    at.put(&at.item(["p", "deleted"], [("v", n(1))])).await?;
    at.put(&at.item(["q", "checked"], [("v", n(1))])).await?;
    let put = at.item(["p", "put"], [("v", n(1))]);
    at.done(&[
        Write::Put(put.clone(), Condition::Absent),
        Write::Update(at.key("p", "updated"), vec![add("v", 1)], equals("v", n(1))),
        Write::Update(at.key("p", "created"), vec![add("v", 1)], Condition::Absent),
        Write::Delete(at.key("p", "deleted"), Condition::Exists),
        Write::Check(at.key("q", "checked"), equals("v", n(1))),
    ])
    .await?;
    let expected = [
        at.item(["p", "created"], [("v", n(1))]),
        put,
        at.item(["p", "updated"], [("v", n(2))]),
    ];
    let found = at.all_of("p").await?;
    ensure!(found == expected, "{found:?}");
    Ok(())
}

pub async fn one_refused_write_of_any_kind_stops_the_others(at: Scope) -> Result<()> {
    let before =
        ["a", "b", "c", "d"].map(|sort| at.item(["p", sort], [("v", n(1)), ("other", n(7))]));
    for item in &before {
        at.put(item).await?;
    }
    let writes = |bad: usize| {
        let condition = |place| equals("v", n(if place == bad { 2 } else { 1 }));
        [
            Write::Put(at.item(["p", "a"], [("v", n(3))]), condition(0)),
            Write::Update(at.key("p", "b"), vec![add("v", 1)], condition(1)),
            Write::Delete(at.key("p", "c"), condition(2)),
            Write::Check(at.key("p", "d"), condition(3)),
        ]
    };
    for bad in 0..4 {
        for turned in 0..4 {
            let mut writes = writes(bad);
            writes.rotate_left(turned);
            at.refused(&writes).await?;
            let found = at.all_of("p").await?;
            ensure!(found == before, "{writes:?} left {found:?}");
        }
    }
    at.done(&writes(4)).await
}

pub async fn a_refusal_returns_the_items_as_they_stand(at: Scope) -> Result<()> {
    let stands = at.item(["p", "b"], [("v", n(1)), ("bytes", b(*b"\x00\x01"))]);
    at.put(&stands).await?;
    let fine = Write::Put(at.item(["p", "a"], [("v", n(1))]), Condition::Absent);
    let present = Write::Put(at.item(["p", "b"], [("v", n(2))]), Condition::Absent);
    let absent = Write::Delete(at.key("p", "c"), Condition::Exists);
    let refused = at.refused(&[fine.clone(), present.clone()]).await?;
    ensure!(refused == [None, Some(Some(stands.clone()))], "{refused:?}");
    let refused = at.refused(&[absent.clone(), fine.clone()]).await?;
    ensure!(refused == [Some(None), None], "{refused:?}");
    // Where two are refused, one of them may go unnamed, but what is named must be right.
    let refused = at.refused(&[absent, fine, present]).await?;
    let named = [Some(None), None, Some(Some(stands))];
    let right = refused
        .iter()
        .zip(&named)
        .all(|(is, should)| is.is_none() || is == should);
    ensure!(right && refused.iter().any(Option::is_some), "{refused:?}");
    Ok(())
}

pub async fn a_refused_single_write_returns_the_item(at: Scope) -> Result<()> {
    let item = at.item(["p", "s"], [("v", n(1))]);
    at.put(&item).await?;
    let condition = || equals("v", n(2));
    let writes = [
        Write::Put(at.item(["p", "s"], [("v", n(3))]), condition()),
        Write::Update(item.key.clone(), vec![add("v", 1)], condition()),
        Write::Delete(item.key.clone(), condition()),
        Write::Check(item.key.clone(), condition()),
    ];
    for write in writes {
        let refused = at.refused(std::slice::from_ref(&write)).await?;
        ensure!(
            refused == [Some(Some(item.clone()))],
            "{write:?}: {refused:?}"
        );
    }
    ensure!(at.all_of("p").await? == [item], "it changed");
    Ok(())
}

pub async fn conditions_are_judged_before_any_of_the_writes(at: Scope) -> Result<()> {
    let item = at.item(["p", "a"], [("v", n(1))]);
    at.put(&item).await?;
    // Each condition is about its own key, so the others of the same call cannot change its answer; what
    // must not happen is that a write is judged by its own result.
    at.done(&[
        Write::Update(item.key.clone(), vec![add("v", 1)], equals("v", n(1))),
        Write::Put(at.item(["p", "b"], [("v", n(1))]), Condition::Absent),
    ])
    .await?;
    let refused = at
        .refused(&[
            Write::Update(item.key.clone(), vec![add("v", 1)], equals("v", n(1))),
            Write::Put(at.item(["p", "c"], [("v", n(1))]), Condition::Absent),
        ])
        .await?;
    ensure!(
        refused == [Some(Some(at.item(["p", "a"], [("v", n(2))]))), None],
        "{refused:?}"
    );
    Ok(())
}

pub async fn a_check_changes_nothing(at: Scope) -> Result<()> {
    let item = at.item(["p", "s"], [("v", n(1))]);
    at.put(&item).await?;
    at.done(&[Write::Check(item.key.clone(), Condition::Exists)])
        .await?;
    at.done(&[Write::Check(at.key("p", "none"), Condition::Absent)])
        .await?;
    let found = at.all_of("p").await?;
    ensure!(found == [item], "{found:?}");
    Ok(())
}

fn many(at: &Scope, count: usize) -> (Vec<Item>, Vec<Write>) {
    let items: Vec<Item> = (0..count)
        .map(|number| at.item(["p", &format!("{number:03}")], [("v", n(number as i64))]))
        .collect();
    let writes = items
        .iter()
        .map(|item| Write::Put(item.clone(), Condition::Absent))
        .collect();
    (items, writes)
}

pub async fn a_hundred_writes_happen_together(at: Scope) -> Result<()> {
    let (items, writes) = many(&at, WRITES_MAX);
    at.done(&writes).await?;
    ensure!(at.all_of("p").await? == items, "not all are there");
    let refused = at.refused(&writes).await?;
    ensure!(refused.iter().any(Option::is_some), "{refused:?}");
    Ok(())
}

pub async fn more_than_a_hundred_writes_are_too_large(at: Scope) -> Result<()> {
    let (_, writes) = many(&at, WRITES_MAX + 1);
    ensure_too_large(at.table.write(&writes).await)?;
    ensure!(at.all_of("p").await?.is_empty(), "some are there");
    Ok(())
}

pub async fn no_writes_are_invalid(at: Scope) -> Result<()> {
    ensure_invalid(at.table.write(&[]).await)
}

pub async fn two_writes_about_one_key_are_invalid(at: Scope) -> Result<()> {
    let item = at.item(["p", "s"], [("v", n(1))]);
    let put = Write::Put(item.clone(), Condition::Always);
    let seconds = [
        put.clone(),
        Write::Update(item.key.clone(), vec![to("v", n(2))], Condition::Always),
        Write::Delete(item.key.clone(), Condition::Always),
        Write::Check(item.key.clone(), Condition::Always),
    ];
    for second in seconds {
        ensure_invalid(at.table.write(&[put.clone(), second]).await)?;
        ensure!(at.get(&item.key).await?.is_none(), "it was stored");
    }
    Ok(())
}

pub async fn over_four_mebibytes_are_too_large(at: Scope) -> Result<()> {
    let large = |number: usize| {
        let item = at.item(
            ["p", &number.to_string()],
            [("blob", b(vec![1; 390 * 1024]))],
        );
        Write::Put(item, Condition::Always)
    };
    let writes: Vec<Write> = (0..11).map(large).collect();
    ensure_too_large(at.table.write(&writes).await)?;
    ensure!(at.all_of("p").await?.is_empty(), "some are there");
    Ok(())
}
