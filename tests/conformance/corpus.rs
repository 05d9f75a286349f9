//! Every real file: it loads, is written back unchanged, compiles, tells its problems, and runs the same way however
//! often it is cut into steps.

use std::fmt::Write as _;

use dormouse_engine::definition::Definition;
use dormouse_engine::id::InstanceId;
use dormouse_engine::instance::Start;
use dormouse_engine::step::Environment;
use dormouse_engine::validate::validate;
use dormouse_tests::host::{BEGIN, Host};
use dormouse_tests::{corpus, golden};
use serde_json::{Map, Value};

/// A host that knows every file that is JSON. All of them are, but one that has a comment after its end.
fn everything() -> Option<(Host, Vec<(String, Definition)>)> {
    let mut host = Host::default();
    let mut definitions = Vec::new();
    for file in corpus::files()? {
        if Definition::from_json(&file.bytes).is_ok() {
            let definition = host.add_text(&file.bytes);
            definitions.push((file.name, (*definition).clone()));
        }
    }
    Some((host, definitions))
}

#[test]
fn every_file_is_written_back_unchanged() {
    let Some(files) = corpus::files() else { return };
    assert_eq!(files.len(), 84, "the whole corpus is there");
    for file in files {
        let Ok(definition) = Definition::from_json(&file.bytes) else {
            continue;
        };
        let text = file
            .bytes
            .strip_prefix(b"\xef\xbb\xbf")
            .unwrap_or(&file.bytes);
        let read: Value = serde_json::from_slice(text).unwrap();
        let written = serde_json::to_vec(definition.raw()).unwrap();
        assert_eq!(
            serde_json::from_slice::<Value>(&written).unwrap(),
            read,
            "{}",
            file.name
        );
        let again = Definition::from_json(&written).unwrap();
        assert_eq!(again, definition, "{}", file.name);
    }
}

#[test]
fn every_file_tells_its_problems() {
    let Some((host, definitions)) = everything() else {
        return;
    };
    let environment = Environment::new(BEGIN, &host.expressions);
    let mut text = String::new();
    for file in corpus::files().unwrap_or_default() {
        writeln!(text, "{}", file.name).unwrap();
        let Some((_, definition)) = definitions.iter().find(|(name, _)| *name == file.name) else {
            let error = Definition::from_json(&file.bytes).unwrap_err();
            writeln!(text, "    not loaded: {error}").unwrap();
            continue;
        };
        let graph = host.library.compile(definition, &host.expressions);
        for problem in validate(&graph, &environment) {
            let weight = if problem.is_error { "error" } else { "warning" };
            let (path, code, message) = (&problem.path, problem.code, &problem.message);
            writeln!(text, "    {weight} {code} at {path}: {message}").unwrap();
        }
    }
    golden::compare("corpus.txt", &text);
}

/// Runs a definition to its end, resuming whatever it waits for; what it did, as text.
fn run(host: &mut Host, definition_id: &str) -> String {
    let id: InstanceId = host.start(definition_id, Start::default()).unwrap();
    for _ in 0..50 {
        let Some(bookmark) = host.bookmarks(&id).into_iter().next() else {
            break;
        };
        host.now = host.now.max(bookmark.due().unwrap_or(host.now));
        let stimulus = dormouse_engine::step::Stimulus::Resume {
            bookmark: bookmark.id,
            input: Map::new(),
        };
        host.step(&id, stimulus);
    }
    let kept = host.kept(&id).unwrap();
    let incidents: Vec<_> = kept
        .instance
        .incidents
        .iter()
        .map(|i| i.message.clone())
        .collect();
    let journal = dormouse_tests::seen::journal_text(&kept.journal, &kept.graph);
    format!(
        "{:?} {:?} {incidents:?} {journal}",
        kept.instance.sub_status, host.lines
    )
}

#[test]
fn a_run_is_the_same_however_often_it_is_committed() {
    let Some((_, definitions)) = everything() else {
        return;
    };
    for (name, definition) in &definitions {
        let id = definition.definition_id.clone().unwrap();
        let once = run(&mut everything().unwrap().0, &id);
        let mut host = everything().unwrap().0;
        host.limits.step_activities_max = 1;
        assert_eq!(run(&mut host, &id), once, "{name}");
    }
}
