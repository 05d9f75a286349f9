//! What DynamoDB adds to the table's contract: a table that is not there or not ours, answers that get lost, and
//! refusals of the service itself. The service is dynoxide behind a line that breaks on demand.

use anyhow::Result;
use dormouse_aws::config::AwsConfig;
use dormouse_aws::dynamo_table::DynamoTable;
use dormouse_store::table::{
    Attributes, Change, Condition, Durability, Item, Key, Table as _, TableError, Updated, Value,
    Write, Written,
};
use dormouse_tests::broken_line::{BrokenLine, Fault};
use dormouse_tests::dynoxide::Dynoxide;
use dynoxide::actions::create_table::CreateTableRequest;
use serde_json::json;

const NAME: &str = "dormouse-test";

/// A table that is reached through a line that can be broken.
struct Remote {
    _server: Dynoxide,
    line: BrokenLine,
    table: DynamoTable,
}

impl Remote {
    async fn start() -> Result<Self> {
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
    async fn number(&self) -> Result<Option<i64>> {
        let item = self.table.get(&key()).await?;
        Ok(item.and_then(|item| match item.attributes.get("v") {
            Some(Value::N(number)) => Some(*number),
            _ => None,
        }))
    }

    async fn add_one(&self) -> Result<Updated, TableError> {
        let changes = [Change::Add("v".into(), 1)];
        self.table
            .update(&key(), &changes, &Condition::Always, Durability::Durable)
            .await
    }

    /// Adds one to `v` and puts another item, as one.
    async fn add_one_and_another(&self, condition: Condition) -> Result<Written, TableError> {
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

fn key() -> Key {
    Key::new("p", "s")
}

fn said<T: std::fmt::Debug>(answer: Result<T, TableError>) -> Result<String> {
    match answer {
        Ok(answer) => anyhow::bail!("it should have failed: {answer:?}"),
        Err(error) => Ok(error.to_string()),
    }
}

#[tokio::test]
async fn a_missing_table_is_named_with_what_to_do() -> Result<()> {
    let server = Dynoxide::start()?;
    let table = DynamoTable::new(&server.config(), NAME);
    let said = said(table.ready().await)?;
    assert!(said.contains("no table `dormouse-test`"), "{said}");
    assert!(said.contains(server.endpoint()), "{said}");
    assert!(said.contains("deploy the template"), "{said}");
    let get = table.get(&key()).await;
    assert!(matches!(get, Err(TableError::Unusable(..))), "{get:?}");
    Ok(())
}

#[tokio::test]
async fn a_server_that_is_not_there_is_named() -> Result<()> {
    let nobody = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?;
    let table = DynamoTable::new(&AwsConfig::emulator(format!("http://{nobody}")), NAME);
    let said = said(table.ready().await)?;
    assert!(said.contains(&nobody.to_string()), "{said}");
    // Nothing was sent, so nothing can have happened.
    let put = Write::Delete(key(), Condition::Always);
    let answer = table.write(&[put]).await;
    assert!(matches!(answer, Err(TableError::Busy)), "{answer:?}");
    Ok(())
}

#[tokio::test]
async fn a_table_is_made_once_and_checked_after() -> Result<()> {
    let server = Dynoxide::start()?;
    let table = DynamoTable::new(&server.config(), NAME);
    table.create_table().await?;
    table.ready().await?;
    table.create_table().await?;
    Ok(())
}

#[tokio::test]
async fn a_table_of_somebody_else_is_refused() -> Result<()> {
    let server = Dynoxide::start()?;
    let foreign: CreateTableRequest = serde_json::from_value(json!({
        "TableName": NAME,
        "BillingMode": "PAY_PER_REQUEST",
        "KeySchema": [{ "AttributeName": "id", "KeyType": "HASH" }],
        "AttributeDefinitions": [{ "AttributeName": "id", "AttributeType": "S" }],
    }))?;
    server.database().create_table(foreign)?;
    let table = DynamoTable::new(&server.config(), NAME);
    let said = said(table.create_table().await)?;
    assert!(said.contains("not one of Dormouse's"), "{said}");
    Ok(())
}

#[tokio::test]
async fn a_table_without_its_indexes_is_refused() -> Result<()> {
    let server = Dynoxide::start()?;
    let bare: CreateTableRequest = serde_json::from_value(json!({
        "TableName": NAME,
        "BillingMode": "PAY_PER_REQUEST",
        "KeySchema": [
            { "AttributeName": "pk", "KeyType": "HASH" },
            { "AttributeName": "sk", "KeyType": "RANGE" },
        ],
        "AttributeDefinitions": [
            { "AttributeName": "pk", "AttributeType": "S" },
            { "AttributeName": "sk", "AttributeType": "S" },
        ],
    }))?;
    server.database().create_table(bare)?;
    let said = said(DynamoTable::new(&server.config(), NAME).ready().await)?;
    assert!(said.contains("lacks the index `index1`"), "{said}");
    Ok(())
}

#[tokio::test]
async fn a_single_write_without_an_answer_is_unknown_and_sent_once() -> Result<()> {
    for (fault, after) in [(Fault::AnswerLost, Some(1)), (Fault::RequestLost, None)] {
        let remote = Remote::start().await?;
        remote.line.break_next([fault.clone()]);
        let answer = remote.add_one().await;
        assert!(
            matches!(answer, Err(TableError::Unknown(_))),
            "{fault:?}: {answer:?}"
        );
        assert_eq!(remote.line.requests(), 1, "{fault:?}");
        assert_eq!(remote.number().await?, after, "{fault:?}");
    }
    Ok(())
}

#[tokio::test]
async fn a_transaction_without_an_answer_is_asked_again_and_happens_once() -> Result<()> {
    for fault in [
        Fault::AnswerLost,
        Fault::RequestLost,
        Fault::Error(500, "InternalServerError"),
    ] {
        let remote = Remote::start().await?;
        remote.line.break_next([fault.clone()]);
        let written = remote
            .add_one_and_another(Condition::Lacks("v".into()))
            .await?;
        assert_eq!(written, Written::Done, "{fault:?}");
        assert_eq!(remote.line.requests(), 2, "{fault:?}");
        assert_eq!(remote.number().await?, Some(1), "{fault:?}");
    }
    Ok(())
}

#[tokio::test]
async fn two_equal_transactions_happen_twice() -> Result<()> {
    let remote = Remote::start().await?;
    remote.add_one_and_another(Condition::Always).await?;
    remote.add_one_and_another(Condition::Always).await?;
    assert_eq!(remote.number().await?, Some(2));
    Ok(())
}

#[tokio::test]
async fn a_transaction_that_never_gets_an_answer_is_unknown() -> Result<()> {
    let throttled = Fault::Error(400, "ThrottlingException");
    for last in [
        Fault::AnswerLost,
        Fault::Error(400, "TransactionInProgressException"),
        throttled,
    ] {
        let remote = Remote::start().await?;
        remote
            .line
            .break_next([Fault::AnswerLost, Fault::AnswerLost, last.clone()]);
        let answer = remote.add_one_and_another(Condition::Always).await;
        // "Throttled" speaks only of the last attempt; the first one did happen.
        assert!(
            matches!(answer, Err(TableError::Unknown(_))),
            "{last:?}: {answer:?}"
        );
        assert_eq!(remote.line.requests(), 3, "{last:?}");
        assert_eq!(remote.number().await?, Some(1), "{last:?}");
    }
    Ok(())
}

#[tokio::test]
async fn a_read_without_an_answer_is_repeated() -> Result<()> {
    let remote = Remote::start().await?;
    remote.add_one().await?;
    let _ = remote.line.requests();
    remote
        .line
        .break_next([Fault::AnswerLost, Fault::Error(500, "InternalServerError")]);
    assert_eq!(remote.number().await?, Some(1));
    assert_eq!(remote.line.requests(), 3);
    Ok(())
}

#[tokio::test]
async fn a_service_that_is_busy_is_busy() -> Result<()> {
    let remote = Remote::start().await?;
    for code in [
        "ThrottlingException",
        "ProvisionedThroughputExceededException",
        "RequestLimitExceeded",
        "TransactionConflictException",
    ] {
        let _ = remote.line.requests();
        remote.line.break_next([Fault::Error(400, code)]);
        let answer = remote.add_one().await;
        assert!(
            matches!(answer, Err(TableError::Busy)),
            "{code}: {answer:?}"
        );
        assert_eq!(remote.line.requests(), 1, "{code}");
        assert_eq!(remote.number().await?, None, "{code}");
    }
    Ok(())
}

/// The answer to a transaction of two writes that was cancelled for these reasons.
fn cancelled(reasons: [serde_json::Value; 2]) -> Fault {
    let body = json!({
        "__type": "com.amazonaws.dynamodb.v20120810#TransactionCanceledException",
        "Message": "Transaction cancelled, please refer cancellation reasons for specific reasons",
        "CancellationReasons": reasons,
    });
    Fault::Body(400, body.to_string())
}

#[tokio::test]
async fn a_transaction_that_meets_another_is_busy() -> Result<()> {
    let remote = Remote::start().await?;
    for code in [
        "TransactionConflict",
        "ThrottlingError",
        "ProvisionedThroughputExceeded",
    ] {
        remote.line.break_next([cancelled([
            json!({ "Code": "None" }),
            json!({ "Code": code }),
        ])]);
        let answer = remote.add_one_and_another(Condition::Always).await;
        assert!(
            matches!(answer, Err(TableError::Busy)),
            "{code}: {answer:?}"
        );
    }
    Ok(())
}

#[tokio::test]
async fn a_failed_condition_outweighs_a_conflict() -> Result<()> {
    let remote = Remote::start().await?;
    let stored = json!({ "pk": { "S": "p" }, "sk": { "S": "s" }, "v": { "N": "7" } });
    remote.line.break_next([cancelled([
        json!({ "Code": "ConditionalCheckFailed", "Item": stored }),
        json!({ "Code": "TransactionConflict" }),
    ])]);
    let stands = Item {
        key: key(),
        attributes: Attributes::from([("v".into(), Value::N(7))]),
    };
    let written = remote
        .add_one_and_another(Condition::Lacks("v".into()))
        .await?;
    assert_eq!(written, Written::Refused(vec![Some(Some(stands)), None]));
    Ok(())
}

#[tokio::test]
async fn a_request_that_can_never_succeed_says_why() -> Result<()> {
    let remote = Remote::start().await?;
    remote
        .line
        .break_next([Fault::Error(400, "AccessDeniedException")]);
    let denied = said(remote.add_one().await)?;
    assert!(
        denied.contains("does not let us use `dormouse-test`: made up"),
        "{denied}"
    );

    remote.line.break_next([cancelled([
        json!({ "Code": "TransactionConflict" }),
        json!({ "Code": "ValidationError", "Message": "the type is wrong" }),
    ])]);
    let invalid = remote.add_one_and_another(Condition::Always).await;
    let Err(TableError::Invalid(what)) = invalid else {
        panic!("{invalid:?}")
    };
    assert_eq!(what, "the type is wrong");

    let body = json!({ "__type": "x#ValidationException",
        "message": "Item size to update has exceeded the maximum allowed size" });
    remote.line.break_next([Fault::Body(400, body.to_string())]);
    let large = remote.add_one().await;
    assert!(
        matches!(large, Err(TableError::TooLarge { .. })),
        "{large:?}"
    );
    Ok(())
}

#[tokio::test]
async fn an_answer_that_makes_no_sense_is_unknown_for_a_write() -> Result<()> {
    let remote = Remote::start().await?;
    remote
        .line
        .break_next([Fault::Body(502, "<html>Bad Gateway</html>".into())]);
    let answer = remote.add_one().await;
    assert!(matches!(answer, Err(TableError::Unknown(_))), "{answer:?}");
    Ok(())
}

#[tokio::test]
async fn a_sum_past_64_bits_is_invalid_and_changes_nothing() -> Result<()> {
    let remote = Remote::start().await?;
    for (most, by) in [(i64::MAX, 1), (i64::MIN, -1), (1, i64::MAX), (-2, i64::MIN)] {
        let item = Item {
            key: key(),
            attributes: Attributes::from([("v".into(), Value::N(most))]),
        };
        remote
            .table
            .write(&[Write::Put(item, Condition::Always)])
            .await?;
        let changes = vec![Change::Add("v".into(), by)];
        let durable = Durability::Durable;
        let update = remote
            .table
            .update(&key(), &changes, &Condition::Exists, durable)
            .await;
        assert!(
            matches!(update, Err(TableError::Invalid(_))),
            "{most} + {by}: {update:?}"
        );
        let write = Write::Update(key(), changes, Condition::Exists);
        let delete = Write::Delete(Key::new("other", "s"), Condition::Always);
        for writes in [vec![write.clone()], vec![delete, write]] {
            let answer = remote.table.write(&writes).await;
            assert!(
                matches!(answer, Err(TableError::Invalid(_))),
                "{most} + {by}: {answer:?}"
            );
        }
        assert_eq!(remote.number().await?, Some(most));
    }
    Ok(())
}
