//! Tokens at the door: those of an outside issuer, whose keys are fetched only so often, and forged ones of both kinds.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use axum::body::Body;
use axum::http::Request;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use dormouse_embedded::SystemClock;
use dormouse_engine::call::{Answer, HttpRequest};
use dormouse_engine::time::Timestamp;
use dormouse_http::HttpConfig;
use dormouse_identity::jwt;
use dormouse_runtime::Tenant;
use dormouse_runtime::identity::{Authentication, JwtSettings};
use dormouse_runtime::port::{Clock, HttpCaller};
use ring::rand::SystemRandom;
use ring::signature::{Ed25519KeyPair, KeyPair};
use serde_json::{Value, json};

use crate::server::{Answered, Server};

/// An issuer with one key, which counts how often it is asked for it.
struct Issuer {
    pair: Ed25519KeyPair,
    asked: AtomicUsize,
    /// What its discovery document says.
    document: Value,
    /// Whether it answers nothing any more.
    is_stuck: AtomicBool,
}

#[async_trait]
impl HttpCaller for Issuer {
    async fn call(&self, request: &HttpRequest, _timeout_ms: u64) -> Answer {
        if self.is_stuck.load(Ordering::Relaxed) {
            std::future::pending::<()>().await;
        }
        let body = match request.url.as_str() {
            "https://issuer.example/keys" => self.keys(),
            "https://issuer.example/.well-known/openid-configuration" => self.document.clone(),
            other => panic!("nobody has named {other}"),
        };
        Answer::Http {
            status: 200,
            headers: BTreeMap::new(),
            body: body.to_string().into_bytes(),
        }
    }
}

impl Issuer {
    fn keys(&self) -> Value {
        self.asked.fetch_add(1, Ordering::Relaxed);
        let x = URL_SAFE_NO_PAD.encode(self.pair.public_key());
        json!({ "keys": [{ "kty": "OKP", "crv": "Ed25519", "kid": "k", "x": x }] })
    }

    fn new() -> Arc<Self> {
        Self::saying("https://issuer.example", "https://issuer.example/keys")
    }

    /// One whose discovery document says so.
    fn saying(issuer: &str, keys: &str) -> Arc<Self> {
        let pkcs8 = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap();
        Arc::new(Self {
            pair: Ed25519KeyPair::from_pkcs8(pkcs8.as_ref()).unwrap(),
            asked: AtomicUsize::new(0),
            document: json!({ "issuer": issuer, "jwks_uri": keys }),
            is_stuck: AtomicBool::new(false),
        })
    }

    fn token(&self, kid: &str, changes: &Value) -> String {
        let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let mut claims = json!({
            "iss": "https://issuer.example", "aud": "dormouse", "sub": "ada", "tenant": "acme",
            "exp": 32_503_680_000_i64, "permissions": ["read:workflow-definitions"], "scope": "openid exec:workflow-definitions",
        });
        for (name, value) in changes.as_object().unwrap() {
            claims[name] = value.clone();
        }
        let signed = format!(
            "{}.{}",
            part(&json!({ "alg": "EdDSA", "kid": kid })),
            part(&claims)
        );
        let mark = URL_SAFE_NO_PAD.encode(self.pair.sign(signed.as_bytes()));
        format!("{signed}.{mark}")
    }
}

fn server(issuer: &Arc<Issuer>, is_multi_tenant: bool) -> Server {
    let keys = Some("https://issuer.example/keys".to_owned());
    server_with(issuer, keys, is_multi_tenant)
}

fn server_with(issuer: &Arc<Issuer>, jwks_url: Option<String>, is_multi_tenant: bool) -> Server {
    let settings = JwtSettings {
        issuer: "https://issuer.example".into(),
        audience: "dormouse".into(),
        jwks_url,
    };
    let authentication = Authentication::read("jwt,users", Some(settings)).unwrap();
    Server::letting_in(
        HttpConfig::default(),
        authentication.with_tenants(is_multi_tenant),
        Arc::clone(issuer) as _,
    )
}

async fn ask(server: &Server, token: &str, path: &str) -> Answered {
    let request = Request::builder()
        .uri(format!("/elsa/api{path}"))
        .header("authorization", format!("Bearer {token}"));
    server.send(request.body(Body::empty()).unwrap()).await
}

#[tokio::test]
async fn an_issuers_token_counts_for_its_permissions_and_its_tenant() {
    let issuer = Issuer::new();
    let (one, many) = (server(&issuer, false), server(&issuer, true));
    let good = issuer.token("k", &json!({}));
    let me = ask(&one, &good, "/identity/me").await.ok(200);
    let permissions = json!([
        "exec:workflow-definitions",
        "openid",
        "read:workflow-definitions"
    ]);
    assert_eq!(
        me,
        json!({ "name": "ada", "tenantId": "default", "permissions": permissions })
    );
    ask(&one, &good, "/workflow-definitions").await.ok(200);
    let me = ask(&many, &good, "/identity/me").await.ok(200);
    assert_eq!(me["tenantId"], "acme");
    // Where tokens name the tenant, one that names none, or no name, is nobody's.
    for tenant in [json!(null), json!(""), json!("a/b"), json!(["acme"])] {
        let token = issuer.token("k", &json!({ "tenant": tenant }));
        ask(&many, &token, "/identity/me")
            .await
            .problem(401, "unauthenticated");
    }
}

#[tokio::test]
async fn an_issuers_keys_are_where_its_own_discovery_document_says() {
    let (own, keys) = ("https://issuer.example", "https://issuer.example/keys");
    for (issuer, keys, status) in [
        (own, keys, 200),
        ("https://evil.example", keys, 401),
        (own, "http://issuer.example/keys", 401),
        (own, "", 401),
    ] {
        let issuer = Issuer::saying(issuer, keys);
        let server = server_with(&issuer, None, false);
        let token = issuer.token("k", &json!({}));
        let me = ask(&server, &token, "/identity/me").await;
        assert_eq!(me.status.as_u16(), status, "{:?}", issuer.document);
    }
}

#[tokio::test]
async fn forged_tokens_all_look_the_same_and_do_not_hammer_the_issuer() {
    let issuer = Issuer::new();
    let server = server(&issuer, false);
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let claims = json!({ "iss": "https://issuer.example", "aud": "dormouse", "sub": "ada", "exp": 32_503_680_000_i64 });
    let unsigned = |alg: &str| {
        format!(
            "{}.{}.",
            part(&json!({ "alg": alg, "kid": "k" })),
            part(&claims)
        )
    };
    let good = issuer.token("k", &json!({}));
    let (head, mark) = good.rsplit_once('.').unwrap();
    let own_key = issuer.keys()["keys"][0].clone();
    issuer.asked.store(0, Ordering::Relaxed);
    // Another head before the same claims, under the old signature.
    let headed = |good: &str, header: &Value| {
        let (_, rest) = good.split_once('.').unwrap();
        format!("{}.{rest}", part(header))
    };
    let forged = [
        unsigned("none"),
        unsigned("None"),
        unsigned("EdDSA"),
        unsigned("HS256"),
        // The public key as a shared secret.
        jwt::sign("k", issuer.pair.public_key().as_ref(), &claims),
        Issuer::new().token("k", &json!({})),
        issuer.token("other", &json!({})),
        issuer.token("../../keys", &json!({})),
        issuer.token("k", &json!({ "aud": "other" })),
        issuer.token("k", &json!({ "iss": "https://evil.example" })),
        issuer.token("k", &json!({ "exp": 1 })),
        issuer.token("k", &json!({ "exp": "never" })),
        issuer.token("k", &json!({ "sub": "" })),
        issuer.token("k", &json!({ "nbf": 32_503_000_000_i64 })),
        // Far beyond what a header of a request is good for.
        issuer.token("k", &json!({ "more": "x".repeat(100_000) })),
        issuer.token("", &json!({})),
        headed(&good, &json!({ "alg": "EdDSA" })),
        headed(
            &good,
            &json!({ "alg": "EdDSA", "kid": "k", "crit": ["b64"], "b64": false }),
        ),
        headed(
            &good,
            &json!({ "alg": "EdDSA", "kid": "other", "jwk": own_key }),
        ),
        headed(
            &good,
            &json!({ "alg": "EdDSA", "kid": "other", "jku": "https://evil.example/keys" }),
        ),
        // An outsider cannot speak for our own users.
        issuer.token(
            "k",
            &json!({ "iss": "dormouse", "aud": "dormouse-api", "token_use": "access" }),
        ),
        format!("{head}.{}", mark.to_lowercase()),
        format!("{head}.{head}.{mark}"),
        "x.y.z".to_owned(),
        "Bearer".to_owned(),
    ];
    let mut answers = Vec::new();
    for token in &forged {
        let refused = ask(&server, token, "/identity/me").await;
        answers.push(refused.problem(401, "unauthenticated"));
    }
    answers.dedup();
    assert_eq!(answers.len(), 1);
    assert_eq!(issuer.asked.load(Ordering::Relaxed), 1);
    ask(&server, &good, "/identity/me").await.ok(200);
    assert_eq!(issuer.asked.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn forged_tokens_of_our_own_kind_do_not_count() {
    let issuer = Issuer::new();
    let server = server(&issuer, false);
    let tenant = Tenant::default();
    let first = server
        .app
        .runtime()
        .accounts()
        .make_first_user(&tenant)
        .await;
    let first = first.unwrap().unwrap();
    let login = json!({ "username": first.user, "password": first.password });
    let tokens = server.post("/identity/login", &login).await.ok(200);
    let good = tokens["accessToken"].as_str().unwrap();
    ask(&server, good, "/identity/me").await.ok(200);
    let parts: Vec<&str> = good.split('.').collect();
    let read = |part: &str| -> Value {
        serde_json::from_slice(&URL_SAFE_NO_PAD.decode(part).unwrap()).unwrap()
    };
    let (header, claims) = (read(parts[0]), read(parts[1]));
    let kid = header["kid"].as_str().unwrap();
    let changed = |name: &str, value: Value| {
        let mut claims = claims.clone();
        claims[name] = value;
        let claims = URL_SAFE_NO_PAD.encode(claims.to_string());
        format!("{}.{claims}.{}", parts[0], parts[2])
    };
    for token in [
        changed("sub", json!("root")),
        changed("tenant", json!("other")),
        changed("exp", json!(32_503_680_000_i64)),
        jwt::sign(kid, b"", &claims),
        jwt::sign(kid, b"secret", &claims),
        jwt::sign("", b"", &claims),
        jwt::sign("~/SIGN", b"", &claims),
        issuer.token(kid, &claims),
    ] {
        ask(&server, &token, "/identity/me")
            .await
            .problem(401, "unauthenticated");
    }
}

/// A clock that a test sets forward.
pub(crate) struct Ahead(pub(crate) AtomicI64);

#[async_trait]
impl Clock for Ahead {
    fn now(&self) -> Timestamp {
        SystemClock.now().plus_ms(self.0.load(Ordering::Relaxed))
    }

    async fn sleep(&self, ms: u64) {
        SystemClock.sleep(ms).await;
    }

    fn random(&self) -> u64 {
        SystemClock.random()
    }
}

#[tokio::test]
async fn a_slow_issuer_holds_up_nobody_whose_key_is_known() {
    let (issuer, clock) = (Issuer::new(), Arc::new(Ahead(AtomicI64::new(0))));
    let settings = JwtSettings {
        issuer: "https://issuer.example".into(),
        audience: "dormouse".into(),
        jwks_url: Some("https://issuer.example/keys".into()),
    };
    let authentication = Authentication::read("jwt", Some(settings)).unwrap();
    let server = Server::at(
        Arc::clone(&clock) as _,
        authentication,
        Arc::clone(&issuer) as _,
    );
    let (good, unknown) = (
        issuer.token("k", &json!({})),
        issuer.token("other", &json!({})),
    );
    ask(&server, &good, "/identity/me").await.ok(200);
    issuer.is_stuck.store(true, Ordering::Relaxed);
    // Keys are still fresh, and again as old as to be fetched anew.
    for later_ms in [60_000, 700_000] {
        clock.0.store(later_ms, Ordering::Relaxed);
        let waits = ask(&server, &unknown, "/identity/me");
        let passes = async {
            tokio::time::sleep(Duration::from_millis(20)).await;
            ask(&server, &good, "/identity/me").await.ok(200)
        };
        let passes = tokio::time::timeout(Duration::from_secs(5), passes);
        let mut passes = std::pin::pin!(passes);
        let passed = tokio::select! {
            passed = passes.as_mut() => passed,
            _refused = waits => passes.await,
        };
        assert!(
            passed.is_ok(),
            "a good token is held up after {later_ms} ms"
        );
    }
}
