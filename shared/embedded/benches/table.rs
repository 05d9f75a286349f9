//! How fast the embedded table is, beside what the disk can do at that moment:
//! `cargo bench -p dormouse-embedded --bench table`.
//!
//! A pair is what every resume costs: a lease is taken (an `Ordered` update that returns a head of 2 KB), then
//! committed (head, one bookmark gone, one new, in one atomic write). Disks of shared machines swing, so read the
//! ratios: each line has the disk's own rate of append + fdatasync, measured just before.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a bench prints, and may stop at once"
)]

use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use dormouse_embedded::EmbeddedTable;
use dormouse_store::table::{
    Change, Condition, Durability, Item, Key, Query, Table, Updated, Value, Write, Written,
};

const INSTANCES: u64 = 10_000;
const LOAD: Duration = Duration::from_secs(3);

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .build()
        .unwrap();
    let folder = tempfile::tempdir_in(std::env::current_dir().unwrap()).unwrap();
    runtime.block_on(pairs(folder.path()));
    runtime.block_on(reads(folder.path()));
    runtime.block_on(start(folder.path()));
}

async fn pairs(folder: &Path) {
    let table = Arc::new(EmbeddedTable::open(&folder.join("pairs")).unwrap());
    for instance in 0..INSTANCES {
        let put = Write::Put(head(instance), Condition::Always);
        let bookmark = Write::Put(bookmark(instance, 0), Condition::Always);
        // Made without waiting one by one: this is not what is measured.
        if instance % 200 == 199 {
            table.write(&[put, bookmark]).await.unwrap();
        } else {
            let table = Arc::clone(&table);
            tokio::spawn(async move { table.write(&[put, bookmark]).await.unwrap() });
        }
    }
    println!(
        "{:<10} {:>5} {:>10} {:>9} {:>9} {:>9} {:>12} {:>13} {:>12}",
        "lease",
        "tasks",
        "pairs/s",
        "p50 ms",
        "p99 ms",
        "max ms",
        "disk fsync/s",
        "pairs/fsync",
        "p99/fsync"
    );
    let mut round = 0;
    for durability in [Durability::Ordered, Durability::Durable] {
        for tasks in [1, 16, 64] {
            let disk = fsyncs_per_s(folder);
            round += 1;
            let mut took = load(&table, durability, tasks, round).await;
            took.sort_unstable();
            let rate = took.len() as f64 / LOAD.as_secs_f64();
            let ms = |share: f64| {
                let place = (took.len() as f64 * share) as usize;
                took[place.min(took.len() - 1)].as_secs_f64() * 1e3
            };
            println!(
                "{:<10} {tasks:>5} {rate:>10.0} {:>9.2} {:>9.2} {:>9.2} {disk:>12.0} {:>13.2} {:>12.2}",
                format!("{durability:?}"),
                ms(0.5),
                ms(0.99),
                ms(1.0),
                rate / disk,
                ms(0.99) * disk / 1e3,
            );
        }
    }
}

/// Runs pairs in so many tasks for a while; how long each pair took.
async fn load(
    table: &Arc<EmbeddedTable>,
    durability: Durability,
    tasks: u64,
    round: u64,
) -> Vec<Duration> {
    let end = Instant::now() + LOAD;
    let spawn = |task| {
        let table = Arc::clone(table);
        tokio::spawn(async move {
            let mut took = Vec::new();
            let mut random = task + 1;
            while Instant::now() < end {
                random = next(random);
                // Each task has instances of its own.
                let instance = random % (INSTANCES / tasks) * tasks + task;
                let begin = Instant::now();
                pair(&table, durability, instance, round << 32 | random >> 32).await;
                took.push(begin.elapsed());
            }
            took
        })
    };
    let mut took = Vec::new();
    for task in (0..tasks).map(spawn).collect::<Vec<_>>() {
        took.extend(task.await.unwrap());
    }
    took
}

async fn pair(table: &EmbeddedTable, durability: Durability, instance: u64, unique: u64) {
    let key = head(instance).key;
    let free = Condition::All(vec![
        Condition::Exists,
        Condition::Any(vec![
            Condition::Lacks("lu".into()),
            Condition::Below("lu".into(), 1),
        ]),
    ]);
    let take = [
        Change::Set("lu".into(), Value::N(9)),
        Change::Add("fence".into(), 1),
    ];
    let taken = table.update(&key, &take, &free, durability).await.unwrap();
    let Updated::New(head) = taken else { return };
    let [fence, waits] = ["fence", "waits"].map(|name| number(&head, name));
    let commit = [
        Write::Update(
            key,
            vec![
                Change::Remove("lu".into()),
                Change::Set("st".into(), state(unique)),
                Change::Set("waits".into(), Value::N(unique as i64)),
            ],
            Condition::Equals("fence".into(), Value::N(fence)),
        ),
        Write::Delete(bookmark(instance, waits as u64).key, Condition::Exists),
        Write::Put(bookmark(instance, unique), Condition::Absent),
    ];
    assert_eq!(table.write(&commit).await.unwrap(), Written::Done);
}

async fn reads(folder: &Path) {
    let table = EmbeddedTable::open(&folder.join("pairs")).unwrap();
    let (mut random, count) = (1, 50_000);
    let begin = Instant::now();
    for _ in 0..count {
        random = next(random);
        assert!(
            table
                .get(&head(random % INSTANCES).key)
                .await
                .unwrap()
                .is_some()
        );
    }
    let get = begin.elapsed() / count;
    let begin = Instant::now();
    for _ in 0..count {
        random = next(random);
        let query = Query::prefix(format!("default/STIM#{}", random % INSTANCES), "B#");
        assert!(!table.query(&query).await.unwrap().items.is_empty());
    }
    println!(
        "\nget {get:?}, query of one bookmark {:?}",
        begin.elapsed() / count
    );
}

async fn start(folder: &Path) {
    let folder = folder.join("start");
    let begin = Instant::now();
    drop(EmbeddedTable::open(&folder).unwrap());
    println!("open and close an empty folder: {:?}", begin.elapsed());
    let table = EmbeddedTable::open(&folder).unwrap();
    for hundred in 0..1_000 {
        let put = |number: u64| Write::Put(head(hundred * 100 + number), Condition::Absent);
        let puts: Vec<_> = (0..100).map(put).collect();
        table.write(&puts).await.unwrap();
    }
    drop(table);
    let begin = Instant::now();
    let table = EmbeddedTable::open(&folder).unwrap();
    let found = table.get(&head(4_711).key).await.unwrap();
    println!(
        "open with 100,000 items, and get one: {:?}",
        begin.elapsed()
    );
    assert!(found.is_some());
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    if let Some(memory) = status.lines().find(|line| line.starts_with("VmRSS")) {
        println!(
            "memory then: {}",
            memory.trim_start_matches("VmRSS:").trim()
        );
    }
}

/// How often a second the disk takes 4 KB and an fdatasync, with nobody else asking.
fn fsyncs_per_s(folder: &Path) -> f64 {
    let mut file = File::create(folder.join("fsync")).unwrap();
    let begin = Instant::now();
    let mut count = 0;
    while begin.elapsed() < Duration::from_millis(500) {
        file.write_all(&[7; 4_096]).unwrap();
        file.sync_data().unwrap();
        count += 1;
    }
    f64::from(count) / begin.elapsed().as_secs_f64()
}

fn head(instance: u64) -> Item {
    let texts = [
        ("g1p", "default/L#3".to_owned()),
        ("g1s", format!("2026-11-21T{instance:012}")),
    ];
    let texts = texts.map(|(name, text)| (name.to_owned(), Value::S(text)));
    let mut attributes: dormouse_store::table::Attributes = texts.into();
    attributes.insert("st".into(), state(instance));
    attributes.insert("fence".into(), Value::N(0));
    attributes.insert("waits".into(), Value::N(0));
    Item {
        key: Key::new(format!("default/WF#{:032x}", mixed(instance)), "HEAD"),
        attributes,
    }
}

fn bookmark(instance: u64, unique: u64) -> Item {
    let key = Key::new(
        format!("default/STIM#{instance}"),
        format!("B#{instance}#{unique}"),
    );
    Item {
        key,
        attributes: [("m".into(), Value::B(vec![1; 100].into()))].into(),
    }
}

/// 2 KB that no compression could shrink.
fn state(seed: u64) -> Value {
    let mut bytes = Vec::with_capacity(2_048);
    let mut random = seed;
    while bytes.len() < 2_000 {
        random = next(random);
        bytes.extend_from_slice(&random.to_le_bytes());
    }
    Value::B(bytes.into())
}

fn number(item: &Item, name: &str) -> i64 {
    match item.attributes.get(name) {
        Some(Value::N(number)) => *number,
        other => unreachable!("{name} is {other:?}"),
    }
}

/// Spreads numbers as random ids are spread.
fn mixed(number: u64) -> u128 {
    u128::from(next(number)) << 64 | u128::from(next(next(number)))
}

/// SplitMix64.
fn next(state: u64) -> u64 {
    let mut mixed = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}
