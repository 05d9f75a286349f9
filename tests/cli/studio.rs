//! Elsa Studio, fetched from npm's registry by the command that everybody uses.

use std::path::Path;

use dormouse_tests::http_client::Client;

use crate::process::{Server, folder, run, run_with};

/// Where npm or its registry cannot be had this passes with a word about it, unless `DORMOUSE_BROWSER` is `required`:
/// then the same package has just been fetched for the browser.
#[test]
fn studio_is_installed_from_npm_and_served() {
    let (data, home) = (folder(), folder());
    let studio = home.path().join("studio");
    let name = studio.to_str().unwrap();
    let ran = run(["studio", "install", "--studio", name, "--json"]);
    if ran.code != 0 && std::env::var("DORMOUSE_BROWSER").is_err() {
        eprintln!("skipped: {}", ran.err);
        return;
    }
    let installed = ran.ended(0).json();
    assert_eq!(installed["package"], "@elsa-workflows/elsa-studio-wasm");
    assert_eq!(installed["folder"], name);

    let server = Server::start_with(data.path(), &["--studio", name]);
    let port = server.urls[0].rsplit_once(':').unwrap().1.parse().unwrap();
    let mut client = Client::new(port);
    // What a browser asks for first of the package.
    let loader = client.get("/_framework/blazor.webassembly.js").unwrap();
    assert_eq!(loader.status, 200, "{loader:?}");
    assert!(loader.body.len() > 10_000);
}

#[test]
fn who_has_no_npm_is_told_where_it_comes_from() {
    let home = folder();
    let studio = home.path().join("studio");
    let nothing = home.path().to_str().unwrap();
    let args = ["studio", "install", "--studio", studio.to_str().unwrap()];
    run_with(args, &[("PATH", nothing)])
        .ended(1)
        .complains("npm cannot be run")
        .complains("Node.js");
    assert!(!Path::new(&studio).join("node_modules").exists());
}
