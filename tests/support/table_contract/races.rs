//! Promises about tasks that meet at one item: nobody's change is lost, and one of many wins.

#![expect(missing_docs, reason = "the name of a promise is its sentence")]

use std::sync::Arc;

use anyhow::{Context as _, Result, bail, ensure};
use dormouse_store::table::{
    Attributes, Change, Condition, Durability, Item, Key, TableError, Updated, Value, Write,
    Written,
};
use tokio::sync::Barrier;

use super::scope::{Scope, add, equals, n, to};

const TASKS: i64 = 16;
/// More tries than a fair race can need.
const TRIES_MAX: usize = 10_000;

/// Runs the task sixteen times at once and gives what each returned.
async fn all_at_once<F, T>(task: impl Fn(i64) -> F) -> Result<Vec<T>>
where
    F: Future<Output = Result<T>> + Send + 'static,
    T: Send + 'static,
{
    // All are there before the first begins, else the machine may run them one after another.
    let start = Arc::new(Barrier::new(TASKS as usize));
    let spawn = |number| {
        let (start, task) = (Arc::clone(&start), task(number));
        tokio::spawn(async move {
            start.wait().await;
            task.await
        })
    };
    let tasks: Vec<_> = (0..TASKS).map(spawn).collect();
    let mut results = Vec::new();
    for task in tasks {
        results.push(task.await??);
    }
    Ok(results)
}

/// A write that may meet another one: tried again while the table is busy.
async fn patiently(at: &Scope, writes: &[Write]) -> Result<Written> {
    for _ in 0..TRIES_MAX {
        match at.table.write(writes).await {
            Err(TableError::Busy) => tokio::task::yield_now().await,
            answer => return answer.context("write"),
        }
    }
    bail!("busy for {TRIES_MAX} tries")
}

async fn update_patiently(
    at: &Scope,
    key: &Key,
    change: Change,
    condition: &Condition,
) -> Result<Updated> {
    for _ in 0..TRIES_MAX {
        let changes = std::slice::from_ref(&change);
        match at
            .table
            .update(key, changes, condition, Durability::Ordered)
            .await
        {
            Err(TableError::Busy) => tokio::task::yield_now().await,
            answer => return answer.context("update"),
        }
    }
    bail!("busy for {TRIES_MAX} tries")
}

fn number(attributes: &Attributes, name: &str) -> Result<i64> {
    match attributes.get(name) {
        Some(Value::N(number)) => Ok(*number),
        other => bail!("{name} is not a number but {other:?}"),
    }
}

async fn stored_number(at: &Scope, key: &Key) -> Result<i64> {
    number(&at.get(key).await?.context("no item")?.attributes, "v")
}

pub async fn increments_of_sixteen_tasks_are_all_counted(at: Scope) -> Result<()> {
    const EACH: i64 = 10;
    let item = at.item(["p", "s"], [("v", n(0))]);
    at.put(&item).await?;
    let (scope, key) = (at.clone(), item.key.clone());
    all_at_once(move |_| {
        let (at, key) = (scope.clone(), key.clone());
        async move {
            let mut left = EACH;
            for _ in 0..TRIES_MAX {
                let before = stored_number(&at, &key).await?;
                let new = Item {
                    key: key.clone(),
                    attributes: [("v".into(), n(before + 1))].into(),
                };
                let put = Write::Put(new, equals("v", n(before)));
                if patiently(&at, &[put]).await? == Written::Done {
                    left -= 1;
                }
                if left == 0 {
                    return Ok(());
                }
            }
            bail!("no luck in {TRIES_MAX} tries")
        }
    })
    .await?;
    let sum = stored_number(&at, &item.key).await?;
    ensure!(
        sum == TASKS * EACH,
        "{} increments left {sum}",
        TASKS * EACH
    );
    Ok(())
}

pub async fn additions_of_sixteen_tasks_are_all_counted(at: Scope) -> Result<()> {
    const EACH: i64 = 20;
    let key = at.key("p", "s");
    let (scope, sum_key) = (at.clone(), key.clone());
    let results = all_at_once(move |_| {
        let (at, key) = (scope.clone(), sum_key.clone());
        async move {
            let mut seen = Vec::new();
            for _ in 0..EACH {
                match update_patiently(&at, &key, add("v", 1), &Condition::Always).await? {
                    Updated::New(item) => seen.push(number(&item.attributes, "v")?),
                    Updated::Refused(item) => bail!("refused: {item:?}"),
                }
            }
            Ok(seen)
        }
    })
    .await?;
    let mut seen: Vec<i64> = results.into_iter().flatten().collect();
    seen.sort_unstable();
    ensure!(
        seen.into_iter().eq(1..=TASKS * EACH),
        "two updates returned the same number"
    );
    ensure!(stored_number(&at, &key).await? == TASKS * EACH);
    Ok(())
}

pub async fn a_lease_race_has_one_winner(at: Scope) -> Result<()> {
    for round in 0..10 {
        let key = at.key("p", &round.to_string());
        at.updated(&key, &[to("v", n(0))]).await?;
        let (scope, lease) = (at.clone(), key.clone());
        let results = all_at_once(move |owner| {
            let (at, key) = (scope.clone(), lease.clone());
            async move {
                let free = Condition::Lacks("owner".into());
                match update_patiently(&at, &key, to("owner", n(owner)), &free).await? {
                    Updated::New(item) => Ok((true, number(&item.attributes, "owner")? == owner)),
                    // Whoever is refused is told who has it.
                    Updated::Refused(item) => Ok((
                        false,
                        item.is_some_and(|item| item.attributes.contains_key("owner")),
                    )),
                }
            }
        })
        .await?;
        let winners = results.iter().filter(|(won, _)| *won).count();
        ensure!(winners == 1, "round {round}: {winners} winners");
        ensure!(
            results.iter().all(|(_, told)| *told),
            "round {round}: a wrong item was returned"
        );
    }
    Ok(())
}

pub async fn a_race_to_create_has_one_winner(at: Scope) -> Result<()> {
    for round in 0..10 {
        let scope = at.clone();
        let results = all_at_once(move |owner| {
            let at = scope.clone();
            async move {
                let put = |partition: &str, sort: String| {
                    Write::Put(
                        at.item([partition, &sort], [("v", n(owner))]),
                        Condition::Absent,
                    )
                };
                let own = put("own", format!("{round}-{owner}"));
                Ok(patiently(&at, &[put("p", round.to_string()), own]).await? == Written::Done)
            }
        })
        .await?;
        let winners: Vec<_> = results
            .iter()
            .enumerate()
            .filter(|(_, won)| **won)
            .collect();
        let [(winner, _)] = winners[..] else {
            bail!("round {round}: winners {winners:?}")
        };
        ensure!(stored_number(&at, &at.key("p", &round.to_string())).await? == winner as i64);
    }
    ensure!(
        at.all_of("own").await?.len() == 10,
        "a loser left half of its write"
    );
    Ok(())
}

pub async fn transfers_keep_the_sum(at: Scope) -> Result<()> {
    const ACCOUNTS: i64 = 4;
    for account in 0..ACCOUNTS {
        at.put(&at.item(["p", &account.to_string()], [("v", n(10))]))
            .await?;
    }
    let scope = at.clone();
    all_at_once(move |task| {
        let at = scope.clone();
        async move {
            for step in 0..10 {
                let (from, to) = ((task + step) % ACCOUNTS, (task + 2 * step + 1) % ACCOUNTS);
                if from == to {
                    continue;
                }
                let [from, to] = [from, to].map(|account| at.key("p", &account.to_string()));
                // Enough must be there: not below 3.
                let enough = Condition::Not(Box::new(Condition::Below("v".into(), 3)));
                let transfer = [
                    Write::Update(from, vec![add("v", -3)], enough),
                    Write::Update(to, vec![add("v", 3)], Condition::Exists),
                ];
                patiently(&at, &transfer).await?;
            }
            Ok(())
        }
    })
    .await?;
    let balances: Vec<i64> = at
        .all_of("p")
        .await?
        .iter()
        .map(|item| number(&item.attributes, "v"))
        .collect::<Result<_>>()?;
    ensure!(
        balances.iter().sum::<i64>() == ACCOUNTS * 10,
        "the sum changed: {balances:?}"
    );
    ensure!(
        balances.iter().all(|balance| *balance >= 0),
        "a condition was ignored: {balances:?}"
    );
    Ok(())
}
