//! `dormouse doctor` over data folders: sound ones, broken ones, ones in use.

use std::collections::BTreeSet;
use std::path::Path;

use dormouse_embedded::EmbeddedTable;
use dormouse_store::item::config::StoreConfig;
use dormouse_store::outbox::row::Effect;
use dormouse_store::table::scan::Scan;
use dormouse_store::table::{Attributes, Condition, Item, Key, Table, Value, Write};
use dormouse_store::{Store, Tenant};

use crate::process::{Server, folder, run};

/// Everything in the folder's table.
async fn items(table: &EmbeddedTable) -> Vec<Item> {
    let (mut items, mut cursor) = (Vec::new(), None);
    loop {
        let page = table.scan(cursor).await.unwrap();
        items.extend(page.items);
        cursor = page.cursor;
        if cursor.is_none() {
            return items;
        }
    }
}

#[test]
fn a_folder_after_work_and_a_kill_is_sound_and_one_in_use_is_refused() {
    let data = folder();
    let server = Server::start(data.path());
    for name in ["approval", "hello", "order", "daily-report"] {
        server.publish(name);
    }
    server.json(&["start", "approval", "-i", "Request=x"]);
    server.json(&["start", "hello", "-i", "Name=Ada"]);
    server.json(&["start", "order", "-i", "OrderId=o", "-i", "Amount=1"]);
    let args = ["doctor", "--data", data.path().to_str().unwrap()];
    run(args).ended(4).complains("in use");
    server.kill();
    run(args)
        .ended(0)
        .says("Nothing is wrong")
        .says("3 instances");
    run(["doctor", "--data", "/no/such/folder"])
        .ended(2)
        .complains("no data folder");
}

#[test]
fn what_is_broken_is_found_mended_and_then_gone() {
    let data = folder();
    let server = Server::start(data.path());
    server.publish("approval");
    server.publish("daily-report");
    let started = server.json(&["start", "approval", "-i", "Request=x"]);
    let id = started["workflowInstanceId"].as_str().unwrap().to_owned();
    server.kill();

    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let table = EmbeddedTable::open(data.path()).unwrap();
        let mut writes = Vec::new();
        for item in items(&table).await {
            let (partition, sort) = (&item.key.partition, &item.key.sort);
            // Both timers go: the deadline of the instance, and the cron trigger's next occurrence.
            if partition.starts_with("~/TIMER#") {
                writes.push(Write::Delete(item.key.clone(), Condition::Exists));
            }
            // The bookmark's row belongs to an instance that never was, and its own has none.
            if let Some(rest) = sort.strip_prefix(&format!("B##{id}#")) {
                writes.push(Write::Delete(item.key.clone(), Condition::Exists));
                let key = Key::new(partition.clone(), format!("B##nobody#{rest}"));
                let attributes = item.attributes.clone();
                writes.push(Write::Put(Item { key, attributes }, Condition::Absent));
            }
        }
        assert_eq!(writes.len(), 4, "{writes:?}");
        let put = |partition: &str, sort: &str, name: &str, value: Value| {
            let attributes = Attributes::from([(name.to_owned(), value)]);
            let key = Key::new(partition, sort);
            Write::Put(Item { key, attributes }, Condition::Absent)
        };
        writes.push(put(
            "default/WF#gone",
            "STATE#000000000001",
            "st",
            Value::N(1),
        ));
        let holder = Value::S("gone".into());
        writes.push(put("default/UNIQ#approval#", "HEAD", "in", holder));
        table.write(&writes).await.unwrap();
    });
    let blob = data.path().join("blobs/ab");
    std::fs::create_dir_all(&blob).unwrap();
    let blob = blob.join("cdef");
    std::fs::write(&blob, "x").unwrap();
    let yesterday = std::time::SystemTime::now() - std::time::Duration::from_secs(86_400);
    let file = std::fs::File::options().write(true).open(&blob).unwrap();
    file.set_modified(yesterday).unwrap();

    let args = ["doctor", "--json", "--data", data.path().to_str().unwrap()];
    let kinds = |report: &serde_json::Value| {
        let found = report["found"].as_array().unwrap().iter();
        let mut kinds: Vec<String> = found
            .map(|f| f["kind"].as_str().unwrap().to_owned())
            .collect();
        kinds.sort();
        kinds
    };
    let report = run(args).ended(1).json();
    let expected = [
        "blobWithoutOwner",
        "bookmarkWithoutInstance",
        "bookmarkWithoutRow",
        "claimWithoutHolder",
        "rowsWithoutInstance",
        "timerMissing",
        "timerMissing",
    ];
    assert_eq!(kinds(&report), expected, "{report:#}");
    let mended = run(args.into_iter().chain(["--fix"])).ended(0).json();
    assert_eq!(kinds(&mended), expected);
    let after = run(args).ended(0).json();
    assert_eq!(kinds(&after), Vec::<String>::new(), "{after:#}");
    assert!(!blob.exists());

    let server = Server::start(data.path());
    server.json(&["event", "Decision", "--input", "{\"approved\": true}"]);
    server.wait_for(&id, "Finished");
}

/// Changes a byte of each of these, wherever the table's file has them.
fn damage(data: &Path, parts: &[&[u8]]) {
    let file = data.join("dormouse.sqlite");
    let mut content = std::fs::read(&file).unwrap();
    for part in parts {
        let places: Vec<usize> = (0..content.len() - part.len())
            .filter(|at| content[*at..].starts_with(part))
            .collect();
        assert!(!places.is_empty(), "{part:?} is not in the file");
        for at in places {
            content[at] ^= 0xff;
        }
    }
    std::fs::write(&file, content).unwrap();
}

/// Damages the summary of an instance's head.
async fn damage_head(data: &Path, id: &str) {
    let table = EmbeddedTable::open(data).unwrap();
    let all = items(&table).await;
    drop(table);
    let is_head = |item: &&Item| item.key == Key::new(format!("default/WF#{id}"), "HEAD");
    let head = all.iter().find(is_head).unwrap();
    let Some(Value::B(summary)) = head.attributes.get("su") else {
        panic!("{head:?}")
    };
    damage(data, &[summary]);
}

#[test]
fn a_damaged_item_is_named_and_hides_nothing_else() {
    let data = folder();
    let server = Server::start(data.path());
    server.publish("approval");
    let start = || {
        let started = server.json(&["start", "approval", "-i", "Request=x"]);
        started["workflowInstanceId"].as_str().unwrap().to_owned()
    };
    let ids = [start(), start(), start()];
    server.kill();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let table = EmbeddedTable::open(data.path()).unwrap();
        let timers = items(&table).await.into_iter().map(|item| item.key);
        let timers = timers.filter(|key| key.partition.starts_with("~/TIMER#"));
        let deletes: Vec<_> = timers
            .map(|key| Write::Delete(key, Condition::Exists))
            .collect();
        assert_eq!(deletes.len(), 3, "{deletes:?}");
        table.write(&deletes).await.unwrap();
        drop(table);
        damage_head(data.path(), &ids[1]).await;
    });

    let args = ["doctor", "--json", "--data", data.path().to_str().unwrap()];
    let found = |report: &serde_json::Value| {
        let found = report["found"].as_array().unwrap().iter();
        let mut found: Vec<_> = found
            .map(|f| (f["kind"].clone(), f["isRepaired"].clone()))
            .map(|(kind, is_repaired)| format!("{kind} {is_repaired}").replace('"', ""))
            .collect();
        found.sort();
        found
    };
    let report = run(args).ended(6).json();
    let expected = ["damaged false", "timerMissing false", "timerMissing false"];
    assert_eq!(found(&report), expected, "{report:#}");
    assert!(report.to_string().contains(&ids[1]), "{report:#}");
    let mended = run(args.into_iter().chain(["--fix"])).ended(6).json();
    let expected = ["damaged false", "timerMissing true", "timerMissing true"];
    assert_eq!(found(&mended), expected, "{mended:#}");
    let after = run(args).ended(6).json();
    assert_eq!(found(&after), ["damaged false"], "{after:#}");
    assert_eq!(
        after["items"].as_u64(),
        report["items"].as_u64().map(|n| n + 2)
    );

    let server = Server::start(data.path());
    let listed = server.json(&["list", "--limit", "1000"]);
    let listed = listed["items"].as_array().unwrap().iter();
    let listed: BTreeSet<_> = listed.map(|one| one["id"].as_str().unwrap()).collect();
    let is_listed = ids.each_ref().map(|id| listed.contains(id.as_str()));
    assert_eq!(is_listed, [true, false, true]);
    // Lists of other indexes read the heads.
    let suspended = server.json(&["list", "--status", "suspended"]);
    assert_eq!(suspended["items"].as_array().unwrap().len(), 2);
}

#[test]
fn a_damaged_timer_and_a_damaged_effect_delay_no_other_one() {
    let data = folder();
    let server = Server::start(data.path());
    server.publish("hello");
    let started = server.json(&["start", "hello"]);
    let waiting = started["workflowInstanceId"].as_str().unwrap().to_owned();
    server.kill();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let rows = runtime.block_on(async {
        let table = EmbeddedTable::open(data.path()).unwrap();
        let mark = |number: u8| Value::B(vec![0xa0 + number; 40].into());
        // The first of each shard: due before all others.
        let kinds = [(0, "TIMER"), (1, "OUTBOX"), (2, "CHAIN")];
        let rows = kinds.map(|(number, kind)| {
            let row = move |shard: u8| {
                let attributes = Attributes::from([("bo".to_owned(), mark(number * 16 + shard))]);
                let key = Key::new(format!("~/{kind}#{shard:02}"), "0000000000001#default#x");
                Write::Put(Item { key, attributes }, Condition::Absent)
            };
            (0..16).map(row).collect::<Vec<_>>()
        });
        table.write(&rows.concat()).await.unwrap();
        rows.concat().len()
    });
    let marks: Vec<_> = (0..48_u8).map(|number| vec![0xa0 + number; 40]).collect();
    let marks: Vec<_> = marks.iter().map(Vec::as_slice).collect();
    damage(data.path(), &marks);

    let server = Server::start(data.path());
    server.wait_for(&waiting, "Finished");
    // Timers of all tenants are listed, with and without the damaged ones.
    server.json(&["schedules", "timers"]);
    server.json(&["schedules", "list"]);
    server.kill();
    runtime.block_on(async {
        let table = std::sync::Arc::new(EmbeddedTable::open(data.path()).unwrap());
        let store = Store::new(table, StoreConfig::embedded());
        let (id, body) = ("kept".into(), vec![0].into());
        let effect = [Effect { id, body }];
        let outbox = store.outbox();
        outbox
            .put(&Tenant::default(), "x", 2, &effect)
            .await
            .unwrap();
        let mut kept = 0;
        for shard in 0..outbox.shards() {
            let page = outbox.list(shard, 3, 10, None).await.unwrap();
            kept += page.rows.len();
        }
        assert_eq!(kept, 1);
    });
    let args = ["doctor", "--json", "--data", data.path().to_str().unwrap()];
    let report = run(args).ended(6).json();
    let found = report["found"].as_array().unwrap().iter();
    assert_eq!(found.filter(|f| f["kind"] == "damaged").count(), rows);
}

#[test]
fn a_folder_without_its_table_is_refused_and_a_new_one_is_not() {
    let data = folder();
    let place = data.path().to_str().unwrap();
    Server::start(data.path()).kill();
    for name in [
        "dormouse.sqlite",
        "dormouse.sqlite-wal",
        "dormouse.sqlite-shm",
    ] {
        let _missing = std::fs::remove_file(data.path().join(name));
    }
    for empty in [false, true] {
        if empty {
            std::fs::write(data.path().join("dormouse.sqlite"), "").unwrap();
        }
        for command in [&["doctor"][..], &["serve", "--port", "0"]] {
            run([command, &["--data", place]].concat())
                .ended(6)
                .complains("secrets.key shows that")
                .complains("restore a backup");
        }
    }
    // Keys that were made in advance are no sign of a table.
    for name in ["dormouse.sqlite", "lock", "cli-key"] {
        std::fs::remove_file(data.path().join(name)).unwrap();
    }
    Server::start(data.path());
}
