//! Every expression of Elsa's own workflows compiles.
//!
//! The workflows lie beside the repository (`DORMOUSE_SHARED`, by default `../shared`); without them there is
//! nothing to prove.

use std::collections::BTreeSet;
use std::path::PathBuf;

use dormouse_expressions::{Expressions, Language};
use serde_json::Value;

#[test]
fn every_expression_of_elsas_workflows_compiles() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let shared = std::env::var_os("DORMOUSE_SHARED").map_or(root, PathBuf::from);
    let Ok(files) = std::fs::read_dir(shared.join("elsa-workflows")) else {
        eprintln!("skipped: no Elsa workflows in {}", shared.display());
        return;
    };
    let mut found = BTreeSet::new();
    for file in files.flatten() {
        let text = std::fs::read_to_string(file.path()).unwrap_or_default();
        // Some files go on after their JSON, on purpose.
        let mut values =
            serde_json::Deserializer::from_str(text.trim_start_matches('\u{feff}')).into_iter();
        if let Some(Ok(workflow)) = values.next() {
            collect(&workflow, &mut found);
        }
    }
    let expressions = Expressions::default();
    for (is_liquid, source) in &found {
        let language = if *is_liquid {
            Language::Liquid
        } else {
            Language::JavaScript
        };
        assert!(expressions.compile(language, source).is_ok(), "{source}");
    }
    assert!(found.len() >= 60, "{}", found.len());
}

fn collect(value: &Value, found: &mut BTreeSet<(bool, String)>) {
    if let (Some(language), Some(source)) = (value["type"].as_str(), value["value"].as_str())
        && matches!(language, "JavaScript" | "Liquid")
    {
        found.insert((language == "Liquid", source.to_owned()));
    }
    match value {
        Value::Object(entries) => entries.values().for_each(|entry| collect(entry, found)),
        Value::Array(items) => items.iter().for_each(|item| collect(item, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
