//! Promises about `update`: it changes one item, and returns it whole, whether it happened or not.

#![expect(missing_docs, reason = "the name of a promise is its sentence")]

use anyhow::{Result, ensure};
use dormouse_store::table::{Condition, Durability, Query, Updated, Write};

use super::scope::{Scope, add, ensure_invalid, equals, n, remove, s, set, to};

pub async fn an_update_creates_the_item(at: Scope) -> Result<()> {
    let item = at.item(["p", "s"], [("v", n(1)), ("text", s("x"))]);
    let new = at
        .updated(&item.key, &[to("v", n(1)), to("text", s("x"))])
        .await?;
    ensure!(new == item, "{new:?}");
    ensure!(at.get(&item.key).await?.as_ref() == Some(&item));
    Ok(())
}

pub async fn an_update_returns_the_whole_new_item(at: Scope) -> Result<()> {
    at.put(&at.item(["p", "s"], [("kept", s("x")), ("v", n(1))]))
        .await?;
    let new = at.updated(&at.key("p", "s"), &[to("v", n(2))]).await?;
    ensure!(
        new == at.item(["p", "s"], [("kept", s("x")), ("v", n(2))]),
        "{new:?}"
    );
    Ok(())
}

pub async fn an_update_sets_removes_and_adds_in_one(at: Scope) -> Result<()> {
    let before = [
        ("kept", s("x")),
        ("gone", n(1)),
        ("count", n(40)),
        ("kind", n(1)),
    ];
    at.put(&at.item(["p", "s"], before)).await?;
    let changes = [
        to("kind", set(&["a"])),
        remove("gone"),
        remove("never"),
        add("count", 2),
        add("fresh", -7),
    ];
    let new = at.updated(&at.key("p", "s"), &changes).await?;
    let after = [
        ("kept", s("x")),
        ("count", n(42)),
        ("fresh", n(-7)),
        ("kind", set(&["a"])),
    ];
    let after = at.item(["p", "s"], after);
    ensure!(new == after, "{new:?}");
    ensure!(at.get(&after.key).await? == Some(after));
    Ok(())
}

pub async fn an_update_that_makes_a_set_empty_removes_it(at: Scope) -> Result<()> {
    at.put(&at.item(["p", "s"], [("set", set(&["a"])), ("v", n(1))]))
        .await?;
    let new = at
        .updated(&at.key("p", "s"), &[to("set", set(&[]))])
        .await?;
    ensure!(new == at.item(["p", "s"], [("v", n(1))]), "{new:?}");
    ensure!(at.get(&new.key).await? == Some(new));
    Ok(())
}

pub async fn each_update_returns_its_own_result(at: Scope) -> Result<()> {
    let key = at.key("p", "s");
    for count in 1..=10 {
        let new = at.updated(&key, &[add("count", 1)]).await?;
        ensure!(
            new == at.item(["p", "s"], [("count", n(count))]),
            "{count}: {new:?}"
        );
    }
    Ok(())
}

pub async fn a_refused_update_returns_the_item_as_it_stands(at: Scope) -> Result<()> {
    let key = at.key("p", "s");
    let change = [to("v", n(9))];
    let refused = at.update(&key, &change, &Condition::Exists).await?;
    ensure!(refused == Updated::Refused(None), "of nothing: {refused:?}");
    ensure!(at.get(&key).await?.is_none(), "it was created");
    let item = at.item(["p", "s"], [("v", n(1)), ("text", s("x"))]);
    at.put(&item).await?;
    at.updated(&key, &[to("v", n(2))]).await?;
    let stands = at.item(["p", "s"], [("v", n(2)), ("text", s("x"))]);
    let refused = at.update(&key, &change, &equals("v", n(1))).await?;
    ensure!(
        refused == Updated::Refused(Some(stands.clone())),
        "{refused:?}"
    );
    ensure!(at.get(&key).await? == Some(stands), "it changed");
    Ok(())
}

pub async fn adding_to_a_text_is_invalid_and_changes_nothing(at: Scope) -> Result<()> {
    let item = at.item(["p", "s"], [("text", s("1")), ("v", n(1))]);
    at.put(&item).await?;
    let changes = [to("v", n(2)), add("text", 1)];
    let update = at
        .table
        .update(&item.key, &changes, &Condition::Always, Durability::Durable);
    ensure_invalid(update.await)?;
    let other = Write::Put(at.item(["p", "t"], [("v", n(1))]), Condition::Always);
    let update = Write::Update(item.key.clone(), changes.to_vec(), Condition::Always);
    ensure_invalid(at.table.write(&[other, update]).await)?;
    ensure!(at.all_of("p").await? == [item], "something changed");
    Ok(())
}

pub async fn two_changes_of_one_attribute_are_invalid(at: Scope) -> Result<()> {
    let key = at.key("p", "s");
    let changes = [to("v", n(2)), add("v", 1)];
    let update = at
        .table
        .update(&key, &changes, &Condition::Always, Durability::Durable);
    ensure_invalid(update.await)?;
    let update = Write::Update(key.clone(), changes.to_vec(), Condition::Always);
    ensure_invalid(at.table.write(&[update]).await)?;
    ensure!(at.get(&key).await?.is_none(), "it was created");
    Ok(())
}

pub async fn an_ordered_update_is_seen_by_all_that_follows(at: Scope) -> Result<()> {
    let key = at.key("p", "s");
    for count in 1..=20 {
        let changes = [add("count", 1)];
        let updated = at
            .table
            .update(&key, &changes, &Condition::Always, Durability::Ordered)
            .await?;
        let item = at.item(["p", "s"], [("count", n(count))]);
        ensure!(
            updated == Updated::New(item.clone()),
            "{count}: {updated:?}"
        );
        ensure!(
            at.get(&key).await?.as_ref() == Some(&item),
            "{count}: not seen by a get"
        );
        let page = at.page(&Query::prefix(at.partition("p"), "")).await?;
        ensure!(page.items == [item], "{count}: not seen by a query");
        at.done(&[Write::Check(key.clone(), equals("count", n(count)))])
            .await?;
    }
    Ok(())
}
