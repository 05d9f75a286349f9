//! `dormouse lint`

mod activities;
mod lines;
mod reach;
mod sarif;
mod secrets;
mod variables;
mod waits;

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use dormouse_engine::definition::Definition;
use dormouse_engine::graph::Graph;
use dormouse_engine::step::Environment;
use dormouse_engine::validate;
use dormouse_expressions::{Expressions, Limits};
use serde_json::{Value, json};

use super::validate::Files;
use crate::definition_file;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::moment;
use crate::screen::Screen;
use crate::text_table::TextTable;

/// Definitions to lint.
#[derive(Debug, Args)]
pub(crate) struct LintArgs {
    /// Definition files, or folders of them
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Output format; `--json` is the same as `--format json`
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    /// Exit with 2 for warnings and notes too
    #[arg(long)]
    strict: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A table for people
    Text,
    /// One JSON value
    Json,
    /// SARIF 2.1.0, as code scanning reads it
    Sarif,
}

/// Severity of a finding, as SARIF spells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Error,
    Warning,
    Note,
}

impl Level {
    fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }
}

/// Something to look at.
#[derive(Debug, Clone, PartialEq)]
struct Finding {
    level: Level,
    /// A stable name of the rule.
    code: String,
    /// JSON path from the definition's root.
    path: String,
    message: String,
}

impl Finding {
    fn new(level: Level, code: &str, path: &str, message: String) -> Self {
        Self {
            level,
            code: code.to_owned(),
            path: path.to_owned(),
            message,
        }
    }
}

/// The findings of a file, each with its line.
struct Linted {
    file: String,
    findings: Vec<(usize, Finding)>,
}

/// Rules of their own beside those of `validate`, for the catalogue of SARIF.
const RULES: [(&str, &str); 6] = [
    ("unusedVariable", "A variable is declared and never used"),
    ("unusedInput", "An input is declared and never used"),
    ("unreachable", "An activity can never run"),
    (
        "noDeadline",
        "An activity waits for something outside, without a deadline",
    ),
    ("secretInLiteral", "A secret stands in the definition"),
    (
        "problem",
        "The definition has a problem that validation finds",
    ),
];

/// Looks for what is valid and probably not meant. The exit code says whether there are errors.
pub(crate) fn lint(args: &LintArgs, screen: &Screen) -> Result<Exit, Failure> {
    let files = definition_file::read_all(&args.files)?;
    let children = Files::of(&files);
    let expressions = Expressions::new(Limits::default());
    let environment = Environment::new(moment::now(), &expressions);
    let mut all = Vec::new();
    for file in &files {
        let text =
            std::fs::read_to_string(&file.path).map_err(|e| Failure::file(&file.path, &e))?;
        let graph = Graph::compile(&file.definition, &children, &expressions);
        let problems = validate::validate(&graph, &environment).into_iter();
        let mut findings: Vec<Finding> = problems
            .map(|p| {
                let level = if p.is_error {
                    Level::Error
                } else {
                    Level::Warning
                };
                Finding::new(level, p.code, &p.path, p.message)
            })
            .collect();
        findings.extend(rules(&file.definition));
        let lines = lines::of(&text);
        let mut findings: Vec<(usize, Finding)> = findings
            .into_iter()
            .map(|finding| (lines::find(&lines, &finding.path), finding))
            .collect();
        findings.sort_by(|a, b| (a.0, &a.1.path, &a.1.code).cmp(&(b.0, &b.1.path, &b.1.code)));
        all.push(Linted {
            file: file.shown(),
            findings,
        });
    }
    match args.format {
        Format::Sarif => screen.raw(&sarif::document(&all)),
        Format::Json => screen.raw(&value(&all)),
        Format::Text => {
            screen.value(&value(&all));
            all.iter().for_each(|linted| tell(screen, linted));
        }
    }
    let worst = all
        .iter()
        .flat_map(|l| &l.findings)
        .map(|(_, f)| f.level)
        .min();
    Ok(match worst {
        Some(Level::Error) => Exit::BadInput,
        Some(Level::Warning | Level::Note) if args.strict => Exit::BadInput,
        Some(Level::Warning | Level::Note) | None => Exit::Ok,
    })
}

/// The findings of all rules.
fn rules(definition: &Definition) -> Vec<Finding> {
    let raw = Value::Object(definition.raw().clone());
    let activities = activities::of(&raw);
    let mut findings = variables::unused(&raw, &activities);
    findings.extend(reach::unreachable(&activities));
    findings.extend(waits::without_deadline(&activities));
    findings.extend(secrets::in_literals(&raw));
    findings
}

fn value(all: &[Linted]) -> Value {
    let each = all.iter().map(|linted| {
        let findings = linted.findings.iter().map(|(line, finding)| {
            json!({
                "level": finding.level.as_str(),
                "code": finding.code,
                "path": finding.path,
                "line": line,
                "message": finding.message,
            })
        });
        json!({ "file": linted.file, "findings": findings.collect::<Vec<_>>() })
    });
    json!({ "files": each.collect::<Vec<_>>() })
}

fn tell(screen: &Screen, linted: &Linted) {
    let verdict = match linted.findings.len() {
        0 => "nothing found".to_owned(),
        1 => "1 finding".to_owned(),
        count => format!("{count} findings"),
    };
    screen.line(format!("{}: {verdict}", screen.bold(&linted.file)));
    let mut table = TextTable::plain();
    for (line, finding) in &linted.findings {
        table.row([
            String::new(),
            format!("{}:{line}", linted.file),
            finding.level.as_str().to_owned(),
            format!("{} [{}]", finding.message, finding.code),
        ]);
    }
    screen.table(&table);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(definition: Value) -> Vec<String> {
        let definition = Definition::from_value(definition).unwrap();
        let findings = rules(&definition).into_iter();
        findings.map(|f| format!("{} {}", f.code, f.path)).collect()
    }

    fn literal(value: impl Into<Value>) -> Value {
        json!({ "typeName": "String", "expression": { "type": "Literal", "value": value.into() } })
    }

    fn event(id: &str) -> Value {
        json!({ "id": id, "type": "Elsa.Event", "eventName": literal("Paid") })
    }

    fn delay(id: &str) -> Value {
        json!({ "id": id, "type": "Elsa.Delay", "timeSpan": literal("1.00:00:00") })
    }

    fn edge(from: &str, to: &str) -> Value {
        json!({ "source": { "activity": from, "port": "Done" }, "target": { "activity": to, "port": "In" } })
    }

    #[test]
    fn a_variable_is_used_by_scripts_bindings_and_references_only() {
        let script = json!({ "typeName": "String", "expression": { "type": "JavaScript", "value": "getByScript() + variables.ByProperty" } });
        let found = found(json!({
            "inputs": [{ "name": "Given", "type": "String" }, { "name": "Idle", "type": "String" }],
            "variables": [
                { "id": "1", "name": "ByScript" }, { "id": "2", "name": "ByProperty" }, { "id": "3", "name": "Bound" },
                { "id": "4", "name": "Set" }, { "id": "5", "name": "Unused" },
            ],
            "root": { "id": "Unused", "name": "Unused", "type": "Elsa.Sequence", "activities": [
                { "id": "a", "type": "Elsa.WriteLine", "text": script },
                { "id": "b", "type": "Elsa.ReadLine", "result": { "typeName": "String", "memoryReference": { "id": "3" } } },
                { "id": "c", "type": "Elsa.SetVariable", "variable": { "id": "4", "name": "Set" },
                  "value": { "typeName": "Object", "expression": { "type": "Input", "value": "Given" } } },
            ] }
        }));
        assert_eq!(
            found,
            ["unusedVariable variables[4]", "unusedInput inputs[1]"]
        );
    }

    #[test]
    fn an_activity_without_a_way_to_it_is_unreachable() {
        let found = found(json!({ "root": { "id": "f", "type": "Elsa.Flowchart",
            "activities": [delay("a"), delay("b"), delay("c"), delay("d")],
            "connections": [edge("a", "b"), edge("c", "d"), edge("d", "c")],
        } }));
        assert_eq!(
            found,
            [
                "unreachable root.activities[2]",
                "unreachable root.activities[3]"
            ]
        );
        let found = self::found(
            json!({ "root": { "id": "s", "type": "Elsa.Sequence", "activities": [
            delay("a"), { "id": "b", "type": "Elsa.Finish" }, delay("c"),
        ] } }),
        );
        assert_eq!(found, ["unreachable root.activities[2]"]);
    }

    #[test]
    fn what_undoes_an_activity_is_reached_without_a_way_to_it() {
        let mut reserve = delay("reserve");
        reserve["customProperties"] = json!({ "compensate": "release" });
        let found = found(json!({ "root": { "id": "f", "type": "Elsa.Flowchart",
            "activities": [delay("release"), reserve, delay("after")],
            "connections": [edge("reserve", "after")],
        } }));
        assert_eq!(found, Vec::<String>::new());
    }

    #[test]
    fn a_wait_needs_a_deadline_beside_it() {
        let flow = |connections: Value| {
            found(json!({ "root": { "id": "f", "type": "Elsa.Flowchart",
                "activities": [{ "id": "a", "type": "Elsa.WriteLine" }, event("e"), delay("d"), delay("late")],
                "connections": connections,
            } }))
        };
        let beside = json!([edge("a", "e"), edge("a", "d"), edge("d", "late")]);
        assert!(flow(beside).is_empty());
        let after = json!([edge("a", "e"), edge("e", "d"), edge("d", "late")]);
        assert_eq!(flow(after), ["noDeadline root.activities[1]"]);
        let mut bounded = event("e");
        bounded["customProperties"] = json!({ "timeout": 60_000 });
        assert!(found(json!({ "root": bounded })).is_empty());
        let fork = |mode: &str| {
            found(
                json!({ "root": { "id": "f", "type": "Elsa.Fork", "joinMode": mode, "branches": [
                event("e"), { "id": "s", "type": "Elsa.Sequence", "activities": [delay("d")] } ] } }),
            )
        };
        assert!(fork("WaitAny").is_empty());
        assert_eq!(fork("WaitAll"), ["noDeadline root.branches[0]"]);
        // A trigger does not wait.
        let mut trigger = event("e");
        trigger["customProperties"] = json!({ "canStartWorkflow": true });
        assert!(found(json!({ "root": trigger })).is_empty());
    }

    #[test]
    fn a_secret_is_found_by_its_name_and_by_its_form() {
        let found = found(
            json!({ "root": { "id": "s", "type": "Elsa.Sequence", "activities": [
            { "id": "a", "type": "Elsa.SendHttpRequest", "authorization": literal("Basic abc"),
              "url": literal("https://user:hunter22@example.com/"),
              "requestHeaders": literal(json!({ "X-Api-Key": "k-123456" })) },
            { "id": "b", "type": "Elsa.WriteLine", "text": literal("AKIAIOSFODNN7EXAMPLE") },
            { "id": "c", "type": "Elsa.SendHttpRequest", "authorization": { "typeName": "String",
              "expression": { "type": "JavaScript", "value": "'Bearer ' + getToken()" } } },
            { "id": "d", "type": "Elsa.WriteLine", "text": literal("the password was changed") },
        ] } }),
        );
        assert_eq!(
            found,
            [
                "secretInLiteral root.activities[0].authorization",
                "secretInLiteral root.activities[0].url",
                "secretInLiteral root.activities[0].requestHeaders",
                "secretInLiteral root.activities[1].text",
            ]
        );
    }
}
