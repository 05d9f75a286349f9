//! A data folder that cannot be used says so in a sentence, and what was acknowledged before stays.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result, bail, ensure};
use dormouse_embedded::{EmbeddedTable, Options};
use dormouse_store::table::{
    Condition, Index, Item, Key, Query, Table, TableError, Value, Write, Written,
};

fn item(sort: &str, blob: &[u8]) -> Item {
    let attributes = [("blob".to_owned(), Value::B(blob.to_vec().into()))].into();
    Item {
        key: Key::new("p", sort),
        attributes,
    }
}

fn put(item: Item) -> [Write; 1] {
    [Write::Put(item, Condition::Always)]
}

/// The sentence of a folder that must not open.
fn why_unusable(folder: &Path) -> Result<String> {
    match EmbeddedTable::open(folder) {
        Ok(_) => bail!("it opened"),
        Err(error @ (TableError::InUse(_) | TableError::Unusable(..))) => Ok(error.to_string()),
        Err(error) => bail!("another error: {error:?}"),
    }
}

fn ensure_says(sentence: &str, parts: &[&str]) -> Result<()> {
    for part in parts {
        ensure!(sentence.contains(part), "`{sentence}` should say `{part}`");
    }
    Ok(())
}

/// A folder with one item in its table.
async fn with_an_item(blob: &[u8]) -> Result<tempfile::TempDir> {
    let folder = tempfile::tempdir()?;
    let table = EmbeddedTable::open(folder.path())?;
    table.write(&put(item("a", blob))).await?;
    Ok(folder)
}

/// Changes the table's file where the bytes are found, or at the place.
fn damage(folder: &Path, place: impl Fn(&[u8]) -> Option<usize>, bytes: &[u8]) -> Result<()> {
    let path = folder.join("dormouse.sqlite");
    let mut content = std::fs::read(&path)?;
    let place = place(&content).context("nothing to damage")?;
    content[place..place + bytes.len()].copy_from_slice(bytes);
    std::fs::write(path, content)?;
    Ok(())
}

#[tokio::test]
async fn a_missing_folder_is_created_with_its_parents() -> Result<()> {
    let parent = tempfile::tempdir()?;
    let folder = parent.path().join("a/b/c");
    let table = EmbeddedTable::open(&folder)?;
    table.write(&put(item("a", b"1"))).await?;
    drop(table);
    let table = EmbeddedTable::open(&folder)?;
    ensure!(table.get(&Key::new("p", "a")).await? == Some(item("a", b"1")));
    Ok(())
}

#[tokio::test]
async fn a_folder_in_use_is_refused_until_it_is_free() -> Result<()> {
    let folder = with_an_item(b"1").await?;
    let first = EmbeddedTable::open(folder.path())?;
    let sentence = why_unusable(folder.path())?;
    let name = folder.path().display().to_string();
    ensure_says(
        &sentence,
        &[&name, "in use by another process", "choose another folder"],
    )?;
    drop(first);
    let second = EmbeddedTable::open(folder.path())?;
    ensure!(second.get(&Key::new("p", "a")).await?.is_some());
    Ok(())
}

#[test]
fn a_folder_that_is_a_file_is_refused() -> Result<()> {
    let parent = tempfile::tempdir()?;
    let file = parent.path().join("file");
    std::fs::write(&file, "not a folder")?;
    for folder in [file.clone(), file.join("below")] {
        let sentence = why_unusable(&folder)?;
        ensure_says(
            &sentence,
            &[&folder.display().to_string(), "choose another folder"],
        )?;
    }
    ensure!(std::fs::read_to_string(&file)? == "not a folder");
    Ok(())
}

#[cfg(target_os = "linux")]
#[test]
fn a_folder_that_may_not_be_written_is_refused() -> Result<()> {
    // Nobody may create anything there, not even root, as whom tests run in containers.
    let sentence = why_unusable(Path::new("/sys/kernel/dormouse"))?;
    ensure_says(&sentence, &["/sys/kernel/dormouse", "the right to write"])
}

#[test]
fn a_file_that_is_no_table_is_refused_and_left_alone() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("dormouse.sqlite");
    let content = "somebody's notes\n".repeat(500);
    std::fs::write(&path, &content)?;
    let sentence = why_unusable(folder.path())?;
    let path_name = path.display().to_string();
    ensure_says(
        &sentence,
        &[
            &path_name,
            "damaged",
            "restore the data folder from a backup",
        ],
    )?;
    ensure!(
        std::fs::read_to_string(&path)? == content,
        "the file was changed"
    );
    Ok(())
}

#[tokio::test]
async fn another_programs_database_is_refused() -> Result<()> {
    let folder = with_an_item(b"1").await?;
    damage(folder.path(), |_| Some(68), &[0, 0, 0, 9])?;
    ensure_says(&why_unusable(folder.path())?, &["another program's tables"])
}

#[tokio::test]
async fn a_newer_format_is_refused_with_its_number() -> Result<()> {
    let folder = with_an_item(b"1").await?;
    damage(folder.path(), |_| Some(60), &[0, 0, 0, 7])?;
    ensure_says(
        &why_unusable(folder.path())?,
        &["format 7", "use a newer version"],
    )
}

#[tokio::test]
async fn a_damaged_item_is_an_error_and_the_others_are_not() -> Result<()> {
    let folder = with_an_item(b"a blob to be found in the file").await?;
    let table = EmbeddedTable::open(folder.path())?;
    table.write(&put(item("b", b"another one"))).await?;
    drop(table);
    let find = |content: &[u8]| content.windows(9).position(|bytes| bytes == b"to be fou");
    damage(folder.path(), find, b"#")?;
    let table = EmbeddedTable::open(folder.path())?;
    let damaged = table.get(&Key::new("p", "a")).await;
    let Err(TableError::Unusable(sentence, _)) = damaged else {
        bail!("{damaged:?}")
    };
    ensure_says(&sentence, &["damaged", "the item p a", "backup"])?;
    let page = table.query(&Query::prefix("p", "")).await;
    ensure!(matches!(page, Err(TableError::Unusable(..))), "{page:?}");
    let check = Write::Check(Key::new("p", "a"), Condition::Exists);
    let written = table.write(&[check]).await;
    ensure!(
        matches!(written, Err(TableError::Unusable(..))),
        "{written:?}"
    );
    ensure!(table.get(&Key::new("p", "b")).await? == Some(item("b", b"another one")));
    ensure!(table.write(&put(item("c", b"new"))).await? == Written::Done);
    Ok(())
}

#[tokio::test]
async fn a_file_cut_short_is_an_error_not_a_panic() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let table = EmbeddedTable::open(folder.path())?;
    for number in 0..200 {
        table
            .write(&put(item(&format!("{number:03}"), &[7; 2_000])))
            .await?;
    }
    drop(table);
    let path = folder.path().join("dormouse.sqlite");
    let length = path.metadata()?.len();
    std::fs::OpenOptions::new()
        .write(true)
        .open(&path)?
        .set_len(length / 2)?;
    let Ok(table) = EmbeddedTable::open(folder.path()) else {
        return Ok(());
    };
    let mut failed = 0;
    for number in 0..200 {
        match table.get(&Key::new("p", format!("{number:03}"))).await {
            Ok(Some(found)) => ensure!(found == item(&format!("{number:03}"), &[7; 2_000])),
            Ok(None) => bail!("item {number} is silently missing"),
            Err(TableError::Unusable(..)) => failed += 1,
            Err(error) => bail!("item {number}: {error:?}"),
        }
    }
    ensure!(
        failed > 50,
        "only {failed} items noticed that half of the file is gone"
    );
    Ok(())
}

#[tokio::test]
async fn a_full_disk_refuses_writes_until_there_is_room() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let options = Options {
        size_bytes_max: Some(400_000),
    };
    let table = EmbeddedTable::open_with(folder.path(), options)?;
    let mut stored = 0;
    let error = loop {
        match table
            .write(&put(item(&format!("{stored:03}"), &[7; 5_000])))
            .await
        {
            Ok(_) => stored += 1,
            Err(error) => break error,
        }
    };
    ensure!(matches!(error, TableError::Full(_)), "{error:?}");
    ensure!(error.to_string().contains("free some space"), "{error}");
    ensure!(
        (50..100).contains(&stored),
        "{stored} items before it was full"
    );
    // All is there, and reads work.
    ensure!(table.query(&Query::prefix("p", "")).await?.items.len() == stored);
    // A write of several that does not fit happens not at all.
    let two = [put(item("zz1", &[7; 5_000])), put(item("zz2", &[7; 9_000]))].concat();
    ensure!(table.write(&two).await.is_err() && table.get(&Key::new("p", "zz1")).await?.is_none());
    // Room is made, and used.
    for number in 0..10 {
        let key = Key::new("p", format!("{number:03}"));
        table
            .write(&[Write::Delete(key, Condition::Exists)])
            .await?;
    }
    ensure!(table.write(&two).await? == Written::Done);
    drop(table);
    let table = EmbeddedTable::open(folder.path())?;
    ensure!(table.query(&Query::prefix("p", "")).await?.items.len() == stored - 8);
    Ok(())
}

#[tokio::test]
async fn a_sweep_deletes_what_is_past_its_time_and_nothing_else() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let table = EmbeddedTable::open(folder.path())?;
    let timed = |number: i64| {
        let mut item = item(&format!("{number:03}"), b"x");
        item.attributes.insert("ttl".into(), Value::N(number));
        item.attributes
            .insert("g2p".into(), Value::S("list".into()));
        item.attributes
            .insert("g2s".into(), Value::S(format!("{number:03}")));
        item
    };
    for number in 0..350 {
        table.write(&put(timed(number))).await?;
    }
    table.write(&put(item("lasting", b"x"))).await?;
    // An item may get another time to live, or lose it.
    let mut lasting = timed(5);
    lasting.attributes.remove("ttl");
    table.write(&put(lasting)).await?;
    ensure!(table.sweep_expired(300).await? == 299);
    ensure!(table.sweep_expired(300).await? == 0);
    let left = table.query(&Query::prefix("p", "")).await?.items;
    ensure!(
        left.len() == 52 && left[0].key.sort == "005",
        "{} left",
        left.len()
    );
    let listed = Query {
        index: Some(Index::Two),
        ..Query::prefix("list", "")
    };
    ensure!(table.query(&listed).await?.items.len() == 51);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn closing_answers_every_write_first() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let table = Arc::new(EmbeddedTable::open(folder.path())?);
    let write = |number: usize| {
        let table = Arc::clone(&table);
        tokio::spawn(async move { table.write(&put(item(&format!("{number:03}"), b"x"))).await })
    };
    let writes: Vec<_> = (0..300).map(write).collect();
    drop(table);
    for write in writes {
        ensure!(write.await?? == Written::Done);
    }
    // The last task has dropped the table; what it was about is in the file.
    let table = EmbeddedTable::open(folder.path())?;
    ensure!(table.query(&Query::prefix("p", "")).await?.items.len() == 300);
    Ok(())
}
