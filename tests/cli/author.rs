//! Writing workflows: lint, schema, init, completions, man pages, apply.

use std::path::Path;

use serde_json::{Value, json};

use crate::process::{Server, example, folder, run};

fn read(file: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap()
}

fn careless() -> Value {
    json!({
        "definitionId": "careless",
        "variables": [{ "id": "v", "name": "Forgotten", "typeName": "Object" }],
        "root": { "id": "all", "type": "Elsa.Sequence", "activities": [
            { "id": "send", "name": "Send", "type": "Elsa.SendHttpRequest",
              "authorization": { "typeName": "String", "expression": { "type": "Literal", "value": "Bearer abcdef" } },
              "url": { "typeName": "Uri", "expression": { "type": "Literal", "value": "https://shop.example" } } },
            { "id": "wait", "name": "Wait", "type": "Elsa.Event",
              "eventName": { "typeName": "String", "expression": { "type": "Literal", "value": "Paid" } } },
            { "id": "end", "name": "End", "type": "Elsa.Finish" },
            { "id": "late", "name": "Late", "type": "Elsa.WriteLine" },
        ] }
    })
}

#[test]
fn lint_finds_what_is_probably_not_meant_with_its_line() {
    let folder = folder();
    let file = folder.path().join("careless.json");
    std::fs::write(&file, serde_json::to_string_pretty(&careless()).unwrap()).unwrap();
    let name = file.to_str().unwrap();
    let text = std::fs::read_to_string(&file).unwrap();
    let line = |part: &str| 1 + text.lines().position(|l| l.contains(part)).unwrap();
    // Objects begin a line before their first member.
    let expected = [
        (line("\"variables\"") + 1, "warning", "unusedVariable"),
        (line("\"authorization\""), "error", "secretInLiteral"),
        (line("\"wait\"") - 1, "note", "noDeadline"),
        (line("\"late\"") - 1, "warning", "unreachable"),
    ];
    let mut ran = run(["lint", name])
        .ended(2)
        .says("careless.json: 4 findings");
    let found = run(["lint", name, "--json"]).ended(2).json();
    let findings = found["files"][0]["findings"].as_array().unwrap();
    assert_eq!(findings.len(), 4, "{found:#}");
    let sarif = run(["lint", name, "--format", "sarif"]).ended(2).json();
    assert_eq!(sarif["version"], "2.1.0");
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    for (place, (line, level, code)) in expected.into_iter().enumerate() {
        ran = ran.says(&format!("{name}:{line}"));
        let finding = &findings[place];
        assert_eq!(
            (&finding["line"], &finding["level"], &finding["code"]),
            (&json!(line), &json!(level), &json!(code))
        );
        let result = &results[place];
        assert_eq!(result["ruleId"], code);
        assert_eq!(
            result["locations"][0]["physicalLocation"]["region"]["startLine"],
            line
        );
    }
    run(["lint", example("hello").to_str().unwrap(), "--strict"])
        .ended(0)
        .says("nothing found");
    run(["lint", example("order").to_str().unwrap()])
        .ended(0)
        .says("noDeadline");
    run(["lint", example("order").to_str().unwrap(), "--strict"]).ended(2);
}

/// Properties of an activity that the schema does not know, over all activities in it.
fn unknown(schema: &Value, activity: &Value, found: &mut Vec<String>) {
    match activity {
        Value::Object(entries) => {
            if let (Some(kind), Some(_)) = (activity["type"].as_str(), activity["id"].as_str()) {
                let own = &schema["$defs"][kind]["properties"];
                let all = &schema["$defs"]["activity"]["properties"];
                let names = entries
                    .keys()
                    .filter(|n| own.get(n).is_none() && all.get(n).is_none());
                found.extend(
                    names
                        .filter(|n| *n != "nodeId")
                        .map(|n| format!("{kind}.{n}")),
                );
            }
            entries
                .values()
                .for_each(|inner| unknown(schema, inner, found));
        }
        Value::Array(items) => items.iter().for_each(|item| unknown(schema, item, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[test]
fn the_schema_knows_every_property_of_the_examples() {
    let schema = run(["schema"]).ended(0).json();
    let names = schema["$defs"]["activity"]["properties"]["type"]["anyOf"]
        .as_array()
        .unwrap();
    assert!(names.iter().any(|name| name["const"] == "Elsa.WriteLine"));
    let mut found = Vec::new();
    for entry in std::fs::read_dir(example("x").parent().unwrap()).unwrap() {
        let file = entry.unwrap().path();
        if file.extension().is_some_and(|e| e == "json") {
            unknown(&schema, &read(&file)["root"], &mut found);
        }
    }
    assert_eq!(found, Vec::<String>::new());
    // Every reference leads somewhere.
    let text = schema.to_string();
    for reference in text.split("\"$ref\":\"#/$defs/").skip(1) {
        let name = reference.split('"').next().unwrap();
        assert!(schema["$defs"].get(name).is_some(), "{name}");
    }

    // A workflow that is used as an activity is a type, with its inputs.
    let folder = folder();
    let own = json!({ "definitionId": "tax", "name": "Add Tax", "options": { "usableAsActivity": true },
        "inputs": [{ "name": "NetPrice", "type": "Decimal" }], "root": { "id": "r", "type": "Elsa.Sequence" } });
    let file = folder.path().join("tax.json");
    std::fs::write(&file, own.to_string()).unwrap();
    let out = folder.path().join("schema.out");
    run([
        "schema",
        file.to_str().unwrap(),
        "-o",
        out.to_str().unwrap(),
    ])
    .ended(0)
    .says("Wrote");
    let schema = read(&out);
    let own = &schema["$defs"]["AddTax"]["properties"];
    assert!(own.get("netPrice").is_some(), "{own}");
}

#[test]
fn a_new_project_is_tested_linted_and_applied() {
    let data = folder();
    let project = data.path().join("project");
    let name = project.to_str().unwrap();
    run(["init", name]).ended(0).says("Next: dormouse test");
    run(["init", name]).ended(4).complains("is there already");
    let workflows = project.join("workflows");
    let workflows = workflows.to_str().unwrap();
    run(["test", workflows]).ended(0).says("4 cases passed");
    run(["lint", workflows, "--strict"]).ended(0);
    run(["validate", workflows]).ended(0);
    assert_eq!(
        read(&project.join("workflow.schema.json"))["title"],
        "Workflow definition"
    );
    let settings = read(&project.join(".vscode/settings.json"));
    assert_eq!(settings["json.schemas"][0]["url"], "./workflow.schema.json");
    let server = Server::start(&data.path().join("data"));
    let binary = Path::new(env!("CARGO_BIN_EXE_dormouse")).parent().unwrap();
    let path = format!("{}:{}", binary.display(), std::env::var("PATH").unwrap());
    let deployed = std::process::Command::new(project.join("deploy.sh"))
        .env("PATH", path)
        .env("DORMOUSE_URL", &server.urls[0])
        .env("DORMOUSE_API_KEY", server.key())
        .output()
        .unwrap();
    assert!(deployed.status.success(), "{deployed:?}");
    assert!(
        String::from_utf8(deployed.stdout)
            .unwrap()
            .contains("created       approval")
    );
}

#[test]
fn completions_and_man_pages_know_every_command() {
    for (shell, part) in [
        ("bash", "_dormouse()"),
        ("zsh", "#compdef dormouse"),
        ("fish", "complete -c dormouse"),
    ] {
        run(["completions", shell])
            .ended(0)
            .says(part)
            .says("dead-letters")
            .says("junit");
    }
    run(["completions", "tcsh"]).ended(2);
    let folder = folder();
    let pages = folder.path().join("man");
    run(["man", pages.to_str().unwrap()])
        .ended(0)
        .says("dormouse.1");
    for page in [
        "dormouse.1",
        "dormouse-serve.1",
        "dormouse-test.1",
        "dormouse-dead-letters-replay.1",
    ] {
        let text = std::fs::read_to_string(pages.join(page)).unwrap();
        assert!(text.contains(".SH"), "{page}: {text}");
    }
}

#[test]
fn a_folder_is_applied_until_nothing_differs() {
    let data = folder();
    let server = Server::start(data.path());
    let sources = data.path().join("flows");
    std::fs::create_dir_all(sources.join("env/prod")).unwrap();
    let flows = sources.to_str().unwrap().to_owned();
    let copy = |name: &str, to: &Path| {
        std::fs::copy(example(name), to.join(format!("{name}.json"))).unwrap()
    };
    for name in ["approval", "quote", "onboarding", "grant-access"] {
        copy(name, &sources);
    }
    // One that nobody applied stays as it is, whatever happens.
    server.publish("hello");

    let planned = server.run(&["apply", &flows, "--dry-run"]).ended(7);
    planned.says("would create  approval");
    server.run(&["start", "approval"]).ended(5);
    let applied = server.json(&["apply", &flows]);
    let actions: Vec<&Value> = applied["definitions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|d| &d["action"])
        .collect();
    assert_eq!(actions, [&json!("create"); 4]);
    server
        .run(&["start", "approval", "-i", "Request=x"])
        .ended(0);
    server
        .run(&["apply", &flows, "--dry-run"])
        .ended(0)
        .says("The server has the folder's definitions.");

    // A change of a file, and one on the server behind its back.
    let mut changed = read(&sources.join("approval.json"));
    changed["description"] = json!("changed");
    std::fs::write(sources.join("approval.json"), changed.to_string()).unwrap();
    server.publish("quote");
    std::fs::remove_file(sources.join("onboarding.json")).unwrap();
    let planned = server
        .run(&["apply", &flows, "--dry-run", "--prune"])
        .ended(7);
    planned
        .says("would update  approval")
        .says("would update  quote")
        .says("unchanged     grant-access")
        .says("would retract onboarding")
        .lacks("hello");
    server
        .run(&["apply", &flows, "--prune"])
        .ended(0)
        .says("retracted     onboarding");
    assert_ne!(server.run(&["start", "onboarding"]).code, 0);
    server.run(&["start", "hello"]).ended(0);
    server
        .run(&["apply", &flows, "--dry-run", "--prune"])
        .ended(0);

    // An environment replaces definitions.
    changed["description"] = json!("in production");
    std::fs::write(sources.join("env/prod/approval.json"), changed.to_string()).unwrap();
    server
        .run(&["apply", &flows, "--env", "prod", "--dry-run"])
        .ended(7)
        .says("would update  approval")
        .says("unchanged     quote");
    server
        .run(&["apply", &flows, "--env", "test"])
        .ended(2)
        .complains("there is no folder");

    // Nothing is sent unless all can be read.
    std::fs::write(sources.join("broken.json"), "{").unwrap();
    server
        .run(&["apply", &flows])
        .ended(2)
        .complains("broken.json");
    std::fs::write(
        sources.join("broken.json"),
        r#"{"definitionId": "quote", "root": {"id": "a", "type": "Elsa.Sequence"}}"#,
    )
    .unwrap();
    server
        .run(&["apply", &flows])
        .ended(2)
        .complains("are both the definition `quote`");
    let twice = json!({ "definitionId": "twice", "root": { "id": "a", "type": "Elsa.Sequence",
        "activities": [{ "id": "a", "type": "Elsa.WriteLine" }] } });
    std::fs::write(sources.join("broken.json"), twice.to_string()).unwrap();
    server
        .run(&["apply", &flows])
        .ended(2)
        .complains("twice: ")
        .complains("used more than once");
}
