//! What the audit log says of who did what.

use serde_json::json;

use crate::access::{ask, key, server};
use crate::identity::sign_in;

#[tokio::test]
async fn the_audit_log_says_who_did_what_with_what_success() {
    let server = server();
    let all = key(&server, "default", &["*"]).await;
    let save = json!({ "model": crate::server::waiting("w"), "publish": true });
    ask(&server, Some(&all), "POST", "/workflow-definitions", &save)
        .await
        .ok(200);
    ask(
        &server,
        Some(&all),
        "GET",
        "/workflow-definitions",
        &json!({}),
    )
    .await
    .ok(200);
    let cancel = "/cancel/workflow-instances/none";
    ask(&server, Some(&all), "POST", cancel, &json!({}))
        .await
        .ok(200);
    let role = json!({ "id": "r", "permissions": [] });
    ask(&server, Some(&all), "POST", "/identity/roles", &role)
        .await
        .ok(200);
    sign_in(&server, "admin", "wrong password").await;
    let log = ask(&server, Some(&all), "GET", "/audit?pageSize=3", &json!({}))
        .await
        .ok(200);
    let cursor = log["cursor"].as_str().unwrap();
    let path = format!(
        "/audit?cursor={}",
        cursor
            .replace('"', "%22")
            .replace('[', "%5B")
            .replace(']', "%5D")
    );
    let rest = ask(&server, Some(&all), "GET", &path, &json!({}))
        .await
        .ok(200);
    let items = log["items"].as_array().unwrap().iter();
    let seen: Vec<_> = items
        .chain(rest["items"].as_array().unwrap())
        .map(|i| {
            format!(
                "{} {} {} {} {}",
                i["kind"], i["who"], i["action"], i["subject"], i["status"]
            )
        })
        .collect();
    // Within one millisecond the order is chance.
    let has = |text: &str| {
        assert!(
            seen.contains(&text.to_owned()),
            "{text} is not in {seen:#?}"
        )
    };
    has(r#""application" "test" "save" "/elsa/api/workflow-definitions" 200"#);
    has(r#""application" "test" "cancel" "/elsa/api/cancel/workflow-instances/none" 200"#);
    has(r#""application" "test" "role" "/elsa/api/identity/roles" 200"#);
    has(r#""anonymous" "nobody" "login" "/identity/login" 401"#);
    assert_eq!(seen.len(), 4, "{seen:#?}");
}

#[tokio::test]
async fn the_audit_log_is_its_tenants_own_and_of_a_month() {
    let server = server();
    let all = key(&server, "default", &["*"]).await;
    let role = json!({ "id": "r", "permissions": [] });
    ask(&server, Some(&all), "POST", "/identity/roles", &role)
        .await
        .ok(200);
    let foreign = key(&server, "other", &["*"]).await;
    let theirs = ask(&server, Some(&foreign), "GET", "/audit", &json!({}))
        .await
        .ok(200);
    assert_eq!(theirs["items"], json!([]));
    ask(
        &server,
        Some(&all),
        "GET",
        "/audit?month=11-2026",
        &json!({}),
    )
    .await
    .problem(400, "badParameter");
}
