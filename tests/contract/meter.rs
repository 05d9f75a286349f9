//! The meter changes no answer, and counts as DynamoDB does.

use std::sync::Arc;

use anyhow::Result;
use dormouse_store::table::meter::Spent;
use dormouse_store::table::{
    Change, Condition, Durability, Index, Item, Key, Query, Table, Value, Write,
};
use dormouse_store::{MemoryTable, MeteredTable, Usage};
use dormouse_tests::table_contract::Fixture;

mod transparent {
    use super::{Arc, Fixture, MemoryTable, MeteredTable};

    dormouse_tests::table_contract!(Fixture::new(MeteredTable::new(
        Arc::new(MemoryTable::new())
    )));
}

fn metered() -> MeteredTable {
    MeteredTable::new(Arc::new(MemoryTable::new()))
}

fn key(sort: &str) -> Key {
    Key::new("p", sort)
}

/// An item of so many bytes.
fn item(sort: &str, size_bytes: usize) -> Item {
    let mut item = Item {
        key: key(sort),
        attributes: [("v".into(), Value::B(vec![].into()))].into(),
    };
    let filling = vec![1; size_bytes - item.size_bytes()];
    item.attributes.insert("v".into(), Value::B(filling.into()));
    item
}

fn put(item: &Item) -> Write {
    Write::Put(item.clone(), Condition::Always)
}

const NOTHING: Spent = Spent {
    calls: 0,
    read_half_units: 0,
    write_units: 0,
    index_write_units: 0,
};

/// One call with so many write units.
fn writing(write_units: u64) -> Spent {
    Spent {
        calls: 1,
        write_units,
        ..NOTHING
    }
}

fn reading(read_half_units: u64) -> Spent {
    Spent {
        calls: 1,
        read_half_units,
        ..NOTHING
    }
}

#[tokio::test]
async fn a_write_costs_a_unit_per_begun_kibibyte() -> Result<()> {
    let table = metered();
    for (size, units) in [(10, 1), (1_024, 1), (1_025, 2), (10_240, 10)] {
        table.write(&[put(&item("s", size))]).await?;
        let expected = Usage {
            single_write: writing(units),
            ..Usage::default()
        };
        // The first put replaces nothing, the next ones something smaller.
        assert_eq!(table.reset(), expected, "{size} bytes");
    }
    table.write(&[put(&item("s", 10))]).await?;
    assert_eq!(
        table.reset().write_units(),
        10,
        "the larger of before and after counts"
    );
    table
        .write(&[Write::Delete(key("s"), Condition::Exists)])
        .await?;
    table
        .write(&[Write::Delete(key("s"), Condition::Always)])
        .await?;
    assert_eq!(
        table.reset().single_write,
        Spent {
            calls: 2,
            ..writing(2)
        }
    );
    Ok(())
}

#[tokio::test]
async fn writes_of_several_items_cost_twice_as_much() -> Result<()> {
    let table = metered();
    table.write(&[put(&item("checked", 2_000))]).await?;
    table.reset();
    let check = Write::Check(key("checked"), Condition::Exists);
    table
        .write(&[put(&item("a", 10)), put(&item("b", 3_000)), check.clone()])
        .await?;
    let expected = Usage {
        transaction: writing(2 * (1 + 3 + 2)),
        ..Usage::default()
    };
    assert_eq!(table.reset(), expected);
    table.write(&[check]).await?;
    assert_eq!(
        table.reset(),
        Usage {
            transaction: writing(4),
            ..Usage::default()
        }
    );
    Ok(())
}

#[tokio::test]
async fn a_refusal_costs_what_the_item_weighs() -> Result<()> {
    let table = metered();
    table.write(&[put(&item("s", 3_000))]).await?;
    table.reset();
    let change = [Change::Set("w".into(), Value::N(1))];
    table
        .update(&key("s"), &change, &Condition::Absent, Durability::Durable)
        .await?;
    assert_eq!(
        table.reset(),
        Usage {
            update: writing(3),
            ..Usage::default()
        }
    );
    table
        .update(&key("s"), &change, &Condition::Exists, Durability::Durable)
        .await?;
    assert_eq!(
        table.reset(),
        Usage {
            update: writing(3),
            ..Usage::default()
        }
    );
    table
        .write(&[Write::Put(item("s", 10), Condition::Absent)])
        .await?;
    assert_eq!(
        table.reset(),
        Usage {
            single_write: writing(3),
            ..Usage::default()
        }
    );
    Ok(())
}

#[tokio::test]
async fn a_read_costs_a_unit_per_begun_four_kibibytes() -> Result<()> {
    let table = metered();
    for number in 0..10 {
        table
            .write(&[put(&item(&format!("i{number}"), 1_000))])
            .await?;
    }
    table.reset();
    table.get(&key("i1")).await?;
    table.get(&key("none")).await?;
    assert_eq!(
        table.reset(),
        Usage {
            get: Spent {
                calls: 2,
                ..reading(4)
            },
            ..Usage::default()
        }
    );
    table.query(&Query::prefix("p", "i")).await?;
    let usage = table.reset();
    assert_eq!(
        usage,
        Usage {
            query: reading(6),
            ..Usage::default()
        }
    );
    assert_eq!((usage.calls(), usage.read_units()), (1, 3.0));
    table
        .query(&Query {
            index: Some(Index::One),
            ..Query::prefix("p", "i")
        })
        .await?;
    let usage = table.reset();
    assert_eq!(
        usage,
        Usage {
            index_query: reading(1),
            ..Usage::default()
        }
    );
    assert_eq!(usage.read_units(), 0.5);
    Ok(())
}

#[tokio::test]
async fn an_index_costs_only_when_its_entry_changes() -> Result<()> {
    let table = metered();
    let listed = |place: &str, summary: usize, state: usize| {
        let mut item = item("s", 100);
        let texts = [
            ("g1p", "list"),
            ("g1s", place),
            ("g2p", "definition"),
            ("g2s", "1"),
        ];
        for (name, text) in texts {
            item.attributes.insert(name.into(), Value::S(text.into()));
        }
        item.attributes
            .insert(Index::SUMMARY.into(), Value::B(vec![1; summary].into()));
        item.attributes
            .insert("st".into(), Value::B(vec![1; state].into()));
        item
    };
    let steps = [
        // Both indexes get an entry.
        (listed("1", 1_500, 10), 3),
        // Only the state changes: no index shows it.
        (listed("1", 1_500, 20), 0),
        // The summary changes, in one of them.
        (listed("1", 1_400, 20), 2),
        // The entry moves: out of one place and into another.
        (listed("2", 1_400, 20), 4),
        // Out of both.
        (item("s", 100), 3),
    ];
    for (number, (item, index_units)) in steps.into_iter().enumerate() {
        table.write(&[put(&item)]).await?;
        assert_eq!(
            table.reset().total().index_write_units,
            index_units,
            "step {number}"
        );
    }
    Ok(())
}
