//! The function `api`: requests in payload format 2.0.

use anyhow::Result;
use serde_json::{Value, json};

use super::stage::{Stage, answered, event, literal, request, sequence, write};

#[tokio::test]
async fn a_workflow_is_published_started_and_read() -> Result<()> {
    let Some(stage) = Stage::set().await? else {
        return Ok(());
    };
    stage.publish(&sequence(
        "flow",
        &[write("hello"), event("Go"), write("bye")],
    ));
    let id = stage.start("flow");
    assert_eq!(stage.sub_status(&id), "Suspended");
    let list = stage.ask(
        "GET",
        "/elsa/api/workflow-instances?page=0&pageSize=5",
        None,
    );
    assert_eq!(list.body["items"][0]["id"], json!(id));
    let ready = stage.ask("GET", "/health/ready", None);
    assert_eq!(ready.status, 200, "{:#}", ready.body);
    Ok(())
}

#[tokio::test]
async fn a_workflow_answers_its_own_request_bytes_and_all() -> Result<()> {
    let Some(stage) = Stage::set().await? else {
        return Ok(());
    };
    let endpoint = json!({
        "type": "Elsa.HttpEndpoint", "id": "in", "customProperties": { "canStartWorkflow": true },
        "path": literal("String", "echo"),
        "supportedMethods": literal("String[]", json!(["POST"]).to_string()),
    });
    let answer = json!({
        "type": "Elsa.WriteHttpResponse", "id": "out",
        "statusCode": literal("HttpStatusCode", "Created"),
        "content": literal("String", "got it"),
        "contentType": literal("String", "text/plain"),
    });
    stage.publish(&sequence("echo", &[endpoint, answer]));
    let mut event = request("POST", "/workflows/echo?x=1");
    event["body"] = json!("AAH/");
    event["isBase64Encoded"] = json!(true);
    event["headers"]["content-type"] = json!("application/octet-stream");
    event["cookies"] = json!(["a=1", "b=2"]);
    let answer = answered(stage.function("api").invoke(&event).unwrap());
    assert_eq!((answer.status, &answer.body), (201, &json!("got it")));
    assert!(answer.headers["x-elsa-workflow-instance-id"].is_string());
    Ok(())
}

#[tokio::test]
async fn what_takes_too_long_goes_on_by_message_and_is_found_where_the_answer_says() -> Result<()> {
    let Some(stage) = Stage::set().await? else {
        return Ok(());
    };
    let call = json!({ "type": "Elsa.SendHttpRequest", "id": "call", "url": literal("Uri", "http://127.0.0.1:9/") });
    stage.publish(&sequence("slow", &[write("a"), call, write("b")]));
    let mut event = request("POST", "/elsa/api/workflow-definitions/slow/execute");
    event["body"] = json!("{}");
    // Lambda would end the invocation before it has begun to call anybody.
    let answer = stage.function("api").invoke_within(&event, 0).unwrap();
    let answer = answered(answer);
    assert_eq!(answer.status, 202, "{:#}", answer.body);
    let place = answer.headers["location"].as_str().unwrap().to_owned();
    let id = place.rsplit('/').next().unwrap();
    assert_eq!(stage.sub_status(id), "Executing");
    // The address is one that workflows may not reach: the call fails, and that is the end.
    stage.resume_until(id, "Faulted").await?;
    let found = stage.ask("GET", &place, None);
    assert_eq!(found.status, 200);
    Ok(())
}

#[tokio::test]
async fn what_is_no_request_is_an_error_and_the_next_one_is_served() -> Result<()> {
    let Some(stage) = Stage::set().await? else {
        return Ok(());
    };
    let api = stage.function("api");
    for event in [
        json!({ "Records": [] }),
        json!(null),
        json!([]),
        json!({ "rawPath": 7, "requestContext": { "http": { "method": "GET" } } }),
    ] {
        let error = api.invoke(&event).unwrap_err();
        let said = error["errorMessage"].as_str().unwrap_or_default();
        assert!(said.contains("payload format 2.0"), "{error}");
    }
    let broken = api.begin("{\"rawPath\":", 60_000);
    assert!(api.answer(broken).is_err());
    let unknown = stage.ask("GET", "/nowhere", None);
    assert_eq!(
        (unknown.status, &unknown.body["code"]),
        (404, &json!("noSuchRoute"))
    );
    let wrong: Value = stage
        .ask(
            "POST",
            "/elsa/api/workflow-instances",
            Some(&json!({ "definitionId": 7 })),
        )
        .body;
    assert_eq!(wrong["status"], 400, "{wrong:#}");
    Ok(())
}
