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
    // One for what was saved, one for what was published; they may come one by one.
    assert!((1..=2).contains(&count));
    assert_eq!(failures.len(), 0);
    let heard = || {
        function
            .log()
            .matches("cache invalidation received")
            .count()
    };
    let before = heard();
    assert_eq!(before, count, "{}", function.log());
    assert!(function.log().contains("a changed definition is loaded"));
    let change = json!({ "tenant": "default", "definitionId": "flow" }).to_string();
    let direct = json!({ "Records": [{ "EventSource": "aws:sns", "Sns": { "Message": change } }] });
    function.invoke(&direct).unwrap();
    assert_eq!(heard(), before + 1);
    // What makes no sense is dropped: every start checks the version anyway.
    let nonsense = json!({ "Records": [{ "messageId": "m", "body": "?" }] });
    assert_eq!(
        function.invoke(&nonsense).unwrap(),
        json!({ "batchItemFailures": [] })
    );
    assert!(function.invoke(&json!({ "hello": "world" })).is_err());
    Ok(())
}
