//! Answers that get lost, and refusals of the service itself: what they tell the caller, and what happened.

use std::time::Duration;

use anyhow::Result;
use dormouse_store::table::{
    Attributes, Change, Condition, Durability, Item, Key, Table as _, TableError, Value, Write,
    Written,
};
use dormouse_tests::broken_line::Fault;
use serde_json::json;

use super::remote::{Remote, key, said};

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
async fn a_write_waits_a_few_seconds_for_its_answer() -> Result<()> {
    let remote = Remote::start().await?;
    remote.line.break_next([Fault::Silence]);
    let answer = tokio::time::timeout(Duration::from_secs(30), remote.add_one()).await?;
    assert!(matches!(answer, Err(TableError::Unknown(_))), "{answer:?}");
    assert_eq!(remote.line.requests(), 1);
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
