//! The page of a node's numbers.

use std::sync::Arc;

use dormouse_http::HttpConfig;

use crate::server::{Server, app};

#[tokio::test]
async fn the_numbers_are_text_for_prometheus_also_while_draining() {
    let app = app(HttpConfig::default()).with_metrics(Arc::new(|| "x_total 1\n".to_owned()));
    let server = Server::of(app);
    server.app.drain();
    let page = server.ask("GET", "/metrics").await;
    assert_eq!(page.status, 200);
    assert_eq!(page.header("content-type"), "text/plain; version=0.0.4");
    assert_eq!(page.body, b"x_total 1\n");
}

#[tokio::test]
async fn a_node_that_counts_nothing_has_no_such_page() {
    let server = Server::new();
    server
        .ask("GET", "/metrics")
        .await
        .problem(404, "noSuchRoute");
}
