//! A table on DynamoDB's protocol behind a line that breaks on demand.

use anyhow::Result;
use dormouse_aws::config::AwsConfig;
use dormouse_aws::dynamo_table::DynamoTable;
use dormouse_store::table::{
    Attributes, Change, Condition, Durability, Item, Key, Table as _, TableError, Updated, Value,
    Write, Written,
};
use dormouse_tests::broken_line::BrokenLine;
use dormouse_tests::dynoxide::Dynoxide;

/// Every test has a server of its own, so one name will do.
pub(super) const NAME: &str = "dormouse-test";

/// A table that is reached through a line that can be broken.
pub(super) struct Remote {
    _server: Dynoxide,
    pub(super) line: BrokenLine,
    pub(super) table: DynamoTable,
}

impl Remote {
    pub(super) async fn start() -> Result<Self> {
        let server = Dynoxide::start()?;
        DynamoTable::new(&server.config(), NAME)
            .create_table()
            .await?;
        let line = BrokenLine::to(server.endpoint()).await?;
        let table = DynamoTable::new(&AwsConfig::emulator(line.endpoint()), NAME);
        Ok(Self {
            _server: server,
            line,
            table,
        })
    }

    /// What the item's `v` is.
    pub(super) async fn number(&self) -> Result<Option<i64>> {
        let item = self.table.get(&key()).await?;
        Ok(item.and_then(|item| match item.attributes.get("v") {
            Some(Value::N(number)) => Some(*number),
            _ => None,
        }))
    }

    pub(super) async fn add_one(&self) -> Result<Updated, TableError> {
        let changes = [Change::Add("v".into(), 1)];
        self.table
            .update(&key(), &changes, &Condition::Always, Durability::Durable)
            .await
    }

    /// Adds one to `v` and puts another item, as one.
    pub(super) async fn add_one_and_another(
        &self,
        condition: Condition,
    ) -> Result<Written, TableError> {
        let other = Item {
            key: Key::new("other", "s"),
            attributes: Attributes::new(),
        };
        let add = Write::Update(key(), vec![Change::Add("v".into(), 1)], condition);
        self.table
            .write(&[add, Write::Put(other, Condition::Always)])
            .await
    }
}

/// The item that all of it is about.
pub(super) fn key() -> Key {
    Key::new("p", "s")
}

/// The error in words.
pub(super) fn said<T: std::fmt::Debug>(answer: Result<T, TableError>) -> Result<String> {
    match answer {
        Ok(answer) => anyhow::bail!("it should have failed: {answer:?}"),
        Err(error) => Ok(error.to_string()),
    }
}
