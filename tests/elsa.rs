//! What the real Elsa 3 answered, against the real binary: the recorded cases are played through the REST API, with
//! flowcharts that count and with flowcharts that pass tokens. Every kind of case has a score, which must not fall.
//!
//! The cases lie in `tests/elsa/cases`. `DORMOUSE_ELSA_ONLY=TEXT` plays those whose id has the text and tells how they
//! differ.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::expect_used,
    clippy::wildcard_enum_match_arm,
    clippy::too_many_lines,
    reason = "a test may fail, and its scores are its point"
)]

#[path = "elsa/accepted.rs"]
mod accepted;
#[path = "elsa/case.rs"]
mod case;
#[path = "elsa/client.rs"]
mod client;
#[path = "elsa/compare.rs"]
mod compare;
#[path = "elsa/echo.rs"]
mod echo;
#[path = "elsa/look.rs"]
mod look;
#[path = "elsa/normal.rs"]
mod normal;
#[path = "elsa/play.rs"]
mod play;
#[allow(dead_code, reason = "the tier of the command line uses more of it")]
#[path = "cli/process.rs"]
mod process;
#[path = "elsa/told.rs"]
mod told;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use accepted::Accepted;
use case::{Kind, expected};
use client::Client;
use normal::Run;
use play::Stage;
use process::{Server, folder};
use serde_json::Value;

/// Says something also where the runner captures what tests print.
fn say(text: &str) {
    use std::io::Write as _;
    let _unheard = writeln!(std::io::stderr(), "{text}");
}

/// Cases under way at once in one mode. They mostly wait.
const JOBS: usize = 20;

/// A case that is not as Elsa, and in which facets.
#[derive(Debug)]
struct Difference {
    id: String,
    facets: Vec<(&'static str, Value, Value)>,
}

fn id(case: &Value) -> &str {
    case["id"].as_str().unwrap_or_default()
}

fn differ(
    stage: &Stage,
    client: &mut Client,
    case: &Value,
    mode: &str,
    number: usize,
    accepted: &[Accepted],
) -> Option<Difference> {
    let elsa = expected(case, mode)?;
    let called = id(case).chars();
    let called: String = called
        .map(|c| {
            if c.is_ascii_alphanumeric() || c == '_' {
                c
            } else {
                '-'
            }
        })
        .collect();
    let name = format!("{}{called}-{:x}", &mode[..1], 0x00a1_0000 + number);
    // Some of them would only show how long this server works at what ends Elsa.
    if accepted.iter().any(|a| a.covers_all(id(case))) {
        return None;
    }
    let here = play::play(stage, client, case, name);
    let ignored = case["ignore"].as_array().cloned().unwrap_or_default();
    let here = compare::cut(&here);
    let both = compare::cut(&Run::numbers(elsa)).into_iter().zip(here);
    let facets: Vec<_> = both
        .filter(|((facet, elsa), (_, here))| {
            !ignored.contains(&Value::from(*facet))
                && !compare::agree(facet, elsa, here)
                && !accepted.iter().any(|a| a.covers(id(case), facet))
        })
        .map(|((facet, elsa), (_, here))| (facet, elsa, here))
        .collect();
    (!facets.is_empty()).then(|| Difference {
        id: id(case).to_owned(),
        facets,
    })
}

/// Plays all cases of a kind. Those that want to be alone come last.
fn play_kind(stage: &Stage, kind: &Kind, mode: &str, accepted: &[Accepted]) -> Vec<Difference> {
    let is_alone = |case: &&Value| case["alone"].as_bool().unwrap_or(false);
    let (alone, together): (Vec<_>, Vec<_>) = kind.cases.iter().partition(is_alone);
    let next = AtomicUsize::new(0);
    let found = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..JOBS {
            scope.spawn(|| {
                let mut client = Client::new(stage.port);
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some(case) = together.get(number) else {
                        return;
                    };
                    let difference = differ(stage, &mut client, case, mode, number, accepted);
                    found.lock().unwrap().extend(difference);
                }
            });
        }
    });
    let mut found = found.into_inner().unwrap();
    let mut client = Client::new(stage.port);
    for (number, case) in alone.into_iter().enumerate() {
        found.extend(differ(
            stage,
            &mut client,
            case,
            mode,
            0x8000 + number,
            accepted,
        ));
    }
    found
}

/// A server in a mode, with a folder of its own.
fn serve(data: &Path, mode: &str, echo: u16) -> (Server, Stage) {
    let more = ["--allow-private-egress", "--quiet", "--flowcharts", mode];
    let server = Server::start_with(data, &more);
    let port = server.urls[0].rsplit(':').next().unwrap();
    let stage = Stage {
        port: port.parse().unwrap(),
        credential: format!("ApiKey {}", server.key().trim()),
        password: server.hello["firstUser"]["password"]
            .as_str()
            .unwrap_or("password")
            .to_owned(),
        echo,
    };
    (server, stage)
}

fn play_mode(mode: &'static str, kinds: &[Kind], echo: u16) -> BTreeMap<String, (usize, usize)> {
    let data = folder();
    let (_server, stage) = serve(data.path(), mode, echo);
    let accepted = accepted::accepted();
    let is_told = std::env::var("DORMOUSE_ELSA_ONLY").is_ok();
    let mut scores = BTreeMap::new();
    for kind in kinds {
        let mut differences = play_kind(&stage, kind, mode, &accepted);
        differences.sort_by(|a, b| a.id.cmp(&b.id));
        let all = kind.cases.len();
        let same = all - differences.len();
        say(&format!("{mode} {}: {same} of {all} as Elsa", kind.name));
        for difference in &differences {
            let facets: Vec<_> = difference.facets.iter().map(|(facet, ..)| *facet).collect();
            say(&format!("  {} {}", difference.id, facets.join(",")));
            for (facet, elsa, here) in difference.facets.iter().filter(|_| is_told) {
                say(&format!(
                    "    {facet}\n      elsa {elsa}\n      here {here}"
                ));
            }
        }
        scores.insert(kind.name.clone(), (same, all));
    }
    scores
}

#[test]
fn what_elsa_answered_is_answered_here() {
    let only = std::env::var("DORMOUSE_ELSA_ONLY").ok();
    let mut kinds = case::kinds();
    if let Some(only) = &only {
        for kind in &mut kinds {
            kind.cases.retain(|case| id(case).contains(only.as_str()));
        }
        kinds.retain(|kind| !kind.cases.is_empty());
    }
    let echo = echo::start();
    let (counter, token) = std::thread::scope(|scope| {
        let token = scope.spawn(|| play_mode("token", &kinds, echo));
        (play_mode("counter", &kinds, echo), token.join().unwrap())
    });
    if only.is_some() {
        return;
    }
    let floors = accepted::floors();
    let mut fallen = Vec::new();
    for (mode, scores) in [("counter", &counter), ("token", &token)] {
        for (name, (same, all)) in scores {
            let floor = floors.get(mode).and_then(|m| m.get(name)).copied();
            let floor =
                floor.unwrap_or_else(|| panic!("scores.toml has no floor of {name} in {mode}"));
            say(&format!("{mode} {name}: {same} of {all}, at least {floor}"));
            if *same < floor {
                fallen.push(format!("{mode} {name}: {same} of {all}, not {floor}"));
            }
        }
    }
    assert!(fallen.is_empty(), "scores that fell: {fallen:#?}");
}

#[test]
fn every_exception_is_of_a_recorded_case() {
    let kinds = case::kinds();
    let ids: Vec<&str> = kinds.iter().flat_map(|k| k.cases.iter().map(id)).collect();
    let has_public = kinds.iter().any(|kind| kind.name == "public");
    let accepted = accepted::accepted();
    assert!(accepted.len() < 150, "{} exceptions", accepted.len());
    for one in accepted {
        let is_there = ids.iter().any(|id| one.covers(id, &one.facet));
        let is_public = one.cases.starts_with("public/") && !has_public;
        assert!(is_there || is_public, "{one:?} is of no recorded case");
    }
}

#[test]
fn the_page_of_differences_is_up_to_date() {
    let path = case::folder().join("DIFFERENCES.md");
    let page = accepted::page(&accepted::accepted());
    if std::env::var_os("DORMOUSE_BLESS").is_some() {
        std::fs::write(&path, &page).expect("the page can be written");
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        kept == page,
        "DIFFERENCES.md is not what accepted.toml says; set DORMOUSE_BLESS=1 to write it"
    );
}
