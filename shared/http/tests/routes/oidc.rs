//! Signing in at an outside issuer.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use axum::body::Body;
use axum::http::Request;
use dormouse_engine::time::Timestamp;
use dormouse_runtime::Tenant;
use dormouse_runtime::identity::{Authentication, OidcSettings};
use dormouse_runtime::port::Clock;
use ring::rand::SystemRandom;
use serde_json::{Value, json};

use crate::provider::{ISSUER, Issuer, NOW_MS};
use crate::server::{Answered, Server};

/// A clock that a test sets.
struct Hands(AtomicI64);

#[async_trait]
impl Clock for Hands {
    fn now(&self) -> Timestamp {
        Timestamp(self.0.load(Ordering::Relaxed))
    }

    async fn sleep(&self, ms: u64) {
        tokio::time::sleep(Duration::from_millis(ms)).await;
    }

    fn random(&self) -> u64 {
        use ring::rand::SecureRandom;
        let mut bytes = [0; 8];
        SystemRandom::new().fill(&mut bytes).unwrap();
        u64::from_le_bytes(bytes)
    }
}

/// A browser with its cookies.
#[derive(Default)]
struct Browser {
    cookies: BTreeMap<String, String>,
}

impl Browser {
    async fn ask(&mut self, server: &Server, method: &str, path: &str) -> Answered {
        let cookies = self.cookies.iter();
        let cookies: Vec<_> = cookies.map(|(n, v)| format!("{n}={v}")).collect();
        let request = Request::builder().method(method).uri(path);
        let request = request
            .header("host", "flows.example")
            .header("cookie", cookies.join("; "));
        let answer = server.send(request.body(Body::empty()).unwrap()).await;
        for line in answer.headers.get_all("set-cookie") {
            let line = line.to_str().unwrap();
            assert!(line.contains("; HttpOnly") && line.contains("; Secure"));
            let (name, value) = line.split(';').next().unwrap().split_once('=').unwrap();
            match line.contains("Max-Age=0") {
                true => drop(self.cookies.remove(name)),
                false => drop(self.cookies.insert(name.to_owned(), value.to_owned())),
            }
        }
        answer
    }

    /// Goes to the issuer and back; answers where the browser is sent then.
    async fn sign_in(&mut self, server: &Server, issuer: &Issuer) -> String {
        let begun = self.ask(server, "GET", "/sign-in").await;
        assert_eq!(begun.status, 302);
        let (state, code) = issuer.visit(begun.header("location"));
        self.come_back(server, &state, &code).await
    }

    async fn come_back(&mut self, server: &Server, state: &str, code: &str) -> String {
        let code = code.replace(' ', "%20");
        let path = format!("/sign-in/callback?code={code}&state={state}");
        let back = self.ask(server, "GET", &path).await;
        assert_eq!(back.status, 302);
        back.header("location").to_owned()
    }
}

async fn server(issuer: &Arc<Issuer>) -> (Server, Arc<Hands>) {
    let roles = [
        ("engineers", vec!["editor"]),
        ("auditors", vec!["reader", "gone"]),
    ];
    let roles = roles.map(|(group, roles)| {
        let roles = roles.into_iter().map(str::to_owned).collect();
        (group.to_owned(), roles)
    });
    let oidc = OidcSettings {
        issuer: ISSUER.into(),
        client_id: "dormouse".into(),
        client_secret: Some("a secret:".into()),
        scopes: "profile".into(),
        groups_claim: "groups".into(),
        roles: BTreeMap::from(roles),
    };
    let authentication = Authentication::read_all("oidc,apiKeys", None, Some(oidc)).unwrap();
    let clock = Arc::new(Hands(AtomicI64::new(NOW_MS)));
    let server = Server::at(
        Arc::clone(&clock) as _,
        authentication,
        Arc::clone(issuer) as _,
    );
    let accounts = server.app.runtime().accounts();
    let key = accounts
        .make_admin_key(&Tenant::default(), "test")
        .await
        .unwrap();
    for (role, permission) in [("editor", "*"), ("reader", "read:workflow-definitions")] {
        let body = json!({ "id": role, "name": role, "permissions": [permission] });
        let request = Request::post("/elsa/api/identity/roles")
            .header("authorization", format!("ApiKey {}", key.text()))
            .header("content-type", "application/json");
        let made = server.send(request.body(body.to_string().into()).unwrap());
        made.await.ok(200);
    }
    (server, clock)
}

async fn as_bearer(server: &Server, token: &Value, method: &str, path: &str) -> Answered {
    let request = Request::builder()
        .method(method)
        .uri(format!("/elsa/api{path}"));
    let token = format!("Bearer {}", token.as_str().unwrap());
    let request = request.header("authorization", token);
    server.send(request.body(Body::empty()).unwrap()).await
}

const TOKEN: &str = "/elsa/api/identity/oidc/token";

#[tokio::test]
async fn a_person_signs_in_at_the_issuer_and_has_the_roles_of_their_groups() {
    let person = json!({ "sub": "42", "preferred_username": "ada", "groups": ["auditors", "x"] });
    let issuer = Issuer::new(person);
    let (server, clock) = server(&issuer).await;
    let mut browser = Browser::default();
    let ways = browser.ask(&server, "GET", "/elsa/api/identity/ways").await;
    let ways = ways.ok(200);
    assert_eq!(
        (&ways["users"], &ways["oidc"]["issuer"]),
        (&json!(false), &json!(ISSUER))
    );
    assert_eq!(browser.sign_in(&server, &issuer).await, "/?signIn=done");
    let tokens = browser.ask(&server, "POST", TOKEN).await.ok(200);
    assert_eq!(tokens["isAuthenticated"], true);
    assert_eq!(browser.cookies, BTreeMap::new(), "nothing is left behind");
    let access = &tokens["accessToken"];
    let me = as_bearer(&server, access, "GET", "/identity/me")
        .await
        .ok(200);
    assert_eq!(me["name"], "oidc:ada (42)");
    assert_eq!(me["permissions"], json!(["read:workflow-definitions"]));
    as_bearer(&server, access, "GET", "/workflow-definitions")
        .await
        .ok(200);
    as_bearer(&server, access, "GET", "/workflow-instances")
        .await
        .problem(403, "forbidden");

    // It is renewed as any other session is, for a working day.
    let renewed = "/identity/refresh-token";
    let refresh = &tokens["refreshToken"];
    clock.0.fetch_add(9 * 3_600_000, Ordering::Relaxed);
    let next = as_bearer(&server, refresh, "POST", renewed).await.ok(200);
    as_bearer(&server, &next["accessToken"], "GET", "/identity/me")
        .await
        .ok(200);
    clock.0.fetch_add(3_600_000, Ordering::Relaxed);
    as_bearer(&server, &next["refreshToken"], "POST", renewed)
        .await
        .problem(401, "unauthenticated");

    // Who signs out has no token that counts.
    assert_eq!(
        browser.sign_in(&server, &issuer).await,
        "/?signIn=failed",
        "the issuer's clock"
    );
    clock.0.store(NOW_MS, Ordering::Relaxed);
    assert_eq!(browser.sign_in(&server, &issuer).await, "/?signIn=done");
    let tokens = browser.ask(&server, "POST", TOKEN).await.ok(200);
    let access = &tokens["accessToken"];
    as_bearer(&server, access, "POST", "/identity/logout")
        .await
        .ok(204);
    as_bearer(&server, access, "GET", "/identity/me")
        .await
        .problem(401, "unauthenticated");
    let out = browser.ask(&server, "GET", "/sign-out").await;
    let there = "https://issuer.example/end?a=b&client_id=dormouse&post_logout_redirect_uri=https%3A%2F%2Fflows.example%2F";
    assert_eq!(out.header("location"), there);
}

#[tokio::test]
async fn somebody_without_a_role_here_is_told_so_and_has_no_session() {
    let issuer = Issuer::new(json!({ "sub": "42", "groups": ["strangers"] }));
    let (server, _) = server(&issuer).await;
    let mut browser = Browser::default();
    assert_eq!(browser.sign_in(&server, &issuer).await, "/?signIn=noRole");
    browser
        .ask(&server, "POST", TOKEN)
        .await
        .problem(401, "unauthenticated");
}

#[tokio::test]
async fn an_attempt_counts_for_the_browser_that_began_it_and_once() {
    let person = json!({ "sub": "42", "groups": ["engineers"] });
    let issuer = Issuer::new(person.clone());
    let (server, clock) = server(&issuer).await;
    let begin = async |browser: &mut Browser| {
        let begun = browser.ask(&server, "GET", "/sign-in").await;
        issuer.visit(begun.header("location"))
    };
    // A stranger's code is given to somebody else, so that they work in the stranger's name.
    let (mut one, mut other) = (Browser::default(), Browser::default());
    let (state, code) = begin(&mut one).await;
    assert_eq!(
        other.come_back(&server, &state, &code).await,
        "/?signIn=failed"
    );
    begin(&mut other).await;
    assert_eq!(
        other.come_back(&server, &state, &code).await,
        "/?signIn=failed"
    );
    // The browser that began it may still end it, once.
    let kept = one.cookies.clone();
    assert_eq!(one.come_back(&server, &state, &code).await, "/?signIn=done");
    one.cookies.extend(kept);
    assert_eq!(
        one.come_back(&server, &state, &code).await,
        "/?signIn=failed"
    );

    // A code that was stolen on its way is of no use without the proof.
    let (mut thief, mut victim) = (Browser::default(), Browser::default());
    let (_, stolen) = begin(&mut victim).await;
    let (own, _) = begin(&mut thief).await;
    assert_eq!(
        thief.come_back(&server, &own, &stolen).await,
        "/?signIn=failed"
    );

    // What the browser kept was changed, or is too old.
    for change in ["x", "", "a.b"] {
        let mut browser = Browser::default();
        let (state, code) = begin(&mut browser).await;
        browser
            .cookies
            .insert("dormouse-sign-in".into(), change.into());
        assert_eq!(
            browser.come_back(&server, &state, &code).await,
            "/?signIn=failed"
        );
    }
    let mut slow = Browser::default();
    let (state, code) = begin(&mut slow).await;
    clock.0.fetch_add(600_000, Ordering::Relaxed);
    assert_eq!(
        slow.come_back(&server, &state, &code).await,
        "/?signIn=failed"
    );
    clock.0.store(NOW_MS, Ordering::Relaxed);
}

#[tokio::test]
async fn a_token_for_another_server_attempt_or_time_begins_no_session() {
    let person = json!({ "sub": "42", "groups": ["engineers"] });
    let issuer = Issuer::new(person.clone());
    let (server, _) = server(&issuer).await;
    for wrong in [
        json!({ "aud": "another" }),
        json!({ "iss": "https://other.example" }),
        json!({ "nonce": "another" }),
        json!({ "exp": 1 }),
        json!({ "sub": "" }),
    ] {
        let mut claims = person.clone();
        claims
            .as_object_mut()
            .unwrap()
            .extend(wrong.as_object().unwrap().clone());
        *issuer.claims.lock().unwrap() = claims;
        let mut browser = Browser::default();
        let end = browser.sign_in(&server, &issuer).await;
        assert_eq!(end, "/?signIn=failed", "{wrong}");
    }
}

#[tokio::test]
async fn an_address_in_a_page_uses_up_no_attempts_to_sign_in_and_leaves_no_record() {
    let issuer = Issuer::new(json!({ "sub": "42", "groups": ["engineers"] }));
    let (server, _) = server(&issuer).await;
    for _ in 0..30 {
        let mut stranger = Browser::default();
        let end = stranger.come_back(&server, "a", "b").await;
        assert_eq!(end, "/?signIn=failed");
    }
    let mut browser = Browser::default();
    assert_eq!(browser.sign_in(&server, &issuer).await, "/?signIn=done");
    let tokens = browser.ask(&server, "POST", TOKEN).await.ok(200);
    let log = as_bearer(&server, &tokens["accessToken"], "GET", "/audit").await;
    let logins = log.ok(200);
    let logins = logins["items"].as_array().unwrap().iter();
    let logins = logins.filter(|item| item["action"] == "login");
    assert_eq!(logins.count(), 1);
}

#[tokio::test]
async fn without_an_issuer_there_is_nowhere_to_go() {
    let server = Server::new();
    let mut browser = Browser::default();
    for path in ["/sign-in", "/sign-in/callback?code=a&state=b", "/sign-out"] {
        let answer = browser.ask(&server, "GET", path).await;
        assert!(answer.headers.get("set-cookie").is_none(), "{path}");
    }
    for path in ["/sign-in", "/sign-in/callback?code=a&state=b"] {
        let answer = browser.ask(&server, "GET", path).await;
        answer.problem(404, "noSuchRoute");
    }
}
