//! Findings as SARIF 2.1.0.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{Linted, RULES};

/// The document of one run.
pub(super) fn document(all: &[Linted]) -> Value {
    let found = all.iter().flat_map(|l| &l.findings);
    let codes: BTreeSet<&str> = found.map(|(_, f)| f.code.as_str()).collect();
    let described = |code: &str| {
        let rule = RULES.iter().find(|(name, _)| *name == code);
        rule.or(RULES.last()).map_or("", |(_, text)| text)
    };
    let rules = codes
        .iter()
        .map(|code| json!({ "id": code, "shortDescription": { "text": described(code) } }));
    let results = all.iter().flat_map(|linted| {
        linted.findings.iter().map(|(line, finding)| {
            json!({
                "ruleId": finding.code,
                "level": finding.level.as_str(),
                "message": { "text": finding.message },
                "locations": [{
                    "physicalLocation": {
                        "artifactLocation": { "uri": linted.file.replace('\\', "/") },
                        "region": { "startLine": line },
                    },
                    "logicalLocations": [{ "fullyQualifiedName": finding.path }],
                }],
            })
        })
    });
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "dormouse",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules.collect::<Vec<_>>(),
            } },
            "results": results.collect::<Vec<_>>(),
        }],
    })
}
