//! The console around routes.

use axum::body::Body;
use axum::routing::any;
use http_body_util::BodyExt;
use tower::ServiceExt;

use super::*;

fn routes() -> Router {
    Router::new()
        .route("/elsa/api/things", any(|| async { "a thing" }))
        .route(
            "/workflows/instances",
            any(|| async { "a workflow's own page" }),
        )
}

async fn ask(
    console: Pages,
    path: &str,
    headers: &[(header::HeaderName, &str)],
) -> (StatusCode, HeaderMap, String) {
    let mut request = Request::builder().uri(path);
    for (name, value) in headers {
        request = request.header(name, *value);
    }
    let answer = console
        .around(routes())
        .oneshot(request.body(Body::empty()).unwrap())
        .await
        .unwrap();
    let (parts, body) = answer.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    (
        parts.status,
        parts.headers,
        String::from_utf8_lossy(&body).into_owned(),
    )
}

const PAGE: [(header::HeaderName, &str); 1] = [(header::ACCEPT, "text/html,*/*")];

fn bare() -> Pages {
    Pages::new(serde_json::json!({ "version": "1" }), None)
}

#[tokio::test]
async fn the_page_is_at_the_root_and_may_load_nothing_foreign() {
    let (status, headers, body) = ask(bare(), "/", &PAGE).await;
    assert_eq!(status, 200);
    assert!(body.contains("<title>Dormouse</title>"));
    let policy = headers["content-security-policy"].to_str().unwrap();
    assert!(
        policy.contains("default-src 'none'") && !policy.contains("unsafe"),
        "{policy}"
    );
    assert_eq!(headers["x-content-type-options"], "nosniff");
    let tag = headers["etag"].to_str().unwrap().to_owned();
    let (status, _, _) = ask(bare(), "/", &[(header::IF_NONE_MATCH, &tag)]).await;
    assert_eq!(status, 304);
}

#[tokio::test]
async fn a_browser_gets_studios_page_even_where_a_workflow_listens_and_a_program_the_workflow() {
    let (status, headers, body) = ask(bare(), "/workflows/instances", &PAGE).await;
    assert_eq!(
        (status, &headers["vary"]),
        (StatusCode::OK, &HeaderValue::from_static("accept"))
    );
    assert!(body.contains("studio.js"), "{body}");
    let json = [(header::ACCEPT, "application/json")];
    for program in [&json[..], &[]] {
        let (_, _, body) = ask(bare(), "/workflows/instances", program).await;
        assert_eq!(body, "a workflow's own page");
    }
    let (status, headers, body) = ask(bare(), "/workflows/definitions/w/edit", &PAGE).await;
    assert_eq!(status, 200);
    assert!(body.contains("studio.js"));
    assert!(
        headers["content-security-policy"]
            .to_str()
            .unwrap()
            .contains("wasm-unsafe-eval")
    );
    let (status, _, _) = ask(bare(), "/workflows/definitions/w/edit", &[]).await;
    assert_eq!(status, 404);
    let (_, _, body) = ask(bare(), "/elsa/api/things", &PAGE).await;
    assert_eq!(body, "a thing");
}

#[tokio::test]
async fn studio_is_served_from_where_npm_put_it() {
    let folder = tempfile::tempdir().unwrap();
    assert!(Studio::find(folder.path()).is_none());
    let package = folder.path().join("node_modules").join(PACKAGE);
    std::fs::create_dir_all(package.join("_framework")).unwrap();
    std::fs::write(
        package.join("package.json"),
        format!("{{\"name\":\"{PACKAGE}\",\"version\":\"9.9.9\"}}"),
    )
    .unwrap();
    std::fs::write(package.join("_framework/a.0123456789.wasm"), "wasm").unwrap();
    std::fs::write(package.join("_framework/a.0123456789.wasm.br"), "small").unwrap();
    std::fs::write(folder.path().join("secret.json"), "secret").unwrap();
    let console = Pages::new(serde_json::json!({}), Studio::find(folder.path()));
    let (_, _, about) = ask(console.clone(), "/console/about.json", &[]).await;
    assert_eq!(about, "{\"studio\":\"9.9.9\",\"guide\":\"/guide\"}");
    let path = "/_framework/a.0123456789.wasm";
    let (_, headers, body) = ask(
        console.clone(),
        path,
        &[(header::ACCEPT_ENCODING, "gzip, br")],
    )
    .await;
    assert_eq!(
        (body.as_str(), &headers["content-encoding"]),
        ("small", &HeaderValue::from_static("br"))
    );
    assert_eq!(headers["content-type"], "application/wasm");
    assert!(
        headers["cache-control"]
            .to_str()
            .unwrap()
            .contains("immutable")
    );
    let (_, headers, body) = ask(console.clone(), path, &[]).await;
    assert_eq!(
        (body.as_str(), headers.get("content-encoding")),
        ("wasm", None)
    );
    for bad in [
        "/_framework/../../../../secret.json",
        "/_framework/missing.js",
        "/index.js",
        "/package.json",
    ] {
        assert_eq!(ask(console.clone(), bad, &[]).await.0, 404, "{bad}");
    }
}

#[tokio::test]
async fn a_page_that_has_not_changed_keeps_its_policy() {
    let path = "/workflows/definitions";
    let (_, first, _) = ask(bare(), path, &PAGE).await;
    let tag = first["etag"].to_str().unwrap();
    let asked = [PAGE[0].clone(), (header::IF_NONE_MATCH, tag)];
    let (status, again, _) = ask(bare(), path, &asked).await;
    assert_eq!(status, 304);
    let policy = "content-security-policy";
    assert_eq!(again[policy], first[policy]);
}

#[tokio::test]
async fn the_guide_is_served_under_the_policy_of_our_own_pages() {
    for path in ["/guide", "/guide/", "/guide/how-to/deploy"] {
        let (status, headers, body) = ask(bare(), path, &PAGE).await;
        assert_eq!(status, 200, "{path}");
        assert_eq!(headers["content-type"], "text/html; charset=utf-8");
        assert_eq!(headers["content-security-policy"], OWN_SECURITY);
        assert!(body.contains("aria-label=\"Guide\""), "{path}");
    }
    let (status, _, _) = ask(bare(), "/guide/nothing", &PAGE).await;
    assert_eq!(status, 404);
}
