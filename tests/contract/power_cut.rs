//! A power cut loses nothing that was acknowledged as durable, and what else it takes, it takes from the end.
//!
//! The files are copied at a moment when all is acknowledged, and once more after further writes. From both copies
//! the states are made that a power cut in between could leave: blocks of the log that were not yet fsynced are
//! kept, lost, or torn, in many mixes. Each state must open, and must hold all that was acknowledged at the first
//! moment and a beginning of what came after.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result, ensure};
use dormouse_embedded::EmbeddedTable;
use dormouse_store::table::{
    Change, Condition, Durability, Item, Key, Query, Table, Updated, Value, Write, Written,
};

const FILE: &str = "dormouse.sqlite";
const LOG: &str = "dormouse.sqlite-wal";
/// What a disk writes whole or not at all.
const SECTOR_BYTES: usize = 512;
const CUTS: u64 = 150;

#[tokio::test]
async fn a_power_cut_takes_only_what_was_not_acknowledged() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let table = EmbeddedTable::open(folder.path())?;
    cut_everywhere(folder.path(), &table).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_power_cut_of_a_log_begun_anew_takes_no_more() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let table = Arc::new(EmbeddedTable::open(folder.path())?);
    // So many changes that the log is moved into the file: the next commit overwrites it from the start.
    for _ in 0..40 {
        let together: Vec<_> = (0..256)
            .map(|_| tokio::spawn(count_up(Arc::clone(&table))))
            .collect();
        for task in together {
            task.await??;
        }
    }
    cut_everywhere(folder.path(), &table).await
}

async fn count_up(table: Arc<EmbeddedTable>) -> Result<()> {
    let (key, changes) = (Key::new("elsewhere", "count"), [Change::Add("v".into(), 1)]);
    table
        .update(&key, &changes, &Condition::Always, Durability::Ordered)
        .await?;
    Ok(())
}

async fn cut_everywhere(folder: &Path, table: &EmbeddedTable) -> Result<()> {
    let mut step = 0;
    write_some(table, &mut step, 40).await?;
    let (file, synced) = copy(folder)?;
    let acknowledged = step;
    write_some(table, &mut step, 40).await?;
    let (file_then, written) = copy(folder)?;
    ensure!(
        file == file_then,
        "the log was moved in between: write less"
    );
    ensure!(synced != written, "nothing to lose");

    let mut shortest = i64::MAX;
    for seed in 0..CUTS {
        let cut = tempfile::tempdir()?;
        std::fs::write(cut.path().join(FILE), &file)?;
        std::fs::write(cut.path().join(LOG), log_after_cut(&synced, &written, seed))?;
        let found = last_step(cut.path())
            .await
            .with_context(|| format!("cut {seed}"))?;
        ensure!(
            (acknowledged..=step).contains(&found),
            "cut {seed}: {found} of {acknowledged}"
        );
        shortest = shortest.min(found);
    }
    ensure!(
        shortest < step,
        "no cut took anything: the test proves nothing"
    );
    Ok(())
}

/// The log as a cut may leave it: of what was not synced, each sector is new, or as it was before.
fn log_after_cut(synced: &[u8], written: &[u8], seed: u64) -> Vec<u8> {
    let mut log = written.to_vec();
    let mut random = Random(seed);
    // From all lost to nearly all kept.
    let kept_per_mille = [0, 500, 900, 990, 999][seed as usize % 5];
    let before = synced.iter().copied().chain(std::iter::repeat(0));
    let before: Vec<u8> = before.take(log.len()).collect();
    for (sector, before) in log
        .chunks_mut(SECTOR_BYTES)
        .zip(before.chunks(SECTOR_BYTES))
    {
        if random.next() % 1_000 >= kept_per_mille {
            sector.copy_from_slice(before);
        }
    }
    // The file may be shorter than what was written to it, too.
    let more = written.len() - synced.len();
    if seed.is_multiple_of(3) && more > 0 {
        log.truncate(synced.len() + random.next() as usize % more);
    }
    log
}

/// Steps as leases and commits: an `Ordered` update, then a durable write that depends on it.
async fn write_some(table: &EmbeddedTable, step: &mut i64, count: i64) -> Result<()> {
    for _ in 0..count {
        *step += 1;
        let lease = [Change::Set("lease".into(), Value::N(*step))];
        let key = Key::new("p", "HEAD");
        table
            .update(&key, &lease, &Condition::Always, Durability::Ordered)
            .await?;
        let row = Item {
            key: Key::new("rows", format!("{step:06}")),
            attributes: [("blob".into(), Value::B(vec![*step as u8; 700].into()))].into(),
        };
        let holds = Condition::Equals("lease".into(), Value::N(*step));
        let head = Write::Update(
            key,
            vec![Change::Set("step".into(), Value::N(*step))],
            holds,
        );
        let written = table
            .write(&[head, Write::Put(row, Condition::Absent)])
            .await?;
        ensure!(written == Written::Done, "{written:?}");
    }
    Ok(())
}

/// Opens what the cut left, checks that it is a beginning, and gives its last step.
async fn last_step(folder: &Path) -> Result<i64> {
    let table = EmbeddedTable::open(folder)?;
    let head = table
        .get(&Key::new("p", "HEAD"))
        .await?
        .context("no head")?;
    let [lease, step] = ["lease", "step"].map(|name| match head.attributes.get(name) {
        Some(Value::N(number)) => *number,
        _ => 0,
    });
    ensure!(
        lease == step || lease == step + 1,
        "lease {lease} and step {step}"
    );
    let rows = table.query(&Query::prefix("rows", "")).await?.items;
    ensure!(
        rows.len() as i64 == step,
        "{} rows of {step} steps",
        rows.len()
    );
    // And it works.
    let change = [Change::Add("step".into(), 0)];
    let after = table
        .update(&head.key, &change, &Condition::Exists, Durability::Durable)
        .await?;
    ensure!(matches!(after, Updated::New(_)), "{after:?}");
    Ok(step)
}

fn copy(folder: &Path) -> Result<(Vec<u8>, Vec<u8>)> {
    Ok((
        std::fs::read(folder.join(FILE))?,
        std::fs::read(folder.join(LOG))?,
    ))
}

/// `SplitMix64`.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}
