//! Promises about conditions: one table of cases, and each case answered alike by every kind of write.

#![expect(missing_docs, reason = "the name of a promise is its sentence")]

use anyhow::{Context as _, Result, ensure};
use dormouse_store::table::{Condition, Item, Updated, Write, Written};

use super::scope::{Scope, add, b, equals, n, s, set, to};

/// Conditions on the item of [`stored`], and whether they hold of it.
fn on_an_item() -> Vec<(Condition, bool)> {
    use Condition::{Absent, All, Always, Any, Below, Contains, Exists, Has, Lacks, Not};
    let not = |condition| Not(Box::new(condition));
    vec![
        (Always, true),
        (Exists, true),
        (Absent, false),
        (Has("n".into()), true),
        (Has("none".into()), false),
        (Lacks("n".into()), false),
        (Lacks("none".into()), true),
        (equals("n", n(5)), true),
        (equals("n", n(6)), false),
        (equals("n", s("5")), false),
        (equals("least", n(i64::MIN)), true),
        (equals("text", s("x")), true),
        (equals("text", s("X")), false),
        (equals("empty", s("")), true),
        (equals("bytes", b(*b"\x00\xff")), true),
        (equals("bytes", b(*b"\x00")), false),
        (equals("set", set(&["b", "a"])), true),
        (equals("set", set(&["a"])), false),
        (equals("none", n(0)), false),
        (equals("none", s("")), false),
        (equals("none", set(&[])), true),
        (equals("set", set(&[])), false),
        (not(equals("none", n(0))), true),
        (Below("n".into(), 6), true),
        (Below("n".into(), 5), false),
        (Below("n".into(), -6), false),
        (Below("least".into(), -1), true),
        (Below("text".into(), 100), false),
        (Below("none".into(), 100), false),
        (not(Below("none".into(), 100)), true),
        (Contains("set".into(), "a".into()), true),
        (Contains("set".into(), "c".into()), false),
        (Contains("none".into(), "a".into()), false),
        (Contains("text".into(), "x".into()), false),
        (All(vec![]), true),
        (
            All(vec![Exists, equals("n", n(5)), Has("text".into())]),
            true,
        ),
        (All(vec![Exists, equals("n", n(6))]), false),
        (Any(vec![]), false),
        (Any(vec![Absent, equals("n", n(5))]), true),
        (Any(vec![Absent, equals("n", n(6))]), false),
        (not(Exists), false),
        (not(Absent), true),
        (not(not(Always)), true),
        (not(Always), false),
        (
            All(vec![
                Any(vec![Absent, Below("n".into(), 9)]),
                not(Has("none".into())),
            ]),
            true,
        ),
        (
            Any(vec![
                All(vec![Exists, Absent]),
                not(Any(vec![Has("n".into())])),
            ]),
            false,
        ),
    ]
}

/// Conditions where there is no item.
fn on_nothing() -> Vec<(Condition, bool)> {
    use Condition::{Absent, All, Always, Any, Below, Contains, Exists, Has, Lacks, Not};
    vec![
        (Always, true),
        (Exists, false),
        (Absent, true),
        (Has("n".into()), false),
        (Lacks("n".into()), true),
        (equals("n", n(0)), false),
        (equals("n", set(&[])), true),
        (Below("n".into(), 1), false),
        (Contains("set".into(), "a".into()), false),
        (Not(Box::new(Exists)), true),
        (Not(Box::new(equals("n", n(0)))), true),
        (All(vec![Absent, Lacks("n".into())]), true),
        (Any(vec![Exists, Has("n".into())]), false),
        (Any(vec![Absent, Has("n".into())]), true),
    ]
}

fn stored(at: &Scope) -> Item {
    let attributes = [
        ("n", n(5)),
        ("least", n(i64::MIN)),
        ("text", s("x")),
        ("empty", s("")),
        ("bytes", b(*b"\x00\xff")),
        ("set", set(&["a", "b"])),
    ];
    at.item(["p", "s"], attributes)
}

/// Every case in a scope of its own: the item before, the condition, and whether it holds.
async fn each_case(at: &Scope) -> Result<Vec<(Scope, Option<Item>, Condition, bool)>> {
    let mut cases = Vec::new();
    for (number, (condition, holds)) in on_an_item().into_iter().enumerate() {
        let at = at.part(&format!("item{number}"));
        let item = stored(&at);
        at.put(&item).await?;
        cases.push((at, Some(item), condition, holds));
    }
    for (number, (condition, holds)) in on_nothing().into_iter().enumerate() {
        cases.push((at.part(&format!("nothing{number}")), None, condition, holds));
    }
    Ok(cases)
}

pub async fn conditions_hold_or_fail_alike_in_updates(at: Scope) -> Result<()> {
    for (at, before, condition, holds) in each_case(&at).await? {
        let key = at.key("p", "s");
        let updated = at.update(&key, &[add("hit", 1)], &condition).await?;
        let happened = matches!(updated, Updated::New(_));
        ensure!(
            happened == holds,
            "{condition:?} of {before:?}: {updated:?}"
        );
        let found = at.get(&key).await?;
        let hit = found
            .as_ref()
            .is_some_and(|item| item.attributes.contains_key("hit"));
        ensure!(hit == holds, "{condition:?} of {before:?}: then {found:?}");
    }
    Ok(())
}

pub async fn conditions_hold_or_fail_alike_in_puts(at: Scope) -> Result<()> {
    for (at, before, condition, holds) in each_case(&at).await? {
        let new = at.item(["p", "s"], [("new", n(1))]);
        let after = judged(&at, &before, Write::Put(new.clone(), condition), holds).await?;
        ensure!(
            after == if holds { Some(new) } else { before },
            "then {after:?}"
        );
    }
    Ok(())
}

pub async fn conditions_hold_or_fail_alike_in_deletes(at: Scope) -> Result<()> {
    for (at, before, condition, holds) in each_case(&at).await? {
        let delete = Write::Delete(at.key("p", "s"), condition);
        let after = judged(&at, &before, delete, holds).await?;
        ensure!(after == if holds { None } else { before }, "then {after:?}");
    }
    Ok(())
}

pub async fn conditions_hold_or_fail_alike_in_checks(at: Scope) -> Result<()> {
    for (at, before, condition, holds) in each_case(&at).await? {
        let check = Write::Check(at.key("p", "s"), condition);
        let after = judged(&at, &before, check, holds).await?;
        ensure!(after == before, "a check changed the item to {after:?}");
        let other = at.get(&at.key("p", "other")).await?;
        ensure!(other.is_some() == holds, "the other write: {other:?}");
    }
    Ok(())
}

/// Does the write beside another one, whose fate it decides; the item afterwards.
async fn judged(
    at: &Scope,
    before: &Option<Item>,
    write: Write,
    holds: bool,
) -> Result<Option<Item>> {
    let other = Write::Update(at.key("p", "other"), vec![to("v", n(1))], Condition::Always);
    let case = format!("{:?} of {before:?}", write.condition());
    let written = at
        .table
        .write(&[other, write])
        .await
        .context(case.clone())?;
    match written {
        Written::Done => ensure!(holds, "{case}: it happened"),
        Written::Refused(refused) => {
            ensure!(
                !holds && refused == [None, Some(before.clone())],
                "{case}: {refused:?}"
            );
        }
    }
    at.get(&at.key("p", "s")).await
}
