//! Sessions: refresh tokens count once, a stolen one ends all of its session, and signing out ends it too. Guessing is counted
//! before it is tried.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use axum::body::Body;
use axum::http::Request;
use dormouse_runtime::Tenant;
use dormouse_runtime::identity::Authentication;
use serde_json::{Value, json};

use crate::access::{ask, key, server};
use crate::identity::sign_in;
use crate::server::{Answered, NoNetwork, Server};
use crate::tokens::Ahead;

async fn signed_in() -> (Server, Value) {
    signed_in_at(server()).await
}

async fn signed_in_at(server: Server) -> (Server, Value) {
    let runtime = server.app.runtime();
    let first = runtime.accounts().make_first_user(&Tenant::default()).await;
    let first = first.unwrap().unwrap();
    let tokens = sign_in(&server, &first.user, &first.password).await;
    (server, tokens)
}

async fn send(server: &Server, method: &str, path: &str, token: &Value) -> Answered {
    let request = Request::builder()
        .method(method)
        .uri(format!("/elsa/api/identity/{path}"))
        .header(
            "authorization",
            format!("Bearer {}", token.as_str().unwrap()),
        );
    server.send(request.body(Body::empty()).unwrap()).await
}

async fn refresh(server: &Server, tokens: &Value) -> Answered {
    send(server, "POST", "refresh-token", &tokens["refreshToken"]).await
}

async fn me(server: &Server, tokens: &Value) -> u16 {
    let answer = send(server, "GET", "me", &tokens["accessToken"]).await;
    answer.status.as_u16()
}

#[tokio::test]
async fn a_refresh_token_that_comes_again_later_ends_its_session() {
    let (server, first) = signed_in().await;
    let second = refresh(&server, &first).await.ok(200);
    assert_ne!(first["refreshToken"], second["refreshToken"]);
    // Two tabs at once: the one before still counts for a moment.
    refresh(&server, &first).await.ok(200);
    let third = refresh(&server, &second).await.ok(200);
    assert_eq!(me(&server, &third).await, 200);
    refresh(&server, &first)
        .await
        .problem(401, "unauthenticated");
    for tokens in [&second, &third] {
        refresh(&server, tokens)
            .await
            .problem(401, "unauthenticated");
        assert_eq!(me(&server, tokens).await, 401);
    }
}

#[tokio::test]
async fn a_renewal_whose_answer_was_lost_may_come_again_for_half_a_minute() {
    for (after_ms, status) in [(29_000, 200), (31_000, 401)] {
        let clock = Arc::new(Ahead(AtomicI64::new(0)));
        let authentication = Authentication::read("users", None).unwrap();
        let server = Server::at(Arc::clone(&clock) as _, authentication, Arc::new(NoNetwork));
        let (server, tokens) = signed_in_at(server).await;
        refresh(&server, &tokens).await.ok(200);
        clock.0.store(after_ms, Ordering::Relaxed);
        refresh(&server, &tokens).await.ok(status);
    }
}

#[tokio::test]
async fn a_session_ends_a_week_after_signing_in_however_often_it_is_renewed() {
    const HOUR_MS: i64 = 3_600_000;
    let clock = Arc::new(Ahead(AtomicI64::new(0)));
    let authentication = Authentication::read("users", None).unwrap();
    let server = Server::at(Arc::clone(&clock) as _, authentication, Arc::new(NoNetwork));
    let (server, mut tokens) = signed_in_at(server).await;
    let mut renewed_hours = 0;
    for hours in (12..240).step_by(12) {
        clock.0.store(hours * HOUR_MS, Ordering::Relaxed);
        let answer = refresh(&server, &tokens).await;
        if answer.status != 200 {
            answer.problem(401, "unauthenticated");
            break;
        }
        tokens = answer.json();
        assert_eq!(me(&server, &tokens).await, 200);
        renewed_hours = hours;
    }
    assert_eq!(renewed_hours, 7 * 24 - 12);
    // The last pair was young enough.
    assert_eq!(me(&server, &tokens).await, 401);
}

#[tokio::test]
async fn who_signs_out_is_out_with_either_token_and_other_sessions_go_on() {
    for by in ["accessToken", "refreshToken"] {
        let (server, tokens) = signed_in().await;
        assert_eq!(me(&server, &tokens).await, 200);
        send(&server, "POST", "logout", &tokens[by]).await.ok(204);
        assert_eq!(me(&server, &tokens).await, 401);
        refresh(&server, &tokens)
            .await
            .problem(401, "unauthenticated");
        // Once more is no mistake.
        send(&server, "POST", "logout", &tokens[by]).await.ok(204);
    }
}

#[tokio::test]
async fn guesses_at_once_are_counted_before_they_are_tried() {
    let server = Arc::new(server());
    let body = json!({ "username": "admin", "password": "wrong password" });
    let tries = (0..100).map(|_| {
        let (server, body) = (Arc::clone(&server), body.clone());
        async move { server.post("/identity/login", &body).await.status.as_u16() }
    });
    let answers = futures_util::future::join_all(tries).await;
    let tried = answers.iter().filter(|status| **status == 200).count();
    assert!(tried <= 10, "{tried} of 100 were tried");
    assert_eq!(answers.iter().filter(|s| **s == 429).count(), 100 - tried);
}

#[tokio::test]
async fn a_user_cannot_be_called_what_looks_like_another() {
    let server = server();
    let all = key(&server, "default", &["*"]).await;
    let runtime = server.app.runtime();
    runtime
        .accounts()
        .make_first_user(&Tenant::default())
        .await
        .unwrap();
    for (name, status) in [("\u{430}dmin", 409), ("adm\u{456}n", 409), ("Ada", 200)] {
        let user = json!({ "name": name });
        let made = ask(&server, Some(&all), "POST", "/identity/users", &user).await;
        assert_eq!(made.status.as_u16(), status, "{name}");
    }
}

#[tokio::test]
async fn right_passwords_cost_no_attempts() {
    let server = server();
    let runtime = server.app.runtime();
    let first = runtime.accounts().make_first_user(&Tenant::default()).await;
    let first = first.unwrap().unwrap();
    for _ in 0..12 {
        let tokens = sign_in(&server, &first.user, &first.password).await;
        assert_eq!(tokens["isAuthenticated"], true);
    }
}
