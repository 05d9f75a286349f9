//! Credentials that a caller or an author puts anywhere turn up nowhere: not in the journal, in executions, exports, answers
//! or lines, and those of the server itself not even in the table.

use std::sync::{Arc, Mutex};

use axum::body::Body;
use axum::http::Request;
use dormouse_http::HttpConfig;
use dormouse_runtime::identity::Authentication;
use dormouse_runtime::port::{Happened, Observer};
use dormouse_store::MemoryTable;
use dormouse_store::table::scan::Scan;
use serde_json::{Value, json};

use crate::access::{ask, key};
use crate::server::{Server, literal, sequence};

/// Marks of the secrets that callers and authors use.
const MARKS: [&str; 7] = [
    "mark-basic",
    "mark-cookie",
    "mark-proxy",
    "mark-set-cookie",
    "mark-outgoing-header",
    "mark-outgoing-authorization",
    "mark-second-cookie",
];

/// Hears the lines that workflows write.
#[derive(Default)]
pub(crate) struct Lines(pub(crate) Mutex<Vec<String>>);

impl Observer for Lines {
    fn happened(&self, happened: Happened<'_>) {
        self.0.lock().unwrap().extend_from_slice(happened.lines);
    }
}

fn script(type_name: &str, text: &str) -> Value {
    json!({ "typeName": type_name, "expression": { "type": "JavaScript", "value": text } })
}

/// Takes a request with its headers, keeps and tells everything that it can, and calls somebody with credentials.
fn tell_all(id: &str, authorize: bool, waits: bool) -> Value {
    let mut activities = json!([
        { "type": "Elsa.HttpEndpoint", "id": "in", "customProperties": { "canStartWorkflow": true },
          "path": literal("String", &id.into()),
          "supportedMethods": { "typeName": "String[]", "expression": { "type": "Object", "value": "[\"POST\"]" } },
          "authorize": literal("Boolean", &authorize.into()),
          "headers": { "typeName": "Object", "memoryReference": { "id": "Headers" } },
          "result": { "typeName": "Object", "memoryReference": { "id": "Whole" } } },
        { "type": "Elsa.WriteLine", "id": "line", "text": script("String", "JSON.stringify(getHeaders())") },
        { "type": "Elsa.SetVariable", "id": "copy", "variable": { "id": "Copy", "name": "Copy", "typeName": "Object" },
          "value": script("Object", "({ inside: [getWhole()] })") },
        { "type": "Elsa.SendHttpRequest", "id": "call", "url": literal("Uri", &"https://example.com/".into()),
          "authorization": script("String", "'Bearer ' + 'mark-outgoing-authorization'"),
          "requestHeaders": script("Object", "({ 'X-Plain': 'plain-value', Cookie: 'mark-outgoing-' + 'header' })") },
        { "type": "Elsa.WriteHttpResponse", "id": "out", "content": literal("String", &"told".into()),
          "responseHeaders": script("Object", "({ 'Set-Cookie': 'mark-set-' + 'cookie' })") },
    ]);
    if waits {
        let event = json!({ "type": "Elsa.Event", "id": "go", "eventName": literal("String", &"Go".into()) });
        activities.as_array_mut().unwrap().push(event);
    }
    let mut model = sequence(id, activities);
    let names = ["Headers", "Whole", "Copy"];
    model["variables"] = names
        .map(|name| json!({ "id": name, "name": name, "typeName": "Object" }))
        .to_vec()
        .into();
    model
}

/// Every item of the table, as text.
pub(crate) async fn items(table: &MemoryTable) -> Vec<String> {
    let mut found = Vec::new();
    let mut cursor = None;
    loop {
        let page = table.scan(cursor).await.unwrap();
        // Bytes are shown with what is ASCII in them.
        found.extend(page.items.iter().map(|item| format!("{item:?}")));
        cursor = page.cursor;
        if cursor.is_none() {
            return found;
        }
    }
}

#[track_caller]
pub(crate) fn is_nowhere_in(marks: &[&str], place: &str, text: &str) {
    for mark in marks {
        assert!(!text.contains(mark), "{mark} is in {place}: {text}");
    }
}

/// Everything that the API tells of an instance and of one of its activities.
pub(crate) async fn told(
    server: &Server,
    admin: &str,
    (id, activity): (&str, &str),
) -> Vec<(String, String)> {
    let mut told = Vec::new();
    let flags =
        "includeBookmarks=true&includeActivityExecutionLog=true&includeWorkflowExecutionLog=true";
    for path in [
        format!("/workflow-instances/{id}"),
        format!("/workflow-instances/{id}/variables"),
        format!("/workflow-instances/{id}/journal"),
        format!("/workflow-instances/{id}/journal/{activity}"),
        format!("/workflow-instances/{id}/export?{flags}"),
        format!("/activity-executions/list?workflowInstanceId={id}"),
        "/workflow-instances".to_owned(),
    ] {
        let admin = Some(admin).filter(|admin| !admin.is_empty());
        let answer = ask(server, admin, "GET", &path, &json!({})).await;
        assert_eq!(answer.status, 200, "{path}");
        let text = String::from_utf8_lossy(&answer.body).into_owned();
        // The state in an export is bytes as Base64.
        let decoded = decoded(&answer.json());
        told.push((path, format!("{text}{decoded}")));
    }
    told
}

/// All texts in a value that are Base64, decoded.
fn decoded(value: &Value) -> String {
    use base64::Engine as _;
    match value {
        Value::String(text) => base64::engine::general_purpose::STANDARD
            .decode(text)
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            .unwrap_or_default(),
        Value::Array(items) => items.iter().map(decoded).collect(),
        Value::Object(map) => map.values().map(decoded).collect(),
        _ => String::new(),
    }
}

async fn call(server: &Server, path: &str, authorization: &str) -> (String, String) {
    let request = Request::post(format!("/workflows/{path}"))
        .header("authorization", authorization)
        .header("cookie", "a=mark-cookie")
        .header("cookie", "b=mark-second-cookie")
        .header("proxy-authorization", "Basic mark-proxy")
        .header("x-plain", "plain-value");
    let answer = server.send(request.body(Body::empty()).unwrap()).await;
    let body = String::from_utf8_lossy(&answer.body).into_owned();
    assert_eq!(answer.status, 200, "{body}");
    (
        answer.header("x-elsa-workflow-instance-id").to_owned(),
        body,
    )
}

#[tokio::test]
async fn no_credential_is_told_wherever_somebody_puts_one() {
    let table = Arc::new(MemoryTable::default());
    let lines = Arc::new(Lines::default());
    let authentication = Authentication::read("apiKeys,users", None).unwrap();
    let server = Server::over(
        Arc::clone(&table),
        HttpConfig::default(),
        authentication,
        Some(Arc::clone(&lines) as _),
    );
    let admin = key(&server, "default", &["*"]).await;
    for (id, authorize, waits) in [
        ("ours", true, true),
        ("theirs", false, true),
        ("ended", false, false),
    ] {
        let save = json!({ "model": tell_all(id, authorize, waits), "publish": true });
        ask(
            &server,
            Some(&admin),
            "POST",
            "/workflow-definitions",
            &save,
        )
        .await
        .ok(200);
    }
    let (ours, _) = call(&server, "ours", &format!("ApiKey {admin}")).await;
    let expired = format!("dm_{:016x}_{}", 9, "A".repeat(43));
    let (forged, _) = call(&server, "theirs", &format!("Bearer {expired}")).await;
    let (theirs, _) = call(&server, "theirs", "Basic mark-basic").await;
    let (ended, _) = call(&server, "ended", "Basic mark-basic").await;

    let (_, secret) = admin.rsplit_once('_').unwrap_or_default();
    let secret = if secret.len() < 20 {
        admin.as_str()
    } else {
        secret
    };
    let own = [secret, expired.as_str()];
    let marks = [&MARKS[..], &own].concat();
    for id in [&ours, &forged, &theirs, &ended] {
        for (place, text) in told(&server, &admin, (&id[..], "in")).await {
            is_nowhere_in(&marks, &place, &text);
        }
    }
    // The rest of the request is still told.
    let journal = format!("/workflow-instances/{theirs}/journal");
    let journal = ask(&server, Some(&admin), "GET", &journal, &json!({})).await;
    let text = String::from_utf8_lossy(&journal.body).into_owned();
    assert!(
        text.contains("plain-value") && text.contains("[redacted]"),
        "{text}"
    );

    let heard = lines.0.lock().unwrap().join("\n");
    is_nowhere_in(&marks, "a line", &heard);
    let items = items(&table).await;
    assert!(items.iter().any(|item| item.contains("plain-value")));
    for item in &items {
        is_nowhere_in(&own, "the table", item);
        // What has ended has no state any more, only its journal.
        if item.contains(&ended) {
            is_nowhere_in(&marks, "the table", item);
        }
    }
}
