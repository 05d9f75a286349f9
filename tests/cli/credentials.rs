//! There are no default credentials: the first start shows one, once, and the command line finds its own.

use std::fs;

use crate::process::{Server, folder, run};

#[test]
fn the_first_start_shows_a_password_once_and_keeps_a_key_for_the_command_line() {
    let data = folder();
    let server = Server::start(data.path());
    let first = server.hello["firstUser"].clone();
    assert_eq!(first["name"], "admin");
    let password = first["password"].as_str().unwrap();
    assert!(password.len() >= 20, "{password}");
    server.run(&["list"]).ended(0).says("No instances");
    let file = data.path().join("cli-key");
    let key = fs::read_to_string(&file).unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(
            fs::metadata(&file).unwrap().permissions().mode() & 0o777,
            0o600
        );
    }
    let url = server.urls[0].clone();
    let elsewhere = run(["list", "--url", &url]);
    elsewhere
        .ended(2)
        .complains("credential")
        .complains("DORMOUSE_DATA");
    run(["list", "--url", &url, "--api-key", "dm_0000000000000000_x"])
        .ended(2)
        .complains("credential");
    run(["list", "--url", &url, "--api-key", &key]).ended(0);
    server.kill();

    let server = Server::start(data.path());
    assert!(server.hello["firstUser"].is_null(), "{}", server.hello);
    assert_eq!(fs::read_to_string(&file).unwrap(), key);
    server.run(&["list"]).ended(0);
    server.kill();

    // A key that was lost is replaced by another.
    fs::write(&file, "nonsense").unwrap();
    let server = Server::start(data.path());
    server.run(&["list"]).ended(0);
    assert_ne!(fs::read_to_string(&file).unwrap(), key);
}

#[test]
fn access_control_must_be_configured_for_other_machines() {
    let data = folder();
    let folder = data.path().to_str().unwrap();
    let serve = |more: &[&str]| {
        let args = ["serve", "--port", "0", "--data", folder];
        run(args.iter().chain(more))
    };
    serve(&["--host", "0.0.0.0"])
        .ended(2)
        .complains("no access control is configured")
        .complains("--authentication");
    serve(&["--authentication", "basic"])
        .ended(2)
        .complains("no way to authenticate");
    serve(&["--authentication", ""])
        .ended(2)
        .complains("no accepted credentials are configured");
    serve(&["--authentication", "jwt"])
        .ended(2)
        .complains("an issuer");
    let server = Server::start_with(data.path(), &["--authentication", "none"]);
    assert!(server.hello["firstUser"].is_null());
    run(["list", "--url", &server.urls[0]]).ended(0);
}

#[test]
fn whoever_may_write_to_the_table_makes_keys_without_a_server() {
    let data = folder();
    let place = data.path().to_str().unwrap();
    let make = |more: &[&str]| {
        let args = ["key", "--json", "--data", place];
        let made = run(args.iter().chain(more)).ended(0).json();
        made["apiKey"].as_str().unwrap().to_owned()
    };
    let all = make(&["operations"]);
    let reads = make(&["monitor", "--permission", "read:workflow-instances"]);
    let other = make(&["acme", "--tenant", "acme"]);
    let server = Server::start(data.path());
    let url = server.urls[0].as_str();
    server.publish("hello");
    run(["start", "hello", "--url", url, "--api-key", &all]).ended(0);
    run(["list", "--url", url, "--api-key", &reads])
        .ended(0)
        .says("hello");
    run(["start", "hello", "--url", url, "--api-key", &reads])
        .ended(2)
        .complains("exec:workflow-definitions");
    run(["list", "--url", url, "--api-key", &other])
        .ended(0)
        .says("No instances");
    // A running server has the folder for itself; it makes keys through its API.
    run(["key", "--data", place]).ended(4);
}
