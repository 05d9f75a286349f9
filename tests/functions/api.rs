//! The function `api`: requests in payload format 2.0.

use std::sync::Arc;

use anyhow::Result;
use dormouse_aws::dynamo_table::DynamoTable;
use dormouse_identity::{ApiKey, Secret};
use dormouse_store::identity::application::Application;
use dormouse_store::item::config::StoreConfig;
use dormouse_store::{Store, Tenant};
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
async fn a_script_makes_a_link_where_it_is_known_what_links_begin_with() -> Result<()> {
    let public = "https://flows.example.com";
    let Some(stage) =
        Stage::set_with(&[("DORMOUSE_PUBLIC_URL", "https://flows.example.com/")]).await?
    else {
        return Ok(());
    };
    let endpoint = json!({
        "type": "Elsa.HttpEndpoint", "id": "in", "customProperties": { "canStartWorkflow": true },
        "path": literal("String", "order"),
        "supportedMethods": literal("String[]", json!(["POST"]).to_string()),
    });
    let script = json!({ "type": "JavaScript", "value": "createEventTriggerUrl('Paid')" });
    let answer = json!({
        "type": "Elsa.WriteHttpResponse", "id": "out",
        "content": { "typeName": "Object", "expression": script },
        "contentType": literal("String", "text/plain"),
    });
    stage.publish(&sequence(
        "order",
        &[endpoint, answer, event("Paid"), write("paid")],
    ));
    let answer = stage.ask("POST", "/workflows/order", Some(&json!({})));
    let id = answer.headers["x-elsa-workflow-instance-id"]
        .as_str()
        .unwrap();
    let url = answer.body.as_str().unwrap();
    let link = url.strip_prefix(public).unwrap_or_else(|| panic!("{url}"));
    assert!(link.starts_with("/links/"), "{url}");
    assert_eq!(stage.ask("GET", link, None).status, 200);
    assert_eq!(stage.sub_status(id), "Suspended");
    let mut press = request("POST", link);
    press["headers"]["content-type"] = json!("application/x-www-form-urlencoded");
    press["body"] = json!("");
    let pressed = answered(stage.function("api").invoke(&press).unwrap());
    assert_eq!(pressed.status, 200, "{:#}", pressed.body);
    stage.resume_until(id, "Finished").await
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
            "/elsa/api/workflow-starts",
            Some(&json!({ "definitionId": 7 })),
        )
        .body;
    assert_eq!(wrong["status"], 400, "{wrong:#}");
    Ok(())
}

#[tokio::test]
async fn whoever_has_no_credential_that_counts_is_not_let_in() -> Result<()> {
    let ways = [("DORMOUSE_AUTHENTICATION", "apiKeys,users")];
    let Some(stage) = Stage::set_with(&ways).await? else {
        return Ok(());
    };
    let key = ApiKey::new(7, Secret::new([1, 2, 3, 4]));
    let application = Application {
        id: key.id.clone(),
        tenant: Tenant::default().to_string(),
        digest: key.secret.digest(),
        permissions: vec!["read:workflow-instances".to_owned()],
        ..Application::default()
    };
    let table = DynamoTable::new(&stage.deployment.config, &stage.deployment.name);
    let store = Store::new(Arc::new(table), StoreConfig::dynamo());
    assert!(
        store
            .identities()
            .put_application(&Tenant::default(), &application)
            .await?
    );
    let api = stage.function("api");
    let ask = |path: &str, credential: Option<String>| {
        let mut event = request("GET", path);
        if let Some(credential) = credential {
            event["headers"]["authorization"] = credential.into();
        }
        answered(api.invoke(&event).unwrap()).status
    };
    let forged = ApiKey::new(7, Secret::new([1, 2, 3, 5])).text();
    let (instances, definitions) = (
        "/elsa/api/workflow-instances",
        "/elsa/api/workflow-definitions",
    );
    // The second time around the process remembers what it has read of the key.
    for _ in 0..2 {
        assert_eq!(ask(instances, None), 401);
        assert_eq!(ask(instances, Some(format!("ApiKey {forged}"))), 401);
        assert_eq!(ask(instances, Some(format!("ApiKey {}", key.text()))), 200);
        assert_eq!(
            ask(definitions, Some(format!("Bearer {}", key.text()))),
            403
        );
        assert_eq!(ask("/health/ready", None), 200);
    }
    Ok(())
}
