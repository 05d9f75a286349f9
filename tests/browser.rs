//! A person at a browser: headless Chromium over the real server, with Elsa Studio where npm has put it.
//!
//! `.ci/test` installs both. Where they cannot be had the tests say so and pass, unless `DORMOUSE_BROWSER` is `required`.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::expect_used,
    clippy::print_stderr,
    reason = "a test may fail"
)]

#[allow(dead_code, reason = "the tier of the command line uses more of it")]
#[path = "cli/process.rs"]
mod process;

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use dormouse_embedded::EmbeddedTable;
use dormouse_runtime::message::{Message, StartFacts, Task};
use dormouse_runtime::{DefinitionHandle, Tenant};
use dormouse_store::Store;
use dormouse_store::item::config::StoreConfig;

use process::{Server, folder};

/// The folder of the scripts, where npm has installed what they need.
fn scripts() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/browser")
}

/// Where the browser is. `None`: the test is skipped, and has said so.
fn browser() -> Option<PathBuf> {
    let named = std::env::var_os("DORMOUSE_CHROMIUM").map(PathBuf::from);
    let usual = [
        "/usr/bin/chromium",
        "/usr/bin/chromium-browser",
        "/usr/bin/google-chrome",
    ];
    let found = named
        .into_iter()
        .chain(usual.map(PathBuf::from))
        .find(|path| path.exists());
    let has_packages = scripts().join("node_modules/playwright-core").is_dir();
    if let (Some(path), true) = (found, has_packages) {
        return Some(path);
    }
    let is_required = std::env::var("DORMOUSE_BROWSER").is_ok_and(|v| v == "required");
    assert!(
        !is_required,
        "Chromium or the packages of tests/browser are missing"
    );
    eprintln!(
        "skipped: there is no Chromium, or no packages in tests/browser: `npm ci` there installs them"
    );
    None
}

/// Does what a script says, against the server. Fails the test with what the script has seen.
fn visit(script: &str, server: &Server, browser: &Path) {
    visit_also(script, server, browser, "");
}

/// The same for a script that may leave the server for another address, `also`.
fn visit_also(script: &str, server: &Server, browser: &Path, also: &str) {
    let shots = Path::new(env!("CARGO_TARGET_TMPDIR")).join("browser");
    std::fs::create_dir_all(&shots).unwrap();
    let ran = Command::new("node")
        .arg(scripts().join(script))
        .arg(&server.urls[0])
        .env("CHROMIUM", browser)
        .env("NAME", server.hello["firstUser"]["name"].as_str().unwrap())
        .env(
            "PASSWORD",
            server.hello["firstUser"]["password"].as_str().unwrap(),
        )
        .env("API_KEY", server.key().trim())
        .env("SHOTS", &shots)
        .env("ALSO", also)
        .output()
        .expect("Node.js runs the scripts");
    assert!(
        ran.status.success(),
        "{script}, with screenshots in {}:\n{}{}",
        shots.display(),
        String::from_utf8_lossy(&ran.stdout),
        String::from_utf8_lossy(&ran.stderr)
    );
}

/// A server whose console has Studio.
fn with_studio(data: &Path) -> Server {
    let folder = scripts();
    Server::start_with(data, &["--studio", folder.to_str().unwrap()])
}

#[test]
fn a_person_draws_publishes_runs_and_watches_a_workflow_in_studio() {
    let Some(browser) = browser() else { return };
    let data = folder();
    let server = with_studio(data.path());
    visit("studio.mjs", &server, &browser);
}

#[test]
fn who_draws_what_somebody_else_has_saved_meanwhile_is_told_so() {
    let Some(browser) = browser() else { return };
    let data = folder();
    let server = with_studio(data.path());
    visit("edits.mjs", &server, &browser);
}

#[test]
fn a_person_mends_an_incident_and_replays_a_dead_letter() {
    let Some(browser) = browser() else { return };
    let data = folder();
    for id in ["late", "lost", "gone"] {
        bury(data.path(), id);
    }
    let server = Server::start(data.path());
    visit("operating.mjs", &server, &browser);
}

#[test]
fn a_person_answers_by_a_link_and_another_one_sees_it_end() {
    let Some(browser) = browser() else { return };
    let data = folder();
    let server = Server::start(data.path());
    visit("link.mjs", &server, &browser);
}

#[test]
fn a_person_pauses_all_workflows_and_lets_them_go_on() {
    let Some(browser) = browser() else { return };
    let data = folder();
    let server = Server::start(data.path());
    visit("pause.mjs", &server, &browser);
}

#[test]
fn a_session_is_that_of_all_tabs_and_outlives_a_stopped_server() {
    let Some(browser) = browser() else { return };
    let data = folder();
    let server = Server::start(data.path());
    visit("session.mjs", &server, &browser);
}

#[test]
fn the_page_of_an_instance_follows_it_and_answers_what_it_waits_for() {
    let Some(browser) = browser() else { return };
    let data = folder();
    let server = Server::start(data.path());
    visit("instance.mjs", &server, &browser);
}

#[test]
fn lists_are_filtered_and_many_instances_are_handled_at_once() {
    let Some(browser) = browser() else { return };
    let data = folder();
    let server = Server::start(data.path());
    visit("lists.mjs", &server, &browser);
}

#[test]
fn a_workflow_is_started_by_a_form_compared_and_rolled_back() {
    let Some(browser) = browser() else { return };
    let data = folder();
    let server = Server::start(data.path());
    visit("workflow.mjs", &server, &browser);
}

#[test]
fn a_person_completes_and_fails_tasks_in_the_inbox() {
    let Some(browser) = browser() else { return };
    let data = folder();
    let server = Server::start(data.path());
    visit("inbox.mjs", &server, &browser);
}

#[test]
fn schedules_are_shown_and_an_occurrence_is_skipped() {
    let Some(browser) = browser() else { return };
    let data = folder();
    let server = Server::start(data.path());
    visit("schedules.mjs", &server, &browser);
}

#[test]
fn keys_users_and_roles_are_managed_and_a_reader_sees_no_errors() {
    let Some(browser) = browser() else { return };
    let data = folder();
    let server = Server::start(data.path());
    visit("access.mjs", &server, &browser);
}

#[test]
fn every_page_fits_a_phone_and_a_desk_and_is_accessible() {
    let Some(browser) = browser() else { return };
    let data = folder();
    let server = Server::start(data.path());
    for name in ["approval", "hello"] {
        server.publish(name);
    }
    server.json(&["start", "approval", "-i", "Request=a chair"]);
    visit("phone.mjs", &server, &browser);
}

/// An OpenID provider, which ends with the test.
struct Provider(Child);

impl Drop for Provider {
    fn drop(&mut self) {
        let _gone = self.0.kill();
        let _ended = self.0.wait();
    }
}

#[test]
fn people_sign_in_at_an_openid_provider_and_out_again() {
    let Some(browser) = browser() else { return };
    let secret = "a secret: with signs";
    let mut provider = Command::new("node")
        .arg(scripts().join("provider.mjs"))
        .arg(secret)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map(Provider)
        .unwrap();
    let mut lines = BufReader::new(provider.0.stdout.take().unwrap()).lines();
    let issuer = lines.next().expect("its address").unwrap();
    let data = folder();
    let kept = folder();
    let file = kept.path().join("secret");
    std::fs::write(&file, secret).unwrap();
    let server = Server::start_with(
        data.path(),
        &[
            "--authentication",
            "oidc,users,apiKeys",
            "--oidc-issuer",
            &issuer,
            "--oidc-client-id",
            "dormouse",
            "--oidc-client-secret-file",
            file.to_str().unwrap(),
            "--oidc-role",
            "engineers=admin",
            "--allow-private-egress",
        ],
    );
    visit_also("oidc.mjs", &server, &browser, &issuer);
}

/// Leaves a message in a data folder that cannot be delivered: a start of a workflow that is not there yet.
fn bury(data: &Path, id: &str) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let table = EmbeddedTable::open(data).unwrap();
        let store = Store::new(std::sync::Arc::new(table), StoreConfig::embedded());
        let task = Task::Start {
            instance: id.into(),
            definition: DefinitionHandle::published(if id == "late" { "missing" } else { "never" }),
            start: StartFacts::default(),
        };
        let tenant = Tenant::default();
        let message = Message::new(format!("start/{id}"), tenant.clone(), task);
        let effect = message.effect().unwrap();
        let long_ago = 1_700_000_000_000;
        store
            .outbox()
            .put(&tenant, id, long_ago, &[effect])
            .await
            .unwrap();
    });
}
