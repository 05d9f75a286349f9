//! Resume links: looking changes nothing, pressing the button does, once; whatever leads nowhere looks the same.

use axum::body::Body;
use axum::http::Request;
use dormouse_http::HttpConfig;
use serde_json::{Value, json};

use crate::server::{Answered, Server, sequence, waiting};

/// Starts an instance that waits, and gives its id and its bookmark's.
async fn suspended(server: &Server) -> (String, String) {
    server.publish(waiting("w")).await;
    let started = server
        .post("/workflow-starts", &json!({ "definitionId": "w" }))
        .await
        .ok(201);
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let bookmark = text(&started["bookmarks"][0]["id"]);
    (text(&started["id"]), bookmark)
}

/// Makes a link to it, and gives the path of its address.
async fn link(server: &Server, (id, bookmark): &(String, String), body: Value) -> String {
    let path = format!("/workflow-instances/{id}/bookmarks/{bookmark}/links");
    let made = server.post(&path, &body).await.ok(201);
    let url = made["url"].as_str().unwrap();
    url[url.find("/links/").unwrap()..].to_owned()
}

/// Presses a button.
async fn press(server: &Server, link: &str, form: &str) -> Answered {
    let request = Request::builder()
        .method("POST")
        .uri(link)
        .header("content-type", "application/x-www-form-urlencoded")
        // What browsers send from a page that hands on no address.
        .header("origin", "null");
    server
        .send(request.body(Body::from(form.to_owned())).unwrap())
        .await
}

async fn status(server: &Server, id: &str) -> Value {
    let path = format!("/workflow-instances/{id}");
    server.get(&path).await.ok(200)["subStatus"].clone()
}

fn text(answered: &Answered) -> String {
    String::from_utf8(answered.body.clone()).unwrap()
}

#[track_caller]
fn is_kept_to_itself(page: &Answered) {
    assert_eq!(page.header("cache-control"), "no-store");
    assert_eq!(page.header("referrer-policy"), "no-referrer");
    let policy = page.header("content-security-policy");
    assert!(
        policy.starts_with("default-src 'none'; style-src 'sha256-"),
        "{policy}"
    );
    assert!(!text(page).contains("<script"));
}

#[tokio::test]
async fn scanners_change_nothing_and_a_person_answers_once() {
    let server = Server::new();
    let waits = suspended(&server).await;
    let form = json!({
        "title": "A <b>chair</b>",
        "outcomes": ["Approve", "Reject"],
        "inputs": [{ "name": "Amount", "type": "number", "isRequired": true }, { "name": "Note" }],
    });
    let link = link(&server, &waits, form).await;
    for method in ["HEAD", "GET", "GET", "HEAD", "GET"] {
        let page = server.ask(method, &link).await;
        assert_eq!(page.status, 200);
        is_kept_to_itself(&page);
    }
    let page = text(&server.ask("GET", &link).await);
    assert!(
        page.contains("A &lt;b&gt;chair&lt;/b&gt;") && page.contains("Approve"),
        "{page}"
    );
    assert!(page.contains("name=\"in0\" required"), "{page}");
    assert_eq!(status(&server, &waits.0).await, "Suspended");

    for (wrong, why) in [
        ("", "choose one"),
        ("outcome=7&in0=1", "choose one"),
        ("outcome=Approve&in0=1", "choose one"),
        ("outcome=0", "`Amount` is needed"),
        ("outcome=0&in0=many", "`Amount` is not what is asked for"),
    ] {
        let answered = press(&server, &link, wrong).await;
        assert_eq!(answered.status, 400, "{wrong}");
        assert!(
            text(&answered).contains(why),
            "{wrong}: {}",
            text(&answered)
        );
    }
    assert_eq!(status(&server, &waits.0).await, "Suspended");

    let done = press(&server, &link, "outcome=0&in0=12.5&in1=+thanks&other=x").await;
    assert_eq!(done.status, 200);
    is_kept_to_itself(&done);
    assert!(text(&done).contains("<strong>Approve</strong>"));
    assert_eq!(status(&server, &waits.0).await, "Finished");

    // The second answer is told the first one.
    let again = press(&server, &link, "outcome=1&in0=3").await;
    assert_eq!(again.status, 200);
    assert_eq!(text(&again), text(&done));
    assert_eq!(text(&server.ask("GET", &link).await), text(&done));
    let path = format!("/activity-executions/list?workflowInstanceId={}", waits.0);
    let records = server.get(&path).await.ok(200);
    let mut go = records["items"].as_array().unwrap().iter();
    let go = go.find(|r| r["activityId"] == "go").unwrap();
    let expected = json!({ "Amount": 12.5, "Note": "thanks", "outcome": "Approve" });
    assert_eq!(go["outputs"]["Result"], expected, "{go:#}");
}

#[tokio::test]
async fn whatever_leads_nowhere_looks_the_same() {
    let server = Server::new();
    let waits = suspended(&server).await;
    let expired = link(&server, &waits, json!({ "expiresInMs": 1 })).await;
    let cancelled = link(&server, &waits, json!({})).await;
    let body = json!({});
    let cancel = format!("/cancel/workflow-instances/{}", waits.0);
    server.post(&cancel, &body).await.ok(200);

    let deleted_one = suspended(&server).await;
    let deleted = link(&server, &deleted_one, json!({})).await;
    let path = format!("/elsa/api/workflow-instances/{}", deleted_one.0);
    server.ask("DELETE", &path).await.ok(204);

    let other_way_one = suspended(&server).await;
    let other_way = link(&server, &other_way_one, json!({})).await;
    let resume = format!("/workflow-instances/{}/resume", other_way_one.0);
    server.post(&resume, &body).await.ok(200);

    let unknown = format!("/links/{}", "A".repeat(43));
    let mut pages = Vec::new();
    for link in [
        &expired, &cancelled, &deleted, &other_way, &unknown, "/links/x",
    ] {
        let seen = server.ask("GET", link).await;
        assert_eq!(seen.status, 404, "{link}");
        is_kept_to_itself(&seen);
        pages.push(text(&seen));
        let pressed = press(&server, link, "").await;
        assert_eq!(pressed.status, 404, "{link}");
        pages.push(text(&pressed));
    }
    pages.dedup();
    assert_eq!(pages.len(), 1, "{pages:#?}");
}

#[tokio::test]
async fn two_links_to_one_bookmark_have_one_answer_between_them() {
    let server = Server::new();
    let waits = suspended(&server).await;
    let one = link(&server, &waits, json!({})).await;
    let two = link(&server, &waits, json!({})).await;
    assert_ne!(one, two);
    assert_eq!(press(&server, &one, "").await.status, 200);
    assert_eq!(press(&server, &two, "").await.status, 404);
    assert_eq!(press(&server, &one, "").await.status, 200);
}

#[tokio::test]
async fn a_link_is_made_only_to_what_is_open_and_asks_only_what_can_be_asked() {
    let server = Server::new();
    let (id, bookmark) = suspended(&server).await;
    let path =
        |id: &str, bookmark: &str| format!("/workflow-instances/{id}/bookmarks/{bookmark}/links");
    let body = json!({});
    let to = path(&id, "0000000000000000");
    let gone = server.post(&to, &body).await.problem(409, "bookmarkGone");
    assert!(gone["detail"].as_str().unwrap().contains(&bookmark));
    server
        .post(&path("nobody", &bookmark), &body)
        .await
        .problem(404, "noSuchInstance");
    for bad in [
        json!({ "expiresInMs": 0 }),
        json!({ "expiresInMs": 40_000_000_000_i64 }),
        json!({ "outcomes": ["A", "A"] }),
        json!({ "outcomes": [""] }),
        json!({ "inputs": [{ "name": "a" }, { "name": "a" }] }),
        json!({ "inputs": [{ "name": "a", "type": "file" }] }),
        json!({ "title": "x".repeat(201) }),
        json!({ "outcomes": (0..11).map(|n| n.to_string()).collect::<Vec<_>>() }),
    ] {
        server
            .post(&path(&id, &bookmark), &bad)
            .await
            .problem(400, "wrongShape");
    }
}

#[tokio::test]
async fn who_guesses_links_must_wait_and_is_recorded_without_the_token() {
    let server = Server::new();
    let waits = suspended(&server).await;
    let good = link(&server, &waits, json!({})).await;
    let guess = async |n: usize| {
        let guess = format!("/links/{n:A>43}");
        server.ask("GET", &guess).await.status.as_u16()
    };
    let mut guesses = 0;
    while guess(guesses).await == 404 {
        guesses += 1;
        assert!(guesses < 1_000, "nobody holds up who guesses");
    }
    assert!(guesses >= 30, "{guesses}");
    // Not even a good one is told apart then; one attempt is let in again now and then.
    let mut refused = server.ask("GET", &good).await;
    while refused.status != 429 {
        guess(guesses).await;
        refused = server.ask("GET", &good).await;
    }
    assert_eq!(refused.header("retry-after"), "60");

    let server = Server::new();
    let waits = suspended(&server).await;
    let good = link(&server, &waits, json!({})).await;
    press(&server, "/links/x", "").await;
    press(&server, &good, "").await;
    let log = server.get("/audit").await.ok(200);
    // Both may have come within one millisecond, and then have no order.
    let mut items = log["items"].as_array().unwrap().clone();
    items.sort_by_key(|item| item["status"].as_u64());
    let seen: Vec<_> = items
        .iter()
        .map(|i| (&i["action"], i["status"].as_u64()))
        .collect();
    let resume = json!("resume");
    assert_eq!(seen, [(&resume, Some(200)), (&resume, Some(404))]);
    assert!(items[0]["subject"].as_str().unwrap().contains(&waits.0));
    let token = good.rsplit('/').next().unwrap();
    assert!(!log.to_string().contains(token));
}

#[tokio::test]
async fn elsas_own_address_works_behind_a_switch() {
    let closed = Server::new();
    let waits = suspended(&closed).await;
    let made = link(&closed, &waits, json!({})).await;
    let address = |link: &str| format!("/bookmarks/resume?t={}", link.rsplit('/').next().unwrap());
    closed
        .get(&address(&made))
        .await
        .problem(400, "invalidToken");
    assert_eq!(status(&closed, &waits.0).await, "Suspended");

    let server = Server::with(HttpConfig {
        has_elsa_links: true,
        ..HttpConfig::default()
    });
    let waits = suspended(&server).await;
    let asks = json!({ "inputs": [{ "name": "Amount", "type": "number" }] });
    let made = link(&server, &waits, asks).await;
    server
        .get("/bookmarks/resume?t=x")
        .await
        .problem(400, "invalidToken");
    let head = format!("/elsa/api{}", address(&made));
    assert_eq!(server.ask("HEAD", &head).await.status, 400);
    assert_eq!(status(&server, &waits.0).await, "Suspended");
    let with_input = format!("{}&in=%7B%22Amount%22:3,%22Evil%22:1%7D", address(&made));
    assert_eq!(server.get(&with_input).await.status, 200);
    assert_eq!(status(&server, &waits.0).await, "Finished");
    assert_eq!(server.get(&with_input).await.status, 200);
}

#[tokio::test]
async fn a_task_receives_a_links_answer_as_its_result() {
    let server = Server::new();
    let task = json!({ "type": "Elsa.RunTask", "id": "t", "taskName": crate::server::literal("String", &"Review".into()) });
    server.publish(sequence("w", json!([task]))).await;
    let body = json!({ "definitionId": "w" });
    let started = server.post("/workflow-starts", &body).await.ok(201);
    let id = started["id"].as_str().unwrap().to_owned();
    let bookmark = started["bookmarks"][0]["id"].as_str().unwrap().to_owned();
    let made = link(
        &server,
        &(id.clone(), bookmark),
        json!({ "outcomes": ["Yes"] }),
    )
    .await;
    assert_eq!(press(&server, &made, "outcome=0").await.status, 200);
    let path = format!("/activity-executions/list?workflowInstanceId={id}");
    let records = server.get(&path).await.ok(200);
    let mut tasks = records["items"].as_array().unwrap().iter();
    let task = tasks.find(|r| r["activityId"] == "t").unwrap();
    assert_eq!(
        task["outputs"]["Result"],
        json!({ "outcome": "Yes" }),
        "{task:#}"
    );
}

#[tokio::test]
async fn a_script_makes_a_link_whose_event_counts_once() {
    let server = Server::with(HttpConfig {
        has_elsa_links: true,
        ..HttpConfig::default()
    });
    server
        .app
        .runtime()
        .links()
        .allow_event_links("https://flows.example/", false)
        .await
        .unwrap();
    let script = "createEventTriggerUrl('Go')";
    let link =
        json!({ "typeName": "Object", "expression": { "type": "JavaScript", "value": script } });
    let say = json!({ "type": "Elsa.WriteLine", "id": "say", "text": link });
    let mut model = waiting("w");
    model["root"]["activities"][0] = say;
    let mut again = model["root"]["activities"][1].clone();
    again["id"] = "again".into();
    let activities = model["root"]["activities"].as_array_mut();
    activities.unwrap().push(again);
    server.publish(model).await;
    let body = json!({ "definitionId": "w" });
    let started = server.post("/workflow-starts", &body).await.ok(201);
    let id = started["id"].as_str().unwrap();
    let url = started["lines"][0].as_str().unwrap();
    let path = url.strip_prefix("https://flows.example").unwrap();
    let open = async || {
        let state = server
            .get(&format!("/workflow-instances/{id}"))
            .await
            .ok(200);
        state["workflowState"]["bookmarks"][0]["activityId"].clone()
    };
    assert_eq!(open().await, "go");
    for method in ["HEAD", "GET", "GET"] {
        let page = server.ask(method, path).await;
        assert_eq!(page.status, 200);
        is_kept_to_itself(&page);
    }
    assert_eq!(open().await, "go");
    let first = press(&server, path, "").await;
    assert_eq!(first.status, 200);
    assert_eq!(open().await, "again");
    // A second time changes nothing, by whatever way.
    let second = press(&server, path, "").await;
    assert_eq!((second.status.as_u16(), text(&second)), (200, text(&first)));
    let elsas = format!(
        "/events/trigger?t={}",
        path.strip_prefix("/links/").unwrap()
    );
    assert_eq!(server.get(&elsas).await.status, 200);
    assert_eq!(open().await, "again");

    // A link of which a letter was changed leads nowhere, and so does one of an instance that has ended.
    let forged = path.replacen("v1.ey", "v1.ez", 1);
    assert_ne!(forged, path);
    assert_eq!(press(&server, &forged, "").await.status, 404);
    let started = server.post("/workflow-starts", &body).await.ok(201);
    let id = started["id"].as_str().unwrap();
    let url = started["lines"][0].as_str().unwrap();
    let path = url.strip_prefix("https://flows.example").unwrap();
    let cancel = format!("/cancel/workflow-instances/{id}");
    server.post(&cancel, &json!({})).await.ok(200);
    assert_eq!(server.ask("GET", path).await.status, 404);
    assert_eq!(press(&server, path, "").await.status, 404);
}

#[tokio::test]
async fn behind_a_proxy_one_who_guesses_holds_up_nobody_else() {
    let server = Server::with(HttpConfig {
        proxies: 1,
        ..HttpConfig::default()
    });
    let look = async |forwarded: &str| {
        let request = Request::builder()
            .uri(format!("/links/{}", "A".repeat(43)))
            .header("x-forwarded-for", forwarded);
        let answered = server.send(request.body(Body::empty()).unwrap()).await;
        answered.status.as_u16()
    };
    let mut tries = 0;
    // What comes before the proxy's own word is the guesser's.
    while look(&format!("192.0.2.{tries}, 198.51.100.7")).await == 404 {
        tries += 1;
        assert!(tries < 100, "nobody holds up who guesses");
    }
    assert_eq!(look("198.51.100.7").await, 429);
    assert_eq!(look("198.51.100.8").await, 404);
}
