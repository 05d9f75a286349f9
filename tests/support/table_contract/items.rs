//! Promises about single items: what is put is what is read, byte for byte, within the limits of size.

#![expect(missing_docs, reason = "the name of a promise is its sentence")]

use anyhow::{Result, ensure};
use dormouse_store::table::limits::{ITEM_BYTES_MAX, KEY_BYTES_MAX};
use dormouse_store::table::{Condition, Durability, Item, Key, Write};

use super::scope::{Scope, b, ensure_invalid, ensure_too_large, n, s, set, to};

pub async fn an_absent_key_has_no_item(at: Scope) -> Result<()> {
    let found = at.get(&at.key("nowhere", "nothing")).await?;
    ensure!(found.is_none(), "{found:?}");
    Ok(())
}

pub async fn a_put_item_is_read_back_whole(at: Scope) -> Result<()> {
    let item = at.item(
        ["p", "s"],
        [
            ("text", s("a text")),
            ("zero", n(0)),
            ("least", n(i64::MIN)),
            ("most", n(i64::MAX)),
            ("bytes", b(*b"\x00\xff")),
            ("set", set(&["b", "a"])),
        ],
    );
    at.put(&item).await?;
    let found = at.get(&item.key).await?;
    ensure!(found.as_ref() == Some(&item), "{found:?}");
    Ok(())
}

pub async fn a_put_replaces_the_whole_item(at: Scope) -> Result<()> {
    at.put(&at.item(["p", "s"], [("old", n(1)), ("both", n(1))]))
        .await?;
    let item = at.item(["p", "s"], [("new", n(2)), ("both", n(2))]);
    at.put(&item).await?;
    let found = at.get(&item.key).await?;
    ensure!(found.as_ref() == Some(&item), "{found:?}");
    Ok(())
}

pub async fn equal_sort_keys_in_two_partitions_are_two_items(at: Scope) -> Result<()> {
    let left = at.item(["left", "s"], [("v", n(1))]);
    let right = at.item(["right", "s"], [("v", n(2))]);
    at.put(&left).await?;
    at.put(&right).await?;
    ensure!(at.get(&left.key).await?.as_ref() == Some(&left));
    ensure!(at.get(&right.key).await?.as_ref() == Some(&right));
    Ok(())
}

pub async fn bytes_of_every_value_survive(at: Scope) -> Result<()> {
    let every: Vec<u8> = (0..=255).collect();
    let item = at.item(["p", "s"], [("bytes", b(every))]);
    at.put(&item).await?;
    let found = at.get(&item.key).await?;
    ensure!(found.as_ref() == Some(&item), "{found:?}");
    Ok(())
}

pub async fn texts_and_keys_of_every_script_survive(at: Scope) -> Result<()> {
    let texts = [
        "čeština",
        "日本語",
        "עברית",
        "🐭🛌",
        "e\u{301}",
        "\u{e9}",
        "'\"\\\n\t",
        "a/b#c",
    ];
    for text in texts {
        at.put(&at.item([text, text], [("v", s(text)), ("set", set(&[text, "x"]))]))
            .await?;
    }
    for text in texts {
        let item = at.item([text, text], [("v", s(text)), ("set", set(&[text, "x"]))]);
        let found = at.get(&item.key).await?;
        ensure!(found.as_ref() == Some(&item), "{text}: {found:?}");
    }
    Ok(())
}

pub async fn empty_text_and_empty_bytes_are_values(at: Scope) -> Result<()> {
    let item = at.item(["p", "s"], [("text", s("")), ("bytes", b(*b""))]);
    at.put(&item).await?;
    let found = at.get(&item.key).await?;
    ensure!(found.as_ref() == Some(&item), "{found:?}");
    Ok(())
}

pub async fn an_empty_set_is_no_attribute(at: Scope) -> Result<()> {
    let item = at.item(["p", "s"], [("set", set(&[])), ("v", n(1))]);
    at.put(&item).await?;
    let found = at.get(&item.key).await?;
    ensure!(
        found == Some(at.item(["p", "s"], [("v", n(1))])),
        "{found:?}"
    );
    Ok(())
}

pub async fn the_time_to_live_is_kept_as_given(at: Scope) -> Result<()> {
    // The year 2100: no sweep of any table under test comes before its time.
    let item = at.item(["p", "s"], [("ttl", n(4_102_444_800))]);
    at.put(&item).await?;
    let found = at.get(&item.key).await?;
    ensure!(found.as_ref() == Some(&item), "{found:?}");
    Ok(())
}

pub async fn a_deleted_item_is_gone(at: Scope) -> Result<()> {
    let item = at.item(["p", "s"], [("v", n(1))]);
    let neighbour = at.item(["p", "s2"], [("v", n(2))]);
    at.put(&item).await?;
    at.put(&neighbour).await?;
    let delete = [Write::Delete(item.key.clone(), Condition::Always)];
    at.done(&delete).await?;
    ensure!(at.get(&item.key).await?.is_none(), "still there");
    ensure!(
        at.get(&neighbour.key).await?.as_ref() == Some(&neighbour),
        "the neighbour changed"
    );
    // Deleting nothing is fine.
    at.done(&delete).await
}

/// An item of exactly so many bytes.
fn sized(at: &Scope, sort: &str, size_bytes: usize) -> Item {
    let empty = at.item(["p", sort], [("blob", b(*b""))]);
    let filling = vec![0x5a; size_bytes - empty.size_bytes()];
    at.item(["p", sort], [("blob", b(filling))])
}

pub async fn an_item_of_the_largest_size_is_kept(at: Scope) -> Result<()> {
    let item = sized(&at, "s", ITEM_BYTES_MAX);
    at.put(&item).await?;
    ensure!(
        at.get(&item.key).await?.as_ref() == Some(&item),
        "not read back whole"
    );
    Ok(())
}

pub async fn a_larger_item_is_refused_and_nothing_changes(at: Scope) -> Result<()> {
    let small = at.item(["p", "s"], [("v", n(1))]);
    at.put(&small).await?;
    let large = sized(&at, "s", ITEM_BYTES_MAX + 1);
    let put = Write::Put(large.clone(), Condition::Always);
    ensure_too_large(at.table.write(std::slice::from_ref(&put)).await)?;
    let other = Write::Put(at.item(["p", "other"], [("v", n(1))]), Condition::Always);
    ensure_too_large(at.table.write(&[other.clone(), put]).await)?;
    ensure!(
        at.get(other.key()).await?.is_none(),
        "half of a write happened"
    );
    let blob = large.attributes.into_values().next().unwrap_or(n(0));
    let change = [to("blob", blob)];
    let update = at
        .table
        .update(&small.key, &change, &Condition::Always, Durability::Durable);
    ensure_too_large(update.await)?;
    ensure!(
        at.get(&small.key).await?.as_ref() == Some(&small),
        "the item changed"
    );
    Ok(())
}

pub async fn empty_and_overlong_keys_are_invalid(at: Scope) -> Result<()> {
    let long = "x".repeat(KEY_BYTES_MAX + 1);
    let fine = at.key("p", "s");
    let bad = [
        Key::new("", "s"),
        Key::new(fine.partition.as_str(), ""),
        Key::new(long.as_str(), "s"),
        Key::new(fine.partition.as_str(), long.as_str()),
    ];
    for key in bad {
        let item = Item {
            key: key.clone(),
            attributes: Default::default(),
        };
        ensure_invalid(at.table.write(&[Write::Put(item, Condition::Always)]).await)?;
        ensure_invalid(at.table.get(&key).await)?;
        let change = [to("v", n(1))];
        let update = at
            .table
            .update(&key, &change, &Condition::Always, Durability::Durable);
        ensure_invalid(update.await)?;
    }
    // The longest that is allowed works.
    let longest = Item {
        key: Key::new(fine.partition, "x".repeat(KEY_BYTES_MAX)),
        attributes: Default::default(),
    };
    at.put(&longest).await?;
    ensure!(
        at.get(&longest.key).await?.as_ref() == Some(&longest),
        "not read back"
    );
    Ok(())
}

pub async fn reserved_attribute_names_are_invalid(at: Scope) -> Result<()> {
    for name in ["pk", "sk"] {
        let put = Write::Put(at.item(["p", "s"], [(name, s("x"))]), Condition::Always);
        ensure_invalid(at.table.write(&[put]).await)?;
    }
    ensure!(at.get(&at.key("p", "s")).await?.is_none(), "it was stored");
    Ok(())
}
