//! The function `invalidation`: changes as the topic and its queue deliver them.

use anyhow::Result;
use serde_json::json;

use super::stage::{Stage, sequence, write};

#[tokio::test]
async fn a_change_is_loaded_however_it_comes() -> Result<()> {
    let Some(stage) = Stage::set().await? else {
        return Ok(());
    };
    stage.publish(&sequence("flow", &[write("hello")]));
    let function = stage.function("invalidation");
    let (count, failures) = stage
        .deployment
        .hand_on(&stage.deployment.changes_url, 20, &function)
        .await?;
    assert_eq!((count, failures.len()), (1, 0));
    let heard = || {
        function
            .log()
            .matches("cache invalidation received")
            .count()
    };
    assert_eq!(heard(), 1, "{}", function.log());
    assert!(function.log().contains("a changed definition is loaded"));
    let change = json!({ "tenant": "default", "definitionId": "flow" }).to_string();
    let direct = json!({ "Records": [{ "EventSource": "aws:sns", "Sns": { "Message": change } }] });
    function.invoke(&direct).unwrap();
    assert_eq!(heard(), 2);
    // What makes no sense is dropped: every start checks the version anyway.
    let nonsense = json!({ "Records": [{ "messageId": "m", "body": "?" }] });
    assert_eq!(
        function.invoke(&nonsense).unwrap(),
        json!({ "batchItemFailures": [] })
    );
    assert!(function.invoke(&json!({ "hello": "world" })).is_err());
    Ok(())
}
