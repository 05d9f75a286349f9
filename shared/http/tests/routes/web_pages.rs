//! Web pages of others, and browsers that do not say for whom they ask.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::Request;
use axum::http::request::Builder;
use dormouse_http::{Encrypted, HttpConfig};
use dormouse_runtime::identity::Authentication;
use dormouse_store::MemoryTable;
use serde_json::{Value, json};

use crate::access::{key, server};
use crate::server::{Answered, Server, app, literal, sequence, waiting};

const BROWSER: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";
const LIST: &str = "/elsa/api/workflow-definitions";

async fn send(server: &Server, request: Builder) -> Answered {
    server.send(request.body(Body::empty()).unwrap()).await
}

/// A request as it comes over a connection.
fn connected(host: &str) -> Builder {
    let client: SocketAddr = "192.168.1.9:50000".parse().unwrap();
    Request::get(LIST)
        .header("host", host)
        .extension(ConnectInfo(client))
}

#[tokio::test]
async fn without_access_control_a_strangers_name_is_not_answered() {
    let server = Server::new();
    for near in [
        "192.168.1.7:7070",
        "[fd00::7]:7070",
        "localhost",
        "box",
        "box.local:7070",
    ] {
        send(&server, connected(near)).await.ok(200);
    }
    for far in ["evil.example:7070", "flows.example"] {
        let refused = send(&server, connected(far)).await;
        let problem = refused.problem(421, "foreignHost");
        assert!(problem.to_string().contains("--public-url"));
    }
    let health = connected("evil.example").uri("/health/live");
    send(&server, health).await.ok(200);
    // A certificate has the name, and a credential is more than a name.
    let encrypted = connected("flows.example").extension(Encrypted);
    send(&server, encrypted).await.ok(200);
    let public = Server::of(app(HttpConfig::default()).with_public_url("https://flows.example/"));
    send(&public, connected("flows.example")).await.ok(200);
    send(&public, connected("evil.example"))
        .await
        .problem(421, "foreignHost");
    let asking = crate::access::server();
    send(&asking, connected("evil.example"))
        .await
        .problem(401, "unauthenticated");
}

#[tokio::test]
async fn a_proxy_before_a_local_server_passes_its_name_on_or_not() {
    let config = HttpConfig {
        is_local: true,
        ..HttpConfig::default()
    };
    let server = Server::of(app(config).with_public_url("https://flows.example"));
    let ask = |host: &str, origin: &str| {
        let request = Request::post(LIST)
            .header("host", host)
            .header("origin", origin)
            .header("content-type", "application/json");
        server.send(request.body(Body::from("{}")).unwrap())
    };
    for host in ["flows.example", "flows.example:443", "127.0.0.1:7070"] {
        // It came to the route.
        ask(host, "https://flows.example")
            .await
            .problem(400, "wrongShape");
        ask(host, "https://evil.example")
            .await
            .problem(403, "foreignPage");
    }
    ask("evil.example", "https://flows.example")
        .await
        .problem(421, "foreignHost");
}

#[tokio::test]
async fn a_get_that_starts_is_not_taken_from_a_browser_that_does_not_say_who_asks() {
    let server = Server::new();
    server.publish(waiting("w")).await;
    let execute = "/elsa/api/workflow-definitions/w/execute";
    let get = |path: &str| Request::get(path).header("user-agent", BROWSER);
    for path in [
        execute,
        "/elsa/api/workflow-definitions/w/execute/",
        "/elsa/api/alterations/workflows/retry",
    ] {
        send(&server, get(path)).await.problem(403, "foreignPage");
    }
    let list = server.get("/workflow-instances").await.ok(200);
    assert_eq!(list["totalCount"], 0);
    // What only reads is for people too, and so is what says who asks.
    send(&server, get(LIST)).await.ok(200);
    for (name, value) in [
        ("sec-fetch-site", "none"),
        ("sec-fetch-site", "same-origin"),
        ("x-requested-with", "fetch"),
        ("content-type", "application/json"),
        ("user-agent", "curl/8.5.0"),
    ] {
        let mut request = get(execute);
        request
            .headers_mut()
            .unwrap()
            .insert(name, value.parse().unwrap());
        send(&server, request).await.ok(200);
    }
}

#[tokio::test]
async fn who_shows_a_credential_may_start_with_a_get_from_any_browser() {
    let server = server();
    let all = key(&server, "default", &["*"]).await;
    let shown = format!("ApiKey {all}");
    let get = Request::get("/elsa/api/workflow-definitions/none/execute")
        .header("user-agent", BROWSER)
        .header("authorization", shown);
    send(&server, get).await.problem(404, "noSuchDefinition");
}

/// A workflow at a path that demands something of who asks.
fn endpoint(path: &str, demands: &[(&str, Value)]) -> Value {
    let mut activity = json!({
        "type": "Elsa.HttpEndpoint", "id": "in", "canStartWorkflow": true, "path": literal("String", &path.into()),
        "supportedMethods": { "typeName": "String[]", "expression": { "type": "Object", "value": "[\"GET\", \"POST\"]" } },
    });
    for (name, value) in demands {
        activity[*name] = literal("Object", value);
    }
    sequence(path, json!([activity]))
}

#[tokio::test]
async fn no_page_starts_a_workflow_whose_endpoint_demands_a_credential_where_none_is_asked_for() {
    let server = Server::new();
    server.publish(endpoint("open", &[])).await;
    server
        .publish(endpoint("known", &[("authorize", json!(true))]))
        .await;
    server
        .publish(endpoint("policy", &[("policy", json!("Approvers"))]))
        .await;
    let ask = async |method: &str, path: &str, headers: &[(&str, &str)]| {
        let mut request = Request::builder()
            .method(method)
            .uri(format!("/workflows/{path}"))
            .header("host", "192.168.1.7:7070");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        send(&server, request).await
    };
    let image = [("user-agent", BROWSER)];
    let form = [("user-agent", BROWSER), ("origin", "https://evil.example")];
    let fetch = [("sec-fetch-site", "cross-site")];
    for path in ["known", "policy"] {
        for (method, headers) in [("GET", &image[..]), ("POST", &form), ("GET", &fetch)] {
            ask(method, path, headers).await.problem(403, "foreignPage");
        }
        let own = [
            ("user-agent", BROWSER),
            ("origin", "http://192.168.1.7:7070"),
        ];
        for (method, headers) in [("GET", &[][..]), ("POST", &[]), ("POST", &own)] {
            ask(method, path, headers).await.ok(200);
        }
    }
    // An open one is for every page.
    ask("POST", "open", &form).await.ok(200);
    ask("GET", "open", &image).await.ok(200);
}

#[tokio::test]
async fn a_request_names_one_host() {
    let server = Server::new();
    let two = connected("localhost").header("host", "evil.example");
    send(&server, two).await.problem(400, "severalHosts");
}

#[tokio::test]
async fn an_address_says_https_where_the_connection_is_encrypted() {
    let table = Arc::new(MemoryTable::default());
    let over = |is_local| {
        let config = HttpConfig {
            is_local,
            ..HttpConfig::default()
        };
        Server::over(Arc::clone(&table), config, Authentication::none(), None)
    };
    let open = over(false);
    open.publish(waiting("w")).await;
    let start = json!({ "definitionId": "w", "id": "i" });
    let started = open.post("/workflow-starts", &start).await.ok(201);
    let bookmark = started["bookmarks"][0]["id"].as_str().unwrap();
    let path = format!("/elsa/api/workflow-instances/i/bookmarks/{bookmark}/links");
    let server = over(true);
    for (is_encrypted, scheme) in [(false, "http"), (true, "https")] {
        let mut request = Request::post(&path)
            .header("host", "localhost:7070")
            .header("content-type", "application/json");
        if is_encrypted {
            request = request.extension(Encrypted);
        }
        let made = server.send(request.body(Body::from("{}")).unwrap()).await;
        let url = made.ok(201)["url"].as_str().unwrap().to_owned();
        let begin = format!("{scheme}://localhost:7070/links/");
        assert!(url.starts_with(&begin), "{url}");
    }
}
