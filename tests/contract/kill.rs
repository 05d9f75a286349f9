//! A process that is killed with -9 under load loses nothing that its table acknowledged.
//!
//! The test starts itself once more as the process to be killed: the child writes, and prints each write once it
//! is acknowledged; the parent kills it, opens the folder and compares.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use anyhow::{Context as _, Result, ensure};
use dormouse_embedded::EmbeddedTable;
use dormouse_store::table::{
    Change, Condition, Durability, Item, Key, Table, Updated, Value, Write, Written,
};

/// The folder, for the child.
const FOLDER: &str = "DORMOUSE_TEST_KILL_FOLDER";
const TASKS: i64 = 16;
const ROUNDS: usize = 6;

#[test]
fn nothing_acknowledged_is_missing_after_kill_9() -> Result<()> {
    if let Some(folder) = std::env::var_os(FOLDER) {
        return write_until_killed(Path::new(&folder));
    }
    let folder = tempfile::tempdir()?;
    let mut acknowledged = BTreeMap::new();
    for round in 0..ROUNDS {
        // Some rounds end within the first writes, some after the log was moved.
        run_and_kill(folder.path(), 20 << (2 * round), &mut acknowledged)?;
        check(folder.path(), &acknowledged).with_context(|| format!("round {round}"))?;
    }
    Ok(())
}

/// Runs the child until it has printed so many lines, and kills it.
fn run_and_kill(folder: &Path, lines: usize, acknowledged: &mut BTreeMap<i64, i64>) -> Result<()> {
    let mut child = Command::new(std::env::current_exe()?)
        .args([
            "--exact",
            "contract::kill::nothing_acknowledged_is_missing_after_kill_9",
            "--nocapture",
        ])
        .env(FOLDER, folder)
        .stdout(Stdio::piped())
        .spawn()?;
    let output = BufReader::new(child.stdout.take().context("no output")?);
    let mut seen = 0;
    // What the child has printed before its end is acknowledged too, so all of the output is read.
    for line in output.lines() {
        let line = line?;
        let Some((task, step)) = line
            .strip_prefix("did ")
            .and_then(|did| did.split_once(' '))
        else {
            continue;
        };
        acknowledged.insert(task.parse()?, step.parse()?);
        seen += 1;
        if seen == lines {
            child.kill()?;
        }
    }
    child.wait()?;
    ensure!(
        seen >= lines,
        "the child ended by itself after {seen} lines"
    );
    Ok(())
}

/// Every acknowledged step must be there, the one in flight may be, and each is there whole.
fn check(folder: &Path, acknowledged: &BTreeMap<i64, i64>) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    runtime.block_on(async {
        let table = EmbeddedTable::open(folder)?;
        for (task, step) in acknowledged {
            let head = table.get(&head(*task)).await?.context("no head")?;
            let found = number(&head, "step");
            ensure!(
                found == *step || found == step + 1,
                "task {task} was told {step} and finds {found}"
            );
            let row = table.get(&row_key(*task, found)).await?;
            ensure!(row.is_some(), "task {task}: half of step {found}");
            let previous = table.get(&row_key(*task, found - 1)).await?;
            ensure!(
                previous.is_none(),
                "task {task}: step {} is left over",
                found - 1
            );
            ensure!(
                number(&head, "leases") >= found,
                "task {task}: a lease is lost, its commit not"
            );
        }
        Ok(())
    })
}

/// Leases and commits, as the engine makes them, in sixteen tasks at once.
fn write_until_killed(folder: &Path) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .build()?;
    runtime.block_on(async {
        let table = Arc::new(EmbeddedTable::open(folder)?);
        let tasks = (0..TASKS).map(|task| tokio::spawn(write_on(Arc::clone(&table), task)));
        for task in tasks.collect::<Vec<_>>() {
            task.await??;
        }
        Ok(())
    })
}

async fn write_on(table: Arc<EmbeddedTable>, task: i64) -> Result<()> {
    loop {
        let lease = [Change::Add("leases".into(), 1)];
        let taken = table
            .update(&head(task), &lease, &Condition::Always, Durability::Ordered)
            .await?;
        let Updated::New(item) = taken else { continue };
        let step = number(&item, "step") + 1;
        let written = table
            .write(&[
                Write::Update(
                    head(task),
                    vec![Change::Add("step".into(), 1)],
                    Condition::Equals("leases".into(), Value::N(number(&item, "leases"))),
                ),
                Write::Delete(row_key(task, step - 1), Condition::Always),
                Write::Put(
                    Item {
                        key: row_key(task, step),
                        attributes: [("blob".into(), Value::B(vec![7; 1_000].into()))].into(),
                    },
                    Condition::Absent,
                ),
            ])
            .await?;
        ensure!(written == Written::Done, "{written:?}");
        println!("did {task} {step}");
    }
}

fn head(task: i64) -> Key {
    Key::new(format!("task{task}"), "HEAD")
}

fn row_key(task: i64, step: i64) -> Key {
    Key::new(format!("task{task}"), format!("row{step}"))
}

fn number(item: &Item, name: &str) -> i64 {
    match item.attributes.get(name) {
        Some(Value::N(number)) => *number,
        _ => 0,
    }
}
