//! `dormouse backup` of a folder in use, and `dormouse restore`.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use dormouse_tests::primitives::{event, incompressible, sequence, set};
use dormouse_tests::{js, workflow};
use serde_json::Value;

use crate::process::{Server, folder, run};

const SECRET: &str = "mark-of-the-secret";

/// Publishes a workflow that keeps a large text, and waits for two events.
fn publish_large(server: &Server, data: &Path) {
    let steps = [
        set("Large", incompressible()),
        event("Go"),
        event("Last"),
        set("Size", js("return getLarge().length;")),
    ];
    let large = workflow("large", sequence(steps))
        .variable("Large", "String", "")
        .variable("Size", "Int32", "0");
    let file = data.join("large.json");
    std::fs::write(&file, large.json().to_string()).unwrap();
    server.run(&["publish", file.to_str().unwrap()]).ended(0);
}

fn id(started: &Value) -> String {
    started["workflowInstanceId"].as_str().unwrap().to_owned()
}

fn restored_and_sound(backup: &Path, to: &Path) -> Server {
    run([
        "restore".as_ref(),
        backup.as_os_str(),
        "--data".as_ref(),
        to.as_os_str(),
    ])
    .ended(0)
    .says("Restored");
    run(["doctor", "--data", to.to_str().unwrap()])
        .ended(0)
        .says("Nothing is wrong");
    Server::start(to)
}

#[test]
fn a_folder_in_use_comes_back_as_it_was_at_one_moment() {
    let (data, work) = (folder(), folder());
    let server = Server::start(data.path());
    server.publish("approval");
    publish_large(&server, work.path());
    server
        .run_reading(&["secrets", "set", "key"], SECRET.as_bytes())
        .ended(0);
    let approval = id(&server.json(&["start", "approval", "-i", "Request=x"]));
    let large = id(&server.json(&["start", "large"]));
    assert!(data.path().join("blobs").is_dir(), "the state is not large");

    let backup = work.path().join("daily/backup");
    let ends = AtomicBool::new(false);
    let copied = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !ends.load(Ordering::Relaxed) {
                server.json(&["start", "approval", "-i", "Request=meanwhile"]);
            }
        });
        let args = ["backup", backup.to_str().unwrap(), "--json", "--data"];
        let copied = run(args
            .iter()
            .map(AsRef::as_ref)
            .chain([data.path().as_os_str()]));
        ends.store(true, Ordering::Relaxed);
        copied
    });
    let copied = copied.ended(0).json();
    assert_eq!(copied["largeStates"], 1, "{copied}");
    // What comes after it is not in it.
    server
        .run(&["event", "Decision", "--input", r#"{"approved": true}"#])
        .ended(0);
    server.run(&["event", "Go"]).ended(0);
    server.kill();

    for round in ["a", "b"] {
        let to = work.path().join(round);
        let server = restored_and_sound(&backup, &to);
        let shown = server.json(&["show", &approval]);
        assert_eq!(shown["instance"]["subStatus"], "Suspended", "{shown:#}");
        server
            .run(&["event", "Decision", "--input", r#"{"approved": true}"#])
            .ended(0);
        server.wait_for(&approval, "Finished");
        server.run(&["event", "Go"]).ended(0);
        server.run(&["event", "Last"]).ended(0);
        let shown = server.wait_for(&large, "Finished");
        assert!(shown.to_string().len() > 300_000, "the text is gone");
        server.run(&["secrets", "test", "key"]).ended(0);
    }
}

#[test]
fn a_folder_that_nobody_has_is_copied_and_what_cannot_be_is_refused() {
    let (data, work) = (folder(), folder());
    let server = Server::start(data.path());
    server.publish("approval");
    let approval = id(&server.json(&["start", "approval", "-i", "Request=x"]));
    // Its log is not in the main file yet.
    server.kill();
    let path = |name: &str| work.path().join(name).to_str().unwrap().to_owned();
    let (from, backup) = (data.path().to_str().unwrap(), path("backup"));
    let before: usize = data.path().read_dir().unwrap().count();
    run(["backup", &backup, "--data", from])
        .ended(0)
        .says("Backed up");
    assert_eq!(data.path().read_dir().unwrap().count(), before);

    run(["backup", &backup, "--data", from])
        .ended(2)
        .complains("not empty");
    run(["backup", &path("new"), "--data", &path("none")])
        .ended(2)
        .complains("no table of Dormouse");
    for within in ["within", "so/far/within"] {
        run(["backup", &format!("{from}/{within}"), "--data", from])
            .ended(2)
            .complains("lies in the folder");
    }
    assert_eq!(data.path().read_dir().unwrap().count(), before);
    run(["restore", &backup, "--data", from])
        .ended(2)
        .complains("not empty");
    run(["restore", &path("none"), "--data", &path("new")])
        .ended(2)
        .complains("no table of Dormouse");
    // A backup that is damaged restores nothing, and says so.
    let damaged = path("damaged");
    std::fs::create_dir(&damaged).unwrap();
    std::fs::write(format!("{damaged}/dormouse.sqlite"), "x".repeat(8_192)).unwrap();
    run(["restore", &damaged, "--data", &path("new")])
        .ended(6)
        .complains("damaged");
    assert!(!work.path().join("new").exists());
    assert!(!work.path().join("new.dormouse-part").exists());

    let to = work.path().join("restored");
    let server = restored_and_sound(Path::new(&backup), &to);
    let shown = server.json(&["show", &approval]);
    assert_eq!(shown["instance"]["subStatus"], "Suspended", "{shown:#}");
}
