//! Secrets: the routes that Elsa's module has, and that a value reaches the one it is for and nobody else, however it is
//! echoed.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use dormouse_engine::call::{Answer, HttpRequest};
use dormouse_http::HttpConfig;
use dormouse_runtime::port::HttpCaller;
use dormouse_store::MemoryTable;
use serde_json::{Value, json};

use crate::leaks::{Lines, is_nowhere_in, items, told};
use crate::server::{Server, literal, sequence};
use crate::vault::TestVault;

/// A value that looks different in JSON, in a form and as Base64.
pub(crate) const VALUE: &str = "s3cret \"value\" & more";
const CARD: &str = "mark-of-the-card";

/// Answers with everything that it was sent.
#[derive(Default)]
pub(crate) struct Echo(pub(crate) Mutex<Vec<HttpRequest>>);

#[async_trait]
impl HttpCaller for Echo {
    async fn call(&self, request: &HttpRequest, _timeout_ms: u64) -> Answer {
        self.0.lock().unwrap().push(request.clone());
        let mut body = format!("{} {:?} ", request.url, request.headers).into_bytes();
        body.extend(request.body.clone().unwrap_or_default());
        let headers = request.headers.iter();
        Answer::Http {
            status: 200,
            headers: headers
                .map(|(name, value)| (format!("x-{}", name.to_lowercase()), vec![value.clone()]))
                .chain([("content-type".to_owned(), vec!["text/plain".to_owned()])])
                .collect(),
            body,
        }
    }
}

pub(crate) struct World {
    pub(crate) server: Server,
    table: Arc<MemoryTable>,
    lines: Arc<Lines>,
    pub(crate) echo: Arc<Echo>,
}

pub(crate) async fn world() -> World {
    let (table, lines, echo) = (
        Arc::<MemoryTable>::default(),
        Arc::<Lines>::default(),
        Arc::<Echo>::default(),
    );
    let server = Server::with_secrets(
        (Arc::clone(&table), Arc::new(TestVault::new())),
        HttpConfig::default(),
        Arc::clone(&echo) as _,
        Arc::clone(&lines) as _,
    );
    server
        .app
        .runtime()
        .accounts()
        .secrets()
        .allow()
        .await
        .unwrap();
    World {
        server,
        table,
        lines,
        echo,
    }
}

pub(crate) async fn set(server: &Server, name: &str, value: &str) -> Value {
    let body = json!({ "name": name, "value": value, "description": "for a test" });
    server.post("/secrets", &body).await.ok(200)
}

fn script(type_name: &str, text: &str) -> Value {
    json!({ "typeName": type_name, "expression": { "type": "JavaScript", "value": text } })
}

#[tokio::test]
#[allow(clippy::too_many_lines, reason = "the life of a secret")]
async fn the_routes_tell_all_of_a_secret_but_its_value() {
    let World { server, .. } = world().await;
    let made = set(&server, "Stripe:Key", VALUE).await;
    assert_eq!(
        (&made["name"], &made["displayName"], &made["status"]),
        (&json!("stripe:key"), &json!("Stripe:Key"), &json!("Active"))
    );
    assert_eq!(
        (&made["currentVersion"], &made["storeName"]),
        (&json!(1), &json!("Encrypted"))
    );
    let again = json!({ "name": "stripe:KEY", "value": "x" });
    server
        .post("/secrets", &again)
        .await
        .problem(409, "secretExists");
    for (wrong, status, code) in [
        (json!({ "name": "1", "value": "x" }), 400, "badSecretName"),
        (
            json!({ "name": "ok", "value": "x".repeat(65_537) }),
            400,
            "badSecret",
        ),
    ] {
        server.post("/secrets", &wrong).await.problem(status, code);
    }
    for wrong in [
        json!({ "name": "ok" }),
        json!({ "name": "ok", "storeName": "Configuration" }),
        json!({ "name": "ok", "value": "x", "typeName": "RsaKey" }),
        json!({ "name": "ok", "value": "x", "expiresAt": "soon" }),
    ] {
        assert_eq!(server.post("/secrets", &wrong).await.status, 400, "{wrong}");
    }
    let kept =
        json!({ "name": "elsewhere", "storeName": "Configuration", "configurationKey": "Known" });
    server.post("/secrets", &kept).await.ok(200);
    let expressions = server
        .get("/descriptors/expression-descriptors")
        .await
        .ok(200);
    assert_eq!(expressions["count"], 10);
    let list = server.get("/secrets?pageSize=1&page=1").await.ok(200);
    assert_eq!(
        (&list["totalCount"], &list["items"][0]["name"]),
        (&json!(2), &json!("stripe:key"))
    );
    let found = server
        .get("/secrets?search=STRIPE&status=active")
        .await
        .ok(200);
    assert_eq!(found["totalCount"], 1);
    let picked = server
        .post("/secrets/picker", &json!({ "search": "else" }))
        .await
        .ok(200);
    assert_eq!(picked["items"][0]["name"], "elsewhere");
    let rotated = json!({ "value": "another value" });
    let rotated = server
        .post("/secrets/Stripe:Key/rotate", &rotated)
        .await
        .ok(200);
    assert_eq!(rotated["currentVersion"], 2);
    let described = json!({ "displayName": "Shop", "description": null });
    let described = server.post("/secrets/stripe:key", &described).await.ok(200);
    assert_eq!(described["displayName"], "Shop");
    for (name, succeeded) in [("stripe:key", true), ("elsewhere", true)] {
        let tested = server
            .post(&format!("/secrets/{name}/test"), &json!({}))
            .await
            .ok(200);
        assert_eq!(tested["succeeded"], succeeded);
    }
    let changed = server.post("/secret-keys/rotate", &json!({})).await.ok(200);
    assert_eq!(changed["resealed"], 1);
    let tested = server
        .post("/secrets/stripe:key/test", &json!({}))
        .await
        .ok(200);
    assert_eq!(tested["succeeded"], true, "under the new key");
    let revoked = server
        .post("/secrets/stripe:key/revoke", &json!({}))
        .await
        .ok(200);
    assert_eq!(
        (&revoked["status"], &revoked["currentVersion"]),
        (&json!("Revoked"), &Value::Null)
    );
    let rotated = json!({ "value": "again" });
    let rotated = server.post("/secrets/stripe:key/rotate", &rotated).await;
    rotated.problem(409, "secretRevoked");
    let deleted = server.ask("DELETE", "/elsa/api/secrets/stripe:key").await;
    assert_eq!(deleted.status, 204);
    server
        .get("/secrets/stripe:key")
        .await
        .problem(404, "noSuchSecret");
    assert_eq!(
        server.get("/secrets/descriptors").await.ok(200)["stores"][0]["name"],
        "Encrypted"
    );
}

#[tokio::test]
#[allow(
    clippy::too_many_lines,
    reason = "one value and all the ways that it takes"
)]
async fn a_value_reaches_whoever_it_is_for_and_comes_back_nowhere() {
    let World {
        server,
        table,
        lines,
        echo,
    } = world().await;
    set(&server, "shop", VALUE).await;
    set(&server, "card", CARD).await;
    let ty = json!({
        "inputs": [{ "name": "card", "type": "String" }, { "name": "pin", "type": "String", "isSensitive": true }], "outputs": [{ "name": "seen", "type": "String" }],
        "handler": { "kind": "worker", "queue": "q" },
    });
    let put = axum::http::Request::put("/elsa/api/activity-types/Acme.Pay")
        .header("content-type", "application/json")
        .body(ty.to_string().into());
    server.send(put.unwrap()).await.ok(201);
    let secret = json!({ "typeName": "String", "expression": { "type": "Secret", "value": { "name": "Card" } } });
    let activities = json!([
        { "type": "Elsa.SendHttpRequest", "id": "call",
          "url": script("Uri", "'https://shop.example/?key=' + await getSecret('shop')"),
          "method": literal("String", &"POST".into()), "contentType": literal("String", &"application/json".into()),
          "content": script("Object", "({ key: await getSecret('Shop'), plain: 'plain-value' })"),
          "authorization": script("String", "'Bearer ' + await getSecret('shop')"),
          "parsedContent": { "typeName": "Object", "memoryReference": { "id": "Got" } },
          "responseHeaders": { "typeName": "Object", "memoryReference": { "id": "Headers" } } },
        { "type": "Elsa.WriteLine", "id": "line", "text": script("String", "`${JSON.stringify(getGot())} ${JSON.stringify(getHeaders())} ${getVariable('Key')}`") },
        { "type": "Elsa.SetVariable", "id": "keep", "variable": { "id": "Key", "name": "Key", "typeName": "Object" },
          "value": script("Object", "({ key: await getSecret('shop') })") },
        { "type": "Acme.Pay", "id": "pay", "card": secret, "pin": script("String", "'mark-' + 'pin'"), "seen": { "typeName": "String", "memoryReference": { "id": "Seen" } } },
        { "type": "Elsa.WriteLine", "id": "seen", "text": script("String", "getSeen()") },
        { "type": "Elsa.Event", "id": "go", "eventName": literal("String", &"Go".into()) },
    ]);
    let mut model = sequence("pays", activities);
    model["variables"] = ["Got", "Headers", "Key", "Seen"]
        .map(|name| json!({ "id": name, "name": name, "typeName": "Object" }))
        .to_vec()
        .into();
    let save = json!({ "model": model, "publish": true });
    server.post("/workflow-definitions", &save).await.ok(200);
    let started = json!({ "definitionId": "pays" });
    let started = server
        .post("/workflow-definitions/pays/execute", &started)
        .await
        .ok(200);
    let id = started["workflowState"]["id"].as_str().unwrap().to_owned();

    let requests = echo.0.lock().unwrap().clone();
    let [request] = requests.as_slice() else {
        panic!("{requests:?}");
    };
    assert_eq!(
        request.url,
        "https://shop.example/?key=s3cret%20%22value%22%20%26%20more"
    );
    let body: Value = serde_json::from_slice(request.body.as_ref().unwrap()).unwrap();
    assert_eq!(body, json!({ "key": VALUE, "plain": "plain-value" }));
    let header = request
        .headers
        .iter()
        .find(|(name, _)| name.eq_ignore_ascii_case("authorization"));
    assert_eq!(header.unwrap().1, format!("Bearer {VALUE}"));

    let poll = json!({ "queue": "q", "types": ["Acme.Pay"], "workerId": "w", "waitMs": 5_000 });
    let polled = server.post("/tasks/poll", &poll).await.ok(200);
    let task = &polled["tasks"][0];
    assert_eq!(task["input"], json!({ "card": CARD, "pin": "mark-pin" }));
    // While the task is open its inputs are in the state, and nobody reads them there.
    for item in items(&table).await {
        is_nowhere_in(&[CARD, "mark-pin"], "the table", &item);
    }
    let path = format!("/tasks/{}", task["taskId"].as_str().unwrap());
    let beat = json!({ "details": { "card": CARD, VALUE: 1 } });
    server
        .post(&format!("{path}/heartbeat"), &beat)
        .await
        .ok(200);
    let done = json!({ "outputs": { "seen": format!("the card is {CARD}, the key {VALUE}") } });
    server
        .post(&format!("{path}/complete"), &done)
        .await
        .ok(200);

    let heard = lines.0.lock().unwrap().join("\n");
    assert!(
        heard.contains("plain-value") && heard.contains("the card is [redacted]"),
        "{heard}"
    );
    let forms = [
        VALUE,
        CARD,
        "mark-pin",
        "s3cret \\\"value\\\"",
        "s3cret%20%22value%22",
        "s3cret+%22",
    ];
    is_nowhere_in(&forms, "a line", &heard);
    for (place, text) in told(&server, "", (&id, "call")).await {
        is_nowhere_in(&forms, &place, &text);
    }
    for path in ["/secrets", "/secrets/card", "/audit"] {
        let answer = server.get(path).await;
        is_nowhere_in(&forms, path, &String::from_utf8_lossy(&answer.body));
    }
    for item in items(&table).await {
        is_nowhere_in(&forms, "the table", &item);
    }
}

#[tokio::test]
async fn a_reference_counts_in_its_instance_only_and_a_missing_secret_is_told() {
    let World {
        server,
        lines,
        echo,
        ..
    } = world().await;
    set(&server, "shop", VALUE).await;
    let activities = json!([
        { "type": "Elsa.SendHttpRequest", "id": "call",
          "url": literal("Uri", &"https://shop.example/".into()), "method": literal("String", &"POST".into()),
          "contentType": literal("String", &"text/plain".into()),
          "content": script("Object", "getInput('Body') || await getSecret(getInput('Name'))") },
        { "type": "Elsa.WriteLine", "id": "line", "text": script("String", "await getSecret('shop')") },
    ]);
    let save = json!({ "model": sequence("sends", activities), "publish": true });
    server.post("/workflow-definitions", &save).await.ok(200);
    let run = async |input: Value, status: u16| {
        let body = json!({ "input": input });
        let started = server
            .post("/workflow-definitions/sends/execute", &body)
            .await
            .ok(status);
        started["workflowState"].clone()
    };
    run(json!({ "Name": "shop" }), 200).await;
    let reference = lines.0.lock().unwrap().last().unwrap().clone();
    assert!(reference.starts_with("dmsecret_"), "{reference}");
    run(json!({ "Body": reference }), 200).await;
    let bodies: Vec<String> = {
        let requests = echo.0.lock().unwrap();
        let bodies = requests.iter().map(|request| request.body.clone().unwrap());
        bodies
            .map(|body| String::from_utf8(body).unwrap())
            .collect()
    };
    assert_eq!(
        bodies,
        [VALUE.to_owned(), reference],
        "another instance's is a text"
    );
    let failed = run(json!({ "Name": "nosuch" }), 500).await;
    assert_eq!(failed["subStatus"], "Faulted");
    assert!(
        failed.to_string().contains("there is no secret `nosuch`"),
        "{failed:#}"
    );
    assert_eq!(echo.0.lock().unwrap().len(), 2, "nothing was sent");
    let rotated = json!({ "value": "another value" });
    server.post("/secrets/shop/rotate", &rotated).await.ok(200);
    run(json!({ "Name": "shop" }), 200).await;
    let last = echo.0.lock().unwrap().last().unwrap().body.clone().unwrap();
    assert_eq!(last, b"another value");
}
