//! Definitions: loaded, checked, compiled and run; and the scripts in them.

use std::collections::BTreeMap;

use dormouse_engine::call::Answer;
use dormouse_engine::definition::Definition;
use dormouse_engine::graph::Graph;
use dormouse_engine::id::InstanceId;
use dormouse_engine::instance::{Instance, Start};
use dormouse_engine::step::{Environment, Limits, Next, Stimulus, step};
use dormouse_engine::time::Timestamp;
use dormouse_engine::validate::validate;
use dormouse_expressions::{Expressions, Limits as ScriptLimits};
use dormouse_tests::flow::flow;
use dormouse_tests::primitives::{
    bulk, delay, dispatch, event, execute, for_each, fork, if_, parallel, run_js, sequence, set,
    set_output, task, while_, write,
};
use dormouse_tests::{activity, corpus, js, liquid, object, workflow};
use serde_json::{Map, Value, json};

use super::drive::{drive, kept, shown};
use super::mutant::{Chance, mutant, mutant_json};

/// Definitions to begin with: the real ones where they are, and one of each kind of activity.
fn definitions() -> Vec<Value> {
    let mut all: Vec<Value> = kept("definitions")
        .iter()
        .map(|b| serde_json::from_slice(b).unwrap())
        .collect();
    let real = corpus::files().unwrap_or_default();
    all.extend(
        real.iter()
            .filter_map(|file| serde_json::from_slice(&file.bytes).ok()),
    );
    let roots = [
        flow(
            "a > b:True > c; b:False > d",
            [
                event("a"),
                activity("Elsa.FlowDecision")
                    .id("b")
                    .input("condition", js("getInput('x') > 1")),
            ],
        ),
        sequence([
            set("n", js("getN() + 1")),
            write(liquid("{{ Variables.n }}")),
            set_output("o", js("variables.n")),
        ]),
        fork("WaitAny", [delay("00:00:01"), task("t"), event("e")]),
        parallel([
            run_js("setVariable('n', [1,{a:2}])"),
            while_(js("getN() < 3"), set("n", js("getN() + 1"))),
        ]),
        for_each(
            object(json!([1, "x", null])),
            if_(js("getLastResult() == 1"), write("one")),
        ),
        sequence([
            dispatch("child", true),
            execute("child", false),
            bulk("child", json!([1, 2]), true),
        ]),
        sequence([
            activity("Elsa.HttpEndpoint")
                .input("path", "/a/{b}")
                .trigger(),
            activity("Elsa.SendHttpRequest").input("url", "http://a.test/"),
            activity("Elsa.WriteHttpResponse").input("content", liquid("{{ 'x' | upcase }}")),
            activity("Elsa.Cron").input("cronExpression", "0 * * * * *"),
            activity("Elsa.Correlate").input("correlationId", "c"),
            activity("Elsa.Fault").input("message", "m"),
        ]),
    ];
    let of = |root| {
        workflow("w", root)
            .variable("n", "Int32", 1)
            .input("x", "Double")
            .output("o", "Object")
    };
    all.extend(roots.into_iter().map(|root| of(root).json().clone()));
    all
}

fn expressions() -> Expressions {
    Expressions::new(ScriptLimits {
        steps_max: 2_000,
        time_ms_max: 200,
        ..ScriptLimits::default()
    })
}

/// Runs a definition as far as it goes with whatever it asks for.
fn run(text: &[u8], expressions: &Expressions) {
    let Ok(definition) = Definition::from_json(text) else {
        return;
    };
    let written = serde_json::to_vec(definition.raw()).unwrap();
    assert!(
        Definition::from_json(&written).is_ok(),
        "what was read can be written and read again"
    );
    let graph = Graph::compile(&definition, &(), expressions);
    let now = Timestamp(1_767_225_600_000);
    let limits = Limits {
        step_activities_max: 300,
        burst_activities_max: 600,
        contexts_max: 300,
    };
    let environment = Environment {
        limits,
        ..Environment::new(now, expressions)
    };
    let _ = validate(&graph, &environment);
    let _ = graph.triggers(&environment);
    if graph.errors().next().is_some() {
        return;
    }
    let mut instance = Instance::new(&graph, InstanceId::from("i"), Start::default(), now, 7);
    let mut stimulus = Stimulus::Start;
    let mut activities = 0;
    for round in 0..12 {
        let environment = Environment {
            activities_before: activities,
            limits,
            ..Environment::new(now, expressions)
        };
        let transition = step(&graph, instance, stimulus, &environment);
        activities += transition.activities;
        let bytes = transition.instance.encode(&graph);
        let again = Instance::decode(&bytes, &graph).unwrap();
        assert_eq!(
            again, transition.instance,
            "an instance comes back as it was stored"
        );
        instance = again;
        stimulus = match transition.next {
            Next::Continue => Stimulus::Continue,
            Next::Call(calls) => match calls.into_iter().next() {
                None => Stimulus::Continue,
                Some(call) => Stimulus::Answered {
                    bookmark: call.bookmark,
                    answer: Answer::Http {
                        status: 200,
                        headers: BTreeMap::new(),
                        body: b"{\"a\":1}".to_vec(),
                    },
                },
            },
            Next::Rest => match instance
                .bookmarks
                .get(round % instance.bookmarks.len().max(1))
            {
                _ if round == 10 => Stimulus::Cancel,
                Some(bookmark) => Stimulus::Resume {
                    bookmark: bookmark.id.clone(),
                    input: input(),
                },
                None => break,
            },
        };
    }
}

fn input() -> Map<String, Value> {
    let Value::Object(map) = json!({ "Payload": [1], "Result": { "a": 1 }, "Input": "x" }) else {
        return Map::new();
    };
    map
}

#[test]
fn definitions_as_json() {
    let (corpus, expressions) = (definitions(), expressions());
    let first: Vec<Vec<u8>> = corpus
        .iter()
        .map(|json| json.to_string().into_bytes())
        .collect();
    let next = |chance: &mut Chance| {
        if chance.one_in(4) {
            mutant(chance, &first)
        } else {
            mutant_json(chance, &corpus).to_string().into_bytes()
        }
    };
    drive(
        "definitions",
        first.clone(),
        next,
        |b| shown(b),
        |bytes| run(bytes, &expressions),
    );
}

/// A workflow that evaluates a script in all the places where one may be.
fn with_script(language: &str, script: &str) -> Vec<u8> {
    let expr = if language == "JavaScript" {
        js(script)
    } else {
        liquid(script)
    };
    let root = sequence([
        set("n", expr.clone()),
        write(expr.clone()),
        if_(expr, write("yes")),
    ]);
    let json = workflow("w", root)
        .variable("n", "Object", json!({ "a": [1, 2, { "b": "c" }] }))
        .continue_with_incidents();
    json.json().to_string().into_bytes()
}

fn scripts(target: &str, language: &str) {
    let (corpus, expressions) = (kept(target), expressions());
    drive(
        target,
        corpus.clone(),
        |chance| mutant(chance, &corpus),
        |b| shown(b),
        |bytes| {
            run(
                &with_script(language, &String::from_utf8_lossy(bytes)),
                &expressions,
            );
        },
    );
}

#[test]
fn scripts_in_javascript() {
    scripts("javascript", "JavaScript");
}

#[test]
fn templates_in_liquid() {
    scripts("liquid", "Liquid");
}

#[test]
fn stored_instances() {
    let (expressions, now) = (expressions(), Timestamp(1_767_225_600_000));
    let root = sequence([
        set("n", js("getN() + 1")),
        parallel([event("a"), delay("00:00:01"), task("t")]),
    ]);
    let json = workflow("w", root).variable("n", "Int32", 1);
    let definition = Definition::from_value(json.json().clone()).unwrap();
    let graph = Graph::compile(&definition, &(), &expressions);
    let environment = Environment::new(now, &expressions);
    let instance = Instance::new(&graph, InstanceId::from("i"), Start::default(), now, 7);
    let before = instance.encode(&graph);
    let waiting = step(&graph, instance, Stimulus::Start, &environment).instance;
    let corpus = vec![before, waiting.encode(&graph)];
    drive(
        "instances",
        corpus.clone(),
        |chance| mutant(chance, &corpus),
        |b| shown(b),
        |bytes| {
            let Ok(instance) = Instance::decode(bytes, &graph) else {
                return;
            };
            // What can be read can be run, and stored again.
            let bookmark = instance.bookmarks.first().map(|b| b.id.clone());
            let stimulus = match bookmark {
                Some(bookmark) => Stimulus::Resume {
                    bookmark,
                    input: input(),
                },
                None => Stimulus::Continue,
            };
            let limits = Limits {
                step_activities_max: 300,
                burst_activities_max: 600,
                contexts_max: 300,
            };
            let environment = Environment {
                limits,
                ..Environment::new(now, &expressions)
            };
            let _ = step(&graph, instance, stimulus, &environment)
                .instance
                .encode(&graph);
        },
    );
}
