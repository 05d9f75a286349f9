//! Task requests that leave as webhooks: signed, and again under the same id until they are taken.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use dormouse_tests::receiver::{Receiver, SECRET};
use serde_json::Value;

use crate::process::{Server, folder, run};

#[test]
fn task_requests_are_signed_and_come_again_under_their_id_until_they_are_taken() {
    let receiver = Receiver::refusing(1);
    let data = folder();
    let url = receiver.url();
    let options = ["--webhook-url", &url, "--webhook-secret", SECRET];
    let server = Server::start_with(
        data.path(),
        &[&options[..], &["--allow-private-egress"]].concat(),
    );
    server.publish("order");
    server.json(&["start", "order", "-i", "OrderId=o-1", "-i", "Amount=12"]);
    let until = Instant::now() + Duration::from_secs(30);
    // Two tasks, and the one that was refused again.
    while receiver.received().len() < 3 {
        assert!(Instant::now() < until, "{:?}", receiver.received());
        std::thread::sleep(Duration::from_millis(20));
    }
    let mut bodies: BTreeMap<String, BTreeSet<Vec<u8>>> = BTreeMap::new();
    for message in receiver.received() {
        let all = bodies.entry(message.signed_id().to_owned()).or_default();
        all.insert(message.body);
    }
    assert_eq!(bodies.len(), 2, "{bodies:?}");
    let mut names = BTreeSet::new();
    for all in bodies.values() {
        assert_eq!(all.len(), 1, "a repetition is another message: {all:?}");
        let body: Value = serde_json::from_slice(all.first().unwrap()).unwrap();
        assert_eq!(body["type"], "RunTask");
        names.insert(body["data"]["taskName"].as_str().unwrap().to_owned());
    }
    assert_eq!(names.len(), 2, "{names:?}");
}

#[test]
fn a_webhook_without_a_secret_to_sign_it_with_is_refused() {
    let data = folder();
    let place = data.path().to_str().unwrap();
    let url = ["--webhook-url", "https://hooks.example/x"];
    let serve = ["serve", "--port", "0", "--data", place];
    for secret in ["", "whsec_", "whsec_***"] {
        run(serve
            .iter()
            .chain(&url)
            .chain(&["--webhook-secret", secret]))
        .ended(2)
        .complains("no secret to sign them with");
    }
}

#[test]
fn a_webhook_without_an_address_is_refused() {
    let data = folder();
    let place = data.path().to_str().unwrap();
    let serve = ["serve", "--port", "0", "--data", place];
    let secret = ["--webhook-secret", SECRET];
    for url in ["hooks.example/x", "/tasks", "ftp://hooks.example"] {
        run(serve.iter().chain(&secret).chain(&["--webhook-url", url]))
            .ended(2)
            .complains("an absolute http or https URL");
    }
    run(serve.iter().chain(&["--webhook-lifecycle"]))
        .ended(2)
        .complains("there is no address for webhooks");
}

#[test]
fn a_secret_that_signs_nothing_is_refused_also_without_an_address() {
    let data = folder();
    let place = data.path().to_str().unwrap();
    let serve = ["serve", "--port", "0", "--data", place];
    for secret in ["x", "whsec_", "whsec_***"] {
        run(serve.iter().chain(&["--webhook-secret", secret]))
            .ended(2)
            .complains("the webhook secret cannot sign anything");
    }
}
