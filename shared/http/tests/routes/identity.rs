//! Signing in, users, roles, applications.

use dormouse_runtime::Tenant;
use serde_json::{Value, json};

use crate::access::{ask, key, server};
use crate::server::{Answered, Server};

/// Signs in, and gives the answer.
pub(crate) async fn sign_in(server: &Server, name: &str, password: &str) -> Value {
    let body = json!({ "username": name, "password": password });
    server.post("/identity/login", &body).await.ok(200)
}

/// Asks with a token.
async fn with_token(server: &Server, token: &Value, method: &str, path: &str) -> Answered {
    let request = axum::http::Request::builder()
        .method(method)
        .uri(format!("/elsa/api{path}"))
        .header(
            "authorization",
            format!("Bearer {}", token.as_str().unwrap()),
        );
    server
        .send(request.body(axum::body::Body::empty()).unwrap())
        .await
}

/// The first user's name and password.
async fn first(server: &Server) -> (String, String) {
    let tenant = Tenant::default();
    let runtime = server.app.runtime();
    let first = runtime
        .accounts()
        .make_first_user(&tenant)
        .await
        .unwrap()
        .unwrap();
    assert!(
        runtime
            .accounts()
            .make_first_user(&tenant)
            .await
            .unwrap()
            .is_none()
    );
    (first.user, first.password)
}

#[tokio::test]
async fn a_user_signs_in_stays_signed_in_and_is_told_nothing_about_wrong_passwords() {
    let server = server();
    let (name, password) = first(&server).await;
    let nobody = json!({ "isAuthenticated": false, "accessToken": null, "refreshToken": null });
    for (name, password) in [
        ("admin", "wrong password"),
        ("nobody", password.as_str()),
        ("nobody", "x"),
        ("a#b\u{0}", "x"),
    ] {
        assert_eq!(sign_in(&server, name, password).await, nobody);
    }
    for (name, password) in [("", ""), ("admin", ""), ("", "x")] {
        let body = json!({ "username": name, "password": password });
        let refused = server.post("/identity/login", &body).await;
        refused.problem(400, "invalidRequest");
    }
    let tokens = sign_in(&server, &name.to_uppercase(), &password).await;
    assert_eq!(tokens["isAuthenticated"], true);
    let (access, refresh) = (&tokens["accessToken"], &tokens["refreshToken"]);
    with_token(&server, access, "GET", "/workflow-definitions")
        .await
        .ok(200);
    let me = with_token(&server, access, "GET", "/identity/me")
        .await
        .ok(200);
    assert_eq!(
        me,
        json!({ "name": "admin", "tenantId": "default", "permissions": ["*"] })
    );
    // Neither token is good for the other's purpose.
    with_token(&server, refresh, "GET", "/workflow-definitions")
        .await
        .problem(401, "unauthenticated");
    with_token(&server, access, "POST", "/identity/refresh-token")
        .await
        .problem(401, "unauthenticated");
    let again = with_token(&server, refresh, "POST", "/identity/refresh-token")
        .await
        .ok(200);
    with_token(
        &server,
        &again["accessToken"],
        "GET",
        "/workflow-definitions",
    )
    .await
    .ok(200);
}

#[tokio::test]
async fn who_tries_passwords_must_wait() {
    let server = server();
    first(&server).await;
    let body = json!({ "username": "admin", "password": "wrong password" });
    let mut tries = 0;
    loop {
        let answered = server.post("/identity/login", &body).await;
        if answered.status == 429 {
            answered.problem(429, "tooManyAttempts");
            break;
        }
        tries += 1;
        assert!(tries < 100, "nobody holds up who guesses");
    }
    assert!(tries >= 10, "{tries}");
}

#[tokio::test]
async fn users_and_roles_are_made_changed_and_deleted() {
    let server = server();
    let all = key(&server, "default", &["*"]).await;
    let send = async |method: &str, path: &str, body: Value| {
        ask(&server, Some(&all), method, path, &body).await
    };
    let role = json!({ "name": "Work Flow Reader", "permissions": ["read:user"] });
    let made = send("POST", "/identity/roles", role.clone()).await.ok(200);
    assert_eq!(made["id"], "work-flow-reader");
    send("POST", "/identity/roles", role)
        .await
        .problem(409, "nameTaken");
    let user = json!({ "name": "Ada", "roles": ["work-flow-reader"] });
    let ada = send("POST", "/identity/users", user.clone()).await.ok(200);
    assert_eq!(
        (&ada["id"], &ada["roles"]),
        (&json!("ada"), &json!(["work-flow-reader"]))
    );
    send("POST", "/identity/users", user)
        .await
        .problem(409, "nameTaken");
    let password = ada["password"].as_str().unwrap();
    let tokens = sign_in(&server, "ada", password).await;
    let access = &tokens["accessToken"];
    with_token(&server, access, "GET", "/identity/users")
        .await
        .ok(200);
    with_token(&server, access, "DELETE", "/identity/users/ada")
        .await
        .problem(403, "forbidden");

    // A change of the role is in force at once, and so is one of the password: tokens of before do not count.
    let less = json!({ "permissions": ["read:workflow-instances"] });
    send("PUT", "/identity/roles/work-flow-reader", less)
        .await
        .ok(200);
    with_token(&server, access, "GET", "/identity/users")
        .await
        .problem(403, "forbidden");
    let other = json!({ "password": "another password" });
    send("PUT", "/identity/users/ada", other).await.ok(200);
    with_token(&server, access, "GET", "/identity/me")
        .await
        .problem(401, "unauthenticated");
    let refresh = &tokens["refreshToken"];
    with_token(&server, refresh, "POST", "/identity/refresh-token")
        .await
        .problem(401, "unauthenticated");
    assert_eq!(
        sign_in(&server, "ada", "another password").await["isAuthenticated"],
        true
    );
}

#[tokio::test]
async fn a_role_that_somebody_has_stays_and_a_user_who_is_gone_is_nobody() {
    let server = server();
    let all = key(&server, "default", &["*"]).await;
    let send = async |method: &str, path: &str, body: Value| {
        ask(&server, Some(&all), method, path, &body).await
    };
    let role = json!({ "id": "work-flow-reader", "permissions": ["read:*"] });
    send("POST", "/identity/roles", role).await.ok(200);
    let user =
        json!({ "name": "Ada", "password": "another password", "roles": ["work-flow-reader"] });
    send("POST", "/identity/users", user).await.ok(200);
    let impact = send(
        "GET",
        "/identity/roles/work-flow-reader/deletion-impact",
        json!({}),
    )
    .await;
    assert_eq!(impact.ok(200)["holders"], 1);
    send("DELETE", "/identity/roles/work-flow-reader", json!({}))
        .await
        .problem(409, "roleInUse");
    send("DELETE", "/identity/users/ada", json!({}))
        .await
        .ok(204);
    send("DELETE", "/identity/users/ada", json!({}))
        .await
        .problem(404, "noSuchIdentity");
    send("DELETE", "/identity/roles/work-flow-reader", json!({}))
        .await
        .ok(204);
    assert_eq!(
        sign_in(&server, "ada", "another password").await["isAuthenticated"],
        false
    );
    for (bad, path) in [
        (json!({ "name": "a b" }), "/identity/users"),
        (
            json!({ "name": "bob", "password": "short" }),
            "/identity/users",
        ),
        (json!({ "permissions": [] }), "/identity/roles"),
    ] {
        send("POST", path, bad).await.problem(400, "wrongShape");
    }
    let unknown = json!({ "name": "bob", "roles": ["none"] });
    send("POST", "/identity/users", unknown)
        .await
        .problem(403, "moreThanYours");
}

#[tokio::test]
async fn nobody_gives_away_more_than_he_has() {
    let server = server();
    let all = key(&server, "default", &["*"]).await;
    let role = json!({ "id": "boss", "permissions": ["*"] });
    ask(&server, Some(&all), "POST", "/identity/roles", &role)
        .await
        .ok(200);
    let user = json!({ "name": "ada", "roles": ["boss"] });
    ask(&server, Some(&all), "POST", "/identity/users", &user)
        .await
        .ok(200);
    let permissions = [
        "create:user",
        "update:user",
        "delete:user",
        "create:role",
        "update:role",
        "delete:role",
        "create:application",
    ];
    let clerk = key(&server, "default", &permissions).await;
    for (method, path, body) in [
        (
            "POST",
            "/identity/roles",
            json!({ "id": "x", "permissions": ["read:audit"] }),
        ),
        ("PUT", "/identity/roles/boss", json!({ "permissions": [] })),
        ("DELETE", "/identity/roles/boss", json!({})),
        (
            "POST",
            "/identity/users",
            json!({ "name": "eve", "roles": ["boss"] }),
        ),
        (
            "PUT",
            "/identity/users/ada",
            json!({ "password": "eve's password" }),
        ),
        ("DELETE", "/identity/users/ada", json!({})),
        (
            "POST",
            "/identity/applications",
            json!({ "name": "x", "roles": ["boss"] }),
        ),
        (
            "POST",
            "/identity/applications",
            json!({ "name": "x", "permissions": ["*"] }),
        ),
    ] {
        let refused = ask(&server, Some(&clerk), method, path, &body).await;
        refused.problem(403, "moreThanYours");
    }
    let own = json!({ "name": "x", "permissions": ["create:user"] });
    ask(
        &server,
        Some(&clerk),
        "POST",
        "/identity/applications",
        &own,
    )
    .await
    .ok(200);
}

#[tokio::test]
async fn an_applications_key_is_told_once_and_counts_until_it_is_deleted() {
    let server = server();
    let all = key(&server, "default", &["*"]).await;
    let new = json!({ "name": "ci", "permissions": ["read:workflow-definitions"] });
    let made = ask(&server, Some(&all), "POST", "/identity/applications", &new)
        .await
        .ok(200);
    let own = made["apiKey"].as_str().unwrap();
    let path = "/workflow-definitions";
    ask(&server, Some(own), "GET", path, &json!({}))
        .await
        .ok(200);
    let listed = ask(
        &server,
        Some(&all),
        "GET",
        "/identity/applications",
        &json!({}),
    )
    .await
    .ok(200);
    let secret = own.rsplit('_').next().unwrap();
    assert!(!listed.to_string().contains(secret), "{listed}");
    let delete = format!("/identity/applications/{}", made["id"].as_str().unwrap());
    let foreign = key(&server, "other", &["*"]).await;
    ask(&server, Some(&foreign), "DELETE", &delete, &json!({}))
        .await
        .problem(404, "noSuchIdentity");
    ask(&server, Some(own), "GET", path, &json!({}))
        .await
        .ok(200);
    ask(&server, Some(&all), "DELETE", &delete, &json!({}))
        .await
        .ok(204);
    ask(&server, Some(own), "GET", path, &json!({}))
        .await
        .problem(401, "unauthenticated");
    let brief = json!({ "name": "brief", "permissions": ["*"], "expiresInMs": 1 });
    let made = ask(
        &server,
        Some(&all),
        "POST",
        "/identity/applications",
        &brief,
    )
    .await
    .ok(200);
    let until = std::time::Instant::now() + std::time::Duration::from_millis(5);
    while std::time::Instant::now() < until {}
    let brief = made["apiKey"].as_str();
    ask(&server, brief, "GET", path, &json!({}))
        .await
        .problem(401, "unauthenticated");
}
